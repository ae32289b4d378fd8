"""Pages of claims, and pages whose prose has values."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from companion.build import staging
from companion.build.project import BookError, Project, place
from companion.judging.claims import read_register

NAME = "part/first-one"
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
OURS = Project(Path(__file__).parents[2])
CLAIMS = [claim for claim in read_register(OURS.claims).values() if not claim.pending]
JUDGING = sorted({claim.chapter for claim in CLAIMS})


def finding(claim: str, verdict: str, headline: str, table: str) -> dict[str, object]:
    numbers = [{"name": "ratio", "value": 2.0, "error": None, "against": None, "table": table, "row": "all"}]
    return {
        "claim": claim,
        "verdict": verdict,
        "headline": headline,
        "numbers": numbers,
        "consequence": "none",
        "would_change": "More.",
    }


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


def test_a_changed_claim_and_a_changed_finding_change_the_page(judged: Project) -> None:
    before = staging.claims_page(judged, judged.book, NAME)
    judged.claims.write_text(REGISTER.replace("says: so", "says: never so"))
    assert staging.claims_page(judged, judged.book, NAME) != before
    judged.claims.write_text(REGISTER)
    verdicts = place(judged.book, NAME).verdicts
    verdicts.write_text(verdicts.read_text().replace("It is thus.", "It is not."))
    assert "It is not." in staging.claims_page(judged, judged.book, NAME)


def test_the_page_is_laid_out_beside_its_chapter_with_the_edition_it_belongs_to(judged: Project) -> None:
    for preset, noted in (("paper", False), ("quick", True)):
        pages = judged.build / preset / "pages"
        place(judged.book, "ledger").results.mkdir(exist_ok=True)
        staging.stage(judged, preset, judged.book, pages)
        text = (pages / "book" / f"{NAME}-claims.md").read_text("utf-8")
        assert "Theorem 2" in text
        assert ("*quick* preset" in text) == noted
    assert not (judged.book / f"{NAME}-claims.md").exists()


def test_no_page_is_made_that_the_contents_do_not_name(project: Project) -> None:
    assert staging.chapters_with_claims(project) == []


# the book itself


def test_each_chapter_with_claims_has_a_page_of_claims() -> None:
    assert sorted(staging.chapters_with_claims(OURS)) == JUDGING


def test_every_judged_claim_has_one_card_in_the_book() -> None:
    text = "".join(staging.claims_page(OURS, OURS.book, name) for name in JUDGING)
    anchors = re.findall(r"^\((claim-.*)\)=$", text, re.MULTILINE)
    assert sorted(anchors) == sorted(claim.anchor for claim in CLAIMS)


PROJECT = Project(Path(__file__).parents[2])
PAGES = staging.filled_pages(PROJECT)

each_page = pytest.mark.parametrize("name", PAGES)


def test_places_are_filled_with_the_texts_of_their_keys() -> None:
    assert staging.filled("{{ a }} and {{ b }}, $x_{{i}}$", {"a": "one", "b": "$\\log N$"}, "x") == (
        "one and $\\log N$, $x_{{i}}$"
    )


def test_a_place_that_nothing_fills_is_refused() -> None:
    with pytest.raises(BookError, match=r"^the page x has placeholders without a value: b, c$"):
        staging.filled("{{ a }} {{ c }} {{ b }}", {"a": "one"}, "x")


def test_the_front_page_and_both_summaries_are_filled() -> None:
    assert {"index", "noisyhead-in-ten-minutes", "dpgd-in-ten-minutes"} <= set(PAGES)


@each_page
def test_a_page_uses_all_that_is_computed_for_it(name: str) -> None:
    values = staging.values_of(PROJECT, PAGES[name], PROJECT.book)
    assert set(staging.VALUE.findall((PROJECT.book / f"{name}.md").read_text("utf-8"))) == set(values)


# Code, mathematics, places to be filled, targets of links, directives, and what names a place in a paper.
UNREAD = (
    r"(`{3,}).*?\1",
    r"\$\$.*?\$\$",
    r"`[^`]*`",
    r"\$[^$]*\$",
    r"\{\{[^}]*\}\}",
    r"\]\([^)]*\)",
    r"^:[^\n]*$",
    r"^\d+\. ",
    r"arXiv [\d.v]+",
    r"(?:Algorithm|Figure|Theorem|Proposition|Section|Table)s?\s+\d[\d.]*(?:(?:,| and| to)\s+\d[\d.]*)*",
    r"(?:Assumption|Definition|Lemma|Proposition|Remark)s?\s+(?:[A-Z]\.)?\d[\d.]*",
    r"\((?:[A-Z]\.)?\d+(?:\.\d+)?\)",  # an equation
    r"predicting 0",
)


@pytest.mark.parametrize("name", sorted(set(PAGES) - {"on-a-cluster"}))
def test_a_page_of_prose_types_no_number(name: str) -> None:
    """But for what names a place in a paper, and always predicting 0. The page on the cluster is a manual."""
    text = (PROJECT.book / f"{name}.md").read_text("utf-8")
    for unread in UNREAD:
        text = re.sub(unread, " ", text, flags=re.S | re.M)
    assert re.findall(r"\d[\d.]*", text) == []


@pytest.mark.slow
def test_plates_are_drawn_beside_the_page(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("# Title\n\n{{ figure }}\n", "utf-8")
    for page in (tmp_path / f"{name}.md" for name in set(PAGES) - {"index"}):
        page.parent.mkdir(exist_ok=True)
        page.write_text("# Title\n", "utf-8")
    staging.fill(PROJECT, PROJECT.book, tmp_path)
    text = (tmp_path / "index.md").read_text("utf-8")
    assert "```{figure} figures/index-figure.svg\n:name: index-figure\n:alt: NoisyHead at" in text
    assert (tmp_path / "figures" / "index-figure.narrow.svg").is_file()
