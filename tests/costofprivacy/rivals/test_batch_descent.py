"""Clipped descent: accounting against the closed form and bounds, pseudocode, guarded steps, a clip that shrinks."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.rivals import batch_descent, guarded_descent, shrinking_clip
from costofprivacy.rivals.batch_descent import Plan
from costofprivacy.rivals.guarded_descent import Shape, guarded
from costofprivacy.rivals.shrinking_clip import Plan as Shrinking
from tests.each import each, refused


def test_samples_spend_the_budget_and_less_noise_would_exceed_it() -> None:
    budget = ApproximateDP(1.0, 1e-5)
    whole = batch_descent.noise_multiplier(budget, 1.0, 7)
    assert GaussianDP(math.sqrt(7) / whole).epsilon(1e-5) == pytest.approx(1.0, rel=1e-6)
    sigma = batch_descent.noise_multiplier(budget, 0.2, 10)
    assert 0.98 < batch_descent.spent_epsilon(sigma, 0.2, 10, 1e-5) <= 1.0
    assert batch_descent.spent_epsilon(0.98 * sigma, 0.2, 10, 1e-5) > 1.0


def test_one_sampled_step_is_the_mixture_of_gaussians() -> None:
    """δ of (1 − q)N(0) + qN(½/σ) against (1 − q)N(0) + qN(−½/σ), by a sum on a fine grid."""
    q, sigma, epsilon = 0.3, 0.7, 0.8
    grid = np.linspace(-12, 12, 40_001)
    shift = 0.5 / sigma

    def density(sign: int) -> np.ndarray:
        return ((1 - q) * np.exp(-(grid**2) / 2) + q * np.exp(-((grid - sign * shift) ** 2) / 2)) / math.sqrt(
            2 * math.pi
        )

    delta = float(np.maximum(density(1) - math.exp(epsilon) * density(-1), 0).sum() * (grid[1] - grid[0]))
    assert batch_descent.spent_epsilon(sigma, q, 1, delta) == pytest.approx(epsilon, abs=0.01)


@pytest.mark.parametrize("sampling", [1.0, 0.3])
def test_a_run_is_the_pseudocode(sampling: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    rates = [0.5, 0.2, 0.1]
    found = batch_descent.release(x, y, 0.4, rates, 2.0, sampling, rng=np.random.default_rng(1))
    fresh, theta = np.random.default_rng(1), np.zeros(3)
    for rate in rates:
        chosen = fresh.random(40) < sampling if sampling < 1 else np.ones(40, dtype=bool)
        total = np.zeros(3)
        for features, response in zip(x[chosen], y[chosen], strict=True):
            g = features * (features @ theta - response)
            total += g * min(1.0, 0.4 / np.linalg.norm(g))
        theta = theta - rate / (sampling * 40) * (total + 2 * 0.4 * 2.0 * fresh.standard_normal(3))
    np.testing.assert_allclose(found, theta, rtol=1e-9)


# ---- Several runs over the same records ----

LIVE = np.array([True, False, True, True, False])


def rng(seed: int = 3) -> np.random.Generator:
    return np.random.default_rng(seed)


def data(n: int = 700, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Records of five features, two of which are 0 throughout; more than one block of a sum."""
    rng = np.random.default_rng(seed)
    x = np.where(LIVE, rng.standard_normal((n, 5)), 0.0)
    return x, x @ np.linspace(-1, 1, 5) + 0.3 * rng.standard_normal(n)


def literal_descent(x: np.ndarray, y: np.ndarray, plan: Plan, noise: np.ndarray, theta: np.ndarray) -> list[np.ndarray]:
    """θ_1, … of one plan on all records, gradient by gradient, with given noise of variance one, shape (T, d)."""
    path, C = [], plan.clip_norm
    for rate, b in zip(plan.learning_rates, noise, strict=True):
        gradients = [row * (row @ theta - response) for row, response in zip(x, y, strict=True)]
        clipped = [g * min(1.0, C / max(float(np.linalg.norm(g)), 1e-300)) for g in gradients]
        theta = theta - rate / len(y) * (np.sum(clipped, axis=0) + 2 * C * plan.noise_multiplier * b)
        path.append(theta)
    return path


@pytest.mark.parametrize("live", [None, LIVE])
def test_descents_of_several_lengths_are_the_literal_ones(live: np.ndarray | None) -> None:
    x, y = data()
    plans = [Plan(C, (rate,) * T, 2.0) for C, rate, T in ((0.5, 0.3, 2), (2.0, 0.1, 4), (9.0, 0.5, 4))]
    found = batch_descent.releases(x, y, plans, 1.0, live, rng=rng())
    source = rng()  # the noise of each round is drawn for those that go on
    rounds = [source.standard_normal((5, sum(t < T for T in (4, 4, 2)))) for t in range(4)]
    for k, order in enumerate((2, 0, 1)):  # the longest first
        noise = np.array([part[:, order] for part in rounds if order < part.shape[1]])
        np.testing.assert_allclose(found[k], literal_descent(x, y, plans[k], noise, np.zeros(5))[-1], rtol=1e-9)


