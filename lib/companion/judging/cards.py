"""How claims, findings and parameters are shown on a page: badges, cards, lists; and where a card stands.

The card of a claim stands on the page of its chapter's claims, which lies beside the chapter. In Markdown a link to
``#`` and `Claim.anchor` finds it from every page of the book. In HTML, and in files to take away, a link needs the
`address`.
"""

import html
import inspect
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import cycle
from typing import Any

import pandas as pd
from IPython.display import HTML
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

from companion import __version__
from companion.declaration import Row
from companion.judging import growth, prose, vocabulary
from companion.judging.claims import KINDS, PENDING, Claim
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

LONG_CODE = 25  # lines of a function from which on its listing is folded
CLAIMS = "-claims"  # ends the name of a page of claims
CLAIMS_TITLE = "Claim by claim: "  # begins its title
MOST_OPEN = 4  # claims in a list that is not folded
COUNTED = {  # several claims; one claim is as its label says
    Verdict.HOLDS: "hold",
    Verdict.CORRECTED: "hold with a correction",
    Verdict.NARROWER: "hold under an extra condition",
    Verdict.UNTESTABLE: "cannot be tested",
    Verdict.FAILS: "do not hold",
}
SHOWN = re.compile(r'\.show\(\s*"(?P<figure>[^"]+)",(?P<drawing>.*?)(?=\.show\(|\Z)', re.DOTALL)
TABLE = re.compile(r'\btables\["([^"]+)"\]')
_EXPONENT = re.compile(r"\b\d+(?:\.\d+)?e[-+]\d+\b")
_POWER = re.compile(
    r"(?<![\w$\\}])(?P<base>[A-Zn]|gamma)\^(?P<exponent>\([^()]*\)|\{[^{}]*\}|\w+(?:\.\d+)?)(?![^$]*\$)"
)


def figure_label(chapter: str, name: str) -> str:
    """The label of a chapter's figure on its page."""
    return f"{chapter}/{name}".replace("/", "-")


def title_of(caption: str) -> str:
    """The title that a caption opens with, in bold; empty where it has none."""
    found = re.match(r"\*\*(.+?)\.?\*\*", caption)
    return found[1] if found else ""


