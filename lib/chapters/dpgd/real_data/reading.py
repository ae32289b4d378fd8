"""What a map of risks over (c, η̃(0)) shows: its valley, and what lies beyond the paper's lines."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import stats

from companion.judging.vocabulary import CONSISTENT

SMALL = 0.3  # clipping constants up to this one count as small: those where the valley is fitted
WITHIN = 0.9  # of 2/γ: a valley up to there is not cut by the cap
FEWEST = 3  # seeds that a comparison needs, and rows that a slope does


@dataclass(frozen=True)
class Ratio:
    """The geometric mean over seeds of one risk over another, with the standard error of its logarithm.

    Few seeds tell their own spread badly: so many standard errors of a normal law are those of Student's law with as
    many chances.
    """

    value: float
    error: float
    seeds: int

    @property
    def above(self) -> bool:
        """Whether it is above 1 beyond doubt."""
        return bool(self.seeds >= FEWEST and math.log(self.value) > student(CONSISTENT, self.seeds) * self.error)

    @property
    def below(self) -> bool:
        """Whether it is below 1 beyond doubt."""
        return Ratio(1 / self.value, self.error, self.seeds).above


def student(errors: float, seeds: int) -> float:
    """The bound of Student's law for a mean of some seeds that is passed as often as ``errors`` of the normal law."""
    return float(stats.t.isf(stats.norm.sf(errors), seeds - 1))


def ratio(first: np.ndarray, second: np.ndarray) -> Ratio:
    """Of risks by seed, both of shape (seeds,), on the same rows and noise: seeds are compared with themselves."""
    logs = np.log(first / second)
    error = logs.std(ddof=1) / math.sqrt(len(logs)) if len(logs) >= FEWEST else math.inf
    return Ratio(float(np.exp(logs.mean())), float(error), len(logs))


@dataclass(frozen=True, eq=False)
class Panel:
    """The risks of one map.

    Args:
        gamma, alpha: of the map. clips: c, shape (k,). rates: η̃(0), shape (m,). risks: shape (seeds, k, m).
    """

    gamma: float
    alpha: float
    clips: np.ndarray
    rates: np.ndarray
    risks: np.ndarray

    @property
    def row(self) -> str:
        """Which rows of the table it is."""
        return f"gamma = {self.gamma:g}, alpha = {self.alpha:g}"

    @cached_property
    def mean(self) -> np.ndarray:
        """The mean over seeds, shape (k, m)."""
        return self.risks.mean(axis=0)

    def least(self, clips: np.ndarray, rates: np.ndarray | None = None) -> np.ndarray:
        """By seed, the risk at the place of the least mean among these rows and columns; shape (seeds,)."""
        columns = np.ones(len(self.rates), bool) if rates is None else rates
        inside = np.where(np.outer(clips, columns), self.mean, np.inf)
        return self.risks.reshape(len(self.risks), -1)[:, inside.argmin()]

    @property
    def best(self) -> tuple[float, float]:
        """(c, η̃(0)) of the least mean."""
        row, column = np.unravel_index(self.mean.argmin(), self.mean.shape)
        return float(self.clips[row]), float(self.rates[column])

    @property
    def inside(self) -> np.ndarray:
        """Which η̃(0) are at most 2/γ, up to the rounding of the table."""
        return self.rates <= 2 / self.gamma * 1.005

    @property
    def valley(self) -> np.ndarray:
        """For each c the η̃(0) ≤ 2/γ of the least mean, shape (k,)."""
        return self.rates[np.where(self.inside, self.mean, np.inf).argmin(axis=1)]

    @property
    def _open(self) -> np.ndarray:
        """Rows of small c whose valley neither 2/γ nor the end of the map cuts."""
        return (self.clips <= SMALL) & (self.valley < WITHIN * 2 / self.gamma) & (self.valley > self.rates[0])

    @property
    def slope(self) -> float:
        """d ln η̃/d ln c along the valley; NaN where too few rows show it."""
        open_ = self._open
        if open_.sum() < FEWEST:
            return math.nan
        return float(np.polyfit(np.log(self.clips[open_]), np.log(self.valley[open_]), 1)[0])

    @property
    def slope_error(self) -> float:
        """The slope's standard error, by leaving out one seed after the other; ∞ with too few seeds."""
        if len(self.risks) < FEWEST:
            return math.inf
        others = [replace(self, risks=np.delete(self.risks, k, axis=0)).slope for k in range(len(self.risks))]
        return float(np.std(others) * math.sqrt(len(others) - 1))

    @property
    def product(self) -> float:
        """The geometric mean of cη̃(0) along the valley; NaN where no row shows it."""
        open_ = self._open
        return float(np.exp(np.log((self.clips * self.valley)[open_]).mean())) if open_.any() else math.nan

    @property
    def worsening(self) -> Ratio:
        """The least risk with c > 1 over the least with c ≤ 1."""
        return ratio(self.least(self.clips > 1), self.least(self.clips <= 1))

    @property
    def largest_clip(self) -> Ratio:
        """The least risk with the largest c over the least of all."""
        return ratio(self.least(self.clips == self.clips.max()), self.least(self.clips <= self.clips.max()))

    @property
    def beyond(self) -> Ratio:
        """The least risk with η̃(0) > 2/γ over the least with η̃(0) ≤ 2/γ."""
        every = np.ones(len(self.clips), bool)
        return ratio(self.least(every, ~self.inside), self.least(every, self.inside))

    @property
    def gains(self) -> list[Ratio]:
        """For each c the least risk with η̃(0) ≤ 2/γ over the least beyond."""
        rows = np.eye(len(self.clips), dtype=bool)
        return [ratio(self.least(row, self.inside), self.least(row, ~self.inside)) for row in rows]


def panels(table: pd.DataFrame) -> list[Panel]:
    """The maps in a table with the columns gamma, alpha, c, eta0, seed and risk, the largest γ first, then by α."""
    found = []
    for (gamma, alpha), rows in table.groupby(["gamma", "alpha"]):
        grid = rows.pivot(index="seed", columns=["c", "eta0"], values="risk").sort_index(axis=1)
        clips, rates = (grid.columns.unique(level).to_numpy(float) for level in ("c", "eta0"))
        risks = grid.to_numpy().reshape(len(grid), len(clips), len(rates))
        found.append(Panel(float(gamma), float(alpha), clips, rates, risks))
    return sorted(found, key=lambda panel: (panel.alpha, -panel.gamma))
