r"""One perturbed training prompt, (5.1) of arXiv:2504.16000v2, and how large its statistic is.

The attacker adds μ to every coordinate of the prompt's L + 1 features and α to its L responses. With x̄ = L⁻¹ Σ x_i and
ȳ = L⁻¹ Σ y_i the context becomes, exactly,

.. math:: m' = m + \mu\bar y\,\mathbf 1 + \alpha\bar x + \alpha\mu\,\mathbf 1 ,

so Z' = (x_{L+1} + μ1) m'ᵀ is affine in α: Z' = Z₀ + αV with V = (x_{L+1} + μ1)(x̄ + μ1)ᵀ, and ‖V‖ does not fall with L.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy._compiled import compiled
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.pretraining import project_ball
from costofprivacy.noisyhead.prompts import PromptModel, Prompts
from costofprivacy.privacy import records


@dataclass(frozen=True)
class Attack:
    """What is added to a prompt.

    Args:
        response_shift: α, finite, added to the L labelled responses.
        feature_shift: μ, finite, added to every coordinate of all L + 1 features.
        query_shift: added to y_{L+1}, finite: 0 as (5.1) has it; α in (A.24) and behind the published numbers.

    Raises:
        ValueError: if a shift is not a finite number.
    """

    response_shift: float
    feature_shift: float
    query_shift: float = 0.0

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.FINITE, "response_shift", "feature_shift", "query_shift")


NONE = Attack(0.0, 0.0)


def perturb(prompts: Prompts, attack: Attack) -> Prompts:
    """E_bad of (5.1) for every prompt given; the features are no longer of norm one."""
    x = prompts.x + attack.feature_shift
    y = prompts.y + attack.response_shift
    y[:, -1] = prompts.y[:, -1] + attack.query_shift
    return Prompts(x, y, prompts.w)


def unit_query(data: Statistics) -> Statistics:
    """The same Z and responses with queries of norm one: their lengths move into the contexts.

    `head.project` and `Statistics.norm` are then right for prompts whose features do not lie on the sphere.
    """
    length = np.linalg.norm(data.query, axis=1, keepdims=True)
    return Statistics(data.query / length, data.context * length, data.response)


def candidates(prompts: Prompts, attacks: Sequence[Attack], clip_norm: float = math.inf) -> Statistics:
    """Statistics of the prompts under each attack, attack by attack; queries of norm one, responses clipped at C.

    Those of `perturb`, without its features: Σ y(x + μ1) = Σ yx + μ(Σ y)1. Attacks that differ in the response of the
    query alone share their contexts.

    Args:
        prompts: B prompts. attacks: A attacks. clip_norm: C in (0, ∞].

    Returns:
        Statistics of A·B prompts: query and context (A·B, D), response (A·B,); attack by attack.
    """
    C = _validate.positive("clip_norm", clip_norm)
    shifts = list(dict.fromkeys((attack.response_shift, attack.feature_shift) for attack in attacks))
    alpha, mu = np.array(shifts).T
    found = _contexts(prompts, alpha, mu, C)
    context = found[[shifts.index((attack.response_shift, attack.feature_shift)) for attack in attacks]]
    features, queries = (np.array([getattr(a, name) for a in attacks]) for name in ("feature_shift", "query_shift"))
    query = prompts.x[:, -1] + features[:, None, None]
    response = np.clip(prompts.y[:, -1] + queries[:, None], -C, C)
    D = query.shape[-1]
    return unit_query(Statistics(*records.voided(query.reshape(-1, D), context.reshape(-1, D), response.reshape(-1))))


def _contexts(prompts: Prompts, alpha: np.ndarray, mu: np.ndarray, clip_norm: float) -> np.ndarray:
    """L⁻¹ Σ clip(y_i + α)(x_i + μ1) for each α and μ, shape (shifts, N, D)."""
    y = np.clip(prompts.y[:, None, :-1] + alpha[:, None], -clip_norm, clip_norm)
    products = np.matmul(y[:, :, None], prompts.x[:, None, :-1])[:, :, 0]  # each by itself: no bit depends on others
    total = products + (mu * y.sum(axis=2))[:, :, None]
    return total.transpose(1, 0, 2) / y.shape[2]


def pretrain_each(
    data: Sequence[Moments],
    hyper: Hyperparameters,
    noises: np.ndarray,
    which: Sequence[int],
    initial: np.ndarray | None = None,
) -> np.ndarray:
    """Γ^T of Algorithm 1 on each of several data sets, side by side, on noise that is given: for comparisons.

    Guarantee: none. Runs on given noise are no releases; `pretraining.release` is the function for one.

    Args:
        data: K data sets. hyper: η₀, λ, R and T of all runs. noises: z_t of J runs, shape (J, T, D²).
        which: the noise of each data set, K numbers below J. initial: Γ⁰ of each, shape (K, D, D); 0 if left out.

    Returns:
        shape (K, D, D).

    Raises:
        ValueError: if the shapes disagree.
    """
    K, p = len(data), len(data[0].cross)
    _validate.shape("noises", noises, (None, hyper.steps, p))
    start = np.zeros((K, p)) if initial is None else initial.reshape(K, p)
    start = project_ball(start, hyper.weight_bound).copy()
    gram, cross = np.stack([d.gram for d in data]), np.stack([d.cross for d in data])
    shrink = 1 - 2 * hyper.penalty * hyper.learning_rate
    chosen = np.asarray(which)
    found = _walked(gram, cross, start, noises, chosen, shrink, hyper.learning_rate, float(hyper.weight_bound))
    return found.reshape(K, math.isqrt(p), -1)


@compiled
def _walked(
    gram: np.ndarray,
    cross: np.ndarray,
    Gamma: np.ndarray,
    noises: np.ndarray,
    which: np.ndarray,
    shrink: float,
    rate: float,
    radius: float,
) -> np.ndarray:
    """The last iterates, shape (K, p): Γ ↦ Π_R(shrink·Γ − rate·(HΓ − b) + z), H symmetric; moves ``Gamma``."""
    K, p = Gamma.shape
    moved = np.empty(p)
    for k in range(K):
        for z in noises[which[k]]:
            for i in range(p):
                moved[i] = shrink * Gamma[k, i] + rate * cross[k, i] + z[i]
            for j in range(p):
                factor, column = rate * Gamma[k, j], gram[k, j]
                for i in range(p):
                    moved[i] -= factor * column[i]
            square = 0.0
            for i in range(p):
                square += moved[i] * moved[i]
            scale = 1.0 if square <= radius * radius else radius / math.sqrt(square)
            for i in range(p):
                Gamma[k, i] = moved[i] * scale
    return Gamma


def direction(prompts: Prompts, feature_shift: float) -> np.ndarray:
    """V = (x_{L+1} + μ1)(x̄ + μ1)ᵀ, the growth of Z' per unit of α, shape (N, D, D)."""
    query = prompts.x[:, -1] + feature_shift
    mean = prompts.x[:, :-1].mean(axis=1) + feature_shift
    return query[:, :, None] * mean[:, None, :]


