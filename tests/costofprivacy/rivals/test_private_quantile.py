"""The private quantile: its law, its guarantee against exact trade-offs of neighbours, and values of every kind."""

import itertools
import math
from collections.abc import Sequence

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import chisquare

from costofprivacy.privacy import GaussianDP
from costofprivacy.rivals import private_quantile
from costofprivacy.rivals.private_quantile import exponent, geometric_grid, misses, quantile
from tests.costofprivacy.privacy import hostile
from tests.each import each

law = settings(derandomize=True, deadline=None, max_examples=25)
GRID = [1.0, 2.0, 4.0, 8.0]
EPSILONS = np.linspace(0, 6, 25)


def probabilities(values: Sequence[float], level: float, grid: Sequence[float], mu: float) -> np.ndarray:
    """The law of the mechanism from its definition, one count after the other."""
    n, weights = len(values), []
    for k in range(len(grid)):
        below = sum(v <= grid[k - 1] for v in values) if k else 0
        upto = n if k == len(grid) - 1 else sum(v <= grid[k] for v in values)
        weights.append(math.exp(-exponent(GaussianDP(mu)) * max(0, below - level * n, level * n - upto)))
    return np.array(weights) / sum(weights)


def curve(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """δ at each ε of `EPSILONS`."""
    return np.maximum(p[:, None] - np.exp(EPSILONS) * q[:, None], 0).sum(axis=0)


@each("mu", [1e-6, 0.99, 1.0, 12.0])
def test_the_exponent_is_the_log_odds_of_the_gaussian(mu: float) -> None:
    with mpmath.workdps(40):
        p = mpmath.ncdf(mpmath.mpf(mu) / 2)
        exact = float(mpmath.log(p / (1 - p)))
    assert exponent(GaussianDP(mu)) == pytest.approx(exact, rel=2e-12)
    assert exponent(GaussianDP(mu)) < exact
    assert exact >= 0.797 * mu


@each(("mu", "level"), [(0.3, 0.5), (1.0, 0.75), (3.0, 0.3)])
def test_no_pair_of_small_data_sets_spends_more_than_the_gaussian(mu: float, level: float) -> None:
    """Every data set of three values on the grid or beyond, and each of its neighbours."""
    told = GaussianDP(mu).delta(EPSILONS)
    cells = (0.5, 1.5, 3.0, 5.0, 99.0)
    laws = {values: probabilities(values, level, GRID, mu) for values in itertools.product(cells, repeat=3)}
    for values, one in laws.items():
        for other in cells:
            assert (curve(one, laws[(other, *values[1:])]) <= told * (1 + 1e-9) + 1e-12).all()


def test_a_pair_of_data_sets_attains_the_guarantee_on_a_fine_grid() -> None:
    """(0, …, 0, −1, …, −1) becomes (−1, …, −1, 0, …, 0): the loss is ±η."""
    grid = np.arange(1.0, 4001.0)
    mu, level = 1.3, 1 / 3
    eta = exponent(GaussianDP(mu))
    pair = [1.0, 2001.0, 9e9], [9e9, 2001.0, 9e9]
    one, two = (np.exp(-eta * misses(np.array(values), level, grid)) for values in pair)
    one, two = one / one.sum(), two / two.sum()
    p = 1 / (1 + math.exp(-eta))
    total = np.abs(one - two).sum() / 2
    assert total == pytest.approx(2 * p - 1, rel=2e-3)
    assert total == pytest.approx(float(GaussianDP(mu).delta(0.0)), rel=2e-3)


def test_draws_follow_the_law_and_not_that_of_another_budget() -> None:
    values, level, mu = [0.5, 1.5, 1.7, 3.0, 3.0, 9.0, 50.0], 0.6, 1.0
    rng = np.random.default_rng(0)
    drawn = [quantile(np.array(values), level, GRID, GaussianDP(mu), rng=rng) for _ in range(4000)]
    counts = np.array([drawn.count(g) for g in GRID])
    assert chisquare(counts, 4000 * probabilities(values, level, GRID, mu)).pvalue > 0.01
    assert chisquare(counts, 4000 * probabilities(values, level, GRID, 1.15 * mu)).pvalue < 1e-3


def test_a_large_budget_gives_the_quantile_rounded_up_to_the_grid() -> None:
    rng = np.random.default_rng(2)
    values, grid = np.exp(rng.standard_normal(501)), np.geomspace(1e-3, 1e3, 61)
    for level in (0.05, 0.5, 0.9):
        exact = np.sort(values)[math.ceil(level * 501) - 1]
        found = quantile(values, level, grid, GaussianDP(1e4), rng=rng)
        assert found == grid[np.searchsorted(grid, exact)]


@given(hostile.neighbours((), records=(1, 2, 9, 700)))
@law
def test_whatever_a_value_is_it_moves_each_rank_by_one(pair: tuple[tuple[np.ndarray], tuple[np.ndarray]]) -> None:
    grid = np.geomspace(1e-3, 1e3, 13)
    for level in (0.1, 0.5, 0.95):
        one, two = (misses(data[0], level, grid) for data in pair)
        assert np.abs(one - two).max() <= 1 + 1e-9
        assert one.min() <= 1e-9  # some point of the grid has the level
        assert quantile(pair[0][0], level, grid, GaussianDP(1.0), rng=np.random.default_rng(0)) in grid


def test_what_is_not_a_number_counts_as_infinite() -> None:
    given, infinite = np.array([1.0, math.nan, 3.0]), np.array([1.0, math.inf, 3.0])
    np.testing.assert_array_equal(misses(given, 0.4, GRID), misses(infinite, 0.4, GRID))
    np.testing.assert_allclose(misses(np.full(3, math.nan), 0.4, GRID), [1.2, 1.2, 1.2, 0.0])


@each(
    ("arguments", "words"),
    [
        ((np.zeros(0), 0.5, GRID, 1.0), "the number of values must be a whole number of at least 1, got 0"),
        ((np.ones((2, 2)), 0.5, GRID, 1.0), "values must have shape"),
        ((np.ones(2), 1.0, GRID, 1.0), "level must be between 0 and 1"),
        ((np.ones(2), math.nan, GRID, 1.0), "level must be between 0 and 1"),
        ((np.ones(2), 0.5, [1.0, 1.0], 1.0), "grid must be finite and increasing"),
        ((np.ones(2), 0.5, [1.0, math.inf], 1.0), "grid must be finite and increasing"),
        ((np.ones(2), 0.5, [math.nan], 1.0), "grid must be finite and increasing"),
        ((np.ones(2), 0.5, [], 1.0), "the number of points of the grid must be"),
        ((np.ones(2), 0.5, GRID, math.inf), "mu must be positive and finite"),
        ((np.ones(2), 0.5, GRID, 1e-200), "mu must be between"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: tuple, words: str) -> None:
    *some, mu = arguments
    with pytest.raises(ValueError, match=words):
        private_quantile.quantile(*some, GaussianDP(mu), rng=np.random.default_rng(0))


def test_a_geometric_grid_has_its_ends_and_equal_factors() -> None:
    grid = np.array(geometric_grid(3.0, 0.1, 5.0, 1.5))
    assert (grid[0], grid[-1]) == pytest.approx((0.3, 15.0))
    factors = grid[1:] / grid[:-1]
    np.testing.assert_allclose(factors, factors[0])
    assert factors[0] <= 1.5
    for ends in ((1.0, 1.0, 2.0), (0.1, 1.0, 1.0)):
        with pytest.raises(ValueError, match="below must be less than above, and ratio more than 1"):
            geometric_grid(1.0, *ends)
    with pytest.raises(ValueError, match="scale must be positive and finite"):
        geometric_grid(math.inf)
