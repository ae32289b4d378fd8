"""The pages of claims: made from what a chapter saved, complete, and short while nobody opens a card."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from companion.build import staging
from companion.build.project import Project, place
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
def theorem_1(tables):
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
    (package / "verdicts.py").write_text(JUDGES)
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
    assert f"{{judge}}`{judged.package}.part.first_one.verdicts:theorem_1`" in first
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
