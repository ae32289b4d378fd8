"""The proportional limit: the released risk at a fixed aspect ratio as the dimension grows, for two clipping rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from chapters.dpgd.hyperparameters.problem import TOLERANCE, equations, schedule
from companion._fits import mean_and_error
from companion.streams import Runner
from costofprivacy.dpgd import chain, equivalent, spectrum, tuning
from costofprivacy.dpgd.descent import Configuration

FIXED, GROWING = "c", "c ln n"  # in C_clip = c√d, and with a factor that tends to infinity
RULES = (FIXED, GROWING)


@dataclass(frozen=True)
class Size:
    """Algorithm 1 in one dimension, with a clipping constant that is fixed or grows."""

    d: int
    alpha: float
    rule: str
    gamma: float
    rho: float
    label_noise: float
    initial_risk: float
    base: float
    learning_rate: float

    @property
    def n(self) -> int:
        """Number of records."""
        return max(1, round(self.d / self.gamma))

    @property
    def key(self) -> int:
        """The dimension names the random stream."""
        return self.d

    @property
    def clip(self) -> float:
        """c of this size."""
        return self.base * (1.0 if self.rule == FIXED else math.log(self.n))


def trial(cell: Size, *, rng: np.random.Generator) -> np.ndarray:
    """The released risk of one run."""
    values = spectrum.isotropic(cell.d)
    target = spectrum.projections(values, initial_risk=cell.initial_risk)
    spaces = chain.eigenspaces(spectrum.RegressionModel(values, target, cell.label_noise))
    run = Configuration(cell.clip, schedule(cell.alpha, cell.learning_rate), cell.rho)
    return chain.risk_at(spaces, [run], cell.n, [1.0], 1, rng=rng)[0, 0, 0]


def table(cells: Sequence[Size], trials: int, seed: int, runner: Runner) -> pd.DataFrame:
    """``limit``: simulated risks by dimension, the ODE's, and the ODE's at the best η̃(0) for that clip."""
    rows = []
    for cell, samples in runner.run(trial, cells, trials, seed).items():
        given = equations(cell.gamma, cell.label_noise, cell.initial_risk)
        mean, error = mean_and_error(samples)
        ode = equivalent.final_risk(given, schedule(cell.alpha, cell.learning_rate), cell.clip, cell.rho, TOLERANCE)
        best = tuning.best_rate(given, partial(schedule, cell.alpha), cell.clip, cell.rho, tolerance=TOLERANCE)
        place = {"alpha": cell.alpha, "rule": cell.rule, "d": cell.d, "n": cell.n, "clip": cell.clip}
        found = {"risk_mean": float(mean), "standard_error": float(error), "trials": len(samples)}
        rows.append(place | found | {"ode_risk": ode, "best_ode_risk": best.risk})
    return pd.DataFrame(rows)
