"""DP-AMBSSGD: the pseudocode, its noise and sensitivity, the whole mechanism's exact trade-off, and its plan."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import kstest, norm

from costofprivacy.privacy import GaussianDP
from costofprivacy.rivals import adaptive_clipping, private_quantile
from costofprivacy.rivals.adaptive_clipping import Plan
from tests.each import each

MU = GaussianDP(1.0)


def rng(seed: int = 3) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_run_is_the_pseudocode() -> None:
    draw = rng(0)
    x, y = draw.standard_normal((41, 3)), draw.standard_normal(41)
    plan = Plan(4, 3, 0.3, 0.6, private_quantile.geometric_grid(2.0), GaussianDP(1.7))
    found = adaptive_clipping.release(x, y, plan, rng=rng(1))
    fresh, theta, path = rng(1), np.zeros(3), []
    order = fresh.permutation(41)
    for t in range(4):
        part = order[10 * t : 10 * t + 10]
        lengths = [np.linalg.norm(x[i] * (x[i] @ theta - y[i])) for i in part[:3]]
        clip = private_quantile.quantile(np.array(lengths), 0.6, plan.grid, plan.budget, rng=fresh)
        total = np.zeros(3)
        for i in part[3:]:
            g = x[i] * (x[i] @ theta - y[i])
            total += g * min(1.0, clip / np.linalg.norm(g))
        theta = theta - 0.3 / 7 * (total + 2 * clip / 1.7 * fresh.standard_normal(3))
        path.append(theta)
    np.testing.assert_allclose(found, (path[2] + path[3]) / 2, rtol=1e-9)


def test_opposite_records_attain_that_sensitivity() -> None:
    x, y = np.zeros((6, 2)), np.zeros(6)
    x[:], y[:] = [9.0, 0.0], 50.0
    last = rng().permutation(6)[5]
    other = y.copy()
    other[last] = -50.0
    step = Plan(1, 1, 1.0, 0.5, (0.4,), MU)
    one, two = (adaptive_clipping.release(x, v, step, rng=rng()) for v in (y, other))
    assert np.linalg.norm(one - two) * 5 == pytest.approx(2 * 0.4)


def test_the_noise_of_a_step_is_normal_of_that_scale_and_of_no_other() -> None:
    """Without features every sum is 0, so a step moves θ by its noise alone."""
    d, clip, mu = 60_000, 0.5, 0.7
    step = Plan(1, 1, 1.0, 0.5, (clip,), GaussianDP(mu))
    theta = adaptive_clipping.release(np.zeros((2, d)), np.ones(2), step, rng=rng())
    std = 2 * clip / mu
    assert kstest(theta, norm(scale=std).cdf).pvalue > 0.01
    for wrong in (0.96, 1.04, 0.5):
        assert kstest(theta, norm(scale=wrong * std).cdf).pvalue < 1e-3


def law(x: np.ndarray, y: np.ndarray, plan: Plan, at: np.ndarray) -> np.ndarray:
    """The density of one step from 0 in one dimension: a mixture over permutations and clips, from the definitions."""
    n, total, count = len(y), np.zeros(len(at)), 0
    for order in itertools.permutations(range(n)):
        chosen, rest = list(order[: plan.choosing]), list(order[plan.choosing :])
        lengths = np.abs(x[chosen, 0] * y[chosen])
        weights = np.exp(
            -private_quantile.exponent(plan.budget) * private_quantile.misses(lengths, plan.level, plan.grid)
        )
        for clip, weight in zip(plan.grid, weights / weights.sum(), strict=True):
            mean = np.clip(x[rest, 0] * y[rest], -clip, clip).sum()
            total += weight * norm.pdf(at, mean, 2 * clip / plan.budget.mu)
        count += 1
    return total / count


@pytest.mark.parametrize("mu", [0.6, 2.0])
def test_the_whole_step_spends_no_more_than_the_gaussian(mu: float) -> None:
    """Records that choose a clip and records that move θ, each replaced by a very different one; δ by a sum."""
    at, epsilons = np.linspace(-60, 60, 12_001), np.linspace(0, 4, 9)
    plan = Plan(1, 2, 1.0, 0.5, (0.5, 2.0), GaussianDP(mu))
    x, told = np.ones((4, 1)), GaussianDP(mu).delta(epsilons)
    worst = 0.0
    for y in ([9.0, 9.0, 9.0, 9.0], [0.1, 9.0, -9.0, 0.1], [0.1, 0.1, 0.1, 9.0]):
        one = law(x, np.array(y), plan, at)
        for other in (-9.0, 0.1, 1.0):
            two = law(x, np.array([other, *y[1:]]), plan, at)
            for p, q in ((one, two), (two, one)):
                spent = np.maximum(p - np.exp(epsilons)[:, None] * q, 0).sum(axis=1) * (at[1] - at[0])
                assert (spent <= told + 1e-6).all()
                worst = max(worst, spent[0] / told[0])
    assert worst > 0.3  # the permutation hides a record from some of the steps


def test_without_the_permutation_the_step_attains_it() -> None:
    """The record that moves θ: two Gaussians 2C apart, of standard deviation 2C/μ."""
    plan, at = Plan(1, 1, 1.0, 0.5, (1.0,), GaussianDP(1.3)), np.linspace(-30, 30, 60_001)
    one, two = (norm.pdf(at, mean, 2 / plan.budget.mu) for mean in (1.0, -1.0))
    spent = np.maximum(one - two, 0).sum() * (at[1] - at[0])
    assert spent == pytest.approx(float(plan.guarantee.delta(0.0)), rel=1e-4)


def test_the_formula_is_the_mean_of_a_linear_recursion() -> None:
    """Against draws of e_t = (1 − a)e_{t−1} + noise, whose variance the formula states."""
    plan, n, d = Plan(6, 5, 0.5, 0.9, (1.0,), GaussianDP(2.0)), 600, 50
    z, b, draw = norm.ppf(0.95), 95, rng(0)
    kappa = norm.expect(lambda g: min(g * g, z * z))
    e = np.tile(np.sqrt(np.full(d, 1 / d)), (4000, 1))
    path, error = [], 1.0
    for _ in range(6):
        scale = 0.5 * math.sqrt((error + 0.2) * (kappa / b + 4 * d * z**2 / (b * 2.0) ** 2))
        e = (1 - 0.45) * e + scale * draw.standard_normal(e.shape)
        error = (1 - 0.45) ** 2 * error + d * scale**2
        path.append(e)
    mean = np.mean(path[3:], axis=0)
    assert (mean**2).sum(axis=1).mean() == pytest.approx(adaptive_clipping.predicted(plan, n, d, 1.0, 0.2), rel=0.02)


@each(
    ("make", "message"),
    [
        (lambda: Plan(0, 1, 1.0, 0.5, (1.0,), MU), "steps must be"),
        (lambda: Plan(1, 0, 1.0, 0.5, (1.0,), MU), "choosing must be"),
        (lambda: Plan(1, 1, -1.0, 0.5, (1.0,), MU), "learning_rate must be"),
        (lambda: Plan(1, 1, 1.0, 1.0, (1.0,), MU), "level must be"),
        (lambda: Plan(1, 1, 1.0, 0.5, (), MU), "the number of points of the grid must be"),
        (lambda: Plan(1, 1, 1.0, 0.5, (1e-200,), MU), "grid must be between"),
        (lambda: Plan(1, 1, 1.0, 0.5, (1.0,), GaussianDP(math.inf)), "mu must be positive and finite"),
        (lambda: Plan(1, 1, 1.0, 0.5, (1.0, 1e150), GaussianDP(1e-150)), "sensitivity / mu must be between"),
        (lambda: Plan(3, 2, 1.0, 0.5, (1.0,), MU).batch(8), "n must be at least 9 for this plan, got 8"),
    ],
)
def test_what_makes_no_sense_is_refused(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
