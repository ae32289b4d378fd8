r"""Gaussian steps on Poisson samples: what DP-SGD spends, exactly composed, for either neighbouring relation.

In each of T steps every record is drawn with probability q, independently; the drawn records' vectors, of norm at most
C, are summed and N(0, (zC)² I) is added; z is the *noise multiplier*. The privacy loss of one step is that of

.. math:: (1-q)\,N(0, z^2) + q\,N(1, z^2) \quad\text{against}\quad N(0, z^2) \quad\text{or}\quad
          (1-q)\,N(0, z^2) + q\,N(-1, z^2)

for adding or removing a record (in both orders), or for replacing one by its opposite. The T-fold convolution is that
of `sampled_losses`, an upper bound on every ε. For q = 1 the steps are Gaussian mechanisms, with a closed form. It
bounds the others too, since a sample only hides: the pair for q is a mixture of the pair for q = 1 and of equals.

A calibrated noise multiplier is one for which the bound on ε was computed and found to be at most the budget's.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from enum import StrEnum

from costofprivacy import _validate
from costofprivacy.privacy import sampled_losses
from costofprivacy.privacy.budgets import ApproximateDP, GaussianDP
from costofprivacy.privacy.composition import every_iterate

ENOUGH = 0.999  # a calibrated noise multiplier spends at least this share of ε, or is the least that is looked for
CLOSE = 1e-9  # relative, of noise multipliers that are not told apart
MOST_TURNS = 60  # of a search; it needs about six
LEAST, MOST = 1e-3, 1e9  # noise multipliers at which sampling is accounted for; beyond, the bound is that for q = 1


class Neighbours(StrEnum):
    """When two data sets are neighbours."""

    ADD_OR_REMOVE = "add or remove one"
    REPLACE = "replace one"

    @property
    def reach(self) -> int:
        """How far neighbours' sums of vectors of norm at most 1 can be apart: 1 or 2."""
        return 1 if self is Neighbours.ADD_OR_REMOVE else 2


@functools.cache
def poisson_epsilon(
    noise_multiplier: float, sampling_probability: float, steps: int, delta: float, neighbours: Neighbours
) -> float:
    """The ε at ``delta`` that all iterates of DP-SGD spend together: an upper bound, about 1 % too large at most.

    Args:
        noise_multiplier: z > 0, standard deviation of the noise over the clip norm C, in either relation.
        sampling_probability: q in (0, 1]. steps: T ≥ 1. delta: δ in (0, 1).
        neighbours: the relation.

    Returns:
        ε, at most that of the same steps with q = 1.

    Raises:
        ValueError: if an argument is outside its range.

    >>> round(poisson_epsilon(6.5, 0.256, 44, 1e-5, Neighbours.ADD_OR_REMOVE), 2)
    1.01
    >>> round(poisson_epsilon(6.5, 0.256, 44, 1e-5, Neighbours.REPLACE), 2)
    2.09
    """
    z, q = _validate.finite_positive("noise_multiplier", noise_multiplier), _share(sampling_probability)
    T, relation = _validate.whole("steps", steps), Neighbours(neighbours)
    _validate.probability("delta", delta)
    whole = every_iterate(GaussianDP(relation.reach / z), T).epsilon(delta)
    if q == 1.0 or not LEAST <= z <= MOST:
        return whole
    pairs = sampled_losses.steps(z, q, relation is Neighbours.REPLACE)
    return min(whole, max(sampled_losses.composed_epsilon(pair, T, delta) for pair in pairs))


@functools.cache
def poisson_noise_multiplier(
    budget: ApproximateDP, sampling_probability: float, steps: int, neighbours: Neighbours
) -> float:
    """The smallest noise multiplier z whose iterates together are (ε, δ)-DP by `poisson_epsilon`, and a trifle more.

    Guarantee: ``poisson_epsilon(z, …) <= budget.epsilon``, computed before z is returned. It is at least `ENOUGH` times
    ε, unless z is `LEAST`, or the bound jumps there. (For q = 1 z comes from the closed form.)

    Args:
        budget: ε in (0, ∞), or ∞ for q = 1, and δ. sampling_probability: q in (0, 1]. steps: T ≥ 1.
        neighbours: the relation.

    Raises:
        ValueError: if an argument is outside its range.

    >>> budget = ApproximateDP(1.0, 1e-5)
    >>> round(poisson_noise_multiplier(budget, 0.256, 44, Neighbours.ADD_OR_REMOVE), 1)
    6.6
    >>> round(poisson_noise_multiplier(budget, 1.0, 44, Neighbours.REPLACE), 1)
    49.5
    """
    q, T, relation = _share(sampling_probability), _validate.whole("steps", steps), Neighbours(neighbours)
    full = relation.reach * math.sqrt(T) / budget.to_gaussian().mu  # the multiplier for q = 1, which is always enough
    if q == 1.0:
        return full
    _validate.finite_positive("epsilon", budget.epsilon)

    def excess(z: float) -> float:
        """ln of what is spent over the budget."""
        return math.log(max(poisson_epsilon(z, q, T, budget.delta, relation) / budget.epsilon, 1e-6))

    return _least_within(excess, min(full, q * full), full)


def _least_within(excess: Callable[[float], float], guess: float, enough: float) -> float:
    """A z with ln `ENOUGH` ≤ excess(z) ≤ 0, or `LEAST`; excess falls, and is 0 or less at ``enough``."""
    low, high, above, below = guess, guess, excess(guess), 0.0
    while above <= 0:  # downwards
        if low <= LEAST:
            return low
        high, below = low, above
        low = max(LEAST, low / 2)
        above = excess(low)
    if high == low:
        factor, below = 1.5, above
        while below > 0:  # upwards; beyond ``enough`` only by what rounding takes
            low, above = high, below
            high = min(high * factor, enough) if high < enough else high * (1 + CLOSE)
            below = excess(high)
    for turn in range(MOST_TURNS):
        if below >= math.log(ENOUGH) or high <= low * (1 + CLOSE):
            break
        part = 0.5 if turn % 3 == 2 else min(0.98, max(0.02, (above - math.log(ENOUGH) / 2) / (above - below)))
        middle = low * (high / low) ** part
        found = excess(middle)
        if found > 0:
            low, above = middle, found
        else:
            high, below = middle, found
    return high


def _share(value: float) -> float:
    if not 0 < value <= 1:
        raise ValueError(f"sampling_probability must be in (0, 1], got {value!r}")
    return float(value)
