"""Private bounds: their law against an enumeration, what they spend, hostile cells, and shares of one budget."""

import math
from decimal import Decimal

import dp_accounting
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import cross_validate

from costofprivacy.estimators import Account, DPGDRegressor, private_bounds, spending
from costofprivacy.estimators.private_bounds import geometric_grid, tail_level
from costofprivacy.estimators.spending import compose, split, times
from costofprivacy.privacy import ApproximateDP, GaussianDP, PrivacyProfile, PrivacyWarning
from costofprivacy.rivals.private_quantile import exponent
from tests.each import refused

GRID = (-3.0, -1.0, 0.0, 2.0, 5.0)
VALUES = (-9.0, -2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 4.0)


def bounds(values, **asked):
    return private_bounds(values, **{"mu": 1.0, "grid": GRID, "levels": (0.01, 0.99), "random_state": 0} | asked)


def law(values, mu, levels):
    """The law of (low, high) from the definition: two exponential mechanisms on ranks."""
    n, eta = len(values), exponent(GaussianDP(mu / math.sqrt(2)))

    def sides(points, cells, level):
        upto = [sum(cell <= point for cell in cells) for point in points[:-1]] + [n]
        before = [0, *upto[:-1]]
        weights = [math.exp(-eta * max(0, b - level * n, level * n - u)) for b, u in zip(before, upto)]
        return dict(zip(points, np.array(weights) / sum(weights)))

    high = sides(list(GRID), values, levels[1])
    low = sides([-point for point in GRID[::-1]], [-value for value in values], 1 - levels[0])
    found = {}
    for a, p in low.items():
        for b, q in high.items():
            pair = (min(-a, b), max(-a, b))
            if pair[0] == pair[1]:
                place = GRID.index(pair[0])
                pair = (GRID[max(place - 1, 0)], GRID[min(place + 1, len(GRID) - 1)])
            found[pair] = found.get(pair, 0) + p * q
    return found


@pytest.mark.slow
def test_the_law_is_that_of_two_private_quantiles():
    trials, expected = 4000, law(VALUES, 1.5, (0.2, 0.8))
    seen = [bounds(VALUES, mu=1.5, levels=(0.2, 0.8), random_state=seed) for seed in range(trials)]
    counts = pd.Series([(found.low, found.high) for found in seen]).value_counts()
    assert set(counts.index) <= set(expected)
    common = [pair for pair, share in expected.items() if share * trials > 10]
    z = [
        (counts.get(p, 0) - trials * expected[p]) / math.sqrt(trials * expected[p] * (1 - expected[p])) for p in common
    ]
    assert np.abs(z).max() < 4
    wrong = law(VALUES, 1.5 * math.sqrt(2), (0.2, 0.8))  # as if each quantile had the whole budget
    off = [(counts.get(p, 0) - trials * wrong[p]) / math.sqrt(trials * wrong[p]) for p in common]
    assert np.abs(off).max() > 6


@pytest.mark.parametrize("mu", [0.3, 3.0])
@pytest.mark.parametrize("cell", [99.0, math.nan])
def test_neighbours_are_no_easier_to_tell_apart_than_promised(mu, cell):
    """δ(ε) of the exact laws at two neighbours stays below that of μ-Gaussian DP."""
    changed = (*VALUES[1:], 0.0 if math.isnan(cell) else cell)  # a missing cell counts as the middle of the grid
    one, two = (law(values, mu, (0.2, 0.8)) for values in (VALUES, changed))
    for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0):
        for p, q in ((one, two), (two, one)):
            spent = sum(max(share - math.exp(epsilon) * q.get(pair, 0), 0) for pair, share in p.items())
            assert spent <= GaussianDP(mu).delta(epsilon) + 1e-12


@settings(max_examples=15, deadline=None)
@given(st.lists(st.one_of(st.floats(), st.none(), st.text(), st.integers(), st.decimals()), min_size=1, max_size=30))
def test_any_cells_give_bounds_on_the_grid_in_order(values):
    found = bounds(values)
    assert found.low < found.high
    assert {found.low, found.high} <= set(GRID)
    assert found.records == len(values)


def test_the_same_cells_in_any_type_give_the_same_bounds():
    given_as = [list(VALUES), pd.Series(VALUES), [str(v) for v in VALUES], [Decimal(v) for v in VALUES]]
    assert len({(bounds(values).low, bounds(values).high) for values in given_as}) == 1


def test_missing_cells_count_as_the_public_value():
    one, two = (bounds(values, mu=30.0) for values in ([None] * 5 + [1.9] * 95, [0.0] * 5 + [1.9] * 95))
    assert (one.low, one.high) == (two.low, two.high)
    assert bounds([None] * 50, mu=30.0, missing=4.0).high == 5.0


