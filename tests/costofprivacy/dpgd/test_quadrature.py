"""The quadrature rule for a continuous spectrum against closed forms, finer rules and many eigenvalues.

Spectra lumped by Gauss's rule: its moments, and the risk against that of the whole spectrum.
"""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import gamma, gammainc

from costofprivacy.dpgd import equivalent, parts, quadrature, spectrum, system
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial
from costofprivacy.dpgd.system import System, of_spectrum
from tests.costofprivacy.dpgd.problems import uniform_model
from tests.each import each

GAMMA = 1e-10
CLOCKS = np.concatenate([[0.0], np.geomspace(1e-3, 2 / GAMMA, 80)])


def truncated_gamma(power, law, clock):
    """∫ λ^(power − 1 + φ) e^(−2λx) p(λ) dλ in closed form."""
    x = 2 * law.largest * np.maximum(clock, 1e-9)
    share = gammainc(power, x) * gamma(power) / x**power
    return (1 - law.phi) * law.largest ** (law.phi - 1 + power) * share


@each("phi", [-8.0, -3.0, 0.0, 0.25, 0.5, 0.8])
@each("share", [-1.0, 0.0, 0.5, 0.9])
def test_the_rule_integrates_the_kernels_of_the_continuum(phi, share):
    law, psi = spectrum.PowerLaw(phi), share * (1 - phi)
    equations = quadrature.of_power_law(law, GAMMA, 0.3, psi=psi, initial_risk=0.5)
    start, sampled, private = parts.kernels(equations, CLOCKS)
    scale = 0.5 / law.moment(1 - psi)
    for found, power, factor in ((start, 2 - phi - psi, scale), (sampled, 3 - phi, 1.0), (private, 2 - phi, 1.0)):
        expected = factor * truncated_gamma(power, law, CLOCKS)
        np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert len(equations.initial) < 200


@pytest.mark.parametrize(("phi", "psi"), [(0.25, 0.5), (0.8, 0.1), (-3.0, 2.0)])
@pytest.mark.parametrize("schedule", [Constant(1.9e6), Polynomial(1e3, 2.0)])
def test_the_risk_of_the_continuum_is_right_to_1e_6_for_a_clock_up_to_1e6(phi, psi, schedule, monkeypatch):
    law = spectrum.PowerLaw(phi)
    usual = equivalent.final_risk(quadrature.of_power_law(law, 1e-6, 0.3, psi=psi), schedule, 0.1, 1.0, 1e-8)
    monkeypatch.setattr(quadrature, "_ALIAS", 1e-12)
    monkeypatch.setattr(quadrature, "_TAIL", 1e-13)
    monkeypatch.setattr(quadrature, "_RIGHT", 3.4)
    fine = equivalent.final_risk(quadrature.of_power_law(law, 1e-6, 0.3, psi=psi), schedule, 0.1, 1.0, 1e-8)
    assert usual == pytest.approx(fine, rel=1e-6)


def test_many_eigenvalues_tend_to_the_continuum():
    equations = quadrature.of_power_law(spectrum.PowerLaw(0.0), 0.1, 0.3)
    limit = equivalent.final_risk(equations, Polynomial(3.0, 0.5), 1.0, 1.0)
    gaps = []
    for d in (100, 400):
        found = equivalent.final_risk(system.of_model(uniform_model(d), 10 * d), Polynomial(3.0, 0.5), 1.0, 1.0)
        gaps.append(abs(found / limit - 1))
    assert gaps[1] < gaps[0] / 8 < 1e-4


@each(
    ("arguments", "message"),
    [
        ({"psi": 0.5}, "psi must be below 1 - phi"),
        ({"clock": 0.0}, "clock must be positive and finite, got 0.0"),
        ({"clock": math.inf}, "clock must be positive and finite, got inf"),
        ({"initial_risk": 0.0}, "initial_risk must be positive"),
    ],
)
def test_bad_rules_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        quadrature.of_power_law(spectrum.PowerLaw(0.5), 0.1, 0.3, **arguments)


def test_the_closed_form_of_the_kernels_is_right():
    for clock in (0.3, 40.0):
        expected = mpmath.quad(lambda t, x=clock: t**0.5 * mpmath.exp(-2 * x * t), [0, 0.01, 0.1, 1, 3]) / 12**0.5
        assert truncated_gamma(1.5, spectrum.PowerLaw(0.5), clock) == pytest.approx(float(expected), rel=1e-9)


# ---- Lumped ----

LONG_GAMMA = 0.1


def long_spectrum(d: int = 300) -> System:
    """Eigenvalues over eight decades, and a target that is rough in them."""
    values = np.append(np.geomspace(1e-6, 30.0, d - 1), 500.0)
    energies = np.random.default_rng(0).exponential(size=d) / (0.1 + values)
    return of_spectrum(values, energies, LONG_GAMMA, 0.4)


def test_gauss_has_the_first_moments() -> None:
    rng = np.random.default_rng(1)
    values, weights = rng.uniform(1, 3, 50), rng.exponential(size=50)
    nodes, shares = quadrature.gauss(values, weights)
    assert len(nodes) == 3
    assert (shares > 0).all()
    for power in range(6):
        assert shares @ nodes**power == pytest.approx(weights @ values**power, rel=1e-12)
    assert shares @ nodes**6 != pytest.approx(weights @ values**6, rel=1e-9)


@each("schedule", [Constant(60.0), Harmonic(1.0, 0.01)])
@each("clip", [0.01, 10.0])
def test_the_risk_is_that_of_the_whole_spectrum(schedule: Constant, clip: float) -> None:
    whole = long_spectrum()
    few = quadrature.lumped(whole, whole.cap)
    assert len(few.initial) < 100
    assert few.initial_risk == pytest.approx(whole.initial_risk, rel=1e-8)
    known, found = (equivalent.final_risk(each, schedule, clip, 0.5, 1e-7) for each in (whole, few))
    assert found == pytest.approx(known, rel=3e-4)
