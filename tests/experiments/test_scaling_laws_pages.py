"""What the page on scaling laws tells."""

import re

import pytest

from costofprivacy.experiments.dpgd.scaling_laws import figures, figures_theory, page, tables
from tests.experiments.reading import opening_of
from tests.experiments.verdicts.machinery import change, committed

T = committed("dpgd/scaling-laws")


@pytest.mark.slow
def test_the_answer_follows_the_tables() -> None:
    found = opening_of(page)(T)
    assert "none fails" in found
    dearer = opening_of(page)(T | {"cost": change(T["cost"], "ratio", lambda r: r["ratio"] + 1)})
    assert dearer != found
    worse = opening_of(page)(T | {"exponents": change(T["exponents"], "best_h", lambda r: r["h"] + 0.1)})
    assert "none fails" not in worse


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


def test_the_decades_name_the_cap() -> None:
    assert tables.show_decades(T["slopes"], T["figure-2"], 0.5).to_csv().count("cap") == 3
