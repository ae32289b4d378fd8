from pathlib import Path

import pytest

from companion.build import environment as book_progress
from companion.running import progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands at its last element."""
    times = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: times[-1])
    return times


def test_a_file_gets_a_line_now_and_then(tmp_path: Path, clock: list[float]) -> None:
    path = tmp_path / "progress"
    path.touch()
    with progress.bar(str(path), 10) as bar:
        for now in (101.0, 114.0, 116.0, 117.0, 132.0):
            clock.append(now)
            bar.update()
    assert path.read_text().splitlines() == [
        "3 of 10 blocks, 16 s, 37 s to go",
        "5 of 10 blocks, 32 s, 32 s to go",
    ]


def test_lines_are_said_as_they_come_where_there_is_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book_progress, "terminal", lambda: "")
    monkeypatch.setattr(book_progress, "EVERY", 0.01)
    said: list[str] = []
    with book_progress.place_for_progress(tmp_path, "part/one", said.append) as place, open(place, "a") as stream:
        stream.write("1 of 3 blocks\n2 of 3 blocks\n")
        stream.flush()
    assert said == ["part/one: 1 of 3 blocks", "part/one: 2 of 3 blocks"]
    assert not Path(place).exists()
