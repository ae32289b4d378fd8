"""Figure 4 of arXiv:2505.16329v2: the released risk over (c, η̃(0)), simulated and by the deterministic equivalent."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.dpgd.hyperparameters.problem import TOLERANCE, equations, schedule
from companion.streams import Runner
from costofprivacy.dpgd import chain, equivalent, spectrum

CLIPS = (1e-3, 10.0)  # the range of c
SMALLEST_RATE, BEYOND = 0.3, 3.0  # the range of η̃(0): from this to about this many times 2/γ, which is on the grid
PLACE = ["gamma", "alpha", "clip", "learning_rate"]


@dataclass(frozen=True)
class Map:
    """One panel of the figure: a schedule at an aspect ratio, on a grid even in ln c and ln η̃(0)."""

    d: int
    gamma: float
    alpha: float
    rho: float
    label_noise: float
    initial_risk: float
    points: int

    @property
    def n(self) -> int:
        """Number of records, d/γ."""
        return max(1, round(self.d / self.gamma))

    @property
    def key(self) -> int:
        """The number of records names the random stream: both schedules meet the same draws."""
        return self.n

    @property
    def clips(self) -> np.ndarray:
        """The values of c."""
        return np.geomspace(*CLIPS, self.points)

    @property
    def rates(self) -> np.ndarray:
        """The values of η̃(0), even in its logarithm; 2/γ is one of them."""
        cap = 2 / self.gamma
        share = np.log(cap / SMALLEST_RATE) / np.log(BEYOND * cap / SMALLEST_RATE)
        last = min(self.points - 2, round(share * (self.points - 1)))
        return cap * (cap / SMALLEST_RATE) ** ((np.arange(self.points) - last) / last)

    @property
    def places(self) -> list[tuple[float, float]]:
        """(c, η̃(0)) of all points, in order."""
        return [(float(c), float(rate)) for c, rate in itertools.product(self.clips, self.rates)]


def trial(cell: Map, *, rng: np.random.Generator) -> np.ndarray:
    """The released risk of one run of Algorithm 1 in each place, by the risk chain; shape (places,)."""
    values = spectrum.isotropic(cell.d)
    target = spectrum.projections(values, initial_risk=cell.initial_risk)
    spaces = chain.eigenspaces(spectrum.RegressionModel(values, target, cell.label_noise))
    clips, rates = np.array(cell.places).T
    return chain.released_risks(spaces, schedule(cell.alpha, 1.0), clips, rates, cell.rho, cell.n, rng=rng)


def solve(cell: Map, *, rng: np.random.Generator) -> np.ndarray:
    """The deterministic equivalent's released risk in each place; shape (places,)."""
    given = equations(cell.gamma, cell.label_noise, cell.initial_risk)
    plans = [schedule(cell.alpha, float(rate)) for rate in cell.rates]
    rows = [equivalent.final_risks(given, plans, float(c), cell.rho, TOLERANCE) for c in cell.clips]
    return np.concatenate(rows)


def table(cells: list[Map], trials: int, seed: int, runner: Runner) -> pd.DataFrame:
    """``figure-4``: mean and standard deviation of the simulated risks over the trials, and the ODE's risk."""
    simulated, solved = runner.run(trial, cells, trials, seed), runner.run(solve, cells, 1, 0)
    return pd.concat([_rows(cell, simulated[cell], solved[cell][0]) for cell in cells], ignore_index=True)


def _rows(cell: Map, samples: np.ndarray, ode: np.ndarray) -> pd.DataFrame:
    clips, rates = np.array(cell.places).T
    place = {"gamma": cell.gamma, "alpha": cell.alpha, "clip": clips, "learning_rate": rates}
    found = {"risk_mean": samples.mean(axis=0), "risk_sd": samples.std(axis=0, ddof=1), "trials": len(samples)}
    return pd.DataFrame(place | found | {"ode_risk": ode})
