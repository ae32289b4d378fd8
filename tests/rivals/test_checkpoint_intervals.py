"""Intervals from released iterates: coverage, what they are made of, and what makes them refuse."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from costofprivacy.privacy import GaussianDP
from costofprivacy.rivals import checkpoint_descent, checkpoint_intervals, checkpoint_plan, gaussian_clipping
from costofprivacy.rivals.checkpoint_descent import Diagnostics, Trajectory
from costofprivacy.rivals.checkpoint_intervals import Intervals
from costofprivacy.rivals.checkpoint_plan import Plan

n, d = 500, 3
THETA = np.array([0.8, -0.5, 0.3])
Draw = Callable[[np.random.Generator, int], np.ndarray]


def gaussian(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.standard_normal(size)


@cache
def planned(of: str, share: float = checkpoint_plan.SHARE) -> Plan:
    return checkpoint_plan.plan(n, d, GaussianDP(1.5), 1.0, of=of, share=share)


def run(
    plan: Plan, seed: int, noise: Draw = gaussian, scale: np.ndarray | float = 1.0
) -> tuple[Trajectory, np.ndarray]:
    """A trajectory on drawn records, and least squares on them."""
    rng = np.random.default_rng(seed)
    size = plan.knowledge.n
    x = rng.standard_normal((size, d)) * scale
    y = x @ THETA + noise(rng, size)
    return checkpoint_descent.release(x, y, plan, rng=rng), np.linalg.lstsq(x, y)[0]


def covered(found: Intervals, truth: np.ndarray, narrowed: float = 1.0) -> np.ndarray:
    return np.abs(found.center - truth) <= narrowed * (found.high - found.low) / 2


@pytest.mark.parametrize("of", ["empirical", "population"])
def test_intervals_cover_and_narrower_ones_do_not(of: str) -> None:
    """At the level, to a one-sided binomial test; with a standard error that is a third too small they fail it."""
    plan, inside, narrow, runs = planned(of), [], [], 120
    for seed in range(runs):
        released, solution = run(plan, seed)
        found = checkpoint_intervals.intervals(released, plan, of=of)
        assert found.reason == ""
        truth = THETA if of == "population" else solution
        inside.append(covered(found, truth).mean())
        narrow.append(covered(found, truth, 0.67).mean())
    error = np.std(inside) / math.sqrt(runs)
    assert 0.9 - 2.5 * error < np.mean(inside) < 0.97
    assert np.mean(narrow) < 0.9 - 4 * np.std(narrow) / math.sqrt(runs)


@pytest.mark.parametrize("law", [lambda rng, m: rng.standard_t(3, m), lambda rng, m: rng.exponential(size=m) - 1])
def test_the_population_is_covered_whatever_the_residuals(law: Draw) -> None:
    plan, inside = planned("population"), []
    for seed in range(80):
        inside.append(covered(checkpoint_intervals.population(run(plan, seed, law)[0], plan), THETA).mean())
    assert np.mean(inside) > 0.9 - 2.5 * np.std(inside) / math.sqrt(80)


def test_the_variances_are_those_of_the_text() -> None:
    plan = planned("population")
    released, _ = run(plan, 0)
    seen = checkpoint_intervals.measured(released, plan)
    cut = gaussian_clipping.smoothed(plan.clip_norm, seen.knowledge.label_noise, seen.spread, plan.knowledge.norms)
    empirical, population = (checkpoint_intervals.further_variance(released, plan, of) for of in checkpoint_plan.OF)
    np.testing.assert_allclose(empirical / population, checkpoint_plan.TAILS * cut / (1 + cut))
    np.testing.assert_allclose(population, (1 + cut) * seen.knowledge.label_noise**2 / (n - d), rtol=0.6)
    wide, narrow = (checkpoint_intervals.intervals(released, plan, level) for level in (0.99, 0.5))
    assert (wide.low < narrow.low).all()
    assert (wide.high > narrow.high).all()
    np.testing.assert_allclose((wide.low + wide.high) / 2, released.mean(plan))


def test_the_further_variance_is_that_of_huber_s_estimate_under_an_aggressive_clip() -> None:
    """What is added for the population is σ²(1 + f)/n in isotropic features, though the iterates see less curvature."""
    plan = checkpoint_plan.plan(n, d, GaussianDP(0.7), 1.0)
    assert plan.kept < 0.8
    found = [checkpoint_intervals.further_variance(run(plan, seed)[0], plan, "population") for seed in range(40)]
    cut = gaussian_clipping.smoothed(plan.clip_norm, 1.0, plan.spread, plan.knowledge.norms)
    assert np.mean(found) == pytest.approx((1 + cut) / (n - d - 1), rel=0.12)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_stationary_variance_tells_the_inverse_curvature(rate: float) -> None:
    """Exact for one eigenvalue; not too small where a coordinate mixes two, by exact stationary variances."""
    values = np.array([1.0, 0.4])
    plan = Plan(1.0, rate, 20_000, 0, GaussianDP(1.0), checkpoint_plan.Knowledge(100, (1.0, 0.4), 1.0, 1.0))
    rng, state, path = np.random.default_rng(0), np.zeros(2), np.empty((20_001, 2))
    steps = rate * plan.gradient_noise * rng.standard_normal((20_001, 2))
    for k, step in enumerate(steps):
        path[k] = state
        state = (1 - rate * values) * state - step
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    along = checkpoint_intervals.inverse_curvature(Trajectory(path, None), plan)
    np.testing.assert_allclose(along, 1 / values, rtol=0.15)
    mixed = checkpoint_intervals.inverse_curvature(Trajectory(path @ turn.T, None), plan)
    truth = np.diag(turn @ np.diag(1 / values) @ turn.T)
    assert (mixed > 0.93 * truth).all()
    assert (mixed < 1.3 * truth).all()


@pytest.mark.parametrize("std", [0.2, 1.0, 2.0])
def test_the_measured_residuals_tell_their_size(std: float) -> None:
    plan = planned("population")
    square = float(gaussian_clipping.clipped_square(plan.residual_bound, std))
    found = checkpoint_intervals.residual_std(Diagnostics(0.0, 1.0, square, 1.0), plan)
    assert found == pytest.approx(std)


@pytest.mark.parametrize(("square", "limit"), [(-1.0, 3 / 50), (1e9, 6.0)])
def test_noise_beyond_all_residuals_tells_a_limit(square: float, limit: float) -> None:
    found = checkpoint_intervals.residual_std(Diagnostics(0.0, 1.0, square, 1.0), planned("population"))
    assert found == pytest.approx(limit)


def refused(plan: Plan, of: str, *args: object, **more: object) -> str:
    """The reason, with ends that are NaN."""
    released, _ = run(plan, 1, *args, **more)  # type: ignore[arg-type]
    found = checkpoint_intervals.intervals(released, plan, of=of)
    assert bool(found.reason) == bool(np.isnan(found.low).all()) == bool(np.isnan(found.high).all())
    assert np.isfinite(found.center).all()
    return found.reason


def test_too_few_relaxation_times_have_no_interval() -> None:
    assert "too few effective draws" in refused(replace(planned("population"), steps=14), "population")
    fast = replace(planned("population"), learning_rate=3.0, burn_in=3, steps=8)
    assert "too few effective draws: 5 iterates" in refused(fast, "population")


def test_no_more_records_than_coefficients_have_no_interval() -> None:
    plan = replace(planned("population"), knowledge=checkpoint_plan.Knowledge(d, (1.0,) * d, 1.0, 1.0))
    assert "too few effective draws" in refused(plan, "population")


def test_an_eigenvalue_below_the_plan_s_has_no_interval() -> None:
    plan = planned("population")
    assert "more slowly than the least eigenvalue" in refused(plan, "population", scale=np.array([1.0, 1.0, 0.25]))


def test_an_eigenvalue_far_above_the_plan_s_has_no_interval() -> None:
    plan = planned("population")
    assert "alternate" in refused(plan, "population", scale=np.array([1.0, 1.0, 1.8]))


def test_large_residuals_have_no_interval() -> None:
    far = refused(planned("population"), "population", lambda rng, m: 60 * rng.standard_normal(m))
    assert "too large for their bound of 3" in far


def test_heavy_tails_have_no_empirical_interval_where_they_can_be_seen() -> None:
    plan = checkpoint_plan.plan(5000, d, GaussianDP(3.0), 1.0, of="empirical")
    heavy = lambda rng, m: rng.standard_t(2.5, m)  # noqa: E731
    assert "clipping is active" in refused(plan, "empirical", heavy)
    assert refused(plan, "population", heavy) == ""
    assert refused(plan, "empirical") == ""


def test_without_diagnostics_the_plan_s_word_is_taken() -> None:
    plan = planned("population", share=0.0)
    released, _ = run(plan, 0)
    assert released.diagnostics is None
    assert checkpoint_intervals.measured(released, plan) is plan
    assert checkpoint_intervals.intervals(released, plan).reason == ""


def test_arguments_are_checked() -> None:
    plan = planned("population")
    released, _ = run(plan, 0)
    for words, call in {
        "level must be": lambda: checkpoint_intervals.intervals(released, plan, 1.5),
        "of must be one of": lambda: checkpoint_intervals.intervals(released, plan, of="both"),
        "trajectory.iterates must have shape": lambda: checkpoint_intervals.intervals(
            Trajectory(released.iterates[1:], None), plan
        ),
    }.items():
        with pytest.raises(ValueError, match=words):
            call()
