"""The tutorial page and its worked examples: short, their numbers compared, and linked to where a reader goes next."""

import re
from pathlib import Path
from typing import Any

import pytest

from costofprivacy.book import notebooks
from costofprivacy.book.project import Project, is_plain, place

PROJECT = Project(Path(__file__).parents[2])
TUTORIAL, EXAMPLES = "your-data", ("examples/categories", "examples/heavy-tails", "examples/streams")
PAGES = (TUTORIAL, *EXAMPLES)
MOST_LINES, MOST_WORDS = 110, 1800  # code and prose of a page of about ten minutes
NEXT = ("method.ipynb", "privacy/how-much-noise.ipynb", "privacy/what-this-does-not-protect.ipynb", "security.md")


def page(name: str) -> Any:
    return notebooks.read(place(PROJECT.book, name).notebook)


def prose(name: str) -> str:
    return "\n".join(cell.source for cell in page(name).cells if cell.cell_type == "markdown")


@pytest.mark.parametrize("name", PAGES)
def test_it_is_short_and_shows_its_code(name: str) -> None:
    assert is_plain(PROJECT, name)
    lines = [line for cell in notebooks.code_cells(page(name)) for line in cell.source.splitlines() if line.strip()]
    assert len(lines) <= MOST_LINES
    assert len(prose(name).split()) <= MOST_WORDS
    shown = notebooks.for_readers(page(name))
    drawing = [cell for cell in notebooks.code_cells(shown) if "mystnb" in cell.metadata]
    assert all(notebooks.FOLDED not in notebooks.tags(cell) for cell in notebooks.code_cells(shown))
    assert name == "examples/streams" or drawing
    for cell in drawing:
        assert len(cell.metadata["mystnb"]["figure"]["caption"]) > 50
        assert len(cell.metadata["mystnb"]["image"]["alt"]) > 50


@pytest.mark.parametrize("name", PAGES)
def test_every_printed_number_is_compared(name: str) -> None:
    cells = notebooks.code_cells(page(name))
    printing = [cell for cell in cells if any("text" in output for output in cell.outputs)]
    assert len(printing) >= 3
    assert all("nbval-check-output" in notebooks.tags(cell) for cell in printing)


@pytest.mark.parametrize("name", PAGES)
def test_no_interval_that_is_shown_is_empty(name: str) -> None:
    said = "".join(output.get("text", "") for cell in notebooks.code_cells(page(name)) for output in cell.outputs)
    assert not re.search(r"(coef|coefficient).*\n(.*\n)*?\S+.* NaN +NaN", said)


def test_the_tutorial_begins_with_the_installation_and_leads_on() -> None:
    text = prose(TUTORIAL)
    assert text.index("pip install .") < text.index("## ")
    assert text.index("python -m costofprivacy self-test") < text.index("## ")
    for target in (*NEXT, *(f"{name}.ipynb" for name in EXAMPLES)):
        assert f"]({target})" in text


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_leads_back(name: str) -> None:
    assert "](../your-data.ipynb)" in prose(name)


@pytest.mark.parametrize("name", NEXT)
def test_the_pages_that_it_leads_to_lead_back(name: str) -> None:
    back = "../your-data.ipynb" if "/" in name else "your-data.ipynb"
    assert f"]({back})" in (PROJECT.book / name).read_text("utf-8")
