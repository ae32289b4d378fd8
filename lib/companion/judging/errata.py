"""What should stand where a paper has a slip or leaves out a condition, and which verdicts ever changed.

One slip is one erratum: claims that inherit it from another one name that one in ``slip``, and stand with it. There is
a page of the errata, and data for the papers' authors. The histories of the claims say what became of each verdict
since it was first given; a page lists the changes.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

from companion import __version__
from companion.judging import prose
from companion.judging.cards import badge, link
from companion.judging.claims import (
    WITHDRAWN,
    Claim,
    Slip,
    find_register,
    read_findings,
    read_papers,
    read_register,
    read_slips,
    read_withdrawn,
)
from companion.judging.findings import WEIGHT, Consequence, Finding, Verdict

HEADINGS = {
    Consequence.CONCLUSION: "What changes a conclusion or a guarantee",
    Consequence.NUMBERS: "What changes a number",
    Consequence.NONE: "What changes neither",
}
UNKNOWN = "*We know of nothing to put there instead*."
WITHOUT, SLIPS = (Verdict.HOLDS, Verdict.UNTESTABLE), "slips"


@dataclass(frozen=True)
class Erratum:
    """One slip, condition or failure: the claim, its finding, the claims that rest on it, the gravest consequence."""

    root: Claim
    finding: Finding
    rests: tuple[Claim, ...]
    consequence: Consequence


def errata(register: Mapping[str, Claim], found: Mapping[str, Finding]) -> list[Erratum]:
    """The errata of the papers' claims, the consequential first, failures and what much rests on before others.

    A ``ValueError`` says that a claim inherits from one that is no erratum itself.
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
    """The errata of a folder with ``claims.yml`` and findings, as Markdown: the consequential first, slips last."""
    path = find_register(book)
    papers, slips = read_papers(path), read_slips(path)
    entries = errata(read_register(path), read_findings(book))
    rest = sum(len(entry.rests) + 1 for entry in entries)
    said = f"Independent errata: {len(entries)}. Claims that rest on them: {rest}."
    lines = [f"{said} Slips in displays that no claim rests on: {len(slips)}.", ""] if entries else []
    for consequence, heading in HEADINGS.items():
        chosen = [entry for entry in entries if entry.consequence == consequence]
        if chosen:
            lines += [f"## {heading}", "", f"{WEIGHT[consequence].capitalize()}.", ""]
        for name, paper in papers.items():
            own = [_line(entry, book) for entry in chosen if entry.root.paper == name]
            if chosen and not own and consequence == Consequence.CONCLUSION:
                lines += [f"### {paper['short']}", "", "None.", ""]
            lines += _part(paper["short"], own, consequence)
    if slips:
        lines += ["## Slips in displays that no claim rests on", ""]
    for name, paper in papers.items():
        links = {slip: f"**[{slip.place}](/book/{slip.chapter}.ipynb)**" for slip in slips if slip.paper == name}
        own = [_row(place, *_corrected(slip), f"*Why*: {slip.why}") for slip, place in links.items()]
        lines += _part(paper["short"], own, SLIPS)
    return "\n".join(lines)


def _part(paper: str, own: list[str], kind: str) -> list[str]:
    label, rows = f"(errata-{paper.lower()}-{kind})=", ["````{div} errata", *own, "````"]
    folded = [f"`````{{dropdown}} {paper}: {len(own)}", *rows, "`````", ""]
    parts = folded if kind in (Consequence.NONE, SLIPS) else [f"### {paper}", "", *rows, ""]
    return [label, *parts] if own else []


def data(book: Path) -> str:
    """The same as JSON: the papers, and each erratum with what the paper says and what was found."""
    path = find_register(book)
    entries = []
    for entry in errata(read_register(path), read_findings(book)):
        root, finding = entry.root, entry.finding
        own = {name: " ".join(getattr(root, name).split()) for name in ("place", "says", "quote")}
        said = {name: getattr(finding, name) for name in ("printed", "should_read", "condition")}
        verdict = {"verdict": finding.verdict, "consequence": entry.consequence, **said, "found": finding.headline}
        rests = {"rests": [claim.id for claim in entry.rests], "also": root.also}
        entries.append({"paper": root.paper, "claim": root.id, **own, **verdict, **rests})
    slips = [{name: " ".join(text.split()) for name, text in vars(slip).items()} for slip in read_slips(path)]
    papers = {name: dict(paper) for name, paper in read_papers(path).items()}
    content = {"version": __version__, "papers": papers, "errata": entries, "slips": slips}
    return json.dumps(content, indent=1, ensure_ascii=False, default=str)


def _step(claim: Claim, book: Path) -> str:
    """The label named after a claim, in its chapter or a page beside it, else that of the chapter's derivation."""
    path, own = book / f"{claim.chapter}.ipynb", claim.anchor.replace("claim", "step", 1)
    text = "\n".join(page.read_text("utf-8") for page in (path, *path.parent.glob("*.md")))
    labels = re.findall(r'^ *"?\(((?:step|derivation)-[\w-]+)\)=', text, re.MULTILINE)
    return own if own in labels else next(label for label in labels if label.startswith("derivation-"))


def _line(entry: Erratum, book: Path) -> str:
    root, finding = entry.root, entry.finding
    condition = f"*Missing condition*: {finding.condition}" if finding.condition else UNKNOWN
    said = _corrected(finding) if finding.should_read else [condition]
    also = [link(claim) for claim in entry.rests] + list(root.also)
    rests = f"*Also affected*: {prose.listed(also)}." if also else ""
    why = f"*Why*: {finding.headline} See [the derivation](#{_step(root, book)}) in []({root.chapter}.ipynb)."
    return _row(f"**{link(root)}** {badge(finding.verdict)}", *said, why, rests)


def _corrected(slip: Slip | Finding) -> list[str]:
    return [f"*Printed*: {slip.printed}" if slip.printed else "", f"*Should read*: {slip.should_read}"]


def _row(*parts: str) -> str:
    """An erratum as an item of a list: its place, then a paragraph for each part that says something."""
    return "- " + "\n\n  ".join(" ".join(part.split()) for part in parts if part)


def changes(register: Mapping[str, Claim]) -> dict[tuple[str, str, str, str, str], list[Claim]]:
    """Every change of a verdict (version of the book, date, verdict before and after, why), with its claims."""
    found: dict[tuple[str, str, str, str, str], list[Claim]] = {}
    for claim in register.values():
        for before, after in pairwise(claim.history):
            change = after.version, after.date, before.verdict, after.verdict, " ".join(after.why.split())
            found.setdefault(change, []).append(claim)
    return found


def changes_page(book: Path) -> str:
    """Every verdict that ever changed, as Markdown, the latest version first."""
    path = find_register(book)
    papers = read_papers(path)
    found = changes(read_register(path) | read_withdrawn(path)).items()
    newest_first = sorted(found, key=lambda item: ([*map(int, item[0][0].split("."))], item[0][1]), reverse=True)
    lines: list[str] = []
    for version, entries in groupby(newest_first, key=lambda item: item[0][0]):
        lines += [f"## Version {version}", ""]
        for (_, date, before, after, why), claims in entries:
            lines += [f"- {badge(before)} became {badge(after)} on {date}. {why}", ""]
            for name, paper in papers.items():
                own = [claim for claim in claims if claim.paper == name]
                places = [claim.place if claim.verdict == WITHDRAWN else link(claim) for claim in own]
                lines += [f"  {paper['short']}: {'; '.join(places)}."] if places else []
            lines.append("")
    return "\n".join(lines)
