import math

import numpy as np
import pytest

from costofprivacy.dpgd import descent, spectrum
from costofprivacy.dpgd import schedule as schedules
from costofprivacy.dpgd.clipping import descent_reduction
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.spectrum import RegressionModel
from costofprivacy.dpgd.update import averaged_risk, averaged_step, best_averaged_risk
from tests import oracles


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
