"""Homogenised DP-GD by simulation against its equations, closed forms and the gradient flow."""

import math

import numpy as np
import pytest

from costofprivacy.dpgd import diffusion, equivalent, spectrum, system
from costofprivacy.dpgd.schedule import Constant, Polynomial

from .problems import TIMES, uniform_model


@pytest.mark.parametrize("schedule", [Constant(3.0), Polynomial(3.0, 0.5)])
def test_the_mean_of_the_diffusion_is_the_ode_up_to_1_over_d(schedule):
    """With the derived drift; the gap of the mean falls with d, and the printed drift is refused."""
    model, n = uniform_model(200), 2000
    expected = equivalent.risk_path(system.of_model(model, n), schedule, 1.0, 1.0, TIMES)
    for drift, right in ((diffusion.DERIVED, True), (diffusion.PRINTED, False)):
        rng = np.random.default_rng(7)
        errors = diffusion.diffuse(model, schedule, 1.0, 1.0, n, TIMES, 60, drift, steps=600, rng=rng)
        risks = model.risk(errors + model.target)
        gap = np.abs(risks.mean(axis=1)[1:] / expected[1:] - 1)
        assert (gap.max() < 0.04) == right
        np.testing.assert_allclose(risks[0], model.initial_risk, rtol=1e-14)


def test_without_clipping_the_mean_of_the_diffusion_is_exact():
    """c = ∞: 𝒫 is linear in the second moments, so E[R] solves the ODE; in the steps' limit, within four errors.

    A drift wrong by a twentieth is seen.
    """
    model, n, paths = uniform_model(10), 20, 6000
    schedule = Constant(1.0)
    expected = equivalent.risk_path(system.of_model(model, n), schedule, math.inf, math.inf, [0.5, 1.0])
    for drift, right in ((diffusion.DERIVED, True), (1.05, False)):
        rng = np.random.default_rng(3)
        errors = diffusion.diffuse(model, schedule, math.inf, math.inf, n, [0.5, 1.0], paths, drift, steps=200, rng=rng)
        risks = model.risk(errors + model.target)
        score = (risks.mean(axis=1) - expected) / (risks.std(axis=1) / math.sqrt(paths))
        assert (np.abs(score).max() < 4) == right


def test_private_noise_alone_has_its_own_variance():
    """A flat direction keeps all of it: (4c²d/n²)(η̃(0)² − η̃(t)²)/ρ² in each coordinate."""
    values = spectrum.Spectrum(np.array([0.0, 2.0]))
    model = spectrum.RegressionModel(values, np.zeros(2), 0.3)
    rng = np.random.default_rng(5)
    errors = diffusion.diffuse(model, Polynomial(3.0, 1.0), 0.7, 2.0, 40, [0.5], 20000, steps=50, rng=rng)
    expected = 4 * 0.49 * 2 / 40**2 * (9.0 - 2.25) / 4
    assert errors[0, :, 0].var() == pytest.approx(expected, rel=4 * math.sqrt(2 / 20000))


def test_the_diffusion_keeps_to_the_cap():
    """At η̄ = 2/γ without clipping and with Σ = I the mean risk grows by γη̄²ζ²/2 a unit of time.

    A quarter less would be seen.
    """
    values = spectrum.isotropic(20)
    model = spectrum.RegressionModel(values, spectrum.projections(values), 0.3)
    rng = np.random.default_rng(8)
    errors = diffusion.diffuse(model, Constant(5.0), math.inf, math.inf, 10, [1.0], 10000, steps=100, rng=rng)
    risks = model.risk(errors + model.target)[0]
    error = risks.std() / math.sqrt(10000)
    assert abs(risks.mean() - 0.59) < 4 * error < abs(risks.mean() - 0.5675)


def test_the_diffusion_without_noise_is_the_gradient_flow():
    """With endless data: v_i(t) = v_i(0) exp(−λ_i ∫ η̃), exactly in one step where η̃ is linear."""
    model = spectrum.RegressionModel(spectrum.uniform(4), np.full(4, 0.5), 0.0)
    errors = diffusion.diffuse(
        model, Polynomial(3.0, 1.0), math.inf, math.inf, 10**18, [1.0], 1, steps=1, rng=np.random.default_rng(1)
    )
    expected = -0.5 * np.exp(-1.5 * model.spectrum.eigenvalues)
    np.testing.assert_allclose(errors[0, 0], expected, rtol=1e-6)


def test_bad_diffusions_are_refused():
    good = {"n": 10, "times": [1.0], "paths": 2, "steps": 10}
    for change, message in (
        ({"n": 0}, "n must be a whole number"),
        ({"paths": 0}, "paths must be a whole number"),
        ({"steps": 0}, "steps must be a whole number"),
        ({"times": [2.0]}, "times must be an ascending vector"),
        ({"drift": 0.0}, "drift must be positive"),
    ):
        with pytest.raises(ValueError, match=message):
            diffusion.diffuse(
                uniform_model(4), Constant(1.0), 1.0, 1.0, **(good | change), rng=np.random.default_rng(0)
            )
