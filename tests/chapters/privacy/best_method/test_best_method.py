"""The campaign over methods, and the other methods beside its four: what is measured, how cases are compared."""

import math

import numpy as np
import pandas as pd
import pytest

from chapters.privacy.best_method import __main__, campaign, committed, coverage, data, others, show
from companion.running.montecarlo import Runner
from companion.streams import generator
from costofprivacy import datasets
from costofprivacy.estimators.expected import Expected
from costofprivacy.estimators.guarantee import Guarantee
from costofprivacy.estimators.tabular import Fit, TabularRegressor

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
    assert data.planned(datasets.HOUSING, 8) == {"expected_r2": data.STATED, "plan_for": "real", "aim": "least squares"}
    for name, kind in ((data.HEAVY, "heavy-tailed"), (data.CORRELATED, "textbook")):
        assert data.planned(name, 3) == {"expected_r2": data.EXPLAINED, "plan_for": kind, "aim": "least squares"}


def test_the_committed_campaign_is_whole():
    found, told = committed.read("cases"), committed.read("intervals")
    assert len(found.groupby(show.KEY)) == sum(len(cell.epsilon) for cell in campaign.cells())
    assert found.groupby(show.KEY)["chosen"].sum().eq(1).all()
    assert len(told) == len(coverage.CASES)
    show.show_choices(found), show.show_intervals(told)
    assert "cases" in show.caption_choices({"cases": found})


SMALL = campaign.Cell(data.ISOTROPIC, 442, 3, (10.0,))
NAMES = list(others.METHODS)


class Shown(TabularRegressor):
    """The way that the four methods' records go: what reaches a method, and what becomes of its answer."""

    def _release(self, x, y, stated, rng):
        self.x_, self.y_ = x, y
        return Fit(np.arange(1.0, x.shape[1] + 1), Guarantee(stated.budget, None, ""), Expected(0.1, 0.1, 0.1, 0.1))


def row(method, behind, *, excess=None, error=0.01, best=0.2, chosen=0.2, constant=1.0, epsilon=1.0, reason=""):
    """A method in a case of which the best of the four has the excess error ``best``, and the choice ``chosen``."""
    told = {"data": data.ISOTROPIC, "n": 100, "d": 3, "epsilon": epsilon, "delta": 1e-6, "method": method}
    told |= {"trials": 20, "excess": best + behind if excess is None else excess, "excess_error": error}
    told |= {"best": "clipped descent", "best_excess": best, "behind": behind, "behind_error": error}
    told |= {"choice": "clipped descent", "choice_excess": chosen, "lead": chosen - best - behind, "lead_error": error}
    told |= {"choice_behind": chosen - best, "choice_behind_error": error}
    return told | {"constant": constant, "reason": reason, "digest": "0", "against": "0"}


@pytest.mark.parametrize("name", [data.CORRELATED, datasets.DIABETES])
def test_records_and_answers_go_the_way_of_the_estimators(name, monkeypatch):
    """The same design on the stated scale, bit for bit, and the same coefficients in the units of the data."""
    records, seen = data.draw(name, 442, 10, rng=np.random.default_rng(0)), []
    told = others.public(campaign.Cell(name, 442, 10), 1.0)
    model = Shown(epsilon=1.0, delta=1e-6, **records.public)._fit(records.X, records.y, np.random.default_rng(1))

    def run(x, y, rng):
        seen.append((x, y))
        return np.arange(1.0, x.shape[1] + 1)

    monkeypatch.setattr(others, "prepared", lambda *_: run)
    found = others.fit("any", records, told, np.random.default_rng(2))
    np.testing.assert_array_equal(seen[0][0], model.x_)
    np.testing.assert_array_equal(seen[0][1], model.y_)
    np.testing.assert_allclose(found, np.append(model.coef_, model.intercept_), rtol=1e-12)
    known = model._stated(442).known
    assert (told.d, told.label_noise) == (known.d, known.label_noise)
    assert told.initial_risk == pytest.approx(known.initial_risk)


