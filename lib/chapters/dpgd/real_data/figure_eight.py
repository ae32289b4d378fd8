"""Figure 8 of arXiv:2505.16329v2: schedules on real data as n grows, each at its own best hyper-parameters.

The hyper-parameters are chosen on a grid by the mean held-out risk of one half of the seeds and told by the other half,
and the other way round: no seed takes part in the choice that it tells of. Such a choice looks at data, so it is not
private; it shows what a schedule can do, as the paper's does.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from chapters.dpgd.real_data.maps import BLOWN
from chapters.dpgd.real_data.problem import LIMIT, Population, Problem, populations, schedule, shuffled
from companion.streams import Runner
from costofprivacy.datasets import HOUSING, MNIST
from costofprivacy.dpgd import tuning
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.families import descend_grid
from costofprivacy.dpgd.schedule import Harmonic, Schedule

EXPONENTS = (0.0, 0.5, 1.0, 2.0)
HARMONIC = "harmonic"
SCHEDULES = (*(f"{exponent:g}" for exponent in EXPONENTS), HARMONIC)
OFFSETS = (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0, 10.0)  # τ
SMALLEST = {MNIST: 0.03, HOUSING: 1.0}  # the smallest η̃(0)
STEP = 1.35  # from one η̃(0) to the next
BEYOND = 2.0  # the largest η̃(0) of the powers over 2/γ, at most `LARGEST`
LARGEST = {MNIST: 40.0, HOUSING: 600.0}
STEEPER = 8.0  # a harmonic schedule may start so many times higher: it falls at once
ALL, KEPT, LIMITED = "all seeds", "without the seeds that blow up", "features limited"


@dataclass(frozen=True)
class Run:
    """All schedules of the grid on one problem, at clipping constant c and privacy ρ."""

    problem: Problem
    clip: float
    rho: float

    @property
    def key(self) -> int:
        """The shuffles are those of the data set."""
        return self.problem.key

    @property
    def grid(self) -> list[tuple[str, float, float]]:
        """(schedule, η̃(0), τ) of each configuration; τ is NaN but for harmonic ones."""
        asked = self.problem.asked
        end = max(min(BEYOND * 2 / self.problem.gamma, LARGEST[asked]), 4 * SMALLEST[asked])
        rates = _geometric(SMALLEST[asked], end)
        found = [(name, rate, math.nan) for name, rate in itertools.product(SCHEDULES[:-1], rates)]
        for offset in OFFSETS:
            steeper = _geometric(SMALLEST[asked], end * (STEEPER if offset < 1 else 1))
            found += [(HARMONIC, rate, offset) for rate in steeper]
        return found


def _geometric(first: float, last: float) -> list[float]:
    return [first * STEP**k for k in range(1 + math.ceil(math.log(last / first) / math.log(STEP)))]


def plan(name: str, rate: float, offset: float) -> Schedule:
    """The schedule of a configuration of the grid, by its name, η̃(0) and τ."""
    return Harmonic(rate * offset, offset) if name == HARMONIC else schedule(float(name), rate)


@dataclass(frozen=True)
class Runs:
    """Runs on problems that differ by n alone: a trial shuffles the rows once for all of them."""

    runs: tuple[Run, ...]

    @property
    def key(self) -> int:
        """That of each run."""
        return self.runs[0].key

    @property
    def problems(self) -> list[Problem]:
        """One for each run."""
        return [run.problem for run in self.runs]


def trial(cell: Runs, *, rng: np.random.Generator) -> np.ndarray:
    """𝒫(θ^p) of each configuration of each grid, one grid behind the other, shape (configurations,)."""
    shuffle, found = shuffled(cell.problems, rng), []
    for run, held_out in zip(cell.runs, shuffle.held_out):
        configurations = [Configuration(run.clip, plan(*each), run.rho) for each in run.grid]
        found.append(held_out.risks(descend_grid(*shuffle.training(run.problem), configurations, rng=shuffle.noise)))
    return np.concatenate(found)


def theory(cell: Runs, *, rng: np.random.Generator) -> np.ndarray:
    """The least 𝒫 of each schedule by the deterministic equivalent with the median of ‖x‖², shape (runs, schedules)."""
    laws = populations(shuffled(cell.problems, rng).splits)
    return np.array([_least(run, law) for run, law in zip(cell.runs, laws)])


def _least(run: Run, law: Population) -> list[float]:
    shorter = math.sqrt(law.d / law.typical)
    given, clip, rho = law.system(run.problem.n, law.typical), run.clip * shorter, run.rho * shorter
    found = [tuning.best_rate(given, _family(a), clip, rho, tolerance=1e-3).risk for a in EXPONENTS]
    found.append(min(tuning.best_harmonic(given, clip, rho, 1e-3).risk, found[0]))
    return [risk + law.floor for risk in found]


def _family(exponent: float) -> tuning.Family:
    return lambda rate: schedule(exponent, rate)


# ------------------------------------------------------------------------------------------------------- tables


def table(problems: list[Problem], clip: float, rho: float, trials: int, seed: int, runner: Runner) -> pd.DataFrame:
    """``figure-8``: the risk of each schedule at its tuned hyper-parameters, for each problem, view and seed."""
    raw = [Run(problem, clip, rho) for problem in problems]
    cut = [Run(replace(problem, limit=LIMIT), clip, rho) for problem in problems]
    rows = []
    for run, whole, safe in zip(raw, *(_measured(runs, trials, seed, runner) for runs in (raw, cut))):
        kept = ~blown(run, whole, safe)
        for view, values, chosen in (
            (ALL, whole, np.ones(trials, bool)),
            (KEPT, whole, kept),
            (LIMITED, safe, np.ones(trials, bool)),
        ):
            rows += _rows(run, view, values, np.flatnonzero(chosen))
    return pd.DataFrame(rows)


def _measured(runs: list[Run], trials: int, seed: int, runner: Runner) -> list[np.ndarray]:
    """The trials of each run, shape (trials, configurations)."""
    cell = Runs(tuple(runs))
    ends = np.cumsum([len(run.grid) for run in runs])
    return np.split(runner.run(trial, [cell], trials, seed)[cell], ends[:-1], axis=1)


def blown(run: Run, whole: np.ndarray, safe: np.ndarray) -> np.ndarray:
    """Which seeds blow up: above `BLOWN` with the output perturbation that is best once features are limited."""
    places = np.array([name == SCHEDULES[0] for name, _, _ in run.grid])
    best = np.flatnonzero(places)[safe[:, places].mean(axis=0).argmin()]
    return whole[:, best] > BLOWN


def _rows(run: Run, view: str, values: np.ndarray, chosen: np.ndarray) -> list[dict[str, object]]:
    """Rows of one view; fewer than four seeds cannot be halved, and give none."""
    if len(chosen) < 4:
        return []
    names = np.array([name for name, _, _ in run.grid])
    rows = []
    for name in SCHEDULES:
        places = np.flatnonzero(names == name)
        told = cross_fitted(values[np.ix_(chosen, places)])
        rate, offset = run.grid[places[values[np.ix_(chosen, places)].mean(axis=0).argmin()]][1:]
        place = {"data": run.problem.data, "n": run.problem.n, "view": view, "schedule": name}
        best = {"eta0": rate, "offset": offset}
        rows += [place | best | {"seed": int(s), "risk": r} for s, r in zip(chosen, told)]
    return rows


def cross_fitted(values: np.ndarray) -> np.ndarray:
    """The risk of each seed at the place that is best in the mean of the other half of the seeds.

    Args:
        values: shape (seeds, places), at least two seeds; halves are even and odd ones.

    Returns:
        shape (seeds,).
    """
    odd = np.arange(len(values)) % 2 == 1
    found = np.empty(len(values))
    for half in (odd, ~odd):
        found[half] = values[half, values[~half].mean(axis=0).argmin()]
    return found


def theory_table(
    problems: list[Problem], clip: float, rho: float, trials: int, seed: int, runner: Runner
) -> pd.DataFrame:
    """``theory``: the least risk of each schedule by the equations, the mean over some shuffles."""
    cell = Runs(tuple(Run(problem, clip, rho) for problem in problems))
    found = runner.run(theory, [cell], trials, seed)[cell].mean(axis=0)
    return pd.DataFrame(
        [
            {"data": run.problem.data, "n": run.problem.n, "schedule": name, "risk": risk}
            for run, values in zip(cell.runs, found)
            for name, risk in zip(SCHEDULES, values)
        ]
    )
