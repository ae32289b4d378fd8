import math

import numpy as np
import pytest

from costofprivacy.dpgd import descent, spectrum, update
from costofprivacy.dpgd import schedule as schedules
from costofprivacy.dpgd.clipping import descent_reduction
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.spectrum import RegressionModel
from costofprivacy.dpgd.update import averaged_risk, averaged_step, best_averaged_risk
from tests import oracles
from tests.each import each


def literal_step(theta: np.ndarray, x: np.ndarray, y: float, eta: float, C: float) -> np.ndarray:
    """Lines 2 to 4 and 6 of Algorithm 1, without the noise."""
    g = x * (x @ theta - y)
    norm_g, norm_x = np.sqrt(g @ g), np.sqrt(x @ x)
    g_bar = g * min(1.0, C / norm_g) if norm_g > 0 else g
    eta_bar = min(eta, 2 / norm_x**2) if norm_x > 0 else eta
    return theta - eta_bar * g_bar


def draw(seed: int, rows: int = 50, d: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-2, 2, (rows, 1))
    return rng.standard_normal((rows, d)), scale * rng.standard_normal((rows, d)), 5 * rng.standard_normal(rows)


@each("C", [0.01, 1.0, 30.0, math.inf])
@each("eta", [0.0, 0.1, 5.0])
def test_the_batched_step_is_the_literal_one(C: float, eta: float) -> None:
    theta, x, y = draw(0)
    expected = [literal_step(*row, eta, C) for row in zip(theta, x, y)]
    np.testing.assert_allclose(update.noiseless_step(theta, x, y, eta, C), expected, rtol=1e-11, atol=1e-11)


def test_without_the_shortened_rate_it_expands() -> None:
    x, y, C = np.array([2.0, 0.0]), 0.0, 100.0
    one, two = np.array([0.5, 0.0]), np.array([-0.5, 0.0])
    for a, factor in ((1.9, 1.0), (2.0, 1.0), (2.2, 1.2), (3.0, 2.0)):
        steps = [theta - a / 4 * update.clipped_gradients(theta, x, y, C) for theta in (one, two)]
        assert np.linalg.norm(steps[0] - steps[1]) <= factor + 1e-12
        if a > 2:
            assert np.linalg.norm(steps[0] - steps[1]) == pytest.approx(factor)


def test_opposite_records_attain_the_sensitivity() -> None:
    theta, x, eta, C = np.zeros(3), np.array([0.6, 0.0, 0.8]), 0.5, 2.0
    moved = update.noiseless_step(theta, x, 1e6, eta, C) - update.noiseless_step(theta, x, -1e6, eta, C)
    assert np.linalg.norm(moved) == pytest.approx(float(update.step_sensitivities(np.array([eta]), C)[0]))


@pytest.mark.parametrize("C", [0.0, -1.0, math.nan])
def test_clip_norm_must_be_positive(C: float) -> None:
    with pytest.raises(ValueError, match=r"^clip_norm must be positive, got"):
        update.noiseless_step(np.ones(2), np.ones(2), 0.0, 0.1, C)
    with pytest.raises(ValueError, match=r"^clip_norm must be positive and finite, got"):
        update.step_sensitivities(np.ones(2), C)


@pytest.mark.parametrize("eta", [-0.1, math.nan, math.inf])
def test_learning_rate_must_be_finite(eta: float) -> None:
    with pytest.raises(ValueError, match=r"^learning_rate must be non-negative and finite, got"):
        update.adapted_rates(eta, np.ones(2))
    with pytest.raises(ValueError, match=rf"^learning_rate must be non-negative and finite, got {eta}$"):
        update.adapted_rates(np.append(np.ones(1200), eta), np.ones((1201, 2)))


@pytest.mark.parametrize("configurations", [1, 3, update.FEW + 1])
@pytest.mark.parametrize("clip", [0.2, math.inf])
def test_simulated_steps_are_those_of_a_block(configurations: int, clip: float) -> None:
    rng = np.random.default_rng(5)
    x, b, y = rng.standard_normal((40, 7)), rng.standard_normal((40, 7)), 3 * rng.standard_normal(40)
    rates, std = rng.exponential(size=(2, 40, configurations))
    std[:, 0] = 0.0
    one = rng.standard_normal((7, configurations))
    other = one.copy()
    update.advance(one, x, y, b, rates, std, np.full(configurations, clip))
    update.simulate(other, x, y, b, rates, std, np.full(configurations, clip))
    np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-10)


# ---- Averaged step ----


@pytest.mark.parametrize(("clip", "rho"), [(0.2, 0.1), (2.0, math.inf)])
def test_the_risk_of_the_averaged_step_by_simulation(clip: float, rho: float) -> None:
    rng, d, n, noise = np.random.default_rng(1), 300, 6000, 0.4
    model = RegressionModel(spectrum.isotropic(d), np.full(d, 0.5 / math.sqrt(d)), noise)
    start = np.zeros(d)
    pilot = float(model.risk(start))
    mu = float(descent_reduction(clip, pilot + noise**2 / 2))
    risks = []
    for _ in range(20):
        x, y = spectrum.sample(model, n, rng=rng)
        risks.append(float(model.risk(averaged_step(start, x, y, clip, rho, mu, rng=rng))))
    expected = averaged_risk(pilot, d / n, noise, clip, rho)
    assert np.mean(risks) == pytest.approx(expected, rel=0.03)
    assert np.mean(risks) != pytest.approx(2 * expected, rel=0.3)


def test_the_best_clip_beats_its_neighbours() -> None:
    least, clip = best_averaged_risk(0.01, 1e-3, 0.3, 0.01)
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert averaged_risk(0.01, 1e-3, 0.3, factor * clip, 0.01) >= least * (1 - 1e-6)


def test_one_step_costs_pi_where_privacy_dominates_and_half_the_noise_where_it_does_not() -> None:
    assert best_averaged_risk(0.0, 1e-9, 1.0, 1e-6)[0] == pytest.approx(math.pi * 1e-6, rel=2e-3)
    assert best_averaged_risk(0.0, 1e-4, 0.3, math.inf)[0] == pytest.approx(0.09 * 1e-4 / 2, rel=1e-4)


def test_neighbours_differ_by_the_sensitivity_at_most() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(10, 4)), rng.normal(size=10)
    x[3], y[3] = 5.0, 100.0
    other = y.copy()
    other[3] = -100.0
    steps = [averaged_step(np.zeros(4), x, v, 0.3, math.inf, 1.0, rng=rng) for v in (y, other)]
    assert np.linalg.norm(steps[0] - steps[1]) == pytest.approx(2 * 0.3 * 2 / 10)  # 2c√d/n


def test_release_is_the_pseudocode() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(1100, 5)), rng.normal(size=1100)
    plans = [
        Configuration(0.3, schedules.Constant(3.0), 1.0),
        Configuration(0.5, schedules.Harmonic(2.0, 0.2), 0.7),
    ]
    found = descent.descend_records(x, y, plans, rng=np.random.default_rng(4))
    fresh = np.random.default_rng(4)
    noise = np.concatenate([fresh.standard_normal((1024, 5)), fresh.standard_normal((76, 5))])
    for plan, theta in zip(plans, found):
        eta = schedules.learning_rates(plan.schedule, 1100)
        sigma = schedules.noise_multipliers(eta, plan.rho)
        np.testing.assert_allclose(oracles.dpgd(x, y, eta, plan.clip_norm(5), sigma, noise)[-1], theta, atol=1e-12)
    with pytest.raises(ValueError, match="y must have shape"):
        descent.descend_records(x, y[:-1], plans, rng=rng)
