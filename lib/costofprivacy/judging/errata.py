"""What should stand where a paper has a slip or leaves out a condition: a page, and data for the papers' authors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from costofprivacy import __version__
from costofprivacy.judging.cards import badge, link
from costofprivacy.judging.claims import Claim, find_register, read_findings, read_papers, read_register
from costofprivacy.judging.findings import WEIGHT, Consequence, Finding, Verdict

HEADINGS = {
    Consequence.CONCLUSION: "What changes a conclusion or a guarantee",
    Consequence.NUMBERS: "What changes a number",
    Consequence.NONE: "What changes neither",
}
WITHOUT = (Verdict.HOLDS, Verdict.UNTESTABLE)


def errata(register: Mapping[str, Claim], found: Mapping[str, Finding]) -> list[tuple[Claim, Finding]]:
    """The claims for which something else should stand there, with what was found.

    Returns:
        The consequential first, in the order of the register otherwise.
    """
    chosen = [
        (claim, found[claim.id])
        for claim in register.values()
        if claim.id in found and found[claim.id].correction and found[claim.id].verdict not in WITHOUT
    ]
    order = list(HEADINGS)
    return sorted(chosen, key=lambda entry: order.index(entry[1].consequence))


def page(book: Path) -> str:
    """One line an erratum, as Markdown: the consequential first, by paper.

    Args:
        book: folder with ``claims.yml`` whose sub-folders hold the findings.
    """
    path = find_register(book)
    register, found, papers = read_register(path), read_findings(book), read_papers(path)
    entries, lines = errata(register, found), list[str]()
    for consequence, heading in HEADINGS.items():
        chosen = [entry for entry in entries if entry[1].consequence == consequence]
        if chosen:
            lines += [f"## {heading}", "", f"{WEIGHT[consequence].capitalize()}.", ""]
        for name, paper in papers.items():
            own = [_line(claim, finding) for claim, finding in chosen if claim.paper == name]
            if own:
                lines += [f"### {paper['short']}", "", *own, ""]
    return "\n".join([*lines, _uncorrected(found)])


def data(book: Path) -> str:
    """The same as JSON: the papers, and each erratum with what the paper says and what was found.

    Args:
        book: folder with ``claims.yml`` whose sub-folders hold the findings.
    """
    path = find_register(book)
    entries = [_record(*entry) for entry in errata(read_register(path), read_findings(book))]
    papers = {name: dict(paper) for name, paper in read_papers(path).items()}
    content = {"version": __version__, "papers": papers, "errata": entries}
    return json.dumps(content, indent=1, ensure_ascii=False, default=str)


def _line(claim: Claim, finding: Finding) -> str:
    return f"- **{link(claim)}** {badge(finding.verdict)} {' '.join(finding.correction.split())}"


def _record(claim: Claim, finding: Finding) -> dict[str, Any]:
    return {
        "paper": claim.paper,
        "claim": claim.id,
        "place": claim.place,
        "says": " ".join(claim.says.split()),
        "verdict": str(finding.verdict),
        "consequence": str(finding.consequence),
        "correction": " ".join(finding.correction.split()),
        "found": finding.headline,
    }


def _uncorrected(found: Mapping[str, Finding]) -> str:
    """How many claims fail without a correction."""
    count = sum(finding.verdict == Verdict.FAILS and not finding.correction for finding in found.values())
    if not count:
        return ""
    claims = "One claim fails" if count == 1 else f"{count} claims fail"
    return (
        f"{claims} with nothing to put there instead: "
        '<a href="ledger.html#verdict=fails">the ledger lists what fails</a>.'
    )
