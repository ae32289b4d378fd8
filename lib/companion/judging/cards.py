"""How findings and parameters are shown on a page: badges, cards, lists."""

import html
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import cycle
from typing import Any

from companion import __version__
from companion.judging import addresses, growth, prose, vocabulary
from companion.judging.claims import KINDS, PENDING, Claim
from companion.judging.evidence import Evidence, gather
from companion.judging.findings import (
    LABEL,
    MEANING,
    VACUOUS,
    VACUOUS_MEANING,
    WEIGHT,
    Consequence,
    Finding,
    Number,
    Verdict,
)
from companion.judging.prose import compact
from companion.symbols import Row

WAITING = "its chapter is still to be written"
MOST_OPEN = 4  # claims in a list that is not folded
NEVER_EMPTY = ("number", "value")
COUNTED = {  # several claims; one claim is as its label says
    Verdict.HOLDS: "hold",
    Verdict.CORRECTED: "hold with a correction",
    Verdict.NARROWER: "hold under an extra condition",
    Verdict.UNTESTABLE: "cannot be tested",
    Verdict.FAILS: "do not hold",
}


_EXPONENT = re.compile(r"\b\d+(?:\.\d+)?e[-+]\d+\b")
_POWER = re.compile(
    r"(?<![\w$\\}])(?P<base>[A-Zn]|gamma)\^(?P<exponent>\([^()]*\)|\{[^{}]*\}|\w+(?:\.\d+)?)(?![^$]*\$)"
)


def badge(verdict: str, *, vacuous: bool = False) -> str:
    """A verdict as a coloured label for HTML pages, with a second one where the claimed bound says nothing."""
    shown = f'<span class="verdict verdict-{slug(verdict)}">{label(verdict)}</span>'
    return f'{shown} <span class="verdict verdict-vacuous">{VACUOUS}</span>' if vacuous else shown


def label(verdict: str) -> str:
    """A verdict as a reader meets it; words of earlier versions as they were."""
    return LABEL[Verdict(verdict)] if verdict in list(Verdict) else verdict


def of(finding: Finding) -> str:
    """The badge of a finding."""
    return badge(finding.verdict, vacuous=finding.vacuous)


def slug(verdict: str) -> str:
    """A verdict as a part of a name in a stylesheet."""
    return verdict.replace(", ", "-").replace(" ", "-")


def plain(text: str) -> str:
    """Text whose characters mean themselves in Markdown, mathematics between dollar signs kept."""
    parts = re.split(r"(\$[^$]*\$)", text)
    return "".join(part if part.startswith("$") else re.sub(r"([\\`*_{}\[\]<>|&])", r"\\\1", part) for part in parts)


def typeset(text: str) -> str:
    """Plain text with mathematics between dollar signs, as HTML that MathJax typesets."""
    parts = re.split(r"\$([^$]*)\$", " ".join(text.split()))
    return "".join(
        f'<span class="math notranslate nohighlight">\\({html.escape(part)}\\)</span>' if odd else html.escape(part)
        for part, odd in zip(parts, cycle((False, True)))
    )


def card(claim: Claim, finding: Finding, evidence: Evidence | None = None, arxiv: str = "") -> str:
    """All that was found on a claim, as Markdown with an anchor of its own; but for the headline it is folded.

    Args:
        claim: what is judged. finding: what was found. evidence: what the finding rests on; by default the tables that
            it names, of the claim's chapter. arxiv: the number of the claim's paper, to which a quotation is linked.
    """
    said = [
        ("The paper", quotation(claim, arxiv)),
        ("In our words" if claim.quote else "The paper says", claim.says),
        (VACUOUS.capitalize(), _sentence(VACUOUS_MEANING) if finding.vacuous else ""),
        ("Printed", finding.printed),
        ("Should read", finding.should_read),
        ("Missing condition", finding.condition),
        ("Consequence", _consequence(claim, finding)),
        ("For the authors", finding.argued),
        ("Pass criterion", finding.rule),
        ("Why the bound holds", claim.derived),
        ("Left open by the paper", claim.varied),
        ("Kind of evidence", f"{claim.kind.capitalize()}." if claim.kind else ""),
        ("What would change this", finding.would_change),
        ("Evidence", _evidence(evidence or gather(claim, finding))),
    ]
    terms = [f"{term}\n: {' '.join(text.split())}\n" for term, text in said if text]
    return "\n".join(
        [
            f"({claim.anchor})=",
            "`````{div} claim-card",
            f"<details><summary>{_head(claim, finding)}</summary>",
            "",
            *terms,
            *([_numbers(finding.numbers), ""] if finding.numbers else []),
            _foot(claim),
            "</details>",
            "`````",
        ]
    )


