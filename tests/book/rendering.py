"""The committed pages, rendered for the tests of pages: once a run of the tests, into a folder of its own.

What stands in ``_build/html`` is another command's, and may be the quick edition, an older one, or none. The folder
here, ``_build/tested``, is rendered again where the pages or the machinery changed since.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from companion.build import rendering, staging
from companion.build.parameters import PAPER
from companion.build.project import Project, toc_entries

ROOT = Path(__file__).parents[2]
MADE = ("py-modindex", "search")  # pages that Sphinx makes by itself


@dataclass(frozen=True)
class Tested(Project):
    """The book, whose pages are rendered into another folder than that of the commands."""

    @property
    def build(self) -> Path:
        return self.root / "_build" / "tested"


PROJECT = Tested(ROOT)


def addresses() -> list[str]:
    """The pages that the book should have, known before it is rendered: its contents, and what Sphinx makes."""
    written = [entry.removesuffix(".md") for entry in toc_entries(PROJECT)]
    return [f"{entry}.html" for entry in sorted([*written, *MADE])]


@cache
def rendered() -> Path:
    """The folder of the rendered pages. The first process that asks renders them, the others wait for it."""
    PROJECT.build.mkdir(parents=True, exist_ok=True)
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", f"process {os.getpid()}")
    done = PROJECT.build / "run"
    with (PROJECT.build / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.is_file() or done.read_text("utf-8") != run:
            done.unlink(missing_ok=True)
            pages = PROJECT.build / "pages"
            staging.stage(PROJECT, PAPER, PROJECT.book, pages)
            rendering.render(PROJECT, PAPER, pages, lambda _: None)
            done.write_text(run, "utf-8")
    return PROJECT.build / "html"
