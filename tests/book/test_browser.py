"""The rendered book in a real browser, wide and narrow, light and dark.

Each rule of `tests.book.browsing` is held against the committed book, rendered for this (`tests.book.rendering`).
`make -f tests/maintain.mk browser` runs these, for they take minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page

from tests.book import browsing, rendering
from tests.book.browsing import DARK, LIGHT, NARROW, WIDE, View

PAGES = rendering.addresses()


@pytest.fixture(scope="module")
def book() -> Path:
    """The rendered book."""
    return rendering.rendered()


# The reference's pages have one template. Two of them are tried on a phone, which is enough for all.
ON_A_PHONE = {f"book/reference/{name}.html" for name in ("index", "dpgd")}
# Axe looks at each page twice, at either width and on either ground, and at these in all four ways: what stands around
# the contents of every page is on them.
IN_EVERY_WAY = {*ON_A_PHONE, "book/index.html", "book/ledger.html", "book/dpgd/schedules.html"}


def widths(address: str) -> tuple[int, ...]:
    on_a_phone = address in ON_A_PHONE or not address.startswith("book/reference/")
    return (WIDE, NARROW) if on_a_phone else (WIDE,)


def by_axe(seen: View, width: int) -> dict[str, list[str]]:
    """What axe finds on a page of this width, and what is faint on the other ground where the page is one of a few."""
    plainly, other = (LIGHT, DARK) if width == WIDE else (DARK, LIGHT)
    seen.turn(plainly)
    found = {f"inaccessible, {width}, {plainly}": browsing.inaccessible(seen)}
    if seen.address in IN_EVERY_WAY or widths(seen.address) == (WIDE,):
        seen.turn(other)
        found[f"faint, {width}, {other}"] = browsing.faint(seen)
    return found


@pytest.mark.parametrize("address", PAGES)
def test_the_rendered_book(book: Path, browser: Browser, address: str) -> None:
    """A page is loaded once and resized, as loading it is dear; axe comes last, since it looks at a thinned page."""
    found: dict[str, list[str]] = {}
    with browsing.view(browser, book, address, WIDE) as seen:
        for width in widths(address):
            seen.resize(width)
            for mode in (LIGHT, DARK):
                seen.turn(mode)
                rules = [browsing.sideways, browsing.lost_formulas]
                found |= {f"{rule.__name__}, {width}, {mode}": rule(seen) for rule in rules}
        for width in widths(address)[::-1]:
            seen.resize(width)
            found |= by_axe(seen, width)
        found["script_errors"], found["foreign_requests"] = seen.errors, seen.requests
    lines = [f"{rule}: {fault}" for rule, each in found.items() for fault in each]
    assert not lines, "\n".join([f"{len(lines)} faults", *lines[:40]])


def linked_cards(book: Path, address: str) -> set[tuple[str, str]]:
    """The pages and anchors of all cards that a page links to."""
    path = book / address
    links = BeautifulSoup(path.read_text("utf-8"), "html.parser").select("article a[href*='#claim-']")
    pairs = [str(link["href"]).split("#", 1) for link in links]
    return {((path.parent / page).resolve().as_posix() if page else path.as_posix(), card) for page, card in pairs}


def test_every_link_to_a_card_lands_on_it(book: Path, browser: Browser) -> None:
    links = set().union(*(linked_cards(book, address) for address in PAGES))
    page = browser.new_page()
    page.route("**/mathjax/**", lambda route: route.abort())
    missing = []
    for target in sorted({target for target, _ in links}):
        page.goto(Path(target).as_uri())
        ids = set(page.evaluate('() => [...document.querySelectorAll("[id]")].map(node => node.id)'))
        missing += [f"{Path(target).name}#{card}" for file, card in links if file == target and card not in ids]
    page.close()
    assert missing == []


CARD = "claim-dpgd-theorem-4iii"
OPEN = "() => [...document.querySelectorAll('.claim-card > details[open]')].map(fold => fold.parentElement.id)"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": WIDE, "height": 900})
    opened.set_default_timeout(browsing.PATIENCE)
    opened.route("**/mathjax/**", lambda route: route.abort())
    yield opened
    opened.close()


@pytest.mark.parametrize("start", ["scaling-laws-claims.html", "scaling-laws.html", "../ledger.html"])
def test_a_link_to_a_card_opens_it_and_no_other(book: Path, page: Page, start: str) -> None:
    page.goto((book / "book/dpgd" / start).as_uri())
    if start != "scaling-laws-claims.html":
        page.eval_on_selector(f"article a[href$='scaling-laws-claims.html#{CARD}']", "link => link.click()")
        page.wait_for_url("**/scaling-laws-claims.html#*")
    else:
        assert page.evaluate(OPEN) == []
        page.evaluate("card => { location.hash = card; }", CARD)
    page.wait_for_function("document.querySelector('.claim-card > details[open]')")
    assert page.evaluate(OPEN) == [CARD]
    box = page.locator(f"#{CARD}").bounding_box()
    assert box is not None
    assert -1 <= box["y"] < 900


def test_a_card_is_opened_with_the_keyboard(book: Path, page: Page) -> None:
    page.goto((book / "book/dpgd/scaling-laws-claims.html").as_uri())
    page.focus(f"#{CARD} summary")
    page.keyboard.press("Enter")
    assert page.evaluate(OPEN) == [CARD]
