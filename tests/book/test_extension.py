"""What the book adds to its pages: Sphinx's extension, the search's index, scripts, lighter pictures, equations."""

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
import yaml
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from sphinx.application import Sphinx

from chapters.symbols import SYMBOLS
from companion.build import equations, extension, marks, notebooks, pictures, search_index, staging
from companion.build.project import Project, chapters, place
from companion.build.staging import write_scripts
from companion.judging.cards import CLAIMS_TITLE
from companion.judging.claims import read_papers
from tests.each import each

from .conftest import OURS, committed_page

ADDRESS = "https://example.org/book"
TABLE = "<table><thead><tr><th></th><th>a</th></tr></thead><tbody><tr><th>b</th><td>1</td></tr></tbody></table>"


def test_the_repository_s_address_brings_every_button() -> None:
    options = {"repository_url": "", "launch_buttons": {"thebe": False}, "use_issues_button": False}
    assert extension.buttons(options) == options
    found = extension.buttons({"repository_url": ADDRESS, "launch_buttons": {"thebe": False}})
    assert all(found[name] for name in extension.BUTTONS)
    assert found["repository_provider"] == "github"
    assert set(found["launch_buttons"]) == {"thebe"}


def test_headers_say_what_they_head_and_numbers_are_marked() -> None:
    assert extension.audible(TABLE) == (
        '<table><thead><tr><td></td><th scope="col" class="num">a</th></tr></thead>'
        '<tbody><tr><th scope="row">b</th><td class="num">1</td></tr></tbody></table>'
    )


def test_no_line_begins_with_a_percent_sign_or_with_the_stop_after_a_formula() -> None:
    formula = r'<span class="math notranslate nohighlight">\(x\)</span>'
    assert extension.audible(f"5 % of {formula}.") == f'5\xa0% of <span class="together">{formula}.</span>'
    assert extension.audible(f"{formula}-private, and") == f'<span class="together">{formula}-private</span>, and'


@each(("cell", "number"), [("1.2 ± 0.1", True), (r"\(2\cdot 10^{-3}\)", True), ("3 of 4", False), ("", False)])
def test_a_column_of_numbers_has_nothing_else(cell: str, number: bool) -> None:
    assert ('class="num"' in extension.audible(TABLE.replace("<td>1</td>", f"<td>{cell}</td>"))) == number


ABOVE = "<tr><td></td><th>x</th><th>a</th></tr>"


@each(
    ("last", "merged"),
    [("<th>m</th><th>n</th><td></td>", "<th>m</th><th>n</th><th>a</th>"), ("<td></td><th>n</th><td></td>", "")],
)
def test_the_names_of_an_index_go_into_the_row_above(last: str, merged: str) -> None:
    rows = f"<tr>{merged}</tr>" if merged else f"{ABOVE}<tr>{last}</tr>"
    assert extension.one_row(f"<thead>{ABOVE}<tr>{last}</tr></thead>") == f"<thead>{rows}</thead>"


def test_a_caption_has_the_figure_s_files() -> None:
    page = (
        '<figure id="one-rates"><img src="../_images/a.svg" /><figcaption><p>Rates.</p></figcaption></figure>'
        '<a class="reference download internal" download="" href="../_downloads/b/rates.csv">rates</a>'
    )
    links = '<a href="../_images/a.svg" download>SVG</a> <a href="../_downloads/b/rates.csv" download>CSV</a>'
    assert f'Rates.</p><p class="figure-files">{links}</p>' in marks.with_files(page)
    assert "CSV" not in marks.with_files(page.replace("rates.csv", "other.csv"))


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


def test_what_mathjax_loads_is_copied_with_all_extensions_of_tex(tmp_path: Path) -> None:
    extension.copy_formulas(tmp_path)
    names = [f"{name}.js" for name in ("startup", "core", *extension.LOADED, "input/tex/extensions/cancel")]
    names += ["output/chtml/fonts/woff-v2/MathJax_Fraktur-Regular.woff"]
    assert all((tmp_path / "_static/mathjax" / name).is_file() for name in names)


# the index of the search, and what a page says of itself

