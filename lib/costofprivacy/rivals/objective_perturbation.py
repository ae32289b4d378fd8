r"""Objective perturbation: minimise the penalised loss plus a random linear term, and release the minimiser.

Chaudhuri, Monteleoni and Sarwate (2011), with the Gaussian term of Kifer, Smith and Thakurta (2012), and an
accounting of our own for the replacement of a record, after the hockey-stick analysis of Redberg, Koskela and Wang
(2023).

.. math:: \hat\theta = \arg\min_\theta \sum_i h_i(x_i^\top\theta - y_i) + \frac\Lambda2\|\theta\|^2 + b^\top\theta,
    \qquad b \sim N(0, \sigma^2 I),

with the loss of `costofprivacy.rivals.huber`: slopes at most C long, curvature at most B² = max ‖x‖².

**Guarantee.** Let κ = ln(1 + B²/Λ) < ε, t = ε − κ and s = 2C/σ. If s² ≤ 2(√(1 + t²) − 1), the release is (ε, δ)-DP for
replacing one record, with δ = 2δ_s(t), δ_s the curve of s-Gaussian DP.

*Proof.* θ̂ determines b = −∇J_D(θ̂), a one-to-one map whose derivative is the second derivative H_D of J_D almost
everywhere. Let D' differ from D in one record, whose gradients at θ̂ are u and u', and write w = u − u'. Under D the log
of the ratio of densities at θ̂ is

.. math:: \frac{\|b + w\|^2 - \|b\|^2}{2\sigma^2} + \ln\frac{\det H_D}{\det H_{D'}}.

*The determinants*: H_D = H + a xxᵀ with H ⪰ ΛI and a in [0, 1], so det H_D/det H lies in [1, 1 + B²/Λ]; so does
that of D', and the second term is at most κ. *The first term*: x and x' do not depend on b, only the lengths of u and
u' along them do. So w = αe − βe' with unit vectors e, e' and |α|, |β| ≤ C. The term is convex in w, hence largest at
a corner of this rhombus: at ±w₁ or ±w₂, w₁ = C(e + e'), w₂ = C(e − e'), with ‖w₁‖² + ‖w₂‖² = 4C². There it is s_j g +
s_j²/2 with s_j = ‖w_j‖/σ and g a standard normal: the privacy loss of the s_j-Gaussian mechanism. As δ ≤ E[(1 − e^{ε
− loss})₊] and a maximum of four is at most their sum, δ ≤ 2δ_{s_1}(t) + 2δ_{s_2}(t) with s_1² + s_2² = s². Finally v
↦ δ_{√v}(t) has the derivative φ(√v/2 − t/√v)/(2√v), which increases where v²/4 + v ≤ t²: it is convex on [0, s²] by
the condition on s, and 0 at 0, hence superadditive, and the sum is at most 2δ_s(t). ∎

The minimiser has to be exact. Ours is to rounding; floating point voids every proof on this page to that extent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import ApproximateDP
from costofprivacy.rivals import huber
from costofprivacy.rivals.bounds import given, shortened


@dataclass(frozen=True)
class Perturbation:
    """What objective perturbation adds to the loss.

    Args:
        penalty: Λ, of the sum of losses. noise_std: σ of each coordinate of b. clip_norm, feature_bound: the C and B
            that they were calibrated for.

    Raises:
        ValueError: if a number is outside its range.
    """

    penalty: float
    noise_std: float
    clip_norm: float
    feature_bound: float

    def __post_init__(self) -> None:
        _validate.nonnegative("noise_std", self.noise_std)
        for name in ("penalty", "clip_norm", "feature_bound"):
            _validate.finite_positive(name, getattr(self, name))


def calibrate(budget: ApproximateDP, share: float, clip_norm: float, feature_bound: float) -> Perturbation:
    """The least penalty and noise of the module's guarantee when the curvature may use a share of ε.

    κ = share·ε gives Λ = B²/(e^κ − 1), or B²/`huber.REACH` where that is more: with less, doubles would not tell where
    a record's loss bends. s is the largest for which both conditions hold.

    Args:
        budget: ε in (0, ∞) and δ. share: κ/ε in (0, 1). clip_norm: C in (0, ∞). feature_bound: B in (0, ∞).

    Raises:
        ValueError: if an argument is outside its range.

    >>> added = calibrate(ApproximateDP(1.0, 1e-5), 0.5, clip_norm=1.0, feature_bound=2.0)
    >>> print(round(added.penalty, 2), round(added.noise_std, 1))
    6.17 14.7
    """
    _validate.probability("share", share)
    _validate.finite_positive("epsilon", budget.epsilon)
    curvature = share * budget.epsilon
    left = budget.epsilon - curvature
    most = math.sqrt(2 * (math.hypot(1.0, left) - 1))
    s = min(ApproximateDP(left, budget.delta / 2).to_gaussian().mu, most)
    square = _validate.finite_positive("feature_bound", feature_bound) ** 2
    penalty = square / min(math.expm1(min(curvature, 700.0)), huber.REACH)
    std = 2 * _validate.finite_positive("clip_norm", clip_norm) / s
    return Perturbation(penalty, std, clip_norm, feature_bound)


def release(
    x: np.ndarray,
    y: np.ndarray,
    clip_norm: float,
    added: Perturbation,
    *,
    rng: np.random.Generator,
    square: np.ndarray | None = None,
) -> np.ndarray:
    """The minimiser of the perturbed objective, shape (d,).

    Guarantee: that of `calibrate`, whatever the records: each gradient is clipped at C, and features beyond the B of
    ``added`` are shortened to it.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). clip_norm: C in (0, ∞), that of ``added``.
        added: from `calibrate`. rng: source of b. square: XᵀX where it is known already; no answer depends on it but
        for rounding.

    Raises:
        ValueError: if there is no record, shapes disagree, or ``added`` was calibrated for another C.
    """
    if clip_norm != added.clip_norm:
        raise ValueError(f"clip_norm must be that of added, {added.clip_norm!r}, got {clip_norm!r}")
    told, (x, y) = x, given(x, y)
    x = shortened(x, added.feature_bound)
    square = square if x is told else None
    linear = added.noise_std * rng.standard_normal(x.shape[1])
    return huber.minimiser(x, y, clip_norm, added.penalty, linear, square)
