"""The search of the rendered book: an index by Pagefind, in which chapters and cards come first.

Each page has a kind, by which results can be chosen, and a weight: the library's reference is found when it is asked
for, or when nothing else has the words. A claim's card is a result of its own. The index is fetched by a script, which
browsers refuse to pages that are opened as files: there Sphinx's own search answers; `find.js` decides.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

from companion.build.project import BookError
from companion.judging import cards
from companion.showing.spoken import spoken

PAGES, SEARCH, INDEX = "book", "search.html", "pagefind"
CHAPTER, CLAIM, RECORD, REFERENCE = "chapter", "claim", "ledger and errata", "library reference"
RECORDS = ("ledger", "errata", "letter-", "verdict-changes", "changelog", "bibliography")  # how their names begin
PAPERS = {"noisyhead": "NoisyHead", "dpgd": "DP-GD"}
WEIGHTS = {CHAPTER: 1, RECORD: 0.3, REFERENCE: 0.2}  # of prose; Pagefind gives headings 7 to 2
CARD_WEIGHT = 2
INTERFACES = ("pagefind-ui", "pagefind-modular-ui", "pagefind-component-ui", "pagefind-highlight", "wasm.unknown")
UNREAD = (
    "a.headerlink, .cell_input, summary, table.parameters, table.dataframe, details.numbers, .claim-foot, script, "
    "style, svg, .claim-card, .claim-cards"
)

# What a page says of itself in two sentences, to search engines and to those who link it.
LONGEST = 300  # letters
SHORTEST = 40  # of a paragraph that says something
IMAGE = "_static/card.png"  # the picture of a link, which an absolute address alone can name
TYPE = "website"
PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
QUESTION = re.compile(r'<div class="question[^>]*>\s*<p>(.*?)</p>.{0,60}?<p>(.*?)</p>', re.DOTALL)
BOXES = re.compile(r'<div class="admonition.*?</div>|<figure.*?</figure>|<table.*?</table>', re.DOTALL)
TAG = re.compile(r"<[^>]*>")

ARTICLE = re.compile(r'<article class="bd-article[^>]*>(.*?)</article>', re.DOTALL)
HEADING = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)
LINK = re.compile(r'<a class="headerlink".*?</a>', re.DOTALL)
FORMULA = re.compile(r"\\\((.*?)\\\)", re.DOTALL)
SECTION = re.compile(r'<section [^>]*id="([^"]+)">\s*((?:<span id="[^"]*"></span>\s*)*)<(h[2-6])>')
DISPLAY = re.compile(r"\\\[.*?\\\]", re.DOTALL)
CARD = re.compile(
    r'<div class="claim-card[^"]*" id="(?P<anchor>claim-[^"]+)">(?P<body>.*?)<p class="claim-foot">', re.DOTALL
)
VERDICT = re.compile(r'<span class="verdict[^"]*">([^<]*)</span>')
PLACE = re.compile(r"<strong>(.*?)</strong>", re.DOTALL)
HEADLINE = re.compile(r'<span class="headline">(.*?)</span>\s*</summary>', re.DOTALL)
TERM = re.compile(r"<dt>([^<]*)</dt>\s*<dd>(.*?)</dd>", re.DOTALL)
FOUND = "Found"  # the headline, which no term of a card names
SPOKEN = ("The paper", "In our words", "The paper says", FOUND, "Should read", "Missing condition")
OWN_INDEX = re.compile(r'<script (src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*")></script>')
LOADED = '<link rel="stylesheet" href="_static/find.css"/><script defer src="_static/find.js"></script>'
WAITING = r'<script type="text/plain" data-own-search \1></script>'  # no browser loads it


@dataclass(frozen=True)
class Entry:
    """What the index holds of one page or one card, by its address below the folder of the pages."""

    address: str
    kind: str
    html: str


def index(html: Path) -> None:
    """Write the index of a rendered book, and let its search page ask it."""
    folder, found = html / INDEX, list(entries(html))
    shutil.rmtree(folder, ignore_errors=True)
    if not found:
        return
    with tempfile.TemporaryDirectory() as name:  # Pagefind's interface for Python waits a tenth of a second for each
        for number, entry in enumerate(found):
            (Path(name) / f"{number}.html").write_text(entry.html, "utf-8")
        options = ["--site", name, "--output-path", str(folder), "--exclude-selectors", UNREAD]
        command = [sys.executable, "-m", "pagefind", *options, "--force-language", "en", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BookError(f"the search index could not be written: {(done.stderr or done.stdout).strip()[-300:]}")
    for path in folder.iterdir():
        if path.is_file() and path.name.startswith(INTERFACES):
            path.unlink()
    page = html / SEARCH
    if page.is_file():
        page.write_text(asking(page.read_text("utf-8")), "utf-8")


def asking(page: str) -> str:
    """The search page, which asks Pagefind; the scripts of Sphinx's own search wait in it."""
    if LOADED in page:
        return page
    return OWN_INDEX.sub(WAITING, page).replace("</head>", f"{LOADED}</head>", 1)


