"""Folders of one run below ``_build/tmp``: gone at its end, and swept by the next run where it was killed.

A run holds a lock on its folder while it lives; the system lets it go however the run ends.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from costofprivacy.book.project import Project
from costofprivacy.running.disc import naming

SHARED = Path("/dev/shm")  # where Linux has what processes share; nothing is swept where there is no such folder


@contextmanager
def temporary(project: Project) -> Iterator[Path]:
    """A fresh folder below ``_build/tmp``, gone at the end however it comes; those of dead runs go too."""
    parent = project.build / "tmp"
    parent.mkdir(parents=True, exist_ok=True)
    with _locked(parent, fcntl.LOCK_EX):  # no folder is swept between its making and its locking
        _sweep(parent)
        folder = Path(tempfile.mkdtemp(dir=parent)).resolve()
        handle = os.open(folder, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_SH)
    try:
        with naming(folder):
            yield folder
    finally:
        _sweep_semaphores(folder)  # a kernel whose tracker of them was killed leaves them behind
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


@contextmanager
def temporary_files(folder: Path) -> Iterator[None]:
    """Let this process put its temporary files into a folder, such as the file that tells a kernel its ports."""
    earlier, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = earlier


def _sweep(parent: Path) -> None:
    """Remove the folders that no living run holds."""
    for folder in parent.iterdir():
        try:
            with _locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB):
                _sweep_semaphores(folder)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # somebody holds it, or it has just gone
            continue


def _sweep_semaphores(folder: Path) -> None:
    """Remove the semaphores of a dead run's kernel, which the system keeps outside its folder."""
    told = folder / "scratch" / "kernel"
    kernel = told.read_text("utf-8") if told.is_file() else ""
    if kernel.isdigit() and not Path(f"/proc/{kernel}").exists():
        for path in SHARED.glob(f"sem.loky-{kernel}-*"):
            path.unlink(missing_ok=True)


@contextmanager
def _locked(folder: Path, kind: int) -> Iterator[None]:
    """Hold a lock on a folder.

    Raises:
        OSError: another process holds it, and ``kind`` says not to wait.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, kind)
        yield
    finally:
        os.close(handle)
