"""From ε and δ to ρ, the noise's measure: exactly, by Rényi divergences, and as arXiv:2505.16329v2 prints it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from costofprivacy.privacy import ApproximateDP, GaussianDP, ZeroConcentratedDP, classical_noise_multiplier

EXACT, RENYI, PROPOSITION, RULE = "exact", "Rényi divergences", "Proposition A.3", "(A.3)"
CLASSICAL = "classical"  # the Gaussian mechanism as NoisyHead's single step has it
GRID = tuple(np.geomspace(0.01, 10.0, 25))  # ρ of the curves


def rho_exact(budget: ApproximateDP) -> float:
    """The largest ρ whose Gaussian mechanism is (ε, δ)-DP."""
    return budget.to_gaussian().mu


def rho_renyi(budget: ApproximateDP) -> float:
    """The largest ρ such that dp-accounting derives (ε, δ) from ρ²/2-zCDP."""

    def surplus(log_rho: float) -> float:
        return ZeroConcentratedDP(math.exp(2 * log_rho) / 2).epsilon_best(budget.delta) - budget.epsilon

    exact = math.log(rho_exact(budget))
    return math.exp(brentq(surplus, exact - math.log(10.0), exact + 1e-9, xtol=1e-10))


def rho_proposition(budget: ApproximateDP) -> float:
    """The ρ with ρ²/2 + ρ√(2 ln(1/δ)) = ε, Proposition A.3 solved for ρ."""
    return math.sqrt(2 * budget.to_zero_concentrated().rho)


def rho_rule(budget: ApproximateDP) -> float:
    """ρ = ε/(2√ln(1/δ)), what (A.3) says to put; meant for ρ ≤ √ln(1/δ)."""
    return budget.epsilon / (2 * math.sqrt(-math.log(budget.delta)))


ROUTES: dict[str, Callable[[ApproximateDP], float]] = {
    EXACT: rho_exact,
    RENYI: rho_renyi,
    PROPOSITION: rho_proposition,
    RULE: rho_rule,
}


def budgets(epsilons: Sequence[float], deltas: Sequence[float]) -> pd.DataFrame:
    """ρ and the noise multiplier of each route from (ε, δ), and how many times the least noise that is.

    The classical Gaussian mechanism stands beside them where it is proven, for ε ≤ 1; ``rho`` is there 1 over its noise
    multiplier, and ``epsilon_spent`` what the noise spends at δ, exactly.
    """
    rows = []
    for epsilon in epsilons:
        for delta in deltas:
            budget = ApproximateDP(epsilon, delta)
            rhos = {route: rho_of(budget) for route, rho_of in ROUTES.items()}
            if epsilon <= 1:
                rhos[CLASSICAL] = 1 / classical_noise_multiplier(budget)
            for route, rho in rhos.items():
                spent = {"epsilon_spent": GaussianDP(rho).epsilon(delta), "noise_over_exact": rhos[EXACT] / rho}
                told = {"epsilon": epsilon, "delta": delta, "route": route}
                rows.append(told | {"rho": rho, "noise_multiplier": 1 / rho} | spent)
    return pd.DataFrame(rows)


def curves(deltas: Sequence[float]) -> pd.DataFrame:
    """ε at each δ along ρ: exactly, by Rényi divergences, by Proposition A.3 and, for ρ² ≤ ln(1/δ), by (A.3)."""
    rows = []
    for delta in deltas:
        for rho in GRID:
            told = ZeroConcentratedDP(rho**2 / 2)
            found = {
                EXACT: GaussianDP(rho).epsilon(delta),
                RENYI: told.epsilon_best(delta),
                PROPOSITION: told.epsilon(delta),
            }
            if rho**2 <= -math.log(delta):
                found[RULE] = 2 * rho * math.sqrt(-math.log(delta))
            rows += [{"delta": delta, "rho": rho, "route": name, "epsilon": value} for name, value in found.items()]
    return pd.DataFrame(rows)
