"""AdaSSP, its boosted form, TukeyEM and the private quantile: laws, sensitivities attained, checks and failures."""

import itertools
import math
from collections.abc import Sequence

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import chisquare, ks_2samp

from costofprivacy.privacy import ApproximateDP, GaussianDP, sums
from costofprivacy.rivals import boosting, private_quantile, sufficient_statistics, tukey
from costofprivacy.rivals.bounds import Bounds, prepare
from costofprivacy.rivals.private_quantile import exponent, geometric_grid, misses, quantile
from costofprivacy.rivals.sufficient_statistics import moments, noisy_matrix
from tests.costofprivacy.privacy import hostile
from tests.costofprivacy.privacy.numerics import Scripted
from tests.costofprivacy.rivals.test_minimiser import LIVE, sparse
from tests.each import each, refused

BOUNDS = Bounds(2.0, 3.0)
FREE = GaussianDP(1e9)


def records(n: int = 300, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return BOUNDS.clip(rng.standard_normal((n, d)), rng.standard_normal(n) * 2)


def test_sensitivities_hold_and_are_attained() -> None:
    rng = np.random.default_rng(1)
    squares, products, lowest = [], [], []
    base, base_y = records(20)
    for k in range(100):
        pair = []
        for sign in (1, -1):
            x, y = base.copy(), base_y.copy()
            extreme = np.eye(5)[0 if sign > 0 else 1] if k == 0 else rng.standard_normal(5)
            x[0] = 2 * extreme / np.linalg.norm(extreme)
            if k == 1:
                x[0] = 2 * np.eye(5)[0]
            y[0] = 3.0 * sign
            pair.append(moments(x, y, BOUNDS))
        squares.append(np.linalg.norm(pair[0].square - pair[1].square))
        products.append(np.linalg.norm(pair[0].product - pair[1].product))
        lowest.append(abs(np.subtract(*(np.linalg.eigvalsh(m.square)[0] for m in pair))))
    assert max(squares) == pytest.approx(math.sqrt(2) * 4)
    assert max(products) == pytest.approx(2 * 2 * 3)
    assert max(lowest) <= 4


def test_the_matrix_has_isotropic_noise_of_its_sensitivity() -> None:
    rng, each, d = np.random.default_rng(2), GaussianDP(0.7), 3
    draws = np.stack([noisy_matrix(np.zeros((d, d)), 10, BOUNDS, each, rng=rng)[0] for _ in range(4000)])
    std = math.sqrt(2) * 4 / 0.7
    assert draws[:, 0, 0].std() == pytest.approx(std, rel=0.05)
    assert draws[:, 0, 1].std() == pytest.approx(std / math.sqrt(2), rel=0.05)
    np.testing.assert_array_equal(draws[:, 0, 1], draws[:, 1, 0])


def test_the_eigenvalue_and_the_product_have_noise_of_their_sensitivities() -> None:
    """By draws that are told: 4/μ for the eigenvalue, 2·2·3/(μ/√3) for the product."""
    square, each = 20 * np.eye(3), GaussianDP(1.0)
    low, lower = (
        noisy_matrix(square, 10, BOUNDS, each, rng=Scripted(standard_normal=[0.0, value]))[1] for value in (0.0, -1.0)
    )
    assert lower - low == pytest.approx(4.0, rel=1e-6)
    data, still, along = moments(*records(), BOUNDS), np.zeros(5), np.eye(5)[0]
    zero, moved = (
        sufficient_statistics.release(data, BOUNDS, each, rng=Scripted(standard_normal=[0.0, 0.0, value]))
        for value in (still, along)
    )
    third = GaussianDP(1 / math.sqrt(3))
    matrix, penalty = noisy_matrix(data.square, 300, BOUNDS, third, rng=Scripted(standard_normal=[0.0, 0.0]))
    noise = (matrix + penalty * np.eye(5)) @ (moved - zero)
    np.testing.assert_allclose(noise, 12 * math.sqrt(3) * along, rtol=1e-6, atol=1e-9)


def test_without_noise_both_are_least_squares() -> None:
    x, y = records()
    exact = np.linalg.lstsq(x, y, rcond=None)[0]
    rng = np.random.default_rng(3)
    np.testing.assert_allclose(
        sufficient_statistics.release(moments(x, y, BOUNDS), BOUNDS, FREE, rng=rng), exact, atol=1e-5
    )
    for rounds in (1, 4):
        found = boosting.release(x, y, BOUNDS, 1e3, rounds, FREE, rng=rng)
        np.testing.assert_allclose(found, exact, atol=1e-4)


def test_records_beyond_the_bounds_are_shortened_and_others_kept() -> None:
    x, y = BOUNDS.clip(np.array([[3.0, 4.0], [0.3, 0.4]]), np.array([9.0, -1.0]))
    np.testing.assert_allclose(x, [[1.2, 1.6], [0.3, 0.4]])
    np.testing.assert_allclose(y, [3.0, -1.0])


# ---- Several runs over the same records ----

WIDE, MU = Bounds(4.0, 4.0), GaussianDP(1.0)


def rng(seed: int = 3) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_boosting_alone_is_boosting_among_others() -> None:
    """In law, with as many draws as tell a budget from its half."""
    x, y = sparse(60)
    plans = [boosting.Plan(0.7, 3, MU), boosting.Plan(0.7, 3, GaussianDP(2.0))]

    def draws(chosen: list[boosting.Plan]) -> np.ndarray:
        return np.array([boosting.releases(x, y, WIDE, chosen, rng=rng(9 + s))[:, 0] for s in range(150)]).T

    for plan, together in zip(plans, draws(plans), strict=True):
        assert ks_2samp(together, draws([plan])[0]).pvalue > 1e-2
        noisier = boosting.Plan(plan.clip_norm, plan.rounds, GaussianDP(plan.budget.mu / 2))
        assert ks_2samp(together, draws([noisier])[0]).pvalue < 1e-3


def test_boosting_alone_is_the_formula() -> None:
    x, y = sparse()
    found = boosting.releases(x, y, WIDE, [boosting.Plan(0.7, 3, MU)], LIVE, rng=rng())[0]
    source, n = rng(), len(x)
    inside = WIDE.clip(x, y)[0]
    each = sufficient_statistics.share(MU)
    matrix, penalty = sufficient_statistics.noisy_matrix(inside.T @ inside, n, WIDE, each, rng=source)
    std = 2 * 0.7 * (1 + sums.slack(n, 5)) / sufficient_statistics.share(MU, 9).mu
    theta, limit = np.zeros(5), 0.7 / np.linalg.norm(inside, axis=1)
    for _ in range(3):
        pull = inside.T @ np.clip(y - inside @ theta, -limit, limit) + std * source.standard_normal(5)
        theta = theta + np.linalg.solve(matrix + penalty * np.eye(5), pull)
    np.testing.assert_allclose(found, theta, rtol=1e-6)


def test_sums_without_dead_features_are_those_with_them() -> None:
    x, y = sparse()
    told, whole = prepare(x, y, LIVE), prepare(x, y)
    assert told.rows.shape == (700, 3)
    assert told.shape == whole.shape == (700, 5)
    np.testing.assert_allclose(told.square, x.T @ x, atol=1e-10)
    np.testing.assert_allclose(told.product, x.T @ y, atol=1e-10)
    theta, clips = rng().standard_normal((5, 2)), np.array([0.3, 2.0])
    np.testing.assert_allclose(told.pulls(theta, clips), whole.pulls(theta, clips), atol=1e-10)
    np.testing.assert_array_equal(whole.pulls(theta, clips, np.array([], dtype=int)), 0.0)
    assert sufficient_statistics.smallest_eigenvalue(told.square) == 0.0


def depth_of(point: np.ndarray, solutions: np.ndarray) -> int:
    return int(min((solutions <= point).sum(axis=0).min(), (solutions >= point).sum(axis=0).min()))


def test_volumes_are_those_of_the_points_of_that_depth() -> None:
    rng = np.random.default_rng(0)
    solutions = rng.random((10, 2))
    points = rng.random((4000, 2))
    depths = np.array([depth_of(p, solutions) for p in points])
    volumes = np.exp(tukey.log_volumes(np.sort(solutions, axis=0)))
    for k in (1, 2, 3):
        share = (depths >= k).mean()
        assert volumes[k - 1] == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / 4000) + 1e-9)


