"""One chapter, executed: in a folder of its own, and copied to its place when all of it has succeeded.

Results are copied, and their stamp is written last: a folder without its stamp is made again.
"""

import logging
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from companion.build import notebooks
from companion.build.environment import environment, kernel_environment, place_for_progress
from companion.build.project import BookError, Place, Project, RequestError, place
from companion.running import stamps

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
DAMAGED = "its trials are computed anew"  # ends the warning about a block on this disc: the chapter is as good
QUIET = ["--IPKernelApp.log_level=50"]  # the kernel's own log; a cell's output is not part of it
LEFT = 7 * 24 * 3600  # seconds
OWN = ("mine", "runs", "sweeps")  # folders of _build for a person's own runs


@dataclass(frozen=True)
class Execution:
    """A chapter to execute: with which parameters, into which place, among which other chapters.

    Attributes:
        book: the tree of executed chapters whose verdicts the ledger reads.
        strict: whether anything on the error stream is a failure.
        saved: the folders whose tables it may read instead of measuring them, where their stamp fits.
        alone: whether no other chapter is executed meanwhile. Then it has as many worker processes as its notebook asks
            for; else it has ``workers``, and draws no bars, which would overwrite those of the others.
        cluster: the Dask scheduler whose workers run its trials; empty for this machine.
        kernels: where Jupyter finds a kernel that is forked (`companion.build.kernels`); empty for an ordinary one.
    """

    name: str
    parameters: Mapping[str, Any]
    place: Place
    book: Path
    strict: bool = False
    saved: tuple[Path, ...] = ()
    alone: bool = True
    workers: int = 1
    cluster: str = ""
    kernels: str = ""


def execute(project: Project, run: Execution, warn: Callable[[str], None]) -> list[str]:
    """Execute a chapter and put its notebook and results into their place; returns the names of its result files.

    The place is changed only after the whole chapter has succeeded, and then has no stamp: its caller writes one. What
    was written to the error stream is passed to ``warn`` line by line, and is no part of the notebook: it is about this
    run, and names files of this machine. A `BookError` says that a cell failed, the kernel died, or a strict run wrote
    to the error stream.
    """
    source = notebooks.read(place(project.book, run.name).notebook)
    prepared = notebooks.with_parameters(source, run.parameters)
    with temporary(project) as folder:
        results, scratch = folder / "results", folder / "scratch"
        results.mkdir()
        scratch.mkdir()
        say = lambda line: print(line, file=sys.stderr, flush=True)  # noqa: E731
        with (
            place_for_progress(scratch, run.name, say) as progress,
            environment(_variables(project, run, results, scratch, progress)),
        ):
            executed = _papermill(project, run.name, prepared, results)
        for line in notebooks.stderr_lines(executed):
            if run.strict and DAMAGED not in line:
                raise BookError(f"{run.name}: {line}")
            warn(f"{run.name}: {line}")
        return publish(notebooks.scrubbed(executed), results, run.place)


def _variables(project: Project, run: Execution, results: Path, scratch: Path, progress: str) -> dict[str, str | None]:
    workers = None if run.alone else run.workers
    variables = kernel_environment(
        project, book=run.book, results=results, resume=True, progress=False, workers=workers
    )
    variables |= {
        "COSTOFPRIVACY_SAVED": os.pathsep.join(str(path.resolve()) for path in run.saved),
        "COSTOFPRIVACY_PROGRESS": progress if run.alone else "",
        "TMPDIR": str(scratch),
        "JOBLIB_TEMP_FOLDER": folder_for_joblib(scratch),
    }
    given = {"JUPYTER_PATH": run.kernels, "COSTOFPRIVACY_CLUSTER": run.cluster}
    return variables | {name: value for name, value in given.items() if value}


def folder_for_joblib(scratch: Path) -> str:
    """Where joblib keeps what its processes share: it writes the folder's name in ASCII (joblib 1.6)."""
    candidates = (str(scratch), tempfile.gettempdir(), "/tmp")
    return next((folder for folder in candidates if folder.isascii()), str(scratch))


def _papermill(project: Project, name: str, notebook: NotebookNode, folder: Path, again: bool = False) -> NotebookNode:
    import papermill
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    logging.getLogger("papermill").setLevel(logging.CRITICAL)  # what it tells, the exceptions tell too
    try:
        return papermill.execute_notebook(
            notebook,
            None,
            request_save_on_cell_execute=False,
            kernel_name="python3",
            language="python",
            cwd=folder,
            progress_bar=False,
            coalesce_streams=True,  # where a print is cut in two depends on the machine's load
            extra_arguments=QUIET,
        )
    except papermill.PapermillExecutionError as error:
        if error.ename == "KeyboardInterrupt":
            raise KeyboardInterrupt from error
        log = write_log(project, name, "\n".join([error.source, "", *error.traceback]))
        line = (str(error.evalue).strip().splitlines() or [""])[0]
        raise BookError(f"{name}: {error.ename}: {line} (traceback in {log})") from error
    except (CellExecutionError, DeadKernelError, RuntimeError) as error:
        if type(error) is RuntimeError and not again:  # it never answered: another program may have taken its port
            return _papermill(project, name, notebook, folder, again=True)
        log = write_log(project, name, f"{type(error).__name__}: {error}")
        died = isinstance(error, DeadKernelError)  # else it never answered: its interpreter lacks ipykernel, or is gone
        reason = "the kernel died, perhaps because there was not enough memory" if died else "the kernel did not start"
        raise BookError(f"{name}: {reason} (see {log})") from error


def write_log(project: Project, name: str, text: str) -> Path:
    """Keep a failure's details, without the colours of a terminal; returns the file."""
    path = project.build / "logs" / f"{name}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(COLOURS.sub("", text), "utf-8")
    return path


def folder_for(project: Project, out: str, kind: str, name: str) -> Path:
    """Where the results of a person's own run go: ``out``, or a folder of the chapter below ``_build`` and the kind.

    Nothing is made yet. A `RequestError` refuses a folder of the project, one around it, and what cannot be written to.
    """
    found = Path(out) if out else project.build / kind / name
    root, target = project.root.resolve(), found.resolve()
    free = any(target.is_relative_to(project.build.resolve() / own) for own in OWN)
    if root.is_relative_to(target) or (target.is_relative_to(root) and not free):
        raise RequestError(f"OUT must be a folder outside the project, or in _build/mine, got {found}")
    nearest = next(path for path in (target, *target.parents) if path.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK)):
        raise RequestError(f"OUT must be a folder to write into, got {found}: {nearest} is not one")
    return found


def publish(notebook: NotebookNode, folder: Path, target: Place) -> list[str]:
    """Put an executed chapter and the files of a folder, whose names are returned, into a place: it has no stamp then.

    What only an earlier execution made goes; what else lies there stays.
    """
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    earlier = stamps.read(target.results)
    target.stamp.unlink(missing_ok=True)
    for part in ("measured", "told"):
        for name in set(earlier.get(part, {}).get("files", {})) - set(files):
            (target.results / name).unlink(missing_ok=True)
    shutil.copytree(folder, target.results, dirs_exist_ok=True)
    notebooks.write(notebook, target.notebook)
    return files


@contextmanager
def temporary(project: Project) -> Iterator[Path]:
    """A fresh folder below ``_build/tmp``, gone at the end; those that killed runs left for a week go, too."""
    parent = project.build / "tmp"
    parent.mkdir(parents=True, exist_ok=True)
    for left in parent.iterdir():
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > LEFT:
                shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()
