"""Results put into their place whole.

They are staged inside the place's folder, named ready by one rename, and then moved: before that rename the place is
as it was, after it whoever comes next finishes the moving, be the process that began it dead. A lock on the folder
keeps two runs that publish into one place apart.
"""

import fcntl
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbformat import NotebookNode

from costofprivacy.book import notebooks
from costofprivacy.book.project import Place
from costofprivacy.running.disc import naming

STAGED, READY = ".staged", ".ready"
FILES, NOTEBOOK, WHERE = "files", "notebook.ipynb", "where"  # in the folder that is staged
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def publish(notebook: NotebookNode, folder: Path, target: Place) -> list[str]:
    """Put a notebook and the files of a folder into a place: all of them, or none.

    Args:
        notebook: an executed chapter.
        folder: what it wrote.
        target: where to; what else lies there stays.

    Returns:
        The names of the folder's files, relative to it, in alphabetical order.

    Raises:
        OSError: a file cannot be written; the place is then as it was.
    """
    with placing(target.results) as staged:
        shutil.copytree(folder, staged / FILES, dirs_exist_ok=True)
        notebooks.write(notebook, staged / NOTEBOOK)
        (staged / WHERE).write_text(os.path.relpath(target.notebook, target.results), "utf-8")
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@contextmanager
def placing(results: Path) -> Iterator[Path]:
    """A folder to fill: what its ``files`` hold comes into a folder of results at the end, all of it or none.

    Args:
        results: where to; it is made where there is none, and what else lies there stays.

    Raises:
        OSError: a file cannot be written, which the error names; the results are then as they were.
    """
    results.mkdir(parents=True, exist_ok=True)
    with _alone(results):
        _move(results)
        staged = results / STAGED
        shutil.rmtree(staged, ignore_errors=True)
        try:
            with naming(results):
                (staged / FILES).mkdir(parents=True)
                yield staged
            with uninterrupted():
                staged.rename(results / READY)
                _move(results)
        finally:
            shutil.rmtree(staged, ignore_errors=True)


def recover(results: Path) -> bool:
    """Finish what a killed run had begun to put into a folder of results, and remove what it had only staged.

    Returns:
        Whether there was anything to finish.
    """
    if not any((results / name).exists() for name in (STAGED, READY)):
        return False
    with _alone(results), uninterrupted():
        found = _move(results)
        shutil.rmtree(results / STAGED, ignore_errors=True)
    return found


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold signals that end a run back until the end; the first of them is then delivered.

    A mask would not do: it is one thread's, and the signal goes to another, such as one of the linear algebra.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    earlier = {number: signal.signal(number, lambda got, _: came.append(got)) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if came:
            signal.raise_signal(came[0])


def _move(results: Path) -> bool:
    """Move what is ready into its place, the notebook last; returns whether anything was."""
    ready = results / READY
    if not ready.is_dir():
        return False
    for path in sorted(ready.joinpath(FILES).rglob("*")):
        target = results / path.relative_to(ready / FILES)
        if path.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)
    if (ready / NOTEBOOK).is_file():
        (ready / NOTEBOOK).replace(results / (ready / WHERE).read_text("utf-8"))
    shutil.rmtree(ready)
    return True


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Be the only process that publishes into a folder; it waits for another to end."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
