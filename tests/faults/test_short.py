"""The campaign in short: that it sees what it looks for, on runs that take no time."""

import json
import signal
import time
import warnings
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from costofprivacy.running import blocks
from tests.faults import cache, disc, outcome, processes
from tests.faults.cache import Damage
from tests.faults.chapter import Chapter

VALUES = np.arange(12, dtype=float).reshape(4, 3) / 7


class Toy(Chapter):
    """A chapter whose run reads and keeps five blocks, in this process."""

    def run(self, command: list[str] | None = None) -> "CompletedProcess[str]":
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for k in range(5):
                path = self.root / "_build" / "cache" / "00" / f"{k}.npz"
                found = blocks.read(path)
                blocks.write(path, VALUES + k if found is None else found)
                self.out.mkdir(parents=True, exist_ok=True)
                (self.out / f"{k}.csv").write_bytes((VALUES + k if found is None else found).tobytes())
        (self.root / "_build" / "tmp").mkdir(exist_ok=True)
        return CompletedProcess([], 0, "", "\n".join(str(each.message) for each in told))


DAMAGES = [Damage(0.5, k / 5, None if k == 2 else k) for k in range(5)]


def test_damage_that_is_noticed_is_right(tmp_path: Path) -> None:
    chapter = Toy.undisturbed(tmp_path, Path("out"))
    assert chapter.bits.keys() == {f"{k}.csv" for k in range(5)}
    assert cache.damage(chapter, DAMAGES) == [""] * 5


def test_a_swap_of_each_kind_is_noticed(tmp_path: Path) -> None:
    chapter = Toy.undisturbed(tmp_path, Path("out"))
    some = [Damage(k / 5, 0.0, None, swap) for k, swap in enumerate(cache.SWAPS)]
    assert cache.damage(chapter, some) == [""] * len(cache.SWAPS)


def test_damage_that_is_not_noticed_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chapter = Toy.undisturbed(tmp_path, Path("out"))

    def read(path: Path) -> np.ndarray | None:
        """Take what the last bytes before the end of the archive say, whatever the checksum."""
        content = path.read_bytes() if path.is_file() else b""
        start = content.find(b"\n", 64) + 1
        return np.frombuffer(content[start : start + VALUES.nbytes]).reshape(4, 3) if start else None

    flip = Damage(0.0, 200 / len(chapter.blocks[0].read_bytes()), 6)
    monkeypatch.setattr(blocks, "read", read)
    assert cache.damage(chapter, [flip]) == ["not noticed"]


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
    done = chapter.run()
    assert chapter.judged(done) == ""
    (tmp_path / "_build" / "tmp" / "left").mkdir()
    assert chapter.judged(done).startswith("left over: ")
    (chapter.out / "0.csv").write_text("other")
    assert chapter.judged(done).startswith("the next run gave other bits: 0.csv has ")
    assert chapter.judged(CompletedProcess([], 3, "", "why")) == "the next run ended with status 3: why"


def test_outcomes_are_counted_and_kept(tmp_path: Path) -> None:
    def skipped() -> list[str]:
        raise outcome.Skipped("no right to mount")

    two = outcome.Fault((("bit flipped", "one"), ("bit flipped", "two")), lambda: ["", "not noticed"])
    found = [*two.outcomes(), *outcome.Fault((("full disc", "20k"),), skipped).outcomes()]
    assert outcome.table(found) == [("bit flipped", 2, 1, 1, 0), ("full disc", 1, 0, 0, 1)]
    assert "full disc, 20k: skipped: no right to mount" in outcome.in_words(found)
    outcome.write(tmp_path / "a" / "faults.json", found, {"seed": 1})
    assert json.loads((tmp_path / "a" / "faults.json").read_text())["table"][0]["wrong"] == 1


def test_a_full_disc_is_told_with_the_file_that_was_written() -> None:
    out = Path("_build/mine/out")
    assert disc._names("error: _build/mine/out/.staged/files/figure-1.svg: No space left on device", out)
    assert not disc._names("error: No space left on device", out)
    assert not disc._names("error: _build/mine/out: No space left on device", out)
    assert not disc._names("error: _build/mine/out/a.csv: odd", out)
