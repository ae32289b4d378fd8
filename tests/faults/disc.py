"""Folders that cannot be written to: a full disc, and no permission."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.faults.chapter import NAME, PARAMETERS, Chapter, Fault, Skipped

NOBODY = 65534
SMALL = "20k"  # more than one table, less than all results
RIGHTS = "-dac_override,-dac_read_search"
WITHOUT_RIGHTS = ["setpriv", f"--bounding-set={RIGHTS}", f"--inh-caps={RIGHTS}", "--"]


def campaign(chapter: Chapter) -> Iterator[Fault]:
    """Each of them, where the system lets us make it."""
    sweep = chapter.command("sweep", f"{PARAMETERS} --sweep penalty=1,5")
    yield "full disc, results", lambda: full(chapter, chapter.out, chapter.command())
    yield "full disc, cache", lambda: full(chapter, chapter.cache, chapter.command())
    yield "full disc, sweep", lambda: full(chapter, chapter.out, sweep)
    yield "read-only folder", lambda: forbidden(chapter)


def full(chapter: Chapter, folder: Path, command: list[str]) -> str:
    """A folder is a file system of a few pages: one line says so and names a file, and nothing is left half-written.

    Raises:
        Skipped: this user may mount nothing.
    """
    chapter.fresh()
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "x", folder]
    made = subprocess.run(mount, capture_output=True, text=True, check=False)
    if made.returncode:
        raise Skipped(f"a small file system cannot be mounted: {made.stderr.strip()}")
    try:
        done = chapter.run(command)
        left = sorted(chapter.contents())
    finally:
        subprocess.run(["umount", folder], check=True)
    said = _said(done)
    if done.returncode == 0 or len(said) != 1 or not _names(said[0], folder) or left:
        return f"status {done.returncode}, left {left}, said {said}"
    return chapter.wrong()


def _names(line: str, folder: Path) -> bool:
    """Whether a line says of a file in a folder that there was no space left for it."""
    named = re.search(rf"{folder.name}/\S*\w\.\w+", line)
    return bool(named) and "No space left on device" in line


def forbidden(chapter: Chapter) -> str:
    """A user without privileges asks for results in a folder that may only be read.

    Raises:
        Skipped: no such user can run the project here.
    """
    chapter.fresh(cache=False)
    chapter.out.mkdir(parents=True)
    run = _without_privileges(chapter)
    chapter.out.chmod(0o555)
    try:
        done = run(chapter.command())
    finally:
        chapter.out.chmod(0o755)
    said = _said(done)
    if done.returncode == 0 or len(said) != 1 or not said[0].startswith("error: OUT must be"):
        return f"status {done.returncode}, said {said}"
    return chapter.wrong()


def _without_privileges(chapter: Chapter) -> Callable[[list[str]], "subprocess.CompletedProcess[str]"]:
    """How a command is run whom permissions bind: as this user, as nobody, or as root without its rights to files."""

    def run(command: list[str], **options: Any) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(command, cwd=chapter.root, capture_output=True, text=True, check=False, **options)

    if os.geteuid() != 0:
        return run
    try:
        if run([".venv/bin/python", "-c", "import costofprivacy.book"], user=NOBODY).returncode == 0:
            return lambda command: run(command, user=NOBODY)
    except OSError:
        pass  # nobody may not even enter the project
    if shutil.which("setpriv") and run([*WITHOUT_RIGHTS, "true"]).returncode == 0:
        return lambda command: run([*WITHOUT_RIGHTS, *command])
    raise Skipped("the user nobody cannot read .venv or the project, and setpriv takes no rights away from root here")


def _said(done: "subprocess.CompletedProcess[str]") -> list[str]:
    return [line for line in done.stderr.splitlines() if not line.startswith(("make", NAME, "point ", "each of "))]
