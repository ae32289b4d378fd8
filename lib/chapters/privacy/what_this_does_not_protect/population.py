"""What a correct ε permits: to learn about everyone, and so about those who are not in the data at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.privacy.what_this_does_not_protect.pair import NOISE
from companion._fits import mean_and_error
from companion.streams import Runner
from costofprivacy.estimators import DPGDRegressor
from costofprivacy.privacy import GaussianDP
from costofprivacy.privacy.advantage import largest_advantage

STRANGERS = 2000
MEMBERSHIP = "guess who was in the data"


@dataclass(frozen=True)
class Cell:
    """A number of records of dimension d, and ρ."""

    n: int
    d: int
    rho: float

    @property
    def key(self) -> int:
        """The number of records names the stream."""
        return self.n


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Share of the response's variance explained for members and for strangers, and the advantage of guessing which.

    Who has a squared residual below the median of both is taken for a member.
    """
    theta = np.full(cell.d, 1 / np.sqrt(cell.d))
    X = rng.standard_normal((cell.n + STRANGERS, cell.d))
    y = X @ theta + NOISE * rng.standard_normal(len(X))
    model = DPGDRegressor(rho=cell.rho, fit_intercept=False)._fit(X[: cell.n], y[: cell.n], rng)
    residual = (y - model.predict(X)) ** 2
    members, strangers = residual[: cell.n], residual[cell.n :]
    level = np.median(np.concatenate([members[:STRANGERS], strangers]))
    advantage = float(np.mean(members <= level) - np.mean(strangers <= level))
    return np.array([1 - members.mean() / y.var(), 1 - strangers.mean() / y.var(), advantage])


def table(runner: Runner, sizes: tuple[int, ...], d: int, rho: float, trials: int, seed: int) -> pd.DataFrame:
    """Means over trials with their standard errors, by the number of records."""
    rows = []
    for cell, values in runner.run(trial, [Cell(n, d, rho) for n in sizes], trials, seed).items():
        mean, error = mean_and_error(values)
        found = dict(zip(("members", "strangers", "advantage"), mean, strict=True))
        found |= dict(zip(("members_error", "strangers_error", "standard_error"), error, strict=True))
        rows.append({"n": cell.n, "d": d} | found | {"bound": largest_advantage(GaussianDP(rho)), "trials": trials})
    return pd.DataFrame(rows)
