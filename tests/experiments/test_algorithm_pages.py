import numpy as np
import pandas as pd
import pytest

from costofprivacy.experiments.dpgd.algorithm import figures, figures_rates, page
from tests.experiments.reading import opening_of
from tests.experiments.verdicts.machinery import change, committed

TABLES = committed("dpgd/algorithm")


def test_the_answer_follows_the_tables() -> None:
    found = opening_of(page)(TABLES)
    assert "none fails" in found
    placement = TABLES["placement"]
    level = change(placement, "excess_risk", lambda rows: 0.3)
    assert "multiplies the risk of (4.2) by 1 for" in opening_of(page)(TABLES | {"placement": level})
    spent = change(TABLES["outputs"], "renyi_share", lambda rows: 2.0, TABLES["outputs"].index[:1])
    assert "1 does not hold" in opening_of(page)(TABLES | {"outputs": spent})


def test_placements_are_held_against_4_2_schedule_by_schedule() -> None:
    rows = [("a", page.OURS, 0.5), ("a", page.EVEN, 1.0), ("b", page.OURS, 2.0), ("b", page.EVEN, 1.0)]
    factors = page.placement_factors(pd.DataFrame(rows, columns=["schedule", "placement", "excess_risk"]))
    assert factors[page.EVEN].tolist() == [2.0, 0.5]
    assert factors[page.OURS].tolist() == [1.0, 1.0]


def test_the_caption_on_the_noise_tells_a_better_placement() -> None:
    noise, placement = TABLES["noise"], TABLES["placement"]
    assert "No placement is better." in figures.draw_noise(noise, placement).caption
    better = change(placement, "above", lambda rows: -5 * rows["above_error"], placement["placement"] == page.EVEN)
    assert "A better placement was found." in figures.draw_noise(noise, better).caption


def test_the_caption_on_expansion_follows_what_was_found() -> None:
    stretched = change(TABLES["expansion"], "shortened", lambda rows: 1.7, TABLES["expansion"]["product"] == 4)
    assert "it is at most 1.7." in figures.draw_expansion(stretched).caption


def test_growth_is_from_the_least_to_the_largest_n() -> None:
    rates = TABLES["rates"]
    factors = figures_rates.growth_factors(rates)
    first, last = rates.loc[rates["axis"] == "n", "n"].agg(["min", "max"])
    assert factors["log n"] == pytest.approx(np.log(last) / np.log(first))
    assert factors["(1.4)"] == pytest.approx(1, rel=1e-3)
    where = (rates["axis"] == "n") & (rates["n"] == last)
    doubled = change(rates, "excess_risk", lambda rows: 2 * rows["excess_risk"], where)
    assert figures_rates.growth_factors(doubled)["c constant"] == pytest.approx(2 * factors["c constant"])


def test_the_line_of_1_4_is_the_largest_multiple_of_the_limit() -> None:
    rows = pd.DataFrame({"limit": [1.0, 6.0], "rate_1.4": [1.0, 2.0]})
    assert figures_rates.derived_multiple(rows) == 3.0
    panel = figures_rates.draw_rates(TABLES["rates"]).figure.axes[0]
    line = next(line for line in panel.lines if line.get_label() == "derived multiple of (1.4)")
    x, y = line.get_data()
    assert y[1] / y[0] == pytest.approx(x[1] / x[0])


def test_far_ends_are_those_of_the_axes() -> None:
    bounds = TABLES["lower-bounds"]
    ends = list(figures_rates.bound_ends(bounds).values())
    strict = bounds[(bounds["axis"] == "rho") & (bounds["claim"] == "(1.5)")]
    assert ends[2] == strict.loc[strict["rho"].idxmin(), "ratio"]