def _head(claim: Claim, finding: Finding) -> str:
    """What is in sight of a card: verdict, place and headline, as HTML on one line."""
    headline = f'<span class="headline">{typeset(finding.headline)}</span>'
    return f"{of(finding)} <strong>{typeset(claim.place)}</strong> {headline}"


def quotation(claim: Claim, arxiv: str) -> str:
    """The paper's own words, marked as such, with a link to the paper; empty where there are none."""
    if not claim.quote:
        return ""
    source = f", [arXiv {arxiv}](https://arxiv.org/abs/{arxiv})" if arxiv else ""
    return f"“{' '.join(claim.quote.split())}” ({claim.place}{source})"


def short(claim: Claim, finding: Finding) -> str:
    """A claim with its verdict and headline, as a small card that leads to the full one."""
    lines = ["````{div} claim-card", f"{of(finding)} **{link(claim)}**", "", finding.headline, "````"]
    return "\n".join(lines)


def line(claim: Claim, finding: Finding) -> str:
    """A claim with its verdict in one line that leads to the full card."""
    return f"{of(finding)} {link(claim)}"


def link(claim: Claim) -> str:
    """The place of a claim, linked to its card."""
    return f"[{claim.place}](#{claim.anchor})"


def all_of(chapter: str, verdicts: Iterable[Verdict]) -> str:
    """One line that leads from a chapter to the page on which each of its claims has a card.

    Args:
        chapter: its name. verdicts: those on its claims.
    """
    given = list(verdicts)
    words = "The one claim of this chapter" if len(given) == 1 else f"All {len(given)} claims of this chapter"
    return f"[{words}, with the evidence]({addresses.page_of(chapter).split('/')[-1]}.md): {tally(given)}."


def leading(claims: Iterable[Claim], found: Mapping[str, Finding]) -> str:
    """Claims as small cards, two beside each other where there is room."""
    chosen = [short(claim, found[claim.id]) for claim in claims]
    return "\n".join(["`````{div} claim-cards", *chosen, "`````"]) if chosen else ""


def others(claims: Iterable[Claim], found: Mapping[str, Finding]) -> str:
    """Claims in a line each; more than a few are folded, with their verdicts counted."""
    chosen = list(claims)
    lines = [f"- {line(claim, found[claim.id])}" for claim in chosen]
    if len(lines) <= MOST_OPEN:
        return "\n".join(lines)
    tally = Counter(found[claim.id].verdict for claim in chosen)
    counted = ", ".join(_counted(verdict, tally[verdict]) for verdict in Verdict if tally[verdict])
    return "\n".join([f"````{{dropdown}} {len(lines)} more claims: {counted}", *lines, "````"])


def _consequence(claim: Claim, finding: Finding) -> str:
    """What a finding changes, and the sentence that does not follow; nothing for what changes nothing."""
    if finding.consequence == Consequence.NONE:
        return ""
    if finding.consequence == Consequence.CONCLUSION and claim.undermines:
        return f"*conclusion*. This does not follow: {claim.undermines}"
    return f"*{finding.consequence}*: {WEIGHT[finding.consequence]}."


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _evidence(evidence: Evidence) -> str:
    """Tables to take away, the figures drawn from them, and the judge."""
    tables = ", ".join(f"{{download}}`{name}.csv <{evidence.folder}/{name}.csv>`" for name in evidence.tables)
    page = f"{evidence.folder}.html"  # of the chapter
    figures = ", ".join(f'<a href="{page}#{figure.label}">{figure.title}</a>' for figure in evidence.figures)
    parts = [
        f"Data: {tables}." if tables else "",
        f"Drawn in: {figures}." if figures else "",
        f"{{judge}}`{evidence.judge}`" if evidence.judge else "",
    ]
    return " ".join(part for part in parts if part)


def _foot(claim: Claim) -> str:
    """Where a card belongs: the version of the book, its own address, its row in the ledger."""
    up = "../" * claim.chapter.count("/")
    return (
        f'<p class="claim-foot">Version {__version__} of the book · <a href="#{claim.anchor}">this card</a> · '
        f'<a href="{up}ledger.html#{claim.anchor}">in the ledger</a></p>'
    )


