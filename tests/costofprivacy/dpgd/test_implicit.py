"""The implicit equation for the risk: the solved path satisfies it, another does not."""

import math

import numpy as np
import pytest

from costofprivacy.dpgd import equivalent, system
from costofprivacy.dpgd import parts as implicit
from costofprivacy.dpgd.schedule import Constant, Polynomial

from .problems import SCHEDULES, uniform_model


@pytest.mark.parametrize("schedule", SCHEDULES)
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


def test_the_parts_of_the_risk_answer_for_their_causes():
    equations, times = system.of_model(uniform_model(), 1000), np.linspace(0, 1, 201)
    for clip, rho, _label_noise, absent in ((1.0, math.inf, 0.3, 2), (1.0, 1.0, 0.3, None)):
        risks = equivalent.risk_path(equations, Polynomial(3.0, 0.5), clip, rho, times)
        parts = implicit.parts_of_path(equations, Polynomial(3.0, 0.5), clip, rho, times, risks)
        assert (parts >= 0).all()
        assert (parts[2] == 0) == (absent == 2)
        assert parts.sum() == pytest.approx(risks[-1], rel=1e-3)


def test_bad_paths_are_refused():
    equation = system.isotropic(0.5, 0.1, 0.3)
    with pytest.raises(ValueError, match="times must start at 0, got"):
        implicit.parts_of_path(equation, Constant(1.0), 1.0, 1.0, [0.5, 1.0], [0.5, 0.4])
    with pytest.raises(ValueError, match=r"risks must have shape \(2\), got"):
        implicit.parts_of_path(equation, Constant(1.0), 1.0, 1.0, [0.0, 1.0], [0.5])
    with pytest.raises(ValueError, match="clock must be non-negative"):
        implicit.kernels(equation, [-1.0])
