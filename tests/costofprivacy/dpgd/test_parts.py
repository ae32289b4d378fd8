import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from costofprivacy.dpgd import equivalent, quadrature, system
from costofprivacy.dpgd import parts as implicit
from costofprivacy.dpgd.parts import risk_parts
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, noise_intensity
from costofprivacy.dpgd.spectrum import PowerLaw
from tests.costofprivacy.dpgd.problems import TIMES, Rising, uniform_model
from tests.each import each

SYSTEMS = {
    "isotropic": system.isotropic(0.5, 0.1, 0.3),
    "few records": system.isotropic(0.5, 0.3, 0.3),
    "uniform": system.of_model(uniform_model(20), 200),
    "power law": quadrature.of_power_law(PowerLaw(0.5), 0.1, 0.3, clock=20.0),
}


@each("name", SYSTEMS)
@each("schedule", [Constant(3.0), Polynomial(3.0, 0.5), Harmonic(2.0, 0.1)])
@each(("clip", "rho"), [(1.0, 1.0), (3.0, math.inf), (0.3, 0.3)])
def test_the_parts_add_up_to_the_risk_of_the_book_s_solver(
    name: str, schedule: object, clip: float, rho: float
) -> None:
    told = (SYSTEMS[name], schedule, clip, rho, TIMES)
    found, risk = risk_parts(*told), equivalent.risk_path(*told)
    np.testing.assert_allclose(found.start + found.sampling + found.private, found.risk, rtol=1e-6)
    np.testing.assert_allclose(found.risk, risk, rtol=2e-3)
    for part in (found.start, found.sampling, found.private):
        assert (part >= 0).all()


@pytest.mark.parametrize("schedule", [Polynomial(3.0, 0.5), Polynomial(3.0, 1.0), Harmonic(0.5, 0.1)], ids=str)
@pytest.mark.parametrize("name", ["isotropic", "uniform"])
def test_each_part_solves_its_own_equation(name: str, schedule: Polynomial) -> None:
    """(4.7) for each source alone, with μ and ν from their sum, by LSODA: nothing of the integrator is used."""
    equations, clip, rho = SYSTEMS[name], 1.0, 1.0
    m, gamma = len(equations.initial), equations.aspect_ratio

    def right_side(time: float, parts: np.ndarray) -> np.ndarray:
        start, sampling, private = parts.reshape(3, m)
        mu, scaled_nu = system.reductions(equations, clip, equations.risk(start + sampling + private))
        rate = float(equations.learning_rate(schedule, time))
        noise = 2 * clip**2 * gamma**2 * float(noise_intensity(schedule, min(time, 1 - 1e-12), rho))
        fall = -2 * rate * mu * equations.relaxation
        source = gamma * rate**2 * scaled_nu * equations.sampling
        return np.concatenate([fall * start, fall * sampling + source, fall * private + noise])

    first = np.concatenate([equations.initial, np.zeros(2 * m)])
    solved = solve_ivp(right_side, (0, 1), first, method="LSODA", t_eval=TIMES, rtol=1e-8, atol=1e-12)
    expected = np.einsum("i,pit->pt", equations.readout, solved.y.reshape(3, m, -1))
    found = risk_parts(equations, schedule, clip, rho, TIMES)
    np.testing.assert_allclose([found.start, found.sampling, found.private], expected, rtol=2e-3, atol=1e-9)


def test_without_clipping_the_start_decays_as_the_clock_tells() -> None:
    """μ = 1: B(t) = R(0) exp(−2∫η̄), below the cap 2/γ."""
    found = risk_parts(SYSTEMS["isotropic"], Polynomial(3.0, 1.0), math.inf, math.inf, TIMES)
    np.testing.assert_allclose(found.start, 0.5 * np.exp(-3.0 * (1 - (1 - TIMES) ** 2)), rtol=1e-10)


def test_what_makes_no_noise_has_no_private_part() -> None:
    for schedule, rho in ((Polynomial(3.0, 0.5), math.inf), (Constant(3.0), 1.0)):
        assert (risk_parts(SYSTEMS["uniform"], schedule, 1.0, rho, TIMES).private == 0).all()
    assert risk_parts(SYSTEMS["uniform"], Polynomial(3.0, 0.5), 1.0, 1.0, TIMES).private[-1] > 0


def test_inadmissible_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="increase"):
        risk_parts(SYSTEMS["isotropic"], Rising(), 1.0, 1.0, TIMES)
    with pytest.raises(ValueError, match=r"^times must be"):
        risk_parts(SYSTEMS["isotropic"], Constant(1.0), 1.0, 1.0, [0.5, 0.2])
    with pytest.raises(ValueError, match=r"^rho must be"):
        risk_parts(SYSTEMS["isotropic"], Constant(1.0), 1.0, 0.0, TIMES)


# ---- Implicit ----


@each("schedule", [Polynomial(3.0, 0.5), Polynomial(3.0, 4.0)])
def test_the_path_solves_the_implicit_equation(schedule):
    equations = system.of_model(uniform_model(), 1000)
    errors = []
    for k in (201, 401):
        times = np.linspace(0, 1, k)
        risks = equivalent.risk_path(equations, schedule, 1.0, 1.0, times)
        errors.append(abs(implicit.parts_of_path(equations, schedule, 1.0, 1.0, times, risks).sum() / risks[-1] - 1))
    assert errors[1] < 2e-4
    assert errors[1] < 0.45 * errors[0]


def test_the_implicit_equation_refuses_a_path_with_another_reduction():
    equations = system.of_model(uniform_model(), 1000)
    times = np.linspace(0, 1, 401)
    risks = equivalent.risk_path(equations, Constant(3.0), 1.1, 1.0, times)
    assert abs(implicit.parts_of_path(equations, Constant(3.0), 1.0, 1.0, times, risks).sum() / risks[-1] - 1) > 0.01


def test_bad_paths_are_refused():
    equation = system.isotropic(0.5, 0.1, 0.3)
    with pytest.raises(ValueError, match="schedule must not increase"):
        implicit.parts_of_path(equation, Rising(), 1.0, 1.0, [0.0, 1.0], [0.5, 0.4])
    with pytest.raises(ValueError, match="times must start at 0, got"):
        implicit.parts_of_path(equation, Constant(1.0), 1.0, 1.0, [0.5, 1.0], [0.5, 0.4])
    with pytest.raises(ValueError, match=r"risks must have shape \(2\), got"):
        implicit.parts_of_path(equation, Constant(1.0), 1.0, 1.0, [0.0, 1.0], [0.5])
    with pytest.raises(ValueError, match="clock must be non-negative"):
        implicit.kernels(equation, [-1.0])
