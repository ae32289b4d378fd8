r"""Output perturbation: the exact minimiser of a penalised convex loss, plus Gaussian noise once.

Chaudhuri, Monteleoni and Sarwate (2011), section 3.2, with Gaussian noise. Their theorem asks for a loss whose slope is
bounded, which the squared loss has not: here it is the loss of `costofprivacy.rivals.huber`.

**Sensitivity.** Let D and D' differ in one record, with minimisers θ and θ'. J_D is Λ-strongly convex and
∇J_D(θ) = 0 = ∇J_{D'}(θ'). At θ' the two gradients differ by the two records alone, each of norm at most C, so that
Λ‖θ − θ'‖ ≤ ‖∇J_D(θ')‖ = ‖∇J_D(θ') − ∇J_{D'}(θ')‖ ≤ 2C. Hence

.. math:: \|\theta - \theta'\| \le \frac{2C}{\Lambda}. ∎

It is attained as all other features tend to 0, by two opposite records whose gradients stay clipped.
"""

from __future__ import annotations

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, GaussianMechanism
from costofprivacy.rivals import huber


def sensitivity(clip_norm: float, penalty: float) -> float:
    """2C/Λ: how far replacing one record moves the minimiser, at most.

    Args:
        clip_norm: C in (0, ∞). penalty: Λ in (0, ∞), of the sum of losses.

    >>> sensitivity(3.0, 12.0)
    0.5
    """
    return 2 * _validate.finite_positive("clip_norm", clip_norm) / _validate.finite_positive("penalty", penalty)


def release(
    x: np.ndarray,
    y: np.ndarray,
    clip_norm: float,
    penalty: float,
    budget: GaussianDP,
    *,
    rng: np.random.Generator,
    square: np.ndarray | None = None,
) -> np.ndarray:
    """The minimiser with noise of standard deviation 2C/(Λμ) in each coordinate, shape (d,).

    Guarantee: μ-Gaussian DP for replacing one record, whatever the records: `huber.minimiser` bounds each.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). clip_norm: C in (0, ∞). penalty: Λ in (0, ∞).
        budget: μ. rng: source of the noise. square: XᵀX where it is known already; no answer depends on it but for
        rounding.

    Raises:
        ValueError: if there is no record, shapes disagree, or a number is outside its range.
    """
    mechanism = GaussianMechanism(sensitivity(clip_norm, penalty), 1 / budget.mu)
    return mechanism.release(huber.minimiser(x, y, clip_norm, penalty, square=square), rng=rng)
