"""What the book adds to Sphinx, some of it tried on a small book that Sphinx renders."""

from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from sphinx.application import Sphinx

from companion.build import extension

ADDRESS = "https://example.org/book"
TABLE = "<table><thead><tr><th></th><th>a</th></tr></thead><tbody><tr><th>b</th><td>1</td></tr></tbody></table>"


def test_without_a_repository_there_are_no_buttons() -> None:
    options = {"repository_url": "", "launch_buttons": {"thebe": False}, "use_issues_button": False}
    assert extension.buttons(options) == options


def test_the_repository_s_address_brings_every_button() -> None:
    found = extension.buttons({"repository_url": ADDRESS, "launch_buttons": {"thebe": False}})
    assert all(found[name] for name in extension.BUTTONS)
    assert found["repository_provider"] == "github"
    assert set(found["launch_buttons"]) == {"thebe"}


def test_headers_say_what_they_head() -> None:
    assert extension.audible(TABLE) == (
        '<table><thead><tr><td></td><th scope="col">a</th></tr></thead>'
        '<tbody><tr><th scope="row">b</th><td>1</td></tr></tbody></table>'
    )


JUDGED = "Page\n====\n\nKnown :judge:`judges.one:first` end.\n"
SEARCHABLE = """Table
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
    (root / "book" / "page.rst").write_text(JUDGED, "utf-8")
    (root / "book" / "table.rst").write_text(SEARCHABLE, "utf-8")
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


def brought() -> Path:
    spec = find_spec(extension.PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "static" / "mathjax"


def test_each_file_that_can_be_needed_is_there() -> None:
    macros = " ".join([*extension.LETTERS, *extension.EXTENSIONS.values()]).split()
    for name in extension.needed([" ".join(f"\\{macro}" for macro in macros)]):
        assert (brought() / name).is_file(), name


@pytest.mark.parametrize(
    ("tex", "name"),
    [
        ("\\mathfrak{a}", f"{extension.FONTS}/MathJax_Fraktur-Regular.woff"),
        ("\\cancel{a}", "input/tex/extensions/cancel.js"),
        ("\\begin{CD}", "input/tex/extensions/amscd.js"),
    ],
)
def test_what_a_formula_asks_for_comes_along(tex: str, name: str) -> None:
    assert name in extension.needed(["a", tex])
    assert name not in extension.needed(["\\mathbb{R}", "mathfrak cancel CD"])


def test_only_that_is_copied(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("\\(\\mathcal{L}\\)")
    extension.copy_formulas(tmp_path)
    files = [path for path in (tmp_path / "_static").rglob("*") if path.is_file()]
    named = {path.relative_to(tmp_path / "_static/mathjax").as_posix() for path in files}
    assert named == set(extension.needed(["\\mathcal"]))
    assert sum(path.stat().st_size for path in files) < 1_200_000
