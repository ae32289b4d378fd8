"""``python -m tests.chapters.dump [CHAPTER...]``: what judges find, in the book's tables and in all cases.

As JSON, by which two versions of the judges are compared: of the book's tables the whole finding; of a case the
verdict, and the numbers where it is not *untestable*.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from companion.judging.claims import plain_data
from companion.judging.findings import Finding, Verdict
from companion.judging.judges import judges_of
from tests.chapters.machinery import found, judge, modules_of_cases, other_tables, package


def told(finding: Finding) -> dict[str, Any]:
    """A finding as data."""
    return plain_data(asdict(finding))


def decided(finding: Finding) -> list[Any]:
    """The verdict of a finding, with its numbers if it has one to speak of."""
    numbers = told(finding)["numbers"] if finding.verdict != Verdict.UNTESTABLE else []
    return [str(finding.verdict), numbers]


def main(wanted: Sequence[str]) -> None:
    """Print it, for these chapters or for all."""
    content: dict[str, Any] = {}
    for module in modules_of_cases():
        if not (hasattr(module, "CHAPTER") and hasattr(module, "CASES")):
            continue
        chapter = module.CHAPTER
        if wanted and chapter not in wanted:
            continue
        content |= {claim: told(found(chapter, claim)) for claim in judges_of(package(chapter))}
        content |= {str(c): decided(judge(chapter, c.claim, other_tables(chapter, c))) for c in module.CASES}
    print(json.dumps(content, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1:])
