"""DP-FTRL: covariance of its noise and sensitivity by explicit matrices, the exact trade-off, pseudocode, streams.

Strategies for prefix sums: recursions against the explicit matrix, the square root, sensitivity and errors.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.linalg import sqrtm, toeplitz
from scipy.stats import norm

from costofprivacy.privacy import GaussianDP
from costofprivacy.rivals import correlated_noise
from costofprivacy.rivals.correlated_noise import (
    Banded,
    Buffered,
    Plan,
    Strategy,
    coefficients,
    noise_coefficients,
    square_root,
)
from tests.each import each, refused


def banded(bands: int, decay: float = 1.0) -> Banded:
    """The square root's first coefficients."""
    return Banded(tuple(coefficients(bands, decay)[1:].tolist()))


def largest_error(strategy: Strategy, steps: int) -> float:
    """The largest standard deviation of a prefix sum's noise if each sum may move by 1 once and μ = 1."""
    return float(np.sqrt(strategy.square(steps)) * np.linalg.norm(np.cumsum(noise_coefficients(strategy, steps))))


MU = GaussianDP(0.7)
T, K = 6, 0.4
STRATEGIES = [Banded(), banded(3), banded(T), square_root(T), square_root(T, 0.6)]
PLANS = [Plan(K, 0.5, 5, T, strategy, MU) for strategy in STRATEGIES]


def rng(seed: int = 3) -> np.random.Generator:
    return np.random.default_rng(seed)


