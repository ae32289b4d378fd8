"""What the book adds to Sphinx, tried on a small book that Sphinx renders."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from sphinx.application import Sphinx

from costofprivacy.book import searchable

JUDGES = '''"""Judges."""


def first():
    """Judge."""
    return 1
'''
PAGE = """Page
====

.. py:module:: small_judges

.. autofunction:: small_judges.first

Known :judge:`small_judges:first` unknown :judge:`small_judges:second` other :judge:`elsewhere:first` end.
"""
TABLE = """Table
=====

.. raw:: html

   <table class="ledger searchable"><tr><td>a</td></tr></table>
"""


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rendered pages of a small book."""
    root = tmp_path_factory.mktemp("small")
    (root / "book" / "_static").mkdir(parents=True)
    (root / "small_judges.py").write_text(JUDGES, "utf-8")
    (root / "conf.py").write_text(
        "import sys\nsys.path.insert(0, '.')\nhtml_static_path = ['book/_static']\nlanguage = 'en'\n"
        "extensions = ['sphinx.ext.autodoc', 'sphinx.ext.viewcode', 'costofprivacy.book.searchable']\n",
        "utf-8",
    )
    (root / "index.rst").write_text("Top\n===\n\n.. toctree::\n\n   book/page\n   book/table\n", "utf-8")
    (root / "book" / "page.rst").write_text(PAGE, "utf-8")
    (root / "book" / "table.rst").write_text(TABLE, "utf-8")
    (root / "book" / "_static" / "ledger.js").write_text("", "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.syspath_prepend(str(root))
        app = Sphinx(str(root), str(root), str(root / "html"), str(root / "trees"), "html", status=None, warning=None)
        app.build()
    return root / "html"


def page(html: Path, name: str) -> BeautifulSoup:
    return BeautifulSoup((html / f"{name}.html").read_text("utf-8"), "html.parser")


def test_a_judge_whose_source_is_shown_is_linked(html: Path) -> None:
    link = page(html, "book/page").select_one(
        "a[href*=_modules][href*=first]:not(.viewcode-link):not(.reference.internal:has(.viewcode-link))"
    )
    assert link is not None
    assert link["href"] == "../_modules/small_judges.html#first"
    source = (html / "book" / str(link["href"]).partition("#")[0]).resolve()
    assert BeautifulSoup(source.read_text("utf-8"), "html.parser").find(id="first") is not None


def test_a_judge_whose_source_is_not_shown_leaves_nothing(html: Path) -> None:
    text = page(html, "book/page").get_text()
    assert "Known Judged by first. unknown  other  end." in text


def test_only_a_page_with_a_searchable_table_loads_what_makes_it_one(html: Path) -> None:
    def scripts(name: str) -> list[str]:
        sources = [str(tag["src"]).partition("?")[0] for tag in page(html, name).select("script[src]")]
        return [Path(source).name for source in sources if "ledger" in source]

    assert scripts("book/table") == ["ledger.js"]
    assert scripts("book/page") == []


@pytest.mark.parametrize(
    ("name", "shown"), [("m:f", True), ("m:g", False), ("n:f", False), ("off:f", False), ("m", False)]
)
def test_only_collected_sources_are_shown(name: str, shown: bool) -> None:
    modules = {"m": ("code", {"f": ("def", 1, 2)}, {}, "m"), "off": False}
    assert searchable.has_source(modules, name) is shown
