"""What the chapter on the mechanism measures: against formulas written out, and other parameters."""

import math

import numpy as np
import pandas as pd
import pytest

from chapters.noisyhead.mechanism import measure
from chapters.noisyhead.mechanism.measure import Experiment
from companion.judging.tables import pick, select
from companion.running.montecarlo import Runner
from costofprivacy.settings import Setting
from tests import oracles
from tests.chapters.reading import check_page

SMALL = {"N": (60, 30), "D": 3, "T": (2, 1, 8), "pairs": 200, "trials": 3}


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return Experiment(**SMALL).run(Runner(1))


def test_the_printed_noise_is_written_as_it_stands(tables: dict[str, pd.DataFrame]) -> None:
    cell = Experiment(**SMALL).cells[1]
    hyper = cell.hyper[Setting.PRINTED]
    row = pick(tables["noise"], setting="printed", N=30)
    sigma = 2 * hyper.feature_bound * (hyper.clip_norm + hyper.weight_bound * hyper.feature_bound)
    T = hyper.steps
    variance = 2 * hyper.learning_rate**2 * T**2 * sigma**2 * math.log(1.25 * T / 1e-5) / 30**2
    assert row["printed_std"] == pytest.approx(math.sqrt(variance))
    assert row["step_norm"] == pytest.approx(3 * math.sqrt(variance))
    assert row["T"] == T
    assert row["weight_bound"] == hyper.weight_bound


def test_a_contribution_is_that_of_the_definition() -> None:
    rng = np.random.default_rng(4)
    hyper = Experiment().cells[0].hyper[Setting.CORRECTED]
    tokens = rng.standard_normal((3, 5))
    tokens, query = tokens / np.linalg.norm(tokens, axis=1, keepdims=True), np.eye(5)[2]
    Gamma = rng.standard_normal((5, 5))
    drawn = measure.together([measure.neighbour(6, token, query, -measure.FAR) for token in tokens])
    found = measure.contributions(Gamma, drawn, hyper)
    for x, y, contribution in zip(drawn.x, drawn.y, found, strict=True):
        Z = oracles.statistic(x, y, hyper.clip_norm, hyper.feature_bound)
        np.testing.assert_allclose(contribution, (((Gamma * Z).sum() + hyper.clip_norm) * Z).reshape(-1), rtol=1e-12)


def test_the_built_pair_attains_the_exact_sensitivity_and_no_random_pair_exceeds_it(
    tables: dict[str, pd.DataFrame],
) -> None:
    table = tables["sensitivity"]
    np.testing.assert_allclose(table["constructed"], table["exact"], rtol=1e-9)
    assert (table["largest_found"] <= table["exact"] * (1 + 1e-12)).all()
    assert (table["largest_found"] > 0.5 * table["exact"]).all()
    assert (table["exact"] <= table["bound"]).all()


def test_one_step_is_the_same_in_both_exact_views(tables: dict[str, pd.DataFrame]) -> None:
    table = tables["composition"]
    every, last = (pick(table, accounting=view, T=1) for view in (measure.EVERY, measure.LAST))
    assert every["epsilon"] == pytest.approx(last["epsilon"])
    assert every["noise_multiplier"] == pytest.approx(last["noise_multiplier"])
    assert list(select(table, accounting=measure.CLAIMED)["T"]) == [2, 1, 8]
    assert (select(table, accounting=measure.CLAIMED)["epsilon"] == 1).all()
    assert (table["contraction"] < 1).all()


def test_descent_rests_where_the_gradient_says(tables: dict[str, pd.DataFrame]) -> None:
    for name, value in ((measure.GRADIENT, 0), (measure.DOUBLE, 0), (measure.HALVED, 0)):
        np.testing.assert_allclose(select(tables["minimisers"], check=name)["value"], value, atol=1e-12)
    assert select(tables["minimisers"], check=measure.SINGLE)["value"].between(0.3, 0.51).all()
    assert select(tables["minimisers"], check=measure.NORM)["value"].between(0.49, 0.7).all()


@pytest.mark.slow
def test_the_page_shows_other_parameters(tables: dict[str, pd.DataFrame]) -> None:
    check_page("noisyhead/mechanism", tables)