def _numbers(numbers: Iterable[Number]) -> str:
    """The numbers behind a verdict as a folded table, without the columns that would be empty; HTML on one line."""
    told = [_told(number) for number in numbers]
    columns = [name for name in told[0] if name in NEVER_EMPTY or any(row[name] for row in told)]
    head = "".join(f'<th scope="col">{name}</th>' for name in columns)
    rows = ("".join(f"<td>{typeset(row[name])}</td>" for name in columns) for row in told)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    table = f'<table class="table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    scrolled = f'<div class="pst-scrollable-table-container">{table}</div>'
    return f'<details class="numbers"><summary>The numbers</summary>{scrolled}</details>'


def _told(number: Number) -> dict[str, str]:
    """A number and where it comes from, by the heads of the table."""
    return {
        "number": read_out(number.name),
        "value": compact(number.value),
        "±": _optional(number.error),
        "threshold or reference": _optional(number.against),
        "from": read_out(", ".join(part for part in (number.table, number.row) if part not in ("", "all"))),
    }


def read_out(text: str) -> str:
    """Names of columns and machine numbers in a text, as a reader has them: ``share of cap = 10⁻⁶``."""
    text = _EXPONENT.sub(lambda number: prose.plain(float(number.group())), text)
    text = _POWER.sub(_power, text)
    parts = re.split(r"(\$[^$]*\$)", text)
    return "".join(part if part.startswith("$") else re.sub(r"(?<=\w)_(?=\w)", " ", part) for part in parts)


def _power(found: re.Match[str]) -> str:
    base, exponent = found["base"], found["exponent"].strip("(){}")
    return f"${base if len(base) == 1 else chr(92) + base}^{{{exponent}}}$"


def _optional(value: float | None) -> str:
    return "" if value is None else compact(value)


def parameters(rows: Iterable[Row], experiment: Any) -> str:
    """The parameters of a page as an HTML table: symbol, name, meaning, what is allowed, and the value here."""
    body = "".join(
        f"<tr><th scope='row'><code>{row.name}</code></th><td>{html.escape(row.meaning)}</td>"
        f"<td>{html.escape(_value(getattr(experiment, row.name)))} {html.escape(row.unit)}</td>"
        f"<td>{html.escape(read_out(row.range))}</td></tr>"
        for row in rows
    )
    head = "".join(f"<th scope='col'>{text}</th>" for text in ("name", "meaning", "here", "must be"))
    return f"<table class='ledger parameters'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_value, value))
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return prose.plain(value) if isinstance(value, float) and "e" in text else text


def definitions() -> str:
    """What each verdict and each consequence means, as a Markdown list."""
    lines = [f"- {badge(verdict)} {MEANING[verdict]};" for verdict in Verdict]
    lines += [f"- {badge(Verdict.HOLDS, vacuous=True)} {VACUOUS_MEANING};"]
    lines += [f"- {badge(PENDING)} {WAITING}.", "", "The consequence says what a finding changes.", ""]
    lines += [f"- *{consequence}*: {WEIGHT[consequence]};" for consequence in Consequence]
    lines[-1] = lines[-1].rstrip(";") + "."
    lines += ["", "The kind of evidence says how much a verdict can be trusted beyond what we tried.", ""]
    lines += [f"- *{kind}*: {meaning};" for kind, meaning in KINDS.items()]
    lines[-1] = lines[-1].rstrip(";") + "."
    lines += ["", "Words of comparison mean the same wherever they decide, but where a card names another limit.", ""]
    lines += [f"- *{word}*: {meaning};" for word, meaning in vocabulary.MEANING.items()]
    return "\n".join(lines).rstrip(";") + f".\n\n{growth.RULE}\n"


def tally(verdicts: Iterable[Verdict]) -> str:
    """How many claims have each verdict: ``15 hold, 19 hold once corrected, none fails``."""
    counts = Counter(verdicts)
    return ", ".join(text for verdict in COUNTED if (text := _counted(verdict, counts[verdict])))


def _counted(verdict: Verdict, count: int) -> str:
    """How many have a verdict, in words; what does not hold is named even where there is none."""
    if count == 0:
        return "none fails" if verdict == Verdict.FAILS else ""
    return f"{count} {LABEL[verdict] if count == 1 else COUNTED[verdict]}"
