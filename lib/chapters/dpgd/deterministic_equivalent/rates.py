"""How fast the risk of Algorithm 1 closes in on R(t) as n grows: Theorem 1 and Proposition 4.4 of arXiv:2505.16329v2.

The risk is simulated with `dpgd.chain`, exactly in law, so that n can be large and the trials many. For the uniform law
on [0, 2] a spectrum of four levels stands in, which the chain can follow at any d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline

from chapters.dpgd.deterministic_equivalent.regime import ALPHAS, SCHEDULES, Regime, bound, levelled, system_of
from costofprivacy.dpgd import chain, equivalent, spectrum
from costofprivacy.dpgd.chain import Eigenspaces
from costofprivacy.dpgd.descent import steps_at
from costofprivacy.dpgd.schedule import Constant, Schedule
from costofprivacy.dpgd.system import last_step

CHAINS = 1000  # in one trial
TIMES = np.arange(80) / 80  # at which the mean is held against R(t)
NODES = np.linspace(0, 1, 201)  # at which R(t) is solved; a spline serves the steps between them
TOLERANCE = 1e-7
SHARE = 0.99  # of the chains below the quantile reported
SPECTRA = {"isotropic": spectrum.isotropic, "four levels": levelled}
KINK = "constant, 2/γ"


@dataclass(frozen=True)
class Cell:
    """A spectrum and a number of samples; all schedules share a chain's draws."""

    regime: Regime
    n: int
    spectrum: str

    @property
    def key(self) -> int:
        """(n, spectrum) names the random stream."""
        return 2 * self.n + (self.spectrum == "four levels")

    @property
    def d(self) -> int:
        """The dimension."""
        return self.regime.dimension(self.n)

    @property
    def spaces(self) -> Eigenspaces:
        """The data, as the chain sees them."""
        return chain.eigenspaces(self.regime.model(SPECTRA[self.spectrum](self.d)))

    @property
    def schedules(self) -> dict[str, Schedule]:
        """Those of Figure 1, and the constant one at the kink of η̄ = min(η̃, 2/γ)."""
        figure_1 = {SCHEDULES[alpha]: self.regime.schedule(alpha) for alpha in ALPHAS}
        return {**figure_1, KINK: Constant(2 * self.n / self.d)}


@dataclass(frozen=True, eq=False)
class Reference:
    """The deterministic equivalent of a cell, for each schedule.

    Args:
        path: R(k/n) for k < n, shape (schedules, n). mean_path: R at `TIMES`, shape (schedules, times).
        smoothed: R at `TIMES` with the cap 2/γ replaced by its mean, same shape. level: (4.23), shape (schedules,).
    """

    path: np.ndarray
    mean_path: np.ndarray
    smoothed: np.ndarray
    level: np.ndarray


@lru_cache(maxsize=4)
def reference(cell: Cell) -> Reference:
    """Solve Definition 4.2 for each schedule of a cell."""
    equations, clip, rho = system_of(cell.spaces, cell.n), cell.regime.clip, cell.regime.rho

    def solve(plan: Schedule) -> CubicSpline:
        return CubicSpline(NODES, equivalent.risk_path(equations, plan, clip, rho, NODES, TOLERANCE))

    plans = list(cell.schedules.values())
    curves = [solve(plan) for plan in plans]
    when = steps_at(TIMES, cell.n) / cell.n
    smoothed = [curve(when) for curve in curves[:-1]] + [solve(smoothed_cap(cell))(when)]
    return Reference(
        np.stack([curve(np.arange(cell.n) / cell.n) for curve in curves]),
        np.stack([curve(when) for curve in curves]),
        np.stack(smoothed),
        np.array([curve(1.0) + last_step(equations, plan, clip, rho) for curve, plan in zip(curves, plans)]),
    )


def smoothed_cap(cell: Cell) -> Constant:
    """The mean of n·min(2/d, 2/‖x‖²) to order 1/d: (2/γ)(1 − E max(v, 0)), v = ‖x‖²/d − 1 ≈ N(0, 2 tr Σ²/d²)."""
    spaces = cell.spaces
    second = float(spaces.multiplicities @ spaces.eigenvalues**2) / spaces.d
    return Constant(2 * cell.n / cell.d * (1 - math.sqrt(second / (math.pi * spaces.d))))


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """What `CHAINS` chains do, for each schedule: shape (schedules, 2·times + 9).

    Means and mean squares of the deviations at `TIMES`, of sup_k |R(θ_k) − R(k/n)| over k < n, of |R(θ_n) − level| and
    of R(θ_n) − level; then three quantiles of the supremum, at `SHARE` and one standard error to either side.
    """
    target, ways = reference(cell), [cell.regime.configuration(plan) for plan in cell.schedules.values()]
    records = {int(step): i for i, step in enumerate(steps_at(TIMES, cell.n))}
    largest = np.zeros((len(ways), CHAINS))
    at_times = np.empty((len(ways), CHAINS, len(TIMES)))
    for k, risk in enumerate(chain.risks(cell.spaces, ways, cell.n, CHAINS, rng=rng)):
        if k == cell.n:
            break
        deviation = risk - target.path[:, k, None]
        if k in records:
            at_times[:, :, records[k]] = deviation
        np.maximum(largest, np.abs(deviation), out=largest)
    released = risk - target.level[:, None]
    summands = np.concatenate([at_times, np.stack([largest, np.abs(released), released], axis=-1)], axis=-1)
    spread = math.sqrt(SHARE * (1 - SHARE) / CHAINS)
    quantiles = np.quantile(largest, [SHARE - spread, SHARE, SHARE + spread], axis=1).T
    return np.concatenate([summands.mean(axis=1), (summands**2).mean(axis=1), quantiles], axis=1)


def rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Deviations of the risk from R(t), and of its mean, with standard errors over all chains."""
    target, count = reference(cell), len(samples) * CHAINS
    means = samples.mean(axis=0)
    first, second, (low, middle, high) = *np.split(means[:, :-3], 2, axis=1), means[:, -3:].T
    error = np.sqrt((second - first**2) / count)
    out = []
    for i, name in enumerate(cell.schedules):
        bias, smoothed = first[i, : len(TIMES)], first[i, : len(TIMES)] + target.mean_path[i] - target.smoothed[i]
        worst = {"bias": (bias, np.abs(bias).argmax()), "bias, cap smoothed": (smoothed, np.abs(smoothed).argmax())}
        values = {
            "path": (first[i, -3], error[i, -3]),
            "path, 99 %": (middle[i], (high[i] - low[i]) / 2 / math.sqrt(len(samples))),
            **{quantity: (v[at], error[i, at]) for quantity, (v, at) in worst.items()},
            "released": (first[i, -2], error[i, -2]),
            "released bias": (first[i, -1], error[i, -1]),
        }
        if name != KINK:
            del values["bias, cap smoothed"]
        place = {"spectrum": cell.spectrum, "schedule": name, "n": cell.n, "d": cell.d}
        out += [place | {"quantity": q, "value": v, "standard_error": e} for q, (v, e) in values.items()]
    return pd.DataFrame(out).assign(chains=count, bound=bound(cell.n))
