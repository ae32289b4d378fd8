"""Descent whose steps are guarded: the plain algorithm where none is too long, and what the guard does where one is."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.privacy import sums
from costofprivacy.rivals import batch_descent, guarded_descent
from costofprivacy.rivals.batch_descent import Plan
from costofprivacy.rivals.guarded_descent import Shape, guarded

D = 30


def factor(loading: float, n: int = 3000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features with a common factor, whose largest eigenvalue is 1 + loading² D, and a response of variance 1."""
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((n, D)) + loading * draw.standard_normal((n, 1))
    theta = draw.standard_normal(D) / math.sqrt(D)
    y = x @ theta
    return x, y / y.std() + 0.3 * draw.standard_normal(n)


def loss(x: np.ndarray, y: np.ndarray, theta: np.ndarray) -> float:
    return float(((x @ theta - y) ** 2).mean())


@pytest.mark.parametrize("noise", [0.01, 5.0])
def test_without_a_step_that_is_too_long_it_is_plain_descent(noise: float) -> None:
    """To rounding, on the same noise."""
    x, y = factor(0.0)
    plan = Plan(0.5 * math.sqrt(D), (0.1,) * 8, noise)
    plain = batch_descent.releases(x, y, [plan], rng=np.random.default_rng(5))[0]
    found = guarded_descent.release(x, y, plan, rng=np.random.default_rng(5))
    np.testing.assert_allclose(found, plain, rtol=1e-10, atol=1e-14)


def test_a_common_factor_makes_plain_descent_diverge_and_not_this_one() -> None:
    """The step 0.5 is 15 times too long along the factor."""
    x, y = factor(1.0)
    plan = Plan(20.0, (0.5,) * 12, 1.0)
    plain = batch_descent.releases(x, y, [plan], rng=np.random.default_rng(5))[0]
    found = guarded_descent.release(x, y, plan, rng=np.random.default_rng(5))
    assert loss(x, y, plain) > 10 * y.var()
    assert loss(x, y, found) < 0.2 * y.var()


def test_without_noise_and_clipping_the_guard_finds_the_largest_eigenvalue() -> None:
    """After two gradients the step along the eigenvector is about 1/λ; others are as planned."""
    values = np.r_[40.0, np.linspace(0.5, 1.5, D - 1)]
    draw = np.random.default_rng(1)
    start, rate = draw.standard_normal(D), 0.5
    first, move = values * start, -rate * values * start
    second = values * (start + move)
    shape = guarded(second - first, move, rate, 0.0, Shape.whole(D))
    assert rate * shape.apply(np.eye(D)[0])[0] == pytest.approx(1 / 40, rel=0.05)
    others = np.array([shape.apply(row)[k] for k, row in enumerate(np.eye(D))][1:])
    assert others.min() > 0.95


@given(
    turns=st.lists(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3), min_size=1, max_size=6),
    rate=st.floats(1e-3, 10.0),
    variance=st.floats(0.0, 10.0),
)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_whatever_the_gradients_steps_are_only_shortened(
    turns: list[list[float]], rate: float, variance: float
) -> None:
    """S is symmetric, positive semidefinite and at most the identity."""
    shape = Shape.whole(3)
    for turn in turns:
        shape = guarded(np.array(turn), -rate * shape.apply(np.array(turn[::-1])), rate, variance, shape)
        whole = np.array([shape.apply(row) for row in np.eye(3)])
        values = np.linalg.eigvalsh((whole + whole.T) / 2)
        assert np.isfinite(values).all()
        assert values.min() > -1e-6
        assert values.max() < 1 + 1e-6
        assert shape.trace == pytest.approx(np.trace(whole), abs=1e-6)


def literal(x: np.ndarray, y: np.ndarray, plans: list[Plan], normals: np.ndarray) -> np.ndarray:
    """All iterates of plain descents, one after the other, shape (T, d)."""
    theta, found, n = np.zeros(x.shape[1]), [], len(y)
    for plan in plans:
        std = 2 * plan.clip_norm * (1 + sums.slack(*x.shape)) * plan.noise_multiplier
        for rate in plan.learning_rates:
            gradients = (x @ theta - y)[:, None] * x
            norms = np.linalg.norm(gradients, axis=1, keepdims=True)
            pull = (gradients * np.minimum(1.0, plan.clip_norm / norms)).sum(axis=0)
            theta = theta - rate / n * (pull + std * normals[len(found)])
            found.append(theta)
    return np.array(found)


@pytest.mark.parametrize("averaged", [1, 3, 6, 10])
def test_stages_follow_each_other_and_the_last_iterates_are_averaged(averaged: int) -> None:
    x, y = factor(0.0, n=500)
    plans = [Plan(0.5 * math.sqrt(D), (0.1,) * 4, 5.0), Plan(0.2 * math.sqrt(D), (0.2, 0.1) * 3, 3.0)]
    normals = np.random.default_rng(5).standard_normal((10, D))
    found = guarded_descent.release(x, y, *plans, averaged=averaged, rng=np.random.default_rng(5))
    np.testing.assert_allclose(found, literal(x, y, plans, normals)[-averaged:].mean(axis=0), rtol=1e-9)


@pytest.mark.slow
def test_the_mean_of_iterates_has_the_noise_of_one_newton_step() -> None:
    """(2Cσ/n)²/(Aλ²) in each coordinate, for features with a second moment of λI."""
    n, d, steps = 400, 2, 200
    x = np.tile(np.eye(d), (n // d, 1)) * 2.0  # λ = 2
    plan = Plan(50.0, (0.2,) * steps, math.sqrt(steps))
    found = [
        guarded_descent.release(x, np.zeros(n), plan, averaged=steps, rng=np.random.default_rng(seed))
        for seed in range(600)
    ]
    wanted = 2 * 50.0 / n / 2.0  # the step's σ is √A times as large
    assert np.std(found) == pytest.approx(wanted, rel=0.06)


def test_absurd_plans_and_records_leave_finite_coefficients() -> None:
    x, y = factor(1.0, n=50)
    for plan in (Plan(1e150, (1e300,) * 4, 1e-3), Plan(1e-150, (1e300,) * 4, 1e3), Plan(1.0, (0.0, 0.0), 1.0)):
        assert np.isfinite(guarded_descent.release(x * 1e100, y, plan, rng=np.random.default_rng(0))).all()
