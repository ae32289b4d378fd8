"""The settings of sections 6.1 (high dimension) and 6.2 of arXiv:2504.16000v2, which two chapters share."""

from __future__ import annotations

import math
from collections.abc import Mapping

from costofprivacy.noisyhead import hyperparameters
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.settings import Setting

FREE = 1e9  # a radius that no iterate reaches


def overparametrised_model(N: int, tau: float) -> PromptModel:
    """The prompt model with D = L = ⌊√N⌋."""
    size = math.isqrt(N)
    return PromptModel(size, size, tau)


def penalty(N: int) -> float:
    """λ = N/D, D = ⌊√N⌋: the choice of Proposition 4.1."""
    return N / math.isqrt(N)


def settings(
    model: PromptModel, N: int, kappa: float, share: Mapping[Setting, float], steps: int
) -> dict[Setting, Hyperparameters]:
    """What Algorithm 1 is told in each setting, with η₀ = share·λ/(λ + G²)².

    ``printed``: G of Theorem 4.1. ``published``: G of its proof. ``corrected``: as published, with penalty λ/2 in the
    update, so that it rests at Γ* of (2.7), and R = C/(2√λ).

    Args:
        share: of the printed and of the published learning rate.
    """
    lam = penalty(N)
    C = hyperparameters.clip_norm(model, N, kappa)
    R = hyperparameters.weight_bound(model, N, kappa, lam)
    G_printed = hyperparameters.feature_bound_theorem(model, N, kappa)
    G = hyperparameters.feature_bound_proof(model, N, kappa)
    rate_printed = hyperparameters.learning_rate_scaled(G_printed, lam, share[Setting.PRINTED])
    rate = hyperparameters.learning_rate_scaled(G, lam, share[Setting.PUBLISHED])
    R_right = hyperparameters.weight_bound_singular(C, lam)
    return {
        Setting.PRINTED: Hyperparameters(C, G_printed, R, lam, rate_printed, steps),
        Setting.PUBLISHED: Hyperparameters(C, G, R, lam, rate, steps),
        Setting.CORRECTED: Hyperparameters(C, G, R_right, lam / 2, rate, steps),
    }
