"""The page on learning rate schedules says what its tables hold."""

from collections.abc import Callable

import pandas as pd
import pytest

from costofprivacy.experiments.dpgd.schedules import figures, page, tables
from costofprivacy.judging.headlines import words
from costofprivacy.showing.plates import Plate
from tests.experiments.reading import check_plate, check_table
from tests.experiments.verdicts.machinery import change, committed

TABLES = committed("dpgd/schedules")
PLATES: dict[str, Callable[[], Plate]] = {
    "figure-7": lambda: figures.draw_figure_7(TABLES["figure-7"], TABLES["optimum"]),
    "gains": lambda: figures.draw_gains(TABLES["gains"]),
    "rates": lambda: figures.draw_rates(TABLES["rates"]),
    "theorem-2": lambda: figures.draw_theorem(TABLES["theorem-2"], TABLES["rates"]),
    "small-noise": lambda: figures.draw_small_noise(TABLES["small-noise"]),
}
SHOWN: dict[str, Callable[[], pd.DataFrame]] = {
    "figure-7": lambda: tables.show_figure_7(TABLES["figure-7"]),
    "search": lambda: tables.show_search(TABLES["search"]),
    "limits": lambda: tables.show_limits(TABLES["rates"]),
    "decay": lambda: tables.show_decay(TABLES["decay"]),
    "constants": lambda: tables.show_constants(TABLES["constants"]),
}


def test_the_answer_follows_the_tables() -> None:
    found = page.answer(TABLES)
    assert words(found) <= 60
    worse = change(TABLES["gains"], "excess", lambda r: 7.0, TABLES["gains"]["family"] == "harmonic")
    assert "700 % more" in page.answer(TABLES | {"gains": worse})


@pytest.mark.parametrize("name", PLATES)
def test_words_of_plates_are_computed_and_typeset(name: str) -> None:
    check_plate(PLATES[name]())


def test_the_caption_on_gains_follows_them() -> None:
    worse = change(TABLES["gains"], "excess", lambda r: 7.0, TABLES["gains"]["family"] == "harmonic")
    assert "700 %" in figures.draw_gains(worse).caption
    assert "700 %" not in PLATES["gains"]().caption


def test_a_bound_that_is_never_useful_is_told() -> None:
    never = change(TABLES["theorem-2"], "bound", lambda r: 9.0)
    assert "nowhere here" in figures.draw_theorem(never, TABLES["rates"]).caption


@pytest.mark.parametrize("name", SHOWN)
def test_tables_are_for_readers(name: str) -> None:
    check_table(SHOWN[name]())
