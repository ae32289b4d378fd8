"""Numbers of the papers' equations lead to their displays and show them, and the book displays each that it cites."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup
from sphinx.application import Sphinx

from companion.build import equations
from companion.judging.claims import read_papers

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