def test_draws_have_the_density_of_the_exponential_mechanism() -> None:
    """In one dimension the law of the depth is known; points of one depth are uniform."""
    rng = np.random.default_rng(1)
    solutions = rng.standard_normal((60, 2))
    budget = ApproximateDP(2.0, 0.4)
    draws = np.stack([tukey._deep_point(solutions, budget, 1e9, rng=rng) for _ in range(2000)])
    depths = np.array([depth_of(p, solutions) for p in draws])
    assert depths.min() >= 15
    volumes = np.append(np.exp(tukey.log_volumes(np.sort(solutions, axis=0))), 0.0)
    levels = np.arange(15, 31)
    weight = (volumes[14:30] - volumes[15:31]) * np.exp(0.5 * levels)
    expected = weight / weight.sum()
    found = np.array([(depths == k).mean() for k in levels])
    assert np.abs(found - expected).max() < 4 * math.sqrt(0.25 / 2000)


def test_each_noise_is_as_large_as_its_budget_asks() -> None:
    """By draws that are told, a twentieth below and above what changes the answer."""
    solutions, budget = np.random.default_rng(1).standard_normal((60, 2)), ApproximateDP(2.0, 0.05)
    ordered = np.sort(solutions, axis=0)
    volumes = np.append(np.exp(tukey.log_volumes(ordered)), 0.0)
    weight = np.log(volumes[14:30] - volumes[15:31]) + 0.5 * np.arange(15, 31)
    missing = tukey.count_threshold(budget) - tukey.stable_count(tukey.log_volumes(ordered), 15, 1.0, 0.05)
    assert missing > 1

    def answer(count: float, depths: object, sides: object) -> np.ndarray:
        return tukey.release(solutions, budget, rng=Scripted(laplace=[count], gumbel=[depths, sides]))

    def shell(depth: int) -> np.ndarray:
        """The logarithms of the two parts of a shell's volume, by its first coordinate and by its second."""
        outer, inner = (ordered[-k] - ordered[k - 1] for k in (depth, depth + 1))
        return np.log([(outer - inner)[0] * outer[1], inner[0] * (outer - inner)[1]])

    best, other = int(weight.argmax()), int(weight.argmin())
    for share in (0.95, 1.05):
        assert answer(share * missing, 0.0, 0.0).any() == (share > 1)  # Lap(1/ε₁), ε₁ = 1
        lifted = share * (weight[best] - weight[other]) * np.eye(16)[other]
        assert depth_of(answer(99.0, lifted, 0.0), solutions) == 15 + (other if share > 1 else best)
        parts = shell(15 + best)
        second = int(parts.argmin())
        lifted = share * abs(parts[0] - parts[1]) * np.eye(2)[second]
        point = answer(99.0, 0.0, lifted)
        inside = (ordered[15 + best, 0] <= point[0]) & (point[0] <= ordered[-16 - best, 0])
        assert inside == ((second == 1) == (share > 1))


