"""A chapter executed, and where its results go."""

import json
import os
import random
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat
import pytest

from companion.build import execute, freshness, notebooks
from companion.build.environment import LOAD, kernel_environment
from companion.build.execute import Execution, temporary
from companion.build.freshness import Inputs
from companion.build.project import BookError, Place, Project, RequestError
from tests.trees import write_tree

from .conftest import chapter

NAME = "part/first-one"
pytestmark = pytest.mark.filterwarnings("default")
INTERRUPT = "import os, signal, time\nos.kill(os.getppid(), signal.SIGINT)\ntime.sleep(60)"


@pytest.fixture
def interruptible() -> Iterator[None]:
    """A process that an interrupt reaches, as the command line is: a shell in the background has it ignored."""
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, earlier)


@pytest.fixture
def out(tmp_path: Path) -> Place:
    """A place that holds the results of an earlier run."""
    folder = tmp_path / "some where" / "out"
    folder.mkdir(parents=True)
    (folder / "figure-1.csv").write_text("earlier\n")
    (folder / "first-one.ipynb").write_text("earlier\n")
    return Place(folder / "first-one.ipynb", folder)


def run(project: Project, out: Place, **parameters: object) -> tuple[list[str], list[str]]:
    """Execute the first chapter; returns its files and the warnings."""
    warnings: list[str] = []
    files = execute.execute(project, Execution(NAME, parameters, out, project.book), warnings.append)
    return files, warnings


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_run_leaves_a_clean_notebook_and_its_tables(project: Project, out: Place) -> None:
    files, warnings = run(project, out, epsilon=[0.25], trials=3)
    executed = nbformat.read(out.notebook, as_version=4)
    assert files == ["figure-1.csv", "verdicts.json"]
    assert warnings == []
    assert (out.results / "figure-1.csv").read_text() == "value\n0.5\n"
    assert executed.cells[1].source == "epsilon = [0.25]  # ε, budgets\ntrials = 3\nworkers = -1  # all cores"
    assert len(executed.cells) == 4
    assert notebooks.scrubbed(executed) == executed
    assert str(project.root) not in out.notebook.read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    ("last_cell", "error", "words"),
    [
        ("raise OSError('no disc\\nat all')", BookError, "part/first-one: OSError: no disc .traceback in"),
        (INTERRUPT, KeyboardInterrupt, None),
    ],
)
def test_a_run_that_fails_or_is_interrupted_damages_nothing(
    project: Project, out: Place, last_cell: str, error: type[BaseException], words: str | None
) -> None:
    writes = "import os, pathlib\npathlib.Path(os.environ['COSTOFPRIVACY_RESULTS'], 'figure-1.csv').write_text('new')"
    nbformat.write(chapter("trials = 10", writes, last_cell), project.book / f"{NAME}.ipynb")
    before = contents(out.results)
    with pytest.raises(error, match=words):
        run(project, out)
    assert contents(out.results) == before
    assert list((project.build / "tmp").iterdir()) == []
    assert "COSTOFPRIVACY_RESULTS" not in os.environ
    log = project.build / "logs" / f"{NAME}.log"
    assert log.is_file() == (error is BookError)
    assert not words or "OSError" in log.read_text()


@pytest.mark.slow
def test_stderr_is_a_warning_or_where_strict_a_failure(project: Project, out: Place) -> None:
    texts = [f"{LOAD}. This can be", f"a.npz is damaged; {execute.DAMAGED}", "odd"]
    warns = "\n".join(["import warnings", *(f"warnings.warn({text!r})" for text in texts)])
    nbformat.write(chapter("trials = 10", warns), project.book / f"{NAME}.ipynb")
    _, warnings = run(project, out)
    before = contents(out.results)
    assert [line.rpartition("UserWarning: ")[2] for line in warnings] == texts[1:], "load is no matter, damage is told"
    assert list(notebooks.stderr_lines(notebooks.read(out.notebook))) == []
    with pytest.raises(BookError, match=r"first-one: cell 2 wrote to stderr: UserWarning: odd"):
        execute.execute(project, Execution(NAME, {}, out, project.book, strict=True), lambda line: None)
    assert contents(out.results) == before


def kernelspec(folder: Path, monkeypatch: pytest.MonkeyPatch, *command: str) -> None:
    """A person's own kernel of the usual name, where Jupyter looks first."""
    (folder / "kernels" / "python3").mkdir(parents=True)
    spec = {"argv": [*command, "-f", "{connection_file}"], "display_name": "Theirs", "language": "python"}
    (folder / "kernels" / "python3" / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(folder))


def test_a_chapter_runs_under_this_interpreter_whatever_kernel_jupyter_finds(
    project: Project, out: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernelspec(tmp_path / "theirs", monkeypatch, "false")
    assert run(project, out, epsilon=[0.25], trials=3)[0] == ["figure-1.csv", "verdicts.json"]


def test_what_a_killed_run_left_is_swept_and_what_a_living_one_has_is_not(project: Project) -> None:
    left = project.build / "tmp" / "left"
    left.mkdir(parents=True)
    (left / "figure-1.csv").write_text("half")
    with temporary(project) as first:
        assert not left.exists()
        (first / "figure-1.csv").touch()
        with temporary(project) as second:
            assert first != second
            assert (first / "figure-1.csv").exists()
    assert list((project.build / "tmp").iterdir()) == []


def test_a_kernel_keeps_its_files_in_the_folder_of_its_run(project: Project, out: Place) -> None:
    tells = """import os, pathlib, tempfile
mine = tempfile.gettempdir() == os.environ["TMPDIR"] == os.environ["JOBLIB_TEMP_FOLDER"]
pathlib.Path("figure-1.csv").write_text(str(mine))"""
    nbformat.write(chapter("trials = 10", tells), project.book / f"{NAME}.ipynb")
    run(project, out)
    assert (out.results / "figure-1.csv").read_text() == "True"


def test_kernels_find_absolute_paths_and_one_thread(project: Project) -> None:
    found = kernel_environment(project, book=Path("book"), results=None, resume=True, progress=False)
    assert found["COSTOFPRIVACY_RESULTS"] is None
    assert found["COSTOFPRIVACY_PROGRESS"] == ""
    assert found["OMP_NUM_THREADS"] == "1"
    assert found["COSTOFPRIVACY_WORKERS"] is None
    assert Path(str(found["COSTOFPRIVACY_BOOK"])).is_absolute()
    assert Path(str(found["COSTOFPRIVACY_CACHE"])) == project.cache.resolve()
    without = kernel_environment(project, book=Path("book"), results=None, resume=False, progress=False, workers=1)
    assert without["COSTOFPRIVACY_CACHE"] == ""
    assert without["COSTOFPRIVACY_WORKERS"] == "1"


def test_joblib_gets_a_folder_whose_name_it_can_write(tmp_path: Path) -> None:
    plain, odd = tmp_path / "plain", tmp_path / "späces and π"
    assert execute.folder_for_joblib(plain) == str(plain)
    found = execute.folder_for_joblib(odd)
    assert found.isascii()
    assert Path(found).is_dir()


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


def files_of(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_files_are_published_what_was_made_earlier_goes_and_what_else_lies_there_stays(place: Place) -> None:
    publish("old", place, (*NAMES, "gone.csv"))
    publish("new", place)
    found = files_of(place.results)
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
                found = {name: text for name, text in files_of(place.results).items() if name in NAMES}
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
