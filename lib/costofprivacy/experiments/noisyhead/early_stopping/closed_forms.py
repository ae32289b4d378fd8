r"""Figure 3 without simulation: the risk against T in closed form, the paper's bounds, and where each is least.

Write a = 1 − 2λη₀ and Δ for the sensitivity of a step. With the *last iterate* calibrated to μ-GDP the noise part is

.. math:: \frac{\Delta^2}{\mu^2}\frac{1 - a^T}{1 + a^T}\frac{1 + a}{1 - a}\cdot e\,\frac{1 - a^{2T}}{1 - a^2}
          = \frac{e\Delta^2}{\mu^2}\Big(\frac{1 - a^T}{1 - a}\Big)^2 =: A(1 - a^T)^2,

which no T carries beyond A, the price of releasing the limit once with sensitivity Δ/(1 − a). With B a^{2T} for the
descent the sum is least at a^T = A/(A + B), where it is AB/(A + B): more steps cost at most the factor 1 + A/B.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.experiments.noisyhead import authors
from costofprivacy.noisyhead import bounds, dynamics, hyperparameters, recipes
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM, LAST, noise_std
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP

SIZES = tuple(10 ** (2 * k) for k in range(1, 9))
BUDGETS = (0.01, 0.1, 0.8, 8.0)
FOREVER = 10**7  # steps after which nothing of a start is left
LONGEST = 2000  # steps up to which a best T is looked for
FROM_R, FROM_FIGURE, FROM_ZERO = "‖Γ⁰‖ = R", "Γ⁰ of Figure 3", "Γ⁰ = 0"


def risk(
    hyper: Hyperparameters,
    model: PromptModel,
    N: int,
    penalty: float,
    energy: float,
    account: str,
    budget: ApproximateDP,
    steps: np.ndarray,
) -> pd.DataFrame:
    """Descent, noise and their sum for each T, Π_R idle, from E‖Γ⁰‖² = ``energy``; columns T, descent, noise, total."""
    descent = dynamics.descent_risk(hyper, model, N, penalty, energy, steps)
    noise = noise_part(hyper, model, N, account, budget, steps)
    return pd.DataFrame({"T": steps, "descent": descent, "noise": noise, "total": descent + noise})


def noise_part(
    hyper: Hyperparameters, model: PromptModel, N: int, account: str, budget: ApproximateDP, steps: np.ndarray
) -> np.ndarray:
    """The noise part of `risk` for each T, which no start changes."""
    h = dynamics.curvature(model)
    stds = [noise_std(account, hyper, budget, N, int(T)) for T in steps]
    return np.array([dynamics.noise_risk(replace(hyper, steps=int(T)), model, s, h) for T, s in zip(steps, stds)])


def step_grid(longest: int) -> np.ndarray:
    """Whole numbers from 1 to ``longest``, every one at first, then about evenly on a log axis."""
    return np.unique(np.round(np.geomspace(1, longest, 120)).astype(int))


def paper_bounds(
    hyper: Hyperparameters, model: PromptModel, N: int, kappa: float, budget: ApproximateDP, steps: np.ndarray
) -> pd.DataFrame:
    """The right sides of (4.2) and (4.5) by T, hidden constants one, and C_Noise as section 6.2 prints it."""
    G0 = hyperparameters.query_bound_proof(model, N, kappa)
    rows = []
    for T in steps:
        told = replace(hyper, steps=int(T))
        r = bounds.progress(hyper.learning_rate, hyper.penalty, int(T))
        rows.append(
            (
                T,
                r,
                bounds.cost_of_descent(told, G0),
                bounds.cost_of_noise(told, G0, model, budget, N),
                *bounds.overparametrised_cost(model, N, r, budget),
                bounds.noise_cost_section_62(model, N, r),
            )
        )
    names = ["T", "r", "descent_42", "noise_42", "descent_45", "noise_45", "noise_section_62"]
    return pd.DataFrame(rows, columns=names)


def stopping(kappa: float, tau: float, budget: ApproximateDP) -> pd.DataFrame:
    """The best T in closed form as N grows with D = L = √N, by start and account, in units of log N.

    A start outside the ball of radius R is projected on it, as Algorithm 1 does.
    """
    rows, steps = [], np.arange(1, LONGEST + 1)
    for N in SIZES:
        model = recipes.overparametrised_model(N, tau)
        hyper = recipes.theorem(model, N, kappa, recipes.high_dimension_penalty(N))
        energies = {
            FROM_R: hyper.weight_bound**2,
            FROM_FIGURE: min(hyper.weight_bound, authors.INITIAL_STD * model.D) ** 2,
            FROM_ZERO: 0.0,
        }
        transient = 1 / (4 * hyper.learning_rate * hyper.penalty)
        for account in ACCOUNTS:
            noise = noise_part(hyper, model, N, account, budget, steps)
            for start, energy in energies.items():
                total = noise + dynamics.descent_risk(hyper, model, N, hyper.penalty, energy, steps)
                best = int(steps[total.argmin()])
                late = total[-1] / total.min()
                rows.append((float(N), account, start, best, best / math.log(N), total.min(), late, transient))
    names = ["N", "account", "start", "best_T", "best_T_over_log_N", "risk_at_best", "risk_at_longest_over_best"]
    names += ["transient"]
    return pd.DataFrame(rows, columns=names)


def last_iterate(
    hyper: Hyperparameters, model: PromptModel, N: int, budget: ApproximateDP, energies: Mapping[str, float]
) -> pd.DataFrame:
    """A and B of the module's text by start, in the limit T → ∞: the best T and what it costs to go on for ever."""
    h = dynamics.curvature(model)
    a = 1 - hyper.learning_rate * (2 * hyper.penalty + h)
    A = risk(hyper, model, N, hyper.penalty, 0.0, LAST, budget, np.array([FOREVER]))["noise"].iloc[0]
    rows = []
    for start, energy in energies.items():
        B = dynamics.descent_risk(hyper, model, N, hyper.penalty, energy, np.array([0]))[0]
        rows.append((start, A, B, max(1.0, math.log1p(B / A) / -math.log(a)), A * B / (A + B), A / (A * B / (A + B))))
    return pd.DataFrame(rows, columns=["start", "A", "B", "best_T", "least", "for_ever_over_least"])


