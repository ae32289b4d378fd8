"""Where results go, and how they come there: copied, and the stamp last. A folder without its stamp is made again."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nbformat import NotebookNode

from companion.build import notebooks
from companion.build.errors import RequestError
from companion.build.project import Place, Project
from companion.running import stamps

OWN = ("mine", "runs", "sweeps")  # folders of _build for a person's own runs


def folder_for(project: Project, out: str, kind: str, name: str) -> Path:
    """Where the results of a person's own run go; nothing is made yet.

    Args:
        project: the book.
        out: what was asked for; empty for a folder of the chapter's name below ``_build`` and the kind.
        kind: ``runs`` or ``sweeps``. name: the chapter.

    Raises:
        RequestError: it is in the project, or the project in it, or it cannot be written to.
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
    """Put an executed chapter and the files of a folder into a place, which has no stamp from then on.

    What only an earlier execution made goes; what else lies there stays.

    Returns:
        The names of the folder's files, relative to it, in alphabetical order.
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
    """A fresh folder below ``_build/tmp``, gone at the end; those of runs that were killed go, too.

    A run holds a lock on its folder, which the system lets go however the run ends.
    """
    parent = project.build / "tmp"
    parent.mkdir(parents=True, exist_ok=True)
    with _locked(parent, fcntl.LOCK_EX):  # no folder is swept between its making and its locking
        for left in parent.iterdir():
            with suppress(OSError), _locked(left, fcntl.LOCK_EX | fcntl.LOCK_NB):
                shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(dir=parent)).resolve()
        handle = os.open(folder, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_SH)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


@contextmanager
def _locked(folder: Path, kind: int) -> Iterator[None]:
    """Hold a lock on a folder; an `OSError` where another process has it and ``kind`` says not to wait."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, kind)
        yield
    finally:
        os.close(handle)
