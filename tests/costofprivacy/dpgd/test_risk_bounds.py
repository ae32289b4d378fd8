"""The single equations (4.12) that enclose the risk."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from costofprivacy.dpgd import clipping, equivalent, risk_bounds, system
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial

from .problems import TIMES, uniform_model

SYSTEMS = [
    system.of_model(uniform_model(), 1000),
    system.of_model(uniform_model(20), 10),
    system.of_spectrum([0.2, 1.0, 1.8], [2.0, 0.1, 0.1], 0.5, 0.0),
    system.of_spectrum([0.5, 1.5], [0.0, 1.0], 0.1, 0.3),
    system.of_spectrum([1.5, 3.0], [0.3, 0.1], 0.1, 0.3),  # tr Σ = 2.25d
    system.of_spectrum([0.1, 0.3], [1.0, 3.0], 0.1, 0.3),  # tr Σ = d/5
]


def literal(equations, schedule, clip, rho, descent, sampling):
    """R(t) of Ṙ = −2·descent·η̄μR + s·sampling·η̄²γν𝒫 + 2sc²σ̃²γ² with R(0) of the system, by LSODA; s = tr Σ/d."""
    s, gamma = float(np.sum(equations.readout)), equations.aspect_ratio

    def right_side(time, R):
        test_risk = R[0] + equations.label_noise**2 / 2
        ratio = clip / math.sqrt(2 * test_risk)
        mu, nu = clipping.descent_reduction_at(ratio), clipping.variance_reduction_at(ratio)
        rate = min(float(schedule(time)), 2 / gamma)
        noise = 2 * (clip / rho) ** 2 * gamma**2 * float(schedule.squared_decrease(time))
        return [-2 * descent * rate * mu * R[0] + s * (sampling * rate**2 * gamma * nu * test_risk + noise)]

    start = [float(equations.readout @ equations.initial)]
    solution = solve_ivp(right_side, (0, 1), start, method="LSODA", t_eval=TIMES, rtol=1e-10, atol=1e-13)
    return solution.y[0]


@pytest.mark.parametrize("equations", SYSTEMS)
@pytest.mark.parametrize(("clip", "rho"), [(0.5, 1.0), (20.0, 1e3)])
def test_the_bounds_are_the_solutions_of_4_12(equations, clip, rho):
    """Each with its own extreme eigenvalue, and the lower one with tr Σ/d where λ_min would enclose the risk too."""
    values, schedule = equations.relaxation, Polynomial(3.0, 1.0)
    least, trace, most = values.min(), values.mean(), values.max()
    square = (values**2).mean() / trace  # s·square = tr Σ²/d
    low, high = risk_bounds.lower(equations), risk_bounds.upper(equations)
    tight_low, tight_high = risk_bounds.tightened(equations)
    for bound, descent, sampling in (
        (low, most, trace),
        (high, least, most),
        (tight_low, most, square),
        (tight_high, least, square),
    ):
        found = equivalent.risk_path(bound, schedule, clip, rho, TIMES)
        np.testing.assert_allclose(found, literal(equations, schedule, clip, rho, descent, sampling), rtol=3e-6)


def test_at_the_start_the_risk_moves_as_a_bound_does_whose_eigenvalue_has_all_the_error():
    """R(0) along the largest (smallest) eigenvalue alone, tr Σ = d: R leaves 0 with the slope of a tightened bound."""
    values, time = np.array([0.2, 1.0, 1.8]), np.array([1e-4])
    for energies, side in (([0.0, 0.0, 1.0], 0), ([1.0, 0.0, 0.0], 1)):
        equations = system.of_spectrum(values, energies, 0.1, 0.3)
        bound = risk_bounds.tightened(equations)[side]
        moves = [equivalent.risk_path(e, Constant(3.0), 1.0, 1.0, time, 1e-7)[0] for e in (equations, bound)]
        start = equations.initial_risk
        assert moves[0] - start == pytest.approx(moves[1] - start, rel=5e-3)


@pytest.mark.parametrize("equations", SYSTEMS)
@pytest.mark.parametrize("schedule", [Constant(3.0), Polynomial(50.0, 0.5), Harmonic(2.0, 0.05)])
@pytest.mark.parametrize("clip", [0.05, 1.0, 20.0])
def test_the_bounds_enclose_the_risk(equations, schedule, clip):
    tight = risk_bounds.tightened(equations)
    in_order = risk_bounds.lower(equations), tight[0], equations, tight[1], risk_bounds.upper(equations)
    paths = [equivalent.risk_path(each, schedule, clip, 1.0, TIMES, 1e-5) for each in in_order]
    for smaller, larger in itertools.pairwise(paths):
        assert (smaller <= larger * (1 + 4e-5)).all()


def test_as_printed_beyond_the_cap_neither_bound_holds():
    equation = system.isotropic(0.5, 0.1, 0.3)
    for clip, bound, sign in ((1.0, risk_bounds.lower, 1), (0.01, risk_bounds.upper, -1)):
        risk = equivalent.risk_path(equation, Constant(60.0), clip, 1.0, [1.0])[0]
        printed = equivalent.risk_path(risk_bounds.uncapped(bound(equation)), Constant(60.0), clip, 1.0, [1.0])[0]
        assert sign * (printed - risk) > 0.1 * risk


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.0])
def test_the_bounds_of_a_multiple_of_the_identity_are_its_risk(scale):
    equation = system.of_spectrum([scale, scale], [0.4, 0.6], 0.1, 0.3)
    risk = equivalent.risk_path(equation, Polynomial(3.0, 0.5), 1.0, 1.0, TIMES)
    for bound in (risk_bounds.lower, risk_bounds.upper):
        np.testing.assert_allclose(
            equivalent.risk_path(bound(equation), Polynomial(3.0, 0.5), 1.0, 1.0, TIMES), risk, rtol=1e-9
        )
