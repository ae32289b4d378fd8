"""From ρ to ε at δ: by Proposition A.3, (A.3), Rényi divergences and exactly; and the log n of (1.2)."""

from __future__ import annotations

import math

import pandas as pd

from costofprivacy.privacy import GaussianDP, ZeroConcentratedDP

TRANSLATION_N = (1e2, 1e3, 1e4, 1e6, 1e9, 1e12)
RHOS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 5.0)
DELTAS = (1e-2, 1e-5, 1e-10)


def translation(rho: float) -> pd.DataFrame:
    """The log n of (1.2): ε² over ρ² log n, where ε is what ρ-Gaussian DP spends at δ = 1/n²."""
    spent = {n: GaussianDP(rho).epsilon(n**-2.0) for n in TRANSLATION_N}
    return pd.DataFrame([{"n": n, "epsilon": e, "ratio": (e / rho) ** 2 / math.log(n)} for n, e in spent.items()])


def conversions() -> pd.DataFrame:
    """ε at δ of ρ²/2-zCDP by Proposition A.3, by (A.3), by way of Rényi divergences, and of ρ-Gaussian DP exactly."""
    return pd.DataFrame([_conversion(rho, delta) for delta in DELTAS for rho in RHOS])


def _conversion(rho: float, delta: float) -> dict[str, float | bool]:
    budget = ZeroConcentratedDP(rho**2 / 2)
    return {
        "rho": rho,
        "delta": delta,
        "proposition_a3": budget.epsilon(delta),
        "equation_a3": 2 * rho * math.sqrt(math.log(1 / delta)),
        "renyi": budget.epsilon_best(delta),
        "exact": GaussianDP(rho).epsilon(delta),
        "condition": rho <= math.sqrt(math.log(1 / delta)),
    }