CARD = (
    '<div class="claim-card docutils" id="claim-dpgd-theorem-3"><details><summary>'
    '<span class="verdict verdict-holds">holds</span> <strong>Theorem 3</strong> '
    '<span class="headline">It is <span class="math">\\(\\rho\\)</span>-private.</span></summary>'
    "<dl><dt>In our words</dt><dd><p>Nobody learns much.</p></dd></dl>"
    '<p class="claim-foot">v</p></details></div>'
)
PAGE = """<article class="bd-article"><section id="a">
<h1>{}<a class="headerlink" href="#a">#</a></h1><p>At \\(\\rho=1\\).</p>{}</section></article>"""
UNREAD = """<section class="x" id="b"><span id="c"></span><h2>Its \\(\\varepsilon\\)<a class="headerlink">#</a></h2>
<details><summary>code</summary><pre>x = 1</pre></details><p>It holds.</p>\\[x^2\\]\\begin{equation}y\\end{equation}
<details><p>a.csv. Columns: a.</p><dl class="columns"><dt>a</dt><dd>An error.</dd></dl></details>
<table class='dataframe'><tr><td>1</td></tr></table><p>Always.</p></section>"""
CHAPTER, CLAIMS = "dpgd/lower-bound", "dpgd/lower-bound-claims"


@pytest.fixture
def searched(tmp_path: Path) -> Path:
    for name in (CHAPTER, CLAIMS, "ledger", "reference/dpgd"):
        path = tmp_path / "book" / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        own = (f"{CLAIMS_TITLE}The bound", CARD) if name == CLAIMS else ("The bound", UNREAD)
        path.write_text(PAGE.format(*own), "utf-8")
    return tmp_path


def test_each_section_and_each_card_is_an_entry(searched: Path) -> None:
    search_index.index(searched)
    script = (searched / search_index.INDEX).read_text("utf-8")
    entries = {entry[0]: entry[1:] for entry in json.loads(script.removeprefix("bookSections=").removesuffix(";\n"))}
    assert {address: entry[0] for address, entry in entries.items()} == {
        f"book/{CHAPTER}.html": search_index.CHAPTER,
        f"book/{CLAIMS}.html": search_index.RECORD,
        "book/ledger.html": search_index.RECORD,
        "book/reference/dpgd.html": search_index.REFERENCE,
    }
    assert entries[f"book/{CHAPTER}.html"][1:] == [["a", "The bound", "At ρ=1."], ["b", "Its ε", "It holds. Always."]]
    words = "It is ρ-private. Nobody learns much."
    card = ["claim-dpgd-theorem-3", "DP-GD: Theorem 3", words, "holds", "verdict verdict-holds"]
    assert entries[f"book/{CLAIMS}.html"][2:] == [card]


ASKING = """<h1>Title</h1><div class="admonition note">
<p>A note that is long enough to be taken for the page's words.</p></div>
<p>Theorem 1 of a paper with a rather long title.</p><div class="question docutils"><p>Is it <em>so</em> at
<span class="math">\\(\\varepsilon = 1\\)</span>?</p></div>
<ul class="simple"><li><p>It is, at &lt; 5&nbsp;% <a href="a.html">here</a>.</p></li></ul>"""


def test_a_page_says_its_question_and_its_answer_or_else_its_first_words() -> None:
    assert search_index.summary(ASKING) == "Is it so at ε = 1? It is, at < 5 % here."
    unasked = search_index.summary(ASKING.replace("question", "answer"))
    assert unasked == "Theorem 1 of a paper with a rather long title."
    assert search_index.summary("<h1>Title</h1><p>Short.</p>") == ""


# scripts of the pages, definitions, and what a chapter's link to an explorer becomes

SCRIPTED = '{"text/html": "<script src=\\"../../_static/explorer.js\\"></script>"}'