def test_the_count_changes_by_one_at_most_when_one_solution_does() -> None:
    rng = np.random.default_rng(2)
    counts = set()
    for seed in range(60):
        solutions = np.random.default_rng(seed).standard_normal((400, 2)) * (1 + seed % 3)
        other = solutions.copy()
        other[0] = [1e6, 0.0, -1e6][seed % 3] + rng.standard_normal(2)
        found = [tukey.stable_count(tukey.log_volumes(np.sort(s, axis=0)), 100, 1.0, 1e-5) for s in (solutions, other)]
        counts.add(found[0])
        assert abs(found[0] - found[1]) <= 1
    assert max(counts) > 20


def test_the_count_by_its_definition() -> None:
    volumes, depth, epsilon, delta = -0.1 * np.arange(1.0, 101.0), 50, 1.0, 1e-4
    limit = math.log(delta / 2) - epsilon

    def stable(k: int) -> bool:
        falls = [
            volumes[depth - 2 - k] - volumes[depth + g + k - 1] - epsilon * (g + 1) / 2
            for g in range(100 - depth - k + 1)
        ]
        return min(falls) <= limit

    expected = next(k for k in range(depth) if not stable(k))
    assert tukey.stable_count(volumes, depth, epsilon, delta) == expected > 0


def test_it_recovers_coefficients_where_it_may_and_answers_zero_where_not() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((60_000, 3))
    y = x @ [1.0, -2.0, 0.5] + 0.1 * rng.standard_normal(60_000)
    budget = ApproximateDP(2.0, 1e-6)
    found = tukey.fit(x, y, 1000, budget, rng=np.random.default_rng(4))
    np.testing.assert_allclose(found, [1.0, -2.0, 0.5], atol=0.05)
    np.testing.assert_array_equal(tukey.fit(x[:60], y[:60], 20, budget, rng=rng), 0.0)
    np.testing.assert_array_equal(tukey._deep_point(rng.standard_cauchy((50, 3)), budget, 0.0, rng=rng), 0.0)


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
            two = laws[(other, *values[1:])]
            spent = np.maximum(one[:, None] - np.exp(EPSILONS) * two[:, None], 0).sum(axis=0)  # δ at each ε
            assert (spent <= told * (1 + 1e-9) + 1e-12).all()


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
    refused(words, private_quantile.quantile, *some, GaussianDP(mu), rng=np.random.default_rng(0))


def test_a_geometric_grid_has_its_ends_and_equal_factors() -> None:
    grid = np.array(geometric_grid(3.0, 0.1, 5.0, 1.5))
    assert (grid[0], grid[-1]) == pytest.approx((0.3, 15.0))
    factors = grid[1:] / grid[:-1]
    np.testing.assert_allclose(factors, factors[0])
    assert factors[0] <= 1.5
    for ends in ((1.0, 1.0, 2.0), (0.1, 1.0, 1.0)):
        refused("below must be less than above, and ratio more than 1", geometric_grid, 1.0, *ends)
    refused("scale must be positive and finite", geometric_grid, math.inf)
