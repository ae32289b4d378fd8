"""The exponential integrator: its order, what costs an order, and the halves of a cell.

The cells of the integrator: where they end, and that their coordinate has the scales that it is made of.
"""

import dataclasses
import math

import numpy as np
import pytest

from costofprivacy.dpgd import equivalent, exponential, system
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial

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


# ---- Grid ----

EQUATION = system.isotropic(0.5, 0.1, 0.3)
LAW = exponential.law_of(EQUATION, 1.0, 1.0)


def coordinates(schedule):
    return exponential.coordinates(np.minimum(schedule(exponential.TABLE), EQUATION.cap), exponential.fastest(LAW))


def test_a_cell_ends_where_the_cap_lets_go_and_where_it_is_asked_to():
    schedule = Polynomial(40.0, 1.0)  # 2/γ = 20: at t = ½
    breaks = np.unique([0.0, 0.3, 1.0, *equivalent._kinks(EQUATION, schedule)])
    assert breaks == pytest.approx([0.0, 0.3, 0.5, 1.0])
    assert equivalent._kink(schedule.form, 20.0) == pytest.approx(0.5, abs=1e-12)
    assert equivalent._kink(Constant(3.0).form, 20.0) == 0.0
    for level in (0, 3):
        nodes, ends = exponential.nodes(coordinates(schedule), breaks, level)
        assert nodes[ends].tolist() == breaks.tolist()
        assert (np.diff(nodes) > 0).all()
        assert len(nodes) - 1 >= 2**level * exponential.CELLS


@pytest.mark.parametrize("level", [0, 3])
def test_the_cells_are_those_of_numpy_s_interpolation_to_the_last_bit(level):
    breaks, place = np.array([0.0, 0.3, 0.7, 1.0]), coordinates(Polynomial(40.0, 1.0))
    found, ends = exponential.nodes(place, breaks, level)
    marks = np.interp(breaks, exponential.TABLE, place)
    cells = [marks[k] + (marks[k + 1] - marks[k]) * np.arange(n) / n for k, n in enumerate(np.diff(ends))]
    expected = np.interp(np.append(np.concatenate(cells), marks[-1]), place, exponential.TABLE)
    expected[ends] = breaks
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("schedule", [Constant(3.0), Constant(1e6), Polynomial(100.0, 3.0), Harmonic(1.0, 1e-4)])
def test_the_coordinate_rises_by_one_for_each_part(schedule):
    found = coordinates(schedule)
    assert (np.diff(found) >= 0).all()
    assert found[0] == pytest.approx(0.0, abs=1e-12)
    assert found[-1] == pytest.approx(2.0 if isinstance(schedule, Constant) else 3.0)


def test_the_time_of_rest_is_where_the_fastest_mode_relaxes_by_a_quarter():
    schedule = Polynomial(100.0, 1.0)
    rates = np.minimum(schedule(exponential.TABLE), EQUATION.cap)
    late, rate = exponential._late(rates, exponential.fastest(LAW))
    assert late * rate * exponential.fastest(LAW) == pytest.approx(0.25, rel=0.02)
    assert rate == pytest.approx(float(schedule(1 - late)), rel=0.02)


def test_a_mode_that_never_rests_has_the_table_s_first_time_and_one_that_always_does_its_middle():
    table = np.ones_like(exponential.TABLE)
    assert exponential._late(table, 1e15)[0] == pytest.approx(1e-9)
    assert exponential._late(table, 1e-15)[0] == pytest.approx(0.5)
