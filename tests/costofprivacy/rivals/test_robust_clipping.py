"""Full-batch descent with estimated clips: pseudocode, sensitivity, noise, the exact trade-off of a small run, plan."""

import itertools
import math
from dataclasses import replace

import dp_accounting
import numpy as np
import pytest
from scipy.stats import kstest, norm

from costofprivacy.privacy import GaussianDP
from costofprivacy.rivals import private_quantile, robust_clipping
from costofprivacy.rivals.robust_clipping import Plan

MU = GaussianDP(1.0)
ONE = Plan(1, 1.0, 5, 5, 0.5, 0.5, (1.5,), (0.4,), MU)


def rng(seed: int = 3) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_run_is_the_pseudocode() -> None:
    draw = rng(0)
    x, y = draw.standard_normal((40, 3)), draw.standard_normal(40)
    grids = private_quantile.geometric_grid(1.7), private_quantile.geometric_grid(1.0)
    plan = Plan(3, 0.3, 6, 9, 0.6, 0.7, *grids, GaussianDP(1.7))
    found = robust_clipping.release(x, y, plan, rng=rng(1))
    fresh, theta, each = rng(1), np.zeros(3), GaussianDP(1.7 / math.sqrt(3))
    order = fresh.permutation(40)
    first, second, third = order[:6], order[6:15], order[15:]
    lengths = np.array([math.hypot(*x[i]) for i in first])
    longest = private_quantile.quantile(lengths, 0.6, grids[0], plan.budget, rng=fresh)
    for _ in range(3):
        sizes = np.array([abs(x[i] @ theta - y[i]) for i in second])
        clip = private_quantile.quantile(sizes, 0.7, grids[1], each, rng=fresh)
        total = np.zeros(3)
        for i in third:
            shortened = x[i] * min(1.0, longest / math.hypot(*x[i]))
            total += shortened * max(-clip, min(x[i] @ theta - y[i], clip))
        noise = 2 * longest * clip * math.sqrt(3) / 1.7 * fresh.standard_normal(3)
        theta = theta - 0.3 / 25 * (total + noise)
    np.testing.assert_allclose(found, theta, rtol=1e-9)


def test_opposite_records_attain_that_sensitivity() -> None:
    x, y = np.tile([9.0, 0.0], (12, 1)), np.full(12, 50.0)
    other = y.copy()
    other[rng().permutation(12)[11]] = -50.0
    one, two = (robust_clipping.release(x, v, ONE, rng=rng()) for v in (y, other))
    assert np.linalg.norm(one - two) * 2 == pytest.approx(2 * 1.5 * 0.4)


def test_the_noise_of_each_step_is_normal_of_that_scale_and_of_no_other() -> None:
    """Without features every sum is 0, so a step moves θ by its noise alone."""
    d, mu = 40_000, 0.7
    plan = replace(ONE, steps=2, budget=GaussianDP(mu), norms=1, residuals=1)
    path = [theta for _, _, theta in robust_clipping.iterates(np.zeros((3, d)), np.ones(3), plan, rng=rng())]
    std = 2 * 1.5 * 0.4 * math.sqrt(2) / mu
    for moved in (path[0], path[1] - path[0]):
        assert kstest(moved, norm(scale=std).cdf).pvalue > 0.01
        for wrong in (0.95, 1.05, math.sqrt(0.5)):
            assert kstest(moved, norm(scale=wrong * std).cdf).pvalue < 1e-3


@pytest.mark.parametrize("mu", [0.3, 2.0])
def test_the_steps_together_spend_the_budget_by_dp_accounting(mu: float) -> None:
    plan = replace(ONE, steps=7, budget=GaussianDP(mu))
    event = dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(1 / plan.each.mu), plan.steps)
    accountant = dp_accounting.pld.PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_SPECIAL)
    spent = accountant.compose(event).get_epsilon(1e-5)
    assert spent == pytest.approx(plan.guarantee.epsilon(1e-5), rel=0.01)
    assert plan.guarantee.mu == mu


