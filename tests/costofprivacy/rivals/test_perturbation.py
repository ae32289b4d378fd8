"""Output and objective perturbation: the minimiser against another solver, sensitivity, and the guarantee by audit."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.rivals import huber, output_perturbation
from costofprivacy.rivals.objective_perturbation import calibrate


def data(n: int = 200, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    return x, x @ np.linspace(-1, 1, d) + 0.3 * rng.standard_normal(n)


@pytest.mark.parametrize("clip_norm", [0.2, 1.0, 1e9])
def test_the_minimiser_is_that_of_another_solver(clip_norm: float) -> None:
    x, y = data()
    b = np.array([3.0, -2.0, 0.5, 1.0])
    bound = huber.limits(x, clip_norm)

    def objective(theta: np.ndarray) -> float:
        r = np.abs(x @ theta - y)
        loss = np.where(r <= bound, r**2 / 2, bound * r - bound**2 / 2)
        return float(loss.sum() + 2.5 * theta @ theta + b @ theta)

    found = huber.minimiser(x, y, clip_norm, 5.0, b)
    other = minimize(objective, np.zeros(4), method="BFGS", options={"gtol": 1e-9}).x
    np.testing.assert_allclose(found, other, atol=1e-5)
    np.testing.assert_allclose(huber.gradient(found, x, y, clip_norm, 5.0) + b, 0, atol=1e-5)


def test_as_the_clip_grows_it_is_ridge() -> None:
    x, y = data()
    ridge = np.linalg.solve(x.T @ x + 7 * np.eye(4), x.T @ y)
    np.testing.assert_allclose(huber.minimiser(x, y, 1e9, 7.0), ridge, rtol=1e-12)


def test_the_sensitivity_of_the_minimiser_is_attained() -> None:
    alone = [np.array([[1e3, 0.0]]), np.array([[-1e3, 0.0]])]
    far = [huber.minimiser(x, np.array([1e6]), 0.5, 3.0) for x in alone]
    assert np.linalg.norm(far[0] - far[1]) == pytest.approx(output_perturbation.sensitivity(0.5, 3.0))


def test_output_perturbation_adds_its_noise() -> None:
    x, y = data(20, 2)
    rng, budget = np.random.default_rng(3), GaussianDP(0.5)
    draws = np.stack([output_perturbation.release(x, y, 0.4, 8.0, budget, rng=rng) for _ in range(500)])
    std = 2 * 0.4 / 8.0 / 0.5
    assert draws.std(axis=0) == pytest.approx(std, rel=0.13)
    np.testing.assert_allclose(draws.mean(axis=0), huber.minimiser(x, y, 0.4, 8.0), atol=4 * std / math.sqrt(500))


def test_the_guarantee_by_a_sum_over_the_densities_of_one_record_in_one_dimension() -> None:
    """Exact δ of neighbours of one record each: the pairs that turn a gradient, bend the loss, or both."""
    budget, clip_norm, bound = ApproximateDP(1.0, 0.05), 1.0, 2.0
    added = calibrate(budget, 0.5, clip_norm, bound)
    reach = 9 * added.noise_std / added.penalty
    theta = np.linspace(-reach, reach, 400_001)

    def density(x: float, y: float) -> np.ndarray:
        limit, r = clip_norm / abs(x), x * theta - y
        b = -(np.clip(r, -limit, limit) * x + added.penalty * theta)
        return norm.pdf(b, scale=added.noise_std) * (added.penalty + x**2 * (np.abs(r) <= limit))

    spent = []
    for first, second in [((2.0, 9.0), (2.0, -9.0)), ((2.0, 0.0), (2.0, 9.0)), ((2.0, 0.5), (0.01, 900.0))]:
        p, q = density(*first), density(*second)
        assert p.sum() * (theta[1] - theta[0]) == pytest.approx(1.0, abs=1e-3)
        spent.append(float(np.maximum(p - math.e * q, 0.0).sum() * (theta[1] - theta[0])))
    assert 1e-5 < max(spent) <= budget.delta


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: output_perturbation.sensitivity(0.0, 1.0), "clip_norm must be positive and finite, got 0.0"),
        (lambda: output_perturbation.sensitivity(1.0, -1.0), "penalty must be positive and finite, got -1.0"),
        (lambda: calibrate(ApproximateDP(1.0, 1e-5), 1.0, 1.0, 1.0), "share must be between 0 and 1, both excluded"),
        (lambda: calibrate(ApproximateDP(math.inf, 1e-5), 0.5, 1.0, 1.0), "epsilon must be positive and finite"),
    ],
)
def test_bad_arguments_are_named(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        call()  # type: ignore[operator]
