"""The site as a whole: how much it weighs, how much a page loads, and whether its links lead anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from costofprivacy.book import formulas
from costofprivacy.showing.explorer import SCRIPT

MB = 1_000_000
MOST, MOST_OF_A_PAGE = 45 * MB, 2 * MB
TAG = re.compile(r"<([a-zA-Z][\w-]*)\b[^>]*>")
ATTRIBUTE = re.compile(r'\s(id|name|href|src|srcset)="([^"]*)"')
FONT = re.compile(r"url\(([^)]+\.ttf)\)")
EXPLORED = re.compile(r'<script type="application/json">.*?</script>', re.DOTALL)  # what an explorer shows
LOADED = {"script": "src", "img": "src", "link": "href"}


@dataclass(frozen=True)
class Page:
    """What a page names, and where it leads."""

    path: Path
    names: frozenset[str]
    links: tuple[str, ...]
    loaded: tuple[str, ...]

    def target(self, address: str) -> Path:
        name = unquote(urlsplit(address).path)
        return (self.path.parent / name).resolve() if name else self.path


def read(path: Path) -> Page:
    names, links, loaded = set(), [], []
    for tag in TAG.finditer(path.read_text("utf-8")):
        for key, value in ATTRIBUTE.findall(tag.group()):
            if key in ("id", "name"):
                names.add(unescape(value))
            elif key != "srcset":
                links.append(unescape(value))
                if LOADED.get(tag[1]) == key and (tag[1] != "link" or 'rel="stylesheet"' in tag.group()):
                    loaded.append(unescape(value))
    return Page(path, frozenset(names), tuple(links), tuple(loaded))


def dead_links(pages: dict[Path, Page]) -> Iterator[str]:
    """Links below the site that lead to no file, or to no place on a page; a state of the ledger is no place."""
    for page in pages.values():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = page.target(link)
            place = unquote(parts.fragment)
            if not target.is_file():
                yield f"{page.path.name}: {link} leads to no file"
            elif place and "=" not in place and target in pages and place not in pages[target].names:
                yield f"{page.path.name}: {link} leads to no place"


def weight(page: Page, root: Path) -> int:
    """The bytes that a page loads by itself: what it names, the fonts of its stylesheets, MathJax and all its fonts."""
    files = {page.path} | {page.target(address) for address in page.loaded}
    styles = [path for path in files if path.suffix == ".css"]
    files |= {(path.parent / font).resolve() for path in styles for font in FONT.findall(path.read_text("utf-8"))}
    if any(path.name == "startup.js" for path in files):
        files |= {path for path in (root / "_static" / "mathjax").rglob("*") if path.is_file()}
    return sum(path.stat().st_size for path in files)


@pytest.fixture(scope="module")
def pages(rendered: Path) -> dict[Path, Page]:
    root = rendered.resolve()
    own = (path for path in root.rglob("*.html") if "_static" not in path.relative_to(root).parts)
    return {path: read(path) for path in own}


def test_the_site_is_light(rendered: Path) -> None:
    assert sum(path.stat().st_size for path in rendered.rglob("*") if path.is_file()) <= MOST


def test_no_page_loads_much_before_someone_searches_or_opens_an_explorer(
    rendered: Path, pages: dict[Path, Page]
) -> None:
    root = rendered.resolve()
    loaded = {path: weight(page, root) - _explorer(page) for path, page in pages.items() if path.name != "search.html"}
    heavy = {path.name: size for path, size in loaded.items() if size > MOST_OF_A_PAGE}
    assert heavy == {}


def _explorer(page: Page) -> int:
    scripts = [page.target(address) for address in page.loaded if Path(urlsplit(address).path).name == SCRIPT]
    data = EXPLORED.findall(page.path.read_text("utf-8")) if scripts else []
    return sum(path.stat().st_size for path in scripts) + sum(len(each.encode()) for each in data)


def test_only_the_search_page_loads_the_index_of_the_search(pages: dict[Path, Page]) -> None:
    asking = {path.name for path, page in pages.items() if any("searchindex.js" in address for address in page.loaded)}
    assert asking == {"search.html"}


def test_every_link_and_every_anchor_leads_somewhere(pages: dict[Path, Page]) -> None:
    assert list(dead_links(pages)) == []


def test_each_judge_that_a_card_names_can_be_read(pages: dict[Path, Page]) -> None:
    judges = {link for page in pages.values() for link in page.links if "/verdicts" in link and "_modules/" in link}
    assert len(judges) > 100  # the links themselves are followed above


def test_the_listings_of_sources_are_those_of_the_library(rendered: Path) -> None:
    assert {path.name for path in (rendered / "_modules").iterdir()} == {"costofprivacy", "index.html"}


def test_no_file_is_there_twice(rendered: Path) -> None:
    seen: dict[bytes, Path] = {}
    twice = []
    for path in sorted(rendered.rglob("*")):
        if path.is_file() and path.stat().st_size > 4000:
            content = path.read_bytes()
            if content in seen:
                twice.append((path.name, seen[content].name))
            seen[content] = path
    assert twice == []


def test_every_page_of_the_book_says_what_it_is(rendered: Path) -> None:
    own = [path for path in (rendered / "book").rglob("*.html") if "http-equiv" not in path.read_text("utf-8")[:500]]
    silent = [
        str(path.relative_to(rendered))
        for path in own
        if "reference" not in path.parts and '<meta name="description" content="' not in path.read_text("utf-8")
    ]
    assert silent == []
    assert all('rel="icon"' in path.read_text("utf-8") for path in own)


def test_what_typesets_formulas_is_there(rendered: Path) -> None:
    missing = [name for name in formulas.ALWAYS if not (rendered / "_static" / "mathjax" / name).is_file()]
    assert missing == []
