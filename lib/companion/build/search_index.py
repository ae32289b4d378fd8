"""The search of the rendered book, and what a page says of itself to search engines.

Each section of a page, each claim's card, each work cited and each name of the library's reference is a result of its
own. Their words are one script, which `find.js` loads when someone searches, also where pages are opened from a folder.
"""

import json
import re
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path

from companion.judging import cards
from companion.judging.prose import spoken

PAGES, INDEX = "book", "_static/sections.js"
CHAPTER, CLAIM, RECORD, REFERENCE = "chapter", "claim", "ledger and errata", "library reference"
RECORDS = ("ledger", "errata", "letter-", "verdict-changes", "changelog", "bibliography")  # how their names begin
PAPERS = {"noisyhead": "NoisyHead", "dpgd": "DP-GD"}
LIBRARY = "costofprivacy."

# What a page says of itself in two sentences, to search engines and to those who link it.
LONGEST = 300  # letters
SHORTEST = 40  # of a paragraph that says something
IMAGE = "_static/card.png"  # the picture of a link, which an absolute address alone can name
PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
QUESTION = re.compile(r'<div class="question[^>]*>\s*<p>(.*?)</p>.{0,60}?<p>(.*?)</p>', re.DOTALL)
BOXES = re.compile(r'<div class="admonition.*?</div>|<figure.*?</figure>|<table.*?</table>', re.DOTALL)
TAG = re.compile(r"<[^>]*>")

ARTICLE = re.compile(r'<article class="bd-article[^>]*>(.*?)</article>', re.DOTALL)
FORMULA = re.compile(r"\\\((.*?)\\\)", re.DOTALL)
LAYOUT = re.compile(r"\\(?:mathcal|quad|[bB]igg?[lr]?)\b ?")  # of a formula
BEGIN = re.compile(  # where a section, a card, a cited work, or a class or function of the reference begins
    r'<section [^>]*id="(?P<section>[^"]+)">\s*(?:<span id="[^"]*"></span>\s*)*<h\d>(?P<heading>.*?)</h\d>|'
    r'<div class="claim-card[^"]*" id="(?P<card>[^"]+)">|'
    r'<div class="citation" id="(?P<cited>[^"]+)"[^>]*>\s*<span class="label">(?P<label>.*?)</span>\s*(?=<p>)|'
    r'<dl class="py (?:class|function|method)">\s*<dt [^>]*id="(?P<name>[^"]+)">.*?</dt>',
    re.DOTALL,
)
UNREAD = re.compile(  # code, tables of numbers, glossaries of columns, lists of claims, displayed formulas
    r'<details\b(?:(?!</details>|<dl class="columns).)*<dl class="columns.*?</details>|'
    r"<(script|style|svg|pre|summary)\b.*?</\1>|<table[^>]*class=.(?:dataframe|ledger).*?</table>|"
    r'<(ul|div) class="(?:verdicts|claim-card).*?</\2>|<li>\s*<p><span class="verdict.*?</li>|'
    r'\\\[.*?\\\]|\\begin\{equation\}.*?\\end\{equation\}|<a class="headerlink".*?</a>',
    re.DOTALL,
)
ENDS = re.compile(r"</(?:p|li|t[dh]|d[td]|div|h\d)>")  # behind which the next word begins
VERDICT = re.compile(r'<span class="(verdict[^"]*)">([^<]*)</span>')
PLACE = re.compile(r"<strong>(.*?)</strong>", re.DOTALL)
HEADLINE = re.compile(r'<span class="headline">(.*?)</span>\s*</summary>', re.DOTALL)
TERM = re.compile(r"<dt>([^<]*)</dt>\s*<dd>(.*?)</dd>", re.DOTALL)
SPOKEN = ("The paper", "In our words", "The paper says", "Should read", "Missing condition")


def index(html: Path) -> None:
    """Write the script that holds what the search of a rendered book finds, a page on each line."""
    pages = (html / PAGES).rglob("*.html")
    found = [
        [address, kind(address), *entries(article[1])]
        for path, address in sorted((path, path.relative_to(html).as_posix()) for path in pages)
        if (article := ARTICLE.search(path.read_text("utf-8")))
    ]
    lines = ",\n".join(json.dumps(page, ensure_ascii=False, separators=(",", ":")) for page in found)
    (html / INDEX).parent.mkdir(exist_ok=True)
    (html / INDEX).write_text(f"bookSections=[\n{lines}\n];\n", "utf-8")


def kind(address: str) -> str:
    """Of which kind a page is, by its address."""
    name = address.removeprefix(f"{PAGES}/")
    if name.startswith("reference/"):
        return REFERENCE
    return RECORD if name.startswith(RECORDS) or name.endswith(f"{cards.CLAIMS}.html") else CHAPTER


def entries(article: str) -> Iterator[list[str]]:
    """The anchor, heading and words of what an article holds, the page itself first; of cards the verdict, too."""
    begins = [*BEGIN.finditer(article)]
    for begin, following in zip(begins, [*begins[1:], None], strict=True):
        body = article[begin.end() : following and following.start()]
        if begin["card"]:
            yield card(begin["card"], body)
        elif begin["name"]:
            yield [begin["name"], begin["name"].removeprefix(LIBRARY), words(body)]
        else:
            yield [begin["section"] or begin["cited"], words(begin["heading"] or begin["label"]), words(body)]


def card(anchor: str, body: str) -> list[str]:
    """The entry of a card: its paper and place as heading, its headline, and the sentences that it is about."""
    paper, verdict, place = PAPERS.get(anchor.split("-")[1], ""), VERDICT.search(body), PLACE.search(body)
    title = ": ".join(part for part in (paper, words(place[1]) if place else "") if part)
    headline, said = HEADLINE.search(body), {term: words(text) for term, text in TERM.findall(body)}
    texts = [words(headline[1]) if headline else "", *(said[term] for term in SPOKEN if term in said)]
    return [anchor, title, " ".join(texts), *(verdict.group(2, 1) if verdict else ())]


def words(piece: str) -> str:
    """The words of a piece of a page, formulas in the text as plain text, what is no prose left out."""
    text = unescape(TAG.sub("", ENDS.sub(" ", UNREAD.sub(" ", piece))))
    return " ".join(FORMULA.sub(lambda found: spoken(LAYOUT.sub("", found[1])), text).split())


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
    said = {"og:title": name, "og:type": "website", "og:site_name": escape(book)}
    if description:
        said["og:description"] = escape(description)
    if site:
        said |= {"og:url": escape(f"{site.rstrip('/')}/{page}.html"), "og:image": escape(f"{site.rstrip('/')}/{IMAGE}")}
    lines = [f'<meta name="description" content="{escape(description)}">'] if description else []
    lines += [f'<meta property="{key}" content="{value}">' for key, value in said.items() if value]
    return "\n".join(["", *lines, ""])