def drawn_from(sources: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The tables behind each figure: ``tables[...]`` in ``chapter.show("name", drawing)``, else in its cell."""
    shown = ((found, source) for source in sources for found in SHOWN.finditer(source))
    return {
        found["figure"]: tuple(dict.fromkeys(TABLE.findall(found["drawing"]) or TABLE.findall(source)))
        for found, source in shown
    }


def badge(verdict: str, *, vacuous: bool = False) -> str:
    """A verdict as a coloured label for HTML pages, with a second one where the claimed bound says nothing."""
    label = LABEL[Verdict(verdict)] if verdict in list(Verdict) else verdict  # words of earlier versions as they were
    shown = f'<span class="verdict verdict-{slug(verdict)}">{label}</span>'
    return f'{shown} <span class="verdict verdict-vacuous">{VACUOUS}</span>' if vacuous else shown


def of(finding: Finding) -> str:
    """The badge of a finding."""
    return badge(finding.verdict, vacuous=finding.vacuous)


def slug(verdict: str) -> str:
    """A verdict as a part of a name in a stylesheet."""
    return verdict.replace(", ", "-").replace(" ", "-")


def typeset(text: str) -> str:
    """Plain text with mathematics between dollar signs, as HTML that MathJax typesets."""
    parts = re.split(r"\$([^$]*)\$", " ".join(text.split()))
    return "".join(
        f'<span class="math notranslate nohighlight">\\({html.escape(part)}\\)</span>' if odd else html.escape(part)
        for part, odd in zip(parts, cycle((False, True)))
    )


def card(
    claim: Claim,
    finding: Finding,
    arxiv: str = "",
    judge: Callable[..., Any] | None = None,
    figures: Mapping[str, Iterable[str]] | None = None,
    titles: Mapping[str, str] | None = None,
) -> str:
    """All that was found on a claim, as Markdown with an anchor of its own; but for the headline it is folded.

    Args:
        arxiv: the paper's number there, to which a quotation is linked. judge: the function that decides the claim.
        figures: the tables behind each figure of the chapter, as `drawn_from` finds them. titles: theirs.
    """
    consequence = f"*{finding.consequence}*: {WEIGHT[finding.consequence]}."
    if finding.consequence == Consequence.CONCLUSION and claim.undermines:
        consequence = f"*conclusion*. This does not follow: {claim.undermines}"
    source = f", [arXiv {arxiv}](https://arxiv.org/abs/{arxiv})" if arxiv else ""
    said = [
        ("The paper", f"“{claim.quote.strip()}” ({claim.place}{source})" if claim.quote else ""),
        ("In our words" if claim.quote else "The paper says", claim.says),
        (VACUOUS.capitalize(), f"{VACUOUS_MEANING[0].upper()}{VACUOUS_MEANING[1:]}." if finding.vacuous else ""),
        ("Printed", finding.printed),
        ("Should read", finding.should_read),
        ("Missing condition", finding.condition),
        ("Consequence", "" if finding.consequence == Consequence.NONE else consequence),
        ("For the authors", finding.argued),
        ("Pass criterion", finding.rule),
        ("Why the bound holds", claim.derived),
        ("Left open by the paper", finding.varied),
        ("Kind of evidence", f"{claim.kind.capitalize()}." if claim.kind else ""),
        ("What would change this", finding.would_change),
        ("Evidence", _evidence(claim, finding, judge, figures or {}, titles or {})),
    ]
    head = f'<strong>{typeset(claim.place)}</strong> <span class="headline">{typeset(finding.headline)}</span>'
    up = "../" * claim.chapter.count("/")
    foot = (
        f'<p class="claim-foot">Version {__version__} of the book · <a href="#{claim.anchor}">this card</a> · '
        f'<a href="{up}ledger.html#{claim.anchor}">in the ledger</a></p>'
    )
    terms = [f"{term}\n: {' '.join(text.split())}\n" for term, text in said if text]
    return "\n".join(
        [
            f"({claim.anchor})=",
            "`````{div} claim-card",
            f"<details><summary>{of(finding)} {head}</summary>",
            "",
            *terms,
            *([_numbers(finding.numbers), ""] if finding.numbers else []),
            foot,
            "</details>",
            "`````",
        ]
    )


def link(claim: Claim) -> str:
    """The place of a claim, linked to its card."""
    return f"[{claim.place}](#{claim.anchor})"


def leading(claims: Iterable[Claim], found: Mapping[str, Finding]) -> str:
    """Claims with their headlines, a row each, which lead to the full cards."""
    rows = [
        f"- {of(found[claim.id])} <span>{link(claim)}. {' '.join(found[claim.id].headline.split())}</span>"
        for claim in claims
    ]
    return "\n".join(["````{div} findings", *rows, "````"]) if rows else ""


def others(claims: Iterable[Claim], found: Mapping[str, Finding]) -> str:
    """Claims by their verdicts, a line for each verdict; more than a few are folded, with their verdicts counted."""
    chosen = list(claims)
    by_verdict = {verdict: [claim for claim in chosen if found[claim.id].verdict == verdict] for verdict in Verdict}
    lines = [f"- {badge(verdict)} {', '.join(map(link, own))}" for verdict, own in by_verdict.items() if own]
    if len(chosen) <= MOST_OPEN:
        return "\n".join(lines)
    told = ", ".join(counted(verdict, len(own)) for verdict, own in by_verdict.items() if own)
    return "\n".join([f"````{{dropdown}} {len(chosen)} more claims: {told}", *lines, "````"])


def _evidence(
    claim: Claim,
    finding: Finding,
    judge: Callable[..., Any] | None,
    figures: Mapping[str, Iterable[str]],
    titles: Mapping[str, str],
) -> str:
    """The tables that a finding rests on, the figures drawn from them, and the judge, for the role ``judge``."""
    folder = claim.chapter.split("/")[-1]
    tables = list(dict.fromkeys(number.table for number in finding.numbers if number.table))
    data = ", ".join(f"{{download}}`{name}.csv <{folder}/{name}.csv>`" for name in tables)
    drawn = ", ".join(
        f'<a href="{folder}.html#{figure_label(claim.chapter, name)}">{titles.get(name) or name}</a>'
        for name, sources in figures.items()
        if not set(tables).isdisjoint(sources)
    )
    parts = [
        f"Data: {data}." if data else "",
        f"Drawn in: {drawn}." if drawn else "",
        f"{{judge}}`{judge.__module__}:{judge.__name__}`" if judge else "",
    ]
    return " ".join(part for part in parts if part)


def _numbers(numbers: Iterable[Number]) -> str:
    cells = [
        {
            "number": read_out(number.name),
            "value": compact(number.value),
            "±": "" if number.error is None else compact(number.error),
            "threshold or reference": "" if number.against is None else compact(number.against),
            "from": read_out(", ".join(part for part in (number.table, number.row) if part not in ("", "all"))),
        }
        for number in numbers
    ]
    columns = [name for name in cells[0] if name in ("number", "value") or any(row[name] for row in cells)]
    head = "".join(f'<th scope="col">{name}</th>' for name in columns)
    rows = ("".join(f"<td>{typeset(row[name])}</td>" for name in columns) for row in cells)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return _fold("The numbers", f'<table class="table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>')


def read_out(text: str) -> str:
    """Names of columns and machine numbers in a text, as a reader has them: ``share of cap = 10⁻⁶``."""

    def power(found: re.Match[str]) -> str:
        base, exponent = found["base"], found["exponent"].strip("(){}")
        return f"${base if len(base) == 1 else chr(92) + base}^{{{exponent}}}$"

    text = _EXPONENT.sub(lambda number: prose.plain(float(number.group())), text)
    text = _POWER.sub(power, text)
    parts = re.split(r"(\$[^$]*\$)", text)
    return "".join(part if part.startswith("$") else re.sub(r"(?<=\w)_(?=\w)", " ", part) for part in parts)


def parameters(rows: Iterable[Row], experiment: Any) -> str:
    """The parameters of a page, folded, as an HTML table: name, meaning, the value here, and what is allowed."""
    body = "".join(
        f"<tr><th scope='row'><code>{row.name}</code></th><td>{html.escape(row.meaning)}</td>"
        f"<td>{html.escape(_value(getattr(experiment, row.name)))} {html.escape(row.unit)}</td>"
        f"<td>{html.escape(read_out(row.range))}</td></tr>"
        for row in rows
    )
    head = "".join(f"<th scope='col'>{text}</th>" for text in ("name", "meaning", "here", "must be"))
    table = f"<table class='ledger parameters'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<details class='numbers' id='parameters'><summary>The parameters of this page</summary>{table}</details>"


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_value, value))
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return prose.plain(value) if isinstance(value, float) and "e" in text else text


def definitions() -> str:
    """What each verdict and each consequence means, as a Markdown list."""
    verdicts = [f"{badge(verdict)} {MEANING[verdict]}" for verdict in Verdict]
    verdicts += [
        f"{badge(Verdict.HOLDS, vacuous=True)} {VACUOUS_MEANING}",
        f"{badge(PENDING)} its chapter is still to be written",
    ]
    parts = [
        _items(verdicts),
        "The consequence says what a finding changes.",
        _items(f"*{consequence}*: {WEIGHT[consequence]}" for consequence in Consequence),
        "The kind of evidence says how much a verdict can be trusted beyond what we tried.",
        _items(f"*{kind}*: {meaning}" for kind, meaning in KINDS.items()),
        "Words of comparison mean the same wherever they decide, but where a card names another limit.",
        _items(f"*{word}*: {meaning}" for word, meaning in vocabulary.MEANING.items()),
        growth.RULE,
    ]
    return "\n\n".join(parts) + "\n"


def _items(items: Iterable[str]) -> str:
    return ";\n".join(f"- {item}" for item in items) + "."


def tally(verdicts: Iterable[Verdict]) -> str:
    """How many claims have each verdict: ``15 hold, 19 hold once corrected, none fails``."""
    counts = Counter(verdicts)
    return ", ".join(text for verdict in COUNTED if (text := counted(verdict, counts[verdict])))


def counted(verdict: Verdict, count: int) -> str:
    """How many claims have a verdict, in words; nothing for none, but where none fails."""
    if count == 0:
        return "none fails" if verdict == Verdict.FAILS else ""
    return f"{count} {LABEL[verdict] if count == 1 else COUNTED[verdict]}"


def page_of(chapter: str) -> str:
    """The page with the cards of a chapter's claims, by the chapter's name: ``dpgd/schedules-claims``."""
    return f"{chapter}{CLAIMS}"


def address(claim: Claim, start: str = "") -> str:
    """The address of a claim's card from a page, such as ``dpgd/schedules``; by default one in the book's folder."""
    page = posixpath.relpath(f"{page_of(claim.chapter)}.html", posixpath.dirname(start) or ".")
    return f"{page}#{claim.anchor}"


def folded(title: str, table: pd.DataFrame | HTML | None) -> HTML:
    """A table behind a line that opens it and says what it shows; an empty fold where there is none."""
    if isinstance(table, pd.DataFrame):
        body = table.to_html(classes="table", border=0, escape=False)
    else:
        body = table.data if table else ""
    return HTML(_fold(html.escape(title), body))


def _fold(title: str, table: str) -> str:
    scrolled = f'<div class="pst-scrollable-table-container">{table}</div>'
    return f'<details class="numbers"><summary>{title}</summary>{scrolled}</details>'


def listing(function: Callable[..., Any]) -> str:
    """A function as it stands in the library, in the page's colours for code, folded where it is long."""
    source = inspect.getsource(inspect.unwrap(function))
    code, shown = highlight(source, PythonLexer(), HtmlFormatter()), " open" if source.count("\n") <= LONG_CODE else ""
    place = f"<code>{function.__name__}</code> in <code>{html.escape(function.__module__)}</code>"
    head = f"The function on which the tables rest: {place}"
    return f'<details class="numbers"{shown}><summary>{head}</summary>{code}</details>'
