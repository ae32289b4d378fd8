"""The campaign in short: that it sees what it looks for, on runs that take no time."""

import signal
import time
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.faults import processes
from tests.faults.chapter import Chapter


class Toy(Chapter):
    """A chapter whose run writes a table, in this process."""

    def run(self, command: list[str] | None = None) -> "CompletedProcess[str]":
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / "0.csv").write_text("value\n1\n")
        (self.root / "_build" / "tmp").mkdir(parents=True, exist_ok=True)
        return CompletedProcess([], 0, "", "")


def test_what_outlives_a_killed_parent_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PATIENCE", 0.2)
    run = processes.start(["sh", "-c", "sleep 60 & wait"], Path.cwd())
    until = time.monotonic() + 20
    while not any(line.strip() == "sleep 60" for line in run.living().values()) and time.monotonic() < until:
        time.sleep(0.02)
    assert run.signal("make", signal.SIGKILL)
    assert [line.strip() for line in run.ended().values()] == ["sleep 60"]
    assert run.living() == {}


def test_a_run_with_other_bits_or_leftovers_is_wrong(tmp_path: Path) -> None:
    chapter = Toy.undisturbed(tmp_path, Path("out"))
    assert chapter.wrong() == ""
    (tmp_path / "_build" / "tmp" / "left").mkdir()
    assert chapter.wrong().startswith("left over: ")
    chapter.bits["0.csv"] = b"other"
    assert chapter.wrong().startswith("the next run gave other bits: 0.csv has ")
