"""Every column of every committed table has a line for a reader, every line is needed, and none says another again."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from companion.judging import tables
from companion.judging.growth import LOST_POWER, LOST_POWER_SIMULATED, power, powers, stays
from companion.judging.tables import Column, Schema

BOOK = Path(__file__).parents[3] / "book"
TEXT = """
columns:
  N: {unit: prompts, meaning: Number of prompts.}
  risk: {unit: units of y², meaning: Risk.}
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
      figure-2:
        row: One row for each word.
"""


@pytest.fixture(scope="module")
def told() -> Schema:
    return tables.find_schema(BOOK)


@pytest.fixture
def made() -> Schema:
    return tables.read_schema(TEXT)


def test_every_column_and_every_table_of_the_book_has_a_line_and_no_line_is_left_over_or_repeated(told: Schema) -> None:
    places = [  # with an empty column the tables
        (path.parent.relative_to(BOOK).as_posix(), path.stem, column)
        for path in sorted(BOOK.rglob("*.csv"))
        for column in ("", *pd.read_csv(path, nrows=0).columns)
    ]
    assert [place for place in places if not (told.place(*place) if place[2] else told.row(*place[:2]))] == []
    used = {told.place(*place) if place[2] else place for place in places}
    assert {*told.lines, *((*table, "") for table in told.rows)} <= used
    for chapter, table, column in (place for place in told.lines if place[0]):
        wider = told.place(chapter if table else "", "", column)
        assert wider is None or told.lines[wider] != told.lines[chapter, table, column], (chapter, table, column)


def test_the_most_particular_line_is_taken(made: Schema) -> None:
    assert made.entry("part/one", "figure-1", "risk").meaning == "Largest risk."
    assert made.entry("part/one", "figure-2", "risk").meaning == "Half the risk."
    assert made.entry("part/two", "figure-1", "risk") == Column("Risk.", "units of y²")
    with pytest.raises(KeyError, match=r"a column must have a line in columns.yml, got none for 'd' of part/one/x.csv"):
        made.entry("part/one", "x", "d")


def test_a_book_without_a_dictionary_has_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "claims.yml").write_text("claims: []\n")
    assert tables.find_schema(tmp_path) == Schema()
    (tmp_path / "columns.yml").write_text(TEXT)
    assert tables.find_schema(tmp_path).row("part/one", "figure-2") == "One row for each word."
    assert tables.find_schema(tmp_path).row("part/one", "figure-3") == ""


# ------------------------------------------------------------------------------------------------- growth along a size


FAR = np.logspace(3, 30, 10)
SEEN = np.array([10.0, 100, 1000, 3162, 10000])


def rows(sizes: np.ndarray, ratio: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"axis": "N", "N": sizes, "left": 2 * ratio, "right": np.full(len(sizes), 3.0)})


@pytest.mark.parametrize("exponent", [-2.0, 0.0, 0.15, 0.45, 1.0])
def test_a_power_is_found_whatever_the_constant_and_the_order(exponent: float) -> None:
    table = rows(FAR, FAR**exponent).sample(frac=1, random_state=0)
    assert power(table, "N") == pytest.approx(exponent)
    assert power(table, "N", "right", "left") == pytest.approx(-exponent)


@pytest.mark.parametrize(
    ("exponent", "unsure", "sure"),
    [(0.26, 0, True), (0.24, 0, False), (0.26, 1, False), (0.26, -1, True), (0.26, -4, False)],
)
def test_what_stays_is_sure_at_the_largest_size_and_loses_a_power(exponent: float, unsure: int, sure: bool) -> None:
    table = rows(SEEN, SEEN**exponent)
    hidden = {1: [len(SEEN) - 1], -1: [0], -4: range(4), 0: []}[unsure]
    table["error"] = [left / (3.9 if i in hidden else 4.1) for i, left in enumerate(table["left"])]
    assert stays(table.sample(frac=1, random_state=0), "N", "left", "right", "error") == sure


def test_a_side_may_stand_alone() -> None:
    assert power(rows(FAR, FAR**0.5).drop(columns="right"), "N", right="") == pytest.approx(0.5)


def test_the_largest_sizes_decide() -> None:
    assert power(rows(FAR, np.where(FAR < 1e20, FAR, 1e20)), "N") == pytest.approx(0)


def test_three_logarithms_are_no_lost_power_and_a_quarter_is() -> None:
    assert 0 < power(rows(FAR, np.log(FAR) ** 3), "N") < LOST_POWER < power(rows(FAR, FAR**0.2), "N")
    lost = power(rows(SEEN, np.log(1000 * SEEN) ** 3), "N")
    assert 0.1 < lost < LOST_POWER_SIMULATED < power(rows(SEEN, SEEN**0.3), "N")


def test_a_single_size_shows_nothing() -> None:
    assert math.isnan(power(rows(FAR[:1], FAR[:1]), "N"))


def test_each_axis_has_its_own_size() -> None:
    other = rows(FAR, FAR**2).rename(columns={"N": "L"}).assign(axis="L")
    table = pd.concat([rows(FAR, FAR), other])
    assert powers(table, {"N": "N", "L": "L"}) == pytest.approx({"N": 1.0, "L": 2.0})
