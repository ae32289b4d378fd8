"""Every column of every committed table has a line for a reader, every line is needed, and none says another again."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from costofprivacy.judging import column_meanings
from costofprivacy.judging.column_meanings import Dictionary, Entry

BOOK = Path(__file__).parents[2] / "book"
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
MACHINE = re.compile(r"[`_]|\w\.\w+\(|\bNaN\b|\b(True|False|None)\b")


@pytest.fixture(scope="module")
def told() -> Dictionary:
    return column_meanings.find(BOOK)


@pytest.fixture
def made() -> Dictionary:
    return column_meanings.read(TEXT)


def lines(told: Dictionary) -> Iterator[tuple[str, Entry]]:
    """Every line with where it stands, the sentences of tables among them."""
    yield from told.columns.items()
    for chapter, part in told.chapters.items():
        yield from ((f"{chapter}: {name}", entry) for name, entry in part.columns.items())
        for name, table in part.tables.items():
            yield f"{chapter}/{name}", Entry(table.row)
            yield from ((f"{chapter}/{name}: {column}", entry) for column, entry in table.columns.items())


# what the book has


def test_every_column_and_every_table_of_the_book_has_a_line(told: Dictionary) -> None:
    assert column_meanings.missing(told, column_meanings.committed(BOOK)) == []


def test_every_line_is_needed(told: Dictionary) -> None:
    assert column_meanings.unused(told, column_meanings.committed(BOOK)) == []


def test_no_line_says_a_wider_one_again(told: Dictionary) -> None:
    assert column_meanings.repeated(told) == []


def test_lines_are_sentences_without_the_names_of_a_machine(told: Dictionary) -> None:
    for place, entry in lines(told):
        words = re.sub(r"\$[^$]*\$", "", entry.meaning)
        assert re.fullmatch(r"[A-Z0-9$].*\.", entry.meaning), place
        assert "$" not in words, place
        assert not MACHINE.search(words), place
        assert not re.search(r"[_`$.]", entry.unit), place


def test_a_line_stands_alone(told: Dictionary) -> None:
    """It is read without those beside it."""
    lost = [
        place
        for place, entry in lines(told)
        if re.match(r"(The same|That|Its|It|The (former|latter))\b", entry.meaning)
    ]
    assert lost == []


def test_a_table_s_sentence_says_what_a_row_is(told: Dictionary) -> None:
    for chapter, part in told.chapters.items():
        for name, table in part.tables.items():
            assert table.row.startswith("One row"), f"{chapter}/{name}"


# what is found out


def test_the_most_particular_line_is_taken(made: Dictionary) -> None:
    assert made.entry("part/one", "figure-1", "risk").meaning == "Largest risk."
    assert made.entry("part/one", "figure-2", "risk").meaning == "Half the risk."
    assert made.entry("part/two", "figure-1", "risk") == Entry("Risk.", "units of y²")
    with pytest.raises(KeyError, match=r"a column must have a line in columns.yml, got none for 'd' of part/one/x.csv"):
        made.entry("part/one", "x", "d")


def test_a_missing_line_is_found_out(made: Dictionary) -> None:
    book = {"part/one": {"figure-1": ["N", "d"], "figure-3": ["N"]}}
    assert column_meanings.missing(made, book) == [("part/one", "figure-1", "d"), ("part/one", "figure-3", "")]
    assert column_meanings.missing(made, {"part/one": TABLES}) == []


def test_a_line_that_is_left_over_is_found_out(made: Dictionary) -> None:
    assert column_meanings.unused(made, {"part/one": TABLES}) == [
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
    assert column_meanings.repeated(column_meanings.read(TEXT)) == []
    assert column_meanings.repeated(column_meanings.read(TEXT.replace(old, new))) == [place]


def test_a_folder_tells_the_columns_of_its_tables(tmp_path: Path) -> None:
    (tmp_path / "part" / "one").mkdir(parents=True)
    (tmp_path / "part" / "one" / "figure-1.csv").write_text('N,"G, theorem"\n1,2\n')
    assert column_meanings.committed(tmp_path) == {"part/one": {"figure-1": ["N", "G, theorem"]}}


# what a reader sees


def test_a_page_says_once_what_means_the_same_in_all_tables(made: Dictionary) -> None:
    text = column_meanings.markdown(made, "part/one", TABLES)
    first = "<dt><code>N</code> (prompts)</dt><dd>Number of prompts.</dd>"
    opening = (
        f'````{{dropdown}} What the columns mean\n<dl class="columns tex2jax_process">\n{first}\n<dt><code>word</code>'
    )
    assert text.startswith(opening)
    for row, own in (("size", "Largest"), ("word", "Half the")):
        of_row = f"One row for each {row}. Columns: <code>N, risk, word</code>."
        assert f"<dt><code>risk</code> (units of y²)</dt><dd>{own} risk.</dd>" in text[text.index(of_row) :]
    assert text.index("<strong><code>figure-1.csv</code></strong>. One") < text.index(
        "<strong><code>figure-2.csv</code></strong>. One"
    )
    assert text.endswith("\n\n````")
    assert text.count("Number of prompts") == text.count("A word.") == 1


def test_a_page_shows_what_it_knows_and_no_more(made: Dictionary) -> None:
    text = column_meanings.markdown(made, "part/one", {"figure-1": ["N", "stranger"], "other": ["stranger"]})
    assert "Columns: <code>N, stranger</code>." in text
    assert "<strong><code>other.csv</code></strong>. Columns: <code>stranger</code>." in text
    assert column_meanings.markdown(made, "part/one", {"other": ["stranger"]}) == ""
    assert column_meanings.markdown(Dictionary(), "part/one", TABLES) == ""


def test_a_table_s_dictionary_is_a_data_frame(made: Dictionary) -> None:
    found = column_meanings.frame(made, "part/one", "figure-1", ["word", "N"])
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
