"""The page on learning rate schedules says what its tables hold."""

from costofprivacy.experiments.dpgd.schedules import figures, page
from tests.experiments.reading import opening_of
from tests.experiments.verdicts.machinery import change, committed

TABLES = committed("dpgd/schedules")


def test_the_answer_follows_the_tables() -> None:
    worse = change(TABLES["gains"], "excess", lambda r: 7.0, TABLES["gains"]["family"] == "harmonic")
    assert "700 % more" in opening_of(page)(TABLES | {"gains": worse})


def test_the_caption_on_gains_follows_them() -> None:
    worse = change(TABLES["gains"], "excess", lambda r: 7.0, TABLES["gains"]["family"] == "harmonic")
    assert "700 %" in figures.draw_gains(worse).caption
    assert "700 %" not in figures.draw_gains(TABLES["gains"]).caption


def test_a_bound_that_is_never_useful_is_told() -> None:
    never = change(TABLES["theorem-2"], "bound", lambda r: 9.0)
    assert "nowhere here" in figures.draw_theorem(never, TABLES["rates"]).caption
