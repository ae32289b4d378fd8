"""Pages staged and rendered: chapters, pages of claims, pages whose prose has values, the reference."""

import json
import pkgutil
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import costofprivacy
from companion.build import build, extension, notebooks, rendering, staging
from companion.build.project import BookError, Project, chapters, place, toc_entries
from companion.judging.claims import read_register
from tests.each import each
from tests.trees import write_tree

from .conftest import NAME, OURS, Rewrite, commit


@pytest.fixture
def tree(project: Project) -> Path:
    """Executed chapters, as if they had been."""
    folder = project.build / "quick" / "executed"
    for name in chapters(project):
        place(folder, name).results.mkdir(parents=True)
        shutil.copyfile(place(project.book, name).notebook, place(folder, name).notebook)
        place(folder, name).verdicts.write_text("[]")
        place(folder, name).stamp.write_text("{}")
    return folder


def staged(project: Project, tree: Path, preset: str) -> Path:
    pages = project.build / preset / "pages"
    staging.stage(project, preset, tree, pages)
    return pages


def test_staging_brings_configuration_prose_static_files_and_results(project: Project, tree: Path) -> None:
    write_tree(project.root, {name: f"# {name}\n" for name in staging.INCLUDED})  # what pages include
    pages = staged(project, tree, "quick")
    found = {path.relative_to(pages).as_posix() for path in pages.rglob("*") if path.is_file()}
    assert found >= {"_config.yml", "_toc.yml", "book/_static/book.css", "book/index.md"}
    assert found >= {"book/part/first-one.ipynb", "book/part/first-one/verdicts.json", "book/_notation.md"}
    assert found >= {*staging.INCLUDED}
    assert not any("stamp" in name or name.startswith(("lib", "_build")) for name in found)


def test_a_preset_is_named_at_the_top_of_every_page(project: Project, tree: Path) -> None:
    pages = staged(project, tree, "quick")
    first = notebooks.read(pages / "book/part/first-one.ipynb").cells[0].source
    assert first.startswith("# A title\n\n```{admonition} Executed with the *quick* preset")
    assert "*quick* preset" in (pages / "book/index.md").read_text()
    assert (pages / "book/_notation.md").read_text() == "2 files\n"
    assert "2 files." in (pages / "book/index.md").read_text()
    assert not any("preset" in path.read_text() for path in staged(project, tree, "paper").rglob("*.ipynb"))


def fake_sphinx(monkeypatch: pytest.MonkeyPatch, status: int = 0) -> list[str]:
    calls: list[str] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(command[-1])
        html = Path(command[-2]) / "_build" / "html"
        html.mkdir(parents=True, exist_ok=True)
        (html / "index.html").write_text(f"rendering {len(calls)}")
        return subprocess.CompletedProcess(command, status, "reading\na.md:1: WARNING: odd\n")

    monkeypatch.setattr(rendering.subprocess, "run", run)
    return calls


