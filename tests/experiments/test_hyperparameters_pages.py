import numpy as np
import pandas as pd
import pytest

from costofprivacy.experiments.dpgd.hyperparameters import figures, figures_rates, page, tables
from tests.experiments.reading import opening_of
from tests.experiments.verdicts.machinery import change, committed

TABLES = committed("dpgd/hyperparameters")


@pytest.mark.slow
def test_the_answer_follows_the_tables() -> None:
    found = opening_of(page)(TABLES)
    assert "none fails" in found
    dear = change(TABLES["valley"], "line_risk", lambda rows: 7 * rows["risk"])
    assert "has 7 to" in opening_of(page)(TABLES | {"valley": dear})
    worse = change(TABLES["limit"], "risk_mean", lambda rows: 3 * rows["ode_risk"])
    assert "1 does not hold" in opening_of(page)(TABLES | {"limit": worse})


def test_agreement_counts_points_within_four_standard_errors() -> None:
    places = pd.DataFrame({"gamma": 0.01, "learning_rate": [1.0, 2.0, 200.0, 1.0]})
    table = places.assign(ode_risk=[0.5, 0.5, 0.5, 5.0], risk_sd=0.1, trials=4, risk_mean=[0.6, 0.9, 0.55, 9.0])
    share, kink = figures.agreement(table)
    assert share == 0.5
    assert kink == pytest.approx(0.1)


def test_powers_of_the_logarithm_are_those_of_the_rows() -> None:
    inverse = np.array([1e4, 1e8, 1e12])
    rows = pd.DataFrame({"inverse": inverse, "gamma": 1 / inverse, "best_risk": np.log(inverse) ** 0.7 / inverse})
    assert figures_rates.log_slope(rows) == pytest.approx(0.7)


def test_costs_are_over_the_least_risk_of_all_clips() -> None:
    group = TABLES["valley"].query("rho == 0.1 and alpha == 0 and gamma == 0.001")
    row = tables.advice(group).iloc[0]
    assert row["best"] == group["risk"].min()
    assert row["one"] == group.query("clip == 1")["risk"].item() / row["best"]
    assert row["line"] == group.query("clip == 0.1")["line_risk"].item() / row["best"]
