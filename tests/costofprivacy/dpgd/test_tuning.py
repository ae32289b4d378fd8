"""The best hyper-parameters against brute force on grids, and against risks that are made up to mislead."""

import math

import numpy as np
import pytest

from costofprivacy.dpgd import equivalent, quadrature, spectrum, system, tuning
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial


def made_up(monkeypatch, risk):
    def risks(equations, schedules, clip, rho, tolerance):
        return np.array([risk(math.log(float(schedule(0.0)))) for schedule in schedules])

    monkeypatch.setattr(equivalent, "final_risks", risks)


ISOTROPIC = system.isotropic(0.5, 0.01, 0.3)
STEEP = quadrature.of_power_law(spectrum.PowerLaw(0.5), 1e-3, 0.3)
FAMILIES = {"0": Constant, "1/2": lambda rate: Polynomial(rate, 0.5), "3": lambda rate: Polynomial(rate, 3.0)}


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.1, 1.0])
@pytest.mark.parametrize("clip", [0.1, 2.0])
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("equations", [ISOTROPIC, STEEP], ids=["isotropic", "power law"])
def test_no_rate_of_a_fine_grid_is_better(equations, family, clip, rho):
    best = tuning.best_rate(equations, family, clip, rho)
    rates = np.geomspace(tuning.SMALLEST, equations.cap, 400)
    risks = equivalent.final_risks(equations, [family(rate) for rate in rates], clip, rho, 1e-6)
    assert best.risk <= risks.min() * (1 + 2e-5)
    assert best.risk == pytest.approx(risks.min(), rel=2e-3)
    assert best.risk == pytest.approx(equivalent.final_risk(equations, best.schedule, clip, rho, 1e-7), rel=2e-5)
    assert best.at_end == (best.initial == pytest.approx(equations.cap, rel=1e-12))


@pytest.mark.parametrize(("gamma", "rho"), [(0.1, 0.1), (1e-3, 0.1), (1e-4, math.inf)])
def test_no_harmonic_schedule_of_a_grid_is_better(gamma, rho):
    equations = system.isotropic(0.5, gamma, 0.3)
    best = tuning.best_harmonic(equations, 0.1, rho)
    grid = [
        Harmonic(rate * offset, offset)
        for offset in np.geomspace(gamma / 100, 10, 40)
        for rate in np.geomspace(0.1, 2 / gamma, 60)
    ]
    risks = equivalent.final_risks(equations, grid, 0.1, rho, 1e-4)
    assert best.risk <= risks.min() * (1 + 1e-4)
    assert best.risk == pytest.approx(risks.min(), rel=0.05)


def test_a_harmonic_schedule_may_start_above_the_cap():
    """(5.18) at γ = 1/30 and ρ = 10: a grid by other code finds β = 8.34, τ = 0.0269 with the risk 0.003331."""
    equations = system.isotropic(0.5, 1 / 30, 0.3)
    best = tuning.best_harmonic(equations, 0.1, 10.0, 1e-4, largest=100 * equations.cap)
    assert best.risk == pytest.approx(0.003331, rel=1e-3)
    assert best.initial > 4 * equations.cap
    assert tuning.best_harmonic(equations, 0.1, 10.0, 1e-4).risk > 1.1 * best.risk
    with pytest.raises(ValueError, match="largest must be above"):
        tuning.best_harmonic(equations, 0.1, 10.0, largest=tuning.SMALLEST)


def test_what_cannot_be_tuned_is_refused():
    with pytest.raises(ValueError, match=r"largest must be above 0\.01, got 0\.001"):
        tuning.best_rate(ISOTROPIC, Constant, 1.0, 1.0, largest=0.001)
    with pytest.raises(ValueError, match="rho must be positive"):
        tuning.best_rate(ISOTROPIC, Constant, 1.0, -1.0)


def test_of_two_minima_the_lower_one_is_found(monkeypatch):
    made_up(monkeypatch, lambda x: min((x - 4) ** 2 + 0.1, 30 * (x - 1.1) ** 2))
    best = tuning.best_rate(ISOTROPIC, Constant, 1.0, 1.0)
    assert math.log(best.initial) == pytest.approx(1.1, abs=2e-3)
    assert best.minima == 2
    assert not best.at_end


def test_a_risk_that_overflows_at_large_rates_is_not_the_least(monkeypatch):
    made_up(monkeypatch, lambda x: (x - 1) ** 2 if x < 2 else math.inf)
    assert math.log(tuning.best_rate(ISOTROPIC, Constant, 1.0, 1.0).initial) == pytest.approx(1, abs=2e-3)
