"""Full-batch descent with a shrinking clip where the label noise vanishes, beside one-pass DP-GD at its best."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.ranges import SEED, TRIALS, amount, chance, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Precision, Runner
from costofprivacy.dpgd import control
from costofprivacy.privacy import GaussianDP
from costofprivacy.rivals import shrinking_clip

NONE, POWER, FIXED = "zeta = 0", "zeta = gamma^2", "gamma fixed"
INITIAL_RISK = 0.5  # of θ_0 at the distance 1 from θ*
RATIOS = (0.25, 0.5, 1.0, 2.0, 4.0)  # c' of DP-GD's clip, which follows the risk
PILOT = 10  # releases from whose spread the number of a cell's releases follows
VANISHING = 1e-100  # in the place of ζ = 0 in DP-GD's equation, whose solution does not depend on it by then


class Experiment(Parameters):
    """Risks at ζ = 0, at ζ = γ² and along ζ at one γ: full-batch descent, one-pass DP-GD, the suspected order."""

    d: int = parameter(count(2, 10**4), 60)
    gammas: tuple[float, ...] = many(chance(1e-3, 0.5), 0.1, 0.05, 0.025, 0.0125)
    """Aspect ratios γ = d/n at ζ = 0 and at ζ = γ²."""
    fixed_gamma: float = parameter(chance(1e-3, 0.5), 0.01)
    """Aspect ratio γ at which ζ varies: that of the chapter on schedules."""
    label_noises: tuple[float, ...] = many(amount(1e-30, 1e3), 1.0, 0.1, 1e-2, 1e-4, 1e-6, 1e-8)
    """Standard deviations ζ of the label noise at that γ."""
    rho: float = parameter(amount(0.01, 4.0), 1.0)
    """Budget of each release: ρ-Gaussian DP, hence ρ²/2-zCDP."""
    trials: int = parameter(TRIALS, 60)
    """The most releases of a cell."""
    precision: float = parameter(chance(1e-4, 0.5), 0.06)
    """Standard error of a mean risk, over that mean, at which a cell has enough releases."""
    seed: int = parameter(SEED, 11)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        places = [(NONE, gamma, 0.0) for gamma in self.gammas]
        places += [(POWER, gamma, gamma**2) for gamma in self.gammas]
        places += [(FIXED, self.fixed_gamma, noise) for noise in self.label_noises]
        cells = [Cell(i, axis, round(self.d / gamma), self.d, zeta, self.rho)
                 for i, (axis, gamma, zeta) in enumerate(places)]  # fmt: skip
        found = runner.run(trial, cells, Precision(self.precision, self.trials, PILOT), self.seed)
        return {"small-noise-full-batch": pd.DataFrame([row(cell, values) for cell, values in found.items()])}


@dataclass(frozen=True)
class Cell:
    """One point of an axis.

    Args:
        key: its place among all, which names the random stream. axis: what varies. n, d: records and dimension.
        zeta: ζ. rho: ρ.
    """

    key: int
    axis: str
    n: int
    d: int
    zeta: float
    rho: float

    @property
    def gamma(self) -> float:
        return self.d / self.n

    @property
    def order(self) -> float:
        return self.zeta**2 * (self.gamma + (self.gamma / self.rho) ** 2)

    @property
    def plan(self) -> shrinking_clip.Plan:
        """The rounds; they know ζ, and that θ* is within 1 of θ_0."""
        return shrinking_clip.plan(self.n, self.d, 1.0, self.zeta, GaussianDP(self.rho))


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """The risk of one release on fresh data, shape (1,).

    θ* is the origin, and the descent starts at distance 1 from it. The method is the same in shifted coordinates, and
    these have room in doubles for errors far below the rounding of labels of order 1.
    """
    x = rng.standard_normal((cell.n, cell.d))
    y = cell.zeta * rng.standard_normal(cell.n)
    start = np.full(cell.d, cell.d**-0.5)
    theta = shrinking_clip.release(x, y, cell.plan, start, rng=rng)
    return np.array([theta @ theta / 2])


def one_pass(cell: Cell) -> float:
    """The least released risk of DP-GD by its deterministic equivalent: the best schedule, a clip that follows R."""
    zeta = max(cell.zeta, VANISHING)
    drifts = [control.following_clip(INITIAL_RISK, cell.gamma, zeta, ratio, cell.rho) for ratio in RATIOS]
    return min(control.least(drift).risk for drift in drifts)


def row(cell: Cell, samples: np.ndarray) -> dict[str, object]:
    """Means with their standard errors; the exponent is ln(risk)·(γ/ρ)²."""
    risk, error = _fits.mean_and_error(samples[:, 0])
    scale, single = (cell.gamma / cell.rho) ** 2, one_pass(cell)
    exponent, exponent_error = _fits.mean_and_error(np.log(samples[:, 0]) * scale)
    return {
        "axis": cell.axis,
        "gamma": cell.gamma,
        "zeta": cell.zeta,
        "size": 1 / cell.zeta if cell.axis == FIXED else 1 / cell.gamma,
        "n": cell.n,
        "rounds": cell.plan.rounds,
        "risk": risk,
        "standard_error": error,
        "exponent": exponent,
        "exponent_error": exponent_error,
        "order": cell.order,
        "one_pass": single,
        "one_pass_exponent": math.log(single) * scale,
        "one_pass_floor": INITIAL_RISK * math.exp(-1 / cell.gamma),
        "trials": len(samples),
    }
