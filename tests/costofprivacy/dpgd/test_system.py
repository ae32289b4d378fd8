"""The coupled equations: their reductions, the last step's noise, what is refused."""

import math

import numpy as np
import pytest

from costofprivacy.dpgd import clipping, equivalent, system
from costofprivacy.dpgd.schedule import Constant, Polynomial

from .problems import uniform_model


@pytest.mark.parametrize("clip", [1e-8, 0.1, 3.0, 1e3, math.inf])
def test_the_scalar_reductions_are_those_of_clipping_to_rounding(clip):
    for label_noise in (0.0, 0.3):
        equation = system.isotropic(0.5, 0.1, label_noise)
        for risk in [0.0, *np.geomspace(1e-14, 1e14, 300).tolist(), math.inf]:
            test_risk = equation.test_risk(risk)
            ratio = clip / math.sqrt(2 * max(test_risk, 1e-300))
            mu, scaled_nu = system.reductions(equation, clip, risk)
            if not math.isnan(ratio):
                np.testing.assert_allclose(mu, float(clipping.descent_reduction_at(ratio)), rtol=1e-14)
                expected = float(clipping.variance_reduction_at(ratio)) * test_risk
                np.testing.assert_allclose(scaled_nu, expected, rtol=1e-14)


@pytest.mark.parametrize("values", [[1.0, 1.0], [2.0, 2.0], [0.2, 0.6, 3.0]])
def test_the_last_step_adds_its_noise_to_every_energy_whatever_the_trace(values):
    equations, schedule = system.of_spectrum(values, np.ones(len(values)), 0.3, 0.3), Constant(2.0)
    noise = 2 * 0.5**2 * 2.0**2 * 0.3**2 / 1.5**2
    expected = equations.risk(equations.initial + noise) - equations.initial_risk
    assert system.last_step(equations, schedule, 0.5, 1.5) == pytest.approx(expected, rel=1e-12)
    before = equivalent.risk_path(equations, schedule, 0.5, 1.5, [1.0])[0]
    assert equivalent.final_risk(equations, schedule, 0.5, 1.5) == pytest.approx(before + expected, rel=1e-12)


def test_a_finite_spectrum_is_the_same_with_its_eigenvalues_in_any_order_or_weighted():
    model = uniform_model(20)
    values, energies = model.spectrum.eigenvalues, model.initial_energies
    pairs = system.of_spectrum(values, energies, 0.1, 0.3)
    turned = system.of_spectrum(values[::-1], energies[::-1], 0.1, 0.3)
    double = system.of_spectrum(np.repeat(values, 2), np.repeat(energies, 2), 0.1, 0.3, np.full(40, 1 / 40))
    risks = [equivalent.final_risk(s, Polynomial(3.0, 1.0), 1.0, 1.0) for s in (pairs, turned, double)]
    np.testing.assert_allclose(risks, risks[0], rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [], 0.1, 0.3), "non-empty vector"),
        (([1.0, 2.0], [1.0], 0.1, 0.3), "as initial has"),
        (([1.0, -2.0], [1.0, 1.0], 0.1, 0.3), "non-negative and finite, got -2.0"),
        (([1.0], [math.inf], 0.1, 0.3), "non-negative and finite, got inf"),
        (([1.0], [1.0], 0.0, 0.3), "aspect_ratio must be positive"),
        (([1.0], [1.0], 0.1, -0.3), "label_noise must be non-negative"),
        (([1.0], [1.0], 0.1, 0.3, [0.5, 0.5]), "weights must have shape"),
    ],
)
def test_bad_systems_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        system.of_spectrum(*arguments)
    assert "\n" not in str(caught.value)
