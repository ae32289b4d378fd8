"""The single equations (4.12) that enclose the risk."""

import numpy as np
import pytest

from costofprivacy.dpgd import equivalent, risk_bounds, system
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


@pytest.mark.parametrize("equations", SYSTEMS)
@pytest.mark.parametrize("schedule", [Constant(3.0), Polynomial(50.0, 0.5), Harmonic(2.0, 0.05)])
@pytest.mark.parametrize("clip", [0.05, 1.0, 20.0])
def test_the_bounds_enclose_the_risk(equations, schedule, clip):
    risk = equivalent.risk_path(equations, schedule, clip, 1.0, TIMES)
    low, high = (
        equivalent.risk_path(bound(equations), schedule, clip, 1.0, TIMES)
        for bound in (risk_bounds.lower, risk_bounds.upper)
    )
    tight = [equivalent.risk_path(b, schedule, clip, 1.0, TIMES) for b in risk_bounds.tightened(equations)]
    for smaller, larger in ((low, tight[0]), (tight[0], risk), (risk, tight[1]), (tight[1], high)):
        assert (smaller <= larger * (1 + 4e-6)).all()


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.0])
def test_the_bounds_of_a_multiple_of_the_identity_are_its_risk(scale):
    equation = system.of_spectrum([scale, scale], [0.4, 0.6], 0.1, 0.3)
    risk = equivalent.risk_path(equation, Polynomial(3.0, 0.5), 1.0, 1.0, TIMES)
    for bound in (risk_bounds.lower, risk_bounds.upper):
        np.testing.assert_allclose(
            equivalent.risk_path(bound(equation), Polynomial(3.0, 0.5), 1.0, 1.0, TIMES), risk, rtol=1e-9
        )


def test_as_printed_beyond_the_cap_neither_bound_holds():
    equation = system.isotropic(0.5, 0.1, 0.3)
    for clip, bound, sign in ((1.0, risk_bounds.lower, 1), (0.01, risk_bounds.upper, -1)):
        risk = equivalent.risk_path(equation, Constant(60.0), clip, 1.0, [1.0])[0]
        printed = equivalent.risk_path(risk_bounds.uncapped(bound(equation)), Constant(60.0), clip, 1.0, [1.0])[0]
        assert sign * (printed - risk) > 0.1 * risk
