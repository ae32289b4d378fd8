"""The machinery behind the chapter on hyper-parameters."""

import math
from typing import Any

import numpy as np
import pytest

from chapters.dpgd.hyperparameters import measure
from companion.running.montecarlo import generator
from costofprivacy.dpgd import chain, equivalent, rates, spectrum, system, tuning
from costofprivacy.dpgd.descent import Configuration, descend
from costofprivacy.dpgd.schedule import Constant, Polynomial

OWN: dict[str, Any] = {"label_noise": 0.3, "initial_risk": 0.5}
MAP = measure.Map(20, 0.1, 0.5, 0.5, 0.3, 0.5, 6)


def test_a_map_is_algorithm_1_in_law() -> None:
    """One place of the map against the literal algorithm, means of 300 runs each."""
    c, rate = 0.3, 6.0
    values = spectrum.isotropic(20)
    model = spectrum.RegressionModel(values, spectrum.projections(values), 0.3)
    run = [Configuration(c, Polynomial(rate, 0.5), 0.5)]
    literal = [descend(model, run, 200, [1.0], rng=generator(2, 0, t)).released_risk[0] for t in range(300)]
    chained = chain.risk_at(chain.eigenspaces(model), run, 200, [1.0], 300, rng=generator(3, 0, 0))[0, :, 0]
    error = math.hypot(np.std(literal), np.std(chained)) / math.sqrt(300)
    assert abs(np.mean(literal) - chained.mean()) < 4 * error


def test_a_map_s_ode_is_the_equivalent() -> None:
    found = measure.solve(MAP, rng=generator(1, 0, 0))
    for k in (0, 11, 35):
        c, rate = MAP.places[k]
        direct = equivalent.final_risk(system.isotropic(0.5, 0.1, 0.3), Polynomial(rate, 0.5), c, 0.5)
        assert found[k] == pytest.approx(direct, rel=1e-3)


def test_best_and_advised_rates() -> None:
    cell = measure.Problem(0.0, 0.01, 1.0, clips=(0.1, 1.0), **OWN)
    found = measure.best(cell, rng=generator(1, 0, 0))
    brute = [cell.risk(0.1, float(r)) for r in np.geomspace(5, 80, 60)]
    assert found[0, 1] <= min(brute) * 1.0005
    assert cell.risk(0.1, found[0, 0]) == pytest.approx(found[0, 1], rel=1e-3)
    direct = tuning.best_rate(cell.equations, Constant, 1.0, 1.0)
    assert found[1, 1] == pytest.approx(direct.risk, rel=1e-3)
    line, rule, beyond = measure.advised(cell, rng=generator(1, 0, 0))[0]
    assert line == pytest.approx(cell.risk(0.1, math.log(100) / 0.1), rel=1e-3)
    assert found[0, 1] * 0.999 < rule < line < beyond
    rate, risk = measure.proven(cell, rng=generator(1, 0, 0))
    assert rate == pytest.approx(rates.factor(0.5, 0.1, 0.3) * math.log(100) / 0.1)
    assert risk == pytest.approx(cell.risk(0.1, rate), rel=1e-3)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_the_least_stretch_of_an_exact_sketch_is_one(alpha: float) -> None:
    cell = measure.Sweep(alpha, 0.01, 0.1, 0.1, points=6, **OWN)
    exact = np.array([measure.sketch(cell, float(v), 1.0) for v in cell.speeds])
    assert measure.least_stretch(cell, exact, cell.speeds[-1]) == pytest.approx(1.0, abs=2e-3)
    double = np.array([measure.sketch(cell, float(v), 2.0) for v in cell.speeds])
    assert measure.least_stretch(cell, double, cell.speeds[-1]) == pytest.approx(2.0, rel=2e-3)
    assert measure.least_stretch(cell, exact * 1e12, cell.speeds[-1]) == math.inf


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_the_sketch_is_the_reduced_equation(alpha: float) -> None:
    for clip in (0.1, 4.0):
        cell = measure.Sweep(alpha, 0.01, clip, 0.1, points=6, **OWN)
        plan = measure.schedule(alpha, 5.0 / min(clip, 1.0))
        assert measure.sketch(cell, 5.0, 1.0) == pytest.approx(
            rates.reduced_final(plan, clip, 0.01, 0.1, 0.5), rel=1e-6
        )


def test_a_wrong_constant_is_missed_and_the_right_one_is_not() -> None:
    table = measure.table(0.01, 0.3)
    shares = table["left"] / table["right"] - 1
    missed = table[(shares > 1e-9) & (table["claim"] == measure.AT_MOST)]
    assert set(missed["reading"]) == {measure.PRINTED}
    assert set(missed["step"]) == {"D.31", "D.61", "D.35"}
    assert all("R(0) = 2" in case or "R(0) = 5" in case for case in missed["case"])
