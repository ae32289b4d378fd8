"""Folders that cannot be written to: a full disc, and no permission."""

import os
import subprocess
from collections.abc import Callable, Iterator

from tests.faults.chapter import Chapter

NOBODY = 65534
SMALL = "20k"  # more than one table, less than all results


def campaign(chapter: Chapter) -> Iterator[Callable[[], str]]:
    """Each of the two, where the system lets us make it."""
    yield lambda: full(chapter)
    yield lambda: forbidden(chapter)


def full(chapter: Chapter) -> str:
    """Results go to a file system of a few pages: one line says so, and nothing is left half-written."""
    chapter.fresh(cache=False)
    chapter.out.mkdir(parents=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "x", chapter.out], check=False).returncode:
        return ""  # only the system's administrator may
    try:
        done = subprocess.run(chapter.command(), cwd=chapter.root, capture_output=True, text=True, check=False)
        left = sorted(chapter.contents())
    finally:
        subprocess.run(["umount", chapter.out], check=True)
    said = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    if done.returncode == 0 or len(said) != 1 or "No space left" not in said[0] or left:
        return f"a full disc: status {done.returncode}, left {left}, said {said}"
    return chapter.wrong()


def forbidden(chapter: Chapter) -> str:
    """A user without rights asks for results in a folder of somebody else's."""
    chapter.fresh(cache=False)
    chapter.out.mkdir(parents=True)
    chapter.out.chmod(0o555)
    try:
        done = subprocess.run(
            chapter.command(),
            cwd=chapter.root,
            capture_output=True,
            text=True,
            check=False,
            user=NOBODY if os.geteuid() == 0 else None,
        )
    except PermissionError:
        return ""
    finally:
        chapter.out.chmod(0o755)
    said = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    if done.returncode == 0 or len(said) != 1 or not said[0].startswith("error: OUT must be"):
        return f"a folder without permission: status {done.returncode}, said {said}"
    return chapter.wrong()
