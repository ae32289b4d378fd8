r"""Gaussian steps on Poisson samples: what DP-SGD spends, exactly composed, for either neighbouring relation.

In each of T steps every record is drawn with probability q, independently; the drawn records' vectors, of norm at most
C, are summed and N(0, (zC)² I) is added; z is the *noise multiplier*. The privacy loss of one step is that of

.. math:: (1-q)\,N(0, z^2) + q\,N(1, z^2) \quad\text{against}\quad N(0, z^2) \quad\text{or}\quad
          (1-q)\,N(0, z^2) + q\,N(-1, z^2)

for adding or removing a record (in both orders), or for replacing one by its opposite. The T-fold convolution is
dp-accounting's (privacy loss distributions, rounded upwards), so every ε is an upper bound. For q = 1 the steps are
Gaussian mechanisms, with a closed form. It bounds the others too, since a sample only hides: the pair for q is a
mixture of the pair for q = 1 and of equals.

**The grid.** The library rounds losses up to a grid, by default of 10⁻⁴, whatever their size. Here its width follows
the spread of one step's loss, and is refined until ε is many times as wide.

**Rounding.** The library's Fourier transforms are rounded, and their rounding counts for δ too. It was measured to be
at most 4·10⁻¹⁷ T; `_transforms` takes more than twice that off δ. Where less than half of δ is left, the bound is the
closed form for q = 1.

A calibrated noise multiplier is one for which the bound on ε was computed and found to be at most the budget's.
"""

import functools
import math
from collections.abc import Callable
from enum import StrEnum

import numpy as np
from dp_accounting import NeighboringRelation
from dp_accounting.pld import privacy_loss_distribution

from costofprivacy import _validate
from costofprivacy.privacy.budgets import ApproximateDP, GaussianDP
from costofprivacy.privacy.mechanisms import every_iterate

FINE = 30  # widths of the grid to a standard deviation of a loss, at first
ENOUGH_WIDTHS = 100  # to ε, at which the grid is fine enough
MOST_BINS = 100_000
REFINEMENTS = 3
_TRUNCATED = 9.0  # −ln of the share of δ that may be cut off, as mass of one step's law and of the sum's
_FAR = 10.0  # standard deviations of the noise, beyond which the width does not matter
_LARGE = 600.0  # e to the power of more overflows
ENOUGH = 0.999  # a calibrated noise multiplier spends at least this share of ε, or is the least that is looked for
CLOSE = 1e-9  # relative, of noise multipliers that are not told apart
MOST_TURNS = 60  # of a search; it needs about six
LEAST, MOST = 0.03, 1e9  # noise multipliers at which sampling is accounted for; beyond, the bound is that for q = 1


class Neighbours(StrEnum):
    """When two data sets are neighbours."""

    ADD_OR_REMOVE = "add or remove one"
    REPLACE = "replace one"

    @property
    def reach(self) -> int:
        """How far neighbours' sums of vectors of norm at most 1 can be apart: 1 or 2."""
        return 1 if self is Neighbours.ADD_OR_REMOVE else 2


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
    return _epsilon(z, q, T, _validate.probability("delta", delta), relation)


@functools.cache
def _epsilon(z: float, q: float, T: int, delta: float, relation: Neighbours) -> float:
    whole = every_iterate(GaussianDP(relation.reach / z), T).epsilon(delta)
    if T * q * float(GaussianDP(relation.reach / z).delta(0.0)) <= delta:
        return 0.0  # T steps have at most T times the total variation of one
    left = delta - (1e-14 + 1e-16 * T)  # what the rounding of the transforms may add in T steps
    if q == 1.0 or not LEAST <= z <= MOST or left < delta / 2:
        return whole
    largest = float(np.logaddexp(math.log1p(-q), math.log(q) + relation.reach * (2 * _FAR * z + 1) / (2 * z * z)))
    finest = largest / MOST_BINS
    width = max(finest, min(q * math.sqrt(math.expm1(min(_LARGE, relation.reach**2 / z**2))), largest) / FINE)
    least = min(whole, _composed(z, q, T, left, relation, width))
    for _ in range(REFINEMENTS):
        if width <= finest or least >= ENOUGH_WIDTHS * width:
            break
        width = max(finest, min(width / 2, least / (2 * ENOUGH_WIDTHS)))
        least = min(least, _composed(z, q, T, left, relation, width))
    return least


def _composed(z: float, q: float, T: int, delta: float, relation: Neighbours, width: float) -> float:
    """ε of dp-accounting on a grid of losses of a given width."""
    replaced = relation is Neighbours.REPLACE
    one = privacy_loss_distribution.from_gaussian_mechanism(
        z,
        sampling_prob=q,
        value_discretization_interval=width,
        log_mass_truncation_bound=math.log(delta / T) - _TRUNCATED,
        neighboring_relation=NeighboringRelation.REPLACE_ONE if replaced else NeighboringRelation.ADD_OR_REMOVE_ONE,
    )
    total = one.self_compose(T, tail_mass_truncation=math.exp(-_TRUNCATED) * delta)
    with np.errstate(over="ignore"):  # the library's search divides by masses that are next to nothing
        return float(total.get_epsilon_for_delta(delta))


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
    if q < 1.0:
        _validate.finite_positive("epsilon", budget.epsilon)
    return _multiplier(budget.epsilon, budget.delta, q, T, relation)


@functools.cache
def _multiplier(epsilon: float, delta: float, q: float, T: int, relation: Neighbours) -> float:
    full = relation.reach * math.sqrt(T) / ApproximateDP(epsilon, delta).to_gaussian().mu  # for q = 1; always enough
    if q == 1.0:
        return full

    def excess(z: float) -> float:
        """ln of what is spent over the budget."""
        return math.log(max(_epsilon(z, q, T, delta, relation) / epsilon, 1e-6))

    return _least_within(excess, max(LEAST, q * full), max(LEAST, full))


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
    found = _validate.number(value)
    if found is None or not 0 < found <= 1:
        raise ValueError(f"sampling_probability must be in (0, 1], got {value!r}")
    return float(found)
