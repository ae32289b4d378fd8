"""Clipped descent and DP-SGD: accounting against the closed form and bounds, the sum's sensitivity, the pseudocode."""

import math

import numpy as np
import pytest

from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.rivals import batch_descent


def test_all_records_are_accounted_exactly() -> None:
    budget = ApproximateDP(1.5, 1e-5)
    sigma = batch_descent.noise_multiplier(budget, 1.0, 7)
    assert GaussianDP(math.sqrt(7) / sigma).epsilon(1e-5) == pytest.approx(1.5, rel=1e-6)
    assert batch_descent.spent_epsilon(sigma, 1.0, 7, 1e-5) == pytest.approx(1.5, rel=1e-3)


def test_samples_spend_the_budget_and_less_noise_would_exceed_it() -> None:
    budget = ApproximateDP(1.0, 1e-5)
    sigma = batch_descent.noise_multiplier(budget, 0.2, 10)
    assert 0.98 < batch_descent.spent_epsilon(sigma, 0.2, 10, 1e-5) <= 1.0
    assert batch_descent.spent_epsilon(0.98 * sigma, 0.2, 10, 1e-5) > 1.0


def test_one_sampled_step_is_the_mixture_of_gaussians() -> None:
    """δ of (1 − q)N(0) + qN(½/σ) against (1 − q)N(0) + qN(−½/σ), by a sum on a fine grid."""
    q, sigma, epsilon = 0.3, 0.7, 0.8
    grid = np.linspace(-12, 12, 400_001)
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


def test_replacing_a_record_moves_a_sum_by_twice_the_clip() -> None:
    x, y = np.zeros((5, 2)), np.zeros(5)
    x[0], y[0] = [9.0, 0.0], 50.0
    other = y.copy()
    other[0] = -50.0
    steps = [batch_descent.release(x, v, 0.4, [1.0], 1.0, rng=np.random.default_rng(0)) for v in (y, other)]
    assert np.linalg.norm(steps[0] - steps[1]) * 5 == pytest.approx(2 * 0.4)  # the noise is the same