def statistic_energy(model: PromptModel, attack: Attack) -> float:
    r"""E‖Z'‖²_F of a perturbed prompt, in closed form.

    The query is independent of the tokens and centred, so E‖x + μ1‖² = 1 + Dμ² factors out. Given w, the L terms
    (y_i + α)(x_i + μ1) of m' are independent with mean w/D + αμ1, and E y²⟨x, 1⟩ = E y⟨x, 1⟩ = 0 over w and x. Hence

    E‖Z'‖² = (1 + Dμ²){(1 + τ² + α²)(1 + Dμ²)/L + (1 − 1/L)(1/D + Dα²μ²)}:

    of order D²α²μ⁴ for μ ≥ D^{-1/2}, whatever L. (A.22) has α²μ⁴/L, as if the shifts averaged out like the features.

    >>> statistic_energy(PromptModel(D=5, L=500), Attack(0.0, 0.0)) == 1 / 500 + 499 / 2500
    True
    """
    length = 1 + model.D * attack.feature_shift**2
    single = (model.response_variance + attack.response_shift**2) * length / model.L
    mean = 1 / model.D + model.D * (attack.response_shift * attack.feature_shift) ** 2
    return length * (single + (1 - 1 / model.L) * mean)


def stealthy_shift(model: PromptModel) -> float:
    """μ = (LD)^{-1/2}: the shift at which ‖μ1‖² equals E‖x̄‖² = 1/L."""
    return 1 / math.sqrt(model.L * model.D)


def with_each(rest: Moments, count: int, data: Statistics) -> list[Moments]:
    """Moments of ``count`` prompts whose means are ``rest`` and of one more: each of those in ``data`` in turn."""
    Z = data.Z.reshape(len(data.response), -1)
    return [
        Moments((count * rest.gram + np.outer(z, z)) / (count + 1), (count * rest.cross + y * z) / (count + 1))
        for z, y in zip(Z, data.response)
    ]
