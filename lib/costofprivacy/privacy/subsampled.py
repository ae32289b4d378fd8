r"""Gaussian steps on Poisson samples: what DP-SGD spends, exactly composed, for either neighbouring relation.

In each of T steps every record is drawn with probability q, independently; the drawn records' vectors, of norm at most
C, are summed and N(0, (zC)² I) is added; z is the *noise multiplier*. The privacy loss of one step is that of

.. math:: (1-q)\,N(0, z^2) + q\,N(1, z^2) \quad\text{against}\quad N(0, z^2) \quad\text{or}\quad
          (1-q)\,N(0, z^2) + q\,N(-1, z^2)

for adding or removing a record (in both orders), or for replacing one by its opposite. The T-fold convolution is
dp-accounting's (privacy loss distributions). For q = 1 it is that of Gaussians, in closed form.
"""

from __future__ import annotations

import functools
import math
from enum import StrEnum

import dp_accounting
from dp_accounting.pld import PLDAccountant
from scipy.optimize import brentq

from costofprivacy import _validate
from costofprivacy.privacy.budgets import ApproximateDP, GaussianDP
from costofprivacy.privacy.composition import every_iterate

INTERVAL = 1e-3  # of privacy losses; rounded upwards, ε comes out at most some thousandths of itself too large
CLOSE = 1e-4  # relative accuracy of a calibrated noise multiplier
LEAST, MOST = 0.2, 1e6  # noise multipliers among which one is looked for


class Neighbours(StrEnum):
    """When two data sets are neighbours."""

    ADD_OR_REMOVE = "add or remove one"
    REPLACE = "replace one"

    @property
    def reach(self) -> int:
        """How far neighbours' sums of vectors of norm at most 1 can be apart: 1 or 2."""
        return 1 if self is Neighbours.ADD_OR_REMOVE else 2


_RELATION = {
    Neighbours.ADD_OR_REMOVE: dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
    Neighbours.REPLACE: dp_accounting.NeighboringRelation.REPLACE_ONE,
}


@functools.cache
def poisson_epsilon(
    noise_multiplier: float, sampling_probability: float, steps: int, delta: float, neighbours: Neighbours
) -> float:
    """The ε at ``delta`` that all iterates of DP-SGD spend together.

    Args:
        noise_multiplier: z > 0, standard deviation of the noise over the clip norm C, in either relation.
        sampling_probability: q in (0, 1]. steps: T ≥ 1. delta: δ in (0, 1).
        neighbours: the relation.

    Returns:
        ε, rounded up by some thousandths of itself at most.

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
    if q == 1.0:
        return every_iterate(GaussianDP(relation.reach / z), T).epsilon(delta)
    accountant = PLDAccountant(_RELATION[relation], value_discretization_interval=INTERVAL)
    step = dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(z))
    accountant.compose(dp_accounting.SelfComposedDpEvent(step, T))
    return float(accountant.get_epsilon(delta))


@functools.cache
def poisson_noise_multiplier(
    budget: ApproximateDP, sampling_probability: float, steps: int, neighbours: Neighbours
) -> float:
    """The smallest noise multiplier z whose iterates together are (ε, δ)-DP; see `poisson_epsilon`.

    Raises:
        ValueError: if an argument is outside its range, or no z from 0.2 to a million will do.

    >>> budget = ApproximateDP(1.0, 1e-5)
    >>> round(poisson_noise_multiplier(budget, 0.256, 44, Neighbours.ADD_OR_REMOVE), 1)
    6.6
    >>> round(poisson_noise_multiplier(budget, 1.0, 44, Neighbours.REPLACE), 1)
    49.5
    """
    q, T, relation = _share(sampling_probability), _validate.whole("steps", steps), Neighbours(neighbours)
    full = relation.reach * math.sqrt(T) / budget.to_gaussian().mu  # the multiplier for q = 1, the largest
    if q == 1.0:
        return full
    if not math.isfinite(budget.epsilon):
        raise ValueError(f"epsilon must be finite, got {budget.epsilon!r}")

    def excess(log_z: float) -> float:
        spent = poisson_epsilon(math.exp(log_z), q, T, budget.delta, relation)
        return math.log(max(spent, 1e-12) / budget.epsilon)

    low, high = max(LEAST, q * full / 2), min(MOST, 1.5 * q * full)
    while excess(math.log(low)) < 0:
        if low <= LEAST:
            raise ValueError(f"epsilon must be at most what z = {LEAST} spends, got {budget.epsilon!r}")
        low = max(LEAST, low / 2)
    while excess(math.log(high)) > 0:
        low, high = high, 2 * high
    return math.exp(brentq(excess, math.log(low), math.log(high), xtol=CLOSE))


def _share(value: float) -> float:
    if not 0 < value <= 1:
        raise ValueError(f"sampling_probability must be in (0, 1], got {value!r}")
    return float(value)