def test_the_bounds_are_rounded_outwards():
    found = bounds([-0.5] * 50 + [0.5] * 50, mu=30.0, levels=(0.25, 0.75))
    assert (found.low, found.high) == (-1.0, 2.0)
    assert bounds([0.5] * 100, mu=30.0).high == 2.0
    same = bounds([-1.0] * 100, mu=300.0)
    assert (same.low, same.high) == (-3.0, 0.0)


def test_the_stated_accuracy_is_that_of_the_docstring():
    n, mu, failures = 20_000, 0.1, 0
    values = np.random.default_rng(0).standard_normal(n) * 1000
    grid, ranks = geometric_grid(), np.sort(values)
    assert len(grid) == 183
    assert 0.55 < exponent(GaussianDP(mu / math.sqrt(2))) / mu < 0.57
    assert 186 < math.log(2 * 183 / 0.01) / exponent(GaussianDP(mu / math.sqrt(2))) < 187
    step = 10**0.1
    for seed in range(50):
        found = bounds(values, mu=mu, grid=grid, random_state=seed)
        low, high = ranks[200 - 190], ranks[200 + 190]
        failures += not (low * step <= found.low <= high)
        low, high = ranks[19_800 - 190], ranks[min(19_800 + 190, n - 1)]
        failures += not (low <= found.high <= high * step)
    assert failures <= 2


def test_chosen_levels_keep_the_bounds_within_the_data_where_fixed_ones_do_not():
    n, mu = 2000, 0.1
    values = np.random.default_rng(0).uniform(-10, 10, n)
    level = tail_level(n, mu, 183)
    assert level == pytest.approx(227.5 / n, rel=0.005)
    beyond = {"chosen": 0, "fixed": 0}
    for seed in range(50):
        for name, levels in (("chosen", None), ("fixed", (0.01, 0.99))):
            found = bounds(values, mu=mu, grid=geometric_grid(), levels=levels, random_state=seed)
            beyond[name] += max(-found.low, found.high) > 10 * 10**0.1
    assert beyond["chosen"] <= 1
    assert beyond["fixed"] > 25
    assert bounds(values, mu=mu, grid=geometric_grid(), levels=None).levels == (level, 1 - level)
    assert tail_level(23_000, mu, 183) == 0.01
    assert tail_level(920, mu, 183) < 0.25
    refused("number of records must be at least 9", tail_level, 900, mu, 183)


def test_bounds_and_fit_spend_together_what_was_shared():
    rng = np.random.default_rng(0)
    X = rng.normal(50, 10, (5000, 1))
    y = 3 * X[:, 0] + rng.standard_normal(5000)
    total = ApproximateDP(2.0, 1e-6)
    each = split(total.to_gaussian(), [0.1, 0.1, 0.8])
    sides = [private_bounds(c, mu=m.mu, random_state=0) for c, m in zip((X[:, 0], y), each)]
    (low, high), response = ((side.low, side.high) for side in sides)
    model = DPGDRegressor(mu=each[2].mu, feature_bounds=(low, high), response_bounds=response, random_state=0).fit(X, y)
    spent = compose(*sides, model, delta=1e-6)
    assert spent.claimed.epsilon == pytest.approx(2.0, rel=1e-6)
    assert spent.neighbours == "replace one record"
    assert low < 30
    assert high > 70


# spending


def test_gaussian_parts_compose_as_dp_accounting_says():
    accountant = dp_accounting.pld.PLDAccountant(
        neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_ONE, value_discretization_interval=1e-3
    )
    mus = (0.3, 0.5, 0.9)
    for mu in mus:
        accountant.compose(dp_accounting.GaussianDpEvent(2 / mu))  # its sensitivity for a replacement is 2
    found = compose(*map(GaussianDP, mus), delta=1e-5)
    assert found.claimed.epsilon == pytest.approx(accountant.get_epsilon(1e-5), rel=5e-3)
    assert found.gaussian.mu == pytest.approx(math.sqrt(0.3**2 + 0.5**2 + 0.9**2))


def test_parts_of_both_kinds_are_added():
    found = compose(ApproximateDP(0.5, 1e-6), GaussianDP(0.3), ApproximateDP(0.25, 2e-6), delta=1e-5)
    assert found.claimed.epsilon == pytest.approx(0.75 + GaussianDP(0.3).epsilon(7e-6))
    assert found.gaussian is None
    assert compose(found, GaussianDP(0.3), delta=1e-4).claimed.epsilon > found.claimed.epsilon
    assert compose(ApproximateDP(0.5, 1e-6), delta=1e-6).claimed == ApproximateDP(0.5, 1e-6)


