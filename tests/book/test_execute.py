"""A chapter executed, where its results go, and in what kernel; two runs at once."""

import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import numpy as np
import psutil
import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel
from nbformat.v4 import new_code_cell

from companion.build import execute, freshness, kernels, notebooks
from companion.build.environment import LOAD, environment, kernel_environment
from companion.build.execute import Execution, temporary
from companion.build.freshness import Inputs
from companion.build.project import BookError, Place, Project, RequestError
from companion.running import blocks
from companion.running.montecarlo import BLOCK, Runner
from tests.trees import write_tree

from .conftest import NAME, chapter

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


def files_of(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


TELLS = """import os, tempfile
open("here.csv", "w").close()
assert tempfile.gettempdir() == os.environ["TMPDIR"] == os.environ["JOBLIB_TEMP_FOLDER"]"""


def test_a_run_leaves_a_clean_notebook_and_its_tables_whatever_kernel_jupyter_finds(
    project: Project, out: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = {"argv": ["false", "-f", "{connection_file}"], "display_name": "Theirs", "language": "python"}
    write_tree(tmp_path / "theirs", {"kernels/python3/kernel.json": json.dumps(spec)})  # a person's own
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "theirs"))
    notebook = nbformat.read(project.book / f"{NAME}.ipynb", as_version=4)
    notebook.cells.append(new_code_cell(TELLS))  # a kernel keeps its files in the folder of its run
    nbformat.write(notebook, project.book / f"{NAME}.ipynb")
    files, warnings = run(project, out, epsilon=[0.25], trials=3)
    executed = nbformat.read(out.notebook, as_version=4)
    assert files == ["figure-1.csv", "here.csv", "verdicts.json"]
    assert warnings == []
    assert (out.results / "figure-1.csv").read_text() == "value\n0.5\n"
    assert executed.cells[1].source == "epsilon = [0.25]  # ε, budgets\ntrials = 3\nworkers = -1  # all cores"
    assert len(executed.cells) == 5
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
    before = files_of(out.results)
    with pytest.raises(error, match=words):
        run(project, out)
    assert files_of(out.results) == before
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
    before = files_of(out.results)
    assert [line.rpartition("UserWarning: ")[2] for line in warnings] == texts[1:], "load is no matter, damage is told"
    assert list(notebooks.stderr_lines(notebooks.read(out.notebook))) == []
    with pytest.raises(BookError, match=r"first-one: cell 2 wrote to stderr: UserWarning: odd"):
        execute.execute(project, Execution(NAME, {}, out, project.book, strict=True), lambda line: None)
    assert files_of(out.results) == before


def test_what_a_killed_run_left_is_swept_and_what_a_living_one_has_is_not(project: Project) -> None:
    left = project.build / "tmp" / "left"
    left.mkdir(parents=True)
    (left / "figure-1.csv").write_text("half")
    os.utime(left, (0, 0))
    with temporary(project) as first:
        assert not left.exists()
        (first / "figure-1.csv").touch()
        with temporary(project) as second:
            assert first != second
            assert (first / "figure-1.csv").exists()
    assert list((project.build / "tmp").iterdir()) == []


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


