"""The three settings of section 6.1 of arXiv:2504.16000v2, which several chapters share."""

from __future__ import annotations

import math

from costofprivacy.noisyhead import hyperparameters, pretraining
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP, exact_composed_noise_multiplier
from costofprivacy.settings import Setting

MOST_STEPS = 100_000  # of one run: seconds; a small penalty asks for millions
POWER_OF_N = 2.5  # T = log N^{5/2} / log(1/(1 − λη₀))


def square_model(D: int, N: int, tau: float) -> PromptModel:
    """The prompt model with L = ⌊√N⌋."""
    return PromptModel(D, math.isqrt(N), tau)


def settings(model: PromptModel, N: int, kappa: float, penalty: float) -> dict[Setting, Hyperparameters]:
    """What Algorithm 1 is told in each setting.

    ``printed``: G of Theorem 4.1, η₀ = 3.17/(5 + G²)². ``published``: G of its proof, η₀ = 0.95·2λ/(3(λ + G²)²).
    ``corrected``: as published, with penalty λ/2 in the update, so that it rests at Γ* of (2.7), and R = C/(2√λ).
    """
    C = hyperparameters.clip_norm(model, N, kappa)
    R = hyperparameters.weight_bound(model, N, kappa, penalty)
    G_printed = hyperparameters.feature_bound_theorem(model, N, kappa)
    G = hyperparameters.feature_bound_proof(model, N, kappa)
    rate_printed = hyperparameters.learning_rate_printed(G_printed)
    rate = hyperparameters.learning_rate_published(G, penalty)
    T_printed = hyperparameters.iterations(POWER_OF_N, N, rate_printed, penalty)
    T = hyperparameters.iterations(POWER_OF_N, N, rate, penalty)
    R_right = hyperparameters.weight_bound_singular(C, penalty)
    return {
        Setting.PRINTED: Hyperparameters(C, G_printed, R, penalty, rate_printed, T_printed),
        Setting.PUBLISHED: Hyperparameters(C, G, R, penalty, rate, T),
        Setting.CORRECTED: Hyperparameters(C, G, R_right, penalty / 2, rate, T),
    }


def check_steps(steps: int, penalty: float, N: int) -> None:
    """Raise ``ValueError`` where the penalty asks for more steps than a run can take."""
    if steps > MOST_STEPS:
        raise ValueError(f"penalty must ask for at most T = {MOST_STEPS}, got {penalty!r}: T = {steps} at N = {N}")


def noise_std(setting: Setting, hyper: Hyperparameters, budget: ApproximateDP, N: int) -> float:
    """Standard deviation of an entry of z_t: as Algorithm 1 has it, or exactly composed where corrected."""
    if setting == Setting.CORRECTED:
        return pretraining.update_sensitivity(hyper, N) * exact_composed_noise_multiplier(budget, hyper.steps)
    return pretraining.noise_std_printed(hyper, budget, N)