def test_a_cross_validation_spends_what_its_clones_say():
    """Each fit of scikit-learn's has a whole budget, and each record is in all but one of them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    folds = cross_validate(
        DPGDRegressor(epsilon=1.0, delta=1e-6), X, X.sum(axis=1), cv=5, return_estimator=True, return_indices=True
    )
    uses = np.zeros(200, dtype=int)
    for part in folds["indices"]["train"]:
        uses[part] += 1
    assert set(uses) == {4}
    spent = compose(*folds["estimator"][:4], delta=1e-6)
    told = times(ApproximateDP(1.0, 1e-6).to_gaussian(), 4, delta=1e-6)
    assert spent.claimed.epsilon == pytest.approx(told.claimed.epsilon, rel=1e-6)


@pytest.mark.parametrize("budget", [GaussianDP(0.7), ApproximateDP(1.5, 1e-6)])
@pytest.mark.parametrize("shares", [[1.0], [0.1] * 10, [0.2, 0.3]])
def test_shares_spend_together_at_most_the_whole(budget, shares):
    parts = split(budget, shares)
    total = compose(*parts, delta=1.0001e-6)
    whole = compose(budget, delta=1.0001e-6)
    assert total.claimed.epsilon <= whole.claimed.epsilon * (1 + 1e-12)
    if sum(shares) > 0.999:
        assert total.claimed.epsilon == pytest.approx(whole.claimed.epsilon)


def test_spending_refuses_what_it_cannot_add():
    prompts = PrivacyProfile(ApproximateDP(1, 1e-6), GaussianDP(0.1), GaussianDP(0.1))
    records = PrivacyProfile(ApproximateDP(1, 1e-6), GaussianDP(0.1), GaussianDP(0.1), "replace one record")
    for wrong, words in (
        (lambda: compose(delta=1e-6), "at least one"),
        (lambda: compose(3.0, delta=1e-6), "each of releases must be"),
        (lambda: compose(prompts, records, delta=1e-6), "same neighbours"),
        (lambda: compose(GaussianDP(1), delta=2.0), "delta must be"),
        (lambda: compose(ApproximateDP(1, 1e-6), GaussianDP(1), delta=1e-6), "delta must be above"),
        (lambda: split(GaussianDP(1), [0.5, 0.6]), "sum of at most 1"),
        (lambda: split(GaussianDP(1), []), "at least one"),
        (lambda: split(GaussianDP(1), [-0.5]), "each of shares must be positive"),
        (lambda: split(1.0, [0.5]), "budget must be"),
    ):
        refused(words, wrong)
    assert spending.compose(prompts, delta=1e-6).neighbours == "replace one prompt"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"mu": math.inf}, "mu must be between"),
        ({"mu": 1.0, "epsilon": 1.0}, "not both"),
        ({"mu": None, "epsilon": 1.0}, "delta must be given"),
        ({"levels": (0.9, 0.1)}, "levels must increase"),
        ({"levels": None, "mu": 0.1}, "number of records must be at least"),
        ({"levels": (0.0, 0.5)}, "each of levels"),
        ({"grid": [1.0]}, "at least two points"),
        ({"random_state": np.random.default_rng(0)}, "random_state must be None"),
    ],
)
def test_arguments_outside_their_range_are_refused(asked, words):
    refused(words, bounds, VALUES, **asked)
    refused("number of values", bounds, [])


@pytest.mark.parametrize("release", [GaussianDP(0.7), ApproximateDP(1.5, 1e-6)])
def test_fits_that_spend_the_same_are_added_one_by_one(release):
    assert times(release, 4, delta=1e-5) == compose(release, release, release, release, delta=1e-5)
    assert times(release, 1, delta=1e-5) == compose(release, delta=1e-5)
    for wrong in (0, 1.5):
        refused("fits must be", times, release, wrong, delta=1e-5)


@pytest.mark.filterwarnings("default")
def test_a_seed_and_a_large_delta_warn():
    with pytest.warns(PrivacyWarning, match="random_state=3"):
        bounds(VALUES, random_state=3)
    with pytest.warns(PrivacyWarning, match="delta should be far below"):
        found = bounds(VALUES, mu=None, epsilon=1.0, delta=0.5, random_state=None)
    assert found.profile.claimed == ApproximateDP(1.0, 0.5)
    assert found.profile.last_iterate.mu == pytest.approx(ApproximateDP(1.0, 0.5).to_gaussian().mu)
    assert found.profile.neighbours == "replace one record"


@pytest.mark.parametrize(
    "values",
    [
        None,
        3.0,
        pd.date_range("2024-01-01", periods=900),
        pd.period_range("2024-01-01", periods=900),
        pd.Series(pd.to_timedelta(range(900), "D")),
        pd.cut(pd.Series(range(900)), 3),
        np.zeros(900, dtype=complex),
        np.zeros(900, dtype=[("a", float)]),
    ],
)
def test_what_is_no_column_of_numbers_by_its_type_is_refused_before_anything_is_spent(values):
    with Account(epsilon=50.0, delta=1e-6) as account, pytest.raises(ValueError, match="values must be"):
        bounds(values)
    assert not account.charges


def test_a_delta_of_few_digits_is_subtracted_in_double_precision():
    parts, delta = (GaussianDP(0.5), ApproximateDP(0.1, 9.9e-6)), np.float16(1e-5)
    assert compose(*parts, delta=delta) == compose(*parts, delta=float(delta))
