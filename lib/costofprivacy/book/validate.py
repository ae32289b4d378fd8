"""Every chapter at the papers' scale: do its committed verdicts and tables come out again?"""

import shutil
from collections.abc import Iterable
from pathlib import Path

from costofprivacy.book.check import nbval, prepare
from costofprivacy.book.errors import BookError, Interrupted
from costofprivacy.book.parameters import PAPER, resolve_preset
from costofprivacy.book.project import Project, chapters, place
from costofprivacy.book.tables import Finding, Tolerance, compare
from costofprivacy.book.tree import Say


def validate(project: Project, names: tuple[str, ...], tolerance: Tolerance, say: Say) -> None:
    """Execute chapters anew at the papers' scale and hold them against what is committed.

    Args:
        project: the book.
        names: the chapters; all, where none is named.
        tolerance: for the numbers in tables.
        say: told the outcome for each table, in one line.

    Raises:
        BookError: a cell failed, a verdict changed, or a table differs; every table is reported before.
    """
    chosen = tuple(name for name in chapters(project) if name in names or not names)
    tree = project.build / "validate"
    copies = prepare(project, tree, resolve_preset(project, PAPER, chosen))
    _lend_verdicts(project, tree, set(chapters(project)) - set(chosen))
    failure = _nbval_failure(project, tree, copies)
    findings = [(name, finding) for name in chosen for finding in _findings(project, tree, name, tolerance)]
    for name, finding in findings:
        say(f"{'ok  ' if finding.agrees else 'FAIL'}  {name}/{finding.name}: {finding.words}")
    apart = sum(not finding.agrees for _, finding in findings)
    if failure or apart:
        tables = f"{apart} of {len(findings)} tables and verdicts differ" if apart else ""
        raise BookError("; ".join(filter(None, [failure, tables])))


def _lend_verdicts(project: Project, tree: Path, names: Iterable[str]) -> None:
    """Copy the committed verdicts of chapters that are not executed: the ledger reads them."""
    for name in names:
        committed, copy = place(project.book, name).verdicts, place(tree, name).verdicts
        if committed.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(committed, copy)


def _nbval_failure(project: Project, tree: Path, copies: list[Path]) -> str:
    """What nbval found wrong; empty where nothing is."""
    try:
        nbval(project, tree, copies, progress=True)
    except Interrupted:
        raise
    except BookError as error:
        return str(error)
    return ""


def _findings(project: Project, tree: Path, name: str, tolerance: Tolerance) -> list[Finding]:
    """The comparison of one chapter's results with the committed ones."""
    return compare(place(project.book, name).results, place(tree, name).results, tolerance)
