"""The campaign over methods: what it measures, how cases are compared."""

import numpy as np
import pandas as pd
import pytest

from chapters.privacy.best_method import campaign, committed, coverage, data, show
from companion.streams import generator
from costofprivacy import datasets

METHODS = list(campaign.METHODS.values())


def rows(excess, *, chosen=0, name=data.ISOTROPIC, constant=1.0, forecast=1.0, error=0.0, epsilon=1.0):
    """One case: excess errors of the methods, the choice, and its forecast over what was measured."""
    best = min(excess)
    return [
        {"data": name, "n": 100, "d": 3, "epsilon": epsilon, "method": METHODS[k], "chosen": k == chosen}
        | {"excess": value, "excess_error": error, "behind": value - best, "behind_error": error, "trials": 10}
        | {"constant": constant, "forecast": forecast * value, "new": value, "digest": "0"}
        | {"forecast_new": value, "plain_new": 0.5}
        for k, value in enumerate(excess)
    ]


def test_a_case_counts_if_a_private_method_beats_the_mean():
    found = show.compared(pd.DataFrame(rows([0.5, 0.6, 0.7]) + rows([1.5, 1.6, 1.7], epsilon=2.0)))
    assert found["epsilon"].tolist() == [1.0]
    assert found["ratio"].item() == 1.0
    assert found["near"].item()


@pytest.mark.parametrize(
    ("excess", "error", "near"), [(0.109, 0.0, True), (0.112, 0.0, False), (0.112, 0.007, True), (0.2, 0.04, False)]
)
def test_near_the_best_is_ten_percent_or_two_standard_errors(excess, error, near):
    found = show.compared(pd.DataFrame(rows([excess, 0.1], error=error)))
    assert bool(found["near"].item()) is near
    assert found["best"].item() == METHODS[1]
    assert found["chosen"].item() == METHODS[0]


@pytest.mark.parametrize(
    ("name", "factor", "within"),
    [(data.ISOTROPIC, 1.4, True), (data.ISOTROPIC, 1.6, False), (data.HEAVY, 0.4, True), (data.HEAVY, 0.3, False)],
)
def test_forecasts_are_held_to_the_factor_of_their_data(name, factor, within):
    found = show.compared(pd.DataFrame(rows([0.1, 0.2], name=name, forecast=factor)))
    assert bool(show.told(found).item()) is within


def test_a_trial_measures_what_it_says():
    """Excess over least squares is positive; on new records it follows from the coefficients; the mean's is known."""
    cell = campaign.Cell(data.ISOTROPIC, 500, 3, (3.0,))
    values = campaign.trial(cell, rng=generator(1, cell.key, 0))
    assert values.shape == (1, len(campaign.NAMES), len(campaign.VALUES))
    excess, new, constant, variance, plain = np.moveaxis(values[0], -1, 0)
    records = data.draw(cell.data, cell.n, cell.d, rng=generator(1, cell.key, 0))
    (theta, moment), fitted = records.truth, campaign.least_squares(records.X, records.y)
    off = fitted[:-1] - theta
    np.testing.assert_allclose(plain, off @ moment @ off + fitted[-1] ** 2)
    assert (excess > 0).all()
    assert (new > 0).all()
    assert np.ptp(constant) == np.ptp(variance) == 0
    assert constant[0] == pytest.approx(data.EXPLAINED, rel=0.2)
    assert variance[0] == pytest.approx(1.0, rel=0.2)
    assert excess[0] < 0.2 * constant[0]


@pytest.mark.parametrize("name", data.MADE)
def test_made_data_have_variance_one_and_the_stated_share(name):
    found = data.draw(name, 200_000, 3, rng=np.random.default_rng(0))
    theta, moment = found.truth
    np.testing.assert_allclose(found.X.T @ found.X / len(found.y), moment, atol=0.05)
    assert theta @ moment @ theta == pytest.approx(data.EXPLAINED)
    assert found.y.var() == pytest.approx(1.0, rel=0.05)


def test_real_data_are_clipped_to_what_is_stated():
    found = data.draw(datasets.DIABETES, 442, 10, rng=np.random.default_rng(0))
    low, high = found.public["feature_bounds"]
    assert (low <= found.X).all()
    assert (high >= found.X).all()
    assert found.truth is None


def test_what_is_stated_of_mnist_comes_from_other_digits():
    """A spectrum with the stated trace that falls like a power, and an R² in between; nothing of MNIST is looked at."""
    power, r2 = data.sibling()
    assert 1 < power < 3
    assert 0.8 < r2 < 1
    told = data.planned(datasets.MNIST, 784)
    assert told["spectrum"].sum() == pytest.approx(784)
    assert told["spectrum"][9] / told["spectrum"][0] == pytest.approx(10**-power)
    assert data.planned(datasets.HOUSING, 8) == {"expected_r2": data.STATED, "plan_for": "real"}
    for name, kind in ((data.HEAVY, "heavy-tailed"), (data.CORRELATED, "textbook")):
        assert data.planned(name, 3) == {"expected_r2": data.EXPLAINED, "plan_for": kind}


def test_the_committed_campaign_is_whole():
    found, told = committed.read("cases"), committed.read("intervals")
    assert len(found.groupby(show.KEY)) == sum(len(cell.epsilon) for cell in campaign.cells())
    assert found.groupby(show.KEY)["chosen"].sum().eq(1).all()
    assert len(told) == len(coverage.CASES)
    show.show_choices(found), show.show_forecasts(found), show.show_intervals(told)
    assert "cases" in show.draw_choices(found).caption
    assert "Coverage" in show.draw_intervals(told).caption
