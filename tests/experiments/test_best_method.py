"""The campaign over methods: what it measures, how cases are compared, and that its sentences can be otherwise."""

import math

import numpy as np
import pandas as pd
import pytest

from costofprivacy import datasets
from costofprivacy.experiments.privacy.best_method import (
    __main__,
    campaign,
    cases,
    committed,
    coverage,
    data,
    figures,
    page,
    tables,
)
from costofprivacy.running.montecarlo import Runner
from costofprivacy.streams import generator

METHODS = list(campaign.METHODS.values())
HOUSES = datasets.HOUSING


def rows(
    excess, *, chosen=0, name=data.ISOTROPIC, constant=1.0, forecast=1.0, new=1.0, error=0.0, epsilon=1.0, plain=0.5
):
    """One case: excess errors of the methods, the choice, and its forecast over what was measured."""
    best = min(excess)
    return [
        {"data": name, "n": 100, "d": 3, "epsilon": epsilon, "method": METHODS[k], "chosen": k == chosen}
        | {"excess": value, "excess_error": error, "behind": value - best, "behind_error": error, "trials": 10}
        | {"constant": constant, "forecast": forecast * value, "new": value, "digest": "0"}
        | {"forecast_new": new * value, "plain_new": plain}
        for k, value in enumerate(excess)
    ]


def intervals(**changed):
    row = {"data": data.ISOTROPIC, "n": 100, "d": 3, "epsilon": 1.0, "target": "truth", "trials": 1000, "valid": 1.0}
    row |= {"coverage": 0.9, "coverage_error": 0.01, "least": 0.89, "p": 0.9, "width": 1.0, "oracle": 0.1}
    return pd.DataFrame([row | changed])


def beside_all(lead):
    """One case in which another method is ahead of the choice, 0.1, by a difference with the standard error 0.001."""
    told = {"data": data.ISOTROPIC, "n": 100, "d": 3, "epsilon": 1.0, "method": "a", "excess": 0.1 - lead}
    told |= {"best": METHODS[0], "best_excess": 0.1, "behind": -lead, "behind_error": 0.001, "choice": METHODS[0]}
    told |= {"choice_excess": 0.1, "choice_behind": 0.0, "choice_behind_error": 0.001, "lead": lead}
    return pd.DataFrame([told | {"lead_error": 0.001, "constant": 1.0, "reason": "", "trials": 20}])


def good():
    found = pd.DataFrame(rows([0.1, 0.2, 0.3]) + rows([0.1, 0.2, 0.3], name=data.HEAVY) + rows([0.1, 0.2], name=HOUSES))
    again = found.assign(excess_error=0.01)
    return {"cases": found, "intervals": intervals(), "again": again, "rivals": beside_all(0.0)}


def test_a_case_counts_if_a_private_method_beats_the_mean():
    found = cases.compared(pd.DataFrame(rows([0.5, 0.6, 0.7]) + rows([1.5, 1.6, 1.7], epsilon=2.0)))
    assert found["epsilon"].tolist() == [1.0]
    assert found["ratio"].item() == 1.0
    assert found["near"].item()


@pytest.mark.parametrize(
    ("excess", "error", "near"), [(0.109, 0.0, True), (0.112, 0.0, False), (0.112, 0.007, True), (0.2, 0.04, False)]
)
def test_near_the_best_is_ten_percent_or_two_standard_errors(excess, error, near):
    found = cases.compared(pd.DataFrame(rows([excess, 0.1], error=error)))
    assert bool(found["near"].item()) is near
    assert found["best"].item() == METHODS[1]
    assert found["chosen"].item() == METHODS[0]


@pytest.mark.parametrize(
    ("name", "factor", "within"),
    [(data.ISOTROPIC, 1.4, True), (data.ISOTROPIC, 1.6, False), (data.HEAVY, 0.4, True), (data.HEAVY, 0.3, False)],
)
def test_forecasts_are_held_to_the_factor_of_their_data(name, factor, within):
    found = cases.compared(pd.DataFrame(rows([0.1, 0.2], name=name, forecast=factor)))
    assert bool(cases.told(found).item()) is within


