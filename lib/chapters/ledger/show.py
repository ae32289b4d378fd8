"""What does each paper claim, and what did the book find of it?"""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import HTML, Markdown

from chapters.ledger.measure import book_folder
from companion.judging import cards, claims
from companion.judging.claims import PENDING, Claim
from companion.judging.findings import Consequence, Finding, Verdict
from costofprivacy import __version__

ALL = "everything"  # the folder of the files to take away, among the ledger's results
COLUMNS = ("place", "verdict", "consequence", "what was found", "paper", "chapter")
UNSAID = ("consequence", "headline", "should_read", "would_change", "printed", "condition", "rule", "argued")
VERDICTS = (*map(str, Verdict), PENDING)  # in the order in which they are sorted
CONSEQUENCES = (*map(str, reversed(Consequence)), "")
HEADING, BEGIN, LONG = re.compile(r'"# (.*?)(?:\\n)?"'), 1000, 30  # of a notebook, among its first letters; letters


def show_definitions() -> Markdown:
    """What the verdicts mean."""
    return Markdown(cards.definitions())


def show_counts(table: pd.DataFrame) -> HTML:
    """Number of claims by paper and verdict."""
    counted = claims.counts(table).rename(columns=cards.badge).T.rename_axis(columns=None)
    return HTML(counted.to_html(escape=False, classes="ledger", border=0, index_names=False))


def show_claims(table: pd.DataFrame) -> HTML:
    """The claims of a part of the ledger, headlines included, as one table, a row each with an address of its own."""
    path = claims.find_register(book_folder())
    register, papers = claims.read_register(path), claims.read_papers(path)
    head = "".join(f'<th scope="col">{name.capitalize()}</th>' for name in COLUMNS)
    body = "\n".join(_row(register[row["claim"]], row, papers) for row in table.to_dict("records"))
    return HTML(
        '<div class="table-scroll" role="region" tabindex="0" aria-label="The ledger">'
        '<table class="ledger searchable"><caption>What was found of each claim. A place leads to its card.</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def save(folder: Path) -> Markdown:
    """Links to claims and numbers as CSV and all of it as JSON, which are written into the folder of the results."""
    book = book_folder()
    path = claims.find_register(book)
    register, found = claims.read_register(path), claims.read_findings(book)
    entries = [record(claim, found.get(claim.id)) for claim in register.values()]
    target = folder / ALL
    target.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(entries).drop(columns="numbers").to_csv(target / "claims.csv", index=False)
    numbers = [{"claim": entry["claim"], **number} for entry in entries for number in entry["numbers"]]
    pd.DataFrame(numbers).to_csv(target / "numbers.csv", index=False)
    content = {"version": __version__, "papers": claims.read_papers(path), "claims": entries}
    text = json.dumps(claims.plain_data(content), indent=1, ensure_ascii=False, default=str)
    (target / "ledger.json").write_text(text + "\n", encoding="utf-8")
    told = {"claims.csv": "claims and verdicts", "numbers.csv": "the numbers behind them", "ledger.json": "all of it"}
    links = ", ".join(f"{{download}}`{name} <ledger/{ALL}/{name}>` ({what})" for name, what in told.items())
    return Markdown(f"Download: {links}.")


def record(claim: Claim, finding: Finding | None) -> dict[str, Any]:
    """A claim and what was found of it, as data."""
    said = {
        "claim": claim.id,
        "paper": claim.paper,
        "place": claim.place,
        "says": " ".join(claim.says.split()),
        "quote": " ".join(claim.quote.split()),
        "evidence": claim.kind,
        "chapter": claim.chapter,
        "card": "" if finding is None else cards.address(claim),
    }
    if finding is None:
        unsaid = dict.fromkeys(UNSAID, "")
        return {**said, "verdict": PENDING, **unsaid, "vacuous": False, "numbers": []}
    return {**said, **asdict(finding), "verdict": str(finding.verdict), "consequence": str(finding.consequence)}


def _row(claim: Claim, row: Mapping[str, Any], papers: Mapping[str, Mapping[str, str]]) -> str:
    judged = row["verdict"] != PENDING
    place, chapter = cards.typeset(claim.place), html.escape(_title(claim.chapter))
    said = f"{claim.place} {' '.join(claim.says.split())} {row['headline']}"
    finding = cards.typeset(row["headline"]) if judged else f"<em>Claimed:</em> {cards.typeset(claim.says)}"
    short = papers[claim.paper]["short"]
    kept = {"paper": short, "verdict": row["verdict"], "consequence": row["consequence"], "chapter": claim.chapter}
    attributes = " ".join(f'data-{name}="{html.escape(value)}"' for name, value in kept.items())
    evidence = f'<span class="evidence">{claim.kind}</span>' if claim.kind else ""
    cells = [
        f'<th scope="row">{_link(cards.address(claim), place) if judged else place}</th>',
        f'<td data-order="{VERDICTS.index(row["verdict"])}">{cards.badge(row["verdict"], vacuous=row["vacuous"])}'
        f"{evidence}</td>",
        f'<td data-order="{CONSEQUENCES.index(row["consequence"])}">{row["consequence"]}</td>',
        f'<td data-search="{html.escape(said)}">{finding}</td>',
        f"<td>{html.escape(short)}</td>",
        f"<td>{_link(claim.chapter + '.html', chapter) if judged else chapter}</td>",
    ]
    return f'<tr id="{claim.anchor}" {attributes}>{"".join(cells)}</tr>'


def _title(chapter: str) -> str:
    """The heading of a chapter's notebook, without what follows a colon in a long one; its name where there is none."""
    path, title = book_folder() / f"{chapter}.ipynb", chapter
    if path.is_file():
        with path.open(encoding="utf-8") as notebook:
            title = HEADING.findall(notebook.read(BEGIN))[0]
    return title.partition(": ")[0] if len(title) > LONG else title


def _link(address: str, text: str) -> str:
    return f'<a href="{address}">{text}</a>'
