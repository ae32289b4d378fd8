"""What NoisyHead pays for a budget: noise for each iterate and test error, by account and relation, in closed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from chapters.noisyhead.rivals import closed_forms
from costofprivacy.noisyhead import dynamics, population, pretraining
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.recipes import square_model
from costofprivacy.privacy import (
    ApproximateDP,
    basic_noise_multiplier,
    exact_composed_noise_multiplier,
    last_iterate_noise_multiplier,
)
from costofprivacy.privacy.groups import BLANK, REPLACE

PRINTED, EVERY, LAST = "Algorithm 1 as printed", "every iterate, exactly", "last iterate alone"
BOUND, SHARP = "bound (A.1)", "exact"
BEST, PAPERS = "best", "the paper's"
PENALTIES = tuple(np.geomspace(1e-5, 1e2, 57))  # tried for λ


def blank_sensitivity(hyper: Hyperparameters, N: int) -> float:
    """How far leaving one prompt blank can move an update, N announced: η₀(RG² + CG)/N, for ‖Z‖ ≤ C too; attained."""
    A, B = pretraining.reach(hyper.weight_bound, hyper.clip_norm, hyper.feature_bound)
    return hyper.learning_rate * (A + B) / N


def _basic(hyper: Hyperparameters, budget: ApproximateDP) -> float:
    return basic_noise_multiplier(budget, hyper.steps)


def _every(hyper: Hyperparameters, budget: ApproximateDP) -> float:
    return exact_composed_noise_multiplier(budget, hyper.steps)


def _last(hyper: Hyperparameters, budget: ApproximateDP) -> float:
    return last_iterate_noise_multiplier(budget, min(1.0, hyper.contraction), hyper.steps)


@dataclass(frozen=True)
class Way:
    """One way to make Algorithm 1 (ε, δ)-DP: its account, its sensitivity and its relation."""

    account: str
    sensitivity: str
    relation: str
    multiplier: Callable[[Hyperparameters, ApproximateDP], float]
    moved: Callable[[Hyperparameters, int], float]

    def noise_std(self, hyper: Hyperparameters, budget: ApproximateDP, N: int) -> float:
        """Standard deviation of an entry of z_t."""
        return self.multiplier(hyper, budget) * self.moved(hyper, N)


WAYS = (
    Way(PRINTED, BOUND, REPLACE, _basic, pretraining.update_sensitivity),
    Way(EVERY, BOUND, REPLACE, _every, pretraining.update_sensitivity),
    Way(LAST, BOUND, REPLACE, _last, pretraining.update_sensitivity),
    Way(LAST, SHARP, REPLACE, _last, pretraining.update_sensitivity_exact),
    Way(LAST, SHARP, BLANK, _last, blank_sensitivity),
)


def table(
    sizes: Sequence[int], epsilons: Sequence[float], deltas: Sequence[float], told: tuple[int, float, float, float]
) -> pd.DataFrame:
    """Noise and test error of each way, at its own best public penalty and at the paper's.

    ``noise_multiplier`` is the standard deviation of an iterate's noise over the bound (A.1) at the row's penalty.

    Args:
        sizes: N, with L = ⌊√N⌋. told: D, κ, λ of the paper and τ.
    """
    D, failure, penalty, label_noise = told
    rows = []
    for N in sizes:
        model = square_model(D, N, label_noise)
        for epsilon in epsilons:
            for delta in deltas:
                budget = ApproximateDP(epsilon, delta)
                for way in WAYS:
                    tried = [_row(way, model, N, failure, at, budget) for at in PENALTIES]
                    best = tried[int(np.argmin([row["test_error"] for row in tried]))]
                    papers = _row(way, model, N, failure, penalty, budget)
                    rows += [best | {"choice": BEST}, papers | {"choice": PAPERS}]
    return pd.DataFrame(rows)


def _row(way: Way, model: PromptModel, N: int, failure: float, penalty: float, budget: ApproximateDP) -> dict[str, Any]:
    hyper = closed_forms.corrected_at(model, N, failure, penalty)
    std = way.noise_std(hyper, budget, N)
    noise = dynamics.noise_risk(hyper, model, std, dynamics.curvature(model))
    return {
        "N": N,
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "account": way.account,
        "sensitivity": way.sensitivity,
        "relation": way.relation,
        "penalty": penalty,
        "steps": hyper.steps,
        "noise_multiplier": std / pretraining.update_sensitivity(hyper, N),
        "noise_std": std,
        "noise_risk": noise,
        "test_error": population.ridge_prediction_error(model, penalty) + noise,
        "response_variance": model.response_variance,
    }
