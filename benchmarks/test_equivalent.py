"""The deterministic equivalent against LSODA on the same equations: one solution, and a hundred schedules at once.

Ratios of one run: each case times both, one after the other, and takes the least of several rounds.
"""

import time
from collections.abc import Callable

import numpy as np
import pytest

from costofprivacy.dpgd import equivalent, quadrature, spectrum, system
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule

TOLERANCE = 1e-4
CLIP, RHO = 0.1, 1.0
GAMMAS = (1e-1, 1e-3, 1e-5, 1e-8)
FAMILIES: dict[str, Callable[[float], Schedule]] = {
    "α = 0": Constant,
    "α = 1/2": lambda rate: Polynomial(rate, 0.5),
    "α = 2": lambda rate: Polynomial(rate, 2.0),
    "harmonic": lambda rate: Harmonic(0.1 * rate, 0.1),
}
EQUATIONS: dict[str, Callable[[float], system.System]] = {
    "isotropic": lambda gamma: system.isotropic(0.5, gamma, 0.3),
    "power law": lambda gamma: quadrature.of_power_law(spectrum.PowerLaw(0.25), gamma, 0.3, psi=0.5),
}
SOFT = 0.05  # above this γ no mode is fast, and LSODA is done in some fifty steps: there the ratio is noted alone
BATCH, REFERENCES, ROUNDS = 100, 10, 3
cases = pytest.mark.parametrize(
    ("name", "gamma", "family"),
    [(name, gamma, family) for name in EQUATIONS for gamma in GAMMAS for family in FAMILIES],
)


def seconds(run: Callable[[], object]) -> float:
    run()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def lsoda(equations: system.System, schedule: Schedule) -> float:
    return float(system.reference_path(equations, schedule, CLIP, RHO, [1.0], TOLERANCE)[0])


@cases
def test_a_hundred_schedules_take_less_than_ten_of_lsoda(name: str, gamma: float, family: str, note: list[str]) -> None:
    equations, rates = EQUATIONS[name](gamma), np.geomspace(1.0, 1.9 / gamma, BATCH)
    batch = [FAMILIES[family](rate) for rate in rates]
    ours = seconds(lambda: equivalent.final_risks(equations, batch, CLIP, RHO, TOLERANCE))
    theirs = seconds(lambda: [lsoda(equations, schedule) for schedule in batch[:: BATCH // REFERENCES]])
    best = equivalent.final_risks(equations, batch[::20], CLIP, RHO, 1e-8)
    error = np.abs(equivalent.final_risks(equations, batch[::20], CLIP, RHO, TOLERANCE) / best - 1).max()
    ratio = ours / theirs
    note.append(f"{name}, γ = {gamma:g}, {family}: 100 schedules over ten of LSODA {ratio:.2f}, error {error:.0e}")
    assert error < 2 * TOLERANCE
    assert ratio < 1 or gamma > SOFT


@cases
def test_one_solution_is_no_slower_than_lsoda(name: str, gamma: float, family: str, note: list[str]) -> None:
    equations, schedule = EQUATIONS[name](gamma), FAMILIES[family](min(20.0, 1 / gamma))
    ours = seconds(lambda: [equivalent.final_risk(equations, schedule, CLIP, RHO, TOLERANCE) for _ in range(20)]) / 20
    theirs = seconds(lambda: [lsoda(equations, schedule) for _ in range(3)]) / 3
    note.append(f"{name}, γ = {gamma:g}, {family}: a solution over LSODA's {ours / theirs:.2f}")
    assert ours < theirs
