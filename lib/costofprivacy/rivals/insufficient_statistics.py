r"""Insufficient-statistics perturbation: why it is not among the rivals, and from how many records on it could be.

Brown, Hayase, Hopkins, Kong, Liu, Oh, Perdomo and Smith (2024), arXiv:2404.15409, remove records of large leverage and
then records of large residual, each by thresholds that make the result stable. They test privately that few records
were removed, and release least squares on the rest with noise whose covariance is that of the estimator. The error does
not depend on the condition number of the features, and no bounds are needed. There is no release in this module, for
two reasons.

**No proof of ours.** The stability of the residual filter, with its constants, is proved in the paper's full text, of
which we had the abstract alone. We did not find a proof of our own that needs as few records.

**Rounding.** The guarantee rests on comparisons of leverages with thresholds that are a share of order 1/n apart. Where
the features are almost collinear, a computed leverage has no correct digit: one that is 0.11 may be computed as 0.86
(the tests have these records). Then which records are kept may depend on the rounding that one record causes in all
others, and the proof does not hold for what is computed. A bound on the condition number would mend that, but freedom
from it is the point of the method. Our other rivals pay for rounding with noise in proportion to their public bounds.

**How many records.** The leverage filter follows that of Brown, Hopkins and Smith (2023), arXiv:2301.12250, whose
published code has the constants. It takes k = ⌈6 ln(6/δ)/ε⌉ + 4 thresholds of leverage, and needs the least of them to
be at most 1/(5k). A threshold removes records until all that are left have a smaller leverage among themselves. The
private test has ε/3 and δ/6; it passes with probability 1/2 if z = 2 + (6/ε) ln(3/δ) records are removed.
`least_records` is the least n for which so many are, for Gaussian features of any covariance: there n times a leverage
has about the χ² distribution with d degrees of freedom. As its mean is d, n is at least 5kd. This is a requirement of
the first filter alone.
"""

from __future__ import annotations

import math

from scipy.stats import chi2

from costofprivacy import _validate
from costofprivacy.privacy import ApproximateDP

_MOST = 10**15


def least_records(d: int, budget: ApproximateDP) -> int:
    """The least number of records with which the leverage filter passes its private test with probability 1/2.

    Args:
        d: number of Gaussian features, at least 1. budget: ε in (0, ∞), and δ.

    Raises:
        ValueError: if an argument is outside its range, or there would be more than 10¹⁵ records.

    >>> [least_records(d, ApproximateDP(1.0, 1e-6)) for d in (3, 20, 100)]
    [4893, 19725, 72607]
    """
    d = _validate.whole("d", d)
    low = high = 5 * thresholds(budget) * d
    while not _enough(high, d, budget):
        low, high = high, 2 * high
        if high > _MOST:
            raise ValueError(f"epsilon must be larger for {d} features, got {budget.epsilon!r}")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _enough(middle, d, budget) else (middle, high)
    return high


def thresholds(budget: ApproximateDP) -> int:
    """k.

    >>> thresholds(ApproximateDP(1.0, 1e-6))
    98
    """
    _validate.finite_positive("epsilon", budget.epsilon)
    return math.ceil(6 * math.log(6 / budget.delta) / budget.epsilon) + 4


def removable(budget: ApproximateDP) -> float:
    """z, less than k: with so many records removed the private test passes with probability 1/2."""
    return min(2 + 6 / budget.epsilon * math.log(3 / budget.delta), thresholds(budget) - 1.0)


def _enough(n: int, d: int, budget: ApproximateDP) -> bool:
    """Whether at most z of n records have a leverage above 1/(5k)."""
    return bool(n * chi2.sf(n / (5 * thresholds(budget)), d) <= removable(budget))
