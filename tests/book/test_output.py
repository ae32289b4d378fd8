"""Results come into their place, and the stamp last: whatever is interrupted is known by its missing stamp."""

import os
import random
import signal
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from companion.build import execute, freshness
from companion.build.freshness import Inputs
from companion.build.project import Place, Project, RequestError
from tests.trees import write_tree

from .conftest import chapter

pytestmark = pytest.mark.filterwarnings("default")  # of processes that fork beside threads
NAMES = ("a.csv", "b.csv", "c/d.svg")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A place beside whose notebook the folder of its results lies, as in the book."""
    write_tree(tmp_path / "out", {"a person's own.txt": "stays"})
    return Place(tmp_path / "out.ipynb", tmp_path / "out")


def made_from(which: str) -> Inputs:
    return Inputs({"which": which}, {})


def publish(which: str, place: Place, names: Iterable[str] = NAMES) -> None:
    """Publish files that all hold one word, and stamp them."""
    made = write_tree(place.notebook.with_name(which), dict.fromkeys(names, which))
    files = execute.publish(chapter(f"{which} = 1"), made, place)
    freshness.write(place, made_from(which), files)


def contents(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_files_are_published_what_was_made_earlier_goes_and_what_else_lies_there_stays(place: Place) -> None:
    publish("old", place, (*NAMES, "gone.csv"))
    publish("new", place)
    found = contents(place.results)
    assert found.pop("stamp.json")
    assert found == dict.fromkeys(NAMES, "new") | {"a person's own.txt": "stays"}
    assert "new = 1" in place.notebook.read_text()
    assert freshness.why_stale(place, made_from("new")) == ""


def test_what_cannot_be_written_leaves_no_stamp(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    publish("old", place)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(execute.notebooks, "write", full)
    with pytest.raises(OSError, match="No space left"):
        publish("new", place)
    for which in ("old", "new"):
        assert freshness.why_stale(place, made_from(which)) == freshness.NEVER


@pytest.mark.slow
def test_after_twenty_kills_a_folder_with_a_stamp_is_whole(place: Place) -> None:
    chance, fresh = random.Random(2026), 0
    for _ in range(20):
        child = os.fork()
        if not child:
            while True:
                publish("old", place)
                publish("new", place)
        time.sleep(0.05 + 0.05 * chance.random())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for which in ("old", "new"):
            if not freshness.why_stale(place, made_from(which)):
                fresh += 1
                found = {name: text for name, text in contents(place.results).items() if name in NAMES}
                assert found == dict.fromkeys(NAMES, which)
                assert f"{which} = 1" in place.notebook.read_text()
    assert fresh < 20, "no kill came in the middle"
    publish("new", place)
    assert freshness.why_stale(place, made_from("new")) == ""


@pytest.mark.parametrize("out", ["", "_build/mine", "_build/runs/part/first-one", "../elsewhere"])
def test_a_folder_of_ones_own_is_found_and_nothing_is_made(
    project: Project, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    monkeypatch.chdir(project.root)
    found = execute.folder_for(Project(Path(), project.package), out, "runs", "part/first-one")
    assert found == Path(out or "_build/runs/part/first-one")
    assert not found.exists()


@pytest.mark.parametrize(
    "out",
    ["book", "some/dir", "some/../book/x", "linked/x", ".git/x", ".", "..", "_build", "_build/html", "_build/cache/x"],
)
def test_a_folder_of_the_project_is_refused(project: Project, monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    monkeypatch.chdir(project.root)
    Path("linked").symlink_to("book")
    with pytest.raises(RequestError, match=r"^OUT must be a folder outside the project, or in _build/mine, got "):
        execute.folder_for(Project(Path(), project.package), out, "runs", "part/first-one")


def test_a_folder_that_cannot_be_written_is_said_to_be_so(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "file").touch()
    with pytest.raises(RequestError, match=r"^OUT must be a folder to write into, got .*file/x: .*file is not one"):
        execute.folder_for(project, str(elsewhere / "file" / "x"), "runs", "part/first-one")
