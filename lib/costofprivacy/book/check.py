"""nbval over copies of the committed chapters: their verdicts must stand when they are executed again."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from costofprivacy.book import notebooks
from costofprivacy.book.environment import environment, kernel_environment
from costofprivacy.book.errors import BookError, Interrupted
from costofprivacy.book.project import Project, chapters, place

CELL_TIMEOUT = 3600
PATIENCE = 30
OPTIONS = ("-p", "costofprivacy.book.nbval_plugin", "-p", "no:cacheprovider", "-o", "addopts=", "-W", "default")


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
    if project.claims.is_file():
        shutil.copyfile(project.claims, tree / project.claims.name)
    copies = []
    for name in (name for name in chapters(project) if name in parameters):
        committed = notebooks.read(place(project.book, name).notebook)
        copies.append(place(tree, name).notebook)
        notebooks.write(notebooks.with_parameters(committed, parameters[name]), copies[-1])
    return copies


def nbval(project: Project, tree: Path, copies: list[Path], *, progress: bool) -> None:
    """Execute prepared copies under nbval, one kernel after the other, and compare their marked cells.

    Finished blocks of trials of earlier runs are not used. Each copy writes into the folder beside it.

    Args:
        project: the book.
        tree: the folder that holds the copies.
        copies: the notebooks, in the order in which they run.
        progress: whether bars are drawn.

    Raises:
        BookError: a cell failed, wrote to the error stream, or shows another verdict.
        Interrupted: somebody ended it.
    """
    if not copies:
        raise BookError("the book has no chapters to validate")
    command = [sys.executable, "-m", "pytest", "--nbval-lax", f"--nbval-cell-timeout={CELL_TIMEOUT}"]
    command += [*OPTIONS, "--rootdir", str(project.root.resolve()), "-q", "--durations=5"]
    variables = kernel_environment(project, book=tree, results=None, resume=False, progress=progress)
    with environment(variables):
        status = _status([*command, *(str(copy.resolve()) for copy in copies)])
    if status:
        raise BookError(f"nbval: cells of chapters fail or show other verdicts; the copies are in {tree}")


def _status(command: list[str]) -> int:
    """Run a command in a session of its own, and return its exit status.

    An interrupt is handed to it once, and waited for: it has kernels to shut down.
    """
    process = subprocess.Popen(command, start_new_session=True)
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
        raise Interrupted("interrupted; a validation starts anew each time") from None
    finally:
        process.kill()
