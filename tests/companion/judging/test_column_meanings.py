"""Every column of every committed table has a line for a reader, every line is needed, and none says another again."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from companion.judging import column_meanings
from companion.judging.column_meanings import Dictionary, Entry, Place

BOOK = Path(__file__).parents[3] / "book"
TEXT = """
columns:
  N: {unit: prompts, meaning: Number of prompts.}
  risk: {unit: units of y², meaning: Risk.}
  unneeded: Nothing.
chapters:
  part/one:
    columns:
      risk: {unit: units of y², meaning: Half the risk.}
      word: A word.
    tables:
      figure-1:
        row: One row for each size.
        columns:
          risk: {unit: units of y², meaning: Largest risk.}
          left: Left over.
      figure-2:
        row: One row for each word.
      figure-9:
        row: One row for nothing.
"""
TABLES = {"figure-1": ["N", "risk", "word"], "figure-2": ["N", "risk", "word"]}


@pytest.fixture(scope="module")
def told() -> Dictionary:
    return column_meanings.find(BOOK)


@pytest.fixture
def made() -> Dictionary:
    return column_meanings.read(TEXT)


Columns = dict[str, dict[str, list[str]]]  # of each table, by chapter


def committed(book: Path) -> Columns:
    found: Columns = {}
    for path in sorted(book.rglob("*.csv")):
        columns = list(pd.read_csv(path, nrows=0).columns)
        found.setdefault(path.parent.relative_to(book).as_posix(), {})[path.stem] = columns
    return found


def places(book: Columns) -> Iterator[Place]:
    """The columns, and with an empty column the tables."""
    for chapter, tables in book.items():
        for table, columns in tables.items():
            yield from ((chapter, table, column) for column in ("", *columns))


def missing(known: Dictionary, book: Columns) -> list[Place]:
    found = places(book)
    return [place for place in found if not (known.place(*place) if place[2] else known.row(*place[:2]))]


def unused(known: Dictionary, book: Columns) -> list[Place]:
    used = {known.place(*place) if place[2] else place for place in places(book)}
    return [place for place in (*known.lines, *((*table, "") for table in known.rows)) if place not in used]


def repeated(known: Dictionary) -> list[Place]:
    found = []
    for chapter, table, column in (place for place in known.lines if place[0]):
        wider = known.place(chapter if table else "", "", column)
        if wider and known.lines[wider] == known.lines[chapter, table, column]:
            found.append((chapter, table, column))
    return found


# what the book has


def test_every_column_and_every_table_of_the_book_has_a_line_and_no_line_is_left_over(told: Dictionary) -> None:
    book = committed(BOOK)
    assert book["noisyhead/low-dimensional"]["figure-1"][0] == "setting"
    assert missing(told, book) == []
    assert unused(told, book) == []
    assert repeated(told) == []


# what is found out


def test_the_most_particular_line_is_taken(made: Dictionary) -> None:
    assert made.entry("part/one", "figure-1", "risk").meaning == "Largest risk."
    assert made.entry("part/one", "figure-2", "risk").meaning == "Half the risk."
    assert made.entry("part/two", "figure-1", "risk") == Entry("Risk.", "units of y²")
    with pytest.raises(KeyError, match=r"a column must have a line in columns.yml, got none for 'd' of part/one/x.csv"):
        made.entry("part/one", "x", "d")


def test_a_line_that_is_missing_or_left_over_is_found_out(made: Dictionary) -> None:
    book = {"part/one": {"figure-1": ["N", "d"], "figure-3": ["N"]}}
    assert missing(made, book) == [("part/one", "figure-1", "d"), ("part/one", "figure-3", "")]
    assert missing(made, {"part/one": TABLES}) == []
    assert unused(made, {"part/one": TABLES}) == [
        ("", "", "risk"),
        ("", "", "unneeded"),
        ("part/one", "figure-1", "left"),
        ("part/one", "figure-9", ""),
    ]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("Half the risk", "Risk", ("part/one", "", "risk")),
        ("Largest risk", "Half the risk", ("part/one", "figure-1", "risk")),
        ("left: Left over", "word: A word", ("part/one", "figure-1", "word")),
    ],
)
def test_a_line_that_says_a_wider_one_again_is_found_out(old: str, new: str, place: tuple[str, str, str]) -> None:
    assert repeated(column_meanings.read(TEXT)) == []
    assert repeated(column_meanings.read(TEXT.replace(old, new))) == [place]


# what a reader sees


def test_a_table_s_dictionary_is_a_data_frame(made: Dictionary) -> None:
    found = made.frame("part/one", "figure-1", ["word", "N"])
    assert found.to_dict("records") == [
        {"name": "word", "unit": "", "meaning": "A word."},
        {"name": "N", "unit": "prompts", "meaning": "Number of prompts."},
    ]


def test_a_book_without_a_dictionary_has_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "claims.yml").write_text("claims: []\n")
    assert column_meanings.find(tmp_path) == Dictionary()
    (tmp_path / "columns.yml").write_text(TEXT)
    assert column_meanings.find(tmp_path).row("part/one", "figure-2") == "One row for each word."
    assert column_meanings.find(tmp_path).row("part/one", "figure-3") == ""