def test_pages_are_rendered_again_only_if_they_changed(
    project: Project, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fake_sphinx(monkeypatch)
    pages = staged(project, tree, "quick")
    rendering.render(project, "quick", pages, print)
    rendering.render(project, "quick", staged(project, tree, "quick"), print)
    assert len(calls) == 1
    (pages / "book/index.md").write_text("# Other\n")
    rendering.render(project, "quick", pages, print)
    rendering.render(project, "paper", staged(project, tree, "paper"), print)
    assert len(calls) == 3
    assert (project.build / "html/index.html").read_text() == "rendering 3"


def test_a_failed_rendering_leaves_the_earlier_pages(
    project: Project, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_sphinx(monkeypatch)
    rendering.render(project, "quick", staged(project, tree, "quick"), print)
    fake_sphinx(monkeypatch, status=1)
    with pytest.raises(BookError, match=r"could not be rendered: a.md:1: WARNING: odd .see .*render.log"):
        rendering.render(project, "paper", staged(project, tree, "paper"), print)
    assert (project.build / "html/index.html").read_text() == "rendering 1"


def test_staging_again_touches_what_changed_alone(project: Project, tree: Path) -> None:
    pages = staged(project, tree, "quick")
    (pages / "book/gone.md").write_text("# Gone\n")
    before = {path: path.stat().st_mtime_ns for path in pages.rglob("*") if path.is_file()}
    (project.book / "_static/book.css").write_text("p { color: red }\n")
    staged(project, tree, "quick")
    after = {path: path.stat().st_mtime_ns for path in pages.rglob("*") if path.is_file()}
    assert {path.name for path in before if after.get(path) != before[path]} == {"book.css", "gone.md"}
    assert "red" in (pages / "book/_static/book.css").read_text()


def test_what_sphinx_kept_is_used_until_the_machinery_changes_or_a_rendering_fails(
    project: Project, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_sphinx(monkeypatch)
    pages, kept = staged(project, tree, "quick"), project.build / "quick/sphinx/kept"

    def rendered_again(name: str, text: str) -> bool:
        (pages / name).write_text(text)
        kept.touch()
        rendering.render(project, "quick", pages, print)
        return not kept.exists()

    rendering.render(project, "quick", pages, print)
    assert not rendered_again("book/index.md", "# Other\n")
    assert rendered_again("_config.yml", "title: Other\n")
    fake_sphinx(monkeypatch, status=1)
    with pytest.raises(BookError):
        rendered_again("book/index.md", "# Wrong\n")
    fake_sphinx(monkeypatch)
    assert rendered_again("book/index.md", "# Right\n")


def test_only_the_papers_edition_has_the_whole_reference(project: Project, tree: Path) -> None:
    entry = project.root / "book/reference/overview.md"
    entry.parent.mkdir()
    own = "# overview\n\n```{eval-rst}\n.. automodule:: overview\n```\n"
    entry.write_text(f"{own}\n## `part`\n")
    (project.root / "_toc.yml").write_text(
        (project.root / "_toc.yml").read_text() + "- file: book/reference/overview\n"
    )
    paper, quick = (staged(project, tree, preset) / "book/reference/overview.md" for preset in ("paper", "quick"))
    assert paper.read_text() == entry.read_text()
    assert quick.read_text() == own + staging.NO_REFERENCE


def test_committed_chapters_are_rendered_as_they_are(
    project: Project, rewrite: Rewrite, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(project)
    calls = fake_sphinx(monkeypatch)
    monkeypatch.setattr("companion.build.execute.execute", lambda *_: pytest.fail("a chapter was executed"))
    page = build.render_committed(project, print, pytest.fail)
    assert page.read_text() == "rendering 1"
    pages = project.build / "paper" / "pages"
    assert "holds" in (pages / "book/part/first-one/verdicts.json").read_text()
    assert not list(pages.rglob("stamp.json"))

    rewrite("lib/{package}/part/first_one/judge.py", "LIMIT = 1", "LIMIT = 2")
    warnings: list[str] = []
    build.render_committed(project, print, warnings.append)
    assert len(warnings) == 1
    assert warnings[0].endswith(": part/first-one")
    assert len(calls) == 1  # the pages are what they were


def test_a_chapter_without_outputs_has_no_page(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = fake_sphinx(monkeypatch)
    with pytest.raises(BookError, match=r"never executed.*: part/first-one, ledger"):
        build.render_committed(project, print, print)
    assert calls == []


def test_a_narrow_screen_is_offered_the_stacked_form_of_a_figure_that_has_one(tmp_path: Path) -> None:
    files = {
        "html/_images/abc.svg": "<svg>wide</svg>",
        "html/_images/whole.svg": "<svg>whole</svg>\n",  # the end of a file tells no figures apart
        "html/_images/def.svg": "<svg>other</svg>",
        "html/book/page.html": '<p><img alt="a" src="../_images/abc.svg" /><img src="../_images/def.svg"/></p>',
        "pages/book/page/rates.svg": "<svg>wide</svg>\n",
        "pages/book/page/rates.narrow.svg": "<svg>narrow</svg>\n",
        "pages/book/page/whole.svg": "<svg>whole</svg>\n",
        "pages/book/page/whole.narrow.svg": "<svg>stacked</svg>\n",
        "pages/book/page/alone.narrow.svg": "<svg>alone</svg>\n",
    }
    html = write_tree(tmp_path, files) / "html"
    for _ in range(2):  # Sphinx leaves a page alone that has not changed
        extension.offer_stacked(html, tmp_path / "pages")
    assert (html / "book" / "page.html").read_text("utf-8") == (
        '<p><picture><source media="(max-width: 600px)" srcset="../_images/abc.narrow.svg">'
        '<img alt="a" src="../_images/abc.svg" /></picture><img src="../_images/def.svg"/></p>'
    )
    assert (html / "_images" / "abc.narrow.svg").read_text("utf-8") == "<svg>narrow</svg>\n"
    assert (html / "_images" / "whole.narrow.svg").read_text("utf-8") == "<svg>stacked</svg>\n"


# pages of claims, and pages whose prose has values

REGISTER = """papers: {part: {arxiv: "1.2"}}
claims:
- {id: part/theorem-1, place: Theorem 1, says: so, chapter: part/first-one, quote: It is so.}
- {id: part/theorem-2, place: Theorem 2, says: thus, chapter: part/first-one}
- {id: part/theorem-3, place: Theorem 3, says: never, chapter: part/first-one, pending: true}
"""
JUDGES = '''"""Verdicts."""

from companion.judging.judges import judges


@judges("part/theorem-1")
def theorem_1(found):
    """Never asked here."""
'''
CLAIMS = [claim for claim in read_register(OURS.claims).values() if not claim.pending]
JUDGING = sorted({claim.chapter for claim in CLAIMS})


def finding(claim: str, verdict: str, headline: str, table: str) -> dict[str, object]:
    numbers = [{"name": "ratio", "value": 2.0, "error": None, "against": None, "table": table, "row": "all"}]
    told = {"claim": claim, "verdict": verdict, "headline": headline, "numbers": numbers}
    return told | {"consequence": "none", "would_change": "More."}


@pytest.fixture
def judged(project: Project) -> Project:
    """The small book, whose chapter has judged two claims and has drawn a figure from a table."""
    (project.root / "_toc.yml").write_text(
        "root: book/index\nchapters:\n- file: book/ledger\n- file: book/part/first-one\n"
        "  sections: [{file: book/part/first-one-claims, title: Claim by claim}]\n"
    )
    project.claims.write_text(REGISTER)
    package = project.root / "lib" / project.package / "part" / "first_one"
    (package / "judge.py").write_text(JUDGES)
    words = {"name": "part-first-one-rates", "caption": "**Rates.** They fall.", "alt": "Falling."}
    drawing = new_code_cell('chapter.show("rates", draw(tables["spread"]))')
    drawing.outputs = [new_output("display_data", {"text/plain": ""}, metadata={"plate": words})]
    nbformat.write(new_notebook(cells=[new_markdown_cell("# A title"), drawing]), place(project.book, NAME).notebook)
    found = [
        finding("part/theorem-2", "holds", "It is thus.", "other"),
        finding("part/theorem-1", "fails", "It is $x$.", "spread"),
    ]
    place(project.book, NAME).results.mkdir()
    place(project.book, NAME).verdicts.write_text(json.dumps(found))
    return project


def test_a_page_has_a_card_for_each_finding_in_the_order_of_the_register(judged: Project) -> None:
    assert staging.chapters_with_claims(judged) == [NAME]
    text = staging.claims_page(judged, judged.book, NAME)
    assert text.startswith("# Claim by claim: A title\n")
    assert "[A title](first-one.ipynb) judges 2 claims: 1 holds, 1 does not hold." in text
    assert "(../ledger.ipynb)" in text
    assert re.findall(r"^\((claim-.*)\)=$", text, re.MULTILINE) == ["claim-part-theorem-1", "claim-part-theorem-2"]


def test_a_card_leads_to_its_figures_and_its_judge(judged: Project) -> None:
    first, second = staging.claims_page(judged, judged.book, NAME).split("(claim-part-theorem-2)=")
    assert '<a href="first-one.html#part-first-one-rates">Rates</a>' in first
    assert f"{{judge}}`{judged.package}.part.first_one.judge:theorem_1`" in first
    assert "{download}`spread.csv <first-one/spread.csv>`" in first
    assert "[arXiv 1.2](https://arxiv.org/abs/1.2)" in first
    assert "Drawn in" not in second


def test_the_page_is_laid_out_beside_its_chapter_with_the_edition_it_belongs_to(judged: Project) -> None:
    for preset, noted in (("paper", False), ("quick", True)):
        pages = judged.build / preset / "pages"
        place(judged.book, "ledger").results.mkdir(exist_ok=True)
        staging.stage(judged, preset, judged.book, pages)
        text = (pages / "book" / f"{NAME}-claims.md").read_text("utf-8")
        assert "Theorem 2" in text
        assert ("*quick* preset" in text) == noted
    assert not (judged.book / f"{NAME}-claims.md").exists()


def test_every_judged_claim_has_one_card_in_the_book() -> None:
    assert sorted(staging.chapters_with_claims(OURS)) == JUDGING
    text = "".join(staging.claims_page(OURS, OURS.book, name) for name in JUDGING)
    anchors = re.findall(r"^\((claim-.*)\)=$", text, re.MULTILINE)
    assert sorted(anchors) == sorted(claim.anchor for claim in CLAIMS)


PAGES = staging.filled_pages(OURS)


def test_places_are_filled_with_the_texts_of_their_keys_and_none_is_left() -> None:
    filled = staging.filled("{{ a }} and {{ p/b-1.2 }}, $x_{{i}}$", {"a": "one", "p/b-1.2": "$\\log N$"}, "x")
    assert filled == "one and $\\log N$, $x_{{i}}$"
    with pytest.raises(BookError, match=r"^the page x has placeholders without a value: b, c$"):
        staging.filled("{{ a }} {{ c }} {{ b }}", {"a": "one"}, "x")


@each("name", PAGES)
def test_a_page_uses_all_that_is_computed_for_it(name: str) -> None:
    values = staging.values_of(OURS, PAGES[name], OURS.book)
    places = set(staging.VALUE.findall((OURS.book / f"{name}.md").read_text("utf-8")))
    assert places <= set(values)
    assert {key for key in values if "/" not in key} <= places  # what is under a claim's name is there for all claims


# Code, mathematics, places to be filled, targets of links, directives, and what names a place in a paper.
UNREAD = (
    r"(`{3,}).*?\1",
    r"\$\$.*?\$\$",
    r"`[^`]*`",
    r"\$[^$]*\$",
    r"\{\{[^}]*\}\}",
    r"\]\([^)]*\)|^\([\w-]+\)=$",
    r"^:[^\n]*$",
    r"^(?:\*\*)?\d+\. ",
    r"arXiv [\d.v]+",
    r"(?:Algorithm|Figure|Theorem|Proposition|Section|Table)s?\s+\d[\d.]*(?:(?:,| and| to)\s+\d[\d.]*)*",
    r"(?:Assumption|Definition|Lemma|Proposition|Remark)s?\s+(?:[A-Z]\.)?\d[\d.]*",
    r"\((?:[A-Z]\.)?\d+(?:\.\d+)?\)",  # an equation
    r"predicting 0",
)


@each("name", sorted(set(PAGES) - {"on-a-cluster"}))
def test_a_page_of_prose_types_no_number(name: str) -> None:
    """But for what names a place in a paper, and always predicting 0. The page on the cluster is a manual."""
    text = (OURS.book / f"{name}.md").read_text("utf-8")
    for unread in UNREAD:
        text = re.sub(unread, " ", text, flags=re.S | re.M)
    assert re.findall(r"\d[\d.]*", text) == []


def test_what_fills_a_page_is_computed_again_only_if_it_may_be_another(
    project: Project, tree: Path, rewrite: Rewrite, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[str] = []

    def values_of(_: Project, module: str, tree: Path) -> dict[str, str]:
        computed.append(module)
        return {"files": f"{sum(len(path.read_text()) for path in tree.rglob('*.csv'))} letters"}

    monkeypatch.setattr(staging, "values_of", values_of)
    page = staged(project, tree, "quick") / "book/index.md"
    assert "0 letters files." in page.read_text()
    rewrite("book/index.md", "{{ files }}", "A new sentence: {{ files }}")
    (place(tree, NAME).stamp).write_text('{"told": "another"}')
    staged(project, tree, "quick")
    assert "A new sentence: 0 letters files." in page.read_text()
    assert len(computed) == 1
    (place(tree, NAME).results / "table.csv").write_text("value")
    staged(project, tree, "quick")
    assert "5 letters" in page.read_text()
    rewrite("lib/{package}/overview/index.py", "str(len(", "str(2 * len(")
    staged(project, tree, "quick")
    monkeypatch.setattr(staging, "__version__", "another")
    staged(project, tree, "quick")
    assert len(computed) == 4


@pytest.mark.slow
def test_sphinx_reads_the_changed_page_alone(project: Project, tree: Path, rewrite: Rewrite) -> None:
    (project.root / "_config.yml").write_text("title: A book\nonly_build_toc_files: true\n")
    (project.root / "_toc.yml").write_text("format: jb-book\nroot: book/index\nchapters:\n- file: book/other\n")
    (project.book / "other.md").write_text("# Another page\n")
    read = re.compile(r"reading sources\.\.\. *\[ *\d+%\] ([\w/.-]+)")
    logs = []
    for old, new in (("# A", "# A"), ("# A", "# A"), ("files.", "files, and a sentence.")):
        rewrite("book/index.md", old, new)
        rendering.render(project, "quick", staged(project, tree, "quick"), print)
        logs.append(sorted(read.findall((project.build / "logs/render.log").read_text())))
        (project.build / "logs/render.log").write_text("")
    assert logs == [["book/index", "book/other"], [], ["book/index"]]


@pytest.mark.slow
def test_plates_are_drawn_beside_the_page(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("# Title\n\n{{ noisyhead }}\n", "utf-8")
    for page in (tmp_path / f"{name}.md" for name in set(PAGES) - {"index"}):
        page.parent.mkdir(exist_ok=True)
        page.write_text("# Title\n", "utf-8")
    staging.fill(OURS, OURS.book, tmp_path, tmp_path / "kept")
    text = (tmp_path / "index.md").read_text("utf-8")
    assert "```{figure} figures/index-noisyhead.svg\n:name: index-noisyhead\n:alt: " in text
    assert (tmp_path / "figures" / "index-noisyhead.narrow.svg").is_file()


# the reference


def test_a_page_has_each_public_module_of_its_package_and_all_but_the_index_are_written(project: Project) -> None:
    (project.root / "lib" / project.package / "overview/_private.py").write_text('"""Not shown."""\n')
    index, overview = (f"book/reference/{name}" for name in ("index", "overview"))
    with (project.root / "_toc.yml").open("a") as contents:
        contents.write(f"- file: {index}\n- file: {overview}\n")
    staging.write_reference(project)
    assert staging.reference_pages(project) == [overview]
    assert not (project.root / f"{index}.md").exists()
    text = (project.root / f"{overview}.md").read_text()
    assert text.startswith("# overview\n")
    assert [line.split("`")[1] for line in text.splitlines() if line.startswith("## ")] == ["index", "saved"]
    assert f".. automodule:: {project.package}.overview.saved\n   :members:" in text


def test_the_committed_pages_are_those_that_the_library_makes_now() -> None:
    for entry in staging.reference_pages(OURS):
        made = staging.reference_page(OURS.library, entry.removeprefix(staging.REFERENCE))
        assert (OURS.root / f"{entry}.md").read_text("utf-8") == made, "run `make refresh`"


def test_a_reference_begins_with_what_the_package_s_words_name_first() -> None:
    found = staging.reference_page(OURS.library, "estimators")
    assert found.index("## `automatic`") < found.index("## `descent`") < found.index("## `account`")


def test_the_book_s_reference_has_every_package_of_the_library() -> None:
    pages = {entry.removeprefix(staging.REFERENCE) for entry in toc_entries(OURS) if "/reference/" in entry}
    packages = {module.name for module in pkgutil.iter_modules(costofprivacy.__path__) if module.ispkg}
    assert packages == pages - {"index"}
