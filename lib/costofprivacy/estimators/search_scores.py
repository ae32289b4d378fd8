"""Scores that are private themselves: a mean of clipped losses with Gaussian noise."""

from __future__ import annotations

import math

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, records, sums
from costofprivacy.privacy.mechanisms import gaussian_std


@np.errstate(all="ignore")
def private_mean_loss(losses: np.ndarray, bound: float, budget: GaussianDP, *, rng: np.random.Generator) -> float:
    """The mean of losses, each clipped to [0, B], with Gaussian noise.

    Guarantee: μ-Gaussian DP for replacing one loss by any other. Each term 2ℓ/B − 1 is in [−1, 1], so a replaced one
    moves their sum by at most 2(1 + `sums.slack`), rounding included; the noise is calibrated to that.

    Args:
        losses: shape (n,), n ≥ 1; NaN counts as B. bound: B in [10⁻¹⁵⁰, 10¹⁵⁰]. budget: μ in (0, ∞). rng: of the noise.

    Returns:
        the noisy mean; it may be negative.

    Raises:
        ValueError: if an argument is outside its range.

    >>> private_mean_loss(np.array([0.0, 1.0, 9.0]), 2.0, GaussianDP(1e9), rng=np.random.default_rng(0)).__round__(6)
    1.0
    """
    bound = _validate.between("bound", bound, records.NEAR, records.FAR)
    clipped = np.clip(np.nan_to_num(records.numbers("losses", losses, (None,)), nan=math.inf), 0.0, bound)
    n = _validate.whole("the number of losses", len(clipped))
    total = float(sums.product(2 * (clipped / bound) - 1, np.ones(n)))
    noisy = total + gaussian_std(2 * (1 + sums.slack(n, 1)), budget) * float(rng.standard_normal())
    return bound * (0.5 + noisy / (2 * n))
