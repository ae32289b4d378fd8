"""Descent with every iterate released: the pseudocode, sensitivities, accounting, the stationary law, the plan.

Clipped Gaussian residuals: closed forms against quadrature and draws, the inefficiency against Huber's estimates.
"""

import math
from dataclasses import replace

import dp_accounting
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from costofprivacy.privacy import GaussianDP
from costofprivacy.rivals import checkpoint_descent
from costofprivacy.rivals.bounds import prepare
from costofprivacy.rivals.checkpoint_descent import Knowledge, Plan
from tests.each import each, refused

MU = GaussianDP(1.0)


def known(n: int, d: int, label_noise: float = 1.0) -> Knowledge:
    return Knowledge(n, (1.0,) * d, label_noise, 1.0)


def quiet() -> np.random.Generator:
    """A generator of which two copies draw the same noise."""
    return np.random.default_rng(3)


def test_a_run_is_the_pseudocode() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    plan = Plan(0.4, 0.5, 6, 2, GaussianDP(1.7), known(40, 3), share=0.2)
    found = checkpoint_descent.release(x, y, plan, rng=np.random.default_rng(1))
    fresh, path = np.random.default_rng(1), [np.zeros(3)]
    std = 2 * 0.4 * math.sqrt(6) / (1.7 * math.sqrt(0.8))
    for _ in range(6):
        total = np.zeros(3)
        for features, response in zip(x, y, strict=True):
            g = features * (features @ path[-1] - response)
            total += g * min(1.0, 0.4 / np.linalg.norm(g))
        path.append(path[-1] - 0.5 / 40 * (total + std * fresh.standard_normal(3)))
    np.testing.assert_allclose(found.iterates, path, rtol=1e-9)
    np.testing.assert_allclose(found.mean(plan), np.mean(path[3:], axis=0))
    residual = y - x @ np.mean(path[3:], axis=0)
    numbers = [np.sum(np.minimum((residual / 3) ** 2, 1)), np.sum(np.abs(residual) * np.linalg.norm(x, axis=1) > 0.4)]
    noise = math.sqrt(1.25) / (1.7 * math.sqrt(0.2)) * fresh.standard_normal(2)
    told = found.diagnostics
    assert told is not None
    assert told.square == pytest.approx(9 * (numbers[0] + noise[0]) / 40)
    assert told.clipped == pytest.approx((numbers[1] + 2 * noise[1]) / 40)
    assert told.square_std == pytest.approx(9 * math.sqrt(1.25) / (1.7 * math.sqrt(0.2)) / 40)
    assert told.clipped_std == pytest.approx(2 * math.sqrt(1.25) / (1.7 * math.sqrt(0.2)) / 40)


@pytest.mark.parametrize("n", [1, 3000])
def test_a_record_moves_the_diagnostics_by_at_most_their_sensitivity(n: int) -> None:
    """The noise over the movement is at least 1/μ₂, and a record with a large residual attains it."""
    plan = Plan(0.4, 1.0, 1, 0, MU, known(n, 2), share=0.1)
    rng = np.random.default_rng(0)
    x, y, theta, worst = rng.standard_normal((n, 2)), rng.standard_normal(n), np.array([0.3, -1.0]), 0.0
    for features, response in (([0.0, 0.0], 0.0), ([1.0, 1.0], 1e9), ([1.0, 1.0], -0.7), ([math.nan, 0.0], 1.0)):
        scaled = []
        for record in (([1.0, 1.0], -0.7), (features, response)):
            x[0], y[0] = record
            told = checkpoint_descent._diagnose(prepare(x, y), theta, plan, quiet())
            scaled.append([told.square / told.square_std, told.clipped / told.clipped_std])
        worst = max(worst, math.dist(*scaled))
    assert worst == pytest.approx(math.sqrt(0.1) * MU.mu, rel=1e-6)
    assert worst <= math.sqrt(0.1) * MU.mu


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_all_that_is_released_spends_the_budget_by_dp_accounting(share: float) -> None:
    plan = Plan(1.0, 0.1, 37, 5, GaussianDP(0.8), known(100, 2), share)
    events = [dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(plan.noise_multiplier), 37)]
    if share:
        told = checkpoint_descent._diagnose(prepare(np.ones((100, 2)), np.ones(100)), np.zeros(2), plan, quiet())
        multiplier = told.square_std * 100 / 9.0 / math.sqrt(1.25)
        events.append(dp_accounting.GaussianDpEvent(multiplier))
    accountant = dp_accounting.pld.PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_SPECIAL)
    spent = accountant.compose(dp_accounting.ComposedDpEvent(events)).get_epsilon(1e-5)
    assert spent == pytest.approx(GaussianDP(0.8).epsilon(1e-5), rel=0.01)


