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
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from chapters.noisyhead import authors
from companion import _fits
from costofprivacy.noisyhead import bounds, dynamics, hyperparameters, recipes
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM, LAST, noise_std
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP

SIZES = tuple(10 ** (2 * k) for k in range(1, 9))
BUDGETS = (0.01, 0.1, 0.8, 8.0)
SMALL_BUDGETS = tuple(10.0**-k for k in range(9))
RATES = (1.0, 1e-2, 1e-4)  # shares of the theorem's learning rate that are tried
ONE_SIZE = 10**4  # N at which the bound is followed along T and ε
FOREVER = 10**7  # steps after which nothing of a start is left
LONGEST = 2000  # steps up to which a best T is looked for
FROM_R, FROM_FIGURE, FROM_ZERO = "‖Γ⁰‖ = R", "Γ⁰ of Figure 3", "Γ⁰ = 0"
ALONG_T, ALONG_EPSILON, ALONG_BOTH = "T", "ε", "T, ε = T"


@dataclass(frozen=True)
class Run:
    """Algorithm 1 on ``N`` prompts of a law, Π_R idle, beside Γ* of the same λ; T comes with each question."""

    hyper: Hyperparameters
    model: PromptModel
    N: int

    def descent(self, energy: float, steps: np.ndarray) -> np.ndarray:
        """The part of descent for each T, from E‖Γ⁰‖² = ``energy``."""
        return dynamics.descent_risk(self.hyper, self.model, self.N, self.hyper.penalty, energy, steps)

    def noise(self, account: str, budget: ApproximateDP, steps: np.ndarray) -> np.ndarray:
        """The part of noise for each T, which no start changes."""
        std = np.array([noise_std(account, self.hyper, budget, self.N, int(T)) for T in steps])
        return dynamics.noise_risks(self.hyper, self.model, std, steps, dynamics.curvature(self.model))

    def risk(self, energy: float, account: str, budget: ApproximateDP, steps: np.ndarray) -> pd.DataFrame:
        """Both parts and their sum for each T; columns T, descent, noise, total."""
        descent, noise = self.descent(energy, steps), self.noise(account, budget, steps)
        return pd.DataFrame({"T": steps, "descent": descent, "noise": noise, "total": descent + noise})

    def longest_risk(self, budget: ApproximateDP, T: int) -> float:
        """The risk after T steps of Algorithm 1's own account from ‖Γ⁰‖ = R, the longest start that it admits."""
        return float(self.risk(self.hyper.weight_bound**2, ALGORITHM, budget, np.array([T]))["total"].iloc[0])

    def progress(self, T: float) -> float:
        """r after T steps."""
        return bounds.progress(self.hyper.learning_rate, self.hyper.penalty, int(T))

    def bound_45(self, T: float, budget: ApproximateDP) -> float:
        """The right side of (4.5) after T steps, hidden constant one."""
        return sum(bounds.overparametrised_cost(self.model, self.N, self.progress(T), budget))

    @property
    def iterations(self) -> int:
        """T at which r = N."""
        return bounds.high_dimensional_iterations(self.N, self.hyper.learning_rate, self.hyper.penalty)


def theorem_run(N: int, failure: float, label_noise: float) -> Run:
    """The algorithm of Theorem 4.1 at D = L = √N and λ = N/D."""
    model = recipes.overparametrised_model(N, label_noise)
    return Run(recipes.theorem(model, N, failure, recipes.high_dimension_penalty(N)), model, N)


def step_grid(longest: int, points: int = 120) -> np.ndarray:
    """Whole numbers from 1 to ``longest``, every one at first, then about evenly on a log axis."""
    return np.unique(np.round(np.geomspace(1, longest, points)).astype(int))


def paper_bounds(run: Run, failure: float, budget: ApproximateDP, steps: np.ndarray) -> pd.DataFrame:
    """The right sides of (4.2) and (4.5) by T, hidden constants one, and C_Noise as section 6.2 prints it."""
    G0 = hyperparameters.query_bound_proof(run.model, run.N, failure)
    rows = []
    for T in steps:
        told, r = replace(run.hyper, steps=int(T)), run.progress(T)
        descent, noise = bounds.overparametrised_cost(run.model, run.N, r, budget)
        rows.append(
            {
                "T": T,
                "r": r,
                "descent_42": bounds.cost_of_descent(told, G0),
                "noise_42": bounds.cost_of_noise(told, G0, run.model, budget, run.N),
                "descent_45": descent,
                "noise_45": noise,
                "noise_section_62": bounds.noise_cost_section_62(run.model, run.N, r),
            }
        )
    return pd.DataFrame(rows)


def stopping(failure: float, label_noise: float, budget: ApproximateDP) -> pd.DataFrame:
    """The best T in closed form as N grows with D = L = √N, by start and account, in units of log N."""
    rows, steps = [], np.arange(1, LONGEST + 1)
    for N in SIZES:
        run = theorem_run(N, failure, label_noise)
        transient = 1 / (4 * run.hyper.learning_rate * run.hyper.penalty)
        for account in ACCOUNTS:
            noise = run.noise(account, budget, steps)
            for start, energy in _energies(run).items():
                total = noise + run.descent(energy, steps)
                best = int(steps[total.argmin()])
                rows.append(
                    {
                        "N": float(N),
                        "account": account,
                        "start": start,
                        "best_T": best,
                        "best_T_over_log_N": best / math.log(N),
                        "risk_at_best": total.min(),
                        "risk_at_longest_over_best": total[-1] / total.min(),
                        "transient": transient,
                    }
                )
    return pd.DataFrame(rows)


