"""The rendered pages: they work with no network, ask no third party for anything, and can be read by all.

Each rule takes a page and lists its faults. It is held against pages made to break it, and against the committed
book, rendered for this.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup, Tag

from tests.each import each
from tests.trees import write_tree

from .conftest import addresses

TOKEN = re.compile(r'<span class="[a-z]{1,3}">([^<]*)</span>')  # coloured code: spans in such numbers take minutes
FOREIGN = re.compile(r"\s*(https?:)?//", re.IGNORECASE)
FOREIGN_IN_CSS = re.compile(r"""(@import\s*|url\(\s*)["']?\s*(https?:)?//[^"')\s;]*""", re.IGNORECASE)
FOREIGN_IN_SCRIPT = re.compile(r"https?://(?!www\.w3\.org/)[^\s\"'`]+", re.IGNORECASE)  # w3.org: XML namespaces
LOADING_RELATIONS = {
    "dns-prefetch", "icon", "manifest", "modulepreload", "preconnect", "prefetch", "preload", "stylesheet",
}  # fmt: skip


@dataclass(frozen=True)
class Page:
    """An HTML file below the folder that is the book."""

    path: Path
    root: Path

    @cached_property
    def html(self) -> BeautifulSoup:
        return BeautifulSoup(TOKEN.sub(r"\1", self.path.read_text("utf-8")), "html.parser")

    @cached_property
    def tags(self) -> dict[str, list[Tag]]:
        """Its tags by name, in their order: looking for each rule's own by a selector takes longer than all rules."""
        found: dict[str, list[Tag]] = {}
        for tag in self.html.find_all(True):
            found.setdefault(tag.name, []).append(tag)
        return found

    def named(self, *names: str) -> list[Tag]:
        return [tag for name in names for tag in self.tags.get(name, [])]

    def having(self, attribute: str) -> list[Tag]:
        return [tag for tags in self.tags.values() for tag in tags if tag.has_attr(attribute)]

    def local_file(self, address: str) -> Path:
        name = unquote(urlsplit(address).path)
        return Path(os.path.normpath(self.path.parent / name)) if name else self.path


Rule = Callable[[Page], list[str]]
HEADING = re.compile("^h[1-6]$")


def loaded_addresses(page: Page) -> Iterator[str]:
    """What a browser fetches without a click: scripts, pictures, frames, styles, fonts, hints."""
    for tag in page.having("src"):
        yield str(tag["src"])
    for tag in page.having("srcset"):
        yield from (candidate.split()[0] for candidate in str(tag["srcset"]).split(",") if candidate.strip())
    for tag in page.named("object"):
        yield str(tag.get("data", ""))
    for tag in page.named("link"):
        if tag.has_attr("href") and LOADING_RELATIONS.intersection(
            word.lower() for word in tag.get_attribute_list("rel") if word
        ):
            yield str(tag["href"])


def foreign_resources(page: Page) -> list[str]:
    """Addresses elsewhere that are fetched without a click."""
    styles = [style.get_text() for style in page.named("style")]
    styles += [str(tag["style"]) for tag in page.having("style")]
    scripts = [script.get_text() for script in page.named("script") if not script.has_attr("src")]
    return [
        *filter(FOREIGN.match, loaded_addresses(page)),
        *(match.group() for text in styles for match in FOREIGN_IN_CSS.finditer(text)),
        *(match.group() for text in scripts for match in FOREIGN_IN_SCRIPT.finditer(text)),
    ]


def foreign_in_stylesheets(page: Page) -> list[str]:
    """Addresses elsewhere in the stylesheets that a page names."""
    links = [str(link["href"]) for link in page.named("link") if "stylesheet" in link.get_attribute_list("rel")]
    files = [page.local_file(link) for link in links if not FOREIGN.match(link)]
    texts = [file.read_text("utf-8") for file in files if file.is_file()]
    return [match.group() for text in texts for match in FOREIGN_IN_CSS.finditer(text)]


def missing_targets(page: Page) -> list[str]:
    """Relative addresses that lead to no file."""
    addresses = [str(tag[name]) for name in ("href", "src") for tag in page.having(name)]
    local = [address for address in addresses if not urlsplit(address).scheme and not FOREIGN.match(address)]
    return [address for address in dict.fromkeys(local) if not page.local_file(address).is_file()]


def missing_places(page: Page) -> list[str]:
    """Links to a place that their page does not have; what an explorer or the ledger is to show is no place."""
    links = [str(link["href"]) for link in page.named("a") if link.has_attr("href")]
    local = [link for link in links if not urlsplit(link).scheme and not FOREIGN.match(link)]
    wanted = {link: (page.local_file(link), unquote(urlsplit(link).fragment)) for link in local}
    return [
        link
        for link, (path, place) in wanted.items()
        if place and "=" not in place and path.suffix == ".html" and path.is_file() and place not in places(path)
    ]


@cache
def places(path: Path) -> frozenset[str]:
    return frozenset(map(unescape, re.findall(r'\s(?:id|name)="([^"]*)"', path.read_text("utf-8"))))


def search_boxes(page: Page) -> list[str]:
    """Search boxes, where there is not exactly one; a dialog is what a box opens, not a box."""
    forms = [form for form in page.named("form") if is_of(form, "bd-search") and not form.find_parent("dialog")]
    boxes = [*forms, *(button for button in page.named("button") if is_of(button, "search-button-field"))]
    is_redirect = any(str(tag.get("http-equiv", "")).lower() == "refresh" for tag in page.named("meta"))
    return [] if is_redirect or len(boxes) == 1 else [f"{len(boxes)} search boxes"]


def is_of(tag: Tag, name: str) -> bool:
    return name in tag.get_attribute_list("class")


def mute_images(page: Page) -> list[str]:
    """Pictures without alternative text; Sphinx puts the file's name where there is none."""
    told = {
        str(image["src"]): str(image.get("alt", "")).strip() for image in page.named("img") if image.has_attr("src")
    }
    return [source for source, text in told.items() if not text or Path(text).name == Path(source).name]


def untypeset_formulas(page: Page) -> list[str]:
    """Formulas on a page that does not bring MathJax along."""
    sources = [str(script.get("src", "")) for script in page.named("script")]
    own = [source for source in sources if "mathjax" in source.lower() and not FOREIGN.match(source)]
    if any(page.local_file(source).is_file() for source in own):
        return []
    return [formula.get_text() for formula in page.having("class") if is_of(formula, "math")]


def skipped_headings(page: Page) -> list[str]:
    """Headings of a chapter that are more than one level below the one before."""
    headings = [heading for article in page.named("article") for heading in article.find_all(HEADING)]
    levels = [0, *(int(heading.name[1]) for heading in headings)]
    steps = zip(headings, levels, levels[1:], strict=False)
    return [heading.get_text() for heading, before, level in steps if level > before + 1]


def untakeable_notebooks(page: Page) -> list[str]:
    """Pages with code cells that offer no notebook to take away."""
    executed = any(is_of(block, "cell") for block in page.named("div"))
    offered = (link for link in page.named("a") if is_of(link, "btn") and str(link.get("href")).endswith(".ipynb"))
    return ["no notebook to download"] if executed and not any(offered) else []


GOOD = """<!DOCTYPE html>
<html lang="en"><head>
<link rel="stylesheet" href="_static/book.css?v=1"><link rel="canonical" href="https://example.org/">
<script src="_static/mathjax/tex.js"></script><script>const svg = "http://www.w3.org/2000/svg";</script>
</head><body>
<button class="search-button-field"></button><dialog><form class="bd-search"></form></dialog>
<a class="btn" href="_sources/page.ipynb">notebook</a>
<article><h1 id="risk">Risk</h1><h2>Its bound</h2><h3>Proof</h3><h2>Its cost</h2>
<span class="math">\\(x\\)</span><a href="https://arxiv.org/abs/2504.16000">paper</a><a href="#risk">up</a>
<a href="mailto:a@example.org">write</a><div class="cell"><img src="a%20figure.png" alt="Risk falls"></div>
</article></body></html>
"""

BROKEN = [
    (foreign_resources, 'src="_static/mathjax/tex.js"', 'src="https://cdn.jsdelivr.net/npm/mathjax@3/tex.js"'),
    (foreign_resources, "</head>", '<link rel="preload stylesheet" href="HTTPS://fonts.example.org/a"></head>'),
    (foreign_resources, "</head>", "<style>@import 'https://fonts.example.org/a';</style></head>"),
    (foreign_resources, "<article>", '<article><p style="background: url(//example.org/a.png)">a</p>'),
    (foreign_resources, "<article>", '<article><iframe src="https://example.org/"></iframe>'),
    (foreign_resources, 'alt="Risk', 'srcset="a.png, https://example.org/b.png 2x" alt="Risk'),
    (foreign_in_stylesheets, "book.css", "foreign.css"),
    (foreign_in_stylesheets, "book.css", "font.css"),
    (missing_targets, "<article>", '<article><a href="low-dimensional/figure-1.csv">table</a>'),
    (missing_places, 'href="#risk"', 'href="#bound"'),
    (search_boxes, "<article>", '<form class="bd-search"></form><article>'),
    (search_boxes, '<button class="search-button-field"></button>', ""),
    (mute_images, ' alt="Risk falls"', ""),
    (mute_images, "Risk falls", "../_images/a%20figure.png"),
    (untypeset_formulas, '<script src="_static/mathjax/tex.js"></script>', ""),
    (untypeset_formulas, '_static/mathjax/tex.js"', 'https://example.org/mathjax/tex.js"'),
    (skipped_headings, "<h2>Its bound</h2>", ""),
    (skipped_headings, '<h1 id="risk">Risk</h1>', ""),
    (untakeable_notebooks, "_sources/page.ipynb", "page.html"),
]


RULES = list(dict.fromkeys(rule for rule, _, _ in BROKEN))


@pytest.fixture
def write_page(tmp_path: Path) -> Callable[[str], Page]:
    """Write a page into a small book that has all the good page needs."""
    files = {
        "_static/book.css": '@import "fonts.css"; a { background: url("a.png"); }',
        "_static/font.css": "@font-face { src: url( 'https://fonts.example.org/a.woff2'); }",
        "_static/foreign.css": "@import url(//fonts.example.org/a.css);",
        "_static/mathjax/tex.js": "",
        "_sources/page.ipynb": "{}",
        "a figure.png": "",
    }
    write_tree(tmp_path, files)

    def write(text: str) -> Page:
        (tmp_path / "page.html").write_text(text, "utf-8")
        return Page(tmp_path / "page.html", tmp_path)

    return write


@each("rule", RULES)
def test_a_good_page_has_no_fault(rule: Rule, write_page: Callable[[str], Page]) -> None:
    assert rule(write_page(GOOD)) == []


@pytest.mark.parametrize(("rule", "old", "new"), BROKEN)
def test_a_broken_page_is_found_out(rule: Rule, old: str, new: str, write_page: Callable[[str], Page]) -> None:
    assert old in GOOD
    assert rule(write_page(GOOD.replace(old, new, 1)))


def test_the_rendered_book(rendered: Path) -> None:
    """A page is read once for all rules: reading it takes longer than they do."""
    faults: dict[tuple[str, str], list[str]] = {}
    own = [path for path in rendered.rglob("*.html") if "_static" not in path.relative_to(rendered).parts]
    assert {path.relative_to(rendered).as_posix() for path in own} == {*addresses(), "index.html"}
    for path in sorted(own):
        page = Page(path, rendered)
        faults |= {(path.relative_to(rendered).as_posix(), rule.__name__): rule(page) for rule in RULES}
    assert {place: found for place, found in faults.items() if found} == {}
