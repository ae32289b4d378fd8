"""Results come into their place whole, whatever happens to the one who brings them."""

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from costofprivacy.book import publishing
from costofprivacy.book.project import Place
from tests.trees import write_tree

from .conftest import chapter

pytestmark = pytest.mark.filterwarnings("default")  # of processes that fork beside threads
OLD, NEW = {"a.csv": "old", "b.csv": "old", "c/d.svg": "old"}, {"a.csv": "new", "b.csv": "new", "c/d.svg": "new"}


def forked(work: Callable[[], object]) -> int:
    """Do something in a process of its own, without the seconds that an interpreter takes to start; its exit status."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for number in publishing.ENDING:
        signal.signal(number, signal.SIG_DFL)
    try:
        work()
    finally:
        os._exit(0)


def killed(work: Callable[[], object], k: int, number: int = signal.SIGKILL) -> int:
    """Do something and get a signal before the k-th rename, of which the first names the staged folder ready."""
    count = itertools.count(1)

    def counted(original: Callable[[Path, Path], Path]) -> Callable[[Path, Path], Path]:
        def rename(path: Path, target: Path) -> Path:
            if next(count) == k:
                os.kill(os.getpid(), number)
            return original(path, target)

        return rename

    def counting() -> None:
        Path.rename, Path.replace = counted(Path.rename), counted(Path.replace)  # type: ignore[assignment,method-assign]
        work()

    return forked(counting)


def publishes(made: Path, place: Place) -> Callable[[], object]:
    return lambda: publishing.publish(chapter("new = 1"), made, place)


def contents(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A place beside whose notebook the folder of its results lies, as in the book."""
    write_tree(tmp_path / "out", OLD | {"a person's own.txt": "stays"})
    (tmp_path / "out.ipynb").write_text("old")
    return Place(tmp_path / "out.ipynb", tmp_path / "out")


def test_files_are_published_and_what_else_lies_there_stays(tmp_path: Path, place: Place) -> None:
    names = publishing.publish(chapter("x = 1"), write_tree(tmp_path / "made", NEW), place)
    assert names == ["a.csv", "b.csv", "c/d.svg"]
    assert contents(place.results) == NEW | {"a person's own.txt": "stays"}
    assert "x = 1" in place.notebook.read_text()
    assert not publishing.recover(place.results)


@pytest.mark.parametrize(("k", "ready"), [(1, False), (2, True), (4, True), (5, True)])
def test_a_killed_run_has_published_all_or_nothing(tmp_path: Path, place: Place, k: int, ready: bool) -> None:
    assert killed(publishes(write_tree(tmp_path / "made", NEW), place), k) == -signal.SIGKILL
    assert publishing.recover(place.results) == ready
    assert contents(place.results) == (NEW if ready else OLD) | {"a person's own.txt": "stays"}
    assert ("new" in place.notebook.read_text()) == ready
    assert not publishing.recover(place.results)


@pytest.mark.parametrize("number", publishing.ENDING)
def test_a_signal_in_the_middle_is_held_back_until_the_end(tmp_path: Path, place: Place, number: int) -> None:
    assert killed(publishes(write_tree(tmp_path / "made", NEW), place), 3, number) == -number
    assert contents(place.results) == NEW | {"a person's own.txt": "stays"}
    assert "new" in place.notebook.read_text()


def test_the_next_run_finishes_before_it_publishes_its_own(tmp_path: Path, place: Place) -> None:
    made = write_tree(tmp_path / "made", NEW)
    assert killed(publishes(made, place), 3) == -signal.SIGKILL
    (made / "b.csv").unlink()
    (made / "a.csv").write_text("newer")
    publishing.publish(chapter("x = 1"), made, place)
    assert contents(place.results) == NEW | {"a.csv": "newer", "a person's own.txt": "stays"}


def test_two_that_publish_at_once_come_one_after_the_other(tmp_path: Path, place: Place) -> None:
    """After many rounds there are the files of one of them, not a mixture, and neither found the other in its way."""
    made = [write_tree(tmp_path / who, dict.fromkeys(NEW, who)) for who in ("one", "two")]

    def rounds(folder: Path) -> None:
        for _ in range(40):
            publishing.publish(chapter("x = 1"), folder, place)
        (tmp_path / f"{folder.name} has ended").touch()

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda folder: forked(lambda: rounds(folder)), made))
    assert len({text for name, text in contents(place.results).items() if name in NEW}) == 1
    assert len([*tmp_path.glob("* has ended")]) == 2


def test_a_place_that_cannot_be_written_is_as_it_was(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(publishing.notebooks, "write", full)
    with pytest.raises(OSError, match="No space left"):
        publishing.publish(chapter("x = 1"), write_tree(tmp_path / "made", NEW), place)
    assert contents(place.results) == OLD | {"a person's own.txt": "stays"}


BUSY = "pool(joblib.delayed(time.sleep)(60) for _ in range(2))"
IDLE = "pool(joblib.delayed(time.sleep)(0) for _ in range(2)); time.sleep(60)"


@pytest.mark.parametrize("meanwhile", [BUSY, IDLE])
def test_a_worker_ends_with_the_process_that_started_it(tmp_path: Path, meanwhile: str) -> None:
    code = f"""import os, sys, time, joblib
from pathlib import Path
from costofprivacy.running.orphans import end_with
def begin(owner):
    end_with(owner)
    Path(sys.argv[1], str(os.getpid())).touch()
pool = joblib.Parallel(2, initializer=begin, initargs=(os.getpid(),))
{meanwhile}"""
    script = tmp_path / "script.py"
    script.write_text(code)
    noted = tmp_path / "noted"
    noted.mkdir()
    parent = subprocess.Popen([sys.executable, str(script), str(noted)])
    until = time.monotonic() + 50
    while len(workers := [int(path.name) for path in noted.iterdir()]) < 2:
        assert time.monotonic() < until
        time.sleep(0.02)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    until = time.monotonic() + 30
    while any(map(_lives, workers)):
        assert time.monotonic() < until
        time.sleep(0.1)


def _lives(number: int) -> bool:
    """Whether a process runs: one that has ended and is not fetched yet does not."""
    stat = Path(f"/proc/{number}/stat")
    if stat.parent.parent.joinpath("self").exists():
        return stat.is_file() and stat.read_text().rpartition(")")[2].split()[0] != "Z"
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True
