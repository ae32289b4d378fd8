"""One solution of the deterministic equivalent for a power law, against LSODA on the same equations."""

from typing import Any

import pytest

from costofprivacy.dpgd import equivalent, quadrature, spectrum, system
from costofprivacy.dpgd.schedule import Constant, Polynomial, Schedule

SCHEDULES = {"constant": Constant(20.0), "root": Polynomial(20.0, 0.5), "square": Polynomial(20.0, 2.0)}
TOLERANCE = 1e-4
CLIP, RHO = 0.1, 1.0
MILLISECONDS = 10.0  # what issue 4 allows a solution


@pytest.fixture
def equations() -> system.System:
    """Figure 2's setting at γ = 0.001: φ = ¼, ψ = ½, ζ = 0.3."""
    return quadrature.of_power_law(spectrum.PowerLaw(0.25), 1e-3, 0.3, psi=0.5)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_solution_to_1e_4(benchmark: Any, note: list[str], equations: system.System, name: str) -> None:
    found = benchmark(equivalent.final_risk, equations, SCHEDULES[name], CLIP, RHO, TOLERANCE)
    best = equivalent.final_risk(equations, SCHEDULES[name], CLIP, RHO, 1e-8)
    milliseconds = 1e3 * benchmark.stats.stats.median
    note.append(f"ODE, power law, {name}: {milliseconds:.1f} ms, relative error {abs(found / best - 1):.0e}")
    assert found == pytest.approx(best, rel=TOLERANCE)
    assert milliseconds < MILLISECONDS


def lsoda(equations: system.System, schedule: Schedule) -> float:
    return float(system.reference_path(equations, schedule, CLIP, RHO, [1.0], TOLERANCE)[0])


@pytest.mark.parametrize("name", SCHEDULES)
def test_lsoda_beside_it(benchmark: Any, note: list[str], equations: system.System, name: str) -> None:
    found = benchmark.pedantic(lsoda, (equations, SCHEDULES[name]), rounds=2)
    best = equivalent.risk_path(equations, SCHEDULES[name], CLIP, RHO, [1.0], 1e-8)[0]
    milliseconds = 1e3 * benchmark.stats.stats.median
    note.append(f"LSODA, the same, {name}: {milliseconds:.1f} ms, relative error {abs(found / best - 1):.0e}")
