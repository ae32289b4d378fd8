import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from companion.build import execute, notebooks
from companion.build.environment import LOAD, kernel_environment
from companion.build.execute import Execution, temporary
from companion.build.project import BookError, Place, Project

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
