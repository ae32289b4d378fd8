"""The index of the search, and what a page says of itself."""

from pathlib import Path

import pytest

from companion.build import search_index
from companion.judging.cards import CLAIMS_TITLE

CARD = (
    '<div class="claim-card docutils" id="claim-dpgd-theorem-3"><details><summary>'
    '<span class="verdict verdict-holds">holds</span> <strong>Theorem 3</strong> '
    '<span class="headline">It is <span class="math">\\(\\rho\\)</span>-private.</span></summary>'
    "<dl><dt>In our words</dt><dd><p>Nobody learns much.</p></dd></dl>"
    '<p class="claim-foot">v</p></details></div>'
)
TITLE = '<h1>{}<a class="headerlink" href="#b">#</a></h1>'
PAGE = f'<article class="bd-article">{TITLE}<p>At \\(\\rho=1\\).</p>{{}}</article>'
CHAPTER, CLAIMS = "dpgd/lower-bound", "dpgd/lower-bound-claims"
SEARCH = '<head></head><script src="_static/searchtools.js"></script><script src="searchindex.js"></script>'


@pytest.fixture
def html(tmp_path: Path) -> Path:
    for name in (CHAPTER, CLAIMS, "ledger", "reference/dpgd"):
        path = tmp_path / "book" / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        own = (f"{CLAIMS_TITLE}The bound", CARD) if name == CLAIMS else ("The bound", "")
        path.write_text(PAGE.format(*own), "utf-8")
    (tmp_path / "search.html").write_text(SEARCH, "utf-8")
    return tmp_path


def test_a_card_is_an_entry_of_its_own(html: Path) -> None:
    found = {entry.address: entry for entry in search_index.entries(html)}
    card = found.pop(f"book/{CLAIMS}.html#claim-dpgd-theorem-3")
    assert card.kind == search_index.CLAIM
    assert "DP-GD: Theorem 3" in card.html
    assert "<p>It is ρ-private.</p>" in card.html
    assert "Nobody learns much." in card.html
    assert 'data-pagefind-meta="headline[content]" content="It is ρ-private."' in card.html
    assert 'data-pagefind-meta="chapter[content]" content="The bound"' in card.html
    assert {address: entry.kind for address, entry in found.items()} == {
        f"book/{CHAPTER}.html": search_index.CHAPTER,
        f"book/{CLAIMS}.html": search_index.RECORD,
        "book/ledger.html": search_index.RECORD,
        "book/reference/dpgd.html": search_index.REFERENCE,
    }


def test_the_index_is_written(html: Path) -> None:
    pytest.importorskip("pagefind")
    search_index.index(html)
    names = {path.name for path in (html / search_index.INDEX).iterdir()}
    assert {"pagefind.js", "pagefind-entry.json"} <= names
    assert not [name for name in names if name.startswith("pagefind-ui")]
    assert len(list((html / search_index.INDEX / "fragment").iterdir())) == 5


ASKING = """<h1>Title</h1><div class="admonition note">
<p>A note that is long enough to be taken for the page's words.</p></div>
<p>Theorem 1 of a paper with a rather long title.</p><div><p><strong>Is it <em>so</em> at
<span class="math">\\(\\varepsilon = 1\\)</span>?</strong></p>
<p>It is, at &lt; 5&nbsp;% <a href="a.html">here</a>.</p></div>"""


def test_a_page_says_its_question_and_its_answer() -> None:
    assert search_index.summary(ASKING) == "Is it so at ε= 1? It is, at < 5 % here."


def test_a_page_without_a_question_says_its_first_words() -> None:
    assert (
        search_index.summary(ASKING.replace("?</strong>", "</strong>"))
        == "Theorem 1 of a paper with a rather long title."
    )
    assert search_index.summary("<h1>Title</h1><p>Short.</p>") == ""
