"""What the noise of Algorithm 1 is, and what T noisy updates spend under three kinds of accounting."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd

from chapters.noisyhead.mechanism.cell import Cell
from costofprivacy.noisyhead import accounts, pretraining
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    basic_noise_multiplier,
    every_iterate,
    exact_noise_multiplier,
    last_iterate,
)

SINGLE_STEPS = (1, 2, 5)
EPSILON_PER_STEP = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 8.0, 9.0, 10.0, 15.0, 20.0, 50.0)
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of G, at which the noise is held against the sensitivity
CLAIMED, EVERY, LAST = "claimed: classical, basic composition", "every iterate, exactly", "last iterate, contraction"


def noise_rows(cell: Cell, budget: ApproximateDP) -> list[dict[str, object]]:
    """Noise of one step in each setting as Algorithm 1 prints it, beside the calibration it stands for.

    ``printed_std`` is the square root of the variance in Algorithm 1, 2η₀²T²σ² log(1.25T/δ)/(εN)²;
    ``calibrated_std`` the classical Gaussian mechanism at (ε/T, δ/T) on the sensitivity (A.1); ``exact_std`` the
    exact composition of T Gaussians. ``step_norm`` is the root mean square norm of one step's noise, D·printed_std.
    ``epsilon_every`` and ``epsilon_last`` are the ε that the printed noise spends, all iterates or the last released.
    """
    rows = []
    for setting, hyper in cell.settings.items():
        printed = printed_std(hyper, budget, cell.N)
        spent = pretraining.profile(hyper, budget, cell.N, printed).epsilons()
        rows.append(
            {
                "setting": str(setting),
                "N": cell.N,
                "T": hyper.steps,
                "printed_std": printed,
                "calibrated_std": pretraining.noise_std_printed(hyper, budget, cell.N),
                "exact_std": accounts.noise_std(accounts.EVERY, hyper, budget, cell.N, hyper.steps),
                "step_norm": cell.D * printed,
                "weight_bound": hyper.weight_bound,
                "epsilon_every": spent["every iterate"],
                "epsilon_last": spent["last iterate"],
            }
        )
    return rows


def printed_std(hyper: Hyperparameters, budget: ApproximateDP, N: int) -> float:
    """The root of Algorithm 1's variance, written as it stands there."""
    T, scale = hyper.steps, hyper.learning_rate * hyper.sigma / N
    return math.sqrt(2 * (scale * T / budget.epsilon) ** 2 * math.log(1.25 * T / budget.delta))


def noise_law(hyper: Hyperparameters, budget: ApproximateDP, N: int) -> pd.DataFrame:
    """The variance of the noise against the sensitivity of an update and its square, as G moves the sensitivity."""
    rows = []
    for factor in FACTORS:
        told = replace(hyper, feature_bound=factor * hyper.feature_bound)
        sensitivity, variance = pretraining.update_sensitivity(told, N), printed_std(told, budget, N) ** 2
        ratios = {
            "variance_over_sensitivity": variance / sensitivity,
            "variance_over_square": variance / sensitivity**2,
        }
        rows.append({"feature_bound": told.feature_bound, "sensitivity": sensitivity, "variance": variance} | ratios)
    return pd.DataFrame(rows)


def composition(T: tuple[int, ...], budget: ApproximateDP, contraction: float) -> pd.DataFrame:
    """ε spent at δ by T steps with Algorithm 1's noise, in three views, and the noise that each view would ask for.

    ``noise_multiplier`` is the noise's standard deviation over the sensitivity.
    """
    rows, needed = [], exact_noise_multiplier(budget)
    for steps in T:
        multiplier = basic_noise_multiplier(budget, steps)
        step = GaussianDP(1 / multiplier)
        last = last_iterate(step, contraction, steps)
        views = {
            CLAIMED: (budget.epsilon, multiplier),
            EVERY: (every_iterate(step, steps).epsilon(budget.delta), math.sqrt(steps) * needed),
            LAST: (last.epsilon(budget.delta), needed * last.mu / step.mu),
        }
        for name, (epsilon, noise) in views.items():
            rows.append({"T": steps, "accounting": name, "epsilon": epsilon, "noise_multiplier": noise})
    return pd.DataFrame(rows).assign(contraction=contraction)


def single_steps(delta: float) -> pd.DataFrame:
    """δ truly spent at the claimed ε, exactly composed, where the sensitivity bound is attained (RG ≪ C)."""
    rows = []
    for T in SINGLE_STEPS:
        for share in EPSILON_PER_STEP:
            budget = ApproximateDP(share * T, delta)
            spent = every_iterate(GaussianDP(1 / basic_noise_multiplier(budget, T)), T).delta(budget.epsilon)
            place = {"T": T, "epsilon": budget.epsilon, "epsilon_per_step": share}
            rows.append(place | {"delta": delta, "delta_spent": float(spent)})
    return pd.DataFrame(rows)
