"""Does any pair of neighbouring data sets spend the ρ of (4.1)? It depends on where the noise is placed."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from chapters.dpgd.algorithm import noise, outputs
from costofprivacy.dpgd.schedule import Constant, Polynomial, Schedule, learning_rates, privacy_parameter
from costofprivacy.privacy import spent_by_record
from costofprivacy.privacy.amplification import remaining_noise

STEPS = 6
SCHEDULES: dict[str, Schedule] = {"constant": Constant(3.0), "α = 1": Polynomial(3.0, 1.0)}
RHOS = (1.0, 3.0)
EQUAL = 1e-12  # relative difference of two records that spend the same


def tightness() -> pd.DataFrame:
    """What neighbours reach of ρ, by schedule, placement of the noise, and ρ itself.

    ``step`` is the first that attains the maximum of (4.1), ``noise_left`` the share √(T_step/T_1) of the noise that is
    still to come there. ``reached_silent`` is exact where all the other records have x = 0, ``reached_found`` the most
    that was found: √(largest D_α/(αρ²/2)) over orders, records replaced and kinds of other records, looked for only
    where silence does not reach ρ already.
    """
    return pd.DataFrame(
        [
            _row(name, placement, rho, learning_rates(plan, STEPS), sigma)
            for rho in RHOS
            for name, plan in SCHEDULES.items()
            for placement, sigma in noise.placed(learning_rates(plan, STEPS), rho).items()
        ]
    )


def _row(name: str, placement: str, rho: float, rates: np.ndarray, sigma: np.ndarray) -> dict[str, object]:
    spent, left = spent_by_record(rates, sigma), remaining_noise(sigma)
    step = int(np.argmax(spent >= spent.max() * (1 - EQUAL)))
    silent = float(rates.max() / left[0]) / rho  # the output is one Gaussian, moved by one step
    return {
        "schedule": name,
        "placement": placement,
        "n": STEPS,
        "rho": rho,
        "rho_recomputed": privacy_parameter(rates, sigma),
        "step": step + 1,
        "noise_left": float(left[step] / left[0]),
        "reached_silent": silent,
        "reached_found": silent if silent > 1 - EQUAL else _found(rates, sigma, rho, step + 1),
    }


def _found(rates: np.ndarray, sigma: np.ndarray, rho: float, step: int) -> float:
    stds = 2 * outputs.CLIP_NORM * sigma
    tried = [(k, others) for k in sorted({1, step, STEPS}) for others in outputs.OTHERS]
    return math.sqrt(max(outputs.shares(rates, stds, rho, k, others)["renyi_share"] for k, others in tried))
