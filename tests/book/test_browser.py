"""The rendered book in a real browser, wide and narrow, light and dark.

Each rule of `tests.book.browsing` is held against a page made to break it, and against the committed book, rendered
for this (`tests.book.rendering`). `make browser` runs these, for they take minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser

from tests.book import browsing, rendering
from tests.book.browsing import DARK, LIGHT, NARROW, WIDE, Rule, View

LISTING = "_modules/costofprivacy/privacy/profiles.html"  # sources are all set alike
PAGES = [address for address in rendering.addresses() if address != "_modules/index.html"] + [LISTING]
RULES: list[Rule] = [
    browsing.foreign_requests,
    browsing.script_errors,
    browsing.sideways,
    browsing.lost_formulas,
    browsing.raw_words,
    browsing.inaccessible,
    browsing.faint,
]

GOOD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Risk</title>
<style>
mjx-container, mjx-math, .wide { display: block; }
.scrolls { overflow-x: auto; width: 300px; }
html[data-theme="dark"] :is(body, a) { background: #000; color: #fff; }
</style>
</head><body><main><article><h1>Risk</h1>
<p>It falls as a power. <code>label_noise = 1e-05</code> <span class="math">N^{-1}</span></p>
<div class="scrolls" tabindex="0"><mjx-container><mjx-math style="width: 900px">x</mjx-math></mjx-container></div>
<details><summary>More</summary><p>The proof.</p></details>
<a href="https://arxiv.org/abs/2504.16000">paper</a>
</article></main></body></html>
"""
BROKEN: list[tuple[Rule, str, str]] = [
    (browsing.foreign_requests, "</head>", '<script src="https://cdn.invalid/a.js"></script></head>'),
    (browsing.foreign_requests, "</head>", "<script>fetch('https://cdn.invalid/a').catch(() => 0)</script></head>"),
    (browsing.script_errors, "</head>", "<script>throw new Error('odd')</script></head>"),
    (browsing.script_errors, "</head>", '<script src="missing.js"></script></head>'),
    (browsing.sideways, "<article>", '<article><div class="wide" style="width: 2000px">a</div>'),
    (browsing.sideways, "The proof.", '<span class="wide" style="width: 2000px">folded</span>'),
    (browsing.lost_formulas, ".scrolls { overflow-x: auto;", ".scrolls { overflow-x: hidden;"),
    (browsing.lost_formulas, '<mjx-math style="', '<mjx-math style="margin-left: -100px; '),
    (browsing.lost_formulas, '<mjx-container><mjx-math style="', '<mjx-container><mjx-math style="margin-top: -9px; '),
    (browsing.raw_words, "a power", "N^-2.5"),
    (browsing.raw_words, "a power", "N^{-1}"),
    (browsing.raw_words, "a power", "5e-05"),
    (browsing.raw_words, "a power", "1.5e+06"),
    (browsing.raw_words, "a power", "label_noise"),
    (browsing.raw_words, "The proof.", "<td>excess_risk</td>"),
    (browsing.inaccessible, "<article>", '<article><img src="data:,">'),
    (browsing.inaccessible, 'lang="en"', ""),
    (browsing.inaccessible, "The proof.", '<span style="color: #ccc">grey on white</span>'),
    (browsing.inaccessible, "The proof.</p>", f"{9 * '<p>a</p>'}<p style='color: #ccc'>grey</p></p>"),
    (browsing.inaccessible, "The proof.</p>", f"{9 * '<p><img alt=a></p>'}<p><img></p></p>"),
    (browsing.inaccessible, "The proof.</p>", f"{9 * '<p><a href=a>b</a></p>'}<p><a href=a> </a></p></p>"),
    (browsing.faint, "color: #fff", "color: #333"),
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for all pages."""
    with browsing.browser() as found:
        if isinstance(found, str):
            pytest.skip(found)
        yield found


def faults(chromium: Browser, folder: Path, rule: Rule, text: str) -> list[str]:
    (folder / "page.html").write_text(text, "utf-8")
    with browsing.view(chromium, folder, "page.html", WIDE) as seen:
        seen.turn(DARK if rule is browsing.faint else LIGHT)
        return rule(seen)


@pytest.mark.parametrize("rule", RULES)
def test_a_good_page_has_no_fault(chromium: Browser, tmp_path: Path, rule: Rule) -> None:
    assert faults(chromium, tmp_path, rule, GOOD) == []


@pytest.mark.parametrize(("rule", "old", "new"), BROKEN)
def test_a_broken_page_is_found_out(chromium: Browser, tmp_path: Path, rule: Rule, old: str, new: str) -> None:
    assert old in GOOD
    assert faults(chromium, tmp_path, rule, GOOD.replace(old, new, 1))


def test_every_rule_is_seen_to_fail() -> None:
    assert {rule for rule, _, _ in BROKEN} == set(RULES)


@pytest.fixture(scope="module")
def book() -> Path:
    """The rendered book."""
    return rendering.rendered()


# The reference's pages have one template. Two of them are tried on a phone, which is enough for all.
ON_A_PHONE = {f"book/reference/{name}.html" for name in ("index", "dpgd")}
# Axe looks at each page twice, at either width and on either ground, and at these in all four ways: what stands around
# the contents of every page is on them.
IN_EVERY_WAY = {*ON_A_PHONE, "book/index.html", "book/ledger.html", "book/dpgd/schedules.html", LISTING}


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
def test_the_rendered_book(book: Path, chromium: Browser, address: str) -> None:
    """A page is loaded once and resized, as loading it is dear; axe comes last, since it looks at a thinned page."""
    found: dict[str, list[str]] = {}
    with browsing.view(chromium, book, address, WIDE) as seen:
        found["raw_words"] = browsing.raw_words(seen)
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


def test_pages_that_are_seen_in_every_way_are_in_the_book(book: Path) -> None:
    assert {*PAGES} >= IN_EVERY_WAY


def linked_cards(book: Path, address: str) -> set[tuple[str, str]]:
    """The pages and anchors of all cards that a page links to."""
    path = book / address
    links = BeautifulSoup(path.read_text("utf-8"), "html.parser").select("article a[href*='#claim-']")
    pairs = [str(link["href"]).split("#", 1) for link in links]
    return {((path.parent / page).resolve().as_posix() if page else path.as_posix(), card) for page, card in pairs}


def test_every_link_to_a_card_lands_on_it(book: Path, chromium: Browser) -> None:
    links = set().union(*(linked_cards(book, address) for address in PAGES))
    page = chromium.new_page()
    page.route("**/mathjax/**", lambda route: route.abort())
    missing = []
    for target in sorted({target for target, _ in links}):
        page.goto(Path(target).as_uri())
        ids = set(page.evaluate('() => [...document.querySelectorAll("[id]")].map(node => node.id)'))
        missing += [f"{Path(target).name}#{card}" for file, card in links if file == target and card not in ids]
    page.close()
    assert missing == []


ROWS = "article table tbody tr:visible"


def test_the_ledger_s_filter_narrows_and_survives_a_reload(book: Path, chromium: Browser) -> None:
    page = chromium.new_page(viewport={"width": WIDE, "height": browsing.HEIGHT})
    page.goto((book / "book" / "ledger.html").as_uri())
    field = page.locator("article input[type=search]").first
    if not field.count():
        pytest.skip("the ledger has no filter")
    every = page.locator(ROWS).count()
    field.fill("Algorithm 1")
    page.wait_for_timeout(500)
    address, left = page.url, page.locator(ROWS).count()
    assert 0 < left < every
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_timeout(500)
    assert field.input_value() == "Algorithm 1"
    assert page.locator(ROWS).count() == left
    page.close()
