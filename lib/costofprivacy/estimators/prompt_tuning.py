r"""NoisyHead's hyper-parameters from the public law of the prompts, section 2 of arXiv:2504.16000v2.

What a user does not give is chosen so that the test error in closed form is least,

.. math:: 1 + \tau^2 - \mathrm{gain}_T + \mathrm{noise}_T,

with `learning_curve.noiseless_gain` and `dynamics.noise_risk`, over the penalty and the number of steps. C and G are
those of (4.1) and of the proof of Theorem 4.1. R is C/(2√λ), which no ridge solution exceeds, or less where the law of
the prompts says less: twice the norm √D g of the population's ridge solution gI (`population.ridge_scale`). η₀ = 1/(λ +
G²) is the largest for which no direction of the update is overshot. Where the steps have converged the noise of the
last iterate does not depend on η₀; larger steps need fewer of them.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np

from costofprivacy.noisyhead import accounts, dynamics, hyperparameters, learning_curve, population
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP

PENALTIES = tuple(np.geomspace(1e-6, 1e2, 49).tolist())
STEPS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)
FAILURE = 0.1  # κ in C and G
ROOM = 2.0  # of R over the norm of the matrix that is looked for


@dataclass(frozen=True)
class Given:
    """What the user has fixed; None for what is to be chosen. λ is the ridge penalty: the update has λ/2."""

    clip_norm: float | None = None
    feature_bound: float | None = None
    weight_bound: float | None = None
    penalty: float | None = None
    learning_rate: float | None = None
    steps: int | None = None


@functools.lru_cache(maxsize=256)
def tuned(model: PromptModel, N: int, budget: ApproximateDP, account: str, given: Given) -> Hyperparameters:
    """C, G, R, λ, η₀ and T with the least test error in closed form.

    Assumes, for accuracy alone: the law of the prompts, and Π_R idle.

    Args:
        model: D, L and τ of the scaled prompts. N: training prompts. budget: ε and δ.
        account: of `accounts.ACCOUNTS`, how the noise is calibrated. given: what is fixed.
    """
    penalties = PENALTIES if given.penalty is None else (given.penalty,)
    steps = STEPS if given.steps is None else (given.steps,)
    candidates = [replace(hyper, steps=T) for hyper in (_at(model, N, given, lam) for lam in penalties) for T in steps]
    return min(candidates, key=lambda hyper: _excess(model, N, budget, account, hyper))


def _at(model: PromptModel, N: int, given: Given, penalty: float) -> Hyperparameters:
    """All but T at a ridge penalty λ."""
    C = given.clip_norm or hyperparameters.clip_norm(model, N, FAILURE)
    G = given.feature_bound or min(C, _feature_bound(model, N, C))
    R = given.weight_bound or min(hyperparameters.weight_bound_singular(C, penalty), _expected_bound(model, penalty))
    return Hyperparameters(C, G, R, penalty / 2, given.learning_rate or 1 / (penalty + G**2), 1)


def _expected_bound(model: PromptModel, penalty: float) -> float:
    """`ROOM` times the norm of the population's ridge solution."""
    return ROOM * math.sqrt(model.D) * population.ridge_scale(model, penalty)


def _feature_bound(model: PromptModel, N: int, clip_norm: float) -> float:
    """G of the proof of Theorem 4.1, for the C that is used."""
    share = hyperparameters.feature_bound_proof(model, N, FAILURE) / hyperparameters.clip_norm(model, N, FAILURE)
    return clip_norm * share


def _excess(model: PromptModel, N: int, budget: ApproximateDP, account: str, hyper: Hyperparameters) -> float:
    """The test error less that of answering 0."""
    std = accounts.noise_std(account, hyper, budget, N, hyper.steps)
    with np.errstate(over="raise", invalid="raise"):  # as an overflow of Python's own numbers does
        noise = dynamics.noise_risk(hyper, model, std, dynamics.curvature(model))
        return noise - float(learning_curve.noiseless_gain(hyper, model, N, np.array(hyper.steps)))
