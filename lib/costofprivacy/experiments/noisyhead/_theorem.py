"""The hyperparameters of Theorem 4.1 of arXiv:2504.16000v2, as several chapters take them."""

from __future__ import annotations

from costofprivacy.noisyhead import hyperparameters
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel

RATE = 0.9  # share of the upper end of the theorem's interval for η₀


def theorem_hyper(model: PromptModel, N: int, kappa: float, penalty: float, steps: int = 1) -> Hyperparameters:
    """C, G, R of (4.1), constants one, and η₀ at 0.9 of the end of its interval.

    Args:
        model: the law of a prompt. N: training prompts. kappa: κ in (0, 1]. penalty: λ > 0. steps: T.
    """
    C = hyperparameters.clip_norm(model, N, kappa)
    G = hyperparameters.feature_bound_theorem(model, N, kappa)
    R = hyperparameters.weight_bound_theorem(model, N, kappa, penalty)
    return Hyperparameters(C, G, R, penalty, RATE * hyperparameters.learning_rate_interval(G, penalty), steps)