def _energies(run: Run) -> dict[str, float]:
    """‖Γ⁰‖² by start; a start outside the ball of radius R is projected on it, as Algorithm 1 does."""
    R = run.hyper.weight_bound
    return {FROM_R: R**2, FROM_FIGURE: min(R, authors.INITIAL_STD * run.model.D) ** 2, FROM_ZERO: 0.0}


def last_iterate(run: Run, budget: ApproximateDP, energies: Mapping[str, float]) -> pd.DataFrame:
    """A and B of the module's text by start, in the limit T → ∞: the best T and what it costs to go on for ever."""
    a = 1 - run.hyper.learning_rate * (2 * run.hyper.penalty + dynamics.curvature(run.model))
    A = run.noise(LAST, budget, np.array([FOREVER]))[0]
    rows = []
    for start, energy in energies.items():
        B = run.descent(energy, np.array([0]))[0]
        least = A * B / (A + B)
        best = max(1.0, math.log1p(B / A) / -math.log(a))
        rows.append({"start": start, "A": A, "B": B, "best_T": best, "least": least, "for_ever_over_least": A / least})
    return pd.DataFrame(rows)


def stopped(failure: float, label_noise: float, delta: float) -> pd.DataFrame:
    """The closed form at r = N from ‖Γ⁰‖ = R beside (4.6) and (4.5), by N and ε, Algorithm 1's own account.

    ``rest`` is where the noiseless twin rests, ``least_45`` the least of (4.5) over r, each at the largest ε that is
    private: ε = T.
    """
    rows = []
    for N in SIZES:
        run = theorem_run(N, failure, label_noise)
        T, rest = run.iterations, run.descent(0.0, np.array([FOREVER]))[0]
        least = min(run.bound_45(t, ApproximateDP(float(t), delta)) for t in step_grid(LONGEST))
        for epsilon in BUDGETS:
            budget = ApproximateDP(epsilon, delta)
            rows.append(
                {
                    "N": float(N),
                    "epsilon": epsilon,
                    "T": T,
                    "T_over_log_N": T / math.log(N),
                    "excess_risk": run.longest_risk(budget, T),
                    "bound_46": bounds.stopped_cost(run.model, N),
                    "bound_45": sum(bounds.overparametrised_cost(run.model, N, N, budget)),
                    "rest": rest,
                    "least_45": least,
                }
            )
    return pd.DataFrame(rows)


def any_steps(failure: float, label_noise: float, budget: ApproximateDP) -> pd.DataFrame:
    """The closed form from ‖Γ⁰‖ = R beside (4.5) at one N along T, along ever smaller ε, and along T with ε = T."""
    run = theorem_run(ONE_SIZE, failure, label_noise)
    steps = [int(T) for T in step_grid(LONGEST, 30)]
    points = [(ALONG_T, T, budget.epsilon) for T in steps]
    points += [(ALONG_EPSILON, run.iterations, epsilon) for epsilon in SMALL_BUDGETS]
    points += [(ALONG_BOTH, T, float(T)) for T in steps]
    rows = []
    for axis, T, epsilon in points:
        told = ApproximateDP(epsilon, budget.delta)
        sides = {"excess_risk": run.longest_risk(told, T), "bound_45": run.bound_45(T, told)}
        rows.append({"axis": axis, "N": float(run.N), "T": T, "epsilon": epsilon, "r": run.progress(T)} | sides)
    return pd.DataFrame(rows)


def parts_at_stop(failure: float, label_noise: float, budget: ApproximateDP) -> pd.DataFrame:
    """Noise and descent after 1, ½ log N and log N steps, from the longest start and from 0, by learning rate.

    ``rate_share`` is that of the theorem's learning rate; ``descent_over_zero``, the part of descent over the excess
    risk of answering 0, which is that of Γ⁰ = 0 before any step.
    """
    rows = []
    for N in SIZES:
        full = theorem_run(N, failure, label_noise)
        steps = np.unique([1, math.ceil(math.log(N) / 2), math.ceil(math.log(N))])
        for share in RATES:
            run = replace(full, hyper=replace(full.hyper, learning_rate=share * full.hyper.learning_rate))
            zero = run.descent(0.0, np.array([0]))[0]
            for start, energy in ((FROM_R, run.hyper.weight_bound**2), (FROM_ZERO, 0.0)):
                curve = run.risk(energy, ALGORITHM, budget, steps).drop(columns="total")
                rows.append(curve.assign(N=float(N), start=start, rate_share=share, zero_risk=zero))
    table = pd.concat(rows, ignore_index=True)
    table = table[["N", "start", "rate_share", "T", "noise", "descent", "zero_risk"]]
    over = {"noise_over_descent": table["noise"] / table["descent"]}
    return table.assign(**over, descent_over_zero=table["descent"] / table["zero_risk"])


def section_62(label_noise: float, budget: ApproximateDP) -> pd.DataFrame:
    """C_Descent and C_Noise of section 6.2 at r = N against N beside the two terms of (4.5), with local exponents.

    The factors ν⁵log³(NL) and log(1/δ)/ε² of (4.5), which section 6.2 leaves aside, are divided out.
    """
    rows = []
    for N in SIZES:
        model = recipes.overparametrised_model(N, label_noise)
        descent, noise = bounds.overparametrised_cost(model, N, N, budget)
        logs = model.response_variance**5 * math.log(N * model.L) ** 3
        noise *= budget.epsilon**2 / -math.log(budget.delta)
        printed = bounds.noise_cost_section_62(model, N, N)
        rows.append({"N": float(N), "descent": descent / logs, "noise_45": noise / logs, "noise_printed": printed})
    table, sizes = pd.DataFrame(rows), np.array(SIZES, dtype=float)
    exponents = {f"exponent_{name}": _fits.local_exponents(sizes, table[name].to_numpy()) for name in table.columns[1:]}
    return table.assign(**exponents)
