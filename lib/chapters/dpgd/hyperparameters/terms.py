r"""The equations of the proof's sketch beside (4.11): how far their constants are from one, and the factors in them.

"Behaves like" is made precise by one number: the least k ≥ 1 with which the sketch's linear equation encloses the
released risk, for every learning rate that is allowed. The upper equation has its descent divided by k and its two
sources multiplied by k, the lower the other way round. The claim is that k stays bounded as γ falls.

For α = 0 and Σ = I equation (4.11) is autonomous, so R(t) is monotone: what holds at t = 0 and t = 1 holds between.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from chapters.dpgd.hyperparameters.problem import ALPHAS, TOLERANCE, equations, schedule, tabulated
from companion.streams import Runner
from costofprivacy.dpgd import clipping, equivalent, rates
from costofprivacy.dpgd.rates import OUTPUT

CLIPS = {"c = 0.1": (0.1, 0.0), "c = 1": (1.0, 0.0), "c = γ^−¼": (1.0, -0.25), "c = γ^−½": (1.0, -0.5)}
RHOS = {"ρ = 0.1": (0.1, 0.0), "ρ = γ^¾": (1.0, 0.75), "ρ = 1/γ": (1.0, -1.0)}
SHARES = (0.01, 0.5, 1.0)  # η̃(0) in units of 2/γ, where factors are followed
CHOSEN, HALF, WHOLE = "(5.2)", "1/γ", "2/γ"  # how far v goes: to C ln(1/γ) with this C, or η̃(0) to these
LARGE = 2.0  # C
SLOWEST = 1e-2  # the least v
LARGEST = 1e9  # where the search for k gives up


@dataclass(frozen=True)
class Sweep:
    """One schedule, c and ρ at one γ, and the learning rates that are tried."""

    alpha: float
    gamma: float
    clip: float
    rho: float
    label_noise: float
    initial_risk: float
    points: int

    @property
    def key(self) -> int:
        """Nothing is drawn."""
        return 0

    @property
    def speeds(self) -> np.ndarray:
        """v: min(c, 1) η̃(0), up to the cap, half of the cap among them."""
        largest = min(self.clip, 1.0) * 2 / self.gamma
        even = np.geomspace(SLOWEST, largest, self.points)
        return np.unique(np.concatenate([even, list(self.reaches.values())]))

    @property
    def reaches(self) -> dict[str, float]:
        """The largest v of each range."""
        largest = min(self.clip, 1.0) * 2 / self.gamma
        return {CHOSEN: min(-LARGE * math.log(self.gamma), largest), HALF: largest / 2, WHOLE: largest}


def sweep(cell: Sweep, *, rng: np.random.Generator) -> np.ndarray:
    """The released risk at each learning rate."""
    plans = [schedule(cell.alpha, float(v) / min(cell.clip, 1.0)) for v in cell.speeds]
    given = equations(cell.gamma, cell.label_noise, cell.initial_risk)
    return equivalent.final_risks(given, plans, cell.clip, cell.rho, TOLERANCE)


def sketch(cell: Sweep, speed: float, stretch: float) -> float:
    """The released risk of (5.13) with descent divided, sampling and noise multiplied by ``stretch``."""
    sampling = stretch * cell.gamma * speed**2
    private = stretch * max(1.0, cell.clip**2) * (speed * cell.gamma / cell.rho) ** 2
    if cell.alpha == OUTPUT:
        return float(rates.relaxation(1.0, speed / stretch, sampling, cell.initial_risk)) + private
    return float(rates.square_root_path(1.0, speed / stretch, sampling, private, cell.initial_risk))


def least_stretch(cell: Sweep, risks: np.ndarray, largest: float) -> float:
    """The least k whose two equations enclose the risks at all v up to ``largest``; ∞ where none below 1e9 does."""
    pairs = [(v, risk) for v, risk in zip(cell.speeds, risks) if v <= largest * (1 + 1e-9)]

    def encloses(k: float) -> bool:
        return all(sketch(cell, v, 1 / k) <= risk <= sketch(cell, v, k) for v, risk in pairs)

    if not encloses(LARGEST):
        return math.inf
    low, high = 0.0, math.log(LARGEST)
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (low, middle) if encloses(math.exp(middle)) else (middle, high)
    return math.exp(high)


def reduced(gammas: Sequence[float], points: int, runner: Runner, **own: Any) -> pd.DataFrame:
    """``reduced``: the least k of each regime, for v up to C ln(1/γ), and for η̃(0) up to 1/γ and 2/γ."""
    cells = {}
    for alpha, clip, rho, gamma in itertools.product(ALPHAS, CLIPS, RHOS, gammas):
        clip_value, rho_value = (scale * gamma**power for scale, power in (CLIPS[clip], RHOS[rho]))
        cells[Sweep(alpha, gamma, clip_value, rho_value, points=points, **own)] = (clip, rho)

    def rows(cell: Sweep, risks: np.ndarray) -> list[dict[str, Any]]:
        place = {"alpha": cell.alpha, "clip_rule": cells[cell][0], "rho_rule": cells[cell][1], "gamma": cell.gamma}
        place |= {"clip": cell.clip, "rho": cell.rho, "inverse": 1 / cell.gamma}
        ends = cell.reaches.items()
        return [place | {"reach": reach, "stretch": least_stretch(cell, risks, end)} for reach, end in ends]

    return tabulated(runner, sweep, list(cells), rows)


def factors(gammas: Sequence[float], rho: float, label_noise: float, initial_risk: float) -> pd.DataFrame:
    """``factors``: the least and the largest μ, μ/c, ν𝒫 and ν𝒫/c² along the path, α = 0; see the module."""
    rows = []
    for (name, (scale, power)), share, gamma in itertools.product(CLIPS.items(), SHARES, gammas):
        clip = scale * gamma**power
        plan = schedule(OUTPUT, share * 2 / gamma)
        given = equations(gamma, label_noise, initial_risk)
        risk = equivalent.risk_path(given, plan, clip, rho, [0.0, 0.5, 1.0], TOLERANCE)
        test = risk + label_noise**2 / 2
        mu, second = clipping.descent_reduction(clip, test), clipping.variance_reduction(clip, test) * test
        place = {"axis": name, "share": share, "gamma": gamma, "inverse": 1 / gamma, "clip": clip}
        found = {"mu": mu, "mu_over_clip": mu / clip, "second": second, "second_over_square": second / clip**2}
        ends = {f"{side}_{key}": getattr(v, side)() for key, v in found.items() for side in ("min", "max")}
        rows.append(place | {"final_risk": risk[-1]} | ends)
    return pd.DataFrame(rows)
