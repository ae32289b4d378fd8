"""What a validation found, for machines: JUnit's XML, which continuous integration shows, and a JSON with all of it."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from companion.build.check import REPORTS
from companion.build.check_tables import Comparison
from companion.build.errors import BookError
from companion.build.project import LEDGER, Project

VERDICT, NUMBER, BROKEN, FINE = "verdict", "number", "broken", "fine"
STATUS = {VERDICT: 3, NUMBER: 4, BROKEN: 1, FINE: 0}
WORDS = {VERDICT: "a verdict changed", NUMBER: "numbers changed", BROKEN: "a run failed"}
OF_NBVAL = ("chapters.xml", f"{LEDGER}.xml")


class Changed(BookError):
    """Everything ran, and something came out otherwise: a verdict (status 3), or numbers alone (status 4)."""

    def __init__(self, text: object, outcome: str) -> None:
        """Keep the text, with the status of the outcome: make ends with 2, whatever its commands end with."""
        self.status = STATUS[outcome]
        super().__init__(f"{text}; exit status {self.status}: {WORDS[outcome]}")


@dataclass(frozen=True)
class Entry:
    """One table, or the verdicts, of one chapter, compared."""

    chapter: str
    finding: Comparison


def outcome(entries: Iterable[Entry], failure: str = "") -> str:
    """What happened, in one word: a run that broke, a changed verdict, a changed number, or nothing.

    Args:
        entries: everything compared.
        failure: what the runs themselves reported.
    """
    apart = [entry.finding for entry in entries if not entry.finding.agrees]
    if any(not finding.differences and "differs" not in finding.words for finding in apart) or (failure and not apart):
        return BROKEN
    if any(difference.verdict for finding in apart for difference in finding.differences):
        return VERDICT
    return NUMBER if apart else FINE


def forget(project: Project, name: str) -> None:
    """Remove what an earlier validation of a name has reported, so that one that is broken off leaves nothing of it."""
    for file in (f"{name}.xml", f"{name}.json", *OF_NBVAL):
        (project.build / REPORTS / file).unlink(missing_ok=True)


def raise_for(project: Project, name: str, entries: list[Entry], failure: str) -> None:
    """Write the reports, and end with what they say.

    Args:
        project: the book. name: the reports'. entries: everything compared. failure: what the runs themselves reported.

    Raises:
        Changed: not everything came out again.
    """
    report, found = write(project, name, entries, failure), outcome(entries, failure)
    if found != FINE:
        apart = sum(not entry.finding.agrees for entry in entries)
        tables = f"{apart} of {len(entries)} tables and verdicts differ" if apart else ""
        raise Changed("; ".join(filter(None, [failure, tables, f"details are in {report}"])), found)


def write(project: Project, name: str, entries: list[Entry], failure: str = "") -> Path:
    """Write ``_build/reports/<name>.xml`` and ``<name>.json``; returns the latter.

    The JSON holds the outcome, and for each table or claim that was compared the chapter, whether it agrees, and each
    difference: the column or claim, the row, what was expected and found, and the tolerance.
    """
    folder = project.build / REPORTS
    folder.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(_junit(name, entries)).write(folder / f"{name}.xml", "utf-8", xml_declaration=True)
    content = {"outcome": outcome(entries, failure), "failure": failure, "compared": [_row(entry) for entry in entries]}
    (folder / f"{name}.json").write_text(json.dumps(content, indent=1, default=str) + "\n", "utf-8")
    return folder / f"{name}.json"


def _row(entry: Entry) -> dict[str, Any]:
    """One comparison, as JSON has it."""
    differences = [
        {
            "name": each.name,
            "row": each.row,
            "expected": _plain(each.expected),
            "found": _plain(each.found),
            "tolerance": each.tolerance,
            "cells": each.cells,
            "kind": VERDICT if each.verdict else NUMBER,
        }
        for each in entry.finding.differences
    ]
    told = {"chapter": entry.chapter, "file": entry.finding.name, "agrees": entry.finding.agrees}
    return told | {"words": entry.finding.words, "differences": differences}


def _junit(name: str, entries: list[Entry]) -> ElementTree.Element:
    """The comparisons as one suite of tests, one case each."""
    failures = sum(not entry.finding.agrees for entry in entries)
    top = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(top, "testsuite", name=name, tests=str(len(entries)), failures=str(failures))
    for entry in entries:
        case = ElementTree.SubElement(suite, "testcase", classname=entry.chapter, name=entry.finding.name)
        if not entry.finding.agrees:
            ElementTree.SubElement(case, "failure", message=entry.finding.words[:500]).text = entry.finding.words
    return top


def _plain(value: Any) -> Any:
    """A cell as JSON has it: NumPy's numbers as Python's, and those that JSON lacks as text."""
    value = value.item() if hasattr(value, "item") else value
    return repr(value) if isinstance(value, float) and (value != value or abs(value) == float("inf")) else value