def stopped(kappa: float, tau: float, delta: float) -> pd.DataFrame:
    """The closed form at r = N from ‖Γ⁰‖ = R beside (4.6) and (4.5), by N and ε, Algorithm 1's own account."""
    rows = []
    for N in SIZES:
        model = recipes.overparametrised_model(N, tau)
        hyper = recipes.theorem(model, N, kappa, recipes.high_dimension_penalty(N))
        T = bounds.high_dimensional_iterations(N, hyper.learning_rate, hyper.penalty)
        for epsilon in BUDGETS:
            budget = ApproximateDP(epsilon, delta)
            energy = hyper.weight_bound**2
            curve = risk(hyper, model, N, hyper.penalty, energy, ALGORITHM, budget, np.array([T])).iloc[0]
            both = sum(bounds.overparametrised_cost(model, N, N, budget))
            sides = (curve["total"], bounds.stopped_cost(model, N), both)
            rows.append((float(N), epsilon, T, T / math.log(N), *sides, *_at_rest(hyper, model, N, delta)))
    names = ["N", "epsilon", "T", "T_over_log_N", "excess_risk", "bound_46", "bound_45", "rest", "least_45"]
    return pd.DataFrame(rows, columns=names)


def _at_rest(hyper: Hyperparameters, model: PromptModel, N: int, delta: float) -> tuple[float, float]:
    """Where the noiseless twin rests, and the least of (4.5) over r, each at the largest ε that is private: ε = T."""
    rest = dynamics.descent_risk(hyper, model, N, hyper.penalty, 0.0, np.array([FOREVER]))[0]
    steps = step_grid(LONGEST)
    progress = (bounds.progress(hyper.learning_rate, hyper.penalty, int(T)) for T in steps)
    costs = (
        sum(bounds.overparametrised_cost(model, N, r, ApproximateDP(float(T), delta))) for r, T in zip(progress, steps)
    )
    return rest, min(costs)


def section_62(tau: float, budget: ApproximateDP) -> pd.DataFrame:
    """C_Descent and C_Noise of section 6.2 at r = N against N beside the two terms of (4.5), with local exponents.

    The factors ν⁵log³(NL) and log(1/δ)/ε² of (4.5), which section 6.2 leaves aside, are divided out.
    """
    rows = []
    for N in SIZES:
        model = recipes.overparametrised_model(N, tau)
        descent, noise = bounds.overparametrised_cost(model, N, N, budget)
        logs = model.response_variance**5 * math.log(N * model.L) ** 3
        noise *= budget.epsilon**2 / -math.log(budget.delta)
        rows.append((float(N), descent / logs, noise / logs, bounds.noise_cost_section_62(model, N, N)))
    table = pd.DataFrame(rows, columns=["N", "descent", "noise_45", "noise_printed"])
    sizes = np.array(SIZES, dtype=float)
    exponents = {
        f"exponent_{name}": _fits.local_exponents(sizes, table[name].to_numpy())
        for name in ("descent", "noise_45", "noise_printed")
    }
    return table.assign(**exponents)
