"""Figures 2 and 3 of arXiv:2505.16329v2: the optimised risk against γ, its local slope, and how that nears h.

The risk is that of the deterministic equivalent as d → ∞ (`quadrature.of_power_law`), with η̃(0) optimised at each γ.
Its closed form at small γ (`scaling`) continues the curves to any γ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from costofprivacy.dpgd import quadrature, scaling, system, tuning
from costofprivacy.dpgd.clipping import descent_reduction
from costofprivacy.dpgd.scaling import Late
from costofprivacy.dpgd.schedule import Constant, Polynomial, Schedule
from costofprivacy.dpgd.spectrum import PowerLaw
from costofprivacy.dpgd.system import System

NO_PRIVACY = -math.inf  # b of ρ = ∞
WITHIN = 0.01  # of h: where a slope has settled
MARGIN = 2.0  # by which a clock may exceed the largest that a run needs
WINDOW = 4  # points of a fit
AROUND = (0.8, 0.9, 1.0, 1.1, 1.25)  # learning rates over the best one, that LSODA tries
PLACE = ["phi", "psi", "alpha", "b"]


@dataclass(frozen=True)
class Law:
    """One curve: a power law with its target, a schedule, and ρ = γ^b.

    Args:
        phi, psi, alpha, b: the exponents; b = −∞ is no privacy. clip, label_noise, initial_risk: c, ζ, R(0).
    """

    phi: float
    psi: float
    alpha: float
    b: float
    clip: float
    label_noise: float
    initial_risk: float

    def rho(self, gamma: float) -> float:
        """ρ = γ^b."""
        return math.inf if self.b == NO_PRIVACY else gamma**self.b

    @property
    def h(self) -> float:
        """The exponent of Theorem 4."""
        b = -1e9 if self.b == NO_PRIVACY else self.b
        return float(scaling.risk_exponent(self.phi, self.psi, self.alpha, b))

    @property
    def late(self) -> Late:
        """The closed form at small γ."""
        return Late(self.phi, self.psi, self.alpha, self.clip, self.label_noise, self.initial_risk)

    @property
    def place(self) -> dict[str, float]:
        """What names the curve in a table."""
        return {name: getattr(self, name) for name in PLACE}

    def equations(self, gamma: float) -> System:
        """The system at γ, good for every η̃(0) up to 2/γ."""
        descent = float(descent_reduction(self.clip, self.label_noise**2 / 2))
        clock = MARGIN * 2 * descent / gamma / (self.alpha + 1)
        told = (self.label_noise, self.psi, self.initial_risk)
        return quadrature.of_power_law(PowerLaw(self.phi), gamma, *told, clock=clock)


def family(alpha: float, rate: float) -> Schedule:
    """η̃(0)(1 − t)^α."""
    return Polynomial(rate, alpha) if alpha > 0 else Constant(rate)


@dataclass(frozen=True)
class Cell:
    """A point of a curve."""

    law: Law
    gamma: float

    @property
    def key(self) -> int:
        """Nothing is drawn."""
        return 0


def solve(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """The least risk over η̃(0) ≤ 2/γ, where it is, whether that is the end, and how many local minima were seen."""
    law, gamma = cell.law, cell.gamma
    best = tuning.best_rate(law.equations(gamma), partial(family, law.alpha), law.clip, law.rho(gamma))
    return np.array([best.risk, best.initial, float(best.at_end), float(best.minima)])


@dataclass(frozen=True)
class Checked(Cell):
    """A point of a curve with its best η̃(0), as `solve` finds it."""

    rate: float


def check(cell: Checked, *, rng: np.random.Generator) -> np.ndarray:
    """By LSODA on the equations as they stand: the risk at the best rate, and the least of it and its neighbours'."""
    law, gamma, rate = cell.law, cell.gamma, cell.rate
    equations, rho = law.equations(gamma), law.rho(gamma)
    tried = [rate * factor for factor in AROUND if rate * factor <= equations.cap * (1 + 1e-9)]
    risks = []
    for value in tried:
        plan = family(law.alpha, value)
        path = system.reference_path(equations, plan, law.clip, rho, [1.0], tolerance=1e-8)
        risks.append(path[-1] + system.last_step(equations, plan, law.clip, rho))
    return np.array([risks[tried.index(rate)], min(risks)])


def rows(law: Law, gammas: Sequence[float], found: Iterable[np.ndarray]) -> pd.DataFrame:
    """A curve as rows of ``figure-2`` or ``figure-3``."""
    table = [
        {
            **law.place,
            "rho": law.rho(gamma),
            "gamma": gamma,
            "risk": risk,
            "eta0": rate,
            "at_cap": bool(at_end),
            "minima": int(minima),
            "h": law.h,
            "late_risk": law.late.best(gamma, law.rho(gamma)).risk,
        }
        for gamma, (risk, rate, at_end, minima) in zip(gammas, found)
    ]
    return pd.DataFrame(table)