def test_a_page_that_asks_for_a_script_finds_it(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = project.root / "lib" / project.package / "showing"
    room.mkdir()
    (room / "__init__.py").touch()
    (room / "explorer.py").touch()
    monkeypatch.setattr(staging, "MODULE", f"{project.package}.showing.explorer")
    module = importlib.import_module(staging.MODULE)
    page, written = (tmp_path / "pages/book" / name for name in ("explore/one.ipynb", "_static/explorer.js"))
    page.parent.mkdir(parents=True)
    page.write_text("{}", "utf-8")
    write_scripts(project, tmp_path / "pages")
    assert not written.exists()
    page.write_text(SCRIPTED, "utf-8")
    for made in (lambda: "draw(x)", lambda: pytest.fail("made again")):
        monkeypatch.setattr(module, "script", made, raising=False)
        write_scripts(project, tmp_path / "pages")
        assert written.read_text("utf-8") == "draw(x)"
    (room / "explorer.js").write_text("other", "utf-8")  # its package has changed
    monkeypatch.setattr(module, "script", lambda: "draw(ε)")
    write_scripts(project, tmp_path / "pages")
    assert written.read_text("utf-8") == "draw(ε)"


LINK = "[Explore it at ρ = 0.3](../explore/dpgd.ipynb#rho=0.3&gamma=0.1)"
ANCHOR = '<a href="../explore/dpgd.html#rho=0.3&amp;gamma=0.1">Explore it at ρ = 0.3</a>'


@each(
    ("written", "shown"),
    [
        (f"One.\n\n{LINK}\n\nTwo.", f"One.\n\n{ANCHOR}\n\nTwo."),
        (f"- One {LINK} two.", f"- One {ANCHOR} two."),
        ("[It](../explore/dpgd.ipynb)", "[It](../explore/dpgd.ipynb)"),
        ("[It](../explore/dpgd.ipynb#how-it-is-computed)", "[It](../explore/dpgd.ipynb#how-it-is-computed)"),
        ("[It](../dpgd/schedules.ipynb#rho=0.3)", "[It](../dpgd/schedules.ipynb#rho=0.3)"),
    ],
)
def test_a_link_to_an_explorer_in_a_state_is_html(written: str, shown: str) -> None:
    assert staging.linked(written) == shown
    assert staging.linked(shown) == shown


def test_all_staged_pages_are_told_anew_and_code_is_not(tmp_path: Path) -> None:
    output = new_output("display_data", {"text/markdown": f"See {LINK}."})
    cells = [new_markdown_cell(LINK), new_code_cell(f"# {LINK}", outputs=[output])]
    notebooks.write(new_notebook(cells=cells), tmp_path / "dpgd" / "one.ipynb")
    (tmp_path / "two.md").write_text("[It](explore/dpgd.ipynb#rho=1)\n", "utf-8")
    staging.link_explorers(tmp_path)
    found = notebooks.read(tmp_path / "dpgd" / "one.ipynb")
    assert found.cells[0].source == ANCHOR
    assert found.cells[1].source == f"# {LINK}"
    assert found.cells[1].outputs[0].data["text/markdown"] == f"See {ANCHOR}."
    assert (tmp_path / "two.md").read_text("utf-8") == '<a href="explore/dpgd.html#rho=1">It</a>\n'


def offered(name: str) -> dict[str, list[str]]:
    """What an address of a committed explorer can choose, by control."""
    outputs = [output for cell in committed_page(f"explore/{name}").cells for output in cell.get("outputs", [])]
    pages = [output["data"].get("text/html", "") for output in outputs]
    page = next(page for page in pages if 'class="explorer"' in page)
    (inside,) = re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    return {control["name"]: control["tokens"] for control in json.loads(inside)["controls"]}


def wrong(text: str) -> list[str]:
    """What the links to explorers in a text choose and cannot."""
    found = []
    for link in staging.INLINE.finditer(text):
        page = link["page"].rpartition("/")[2]
        chosen = [part.partition("=")[::2] for part in link["state"].split("&")]
        found += [f"{page}: {name}={value}" for name, value in chosen if value not in offered(page).get(name, [])]
    return found


def test_every_link_of_the_book_chooses_what_can_be_chosen() -> None:
    pages = [*OURS.book.glob("*.md"), *(place(OURS.book, name).notebook for name in chapters(OURS))]
    assert {path.name: found for path in pages if (found := wrong(path.read_text("utf-8")))} == {}
    assert wrong("[a](explore/dpgd.ipynb#rho=0.3&gamma=0.2&size=4)") == ["dpgd: gamma=0.2", "dpgd: size=4"]


def content(book: Path) -> Any:
    return json.loads(staging.definitions(book).removeprefix("globalThis.DEFINED = ")[:-2])


def test_every_symbol_of_a_paper_is_defined_with_its_meaning(tmp_path: Path) -> None:
    plain = content(tmp_path)  # a book without words
    assert plain["terms"] == []
    assert len(plain["symbols"]) == sum(bool(symbol.noisyhead) + bool(symbol.dpgd) for symbol in SYMBOLS)
    gamma = next(entry for entry in plain["symbols"] if entry["tex"] == r"\gamma_n")
    assert gamma == {"tex": r"\gamma_n", "paper": "dpgd", "meaning": "Aspect ratio d/n.", "unit": ""}


def test_a_letter_with_two_meanings_says_which_one_it_has_in_a_paper() -> None:
    found = content(OURS.book)
    meanings = {(entry["tex"], entry["paper"]): entry["meaning"] for entry in found["symbols"]}
    assert len(meanings) == len(found["symbols"])
    assert "half its square" in meanings[r"\rho", "dpgd"]
    assert meanings[r"\Gamma", "noisyhead"] != meanings[r"\Gamma", "dpgd"]
    assert not {"Γ", "ρ"} & {entry["term"] for entry in found["terms"]}


# pictures


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A figure with lines, markers, formulas, a clipped image and a legend."""
    figure, (left, right) = plt.subplots(1, 2)
    x = np.linspace(0, 3, 40)
    left.plot(x, np.sin(x), marker="o", label=r"$\varepsilon^{-2}$")
    left.errorbar(x, np.cos(x), yerr=0.1, label="cos")
    left.legend()
    right.imshow(np.arange(12.0).reshape(3, 4))
    right.set_title("Words & signs <")
    path = tmp_path_factory.mktemp("drawn") / "figure.svg"
    figure.savefig(path)
    plt.close(figure)
    return path.read_text("utf-8")


def references(svg: str) -> set[str]:
    return set(re.findall(r'href="#([^"]+)"', svg)) | set(re.findall(r"url\(#([^)]+)\)", svg))


def address(use: ElementTree.Element) -> str:
    """The name of what is shown."""
    return next(use.attrib[key] for key in pictures.LINKS if key in use.attrib).removeprefix("#")


def test_each_reference_leads_to_one_name(drawn: str) -> None:
    lighter = pictures.shrunk(drawn)
    names = re.findall(r'\bid="([^"]+)"', lighter)
    assert references(lighter) == set(names)
    assert len(names) == len(set(names)) >= len(references(drawn))


def test_nothing_that_is_drawn_is_lost(drawn: str) -> None:
    def counted(svg: str) -> dict[str, int]:
        root = ElementTree.fromstring(svg)
        named = {node.get("id"): node for node in root.iter() if node.get("id")}
        shown = [node for node in root.iter() if node.tag == pictures.USE]
        words = [named[address(node)] for node in shown if named[address(node)].tag == pictures.GROUP]
        tags = [node.tag.partition("}")[2] for node in root.iter()]
        tags += ["use"] * sum(len(word.findall(pictures.USE)) - 1 for word in words)  # a word for its letters
        return {name: tags.count(name) for name in ("path", "use", "image", "rect", "clipPath")}

    assert counted(pictures.shrunk(drawn)) == counted(drawn)


def points(path: str) -> list[tuple[float, float]]:
    """The points of a path in either spelling, where they are on the picture."""
    found: list[tuple[float, float]] = []
    here = start = (0.0, 0.0)
    for command, text in re.findall(r"([MLQCzmlqc])([^MLQCzmlqc]*)", path):
        if command == "z":
            here = start
            continue
        numbers = [float(number) for number in re.findall(r"-?\d*\.?\d+(?:e-?\d+)?", text)]
        pairs, size = list(zip(numbers[::2], numbers[1::2])), {"q": 2, "c": 3}.get(command.lower(), 1)
        for k in range(0, len(pairs), size):
            step = [(x + here[0], y + here[1]) if command.islower() else (x, y) for x, y in pairs[k : k + size]]
            found += step
            here = step[-1]
            start = here if command in "Mm" and not k else start
    return found


def all_points(svg: str, letters: bool) -> np.ndarray:
    """The points of all paths that are letters, or of all that are none."""
    shapes = (pictures.SHAPE, pictures.LARGER)
    paths = ElementTree.fromstring(svg).iter(f"{{{pictures.SVG}}}path")
    chosen = (path for path in paths if (path.get("transform") in shapes) == letters)
    return np.array([point for path in chosen for point in points(path.get("d", ""))])


def test_no_point_moves_by_more_than_a_hundredth(drawn: str) -> None:
    before, after = (all_points(svg, letters=False) for svg in (drawn, pictures.shrunk(drawn)))
    assert before.shape == after.shape
    assert np.abs(before - after).max() <= 0.005 + 1e-9


def test_what_is_lighter_already_what_others_draw_and_what_is_broken_stays(drawn: str) -> None:
    for svg in (pictures.shrunk(drawn), "<svg/>", "<svg><!-- matplotlib </svg>", "<svg><script/>matplotlib</svg>"):
        assert pictures.shrunk(svg) == svg


def test_files_and_notebooks_get_the_same_picture(drawn: str, tmp_path: Path) -> None:
    output = new_output("display_data", {pictures.MIME: drawn, "text/plain": "a figure"})
    nbformat.write(new_notebook(cells=[new_code_cell("1", outputs=[output])]), tmp_path / "page.ipynb")
    (tmp_path / "figure.svg").write_text(drawn, "utf-8")
    pictures.shrink_all(tmp_path)
    written = nbformat.read(tmp_path / "page.ipynb", as_version=4).cells[0].outputs[0].data
    assert written[pictures.MIME] == (tmp_path / "figure.svg").read_text("utf-8") == pictures.shrunk(drawn)
    assert written["text/plain"] == "a figure"


ROOT = Path(__file__).parents[2]
PAPERS = {"noisyhead": {"short": "NoisyHead", "title": "Attention"}, "dpgd": {"short": "DP-GD", "title": "Rates"}}
KNOWN = {
    "book/dpgd/a": {equations.KEPT: {"4.2": "x < y"}},
    "book/dpgd/equations": {equations.KEPT: {"4.2": "printed", "A.1": "z"}},
    "book/noisyhead/equations": {equations.KEPT: {"4.2": "w", "2.5": "v"}},
}


def linked(body: str, page: str) -> BeautifulSoup:
    html = equations.linked(body, page, PAPERS, KNOWN, lambda name: f"to:{name}")
    return BeautifulSoup(html, "html.parser")


def targets(body: str, page: str) -> list[str]:
    return [str(link["href"]) for link in linked(body, page).select("a.equation")]


def test_a_number_leads_to_its_display_here_or_in_a_chapter_or_in_the_list_and_carries_it() -> None:
    assert targets("<p>(4.2)</p>", "book/dpgd/a") == ["#equation-4.2"]
    assert targets("<p>(4.2) and (A.1).</p>", "book/dpgd/b") == [
        "to:book/dpgd/a#equation-4.2",
        "to:book/dpgd/equations#equation-A.1",
    ]
    first, again = linked("<p>By (4.2)–(4.2)</p>", "book/dpgd/b").select("a.equation")
    assert (first.text, first["data-tex"], first.get("tabindex"), again["tabindex"]) == ("(4.2)", "x < y", None, "-1")
    section = linked("<p>(4.2)</p><h2>Next</h2><p>(4.2)</p>", "book/dpgd/b").select("a.equation")
    assert [link.get("tabindex") for link in section] == [None, None]


@pytest.mark.parametrize(
    "closed",
    ["<h2>(4.2)</h2>", "<code>(4.2)</code>", "<pre><span>f</span>(4.2)</pre>", '<a href="x"><b>(4.2)</b></a>',
     '<span class="math notranslate">\\(x\\) (4.2)</span>', "<summary>(4.2)</summary>", '<p title="(4.2)">(9.9)</p>',
     "<script>if (1<2) f(4.2)</script>"],
)  # fmt: skip
def test_code_headings_links_and_formulas_stay_as_they_are(closed: str) -> None:
    assert equations.linked(closed, "book/dpgd/b", PAPERS, KNOWN, str) == closed


def test_whose_number_it_is() -> None:
    both = "<h3>NoisyHead</h3><p>(4.2)</p><p>(4.2) of DP-GD</p><p><a href='../dpgd/a.html'>see</a> (4.2), (2.5)</p>"
    papers = [target.split("/")[1] for target in targets(both, "book/errata")]
    assert papers == ["noisyhead", "dpgd", "dpgd", "noisyhead"]
    assert targets("<p>NoisyHead has (2.5)</p>", "book/dpgd/b") == []


def test_a_display_has_an_anchor_and_its_tag(tmp_path: Path) -> None:
    (tmp_path / "book" / "dpgd").mkdir(parents=True)
    (tmp_path / "book" / "claims.yml").write_text(yaml.safe_dump({"papers": PAPERS, "claims": []}), "utf-8")
    (tmp_path / "conf.py").write_text(
        "extensions = ['sphinx.ext.autodoc', 'companion.build.extension', 'sphinx.ext.mathjax']\n", "utf-8"
    )
    display = "\n\n.. math::\n\n   x \\\\ y \\tag{4.2}\n\n.. math:: z \\tag{4.3}\n"
    (tmp_path / "index.rst").write_text("Top\n===\n\nDP-GD's (4.2).\n\n.. toctree::\n\n   book/dpgd/one\n", "utf-8")
    (tmp_path / "book" / "dpgd" / "one.rst").write_text(f"One\n===\n\nBy (4.3){display}", "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        root, made = str(tmp_path), str(tmp_path / "html")
        Sphinx(root, root, made, str(tmp_path / "trees"), "html", status=None, warning=None).build()
    top, one = (
        BeautifulSoup((tmp_path / "html" / f"{name}.html").read_text("utf-8"), "html.parser")
        for name in ("index", "book/dpgd/one")
    )
    assert [link["href"] for link in top.select("a.equation")] == ["book/dpgd/one.html#equation-4.2"]
    assert top.select("a.equation")[0]["data-tex"] == r"x \\ y"
    assert [link["href"] for link in one.select("a.equation")] == ["#equation-4.3"]
    several, single = (one.select(f"[id='equation-{number}']")[0].text.strip() for number in ("4.2", "4.3"))
    assert several == r"\begin{equation}x \\ y \tag{4.2}\end{equation}"  # no tag within "split"
    assert single == r"\[z \tag{4.3}\]"
    assert any("mathjax" in str(script["src"]) for script in top.select("script[src]"))


def texts() -> Iterator[tuple[str, str]]:
    """Each paper with texts of the book that cite it: its pages, its claims."""
    papers = read_papers(ROOT / "book" / "claims.yml")
    for path in sorted((ROOT / "book").rglob("*")):
        paper = next((paper for paper in papers if paper in path.relative_to(ROOT).as_posix()), "")
        if paper and path.suffix == ".md":
            yield paper, path.read_text("utf-8")
        elif paper and path.suffix == ".ipynb":
            cells = json.loads(path.read_text("utf-8"))["cells"]
            yield from ((paper, "".join(cell["source"])) for cell in cells if cell["cell_type"] == "markdown")
    for claim in yaml.load((ROOT / "book" / "claims.yml").read_text("utf-8"), yaml.CSafeLoader)["claims"]:
        yield claim["id"].partition("/")[0], str(claim)


def test_each_equation_that_is_cited_is_displayed() -> None:
    cited, displayed = set(), set()
    for paper, text in texts():
        cited |= {(paper, number) for number in re.findall(rf"\(({equations.NUMBER})\)", text)}
        displayed |= {(paper, number) for number in re.findall(equations.TAG, text)}
    assert len(displayed) > 200
    assert sorted(cited - displayed) == []
