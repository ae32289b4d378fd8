"""The search in a browser: what it finds in a small book, and what it shows while someone types."""

from typing import Any

import pytest

from .conftest import OURS

PAGES = """bookSections = [
  ["book/a.html", "chapter", ["a", "The attack", "Nothing else."], ["why", "Why bounded", "A corrupted prompt."]],
  ["book/b.html", "chapter", ["b", "How to choose", "A placement of ε, <b>late</b>. Clipped."], ["n", "Clipping", ""]],
  ["book/c.html", "library reference", ["c", "clip", "Clips at private_bounds, theorem 3.1."]],
  ["book/d.html", "ledger and errata", ["d", "Claims", "None."], ["t", "Theorem 3", "It is ρ.", "holds", "verdict"]]]"""
PAGE = """<!DOCTYPE html><meta charset="utf-8"><div {}><form class="bd-search"><input name="q"></form></div>
<script defer src="_static/find.js"></script>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with the dialog of the search and the search page, opened from files."""
    made = tmp_path_factory.mktemp("search")
    (made / "_static").mkdir()
    for name in ("find.js", "find.css"):
        (made / "_static" / name).write_text((OURS.book / "_static" / name).read_text("utf-8"), "utf-8")
    (made / "_static/sections.js").write_text(PAGES, "utf-8")
    (made / "page.html").write_text(PAGE.format('id="pst-search-dialog"'), "utf-8")
    (made / "search.html").write_text(PAGE.format('class="bd-search-container"'), "utf-8")
    return made.as_uri()


def results(page: Any, query: str) -> list[str]:
    page.fill("input", query)
    page.wait_for_function("query => document.querySelector('.found').dataset.query === query.trim()", arg=query)
    return page.eval_on_selector_all(".found-title a", "links => links.map(link => link.href.split('#')[1])")


FOUND = {
    "why is a prompt poisoned?": ["why", "a"],  # a synonym; the words of a question do not count
    "choosing epsilon": ["b", "n"],  # other endings, a letter by its name
    "theorem 3": ["t", "c"],  # 3.1 is another number
    "private_bounds": ["c"],
    "corrup": ["why"],  # a word that is not typed to its end
    "clip": ["n", "c", "b"],  # headings first, and the book before the reference
    "what is the zebra": [],
}


@pytest.mark.parametrize(("query", "anchors"), FOUND.items())
def test_sections_are_found_by_the_words_of_a_question(page: Any, folder: str, query: str, anchors: list[str]) -> None:
    page.goto(f"{folder}/page.html")
    assert results(page, query) == anchors


def test_a_suggestion_shows_section_page_and_snippet_and_arrows_lead_to_it(page: Any, folder: str) -> None:
    page.goto(f"{folder}/page.html")
    assert page.locator("script[src*=sections]").count() == 0
    results(page, "late ε")
    assert page.inner_text(".found-title") == "How to choose chapter"
    assert page.inner_html(".found-excerpt").startswith("A placement of <mark>ε</mark>, &lt;b&gt;<mark>late</mark>")
    page.press("input", "ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "How to choose"


def test_the_search_page_keeps_query_and_kind_in_its_address(page: Any, folder: str) -> None:
    page.goto(f"{folder}/search.html?q=clip")
    page.select_option("select", "library reference")
    page.wait_for_function("document.querySelector('.found').textContent.startsWith('clip')")
    page.reload()
    assert results(page, "theorem 3") == ["c"]
    assert page.inner_text(".found-count") == "1 result for “theorem 3”."