@pytest.mark.parametrize("out", ["", "_build/mine", "_build/runs/part/first-one", "../elsewhere"])
def test_a_folder_of_ones_own_is_found_and_nothing_is_made(
    project: Project, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    monkeypatch.chdir(project.root)
    found = execute.folder_for(Project(Path(), project.package), out, "runs", NAME)
    assert found == Path(out or f"_build/runs/{NAME}")
    assert not found.exists()


@pytest.mark.parametrize(
    "out",
    ["book", "some/dir", "some/../book/x", "linked/x", ".git/x", ".", "..", "_build", "_build/html", "_build/cache/x"],
)
def test_a_folder_of_the_project_is_refused(project: Project, monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    monkeypatch.chdir(project.root)
    Path("linked").symlink_to("book")
    with pytest.raises(RequestError, match=r"^OUT must be a folder outside the project, or in _build/mine, got "):
        execute.folder_for(Project(Path(), project.package), out, "runs", NAME)


def test_a_folder_that_cannot_be_written_is_said_to_be_so(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "file").touch()
    with pytest.raises(RequestError, match=r"^OUT must be a folder to write into, got .*file/x: .*file is not one"):
        execute.folder_for(project, str(elsewhere / "file" / "x"), "runs", NAME)


# kernels that are forked

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only")
Kernel = tuple[KernelManager, BlockingKernelClient]


@contextmanager
def started(folder: str, **own: str) -> Iterator[Kernel]:
    """A kernel that Jupyter finds in a folder, ended and its sockets closed at the end."""
    with environment({"JUPYTER_PATH": folder}):
        manager, client = start_new_kernel(kernel_name="python3", env={**os.environ, **own})
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        client.context.destroy()


def within_half_a_minute(holds: Callable[[], bool]) -> bool:
    """Whether something holds within half a minute."""
    until = time.monotonic() + 30
    while not (so := holds()) and time.monotonic() < until:
        time.sleep(0.05)
    return so


@pytest.fixture(scope="module")
def nursery() -> Iterator[str]:
    """Where Jupyter finds kernels that one process forks."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    inline = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}  # as `kernel_environment` says to all of them
    settings = {**one_thread, **inline, "WHOSE": "the nursery's", "HOME": None}
    with kernels.forked(settings, ["json", "no_such_module"]) as folder:
        yield folder


@pytest.fixture(scope="module")
def kernel(nursery: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A forked kernel, whose environment differs from the nursery's."""
    place = tmp_path_factory.mktemp("place")
    with started(nursery, WHOSE="the kernel's", HOME=str(place)) as kernel:
        yield kernel


def printed(kernel: Kernel, code: str) -> str:
    """What code prints in the kernel, and the types of what it shows."""
    texts: list[str] = []

    def collect(message: dict) -> None:
        if message["msg_type"] == "stream":
            texts.append(message["content"]["text"])
        texts.extend(message["content"].get("data", {}))

    kernel[1].execute_interactive(code, output_hook=collect, timeout=60)
    return "".join(texts).strip()


@on_linux
def test_a_forked_kernel_has_its_own_folder_and_environment_and_the_nurserys_imports(kernel: Kernel) -> None:
    home = os.path.realpath(printed(kernel, "import os; print(os.environ['HOME'])"))
    assert Path(home).name.startswith("place")
    assert printed(kernel, "print(os.getcwd())") == os.getcwd()
    assert printed(kernel, "print(os.environ['WHOSE'])") == "the kernel's"
    assert printed(kernel, "import sys; print('matplotlib.backends.backend_agg' in sys.modules)") == "True"
    assert "image" in printed(kernel, "from matplotlib import pyplot; axes = pyplot.subplots()[1]")
    assert printed(kernel, "print(sys.executable)") == sys.executable


@on_linux
def test_an_interrupt_reaches_the_cell(kernel: Kernel) -> None:
    manager, client = kernel
    sent = client.execute("import time\nprint('begun', flush=True)\ntime.sleep(60)")
    while client.get_iopub_msg(timeout=60)["content"].get("text") != "begun\n":
        pass
    manager.interrupt_kernel()
    reply = client.get_shell_msg(timeout=30)
    while reply["parent_header"]["msg_id"] != sent:
        reply = client.get_shell_msg(timeout=30)
    assert reply["content"]["ename"] == "KeyboardInterrupt"


@on_linux
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_the_process_that_stands_for_it(nursery: str, ending: signal.Signals) -> None:
    with started(nursery) as kernel:
        child, stands = int(printed(kernel, "import os; print(os.getpid())")), kernel[0].provisioner.pid  # type: ignore[union-attr]
        assert child != stands
        os.kill(stands, ending)
        assert within_half_a_minute(lambda: not Path(f"/proc/{child}").exists())


@on_linux
def test_a_kernel_that_dies_is_known_to_be_dead(nursery: str) -> None:
    with started(nursery) as (manager, client):
        client.execute("import os; os._exit(3)")
        assert within_half_a_minute(lambda: not manager.is_alive())


def test_nothing_forks_where_a_sockets_name_would_be_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("a" * 120)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with kernels.forked({}, []) as folder:
        assert folder == ""


# two runs at once into one folder and one cache: the results are those of a quiet run

TRIALS, SEED, CELLS = 3 * BLOCK, 5, (0, 1, 2)
TRIAL = """import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    key: int


def draws(cell, *, rng):
    time.sleep(0.002)  # long enough for two runs to meet
    return rng.standard_normal(40) + cell.key
"""
CELL = """import os, pathlib
import numpy
from {package}.draws import Cell, draws
from companion.running.montecarlo import Runner
runner = Runner(1, pathlib.Path(os.environ["COSTOFPRIVACY_CACHE"]), "")
found = runner.run(draws, [Cell(key) for key in {cells}], {trials}, {seed})
numpy.savetxt("cells.csv", numpy.concatenate([*found.values()]), "%.17g")"""
RUN = """import sys
from pathlib import Path
from companion.build.execute import Execution, execute
from companion.build.project import Place, Project
root, package, out = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
project = Project(root, package)
files = execute(project, Execution("part/first-one", {}, Place(out / "first-one.ipynb", out), project.book), print)
print(*files)"""


@pytest.fixture
def sampled(project: Project) -> Project:
    """The small book, whose first chapter runs trials and keeps their blocks."""
    (project.root / "lib" / project.package / "draws.py").write_text(TRIAL)
    cell = CELL.format(package=project.package, cells=CELLS, trials=TRIALS, seed=SEED)
    nbformat.write(chapter("trials = 10", cell), project.book / f"{NAME}.ipynb")
    return project


def start(project: Project) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", RUN, str(project.root), project.package, str(project.root / "out")]
    return subprocess.Popen(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )


def right(project: Project) -> None:
    """The folder holds what one process computes without any cache, and nothing else."""
    out, module = project.root / "out", importlib.import_module(f"{project.package}.draws")
    expected = Runner(1).run(module.draws, [module.Cell(key) for key in CELLS], TRIALS, SEED)
    assert {path.name for path in out.iterdir()} == {"cells.csv", "first-one.ipynb"}
    np.testing.assert_array_equal(np.loadtxt(out / "cells.csv"), np.concatenate([*expected.values()]))


@pytest.mark.slow
def test_two_runs_at_once_into_one_folder_and_one_cache_stay_right(sampled: Project) -> None:
    runs = [start(sampled), start(sampled)]
    for run in runs:
        said, _ = run.communicate(timeout=300)
        assert (run.returncode, said) == (0, "cells.csv\n")
    right(sampled)
    kept = sorted(sampled.cache.rglob("*.npz"))
    assert len(kept) == len(CELLS) * TRIALS // BLOCK
    assert all(blocks.read(path) is not None for path in kept)
    assert [path for path in sampled.cache.rglob("*") if path.suffix == ".partial"] == []
    assert list((sampled.build / "tmp").iterdir()) == []


@pytest.mark.slow
def test_twenty_kills_leave_nothing_half_written_and_no_process(sampled: Project) -> None:
    """At random moments, the run alone or with its kernel; every fourth time the next run goes on to its end."""
    rng = random.Random(34)
    for number in range(20):
        run, kind = start(sampled), rng.choice((signal.SIGINT, signal.SIGTERM, signal.SIGKILL))
        time.sleep(rng.uniform(0.5, 8))
        family = psutil.Process(run.pid).children(recursive=True)
        (os.killpg if rng.random() < 0.5 else os.kill)(run.pid, kind)
        run.communicate(timeout=60)
        assert psutil.wait_procs(family, timeout=60)[1] == []
        if (sampled.root / "out").exists():
            right(sampled)
        if number % 4 == 3:
            last = start(sampled)
            last.communicate(timeout=300)
            assert last.returncode == 0
            right(sampled)
            shutil.rmtree(sampled.root / "out")
            shutil.rmtree(sampled.cache)
