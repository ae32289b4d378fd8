import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from costofprivacy.experiments.dpgd.deterministic_equivalent import figures, figures_reach, page, tables
from tests.experiments.reading import opening_of
from tests.experiments.verdicts.machinery import change, committed

TABLES = committed("dpgd/deterministic-equivalent")


@pytest.mark.slow
def test_the_answer_follows_the_tables() -> None:
    found = opening_of(page)(TABLES)
    assert "none fails" in found
    stays = TABLES["rates"].assign(value=lambda rows: rows["value"].abs() * np.sqrt(rows["n"]))
    other = opening_of(page)(TABLES | {"rates": stays})
    assert "none fails" not in other
    assert re.search(r"\d do not hold", other)
    wider = change(TABLES["figure-1"], "risk_sd", lambda rows: 2 * rows["ode_risk"], TABLES["figure-1"]["d"] == 1000)
    assert "200 % in dimension 1000" in opening_of(page)(TABLES | {"figure-1": wider})


@pytest.mark.slow
def test_a_single_dimension_is_named_once() -> None:
    table = TABLES["figure-1"]
    assert opening_of(page)(TABLES | {"figure-1": table[table["d"] == 100]}).count("in dimension") == 1


def test_runs_stray_by_bias_and_spread() -> None:
    row = {"t": 1.0, "spectrum": "isotropic", "alpha": 0.0, "d": 10, "risk_mean": 0.5, "risk_sd": 0.4, "ode_risk": 0.2}
    table = pd.DataFrame([row, row | {"t": 0.5, "risk_mean": 9.0}])
    assert page.released_strays(table).tolist() == pytest.approx([2.5])


def test_the_caption_on_rates_tells_what_falls_too_slowly() -> None:
    rates = TABLES["rates"]
    assert "All fall faster than the claimed bound" in figures.draw_rates(rates).caption
    level = change(rates, "value", lambda rows: 0.05, (rates["quantity"] == "path") & (rates["schedule"] == "constant"))
    caption = figures.draw_rates(level).caption
    assert "Not all fall as fast as the claimed bound" in caption
    assert re.search(r"\$n\^\{-?0\.00\}\$ \(constant\)", caption)


def test_the_claimed_bound_is_drawn_with_its_own_shape() -> None:
    axes = figures.draw_rates(TABLES["rates"]).figure.axes[0]
    dotted = next(line for line in axes.lines if line.get_linestyle() == ":")
    n, value = dotted.get_data()
    np.testing.assert_allclose(value / value[0], np.log(n) ** 2 / np.sqrt(n) / (np.log(n[0]) ** 2 / np.sqrt(n[0])))


def test_the_power_of_the_bound_is_that_between_its_ends() -> None:
    rows = pd.DataFrame({"n": [100, 10, 1000], "bound": [7.0, 1.0, 10.0]})
    assert figures.bound_power(rows) == pytest.approx(0.5)


def test_the_caption_on_the_diffusion_follows_the_drift() -> None:
    table = TABLES["homogenised"]
    assert "as derived it falls faster than as printed" in figures.draw_homogenised(table).caption
    swapped = table.assign(
        quantity=table["quantity"].replace(
            {"risk, derived drift": "risk, printed drift", "risk, printed drift": "risk, derived drift"}
        )
    )
    assert "as derived it falls more slowly than as printed" in figures.draw_homogenised(swapped).caption


def test_the_caption_on_reach_tells_runs_that_diverge() -> None:
    table = TABLES["axes"]
    assert "no run diverges" in figures_reach.draw_axes(table).caption
    wild = change(table, "diverged", lambda rows: 1, table["value"] == 1000.0)
    assert f"runs diverge at {int((table['value'] == 1000.0).sum())} points" in figures_reach.draw_axes(wild).caption


def test_what_is_released_is_drawn_on_the_prediction() -> None:
    panel: Axes = figures_reach.draw_axes(TABLES["axes"]).figure.axes[1]
    rows = TABLES["axes"].query("axis == 'c'").sort_values("value")
    np.testing.assert_array_equal(panel.lines[0].get_ydata(), rows["ode_released"])
    np.testing.assert_array_equal(panel.containers[0][0].get_ydata(), rows["risk_released"])


def test_the_enclosure_lists_cases_above_the_cap_alone() -> None:
    shown = tables.show_enclosure(TABLES["enclosure"])
    assert set(shown.index.get_level_values("η̃(0)γ/2")) == {"3"}
