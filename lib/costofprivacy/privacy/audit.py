r"""Empirical audits: what a mechanism's releases themselves say against its claim.

If a mechanism is (ε, δ)-DP, then P(M(x) ∈ S) ≤ e^ε P(M(x') ∈ S) + δ for every event S and neighbours x, x'. Counting
how often S occurs in independent releases bounds both probabilities (Clopper and Pearson 1934), hence ε from below. No
knowledge of the mechanism is used; a bound below the claim proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.stats import binomtest

from costofprivacy import _validate

Data = TypeVar("Data")
Scores = Callable[[Data, int, np.random.Generator], np.ndarray]

BLOCK = 50_000  # releases asked of a mechanism at once
CANDIDATES = 60  # thresholds tried, at most, on the first half of the releases


@dataclass(frozen=True)
class Audit:
    """A lower bound on ε at a given δ, and the counts that it comes from.

    Args:
        epsilon: lower bound on ε; 0 where nothing was found.
        delta: δ for which it holds.
        confidence: probability, at least, with which the bound is below the mechanism's ε.
        threshold: the event is a score above it.
        hits: how often it occurred on the first and on the second input.
        releases: releases counted for each input (half of those drawn; the others chose the threshold).
    """

    epsilon: float
    delta: float
    confidence: float
    threshold: float
    hits: tuple[int, int]
    releases: int


def epsilon_lower_bound(hits: tuple[int, int], releases: int, delta: float, confidence: float) -> float:
    """log((p − δ)/q), p a lower and q an upper Clopper-Pearson limit, each of confidence (1 + ``confidence``)/2.

    Guarantee: at most the ε of every (ε, δ)-DP mechanism with probability at least ``confidence`` (the two limits fail
    together with probability at most 1 − ``confidence``).

    Args:
        hits: occurrences of one event on two neighbouring inputs.
        releases: independent releases for each.
        delta: δ in (0, 1). confidence: in (0, 1).

    >>> epsilon_lower_bound((10, 0), 1000, 1e-5, 0.99) > 0
    False
    >>> epsilon_lower_bound((500, 20), 1000, 1e-5, 0.99) > 2
    True
    """
    _validate.probability("delta", delta)
    each = (1 + _validate.probability("confidence", confidence)) / 2
    first, second = (binomtest(count, releases, alternative=side) for count, side in zip(hits, ("greater", "less")))
    low, high = first.proportion_ci(each).low, second.proportion_ci(each).high
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0


def audit_mechanism(
    scores: Scores[Data],
    first: Data,
    second: Data,
    *,
    delta: float,
    releases: int,
    confidence: float,
    rng: np.random.Generator,
) -> Audit:
    """Audit a mechanism on two neighbouring inputs by the events {score > t}.

    Assumes: the scores are independent releases of the mechanism on the input given, each turned into a number by any
    function (post-processing); large scores speak for ``first``. Half of them choose t, the other half are counted.

    Args:
        scores: (input, count, rng) ↦ ``count`` scores, shape (count,).
        first, second: the neighbours.
        delta: δ in (0, 1).
        releases: releases on each input, at least 2.
        confidence: in (0, 1).
        rng: source of all randomness.

    Raises:
        ValueError: if an argument is outside its range.
    """
    half = _validate.whole("releases", releases, at_least=2) // 2
    chosen = _choose([_draw(scores, data, half, rng) for data in (first, second)], delta, confidence)
    above = [int((_draw(scores, data, half, rng) > chosen).sum()) for data in (first, second)]
    hits = (above[0], above[1])
    return Audit(epsilon_lower_bound(hits, half, delta, confidence), delta, confidence, chosen, hits, half)


def _draw(scores: Scores[Data], data: Data, count: int, rng: np.random.Generator) -> np.ndarray:
    sizes = [min(BLOCK, count - start) for start in range(0, count, BLOCK)]
    return np.concatenate([scores(data, size, rng) for size in sizes])


def _choose(samples: list[np.ndarray], delta: float, confidence: float) -> float:
    """The threshold with the largest lower bound on these samples, among quantiles of the second."""
    first, second = (np.sort(sample) for sample in samples)
    best, threshold = -math.inf, float(second[len(second) // 2])
    for above in np.unique(np.geomspace(1, (len(second) + 1) // 2, CANDIDATES).astype(int)):
        candidate = float(second[-above])
        hits = [len(sample) - int(np.searchsorted(sample, candidate, side="right")) for sample in (first, second)]
        bound = epsilon_lower_bound((hits[0], hits[1]), len(second), delta, confidence)
        if bound > best:
            best, threshold = bound, candidate
    return threshold
