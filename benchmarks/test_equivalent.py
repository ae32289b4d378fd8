"""One solution of the deterministic equivalent for a power law, against LSODA on the same equations."""

from typing import Any

import pytest

from costofprivacy.dpgd import equivalent, quadrature, spectrum, system
from costofprivacy.dpgd.schedule import Constant, Polynomial, Schedule

TOLERANCE = 1e-4
CLIP, RHO = 0.1, 1.0
MILLISECONDS = 10.0
CASES = {
    "γ = 1e-3, η̃(0) = 20, α = 0": (1e-3, Constant(20.0)),
    "γ = 1e-3, η̃(0) = 20, α = 1/2": (1e-3, Polynomial(20.0, 0.5)),
    "γ = 1e-3, η̃(0) = 20, α = 2": (1e-3, Polynomial(20.0, 2.0)),
    "γ = 1e-5, η̃(0) = 1.9/γ, α = 0": (1e-5, Constant(1.9e5)),
    "γ = 1e-5, η̃(0) = 1.9/γ, α = 1/2": (1e-5, Polynomial(1.9e5, 0.5)),
    "γ = 1e-5, η̃(0) = 1.9/γ, α = 2": (1e-5, Polynomial(1.9e5, 2.0)),
}


def equations(gamma: float) -> system.System:
    """Figure 2's spectrum and target, φ = ¼ and ψ = ½, with ζ = 0.3."""
    return quadrature.of_power_law(spectrum.PowerLaw(0.25), gamma, 0.3, psi=0.5)


def solution(gamma: float, schedule: Schedule, tolerance: float = TOLERANCE) -> float:
    return float(equivalent.risk_path(equations(gamma), schedule, CLIP, RHO, [1.0], tolerance)[0])


def lsoda(gamma: float, schedule: Schedule) -> float:
    return float(system.reference_path(equations(gamma), schedule, CLIP, RHO, [1.0], TOLERANCE)[0])


@pytest.mark.parametrize("name", CASES)
def test_a_solution_to_1e_4(benchmark: Any, note: list[str], name: str) -> None:
    found = benchmark(solution, *CASES[name])
    error = abs(found / solution(*CASES[name], 1e-8) - 1)
    milliseconds = 1e3 * benchmark.stats.stats.min
    note.append(f"ODE of a power law, {name}: {milliseconds:.1f} ms, relative error {error:.0e}")
    assert error < TOLERANCE
    assert milliseconds < MILLISECONDS


@pytest.mark.parametrize("name", CASES)
def test_lsoda_beside_it(benchmark: Any, note: list[str], name: str) -> None:
    found = benchmark.pedantic(lsoda, CASES[name], rounds=3)
    error = abs(found / solution(*CASES[name], 1e-8) - 1)
    note.append(f"LSODA, {name}: {1e3 * benchmark.stats.stats.min:.1f} ms, relative error {error:.0e}")
