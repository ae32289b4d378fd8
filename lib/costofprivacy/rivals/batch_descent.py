r"""Noisy clipped gradient descent: on all records in each step, or on a Poisson sample of them (DP-SGD).

Abadi et al. (2016); on all records, and for linear regression, Brown et al. (2024). From θ_0 = 0, for t = 1, …, T,

.. math:: \theta_t = \theta_{t-1} - \frac{\eta_t}{qn}\Big(\sum_{i \in S_t}\bar g_i + 2C\sigma b_t\Big), \qquad
    \|\bar g_i\| \le C, \quad b_t \sim N(0, I),

where S_t holds each record with probability q, independently: all of them for q = 1.

**Guarantee**, for replacing one record, which moves a sum of clipped gradients by at most 2C, also if all iterates
are released. *All records*: T Gaussian mechanisms of 1/σ each are √T/σ-Gaussian DP, exactly. *Samples*: the privacy
losses of `privacy.subsampled` for the relation "replace one"; only this relation is right here, add-or-remove would
count half the sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import (
    ApproximateDP,
    GaussianMechanism,
    exact_composed_noise_multiplier,
    records,
    subsampled,
    sums,
)
from costofprivacy.privacy.subsampled import Neighbours
from costofprivacy.rivals import huber
from costofprivacy.rivals.bounds import given, within_reach

_FINEST = 2.0**53  # a generator's numbers in [0, 1) are multiples of its inverse


def spent_epsilon(noise_multiplier: float, sampling: float, steps: int, delta: float) -> float:
    """ε at δ of T steps on Poisson samples, replace one record: an upper bound, `privacy.subsampled.poisson_epsilon`.

    Args:
        noise_multiplier: σ in (0, ∞), the noise over the sensitivity 2C. sampling: q in (0, 1]. steps: T ≥ 1.
        delta: δ in (0, 1).

    Raises:
        ValueError: if an argument is outside its range.
    """
    _validate.finite_positive("noise_multiplier", noise_multiplier)
    _validate.SHARE("sampling", sampling)
    # There the noise is measured by the bound C of one record; replacing it moves the sum by 2C.
    return subsampled.poisson_epsilon(2 * noise_multiplier, sampling, steps, delta, Neighbours.REPLACE)


def noise_multiplier(budget: ApproximateDP, sampling: float, steps: int) -> float:
    """The smallest σ, to about a thousandth above, for which T steps spend the budget.

    Guarantee: for q < 1 `spent_epsilon` of the result was computed, and is at most ε.

    Args:
        budget: ε in (0, ∞) and δ. sampling: q in (0, 1]. steps: T, at least 1.

    Raises:
        ValueError: if an argument is outside its range.

    >>> round(noise_multiplier(ApproximateDP(1.0, 1e-5), 1.0, 4), 2)
    7.46
    """
    _validate.finite_positive("epsilon", budget.epsilon)
    if _validate.SHARE("sampling", sampling) == 1:
        return exact_composed_noise_multiplier(budget, steps)
    return subsampled.poisson_noise_multiplier(budget, sampling, steps, Neighbours.REPLACE) / 2


def release(
    x: np.ndarray,
    y: np.ndarray,
    clip_norm: float,
    learning_rates: Sequence[float],
    noise_multiplier: float,
    sampling: float = 1.0,
    *,
    rng: np.random.Generator,
) -> np.ndarray:
    """θ_T, shape (d,).

    Guarantee: that of `noise_multiplier` for the same ``sampling`` and T steps, whatever the records: each gradient is
    clipped at C, and a record that cannot have one is void (`bounds.given`). The noise is larger by 1 +
    `privacy.sums.slack` (n, d), which pays for the rounding of the sums. A record is drawn with the probability q
    rounded down to a multiple of 2⁻⁵³, because the generator's numbers are such multiples.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). Numbers of any type.
        clip_norm: C in [10⁻¹⁵⁰, 10¹⁵⁰]. learning_rates: η_t ≥ 0, one for each of T steps. noise_multiplier: σ > 0.
        sampling: q in (0, 1]. rng: of the samples and the noise.

    Raises:
        ValueError: if there is no record, shapes disagree, an array is not of numbers, or a number is out of range.
    """
    _validate.SHARE("sampling", sampling)
    _validate.between("clip_norm", _validate.finite_positive("clip_norm", clip_norm), records.NEAR, records.FAR)
    _validate.finite_positive("noise_multiplier", noise_multiplier)
    for learning_rate in learning_rates:
        _validate.nonnegative("learning_rates", learning_rate)
    x, y = given(x, y)
    n, d = x.shape
    std = GaussianMechanism(2 * clip_norm * (1 + sums.slack(n, d)), noise_multiplier).noise_std
    theta, limit, drawn = np.zeros(d), huber.limits(x, clip_norm), math.floor(sampling * _FINEST) / _FINEST
    for learning_rate in learning_rates:
        if sampling < 1:
            rows = np.flatnonzero(rng.random(n) < drawn)
            chosen, response, bound = x[rows], y[rows], limit[rows]
        else:
            chosen, response, bound = x, y, limit
        with np.errstate(over="ignore", invalid="ignore"):
            pull = sums.product(chosen, np.clip(chosen @ theta - response, -bound, bound))
            pull = pull + std * rng.standard_normal(d)
            theta = within_reach(theta - learning_rate / (sampling * n) * pull)
    return theta
