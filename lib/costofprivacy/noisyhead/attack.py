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
from costofprivacy.noisyhead.head import Moments, Statistics, statistics
from costofprivacy.noisyhead.prompts import PromptModel, Prompts


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
        for name in ("response_shift", "feature_shift", "query_shift"):
            _validate.finite(name, getattr(self, name))


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

    Args:
        prompts: B prompts. attacks: A attacks. clip_norm: C in (0, ∞].

    Returns:
        Statistics of A·B prompts: query and context (A·B, D), response (A·B,); attack by attack.
    """
    each = [unit_query(statistics(perturb(prompts, attack), clip_norm)) for attack in attacks]
    query, context = (np.concatenate([getattr(s, name) for s in each]) for name in ("query", "context"))
    return Statistics(query, context, np.concatenate([s.response for s in each]))


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
