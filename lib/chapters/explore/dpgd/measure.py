"""What can be chosen on the page: the deterministic equivalent's risk and its parts on a grid of settings."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
import pandas as pd

from chapters.explore import rounded
from chapters.ranges import CLIP, GAMMA, NOISE, RATE, RHO
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy._validate import within
from costofprivacy.dpgd import quadrature, system
from costofprivacy.dpgd.parts import risk_parts
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule
from costofprivacy.dpgd.spectrum import PowerLaw
from costofprivacy.dpgd.system import System

SPECTRA = ISOTROPIC, UNIFORM, POWER = "isotropic", "uniform", "power law"
PHI = 0.5  # of the power law; 0 is the uniform one
INITIAL_RISK = 0.5  # of every figure of the paper: Var(x'θ*) = 1
TURN = 0.1  # τ of the harmonic schedule: when it has halved
CONSTANT, ROOT, HARMONIC = "constant", "square root", "harmonic"
SCHEDULES: dict[str, Callable[[float], Schedule]] = {
    CONSTANT: Constant,
    ROOT: lambda rate: Polynomial(rate, 0.5),
    HARMONIC: lambda rate: Harmonic(TURN * rate, TURN),
}
DIGITS = 4  # significant, of what is saved: twice what the page shows


@dataclass(frozen=True)
class Cell:
    """A spectrum, an aspect ratio and a schedule's shape, with all that is tried there."""

    spectrum: str
    gamma: float
    schedule: str
    rho: tuple[float, ...]
    clip: tuple[float, ...]
    learning_rate: tuple[float, ...]
    times: tuple[float, ...]
    label_noise: float
    key: ClassVar[int] = 0  # nothing is drawn

    @property
    def system(self) -> System:
        """The equations as d → ∞, D(0) the same in all directions: (θ*_i)² = 1/d."""
        if self.spectrum == ISOTROPIC:
            return system.isotropic(INITIAL_RISK, self.gamma, self.label_noise)
        law = PowerLaw(PHI if self.spectrum == POWER else 0.0)
        told = (self.gamma, self.label_noise, 0.0, INITIAL_RISK)
        return quadrature.of_power_law(law, *told, clock=max(self.learning_rate))

    @property
    def settings(self) -> list[tuple[float, float, float]]:
        """(ρ, c, η̃(0)) of each run."""
        return list(product(self.rho, self.clip, self.learning_rate))


def solve(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Every run of a cell, shape (runs, times + 1, 3): the parts of the risk, then what the last step adds."""
    equations = cell.system
    found = []
    for rho, clip, rate in cell.settings:
        schedule = SCHEDULES[cell.schedule](rate)
        parts = risk_parts(equations, schedule, clip, rho, cell.times)
        last = system.last_step(equations, schedule, clip, rho)
        path = np.column_stack([parts.start, parts.sampling, parts.private])
        found.append(np.vstack([path, [0.0, 0.0, last]]))
    return np.array(found)


class Experiment(Parameters):
    """The risk of the deterministic equivalent of arXiv:2505.16329v2 on a grid of settings; nothing is drawn."""

    label_noise: float = parameter(NOISE, 0.3)
    gamma: tuple[float, ...] = many(GAMMA, 0.01, 0.1, 0.3, ascending=True)
    rho: tuple[float, ...] = many(RHO, 0.3, 1.0, 3.0, ascending=True)
    """Privacy parameters of Gaussian differential privacy, besides no privacy, which is always there."""
    clip: tuple[float, ...] = many(CLIP, 0.3, 1.0, 3.0, ascending=True)
    learning_rate: tuple[float, ...] = many(RATE, 1.0, 3.0, 10.0, ascending=True)
    """Learning rates at the start; a step has this length over n."""
    times: tuple[float, ...] = many(
        within(0, 1),
        *(0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 1.0),
        ascending=True,
    )
    """Times at which the risk is saved, the start 0 and the end 1 among them."""

    def check(self) -> None:
        """Refuse times without a start or an end."""
        if self.times[0] != 0 or self.times[-1] != 1:
            raise ValueError(f"times must begin at 0 and end at 1, got {list(self.times)}")

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Table ``runs``, what was chosen and what is released, and ``paths``, the parts of the risk along each run."""
        cells = [
            self.shared(Cell, spectrum=spectrum, gamma=gamma, schedule=schedule, rho=(*self.rho, math.inf))
            for spectrum, gamma, schedule in product(SPECTRA, self.gamma, SCHEDULES)
        ]
        runs: list[dict[str, object]] = []
        paths: list[pd.DataFrame] = []
        noise = self.label_noise**2
        for cell, values in runner.run(solve, cells, 1, 0).items():
            for (rho, clip, rate), found in zip(cell.settings, values[0]):
                along = dict(zip(("start", "sampling", "private"), found[:-1].T))
                paths.append(pd.DataFrame({"run": len(runs), "t": np.array(self.times, dtype=float)} | along))
                before, last = found[-2].sum(), found[-1].sum()
                chosen = {"run": len(runs), "spectrum": cell.spectrum, "gamma": cell.gamma, "rho": rho, "clip": clip}
                chosen |= {"schedule": cell.schedule, "learning_rate": rate}
                risks = {"before_release": before, "last_step": last, "excess_risk": before + last}
                errors = {"test_error": 2 * (before + last) + noise, "response_variance": 2 * INITIAL_RISK + noise}
                runs.append(chosen | risks | errors)
        table = pd.DataFrame(runs)
        return {"runs": rounded(table, DIGITS), "paths": rounded(pd.concat(paths, ignore_index=True), DIGITS)}
