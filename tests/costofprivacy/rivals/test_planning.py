"""What every plan of a clipped descent promises: less error with more budget, no more than the constant, the truth.

The two numbers of a clipped normal, against quadrature and their limits. Both methods whose clips other records choose:
pseudocode, the exact trade-off of a small run, formulas.
"""

import itertools
import math
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from costofprivacy.dpgd import spectrum
from costofprivacy.privacy import GaussianDP
from costofprivacy.rivals import adaptive_clipping, batch_descent, correlated_noise, private_quantile, robust_clipping
from costofprivacy.rivals.adaptive_clipping import Plan as Adaptive
from costofprivacy.rivals.robust_clipping import Plan as Robust
from tests.each import each, refused


@dataclass(frozen=True)
class Method:
    """A module with `plan`, `predicted` and `release`; ``least`` is the fewest records that it takes."""

    module: ModuleType
    least: int
    counted: bool = True  # whether the number of records is an argument of `predicted`, or in the plan

    def planned(self, n: int, d: int, explained: float, noise: float, mu: float) -> Any:
        return self.module.plan(n, d, explained, noise, GaussianDP(mu))

    def predicted(self, plan: Any, n: int, d: int, explained: float, noise: float) -> float:
        sizes = (n, d) if self.counted else (d,)
        return float(self.module.predicted(plan, *sizes, explained, noise))

    def promised(self, n: int, d: int, explained: float, noise: float, mu: float) -> float:
        return self.predicted(self.planned(n, d, explained, noise, mu), n, d, explained, noise)


ADAPTIVE, ROBUST = Method(adaptive_clipping, 2), Method(robust_clipping, 3)
CORRELATED = Method(correlated_noise, 1, counted=False)
METHODS = [ADAPTIVE, ROBUST, CORRELATED]


def rng(seed: int = 3) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("method", "n", "d", "mu", "seeds", "near"),
    [
        pytest.param(ADAPTIVE, 4000, 20, 0.5, 30, 0.3, id="adaptive"),
        pytest.param(ROBUST, 6000, 30, 0.5, 30, 0.35, id="robust"),
        pytest.param(CORRELATED, 4000, 20, 0.4, 10, 0.35, id="correlated, small budget"),
        pytest.param(CORRELATED, 4000, 20, 2.0, 10, 0.35, id="correlated, large budget"),
    ],
)
def test_the_formula_predicts_the_error_on_isotropic_data(
    method: Method, n: int, d: int, mu: float, seeds: int, near: float
) -> None:
    values = spectrum.isotropic(d)
    model = spectrum.RegressionModel(values, spectrum.projections(values, 0.0, 0.5), 0.3)
    plan = method.planned(n, d, 1.0, 0.09, mu)
    errors = []
    for seed in range(seeds):
        x, y = spectrum.sample(model, n, rng=rng(seed))
        errors.append(2 * float(model.risk(method.module.release(x, y, plan, rng=rng(seed + 1000)))))
    assert np.mean(errors) == pytest.approx(method.predicted(plan, n, d, 1.0, 0.09), rel=near)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("n", "mu", "explained", "noise"),
    [(None, 1e4, 1e6, 1e-3), (10, 1e-3, 1e-20, 0.0), (200, 1e4, 1e-8, 1.0), (10**6, 1e-3, 1.0, 0.1)],
)
def test_no_plan_promises_more_error_than_the_constant(
    method: Method, n: int | None, mu: float, explained: float, noise: float
) -> None:
    """Also with the fewest records that it takes."""
    count = n or method.least
    for d in (1, 784):
        assert method.promised(count, d, explained, noise, mu) <= explained * (1 + 1e-9)
    if count <= 200:
        x = rng().standard_normal((count, 3))
        plan = method.planned(count, 3, explained, noise, mu)
        assert np.isfinite(method.module.release(x, x[:, 0], plan, rng=rng())).all()


# ---- Clipped normal ----


@each("z", [1e-3, 0.4, 1.0, 2.5, 12.0])
def test_both_are_the_integrals(z: float) -> None:
    inside = quad(norm.pdf, -z, z, points=[0.0])[0]
    square = quad(lambda g: g**2 * norm.pdf(g), -z, z, points=[0.0])[0] + z**2 * 2 * norm.sf(z)
    assert batch_descent.kept(z) == pytest.approx(inside, rel=1e-7)
    assert batch_descent.mean_square(z) == pytest.approx(square, rel=1e-7)
    assert inside > 0.9999 or batch_descent.threshold(inside) == pytest.approx(z)


def test_a_tight_clip_leaves_signs_and_a_wide_one_leaves_everything() -> None:
    assert batch_descent.mean_square(1e-4) == pytest.approx(1e-8, rel=1e-3)
    assert batch_descent.mean_square(40.0) == 1.0
    refused("z must be positive and finite", batch_descent.kept, 0.0)
    refused("level must be between 0 and 1", batch_descent.threshold, math.nan)


# ---- Adaptive clipping ----

MU = GaussianDP(1.0)


def test_a_run_of_adaptive_clipping_is_the_pseudocode() -> None:
    draw = rng(0)
    x, y = draw.standard_normal((41, 3)), draw.standard_normal(41)
    plan = Adaptive(4, 3, 0.3, 0.6, private_quantile.geometric_grid(2.0), GaussianDP(1.7))
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


def adaptive_law(x: np.ndarray, y: np.ndarray, plan: Adaptive, at: np.ndarray) -> np.ndarray:
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


