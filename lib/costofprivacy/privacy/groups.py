r"""Neighbours further apart: several records of one person, and a record removed instead of replaced.

**Group privacy.** If M is μ-Gaussian DP for data sets that are one change apart, it is kμ-Gaussian DP for data sets
that are k changes apart. *Proof.* Between the two lie k − 1 others, each a change from the next. A test of size a on
M(D_0) has at most the power Φ(Φ⁻¹(a) + μ) on M(D_1); used again with that size it has at most Φ(Φ⁻¹(a) + 2μ) on
M(D_2), and so on to Φ(Φ⁻¹(a) + kμ) on M(D_k), which is kμ-Gaussian DP (Theorem 2.14 of arXiv:1905.02383). ∎ It is
attained: k records that each move a Gaussian's mean by its sensitivity, in one direction, move it by k times that.

**Two relations.** *Blank out one record*: a record becomes an empty one that contributes nothing, and the number of
records stays announced; this is what "add or remove one" means for a sum whose divisor is public. *Replace one record*
is to blank it out and fill its place: two changes. So what is μ-Gaussian DP for blanking is 2μ-Gaussian DP for
replacing; where contributions fill a ball the 2 is attained, where they do not less is enough.
"""

import math

from costofprivacy import _validate
from costofprivacy.privacy.budgets import ApproximateDP, GaussianDP

REPLACE, BLANK = "replace one record", "add or remove one record"
RELATIONS = (REPLACE, BLANK)
_SAFE = 1 - 1e-9
_LEAST = 1e-300  # δ in doubles


def group(one: GaussianDP, size: int) -> GaussianDP:
    """What data sets that are ``size`` changes apart spend where one change spends ``one``: kμ.

    Args:
        one: μ of one change. size: k ≥ 1.

    Raises:
        ValueError: if ``size`` is not a whole number of at least 1.

    >>> group(GaussianDP(0.25), 4).mu
    1.0
    """
    return GaussianDP(_validate.whole("size", size) * one.mu)


def replaced(blanked: GaussianDP) -> GaussianDP:
    """What replacing one record spends at most, where blanking one out spends ``blanked``: 2μ.

    >>> replaced(GaussianDP(0.5)).mu
    1.0
    """
    return group(blanked, 2)


def group_approximate(one: ApproximateDP, size: int) -> float:
    """The δ at kε that follows for k changes from (ε, δ) alone: δ (e^{kε} − 1)/(e^ε − 1).

    From P_0 ≤ e^ε P_1 + δ ≤ e^ε(e^ε P_2 + δ) + δ ≤ …; far more than `group` where the profile is known to be Gaussian.

    Args:
        one: (ε, δ) of one change, ε finite. size: k ≥ 1.

    Returns:
        δ at ε·k; at 1 or above it says nothing.

    Raises:
        ValueError: if ``size`` is not a whole number of at least 1, or ε is not finite.

    >>> round(group_approximate(ApproximateDP(1.0, 1e-6), 2) / 1e-6, 4)
    3.7183
    """
    k, epsilon = _validate.whole("size", size), _validate.finite_positive("epsilon", one.epsilon)
    return one.delta * math.expm1(k * epsilon) / math.expm1(epsilon)


def of_one(budget: ApproximateDP, size: int, *, gaussian: bool) -> ApproximateDP:
    """What one change may spend, so that ``size`` changes spend a budget at most: the inverse of the two rules above.

    Args:
        budget: (ε, δ) of k changes, ε finite. size: k ≥ 1.
        gaussian: whether what is released is Gaussian DP. Then the result is worth μ/k, else it is (ε/k, δ') with the
            δ' of which `group_approximate` makes δ. Both are less by 10⁻⁹, for rounding.

    Raises:
        ValueError: if ``size`` is not a whole number of at least 1, or δ' is too small for doubles.

    >>> whole = ApproximateDP(1.0, 1e-6)
    >>> exact, general = (of_one(whole, 4, gaussian=known).to_gaussian().mu for known in (True, False))
    >>> print(round(4 * exact / whole.to_gaussian().mu, 6), round(4 * general / whole.to_gaussian().mu, 3))
    1.0 0.998
    """
    k, epsilon = _validate.whole("size", size), _validate.finite_positive("epsilon", budget.epsilon)
    if k == 1:
        return budget
    one = epsilon / k
    if gaussian:
        delta = float(GaussianDP(_SAFE * budget.to_gaussian().mu / k).delta(one))
    else:  # (e^one − 1)/(e^ε − 1), without overflow
        delta = _SAFE * budget.delta * math.exp(one - epsilon) * math.expm1(-one) / math.expm1(-epsilon)
    if delta < _LEAST:
        raise ValueError(f"epsilon must be smaller for groups of {k}, got {epsilon!r}: a δ of {delta:g} is too small")
    return ApproximateDP(one, delta)
