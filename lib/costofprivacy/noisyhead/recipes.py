"""The hyperparameters that arXiv:2504.16000v2 and its published numbers take, in one place.

Every recipe returns C, G, R, λ, η₀ and T of Algorithm 1. Section 6 has three settings of each (`Setting`): ``printed``,
what the text says; ``published``, what the published numbers come from, read off the authors' public code
(chebyshevtech/DP1, MIT licence), not fitted; ``corrected``, what the book finds right.
"""

import math
from collections.abc import Mapping

from costofprivacy.noisyhead import hyperparameters
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.settings import Setting

MOST_STEPS = 100_000  # of one run: seconds; a small penalty asks for millions
POWER_OF_N = 2.5  # T = log N^{5/2} / log(1/(1 − λη₀))
FREE = 1e9  # a radius that no iterate reaches
INTERVAL_SHARE = 0.9  # of the upper end of Theorem 4.1's interval for η₀


def square_model(D: int, N: int, label_noise: float) -> PromptModel:
    """The prompt model with L = ⌊√N⌋, of low dimension."""
    return PromptModel(D, math.isqrt(N), label_noise)


def overparametrised_model(N: int, label_noise: float) -> PromptModel:
    """The prompt model with D = L = ⌊√N⌋, of high dimension."""
    size = math.isqrt(N)
    return PromptModel(size, size, label_noise)


def high_dimension_penalty(N: int) -> float:
    """λ = N/D, D = ⌊√N⌋: the choice of Proposition 4.1."""
    return N / math.isqrt(N)


def low_dimension(model: PromptModel, N: int, failure: float, penalty: float) -> dict[Setting, Hyperparameters]:
    """Section 6.1, low dimension: η₀ = 3.17/(5 + G²)² printed, 0.95·2λ/(3(λ + G²)²) published; T follows from both."""
    G = _feature_bounds(model, N, failure)
    rate = {
        Setting.PRINTED: hyperparameters.learning_rate_printed(G[Setting.PRINTED]),
        Setting.PUBLISHED: hyperparameters.learning_rate_published(G[Setting.PUBLISHED], penalty),
    }
    steps = {s: hyperparameters.iterations(POWER_OF_N, N, rate[s], penalty) for s in rate}
    return _settings(model, N, failure, penalty, rate, steps)


def high_dimension(
    model: PromptModel, N: int, failure: float, share: Mapping[Setting, float], steps: int
) -> dict[Setting, Hyperparameters]:
    """Sections 6.1 (high dimension) and 6.2: λ = N/D, η₀ = share·λ/(λ + G²)².

    Args:
        share: of the printed and of the published learning rate.
    """
    penalty, G = high_dimension_penalty(N), _feature_bounds(model, N, failure)
    rate = {s: hyperparameters.learning_rate_scaled(G[s], penalty, share[s]) for s in G}
    return _settings(model, N, failure, penalty, rate, dict.fromkeys(rate, steps))


def theorem(model: PromptModel, N: int, failure: float, penalty: float, steps: int = 1) -> Hyperparameters:
    """C, G, R of (4.1), constants one, and η₀ at 0.9 of the end of its interval.

    Args:
        model: the law of a prompt. N: training prompts. failure: κ in (0, 1]. penalty: λ > 0. steps: T.
    """
    C = hyperparameters.clip_norm(model, N, failure)
    G = hyperparameters.feature_bound_theorem(model, N, failure)
    R = hyperparameters.weight_bound_theorem(model, N, failure, penalty)
    rate = INTERVAL_SHARE * hyperparameters.learning_rate_interval(G, penalty)
    return Hyperparameters(C, G, R, penalty, rate, steps)


def check_steps(steps: int, penalty: float, N: int) -> None:
    """Raise ``ValueError`` where the penalty asks for more steps than a run can take."""
    if steps > MOST_STEPS:
        raise ValueError(f"penalty must ask for at most T = {MOST_STEPS}, got {penalty!r}: T = {steps} at N = {N}")


def _feature_bounds(model: PromptModel, N: int, failure: float) -> dict[Setting, float]:
    """G of Theorem 4.1 as printed, and of its proof, behind the published numbers."""
    return {
        Setting.PRINTED: hyperparameters.feature_bound_theorem(model, N, failure),
        Setting.PUBLISHED: hyperparameters.feature_bound_proof(model, N, failure),
    }


def _settings(
    model: PromptModel,
    N: int,
    failure: float,
    penalty: float,
    rate: Mapping[Setting, float],
    steps: Mapping[Setting, int],
) -> dict[Setting, Hyperparameters]:
    """The three settings: ``corrected`` is the published one with the penalty λ/2 in the update, so that it rests at Γ*
    of (2.7), and with R = C/(2√λ)."""
    C, G = hyperparameters.clip_norm(model, N, failure), _feature_bounds(model, N, failure)
    R = hyperparameters.weight_bound(model, N, failure, penalty)
    found = {s: Hyperparameters(C, G[s], R, penalty, rate[s], steps[s]) for s in (Setting.PRINTED, Setting.PUBLISHED)}
    R_right, last = hyperparameters.weight_bound_singular(C, penalty), Setting.PUBLISHED
    return found | {Setting.CORRECTED: Hyperparameters(C, G[last], R_right, penalty / 2, rate[last], steps[last])}