def most_spent(laws: list[np.ndarray], at: np.ndarray, mu: float) -> float:
    """δ(0) of the pair of neighbours that is told apart best, over that of the Gaussian; at no ε any spends more."""
    epsilons, worst = np.linspace(0, 4, 9), 0.0
    told = GaussianDP(mu).delta(epsilons)
    for one, two in itertools.permutations(laws, 2):
        spent = np.maximum(one - np.exp(epsilons)[:, None] * two, 0).sum(axis=1) * (at[1] - at[0])
        assert (spent <= told + 1e-6).all()
        worst = max(worst, spent[0] / told[0])
    return worst


def test_the_whole_adaptive_step_spends_no_more_than_the_gaussian() -> None:
    """Records that choose a clip and records that move θ, each replaced by a very different one; δ by a sum."""
    at, plan = np.linspace(-60, 60, 3001), Adaptive(1, 2, 1.0, 0.5, (0.5, 2.0), GaussianDP(2.0))
    found = []
    for rest in ([9.0, 9.0, 9.0], [9.0, -9.0, 0.1], [0.1, 0.1, 9.0]):
        laws = [adaptive_law(np.ones((4, 1)), np.array([own, *rest]), plan, at) for own in (9.0, -9.0, 0.1, 1.0)]
        found.append(most_spent(laws, at, 2.0))
    assert max(found) > 0.3  # the permutation hides a record from some of the steps


def test_the_formula_of_adaptive_clipping_is_the_mean_of_a_linear_recursion() -> None:
    """Against draws of e_t = (1 − a)e_{t−1} + noise, whose variance the formula states."""
    plan, n, d = Adaptive(6, 5, 0.5, 0.9, (1.0,), GaussianDP(2.0)), 600, 50
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


# ---- Robust clipping ----

ONE = Robust(1, 1.0, 5, 5, 0.5, 0.5, (1.5,), (0.4,), MU)


def test_a_run_of_robust_clipping_is_the_pseudocode() -> None:
    draw = rng(0)
    x, y = draw.standard_normal((40, 3)), draw.standard_normal(40)
    grids = private_quantile.geometric_grid(1.7), private_quantile.geometric_grid(1.0)
    plan = Robust(3, 0.3, 6, 9, 0.6, 0.7, *grids, GaussianDP(1.7))
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


def robust_law(x: np.ndarray, y: np.ndarray, plan: Robust, at: np.ndarray) -> np.ndarray:
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


def test_the_whole_of_one_step_spends_no_more_than_the_gaussian() -> None:
    at = np.linspace(-50, 50, 1501)
    plan = Robust(1, 1.0, 1, 1, 0.5, 0.5, (0.5, 2.0), (0.5, 2.0), GaussianDP(2.0))
    rest = np.array([[0.1], [5.0], [5.0]]), np.array([0.1, 5.0, 5.0])
    records = [(5.0, 5.0), (5.0, -5.0), (0.1, 5.0), (0.1, 0.1)]
    laws = [robust_law(np.vstack([rest[0], [[a]]]), np.append(rest[1], b), plan, at) for a, b in records]
    assert most_spent(laws, at, 2.0) > 0.3  # the permutation hides a record from some of the parts


def test_the_formula_of_one_step_in_numbers() -> None:
    """(1 − a)²v, the noise 4Θ²z²P/(bμ)² in d coordinates, and (1 − (1 − a)^T)² dκP/(bq²)."""
    plan = replace(ONE, norms=100, residuals=100, level=0.5, learning_rate=0.8, budget=GaussianDP(2.0))
    z = norm.ppf(0.75)
    kappa = norm.expect(lambda g: min(g * g, z * z))
    after = 0.6**2 * 1.0 + 9 * 0.8**2 * 4 * 9 * z**2 * 1.2 / (500 * 2.0) ** 2
    expected = after + 0.4**2 * 9 * kappa * (after + 0.2) / (500 * 0.25)
    assert robust_clipping.predicted(plan, 700, 9, 1.0, 0.2) == pytest.approx(expected, rel=1e-6)


@each(
    ("make", "message"),
    [
        (lambda: Adaptive(0, 1, 1.0, 0.5, (1.0,), MU), "steps must be"),
        (lambda: Adaptive(1, 0, 1.0, 0.5, (1.0,), MU), "choosing must be"),
        (lambda: Adaptive(1, 1, -1.0, 0.5, (1.0,), MU), "learning_rate must be"),
        (lambda: Adaptive(1, 1, 1.0, 1.0, (1.0,), MU), "level must be"),
        (lambda: Adaptive(1, 1, 1.0, 0.5, (), MU), "the number of points of the grid must be"),
        (lambda: Adaptive(1, 1, 1.0, 0.5, (1e-200,), MU), "grid must be between"),
        (lambda: Adaptive(1, 1, 1.0, 0.5, (1.0,), GaussianDP(math.inf)), "mu must be positive and finite"),
        (lambda: Adaptive(1, 1, 1.0, 0.5, (1.0, 1e150), GaussianDP(1e-150)), "sensitivity / mu must be between"),
        (lambda: Adaptive(3, 2, 1.0, 0.5, (1.0,), MU).batch(8), "n must be at least 9 for this plan, got 8"),
        *((lambda m=m: m.module.plan(100, 2, 0.0, 0.0, MU), "explained_variance must be") for m in METHODS),
        *((lambda m=m: m.module.plan(100, 2, 1.0, -1.0, MU), "noise_variance must be") for m in METHODS),
        *((lambda m=m: m.module.plan(m.least - 1, 2, 1.0, 0.0, MU), "n must be") for m in METHODS),
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
    refused(message, make)