def test_settings_are_asked_for_with_public_numbers_alone(monkeypatch):
    """Two draws ask for the same settings; what they are asked with is the case, and no array."""
    asked = []

    def prepared(name, told):
        asked.append((name, told))
        return lambda x, y, rng: np.zeros(x.shape[1])

    monkeypatch.setattr(others, "prepared", prepared)
    for seed in (0, 1):
        others.trial(SMALL, rng=generator(1, SMALL.key, seed))
    assert asked[: len(asked) // 2] == asked[len(asked) // 2 :]
    assert {told for _, told in asked} == {others.public(SMALL, 10.0)}


def test_what_diverges_is_cut(monkeypatch):
    monkeypatch.setattr(others, "prepared", lambda *_: lambda x, y, rng: np.full(x.shape[1], 1e150))
    monkeypatch.setattr(others, "reason", lambda *_: "")
    values = others.trial(SMALL, rng=generator(1, SMALL.key, 0))
    assert np.ptp(values) == 0
    assert 0.5 * others.FAR < values[0, 0] < 2 * others.FAR


@pytest.mark.slow
def test_a_table_pairs_the_methods_with_the_best_of_the_four():
    """The differences are those of the same data sets."""
    trials = 3
    table = others.measure([SMALL], trials, 1, 5, Runner(workers=1))
    own = np.stack([others.trial(SMALL, rng=generator(5, SMALL.key, t)) for t in range(trials)])[:, 0]
    four = np.stack([campaign.trial(SMALL, rng=generator(5, SMALL.key, t)) for t in range(trials)])[:, 0, :, 0]
    leader = int(four.mean(axis=0).argmin())
    assert table["method"].tolist() == NAMES
    assert set(table["best"]) == {campaign.METHODS[campaign.NAMES[leader]]}
    np.testing.assert_allclose(table["best_excess"], four[:, leader].mean())
    chosen = campaign.choice(SMALL, SMALL.epsilon[0])
    np.testing.assert_allclose(table["choice_excess"], four[:, chosen].mean())
    np.testing.assert_allclose(table["lead"], (four[:, [chosen]] - own).mean(axis=0))
    np.testing.assert_allclose(table["choice_behind"], (four[:, chosen] - four[:, leader]).mean())
    difference = own - four[:, [leader]]
    np.testing.assert_allclose(table["behind"], difference.mean(axis=0))
    np.testing.assert_allclose(table["behind_error"], difference.std(axis=0, ddof=1) / math.sqrt(trials))


@pytest.mark.parametrize(
    ("behind", "error", "constant", "wins", "clearly"),
    [
        (-0.1, 0.01, 1.0, True, True),
        (-0.1, 0.03, 1.0, True, False),
        (-0.1, 0.06, 1.0, False, False),
        (0.1, 0.01, 1.0, False, False),
        (-0.01, 0.001, 0.15, None, None),
        (-0.1, 0.01, 0.15, True, True),
    ],
)
def test_a_method_wins_by_two_standard_errors_where_something_beats_the_mean(behind, error, constant, wins, clearly):
    found = show.beside_the_best(pd.DataFrame([row("AdaSSP", behind, error=error, constant=constant)]))
    if wins is None:
        assert found.empty
        return
    assert bool(found["wins"].item()) is wins
    assert bool(found["clearly"].item()) is clearly
    assert found["ratio"].item() == pytest.approx((0.2 + behind) / 0.2)


@pytest.mark.parametrize(
    ("behind", "chosen", "error", "best", "ratio", "near"),
    [
        (0.1, 0.2, 0.0, "clipped descent", 1.0, True),  # the best of the four is chosen, and no other is better
        (0.1, 0.23, 0.0, "clipped descent", 1.15, False),  # another of the four is better by 15 %
        (0.1, 0.23, 0.02, "clipped descent", 1.15, True),  # which is within two standard errors
        (-0.1, 0.2, 0.01, "a", 2.0, False),  # another method is better by half
        (-0.1, 0.2, 0.06, "a", 2.0, True),
        (-0.01, 0.2, 0.0, "a", 0.2 / 0.19, True),
    ],
)
def test_the_choice_is_compared_with_the_best_of_all(behind, chosen, error, best, ratio, near):
    table = pd.DataFrame([row("a", behind, chosen=chosen, error=error), row("b", 0.3, chosen=chosen, error=error)])
    found = show.overall(table)
    assert found["best"].item() == best
    assert found["ratio"].item() == pytest.approx(ratio)
    assert bool(found["near"].item()) is near
    assert f"more than 1.5 times behind in {int(ratio > 1.5)}" in show.read_overall(table).data
    assert show.overall(table.assign(constant=0.05)).empty


def test_the_committed_table_is_paired_with_the_committed_cases():
    """Otherwise ``python -m chapters.privacy.best_method rivals`` pairs it again."""
    found, four = committed.read("rivals"), committed.read("cases")
    assert set(found["against"]) == set(four["digest"])
    both = found.merge(four, left_on=[*show.KEY, "best"], right_on=[*show.KEY, "method"], suffixes=("", "_four"))
    assert len(both) == len(found)
    same = both[both["trials"] == both["trials_four"]]
    assert len(same) > 0
    np.testing.assert_allclose(same["best_excess"], same["excess_four"], rtol=1e-5)


def test_one_table_can_be_measured_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(committed, "FOLDER", tmp_path)
    monkeypatch.setattr(__main__, "CACHE", tmp_path / "blocks")
    monkeypatch.setattr(others, "measure", lambda *asked: pd.DataFrame({"behind": [0.5]}))
    monkeypatch.setattr(committed, "code", lambda name="cases": name)
    assert __main__.main(["rivals"]) == 0
    assert [path.name for path in tmp_path.glob("*.csv")] == ["rivals.csv"]
    found = committed.read("rivals")
    assert set(found["digest"]) == {"rivals"}
    assert set(found["against"]) == {"cases"}
    assert "rivals.csv" in capsys.readouterr().out
