"""The tutorial page: short, and what it says holds."""

from pathlib import Path

from costofprivacy.book import notebooks
from costofprivacy.book.project import Project, is_plain, place

PROJECT = Project(Path(__file__).parents[2])
MOST_LINES = 25


def test_it_is_short_and_shows_its_code() -> None:
    assert is_plain(PROJECT, "your-data")
    cells = notebooks.code_cells(notebooks.read(place(PROJECT.book, "your-data").notebook))
    lines = [line for cell in cells for line in cell.source.splitlines() if line.strip()]
    assert len(lines) <= MOST_LINES
    page = notebooks.for_readers(notebooks.read(place(PROJECT.book, "your-data").notebook))
    assert all(notebooks.FOLDED not in notebooks.tags(cell) for cell in notebooks.code_cells(page))


def test_every_printed_number_is_compared() -> None:
    cells = notebooks.code_cells(notebooks.read(place(PROJECT.book, "your-data").notebook))
    printing = [cell for cell in cells if cell.outputs]
    assert len(printing) == 4
    assert all("nbval-check-output" in notebooks.tags(cell) for cell in printing)