def test_a_sample_is_shared_and_has_the_right_size() -> None:
    x, y = np.ones((2000, 1)), np.ones(2000)
    plan = Plan(0.5, (1.0,), 1e-9)
    found = np.array([batch_descent.releases(x, y, [plan, plan], 0.1, rng=rng(k))[:, 0] for k in range(200)])
    np.testing.assert_allclose(found[:, 0], found[:, 1], atol=1e-9)
    sizes = found[:, 0] / 0.5 * 0.1 * 2000  # of the samples
    assert sizes.mean() == pytest.approx(200, abs=4 * math.sqrt(180 / 200))
    assert sizes.std() == pytest.approx(math.sqrt(180), rel=0.2)


# ---- Guarded ----

D = 30


def factor(loading: float, n: int = 3000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features with a common factor, whose largest eigenvalue is 1 + loading² D, and a response of variance 1."""
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((n, D)) + loading * draw.standard_normal((n, 1))
    theta = draw.standard_normal(D) / math.sqrt(D)
    y = x @ theta
    return x, y / y.std() + 0.3 * draw.standard_normal(n)


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
@settings(derandomize=True, deadline=None, max_examples=30)
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


# ---- A clip that shrinks ----

MU = GaussianDP(1.0)


def test_a_run_with_a_shrinking_clip_is_the_pseudocode() -> None:
    draw = rng(0)
    x, y, start = draw.standard_normal((40, 3)), draw.standard_normal(40), np.array([0.3, -1.0, 2.0])
    plan = Shrinking((2.0, 0.7, 0.2), (0.9, 0.5, 1.3), GaussianDP(1.7))
    found = shrinking_clip.release(x, y, plan, start, rng=np.random.default_rng(1))
    fresh, theta = np.random.default_rng(1), start
    for clip_norm, rate in zip(plan.clip_norms, plan.learning_rates, strict=True):
        total = np.zeros(3)
        for features, response in zip(x, y, strict=True):
            g = features * (features @ theta - response)
            total += g * min(1.0, clip_norm / np.linalg.norm(g))
        theta = theta - rate / 40 * (total + 2 * clip_norm * math.sqrt(3) / 1.7 * fresh.standard_normal(3))
    np.testing.assert_allclose(found, theta, rtol=1e-9)


def test_clips_shrink_to_the_label_noise_and_no_further() -> None:
    d = 60
    plan = shrinking_clip.plan(6000, d, 1.0, 1e-3, MU)
    assert plan.rounds == 0.05 * 100**2
    assert plan.guarantee.mu == pytest.approx(1.0)
    assert np.all(np.diff(plan.clip_norms) < 0)
    assert plan.clip_norms[0] == pytest.approx(math.sqrt(d), rel=1e-5)
    assert plan.clip_norms[-1] == pytest.approx(1e-3 * math.sqrt(d), rel=0.05)


@each(
    ("make", "message"),
    [
        (lambda: Shrinking((), (), MU), "the number of clip_norms must be"),
        (lambda: Shrinking((1.0, 2.0), (1.0,), MU), "learning_rates must have 2 entries like clip_norms, got 1"),
        (lambda: Shrinking((1e-200,), (1.0,), MU), "clip_norms must be"),
        (lambda: Shrinking((math.nan,), (1.0,), MU), "clip_norms must be"),
        (lambda: Shrinking((1.0,), (-1.0,), MU), "learning_rates must be"),
        (lambda: Shrinking((1.0,), (1.0,), GaussianDP(math.inf)), "mu must be"),
        (lambda: shrinking_clip.plan(100, 0, 1.0, 0.0, MU), "d must be"),
        (lambda: shrinking_clip.plan(100, 2, 0.0, 0.0, MU), "radius must be"),
        (lambda: shrinking_clip.plan(100, 2, 1.0, -1.0, MU), "label_noise must be"),
        (lambda: shrinking_clip.plan(10**6, 1, 1.0, 0.0, MU), "mu must be at most"),
        (
            lambda: shrinking_clip.release(
                np.ones((2, 1)), np.ones(2), Shrinking((1.0,), (1.0,), MU), np.array([math.nan]), rng=rng()
            ),
            "start must be finite",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make: object, message: str) -> None:
    refused(message, make)
