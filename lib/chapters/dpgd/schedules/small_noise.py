"""Label noise that vanishes: section 8's conjecture, with a clip that is constant and one that follows the risk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar

from chapters.dpgd.schedules.figure_seven import INITIAL_RISK
from costofprivacy.dpgd import control

RATIOS = (0.25, 0.5, 1.0, 2.0, 4.0)  # c' of a clip that follows the risk
MULTIPLE = 10.0  # the largest c over ζ that counts as O(ζ)
POWERS = (0.5, 1.25, 2.0)  # of γ in ζ
ALONG_NOISE, FAR = "zeta", "zeta, gamma = 0.01"
FEW = 0.01  # γ at which e^{−1/γ} is in reach
_CLIPS = 16  # of a scan


@dataclass(frozen=True)
class Place:
    """A place on an axis: its size along it, γ and ζ; ρ = 1."""

    axis: str
    size: float
    gamma: float
    zeta: float

    @property
    def key(self) -> int:
        """Nothing is drawn."""
        return 0


def places(gammas: tuple[float, ...], label_noises: tuple[float, ...]) -> list[Place]:
    """Axes: ζ → 0 at the middle γ and at `FEW`, ρ = 1; and γ → 0 with ζ a power of γ."""
    middle = sorted(gammas)[len(gammas) // 2]
    found = [Place(ALONG_NOISE, 1 / noise, middle, noise) for noise in label_noises]
    found += [Place(FAR, 1 / noise, FEW, noise) for noise in label_noises]
    powers = [Place(f"zeta = gamma^{power:g}", 1 / gamma, gamma, gamma**power)
              for power, gamma in product(POWERS, gammas)]  # fmt: skip
    return found + powers


def solve(place: Place, *, rng: np.random.Generator) -> np.ndarray:
    """The least risk with the best constant clip and that clip, with one that is O(ζ), with one that follows and c'."""
    gamma, noise = place.gamma, place.zeta
    best, clip = _best_clip(gamma, noise, 1e-2 * noise, 30.0)
    small, _ = _best_clip(gamma, noise, 1e-2 * noise, MULTIPLE * noise)
    followed = {ratio: control.least(control.following_clip(INITIAL_RISK, gamma, noise, ratio, 1.0)).risk
                for ratio in RATIOS}  # fmt: skip
    ratio = min(followed, key=lambda r: followed[r])
    return np.array([best, clip, small, followed[ratio], ratio])


def rows(found: dict[Place, np.ndarray]) -> pd.DataFrame:
    """Table ``small-noise``; ``order`` is ζ²(γ + γ²/ρ²), ``floor`` R(0)e^{−1/γ}."""
    names = ("fixed", "fixed_clip", "proportional", "following", "ratio")
    return pd.DataFrame(
        [
            {
                "axis": place.axis,
                "size": place.size,
                "gamma": place.gamma,
                "zeta": place.zeta,
                "order": place.zeta**2 * (place.gamma + place.gamma**2),
                **dict(zip(names, values[0])),
                "floor": INITIAL_RISK * math.exp(-1 / place.gamma),
            }
            for place, values in found.items()
        ]
    )


def _best_clip(gamma: float, noise: float, low: float, high: float) -> tuple[float, float]:
    """The least released risk over constant clips between two, and the clip; ρ = 1."""

    def risk(log: float) -> float:
        return control.least(control.fixed_clip(INITIAL_RISK, gamma, noise, math.exp(log), 1.0)).risk

    logs = np.linspace(math.log(low), math.log(high), _CLIPS)
    risks = [risk(log) for log in logs]
    k = int(np.argmin(risks))
    near = (logs[max(k - 1, 0)], logs[min(k + 1, _CLIPS - 1)])
    found = minimize_scalar(risk, bounds=near, method="bounded", options={"xatol": 1e-2})
    return (found.fun, math.exp(found.x)) if found.fun < risks[k] else (risks[k], math.exp(logs[k]))