def local_slopes(points: pd.DataFrame) -> pd.DataFrame:
    """The slope between neighbouring γ of each curve, beside h and the closed form's, named by the lesser γ."""
    found = []
    for _, curve in points.groupby(PLACE, sort=False):
        curve = curve.sort_values("gamma", ascending=False)
        for upper, lower in zip(curve.iloc[:-1].itertuples(), curve.iloc[1:].itertuples()):
            step = math.log(upper.gamma / lower.gamma)
            slope = math.log(upper.risk / lower.risk) / step
            found.append(
                {name: getattr(lower, name) for name in PLACE}
                | {
                    "gamma": lower.gamma,
                    "slope": slope,
                    "late_slope": math.log(upper.late_risk / lower.late_risk) / step,
                    "h": lower.h,
                    "distance": slope - lower.h,
                    "at_cap": bool(upper.at_cap or lower.at_cap),
                }
            )
    return pd.DataFrame(found)


def fits(points: pd.DataFrame) -> pd.DataFrame:
    """The slope of the best line through `WINDOW` neighbouring points of each curve on log axes, as the paper fits it.

    A row for each curve and window, named by its largest and its least γ.
    """
    found = []
    for place, curve in points.groupby(PLACE, sort=False):
        curve = curve.sort_values("gamma", ascending=False)
        for first in range(len(curve) - WINDOW + 1):
            part = curve.iloc[first : first + WINDOW]
            slope = float(np.polyfit(np.log(part["gamma"]), np.log(part["risk"]), 1)[0])
            ends = {"window": first, "from_gamma": part["gamma"].iloc[0], "to_gamma": part["gamma"].iloc[-1]}
            h, capped = float(part["h"].iloc[0]), int(part["at_cap"].sum())
            row = {"slope": slope, "h": h, "distance": slope - h, "capped": capped}
            found.append(dict(zip(PLACE, place)) | ends | row)
    return pd.DataFrame(found)


def approach(laws: Iterable[Law], gammas: Sequence[float]) -> pd.DataFrame:
    """The local exponent at the best η̃(0) in closed form, far below any γ that a solver reaches."""
    found = []
    for law in laws:
        for gamma in gammas:
            best = law.late.best(gamma, law.rho(gamma))
            slope = best.slope(law.b)
            found.append(law.place | {"gamma": gamma, "slope": slope, "h": law.h, "distance": slope - law.h,
                                      "at_cap": best.at_cap, "private_share": best.parts[2] / best.risk})  # fmt: skip
    return pd.DataFrame(found)


def settled(slopes: pd.DataFrame, far: pd.DataFrame) -> pd.DataFrame:
    """For each curve the γ from which on its slope stays within `WITHIN` of h, and the distance at the last one.

    The solver's slopes count as far as they go, the closed form's beyond.
    """
    found = []
    for place, curve in slopes.groupby(PLACE, sort=False):
        last = curve["gamma"].min()
        beyond = far[(far[PLACE] == list(place)).all(axis=1) & (far["gamma"] < last * (1 - 1e-9))]
        whole = pd.concat([curve, beyond])[["gamma", "distance"]].sort_values("gamma", ascending=False)
        outside = whole[whole["distance"].abs() > WITHIN]["gamma"]
        inside = whole[whole["gamma"] < outside.min()] if len(outside) else whole
        row = {"settles_at": inside["gamma"].max() if len(inside) else math.nan}
        distance = float(curve.set_index("gamma")["distance"][last])
        found.append(dict(zip(PLACE, place)) | row | {"solved_to": last, "distance": distance, "h": curve["h"].iloc[0]})
    return pd.DataFrame(found)


def without_privacy(laws: Iterable[Law]) -> list[Law]:
    """The same curves at ρ = ∞, each once."""
    return list(dict.fromkeys(replace(law, b=NO_PRIVACY) for law in laws))


def cost(points: pd.DataFrame, free: pd.DataFrame) -> pd.DataFrame:
    """What privacy costs at each point: the risk over that without privacy, each at its own best rate."""
    keys = ["phi", "psi", "alpha", "gamma"]
    both = points.merge(free[[*keys, "risk"]].rename(columns={"risk": "risk_without"}), on=keys)
    critical = [float(scaling.critical_b(*place)) for place in zip(both["phi"], both["psi"], both["alpha"])]
    both = both.assign(critical=critical, ratio=both["risk"] / both["risk_without"])
    return both[[*PLACE, "rho", "gamma", "critical", "risk", "risk_without", "ratio"]]
