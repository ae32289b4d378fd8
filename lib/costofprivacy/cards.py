"""How findings and parameters are shown on a page: badges, cards, lists."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from costofprivacy.claims import (
    PENDING,
    Claim,
    counts,
    find_register,
    ledger,
    read_findings,
    read_papers,
    read_register,
)
from costofprivacy.findings import MEANING, WEIGHT, Consequence, Finding, Number, Verdict, compact
from costofprivacy.symbols import Row

WAITING = "its chapter is still to be written"


def badge(verdict: str) -> str:
    """A verdict as a coloured word for HTML pages."""
    return f'<span class="verdict verdict-{slug(verdict)}">{verdict}</span>'


def slug(verdict: str) -> str:
    """A verdict as a part of a name in a stylesheet."""
    return verdict.replace(", ", "-").replace(" ", "-")


def plain(text: str) -> str:
    """Text whose characters mean themselves in Markdown, mathematics between dollar signs kept."""
    parts = re.split(r"(\$[^$]*\$)", text)
    return "".join(part if part.startswith("$") else re.sub(r"([\\`*_{}\[\]<>|&])", r"\\\1", part) for part in parts)


def card(claim: Claim, finding: Finding) -> str:
    """All that was found on a claim, as Markdown with an anchor of its own."""
    lines = [
        f"({claim.anchor})=",
        f"{badge(finding.verdict)} **{claim.place}.** {' '.join(claim.says.split())}",
        "",
        f"*Found.* {finding.headline}",
    ]
    if finding.consequence != Consequence.NONE:
        lines += ["", f"*Consequence:* {finding.consequence}: {WEIGHT[finding.consequence]}."]
    if finding.correction:
        heading = "Where it holds" if finding.verdict == Verdict.NARROWER else "What should stand there"
        lines += ["", f"*{heading}.* {finding.correction}"]
    lines += ["", f"*What would change this.* {finding.would_change}"]
    if finding.numbers:
        lines += ["", _numbers(finding.numbers)]
    return "\n".join(lines)


def leading(claims: Iterable[Claim], found: Mapping[str, Finding]) -> str:
    """Claims with their verdict and headline, as short cards that lead to the full ones."""
    return as_list(claims, found, links=True)


def others(claims: Iterable[Claim], found: Mapping[str, Finding]) -> str:
    """Claims with their verdict, a line each, that lead to the full cards."""
    return "\n".join(f"- {badge(found[claim.id].verdict)} [{claim.place}](#{claim.anchor})" for claim in claims)


def _numbers(numbers: Iterable[Number]) -> str:
    """The numbers behind a verdict as a folded table."""
    head = "| | value | ± | held against | table | row |\n|---|---|---|---|---|---|"
    rows = [
        f"| {plain(n.name)} | {compact(n.value)} | {_optional(n.error)} | {_optional(n.against)} "
        f"| {plain(n.table)} | {plain(n.row)} |"
        for n in numbers
    ]
    return "\n".join(["````{dropdown} The numbers", head, *rows, "````"])


def _optional(value: float | None) -> str:
    return "" if value is None else compact(value)


def parameters(rows: Iterable[Row], experiment: Any) -> str:
    """The parameters of a page as an HTML table: symbol, name, meaning, what is allowed, and the value here."""
    body = "".join(
        f"<tr><th scope='row'><code>{row.name}</code></th><td>{html.escape(row.meaning)}</td>"
        f"<td>{html.escape(_value(getattr(experiment, row.name)))} {html.escape(row.unit)}</td>"
        f"<td>{html.escape(row.range)}</td></tr>"
        for row in rows
    )
    head = "".join(f"<th scope='col'>{text}</th>" for text in ("name", "meaning", "here", "must be"))
    return f"<table class='ledger parameters'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_value, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def as_list(claims: Iterable[Claim], found: Mapping[str, Finding], links: bool = False) -> str:
    """Claims as a Markdown list: verdict, place, what is claimed, what was found.

    Args:
        claims: which. found: the findings by claim. links: whether to link judged claims to their chapters, from the
            book's root folder.
    """
    lines = []
    for claim in claims:
        finding = found.get(claim.id)
        place = f"[{claim.place}](#{claim.anchor})" if links and finding else claim.place
        verdict = finding.verdict if finding else PENDING
        lines.append(f"- {badge(verdict)} **{place}.** {' '.join(claim.says.split())}")
        if finding:
            lines += ["", f"  *Found:* {finding.headline}", ""]
    return "\n".join(lines) + "\n"


def definitions() -> str:
    """What each verdict and each consequence means, as a Markdown list."""
    lines = [f"- {badge(verdict)} {MEANING[verdict]};" for verdict in Verdict]
    lines += [f"- {badge(PENDING)} {WAITING}.", "", "The consequence says what a finding changes.", ""]
    lines += [f"- *{consequence}*: {WEIGHT[consequence]};" for consequence in Consequence]
    return "\n".join(lines).rstrip(";") + ".\n"


def front_page(book: Path) -> str:
    """What the book found so far, as Markdown for its first page.

    Args:
        book: folder with ``claims.yml`` whose sub-folders hold the findings.
    """
    path = find_register(book)
    register, found, papers = read_register(path), read_findings(book), read_papers(path)
    counted, lines = counts(ledger(register.values(), found)), []
    for paper in (name for name in papers if name in counted.index):
        row = counted.loc[paper]
        judged = ", ".join(f"{row[v]} {badge(v)}" for v in (*map(str, Verdict), PENDING) if row[v])
        lines.append(f"- **{papers[paper]['short']}**, {row.sum()} claims: {judged}.")
    for consequence, heading in (
        (Consequence.CONCLUSION, "What changes a conclusion or a guarantee"),
        (Consequence.NUMBERS, "What changes a number"),
    ):
        chosen = [register[name] for name in found if found[name].consequence == consequence]
        if chosen:
            items = [f"- [{c.place}](#{c.anchor}): {found[c.id].headline}" for c in _in_order(register, chosen)]
            lines += ["", f"````{{dropdown}} {heading}: {len(items)} findings", *items, "````"]
    return "\n".join(lines) + "\n"


def _in_order(register: Mapping[str, Claim], chosen: Iterable[Claim]) -> list[Claim]:
    """Claims in the order of the register."""
    places = {name: place for place, name in enumerate(register)}
    return sorted(chosen, key=lambda claim: places[claim.id])
