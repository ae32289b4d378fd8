"""The machinery behind the chapter on scaling laws."""

import math

import numpy as np
import pandas as pd
import pytest

from chapters.dpgd.scaling_laws import judge, measure
from chapters.dpgd.scaling_laws.measure import Cell, Law
from companion.running.montecarlo import generator
from costofprivacy.dpgd import parts, scaling

LAW = Law(0.25, 0.5, 1.0, 0.5, 0.1, 0.3, 0.5)
RNG = generator(0, 0, 0)


def test_an_optimum_is_one() -> None:
    """No rate of a fine scan over the whole range does better, and LSODA agrees."""
    cell = Cell(LAW, 0.01)
    risk, rate, at_end, minima = measure.solve(cell, rng=RNG)
    equations, cap = LAW.equations(0.01), 200.0
    tried = np.geomspace(1.0, cap, 150)
    found = [measure.equivalent.final_risk(equations, measure.family(1.0, r), 0.1, 0.1, 1e-5) for r in tried]
    assert risk <= min(found) * (1 + 1e-4)
    assert tried[int(np.argmin(found))] == pytest.approx(rate, rel=0.05)
    assert (at_end, minima) == (0.0, 1.0)
    same, least = measure.check(measure.Checked(LAW, 0.01, rate), rng=RNG)
    assert same == pytest.approx(risk, rel=1e-3)
    assert least == pytest.approx(risk, rel=1e-3)


def powered(exponent: float, points: int = 6, bend: float = 0.0) -> pd.DataFrame:
    gammas = 10.0 ** -np.arange(2.0, 2 + points)
    rows = [(g, 3 * g**exponent * (1 + bend * g**0.25)) for g in gammas]
    table = pd.DataFrame(rows, columns=["gamma", "risk"])
    return table.assign(**LAW.place, late_risk=table["risk"], h=exponent, at_cap=False)


def test_slopes_and_fits_of_a_power() -> None:
    table = powered(0.7)
    slopes = measure.local_slopes(table)
    assert slopes["slope"].tolist() == pytest.approx([0.7] * 5)
    assert slopes["gamma"].tolist() == pytest.approx([1e-3, 1e-4, 1e-5, 1e-6, 1e-7])
    fits = measure.fits(table)
    assert fits["slope"].tolist() == pytest.approx([0.7] * 3)
    assert fits["from_gamma"].tolist() == pytest.approx([1e-2, 1e-3, 1e-4])


def test_when_a_slope_settles() -> None:
    bent = powered(0.7, bend=5.0)
    slopes = measure.local_slopes(bent)
    far = slopes.assign(gamma=slopes["gamma"] * 1e-5, distance=0.0)[slopes["gamma"] < 2e-4]
    row = measure.settled(slopes, far).iloc[0]
    outside = slopes[slopes["distance"].abs() > measure.WITHIN]["gamma"].min()
    assert row["settles_at"] < outside
    assert row["solved_to"] == pytest.approx(1e-7)
    never = measure.settled(slopes, far.assign(distance=0.5)).iloc[0]
    assert math.isnan(never["settles_at"])


def test_cost_and_laws_without_privacy() -> None:
    bare = measure.without_privacy([LAW, Law(0.25, 0.5, 1.0, 0.0, 0.1, 0.3, 0.5)])
    assert len(bare) == 1
    assert bare[0].rho(0.01) == math.inf
    assert bare[0].h == pytest.approx(2.5 / 3.5)
    assert LAW.rho(0.01) == pytest.approx(0.1)
    points = measure.rows(LAW, [0.01], [np.array([0.2, 30.0, 0.0, 1.0])])
    free = measure.rows(bare[0], [0.01], [np.array([0.1, 30.0, 0.0, 1.0])])
    row = measure.cost(points, free).iloc[0]
    assert row["ratio"] == pytest.approx(2.0)
    assert row["critical"] == pytest.approx(2.5 / 7)


def test_the_explicit_side_by_direct_integration() -> None:
    """N₂ and N₃ of (E.21) and (E.28) in time, not in u, at t = ½ and t = 1."""
    law, gamma, v = Law(0.0, 0.0, 1.0, 0.5, 0.1, 0.3, 0.5), 1e-3, 40.0
    equations = law.equations(gamma)
    found = measure.explicit(equations, law, v, gamma)
    for time in (0.3, 1.0):
        s = np.linspace(0, time, 40001)
        lag = v / 2 * ((1 - s) ** 2 - (1 - time) ** 2)
        start = parts.kernels(equations, lag[0])[0]
        blocks = [parts.kernels(equations, part) for part in np.array_split(lag, 40)]
        sampled, private = (np.concatenate([block[i] for block in blocks]) for i in (1, 2))
        second = gamma * np.trapezoid((v * (1 - s)) ** 2 * sampled, s)
        third = gamma * np.trapezoid(2 * v**2 * (1 - s) * private, s)  # γ²/ρ² = γ
        row = found[measure.TIMES.tolist().index(time)]
        assert row == pytest.approx([float(start), second, third], rel=2e-3)


def test_the_numerical_optimum_is_the_crossing() -> None:
    places = measure.draw(200, np.random.default_rng(1))
    assert (places["psi"] < 1 - places["phi"]).all()
    table = measure.exponents(places)
    np.testing.assert_allclose(table["best_h"], table["h"], atol=1e-12)
    np.testing.assert_allclose(table[["e1", "e2", "e3"]].min(axis=1), table["h"], atol=1e-12)
    assert set(table["case"]) == {1, 2, 3, 4}


def test_the_linear_system_by_steps() -> None:
    """(E.12) by Euler steps at one eigenvalue of a quadrature: the solution that the chapter uses."""
    law = Law(0.0, 0.5, 0.0, 0.0, 1.0, 0.3, 0.5)
    row = measure.linear(law, 1e-4, 100.0).iloc[-1]
    equations = law.equations(1e-4)
    energies, steps = np.array(equations.initial), 4000
    for _ in range(steps):
        drift = -equations.relaxation * 100 * energies + equations.sampling * 100**2 * 1e-4
        energies = energies + drift / steps
    assert float(equations.readout @ energies) == pytest.approx(row["solved"], rel=1e-3)
    assert row["half_clock"] == pytest.approx(row["solved"], rel=1e-9)


def test_the_law_of_the_logarithm() -> None:
    law = Law(*measure.EQUAL[0], 1.0, 0.3, 0.5)
    table = measure.logarithm(law, float(scaling.rate_exponent(*measure.EQUAL[0])))
    assert (table["best"] <= table["power"]).all()
    assert judge.log_power(table, "power") == pytest.approx(1.0, abs=0.02)
    assert judge.log_power(table, "best") == pytest.approx(0.75, abs=0.03)
