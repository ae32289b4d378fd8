"""A run that asks for too much ends with one clear line, in this process and in those that it starts."""

import resource
from pathlib import Path

import numpy as np
import pytest

from companion.build import environment
from companion.checks import ANYWAY
from companion.running import memory, progress

GB = 2.0**28  # a quarter, as it is told
needs_a_limit = pytest.mark.skipif(np.isinf(memory._held()), reason="the system does not limit private memory")


def filled(bytes_: float) -> int:
    return int(np.ones(int(bytes_) // 8).nbytes)


@pytest.fixture(autouse=True)
def one_gigabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: GB)


@needs_a_limit
def test_what_does_not_fit_ends_in_one_line_that_says_what_to_do() -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    line = r"^this needs more than the 256 MB of memory .*, or for ANYWAY=1$"
    with pytest.raises(MemoryError, match=line), memory.limited():
        filled(2 * GB)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


@needs_a_limit
def test_what_this_process_holds_is_not_shared_out_once_more() -> None:
    before = np.ones(int(0.8 * GB) // 8)
    with memory.limited():
        assert memory.share(2) == pytest.approx(GB / 2, rel=0.05)
    assert before.nbytes


@needs_a_limit
def test_a_limit_within_another_allows_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    with memory.limited():
        monkeypatch.setattr(memory, "available", lambda: 8 * GB)
        assert memory.confine(4 * GB) <= GB
        with pytest.raises(MemoryError, match="this needs more than the "), memory.limited():
            filled(2 * GB)


def test_whoever_wants_it_anyway_has_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ANYWAY, "1")
    with memory.limited():
        assert memory.share(2) == np.inf


# ------------------------------------------------------------------------------------------------------------ progress


def test_a_file_gets_a_line_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times, path = [100.0], tmp_path / "progress"
    monkeypatch.setattr("tqdm.std.time", lambda: times[-1])
    path.touch()
    with progress.bar(str(path), 10) as bar:
        for now in (101.0, 114.0, 116.0, 117.0, 132.0):
            times.append(now)
            bar.update()
    lines = [line for line in path.read_text().splitlines() if line.strip()]
    assert lines == ["3 of 10 blocks, 00:16, 00:37 to go", "5 of 10 blocks, 00:32, 00:32 to go"]


def test_lines_are_said_as_they_come_where_there_is_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "terminal", lambda: "")
    monkeypatch.setattr(environment, "EVERY", 0.01)
    said: list[str] = []
    with environment.place_for_progress(tmp_path, "part/one", said.append) as place, open(place, "a") as stream:
        stream.write("1 of 3 blocks\n2 of 3 blocks\n")
        stream.flush()
    assert said == ["part/one: 1 of 3 blocks", "part/one: 2 of 3 blocks"]
    assert not Path(place).exists()
