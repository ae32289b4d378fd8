"""The exponential integrator: its order, what costs an order, and the halves of a cell."""

import dataclasses
import math

import numpy as np
import pytest

from costofprivacy.dpgd import equivalent, exponential, system
from costofprivacy.dpgd.schedule import Constant, Polynomial

from .problems import uniform_model


def raw(equations, schedule, level, clip=0.3, cells=None, passes=exponential.PASSES):
    """R(1) by the integrator alone, on a smooth grid of 2^level·10 cells; ``cells`` changes what it knows of them."""
    grid = 1 - (1 - np.linspace(0, 1, 10 * 2**level + 1)) ** 3
    parts = exponential.cells_of(equations, schedule, grid)
    return exponential.path(equations, cells(parts) if cells else parts, clip, 0.2, passes)[-1]


def order(schedule, cells=None, passes=exponential.PASSES):
    equations = system.of_model(uniform_model(), 200)
    best = system.reference_path(equations, schedule, 0.3, 0.2, [1.0], 1e-11)[0]
    errors = [abs(raw(equations, schedule, level, cells=cells, passes=passes) - best) for level in (4, 6)]
    return math.log(errors[0] / errors[1], 4)


@pytest.mark.parametrize("schedule", [Constant(3.0), Polynomial(3.0, 0.5), Polynomial(3.0, 2.0)])
def test_the_integrator_is_of_second_order(schedule):
    assert order(schedule) == pytest.approx(2, abs=0.15)


def test_a_frozen_reduction_loses_an_order():
    assert order(Constant(3.0), passes=1) < 1.3


@pytest.mark.parametrize("relaxation", [1e2, 1e4])
def test_fast_modes_driven_by_private_noise_keep_the_second_order(relaxation):
    """R follows the noise, and μ follows R, however fast the mode: two passes for μ are of first order here."""
    equation = dataclasses.replace(
        system.isotropic(0.5, 0.1, 0.0), relaxation=np.array([relaxation]), sampling=np.zeros(1)
    )
    risks = []
    for level in (3, 4, 5):
        cells = exponential.cells_of(equation, Polynomial(3.0, 2.0), np.linspace(0, 0.5, 10 * 2**level + 1))
        risks.append(exponential.path(equation, cells, 1.0, 0.35 / math.sqrt(relaxation))[-1])
    assert math.log2((risks[1] - risks[0]) / (risks[2] - risks[1])) == pytest.approx(2, abs=0.1)


def test_noise_spread_evenly_over_a_cell_loses_an_order():
    """Relaxation far faster than a cell: the noise that counts is the noise at the cell's end, not its mean."""
    equation = dataclasses.replace(system.isotropic(0.5, 0.1, 0.3), relaxation=np.array([1e4]), sampling=np.zeros(1))
    schedule = Polynomial(3.0, 2.0)
    best, errors = equivalent.risk_path(equation, schedule, 1.0, 1.0, [0.5], 1e-8)[0], {}
    for name in ("lean", "even"):
        for level in (2, 4):
            grid = np.linspace(0, 0.5, 10 * 2**level + 1)
            cells = exponential.cells_of(equation, schedule, grid)
            if name == "even":
                cells = dataclasses.replace(cells, lean=np.zeros_like(cells.lean))
            errors[name, level] = abs(exponential.path(equation, cells, 1.0, 1.0)[-1] / best - 1)
    assert math.log(errors["lean", 2] / errors["lean", 4], 4) > 1.8
    assert math.log(errors["even", 2] / errors["even", 4], 4) < 1.2