def matrix(strategy: Strategy, steps: int) -> np.ndarray:
    return np.tril(toeplitz(strategy.column(steps)))


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: repr(plan.strategy))
def test_a_run_is_the_pseudocode(plan: Plan) -> None:
    draw = rng(0)
    x, y = draw.standard_normal((28, 3)), draw.standard_normal(28)
    found = correlated_noise.iterates(x, y, plan, rng=rng(1))
    std = 2 * K / MU.mu * np.linalg.norm(matrix(plan.strategy, T), axis=0).max()
    noise = np.linalg.solve(matrix(plan.strategy, T), std * rng(1).standard_normal((T, 3)))
    theta = np.zeros(3)
    for t in range(T):
        total = np.zeros(3)
        for i in range(5 * t, min(5 * t + 5, 28)):
            g = x[i] * (x[i] @ theta - y[i])
            total += g * min(1.0, K / np.linalg.norm(g))
        theta = theta - 0.5 / 5 * (total + noise[t])
        np.testing.assert_allclose(found[t], theta, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(correlated_noise.release(x, y, plan, rng=rng(1)), found[3:].mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: repr(plan.strategy))
def test_the_sensitivity_is_that_of_a_search_over_batches_and_gradients(plan: Plan) -> None:
    """Over every batch, with the gradients of the replaced record opposite and with random ones."""
    C, draw, worst = matrix(plan.strategy, T), rng(0), 0.0
    for k in range(T):
        for trial in range(5):
            pair = draw.standard_normal((2, 3)) if trial else np.array([[1.0, 0, 0], [-1.0, 0, 0]])
            pair *= K / np.linalg.norm(pair, axis=1, keepdims=True)
            sums = np.zeros((2, T, 3))
            sums[:, k] = pair
            worst = max(worst, float(np.linalg.norm(C @ (sums[0] - sums[1]))))
    assert plan.sensitivity == pytest.approx(worst, rel=1e-9)
    assert plan.noise_std(3) == pytest.approx(worst / MU.mu, rel=1e-9)
    assert plan.guarantee == MU


def density(first: float, plan: Plan, at: np.ndarray) -> np.ndarray:
    """The density of (y_1, y_2) of two steps in one dimension, on a grid: the second gradient reacts to the first θ."""
    std, (_, c) = plan.noise_std(1), plan.strategy.column(2)
    one = norm.pdf(at, first, std)
    theta = -plan.learning_rate * at
    second = np.clip(3.0 * (3.0 * theta - 1.0), -plan.clip_norm, plan.clip_norm)
    return one[:, None] * norm.pdf(at[None, :], (c * first + second)[:, None], std)


@pytest.mark.parametrize("strategy", [banded(2), Banded((-0.8,))], ids=repr)
def test_two_steps_spend_exactly_the_budget_though_the_second_reacts_to_the_first(strategy: Banded) -> None:
    mu = 2.0
    plan = Plan(1.0, 0.5, 1, 2, strategy, GaussianDP(mu))
    at = np.linspace(-1, 1, 801) * (8 * plan.noise_std(1) + 4)
    one, two = density(1.0, plan, at), density(-1.0, plan, at)
    for epsilon in (0.0, 0.5, 2.0):
        spent = np.maximum(one - math.exp(epsilon) * two, 0).sum() * (at[1] - at[0]) ** 2
        assert spent == pytest.approx(float(GaussianDP(mu).delta(epsilon)), rel=2e-3, abs=1e-9)


def test_a_stream_is_read_once_and_may_end_early() -> None:
    draw = rng(0)
    x, y = draw.standard_normal((28, 3)), draw.standard_normal(28)
    plan = PLANS[3]
    whole = correlated_noise.iterates(x, y, plan, rng=rng(1))
    some = ((x[5 * k : 5 * k + 5].astype("O"), y[5 * k : 5 * k + 5]) for k in range(3))
    np.testing.assert_array_equal(np.stack(list(correlated_noise.stream(some, 3, plan, rng=rng(1)))), whole[:3])


@pytest.mark.parametrize("strategy", [banded(4), square_root(12)], ids=repr)
def test_without_clipping_the_formula_is_that_of_the_explicit_matrices(strategy: Banded) -> None:
    """θ_t − θ* is linear in the noise and in the start; almost all of the residuals is label noise."""
    d, rate, b, steps, noise_variance = 7, 0.2, 5000, 12, 100.0
    plan = Plan(60.0 * math.sqrt(d), rate, b, steps, strategy, GaussianDP(0.15))
    powers = 0.8 ** np.arange(steps)
    rows = np.tril(toeplitz(powers))[-6:].mean(axis=0)
    private = d * (rate * plan.noise_std(d) / b) ** 2 * np.sum((rows @ np.linalg.inv(matrix(strategy, steps))) ** 2)
    samples = d * rate**2 * noise_variance / b * np.sum(rows**2)
    expected = (0.8 * powers[-6:].mean()) ** 2 + samples + private
    assert private > 0.3 * expected
    assert correlated_noise.predicted(plan, d, 1.0, noise_variance) == pytest.approx(expected, rel=0.01)


ONE = PLANS[1]
X, Y = np.ones((40, 1)), np.ones(40)


@each(
    ("make", "message"),
    [
        (lambda: Banded((math.nan,)), "tail must be between"),
        (lambda: Banded().column(0), "steps must be"),
        (lambda: Buffered((0.5,), ()), "decays must have 1 entries like weights, got 0"),
        (lambda: Buffered((-0.5,), (0.5,)), "weights must be"),
        (lambda: Buffered((0.7, 0.7), (0.5, 0.6)), "weights must sum to at most 1"),
        (lambda: Buffered((0.7,), (1.0,)), r"decays must be in \[0, 1\)"),
        (lambda: coefficients(3, 1.5), "decay must be between"),
        (partial(square_root, 10**10), "steps must be between"),
        (partial(square_root, np.ones(2)), "steps must be"),
        (partial(square_root, T, [0.5]), "decay must be"),
        (partial(square_root, True), "steps must be"),
        (lambda: replace(ONE, clip_norm=0.0), "clip_norm must be positive"),
        (lambda: replace(ONE, clip_norm=1e200), "clip_norm must be between"),
        (lambda: replace(ONE, learning_rate=math.nan), "learning_rate must be"),
        (lambda: replace(ONE, batch=0), "batch must be"),
        (lambda: replace(ONE, steps=0), "steps must be"),
        (lambda: replace(ONE, budget=GaussianDP(math.inf)), "mu must be positive and finite"),
        (lambda: replace(ONE, clip_norm=1e150, budget=GaussianDP(1e-160)), "sensitivity / mu must be between"),
        (lambda: correlated_noise.release(X, Y, ONE, rng=rng()), "n must be at most 30 for this plan, got 40"),
        (lambda: correlated_noise.release(X[:0], Y[:0], ONE, rng=rng()), "the number of records must be"),
        (lambda: correlated_noise.release(X[:9], Y[:8], ONE, rng=rng()), "y must have shape"),
        (lambda: next(correlated_noise.stream([(X[:9], Y[:9])], 1, ONE, rng=rng())), "batches must be at most 6"),
        (lambda: list(correlated_noise.stream([(X[:1], Y[:1])] * 7, 1, ONE, rng=rng())), "batches must be at most 6"),
        (lambda: next(correlated_noise.stream([(X[:0], Y[:0])], 1, ONE, rng=rng())), "the number of records must be"),
        (lambda: next(correlated_noise.stream([(X, Y)], 2, ONE, rng=rng())), "x must have shape"),
    ],
)
def test_what_makes_no_sense_is_refused(make: object, message: str) -> None:
    refused(message, make)


# ---- Toeplitz ----

STEPS = 40
TOEPLITZ: list[Strategy] = [
    Banded(),
    Banded((0.5, -0.2, 0.3)),
    banded(100),
    banded(8, 0.7),
    Buffered((0.6,), (0.9,)),
    Buffered((0.2, 0.5, 0.3), (0.0, 0.8, 0.99)),
    square_root(STEPS),
    square_root(STEPS, 0.7),
]


@each("strategy", TOEPLITZ)
def test_the_recursion_solves_the_equations_of_the_explicit_matrix(strategy: Strategy) -> None:
    z, state, found = np.random.default_rng(0).standard_normal((STEPS, 3)), np.zeros((strategy.memory, 3)), []
    for row in z:
        w, state = strategy.step(state, row)
        assert state.shape == (strategy.memory, 3)
        found.append(w)
    np.testing.assert_allclose(np.array(found), np.linalg.solve(matrix(strategy, STEPS), z), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        noise_coefficients(strategy, STEPS), np.linalg.inv(matrix(strategy, STEPS))[:, 0], atol=1e-9
    )


@each("strategy", TOEPLITZ)
@each("steps", [1, 2, 7, STEPS])
def test_the_longest_column_is_the_first_one(strategy: Strategy, steps: int) -> None:
    columns = np.linalg.norm(matrix(strategy, steps), axis=0)
    assert math.sqrt(strategy.square(steps)) == pytest.approx(columns.max(), rel=1e-12)
    assert columns[0] == columns.max()


@pytest.mark.parametrize("decay", [1.0, 0.8])
def test_the_coefficients_are_those_of_the_square_root_of_a_matrix(decay: float) -> None:
    whole = np.tril(decay ** np.subtract.outer(np.arange(12.0), np.arange(12.0)))
    root = np.tril(toeplitz(coefficients(12, decay)))
    np.testing.assert_allclose(root @ root, whole, atol=1e-12)
    np.testing.assert_allclose(root, sqrtm(whole).real, atol=1e-4)  # a defective matrix: half the digits


@each("steps", [1, 3, 64, 1024])
def test_few_buffers_are_as_good_as_the_square_root(steps: int) -> None:
    exact = float((coefficients(steps) ** 2).sum())
    assert exact <= 1 + (1 + math.log(steps)) / math.pi
    assert largest_error(banded(steps), min(steps, 64)) <= exact * (1 + 1e-12)
    assert largest_error(square_root(steps), steps) == pytest.approx(exact, rel=1e-3)
    assert square_root(steps).memory <= 2 + math.log(2 * steps) / 2


def test_the_fit_of_a_long_stream_has_the_right_coefficients() -> None:
    strategy, steps = square_root(10**5), 10**5
    column = strategy.column(steps)
    np.testing.assert_allclose(column[1:] * np.sqrt(math.pi * np.arange(1, steps)), 1, atol=0.13)
    assert strategy.square(steps) == pytest.approx(float((column**2).sum()), rel=1e-9)
    assert strategy.memory <= 8
