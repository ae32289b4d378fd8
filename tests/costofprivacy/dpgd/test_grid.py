"""The cells of the integrator: where they end, and that their coordinate has the scales that it is made of."""

import numpy as np
import pytest

from costofprivacy.dpgd import equivalent, exponential, system
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial

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
