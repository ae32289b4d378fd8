"""What the book adds to Sphinx, tried on a small book that Sphinx renders."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from sphinx.application import Sphinx

from companion.build import extension

PAGE = "Page\n====\n\nKnown :judge:`judges.one:first` end.\n"
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
    (root / "conf.py").write_text(
        "html_static_path = ['book/_static']\nlanguage = 'en'\n"
        "extensions = ['sphinx.ext.autodoc', 'companion.build.extension']\n",
        "utf-8",
    )
    (root / "index.rst").write_text("Top\n===\n\n.. toctree::\n\n   book/page\n   book/table\n", "utf-8")
    (root / "book" / "page.rst").write_text(PAGE, "utf-8")
    (root / "book" / "table.rst").write_text(TABLE, "utf-8")
    (root / "book" / "_static" / "ledger.js").write_text("", "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        app = Sphinx(str(root), str(root), str(root / "html"), str(root / "trees"), "html", status=None, warning=None)
        app.build()
    return root / "html"


def page(html: Path, name: str) -> BeautifulSoup:
    return BeautifulSoup((html / f"{name}.html").read_text("utf-8"), "html.parser")


def test_without_a_repository_a_judge_is_named_with_its_file(html: Path) -> None:
    assert "Known Judged by first in lib/judges/one.py. end." in page(html, "book/page").get_text()


def test_a_judge_is_linked_to_its_file_in_the_repository() -> None:
    role = extension.JudgeRole()
    role.text = "judges.one:first"
    options = {"repository_url": "https://example.org/a/b", "repository_branch": "main"}
    env = SimpleNamespace(config=SimpleNamespace(html_theme_options=options))
    role.inliner = SimpleNamespace(document=SimpleNamespace(settings=SimpleNamespace(env=env)))
    _, link, _ = role.run()[0]
    assert (link.astext(), link["refuri"]) == ("first", "https://example.org/a/b/blob/main/lib/judges/one.py")


def test_only_a_page_with_a_searchable_table_loads_what_makes_it_one(html: Path) -> None:
    def scripts(name: str) -> list[str]:
        sources = [str(tag["src"]).partition("?")[0] for tag in page(html, name).select("script[src]")]
        return [Path(source).name for source in sources if "ledger" in source]

    assert scripts("book/table") == ["ledger.js"]
    assert scripts("book/page") == []
