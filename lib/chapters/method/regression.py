"""One private regression by one pass over the data: what the deterministic equivalent says of each way to spend ρ."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from costofprivacy.dpgd import system
from costofprivacy.dpgd.schedule import Constant, Polynomial, Schedule
from costofprivacy.dpgd.system import System
from costofprivacy.dpgd.tuning import Best, best_harmonic, best_rate

ZERO_RISK = 0.5  # the excess risk of answering 0 where the response without its noise has variance one
SMALL, LARGE = 0.1, 4.0  # clipping constants: active throughout, and hardly ever
NOISE_AT_END, EVEN, HARMONIC, UNCLIPPED = (
    "DP-GD, noise at the end",
    "DP-GD, even noise",
    "DP-GD, harmonic",
    "DP-GD, harmonic, hardly clipped",
)
ZERO, LEAST_SQUARES = "zero", "least squares, no privacy"
Finder = Callable[[System, float, float], Best]  # from the equations, c and ρ


def _even(equations: System, clip: float, rho: float) -> Best:
    return best_rate(equations, lambda rate: Polynomial(rate, 0.5), clip, rho)


def _at_end(equations: System, clip: float, rho: float) -> Best:
    return best_rate(equations, Constant, clip, rho)


WAYS: dict[str, tuple[Finder, float]] = {
    NOISE_AT_END: (_at_end, SMALL),
    EVEN: (_even, SMALL),
    HARMONIC: (best_harmonic, SMALL),
    UNCLIPPED: (best_harmonic, LARGE),
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
    find, clip = WAYS[way]
    best = find(system.isotropic(ZERO_RISK, gamma, label_noise), clip, rho)
    return best.schedule, best.risk


def least_squares(gamma: float, label_noise: float) -> float:
    """The expected excess risk of least squares on n > d + 1 Gaussian records, ζ²γ/(2(1 − γ)) as d grows."""
    return label_noise**2 * gamma / (2 * (1 - gamma))
