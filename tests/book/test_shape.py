"""Every chapter has the shape of a page that answers first (DESIGN.md, *A page*)."""

import re
from pathlib import Path

import pytest
from nbformat import NotebookNode

from companion.build import notebooks
from companion.build.project import LEDGER, Project, chapters, is_plain, place
from companion.judging.claims import read_register
from companion.judging.findings import word_count
from tests.each import each

PROJECT = Project(Path(__file__).parents[2])
NAMES = [name for name in chapters(PROJECT) if name != LEDGER and not is_plain(PROJECT, name)]
CLAIMS = [claim for claim in read_register(PROJECT.claims).values() if not claim.pending]
JUDGING = sorted({claim.chapter for claim in CLAIMS})
MOST_WORDS_BEFORE_A_FIGURE = 150

each_chapter = pytest.mark.parametrize("name", NAMES)


def cells(name: str) -> list[NotebookNode]:
    return notebooks.read(place(PROJECT.book, name).notebook).cells


def markdown_of(cell: NotebookNode) -> str:
    """What a reader sees of a cell's prose: its source, or the Markdown that it printed."""
    if cell.cell_type == "markdown":
        return cell.source
    return "\n".join(output.get("data", {}).get("text/markdown", "") for output in cell.outputs)


def place_of(name: str, call: str) -> int:
    """The first cell that makes a call."""
    return next(i for i, cell in enumerate(cells(name)) if cell.cell_type == "code" and call in cell.source)


@each_chapter
def test_a_chapter_opens_with_its_question_its_answer_and_a_figure(name: str) -> None:
    opening, figure = place_of(name, ".opening()"), place_of(name, ".show(")
    assert opening < figure
    before = " ".join(markdown_of(cell) for cell in cells(name)[:figure])
    assert word_count(before) <= MOST_WORDS_BEFORE_A_FIGURE


@each("name", JUDGING)
def test_a_judging_chapter_leads_with_two_to_four_cards_after_its_figure(name: str) -> None:
    leading = place_of(name, ".leading(")
    assert leading == place_of(name, ".show(") + 1
    claimed = sum(claim.chapter == name for claim in CLAIMS)
    assert min(2, claimed) <= len(re.findall(r'"[\w.-]+"', cells(name)[leading].source)) <= 4
    assert place_of(name, ".all_claims()") > leading


@each_chapter
def test_a_chapter_shows_its_settings_and_what_can_be_taken_away(name: str) -> None:
    assert place_of(name, ".parameters()") < place_of(name, ".closing()")
