"""The site as a whole: whether its links lead anywhere, and what each page says of itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from costofprivacy.book import formulas

TAG = re.compile(r"<([a-zA-Z][\w-]*)\b[^>]*>")
ATTRIBUTE = re.compile(r'\s(id|name|href|src|srcset)="([^"]*)"')
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


@pytest.fixture(scope="module")
def pages(rendered: Path) -> dict[Path, Page]:
    root = rendered.resolve()
    own = (path for path in root.rglob("*.html") if "_static" not in path.relative_to(root).parts)
    return {path: read(path) for path in own}


def test_only_the_search_page_loads_the_index_of_the_search(pages: dict[Path, Page]) -> None:
    asking = {path.name for path, page in pages.items() if any("searchindex.js" in address for address in page.loaded)}
    assert asking == {"search.html"}


def test_every_link_and_every_anchor_leads_somewhere(pages: dict[Path, Page]) -> None:
    assert list(dead_links(pages)) == []


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