def law(x: np.ndarray, y: np.ndarray, plan: Plan, at: np.ndarray) -> np.ndarray:
    """The density of one step from 0 in one dimension: a mixture over permutations and clips, from the definitions."""
    total, count, eta = np.zeros(len(at)), 0, private_quantile.exponent(plan.budget)

    def chances(values: np.ndarray, level: float, grid: tuple[float, ...]) -> np.ndarray:
        weights = np.exp(-eta * private_quantile.misses(values, level, grid))
        return weights / weights.sum()

    for order in itertools.permutations(range(len(y))):
        first, second, third = np.split(np.array(order), [plan.norms, plan.norms + plan.residuals])
        norms = chances(np.abs(x[first, 0]), plan.norm_level, plan.norm_grid)
        sizes = chances(np.abs(y[second]), plan.level, plan.grid)
        for (theta, p), (phi, q) in itertools.product(zip(plan.norm_grid, norms), zip(plan.grid, sizes)):
            mean = (np.clip(x[third, 0], -theta, theta) * np.clip(y[third], -phi, phi)).sum()
            total += p * q * norm.pdf(at, mean, 2 * theta * phi / plan.budget.mu)
        count += 1
    return total / count


@pytest.mark.parametrize("mu", [0.6, 2.0])
def test_the_whole_of_one_step_spends_no_more_than_the_gaussian(mu: float) -> None:
    at, epsilons = np.linspace(-50, 50, 6001), np.linspace(0, 4, 9)
    plan = Plan(1, 1.0, 1, 1, 0.5, 0.5, (0.5, 2.0), (0.5, 2.0), GaussianDP(mu))
    told, worst = GaussianDP(mu).delta(epsilons), 0.0
    rest = np.array([[0.1], [5.0], [5.0]]), np.array([0.1, 5.0, 5.0])
    records = [(5.0, 5.0), (5.0, -5.0), (0.1, 5.0), (0.1, 0.1)]
    laws = [law(np.vstack([rest[0], [[a]]]), np.append(rest[1], b), plan, at) for a, b in records]
    for one, two in itertools.permutations(laws, 2):
        spent = np.maximum(one - np.exp(epsilons)[:, None] * two, 0).sum(axis=1) * (at[1] - at[0])
        assert (spent <= told + 1e-6).all()
        worst = max(worst, spent[0] / told[0])
    assert worst > 0.3  # the permutation hides a record from some of the parts


def test_the_formula_of_one_step_in_numbers() -> None:
    """(1 − a)²v, the noise 4Θ²z²P/(bμ)² in d coordinates, and (1 − (1 − a)^T)² dκP/(bq²)."""
    plan = replace(ONE, norms=100, residuals=100, level=0.5, learning_rate=0.8, budget=GaussianDP(2.0))
    z = norm.ppf(0.75)
    kappa = norm.expect(lambda g: min(g * g, z * z))
    after = 0.6**2 * 1.0 + 9 * 0.8**2 * 4 * 9 * z**2 * 1.2 / (500 * 2.0) ** 2
    expected = after + 0.4**2 * 9 * kappa * (after + 0.2) / (500 * 0.25)
    assert robust_clipping.predicted(plan, 700, 9, 1.0, 0.2) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: replace(ONE, steps=0), "steps must be"),
        (lambda: replace(ONE, norms=0), "norms must be"),
        (lambda: replace(ONE, residuals=1.5), "residuals must be"),
        (lambda: replace(ONE, learning_rate=-1.0), "learning_rate must be"),
        (lambda: replace(ONE, level=0.0), "level must be"),
        (lambda: replace(ONE, norm_level=1.0), "norm_level must be"),
        (lambda: replace(ONE, grid=()), "the number of points of grid must be"),
        (lambda: replace(ONE, norm_grid=(1e-80,)), "norm_grid must be between"),
        (lambda: replace(ONE, budget=GaussianDP(math.inf)), "mu must be positive and finite"),
        (lambda: replace(ONE, grid=(1e75,), norm_grid=(1e75,), budget=GaussianDP(1e-150)), "sensitivity / mu must be"),
        (lambda: ONE.batch(10), "n must be at least 11 for this plan, got 10"),
    ],
)
def test_what_makes_no_sense_is_refused(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