def test_iterates_have_the_stationary_law() -> None:
    """Without clipping: the covariance and its decay, in closed form, and the efficient variance of the mean."""
    rng = np.random.default_rng(0)
    n, rate = 30, 0.6
    x = rng.standard_normal((n, 2)) * [1.0, 0.7]
    y = 0.1 * rng.standard_normal(n)
    plan = Plan(1e4, rate, 12_000, 100, GaussianDP(1e7), known(n, 2), share=0.0)
    found = checkpoint_descent.release(x, y, plan, rng=rng)
    assert found.diagnostics is None
    found = found.stationary(plan)
    H = x.T @ x / n
    still, solution = np.eye(2) - rate * H, np.linalg.lstsq(x, y)[0]
    moved = found - solution
    law = rate * plan.gradient_noise**2 * np.linalg.inv(H @ (2 * np.eye(2) - rate * H))
    size = np.abs(law).max()
    np.testing.assert_allclose(moved.T @ moved / len(moved), law, atol=0.06 * size)
    np.testing.assert_allclose(moved[3:].T @ moved[:-3] / len(moved), still @ still @ still @ law, atol=0.06 * size)
    efficient = plan.gradient_noise / math.sqrt(len(moved)) * np.sqrt(np.diag(np.linalg.inv(H @ H)))
    assert (np.abs(moved.mean(axis=0)) < 3 * efficient).all()


def test_a_plan_is_the_best_of_its_neighbours_and_knows_its_scale() -> None:
    plan = checkpoint_descent.plan(3000, 5, MU, 1.0, spectrum=np.array([2.0, 1.0, 1.0, 0.5, 0.5]))
    least = checkpoint_descent._half_width(plan, 1.0)
    for factor in (0.8, 1.25):
        assert checkpoint_descent._half_width(replace(plan, clip_norm=factor * plan.clip_norm), 1.0) > least
    scaled = checkpoint_descent.plan(3000, 5, MU, 10.0, spectrum=4 * np.array([2.0, 1.0, 1.0, 0.5, 0.5]))
    assert scaled.clip_norm == pytest.approx(20 * plan.clip_norm)
    assert scaled.learning_rate == pytest.approx(plan.learning_rate / 4)
    assert (scaled.steps, scaled.burn_in) == (plan.steps, plan.burn_in)
    milder = checkpoint_descent.plan(3000, 5, MU, 1.0, spectrum=np.array([2.0, 1.0, 1.0, 0.5, 0.5]), of="empirical")
    assert milder.clip_norm > plan.clip_norm


def test_what_a_plan_predicts_is_what_runs_do() -> None:
    """The spread that iterates add to residuals, the share that clipping keeps, and the error of the mean."""
    n, d, error, spread, kept = 500, 3, [], [], []
    plan = checkpoint_descent.plan(n, d, GaussianDP(1.5), 1.0)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x, theta = rng.standard_normal((n, d)), rng.standard_normal(d) / math.sqrt(d)
        y = x @ theta + rng.standard_normal(n)
        found = checkpoint_descent.release(x, y, plan, rng=rng)
        path = found.stationary(plan)
        spread.append(np.mean(np.sum((path - path.mean(0)) @ (x.T @ x / n) * (path - path.mean(0)), axis=1)))
        kept.append(1 - np.mean(np.abs(x @ path[-1] - y) * np.linalg.norm(x, axis=1) > plan.clip_norm))
        error.append(np.mean((found.mean(plan) - np.linalg.lstsq(x, y)[0]) ** 2))
    assert math.sqrt(np.mean(spread) / plan.kept) / plan.spread == pytest.approx(1 / plan.kept, rel=0.15)
    total = math.hypot(1.0, plan.spread)
    share = np.mean(2 * norm.sf(plan.clip_norm / np.sqrt(plan.knowledge.norms) / total))
    assert 1 - np.mean(kept) == pytest.approx(share, abs=0.02)
    private = plan.gradient_noise**2 / plan.kept**2 / (plan.steps - plan.burn_in)
    cut = checkpoint_descent.smoothed(plan.clip_norm, 1.0, plan.spread, plan.knowledge.norms) / n
    assert d * np.mean(error) == pytest.approx(d * (private + cut), rel=0.25)


