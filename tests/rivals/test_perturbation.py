"""Output and objective perturbation: the minimiser against another solver, sensitivity, and the guarantee by audit."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from costofprivacy.privacy import ApproximateDP, GaussianDP, audit_mechanism
from costofprivacy.rivals import huber, objective_perturbation, output_perturbation
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


def test_replacing_a_record_moves_the_minimiser_by_the_sensitivity_at_most_and_nearly_attains_it() -> None:
    clip_norm, penalty, rng = 0.5, 3.0, np.random.default_rng(1)
    most = output_perturbation.sensitivity(clip_norm, penalty)
    moved = []
    for scale in (1e-3, 1.0, 30.0):
        x, y = data(30, seed=2)
        x *= scale
        for _ in range(20):
            other_x, other_y = x.copy(), y.copy()
            other_x[0], other_y[0] = 50 * rng.standard_normal(4), 50 * rng.standard_normal()
            pair = huber.minimiser(x, y, clip_norm, penalty), huber.minimiser(other_x, other_y, clip_norm, penalty)
            moved.append(np.linalg.norm(pair[0] - pair[1]))
    assert max(moved) <= most
    alone = [np.array([[1e3, 0.0]]), np.array([[-1e3, 0.0]])]
    far = [huber.minimiser(x, np.array([1e6]), clip_norm, penalty) for x in alone]
    assert np.linalg.norm(far[0] - far[1]) == pytest.approx(most)


def test_output_perturbation_adds_its_noise() -> None:
    x, y = data(20, 2)
    rng, budget = np.random.default_rng(3), GaussianDP(0.5)
    draws = np.stack([output_perturbation.release(x, y, 0.4, 8.0, budget, rng=rng) for _ in range(500)])
    std = 2 * 0.4 / 8.0 / 0.5
    assert draws.std(axis=0) == pytest.approx(std, rel=0.13)
    np.testing.assert_allclose(draws.mean(axis=0), huber.minimiser(x, y, 0.4, 8.0), atol=4 * std / math.sqrt(500))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_calibration_meets_delta_and_its_condition(epsilon: float, share: float) -> None:
    delta, budget = 1e-6, ApproximateDP(epsilon, 1e-6)
    added = calibrate(budget, share, clip_norm=2.0, feature_bound=3.0)
    main = (1 - objective_perturbation.FURTHER) * epsilon
    left, s = main - math.log(1 + 9.0 / added.penalty), 2 * 2.0 / added.noise_std
    assert math.log(1 + 9.0 / added.penalty) == pytest.approx(share * main)
    assert s**2 <= 2 * (math.sqrt(1 + left**2) - 1) * (1 + 1e-9)
    assert 2 * float(GaussianDP(s).delta(left)) <= delta * (1 + 1e-6)


def test_the_curves_of_two_gaussians_together_stay_below_that_of_one() -> None:
    """The last step of the proof, and that its condition is needed."""
    t = 0.5
    s = math.sqrt(2 * (math.sqrt(1 + t**2) - 1))
    whole = float(GaussianDP(s).delta(t))
    parts = [sum(float(GaussianDP(s * math.sqrt(v)).delta(t)) for v in (u, 1 - u)) for u in np.linspace(0.01, 0.99, 50)]
    assert max(parts) <= whole
    wide = 10.0
    assert 2 * float(GaussianDP(wide * math.sqrt(0.5)).delta(t)) > float(GaussianDP(wide).delta(t))


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


def test_an_audit_finds_the_noise_too_small_but_not_the_right_one() -> None:
    budget, clip_norm = ApproximateDP(1.0, 1e-3), 1.0
    added = calibrate(budget, 0.5, clip_norm, 1.0)
    x = np.array([[1.0, 0.0], [0.1, 0.0]])
    pair = (x, np.array([30.0, 0.0])), (-x * [[1], [-1]], np.array([30.0, 0.0]))

    def audit(noise_std: float) -> float:
        changed = replace(added, noise_std=noise_std)

        def scores(data: tuple[np.ndarray, np.ndarray], count: int, rng: np.random.Generator) -> np.ndarray:
            return np.array(
                [objective_perturbation.release(*data, clip_norm, changed, rng=rng)[0] for _ in range(count)]
            )

        rng = np.random.default_rng(5)
        return audit_mechanism(scores, *pair, delta=1e-3, releases=400, confidence=0.99, rng=rng).epsilon

    assert audit(added.noise_std) <= 1.0
    assert audit(added.noise_std / 10) > 1.0


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
