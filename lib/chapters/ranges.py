"""The ranges of the experiments' parameters: from what to what runs are known to work.

Each has two ends. Beyond them lie overflow, tables that are not finite, or runs that never end: ``tau 1e200``,
``trials 1e12``. The command line refuses what is beyond in one line; ``make chapter ... ANYWAY=1`` tries it all the
same, as far as it makes sense at all (a probability of 2 stays refused).
"""

import math

from companion.checks import Range, Usual
from costofprivacy._validate import (
    FINITE,
    FINITE_POSITIVE,
    NONNEGATIVE,
    POSITIVE,
    PROBABILITY,
    SHARE,
    at_least,
    within,
)


def usually(sensible: Range, low: float, high: float) -> Usual:
    """The part [low, high] of a range: what is beyond it is refused too, unless ANYWAY is set."""
    part = within(low, high, at_least(0) if sensible.convert is int else None, sensible.convert)
    return Usual(sensible, part.description.replace("a whole number of at least 0 and ", ""), part.admits, (low, high))


def count(least: int, most: int) -> Usual:
    """Whole numbers, such as sizes."""
    return usually(at_least(least), least, most)


def amount(least: float, most: float) -> Usual:
    """Positive numbers."""
    return usually(FINITE_POSITIVE, least, most)


def chance(least: float, most: float) -> Usual:
    """Probabilities between 0 and 1, both excluded."""
    return usually(PROBABILITY, least, most)


def real(least: float, most: float) -> Usual:
    """Numbers of either sign."""
    return usually(FINITE, least, most)


def from_zero(most: float) -> Usual:
    """Numbers from 0 on."""
    return usually(NONNEGATIVE, 0.0, most)


TRIALS = count(2, 10**6)
SEED = count(0, 2**63 - 1)
EPSILON = amount(1e-6, 1e3)
DELTA = chance(1e-100, 0.99)
KAPPA = usually(SHARE, 1e-50, 1.0)  # κ, where 1 is admissible
PENALTY = amount(1e-9, 1e6)
NOISE = amount(1e-9, 1e3)  # ζ
NOISE_OR_NONE = from_zero(1e3)  # τ
RHO = amount(1e-6, 1e6)
RHO_OR_INFINITE = Usual(
    POSITIVE, f"{RHO.description}, or infinite", lambda v: v == math.inf or RHO.admits(v), (1e-6, math.inf)
)
CLIP = amount(1e-6, 1e6)
GAMMA = amount(1e-15, 1e3)  # d/n
SMALL_GAMMA = chance(1e-15, 0.999)
RATE = amount(1e-6, 1e4)
RISK = amount(1e-9, 1e6)
