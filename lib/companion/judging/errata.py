"""What should stand where a paper has a slip or leaves out a condition: a page, and data for the papers' authors.

One slip is one erratum: claims that inherit it from another one name that one in ``slip``, and stand with it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from companion import __version__
from companion.judging import prose
from companion.judging.cards import badge, link
from companion.judging.claims import Claim, Slip, find_register, read_findings, read_papers, read_register, read_slips
from companion.judging.findings import WEIGHT, Consequence, Finding, Verdict

HEADINGS = {
    Consequence.CONCLUSION: "What changes a conclusion or a guarantee",
    Consequence.NUMBERS: "What changes a number",
    Consequence.NONE: "What changes neither",
}
WITHOUT = (Verdict.HOLDS, Verdict.UNTESTABLE)


@dataclass(frozen=True)
class Erratum:
    """One slip, one missing condition or one failure, with all that rests on it.

    Args:
        root: the claim that has it. finding: what was found of it. rests: the claims that inherit it.
        consequence: the gravest that it has for one of them.
    """

    root: Claim
    finding: Finding
    rests: tuple[Claim, ...]
    consequence: Consequence


def errata(register: Mapping[str, Claim], found: Mapping[str, Finding]) -> list[Erratum]:
    """The errata of the papers' claims.

    Returns:
        The consequential first, failures and what much rests on before others; in the order of the register otherwise.

    Raises:
        ValueError: if a claim inherits from one that is no erratum itself.
    """
    wrong = [claim for claim in register.values() if claim.id in found and found[claim.id].verdict not in WITHOUT]
    chosen = {claim.id: claim for claim in wrong if not claim.no_erratum}
    roots = [claim for claim in chosen.values() if not claim.slip]
    for claim in chosen.values():
        if claim.slip and (claim.slip not in chosen or chosen[claim.slip].slip):
            raise ValueError(f"slip must name an erratum that is its own root, got {claim.slip!r} for {claim.id}")
    order, entries = list(HEADINGS), []
    for root in roots:
        rests = tuple(claim for claim in chosen.values() if claim.slip == root.id)
        gravest = min((found[claim.id].consequence for claim in (root, *rests)), key=order.index)
        entries.append(Erratum(root, found[root.id], rests, gravest))
    return sorted(
        entries,
        key=lambda entry: (order.index(entry.consequence), entry.finding.verdict != Verdict.FAILS, -len(entry.rests)),
    )


def page(book: Path) -> str:
    """The errata as Markdown: the consequential first, by paper; then the slips that stand in no claim.

    Args:
        book: folder with ``claims.yml`` whose sub-folders hold the findings.
    """
    path = find_register(book)
    papers, slips = read_papers(path), read_slips(path)
    entries, lines = errata(read_register(path), read_findings(book)), list[str]()
    if entries:
        lines += [_counted(entries, slips), ""]
    for consequence, heading in HEADINGS.items():
        chosen = [entry for entry in entries if entry.consequence == consequence]
        if chosen:
            lines += [f"## {heading}", "", f"{WEIGHT[consequence].capitalize()}.", ""]
        for name, paper in papers.items():
            own = [_line(entry) for entry in chosen if entry.root.paper == name]
            if chosen and not own and consequence == Consequence.CONCLUSION:
                lines += [f"### {paper['short']}", "", "None.", ""]
            lines += _part(paper["short"], own, folded=consequence == Consequence.NONE)
    if slips:
        lines += ["## Slips in displays that no claim rests on", ""]
    for name, paper in papers.items():
        lines += _part(paper["short"], [_slip(slip) for slip in slips if slip.paper == name], folded=True)
    return "\n".join(lines)


def _part(paper: str, own: list[str], *, folded: bool) -> list[str]:
    """The errata of one paper; those that change nothing for a reader are folded."""
    if not own:
        return []
    if folded:
        return [f"````{{dropdown}} {paper}: {len(own)}", *own, "````", ""]
    return [f"### {paper}", "", *own, ""]


def data(book: Path) -> str:
    """The same as JSON: the papers, and each erratum with what the paper says and what was found.

    Args:
        book: folder with ``claims.yml`` whose sub-folders hold the findings.
    """
    path = find_register(book)
    entries = [_record(entry) for entry in errata(read_register(path), read_findings(book))]
    slips = [{name: " ".join(text.split()) for name, text in vars(slip).items()} for slip in read_slips(path)]
    papers = {name: dict(paper) for name, paper in read_papers(path).items()}
    content = {"version": __version__, "papers": papers, "errata": entries, "slips": slips}
    return json.dumps(content, indent=1, ensure_ascii=False, default=str)


def _counted(entries: list[Erratum], slips: tuple[Slip, ...]) -> str:
    """How many there are, and how much rests on those that are inherited."""
    rest = sum(len(entry.rests) + 1 for entry in entries)
    shared = [len(entry.rests) + 1 for entry in entries if entry.rests]
    lines = [f"Independent errata: {len(entries)}. Claims that rest on them: {rest}."]
    if shared:
        lines += [f"Errata that several claims share: {len(shared)}, with {sum(shared)} of these claims."]
    if slips:
        lines += [f"Slips in displays that no claim rests on: {len(slips)}."]
    return " ".join(lines)


def _line(entry: Erratum) -> str:
    root, finding = entry.root, entry.finding
    if finding.should_read:
        printed = f"*Printed*: {finding.printed} " if finding.printed else ""
        said = f"{printed}*Should read*: {finding.should_read}"
    elif finding.condition:
        said = f"*Missing condition*: {finding.condition}"
    else:
        said = "*We know of nothing to put there instead*."
    also = [link(claim) for claim in entry.rests] + list(root.also)
    rests = f" *Also affected*: {prose.listed(also)}." if also else ""
    return f"- **{link(root)}** {badge(finding.verdict)} {' '.join(said.split())} *Why*: {finding.headline}{rests}"


def _slip(slip: Slip) -> str:
    said = f"*Printed*: {slip.printed} *Should read*: {slip.should_read} *Why*: {slip.why}"
    return f"- **[{slip.place}](/book/{slip.chapter}.ipynb)** {' '.join(said.split())}"


def _record(entry: Erratum) -> dict[str, Any]:
    root, finding = entry.root, entry.finding
    return {
        "paper": root.paper,
        "claim": root.id,
        "place": root.place,
        "says": " ".join(root.says.split()),
        "quote": " ".join(root.quote.split()),
        "verdict": str(finding.verdict),
        "consequence": str(entry.consequence),
        "printed": finding.printed,
        "should_read": finding.should_read,
        "condition": finding.condition,
        "found": finding.headline,
        "rests": [claim.id for claim in entry.rests],
        "also": list(root.also),
    }
