"""Label noise that vanishes: section 8's conjecture, with a clip that is constant and one that follows the risk."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar

from costofprivacy.dpgd import control
from costofprivacy.experiments.dpgd.schedules.figure_seven import INITIAL_RISK

RATIOS = (0.25, 0.5, 1.0, 2.0, 4.0)  # c' of a clip that follows the risk
MULTIPLE = 10.0  # the largest c over ζ that counts as O(ζ)
POWERS = (0.5, 1.25, 2.0)  # of γ in ζ
ALONG_NOISE, FAR = "zeta", "zeta, gamma = 0.01"
FEW = 0.01  # γ at which e^{−1/γ} is in reach
_CLIPS = 25  # of a scan


def rows(gammas: tuple[float, ...], label_noises: tuple[float, ...]) -> pd.DataFrame:
    """Table ``small-noise``: the least risk with the best constant clip, with one that is O(ζ), with one that follows.

    Axes: ζ → 0 at the middle γ and at `FEW`, ρ = 1; and γ → 0 with ζ a power of γ.
    """
    middle = sorted(gammas)[len(gammas) // 2]
    places = [(ALONG_NOISE, 1 / noise, middle, noise) for noise in label_noises]
    places += [(FAR, 1 / noise, FEW, noise) for noise in label_noises]
    places += [(f"zeta = gamma^{power:g}", 1 / gamma, gamma, gamma**power) for power, gamma in product(POWERS, gammas)]
    return pd.DataFrame([_row(*place) for place in places])


def _row(axis: str, size: float, gamma: float, noise: float) -> dict[str, object]:
    best, clip = _best_clip(gamma, noise, 1e-2 * noise, 30.0)
    small, _ = _best_clip(gamma, noise, 1e-2 * noise, MULTIPLE * noise)
    followed = {ratio: control.least(control.following_clip(INITIAL_RISK, gamma, noise, ratio, 1.0)).risk
                for ratio in RATIOS}  # fmt: skip
    ratio = min(followed, key=lambda r: followed[r])
    return {
        "axis": axis,
        "size": size,
        "gamma": gamma,
        "zeta": noise,
        "order": noise**2 * (gamma + gamma**2),
        "fixed": best,
        "fixed_clip": clip,
        "proportional": small,
        "following": followed[ratio],
        "ratio": ratio,
        "floor": INITIAL_RISK * math.exp(-1 / gamma),
    }


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
