"""One private regression by one pass over the data: what the deterministic equivalent says of each way to spend ρ."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar

from costofprivacy.dpgd import equivalent, system
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule
from costofprivacy.dpgd.system import System

ZERO_RISK = 0.5  # the excess risk of answering 0 where the response without its noise has variance one
SMALL, LARGE = 0.1, 4.0  # clipping constants: active throughout, and hardly ever
NOISE_AT_END, EVEN, HARMONIC, UNCLIPPED = (
    "DP-GD, noise at the end",
    "DP-GD, even noise",
    "DP-GD, harmonic",
    "DP-GD, harmonic, hardly clipped",
)
ZERO, LEAST_SQUARES = "zero", "least squares, no privacy"
_COARSE = np.geomspace(0.1, 1e4, 16)  # first rates that are tried before the best is refined
OFFSETS = 5  # of the harmonic schedule
_LOG_RATE = 1e-2  # where the risk is least a rate that is 1 % off costs about 1e-4 of it
_TOLERANCE = 1e-4

Family = Callable[[float], Schedule]  # a schedule for each first learning rate


def _constant(gamma: float) -> list[Family]:
    return [Constant]


def _root(gamma: float) -> list[Family]:
    return [lambda rate: Polynomial(rate, 0.5)]


def _harmonic(gamma: float) -> list[Family]:
    """β/(t + τ) with τ from γ, which is best where privacy is cheap, to 1."""
    offsets = np.geomspace(gamma, 1.0, OFFSETS)
    return [lambda rate, offset=offset: Harmonic(rate * offset, offset) for offset in offsets]  # type: ignore[misc]


WAYS: dict[str, tuple[Callable[[float], list[Family]], float]] = {
    NOISE_AT_END: (_constant, SMALL),
    EVEN: (_root, SMALL),
    HARMONIC: (_harmonic, SMALL),
    UNCLIPPED: (_harmonic, LARGE),
}


def table(records: Sequence[int], rhos: Sequence[float], label_noise: float) -> pd.DataFrame:
    """Half the test error of each method by records for each feature and ρ, each with its best first learning rate.

    Args:
        records: n/d, each at least 2. rhos: ρ > 0. label_noise: ζ ≥ 0. The features are isotropic.

    Returns:
        columns records, rho, method, rate (η̃(0)), offset (τ of the harmonic schedule), clip, excess_risk,
        half_test_error, half_response_variance.
    """
    rows = []
    for ratio in records:
        for rho in rhos:
            where = {"records": ratio, "rho": rho}
            for name, (_, clip) in WAYS.items():
                schedule, risk = best_schedule(name, 1 / ratio, rho, label_noise)
                knobs = {"rate": float(schedule(0.0)), "offset": getattr(schedule, "offset", np.nan), "clip": clip}
                rows.append(where | {"method": name} | knobs | {"excess_risk": risk})
            others = {ZERO: ZERO_RISK, LEAST_SQUARES: least_squares(1 / ratio, label_noise)}
            rows += [where | {"method": name, "excess_risk": risk} for name, risk in others.items()]
    noise = label_noise**2 / 2
    found = pd.DataFrame(rows)
    return found.assign(half_test_error=found["excess_risk"] + noise, half_response_variance=ZERO_RISK + noise)


def best_schedule(way: str, gamma: float, rho: float, label_noise: float) -> tuple[Schedule, float]:
    """The schedule of a way with the least released risk, and that risk."""
    families, clip = WAYS[way]
    equations = system.isotropic(ZERO_RISK, gamma, label_noise)
    return min((_least(equations, family, clip, rho) for family in families(gamma)), key=lambda found: found[1])


def _least(equations: System, family: Family, clip: float, rho: float) -> tuple[Schedule, float]:
    """The best schedule of one family, on a grid over five decades and then between the neighbours of the best."""

    def risk(log_rate: float) -> float:
        return equivalent.final_risk(equations, family(math.exp(log_rate)), clip, rho, _TOLERANCE)

    logs = np.log(_COARSE)
    tried = np.array([risk(value) for value in logs])
    middle = int(np.argmin(tried))
    around = (logs[max(middle - 1, 0)], logs[min(middle + 1, len(logs) - 1)])
    found = minimize_scalar(risk, bounds=around, method="bounded", options={"xatol": _LOG_RATE})
    best = found.x if found.fun < tried[middle] else logs[middle]
    return family(math.exp(best)), float(min(found.fun, tried[middle]))


def least_squares(gamma: float, label_noise: float) -> float:
    """The expected excess risk of least squares on n > d + 1 Gaussian records, ζ²γ/(2(1 − γ)) as d grows."""
    return label_noise**2 * gamma / (2 * (1 - gamma))