@pytest.mark.slow
def test_each_sentence_can_be_otherwise():
    """A table for each sentence that contradicts it, and it alone among those that do not follow from it."""
    fine = page.statements(good()).sentences
    wrong = [
        {"cases": pd.DataFrame(rows([0.14, 0.1]) + rows([0.14, 0.1], name=data.HEAVY))},
        {"cases": pd.DataFrame(rows([0.2, 0.1]) * 1 + rows([0.1, 0.2], name=data.HEAVY))},
        {"rivals": beside_all(0.02)},
        {"rivals": beside_all(0.05)},
        {"cases": pd.DataFrame(rows([0.1, 0.2], forecast=2.0) + rows([0.1, 0.2], name=data.HEAVY))},
        {"cases": pd.DataFrame(rows([0.1, 0.2], new=2.0) + rows([0.1, 0.2], name=data.HEAVY))},
        {"cases": pd.DataFrame(rows([0.1, 0.2]) + rows([0.1, 0.2], name=HOUSES, forecast=9.0))},
        {"cases": pd.DataFrame(rows([0.1, 0.2]) + rows([0.1, 0.2], name=data.HEAVY, forecast=9.0))},
        {"cases": pd.DataFrame(rows([0.1, 0.2]) + rows([0.1, 0.2], name=data.HEAVY, new=9.0))},
        {"intervals": intervals(p=1e-6)},
        {"intervals": pd.concat([intervals(), intervals(target=page.LEAST_SQUARES, p=0.0)])},
        {"intervals": intervals(width=1.6)},
        {"again": good()["cases"].assign(excess=1.0, excess_error=0.01)},
    ]
    assert len(wrong) == len(fine)
    for place, changed in enumerate(wrong):
        assert page.statements(good() | changed).sentences[place] != fine[place]


def test_intervals_that_hardly_any_coefficient_has_are_told_apart():
    few = pd.concat([intervals(), intervals(valid=0.01, width=9.0, n=442)])
    assert "of the coefficients have one: " in page.read_intervals(few).data
    assert "no coefficient has one" in page.read_intervals(pd.concat([intervals(), intervals(valid=0.0)])).data
    assert "With" not in page.read_intervals(intervals()).data
    assert page.statements(good() | {"intervals": few}) == page.statements(good())


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


@pytest.mark.parametrize(("plain", "told"), [(0.5, "in 1 of 1 cases"), (0.05, "no choice predicts better")])
def test_new_records_of_heavy_tails_are_told_beside_least_squares(plain, told):
    table = pd.DataFrame(rows([0.1, 0.2], name=data.HEAVY, plain=plain) + rows([0.1, 0.2]))
    assert told in page.read_new(table).data


def test_the_rule_for_many_features_is_told_with_what_was_seen():
    wide = [row | {"d": 784} for row in rows([0.1, 0.3, 0.2])]
    assert "up to 3 times that of objective perturbation" in page.rule(pd.DataFrame(wide)).data


@pytest.mark.slow
def test_intervals_of_a_cell_are_counted():
    table = coverage.measure([coverage.Cell(data.ISOTROPIC, 3000, 3, 3.0)], 40, 5, Runner(workers=1))
    row = table.iloc[0]
    assert row["valid"] == 1.0
    assert row["coverage"] > 0.75
    assert 0.7 < row["width"] < 1.4
    none = coverage.measure([coverage.Cell(data.ISOTROPIC, 50, 10, 0.5)], 3, 5, Runner(workers=1)).iloc[0]
    assert none["valid"] == 0.0
    assert math.isnan(none["coverage"])


def test_the_committed_campaign_is_whole():
    found, told = committed.read("cases"), committed.read("intervals")
    assert len(found.groupby(cases.KEY)) == sum(len(cell.epsilon) for cell in campaign.cells())
    assert found.groupby(cases.KEY)["chosen"].sum().eq(1).all()
    assert len(told) == len(coverage.CASES)
    tables.show_choices(found), tables.show_forecasts(found), tables.show_intervals(told)
    assert "cases" in figures.draw_choices(found).caption
    assert "Coverage" in figures.draw_intervals(told).caption


def test_a_wrong_name_is_refused(capsys):
    assert __main__.main(["casses"]) == 2
    assert "casses" in capsys.readouterr().err