@each(
    ("call", "words"),
    [
        (lambda: Plan(1e-200, 0.1, 5, 1, MU, known(9, 2)), "clip_norm must be between"),
        (lambda: Plan(1.0, 0.0, 5, 1, MU, known(9, 2)), "learning_rate must be"),
        (lambda: Plan(1.0, 0.1, 5, 5, MU, known(9, 2)), "burn_in must be between 0 and 4"),
        (lambda: Plan(1.0, 0.1, 5, 1, GaussianDP(math.inf), known(9, 2)), "mu must be"),
        (lambda: Plan(1.0, 0.1, 5, 1, MU, known(9, 2), share=1.0), "share must be between 0 and 1"),
        (lambda: checkpoint_descent.plan(2, 2, MU, 1.0), "n must be a whole number of at least 3"),
        (lambda: Knowledge(9, (1.0, -1.0), 1.0, 1.0), "spectrum must be between"),
        (lambda: Knowledge(9, (), 1.0, 1.0), "the number of eigenvalues in spectrum must be"),
        (lambda: Knowledge(9, (1.0,), 0.0, 1.0), "label_noise must be between"),
        (lambda: checkpoint_descent.plan(100, 2, MU, 1.0, spectrum=np.ones(3)), r"spectrum must have shape \(2\)"),
        (lambda: checkpoint_descent.plan(100, 2, MU, 1.0, most_steps=4), "most_steps must be"),
        (lambda: checkpoint_descent.plan(100, 2, MU, 1.0, of="both"), "of must be one of empirical, population"),
        (
            lambda: checkpoint_descent.release(
                np.ones((8, 2)), np.ones(8), Plan(1.0, 0.1, 5, 1, MU, known(9, 2)), rng=quiet()
            ),
            r"x must have shape \(9, 2\), which the plan was made for, got \(8, 2\)",
        ),
    ],
)
def test_what_is_not_admissible_is_named(call, words: str) -> None:
    refused(words, call)


def test_as_many_cosines_are_counted_as_keep_the_last_factor_small() -> None:
    decay = 0.8
    count = checkpoint_descent.cosine_count(40, decay)
    factors = [1 + 2 * decay * (1 - math.cos(math.pi * k / 40)) / (1 - decay) ** 2 for k in (count, count + 1)]
    assert count == checkpoint_descent.LEAST or factors[0] <= checkpoint_descent.LARGEST
    assert factors[1] > checkpoint_descent.LARGEST
    assert checkpoint_descent.cosine_count(40, 0.0) == 20
    refused(r"decay must be below 1, got 1\.0", checkpoint_descent.cosine_count, 40, 1.0)
    refused("steps must be a whole number of at least 6", checkpoint_descent.cosine_count, 5, 0.5)


# ---- Gaussian clipping ----

ONE = np.ones(1)


@pytest.mark.parametrize("ratio", [0.3, 2.5])
def test_closed_forms_are_integrals(ratio: float) -> None:
    std = 1.7
    bound = ratio * std

    def mean(function) -> float:
        return quad(lambda r: function(r) * norm.pdf(r, scale=std), -12 * std, 12 * std, points=[-bound, bound])[0]

    square = mean(lambda r: min(r * r, bound**2))
    assert float(checkpoint_descent.clipped_square(bound, std)) == pytest.approx(square, rel=1e-8)
    inside = mean(lambda r: float(abs(r) < bound))
    assert checkpoint_descent.gaussian_clipping_kept(bound, std, ONE) == pytest.approx(inside, rel=1e-6)
    stein = mean(lambda r: r * max(-bound, min(r, bound))) / std**2
    assert checkpoint_descent.gaussian_clipping_kept(bound, std, ONE) == pytest.approx(stein, rel=1e-8)
    assert checkpoint_descent.inefficiency(bound, std, ONE) == pytest.approx(square / (inside * std) ** 2 - 1, rel=1e-5)


def test_the_inefficiency_is_the_distance_of_huber_s_estimate_from_least_squares() -> None:
    rng = np.random.default_rng(0)
    n, d, C = 400, 3, 2.0
    apart = []
    for _ in range(150):
        x, y = rng.standard_normal((n, d)), rng.standard_normal(n)
        root, limit = np.linalg.lstsq(x, y)[0], C / np.linalg.norm(x, axis=1)
        for _ in range(30):  # steps of the whole curvature: a contraction
            root = root - np.linalg.solve(x.T @ x, x.T @ np.clip(x @ root - y, -limit, limit))
        apart.append(np.sum((root - np.linalg.lstsq(x, y)[0]) ** 2))
    expected = checkpoint_descent.inefficiency(C, 1.0, checkpoint_descent.squared_norms(np.ones(d))) * d / n
    assert np.mean(apart) == pytest.approx(expected, rel=0.2)
    assert (
        expected
        > 2 * checkpoint_descent.inefficiency(1.5 * C, 1.0, checkpoint_descent.squared_norms(np.ones(d))) * d / n
    )


@pytest.mark.parametrize("spread", [0.2, 1.0])
def test_fluctuation_makes_clipping_milder(spread: float) -> None:
    """The averaged residual by quadrature: its inefficiency is at most the bound, and most of it."""
    C, total = 0.8, math.hypot(1.0, spread)
    grid, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    fine = np.linspace(-8, 8, 4001)
    density = norm.pdf(fine) / norm.pdf(fine).sum()
    averaged = np.array([np.clip(r + spread * fine, -C, C) @ density for r in grid])
    m = checkpoint_descent.gaussian_clipping_kept(C, total, ONE)
    exact = weights @ averaged**2 / m**2 - 1
    bound = checkpoint_descent.smoothed(C, 1.0, spread, ONE)
    assert 0.5 * bound < exact <= bound * 1.001
    assert bound < checkpoint_descent.inefficiency(C, 1.0, ONE)