def entries(html: Path) -> Iterator[Entry]:
    """What the index holds: each page of the book, and each card of the pages of claims."""
    found: list[Entry] = []
    for path in sorted((html / PAGES).rglob("*.html")):
        article = ARTICLE.search(path.read_text("utf-8"))
        title = article and HEADING.search(article[1])
        if not article or not title:
            continue
        address = path.relative_to(html).as_posix()
        named, sort = words(title[1]), kind(address)
        found += [
            card_entry(address, named.removeprefix(cards.CLAIMS_TITLE), card) for card in CARD.finditer(article[1])
        ]
        yield Entry(address, sort, document(address, named, sort, legible(article[1]), WEIGHTS[sort]))
    yield from found


def kind(address: str) -> str:
    """Of which kind a page is, by its address."""
    name = address.removeprefix(f"{PAGES}/")
    if name.startswith("reference/"):
        return REFERENCE
    return RECORD if name.startswith(RECORDS) or name.endswith(f"{cards.CLAIMS}.html") else CHAPTER


def card_entry(address: str, chapter: str, card: re.Match[str]) -> Entry:
    """The entry of a card: its paper and place for a title, its headline, and the sentences that it is about."""
    body, paper = card["body"], PAPERS.get(card["anchor"].split("-")[1], "")
    verdict, place = VERDICT.search(body), PLACE.search(body)
    title = ": ".join(part for part in (paper, words(place[1]) if place else "") if part)
    headline = HEADLINE.search(body)
    said = {FOUND: words(headline[1]) if headline else ""} | {term: words(text) for term, text in TERM.findall(body)}
    text = "".join(f"<p>{escape(said[term])}</p>" for term in SPOKEN if term in said)
    meta = {"verdict": verdict[1] if verdict else "", "headline": said[FOUND], "chapter": chapter}
    marked = f'<h1 data-pagefind-weight="7">{escape(title)}</h1>{text}'
    own = f"{address}#{card['anchor']}"
    return Entry(own, CLAIM, document(own, title, CLAIM, marked, CARD_WEIGHT, **meta))


def document(address: str, title: str, sort: str, body: str, weight: float, **meta: str) -> str:
    """An HTML document as Pagefind reads it: body, weight, kind and what a result shows."""
    facts = "".join(
        f'<meta data-pagefind-meta="{name}[content]" content="{escape(value)}">'
        for name, value in {"title": title, "address": address, "kind": sort, **meta}.items()
        if value
    )
    chosen = f'<meta data-pagefind-filter="kind[content]" content="{escape(sort)}">'
    return (
        f'<!DOCTYPE html><html lang="en"><head><title>{escape(title)}</title>{facts}{chosen}</head><body>'
        f'<article data-pagefind-body data-pagefind-weight="{weight}">{body}</article></body></html>'
    )


def words(piece: str) -> str:
    """The words of a piece of a page, formulas as plain text, the links of its headings left out."""
    text = unescape(TAG.sub("", LINK.sub("", piece)))
    return " ".join(FORMULA.sub(lambda found: spoken(found[1]), text).split())


def legible(article: str) -> str:
    """An article with its formulas in the text as plain text, the others left out, and sections named by headings."""
    named = SECTION.sub(r'<section>\2<\3 id="\1">', LINK.sub("", article))
    return FORMULA.sub(lambda found: spoken(found[1]), DISPLAY.sub("", named))


def summary(body: str) -> str:
    """The question and the answer in a page's HTML; of a page without them its first words. Formulas are plain text."""
    own = BOXES.sub("", body)
    if found := QUESTION.search(own):
        return shortened(f"{words(found[1])} {words(found[2])}")
    texts = (words(paragraph) for paragraph in PARAGRAPH.findall(own))
    return shortened(next((text for text in texts if len(text) >= SHORTEST), ""))


def shortened(text: str) -> str:
    """A text of at most 300 letters that ends with a whole sentence, or at least with a whole word."""
    if len(text) <= LONGEST:
        return text
    kept = text[:LONGEST]
    end = max(kept.rfind(mark) for mark in (". ", "? "))
    return kept[: end + 1] if end > SHORTEST else kept[: LONGEST - 1].rsplit(" ", 1)[0] + "…"


def tags(title: str, description: str, book: str, site: str, page: str) -> str:
    """The tags of a page's head: what it says of itself; page and picture named where the site is known."""
    name = escape(re.sub(r"<[^>]*>", "", title))
    said = {"og:title": name, "og:type": TYPE, "og:site_name": escape(book)}
    if description:
        said["og:description"] = escape(description)
    if site:
        said |= {"og:url": escape(f"{site.rstrip('/')}/{page}.html"), "og:image": escape(f"{site.rstrip('/')}/{IMAGE}")}
    lines = [f'<meta name="description" content="{escape(description)}">'] if description else []
    lines += [f'<meta property="{key}" content="{value}">' for key, value in said.items() if value]
    return "\n".join(["", *lines, ""])
