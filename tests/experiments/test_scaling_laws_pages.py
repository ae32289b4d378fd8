"""What the page on scaling laws tells."""

import re
from collections.abc import Callable

import pandas as pd
import pytest

from costofprivacy.experiments.dpgd.scaling_laws import figures, figures_theory, page, tables
from costofprivacy.judging.headlines import words
from costofprivacy.showing.plates import Plate
from tests.experiments.reading import check_plate, check_table
from tests.experiments.verdicts.machinery import change, committed

T = committed("dpgd/scaling-laws")


def test_the_answer_follows_the_tables() -> None:
    found = page.answer(T)
    assert words(found) <= 60
    assert "none fails" in found
    dearer = page.answer(T | {"cost": change(T["cost"], "ratio", lambda r: r["ratio"] + 1)})
    assert dearer != found
    worse = page.answer(T | {"exponents": change(T["exponents"], "best_h", lambda r: r["h"] + 0.1)})
    assert "none fails" not in worse


PLATES: dict[str, Callable[[], Plate]] = {
    "figure-2": lambda: figures.draw_figure_2(T["figure-2"], T["slopes"], T["fits"]),
    "figure-3": lambda: figures.draw_figure_3(T["figure-3"], T["slopes"], T["fits"]),
    "slopes-2": lambda: figures.draw_slopes(T["figure-2"], T["fits"], T["slopes"]),
    "slopes-3": lambda: figures.draw_slopes(T["figure-3"], T["fits"], T["slopes"]),
    "approach": lambda: figures.draw_approach(T["slopes"], T["approach"], T["settled"], T["figure-3"]),
    "cost": lambda: figures_theory.draw_cost(T["cost"]),
    "critical": lambda: figures_theory.draw_critical(T["critical"]),
    "panels": lambda: figures_theory.draw_panels(T["panels"]),
    "logarithm": lambda: figures_theory.draw_logarithm(T["logarithm"]),
}


@pytest.mark.parametrize("name", PLATES)
def test_words_of_plates_are_computed_and_typeset(name: str) -> None:
    check_plate(PLATES[name]())


def test_captions_follow_their_tables() -> None:
    never = T["settled"].assign(settles_at=[float("nan"), *T["settled"]["settles_at"][1:]])
    caption = figures.draw_approach(T["slopes"], T["approach"], never, T["figure-2"]).caption
    assert re.search(r"Of 32 curves 31 end", caption)
    flat = figures_theory.draw_cost(T["cost"].assign(ratio=1.5)).caption
    assert "grows from 1.5 to 1.5" in flat
    costly = figures_theory.draw_panels(T["panels"].assign(e3=lambda t: t["e3"] - 0.4)).caption
    assert "Figure 10 costly" in costly
    capped = T["figure-2"].assign(at_cap=True)
    assert "36 points at the cap" not in figures.draw_figure_2(T["figure-2"], T["slopes"], T["fits"]).caption
    assert "72 points at the cap" in figures.draw_figure_2(capped, T["slopes"], T["fits"]).caption


SHOWN: dict[str, Callable[[], pd.DataFrame]] = {
    "decades": lambda: tables.show_decades(T["slopes"], T["figure-2"], 0.5),
    "settled": lambda: tables.show_settled(T["settled"], T["figure-3"]),
    "starts": lambda: tables.show_starts(T["starts"]),
    "theorem": lambda: tables.show_theorem(T["powers"]),
    "clips": lambda: tables.show_clips(T["clips"]),
    "check": lambda: tables.show_check(T["check"]),
}


@pytest.mark.parametrize("name", SHOWN)
def test_tables_are_for_readers(name: str) -> None:
    check_table(SHOWN[name](), rows=2)


def test_the_decades_name_the_cap() -> None:
    assert tables.show_decades(T["slopes"], T["figure-2"], 0.5).to_csv().count("cap") == 3
