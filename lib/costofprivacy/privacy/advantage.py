r"""Telling two inputs apart: the advantage of an attack, and what a guarantee allows.

An attacker sees one release and says which of two neighbours it came from. Its *advantage* is the probability of a hit
less that of a false alarm, P(says first | first) − P(says first | second). No attack on a μ-Gaussian DP mechanism has
more than δ(0) = 2Φ(μ/2) − 1, the total variation of N(0, 1) and N(μ, 1), since post-processing cannot raise it.
"""

import math
from dataclasses import dataclass

import numpy as np

from costofprivacy.privacy.budgets import GaussianDP


@dataclass(frozen=True)
class Advantage:
    """A measured advantage.

    Args:
        value: hits less false alarms, as shares. standard_error: of ``value``, at least that of one count.
        hits, false_alarms: shares of the releases of the first and of the second input. releases: of each input.
    """

    value: float
    standard_error: float
    hits: float
    false_alarms: float
    releases: int


def largest_advantage(told: GaussianDP) -> float:
    """The most that any attack on a release has, δ(0) = 2Φ(μ/2) − 1.

    >>> round(largest_advantage(GaussianDP(1.0)), 4)
    0.3829
    """
    return float(told.delta(0.0))


def of_decisions(on_first: np.ndarray, on_second: np.ndarray) -> Advantage:
    """The advantage of decisions that are made already.

    Args:
        on_first, on_second: whether the attacker says "first", for releases of each input; shapes (m,) and (m,).

    Raises:
        ValueError: if there is no release, or the two do not have the same number.

    >>> of_decisions(np.array([True, True]), np.array([False, True])).value
    0.5
    """
    if len(on_first) == 0 or len(on_first) != len(on_second):
        raise ValueError(f"on_second must have as many releases as on_first, at least 1, got {len(on_second)}")
    m, hits, alarms = len(on_first), float(np.mean(on_first)), float(np.mean(on_second))
    spread = max(math.sqrt((hits * (1 - hits) + alarms * (1 - alarms)) / m), 1 / m)
    return Advantage(hits - alarms, spread, hits, alarms, m)


def of_scores(first: np.ndarray, second: np.ndarray) -> Advantage:
    """The advantage of "score above t", t the best on the even releases, counted on the odd ones.

    Args:
        first, second: scores of releases of each input, large where they speak for the first; shapes (m,), m ≥ 4.

    Raises:
        ValueError: if there are fewer than 4 of either, or not as many of both.
    """
    if len(first) < 4 or len(first) != len(second):
        raise ValueError(f"first and second must be as many, at least 4, got {len(first)} and {len(second)}")
    chosen, other = np.sort(first[::2]), np.sort(second[::2])
    thresholds = np.concatenate([chosen, other])
    above = [1 - np.searchsorted(sample, thresholds, side="right") / len(sample) for sample in (chosen, other)]
    t = thresholds[int(np.argmax(above[0] - above[1]))]
    return of_decisions(first[1::2] > t, second[1::2] > t)
