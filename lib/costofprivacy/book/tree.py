"""Trees of executed chapters: what is stale in one is executed, the ledger last."""

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from costofprivacy.book import freshness
from costofprivacy.book.execute import Run, execute
from costofprivacy.book.project import Place, Project, chapters, place

Say = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What a tree is to hold.

    Attributes:
        tree: the tree's folder.
        parameters: all parameters of each chapter to bring up to date, by its name.
        strict: whether a chapter that writes to the error stream is a failure.
        force: whether chapters are executed that are fresh.
    """

    tree: Path
    parameters: Mapping[str, Mapping[str, Any]]
    strict: bool = False
    force: bool = False


def bring_up_to_date(project: Project, plan: Plan, say: Say, warn: Say) -> None:
    """Execute the stale chapters of a tree; a fresh committed one is copied instead.

    Chapters are executed in the order of the book and stamped one by one, so that what an interrupted or
    failed call has finished need not be done again. A chapter whose tables are still what they were measured from
    reads them, unless it is forced.

    Args:
        project: the book.
        plan: which tree, which chapters, with which parameters.
        say: told each executed chapter, in one line.
        warn: told each output on the error stream, in one line.

    Raises:
        BookError: a chapter failed.
    """
    width = max(map(len, plan.parameters), default=0)
    for name in (name for name in chapters(project) if name in plan.parameters):
        target = place(plan.tree, name)
        expected = freshness.inputs(project, name, plan.parameters[name], plan.tree)
        reason = "forced" if plan.force else freshness.why_stale(target, expected)
        if not reason:
            continue
        if not plan.force and not freshness.why_stale(place(project.book, name), expected):
            copy_place(place(project.book, name), target)
            continue
        start = time.perf_counter()
        saved = () if plan.force else (target.results, place(project.book, name).results)
        run = Run(name, plan.parameters[name], target, plan.tree, plan.strict, saved)
        files = execute(project, run, warn)
        freshness.write(target, expected, files)
        say(f"{name:<{width}}  {time.perf_counter() - start:4.0f} s  ({reason})")


def prune(project: Project, tree: Path) -> None:
    """Remove from a tree of ours the executed chapters that the book no longer has.

    The ledger would count their verdicts.
    """
    known = {place(tree, name).stamp for name in chapters(project)}
    for stamp in set(tree.rglob("stamp.json")) - known:
        shutil.rmtree(stamp.parent)
        stamp.parent.with_name(f"{stamp.parent.name}.ipynb").unlink(missing_ok=True)


def copy_place(source: Place, target: Place) -> None:
    """Copy an executed chapter with its results; what the target held of it goes."""
    shutil.rmtree(target.results, ignore_errors=True)
    shutil.copytree(source.results, target.results)
    shutil.copyfile(source.notebook, target.notebook)
