"""nbval over copies of the committed chapters: their verdicts must stand when they are executed again."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from companion.build import budgets, freshness, notebooks
from companion.build.environment import environment, kernel_environment
from companion.build.errors import BookError, Interrupted
from companion.build.kernels import forked
from companion.build.project import LEDGER, Project, chapters, place

CELL_TIMEOUT = 3600
PATIENCE = 30
REPORTS = "reports"  # in _build
PLUGINS = ("--disable-plugin-autoload", "-p", "companion.build.nbval_plugin", "-p", "nbval.plugin")
OPTIONS = ("-p", "no:cacheprovider", "-o", "addopts=", "-W", "default")
IN_ORDER = ("--dist", "loadfile", "--no-loadscope-reorder")  # a notebook is one process's, from first to last cell


def prepare(project: Project, tree: Path, parameters: Mapping[str, Mapping[str, Any]]) -> list[Path]:
    """Lay out afresh copies of chapters with other parameters, their committed outputs kept.

    Args:
        project: the book.
        tree: the folder to fill; what it held goes.
        parameters: all parameters of each chapter to copy.

    Returns:
        The copies, in the book's order, the ledger last.
    """
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for path in (project.claims, project.dictionary):
        if path.is_file():
            shutil.copyfile(path, tree / path.name)
    copies = []
    for name in (name for name in chapters(project) if name in parameters):
        committed = notebooks.read(place(project.book, name).notebook)
        copies.append(place(tree, name).notebook)
        notebooks.write(notebooks.with_parameters(committed, parameters[name]), copies[-1])
    return copies


def nbval(
    project: Project, tree: Path, copies: list[Path], seconds: Mapping[str, float], measured: Path | None = None
) -> None:
    """Execute prepared copies under nbval and compare their marked cells.

    There are as many kernels at a time as cores, each with one worker process. The chapters that take longest start
    first; the ledger, which reads the verdicts of the others, comes after them. A chapter that is alone has the workers
    that its notebook asks for, and draws bars: two of them on one terminal would overwrite each other.

    Finished blocks of trials of earlier runs are not used. Each copy writes into the folder beside it, and judges the
    tables of ``measured`` where they were measured from just what it would measure.

    Args:
        project: the book.
        tree: the folder that holds the copies.
        copies: the notebooks.
        seconds: how long each chapter takes, where that is known.
        measured: a tree of executed chapters whose tables may be read.

    Raises:
        BookError: a cell failed, wrote to the error stream, or shows another verdict.
        Interrupted: somebody ended it.
    """
    if not copies:
        raise BookError("the book has no chapters to validate")
    from joblib import cpu_count

    from companion.showing import plates  # brings the plotting, which a refused request can do without

    last = place(tree, LEDGER).notebook
    others = [copy for copy in copies if copy != last]
    kernels = min(cpu_count(), len(others))
    alone = kernels < 2
    variables = kernel_environment(
        project, book=tree, results=None, resume=False, progress=alone, workers=None if alone else 1
    )
    variables |= {plates.WIDE_ONLY: "1", "COSTOFPRIVACY_MEASURED": str(measured.resolve()) if measured else None}
    with environment(variables):
        if alone:
            failed = [_pytest(project, copies, "chapters")]
        else:
            names = [copy.relative_to(tree).with_suffix("").as_posix() for copy in copies]
            with (
                forked(variables, freshness.imported_modules(project, tree, names)) as folder,
                environment({"JUPYTER_PATH": folder} if folder else {}),
            ):
                failed = [
                    _pytest(project, _longest_first(tree, others, seconds), "chapters", kernels),
                    last in copies and _pytest(project, [last], LEDGER),
                ]
    if any(failed):
        raise BookError(f"nbval: cells of chapters failed or show different verdicts; the copies are in {tree}")


def _longest_first(tree: Path, copies: list[Path], seconds: Mapping[str, float]) -> list[Path]:
    """Copies of chapters, those that take longest first."""
    names = budgets.longest_first((copy.relative_to(tree).with_suffix("").as_posix() for copy in copies), seconds)
    return [place(tree, name).notebook for name in names]


def _pytest(project: Project, copies: list[Path], report: str, kernels: int = 1) -> bool:
    """Run nbval over notebooks, a whole one at a time in each of some processes; returns whether any cell failed."""
    command = [sys.executable, "-m", "pytest", "--nbval-lax", f"--nbval-cell-timeout={CELL_TIMEOUT}"]
    command += [*PLUGINS, *OPTIONS, "--rootdir", str(project.root.resolve()), "-q", "--durations=5"]
    command += [f"--junitxml={project.build.resolve() / REPORTS / report}.xml"]
    if kernels > 1:
        command += ["-p", "xdist.plugin", "-n", str(kernels), *IN_ORDER]
    return _status([*command, *(str(copy.resolve()) for copy in copies)]) != 0


def _status(command: list[str]) -> int:
    """Run a command in a session of its own, and return its exit status.

    An interrupt is handed once to each of its processes, and waited for: they have kernels to shut down.
    """
    process = subprocess.Popen(command, start_new_session=True)
    try:
        return process.wait()
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
        raise Interrupted("interrupted; a validation always starts from the beginning") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
