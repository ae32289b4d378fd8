r"""What counts of one event prove about a mechanism: lower bounds on ε and on μ.

An event S occurs with probability p on one of two neighbours and q on the other. Two inequalities bound what a private
mechanism allows; both hold for every S, so counts of S bound the parameter from below.

* (ε, δ)-DP: p ≤ e^ε q + δ, so ε ≥ log((p − δ)/q).
* μ-GDP (Definition 2.6 of arXiv:1905.02383): a test that rejects on S has errors q and 1 − p, and the trade-off
  function says 1 − p ≥ Φ(Φ⁻¹(1 − q) − μ). Both sides under Φ⁻¹: μ ≥ Φ⁻¹(p) − Φ⁻¹(q).

Counts enter in two ways. *Two limits* (Clopper and Pearson 1934) bound p from below and q from above; this is what an
event in the tail needs. *Pooled* counts bound the mean a = (p + 1 − q)/2 alone. For a both mechanisms have a limit:

* (ε, δ)-DP: adding p ≤ e^ε q + δ and 1 − q ≤ e^ε (1 − p) + δ gives a − δ ≤ e^ε (1 − a), so ε ≥ log((a − δ)/(1 − a)).
* μ-GDP: p − q ≤ max over q of Φ(Φ⁻¹(q) + μ) − q = 2Φ(μ/2) − 1, so a ≤ Φ(μ/2) and μ ≥ 2Φ⁻¹(a).

The hits on one input plus the misses on the other are a sum of 2n independent trials of mean 2na. Above its mean, such
a sum has at most the tail of the binomial law (2n, a) (Theorem 4 of Hoeffding 1956), so that one Clopper-Pearson limit
of the sum holds for a. For an event in the middle the pooled bound needs half as many releases as the two limits do.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainccinv, betaincinv, ndtri

from costofprivacy import _validate

MOST_POOLED = 0.25  # failure probability up to which the pooled limit is proved: a binomial exceeds its mean with 1/4

Hits = tuple[int, int]


def lower_limit(hits: np.ndarray, releases: int, failure: float) -> np.ndarray:
    """Clopper and Pearson's lower limit of a probability, wrong with probability at most ``failure``; any shape.

    Args:
        hits: occurrences, each in [0, ``releases``]. releases: independent trials, at least 1. failure: in (0, 1).
    """
    hits = np.asarray(hits, dtype=float)
    inside = np.maximum(hits, 1.0)
    return np.where(hits > 0, betaincinv(inside, releases - inside + 1, failure), 0.0)


def upper_limit(hits: np.ndarray, releases: int, failure: float) -> np.ndarray:
    """Clopper and Pearson's upper limit of a probability, wrong with probability at most ``failure``; any shape.

    Args:
        hits: occurrences, each in [0, ``releases``]. releases: independent trials, at least 1. failure: in (0, 1).
    """
    hits = np.asarray(hits, dtype=float)
    inside = np.minimum(hits, np.maximum(releases - 1.0, 0.0))
    return np.where(hits < releases, betainccinv(inside + 1, releases - inside, failure), 1.0)


def epsilon_of(low: np.ndarray, high: np.ndarray, delta: float) -> np.ndarray:
    """log((p − δ)/q) for p ≥ ``low`` and q ≤ ``high``; −∞ where p may be δ."""
    with np.errstate(divide="ignore"):
        found: np.ndarray = np.log(np.maximum(low - delta, 0.0)) - np.log(high)
    return found


def mu_of(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Φ⁻¹(p) − Φ⁻¹(q) for p ≥ ``low`` and q ≤ ``high``; −∞ where ``low`` is 0 or ``high`` is 1."""
    found: np.ndarray = ndtri(np.where(high < 1, low, 0.0)) - ndtri(np.where(high < 1, high, 0.5))
    return found


def pooled_limit(hits: np.ndarray, others: np.ndarray, releases: int, failure: float) -> np.ndarray:
    """Lower limit of (p + 1 − q)/2, wrong with probability at most ``failure``, where it is above 1/2; any shape.

    Args:
        hits, others: occurrences on the one and on the other input, each in [0, ``releases``].
        releases: independent releases on each. failure: in (0, 1); above 1/4 it is taken to be 1/4.
    """
    return lower_limit(hits + (releases - np.asarray(others)), 2 * releases, min(failure, MOST_POOLED))


def bounds(
    hits: np.ndarray, others: np.ndarray, releases: int, delta: float, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on ε and on μ from many counts at once, each by two limits and pooled, shapes (2, …); negative ones stay.

    Args:
        hits, others: occurrences of events on the one and on the other input, same shape, each in [0, ``releases``].
        releases: independent releases for each. delta: δ in (0, 1). confidence: of each bound, in (0, 1).
    """
    failure = 1 - confidence
    low, high = lower_limit(hits, releases, failure / 2), upper_limit(others, releases, failure / 2)
    mean = pooled_limit(hits, others, releases, failure)
    on_epsilon = np.stack([epsilon_of(low, high, delta), epsilon_of(mean, 1 - mean, delta)])
    return on_epsilon, np.stack([mu_of(low, high), 2 * ndtri(mean)])


def epsilon_lower_bound(hits: Hits, releases: int, delta: float, confidence: float) -> float:
    """log((p − δ)/q), p a lower and q an upper Clopper-Pearson limit, each of confidence (1 + ``confidence``)/2.

    Guarantee: at most the ε of every (ε, δ)-DP mechanism with probability at least ``confidence`` (the two limits fail
    together with probability at most 1 − ``confidence``).

    Args:
        hits: occurrences of one event on two neighbouring inputs, the likelier one first.
        releases: independent releases for each.
        delta: δ in (0, 1). confidence: in (0, 1).

    Raises:
        ValueError: if an argument is outside its range.

    >>> epsilon_lower_bound((10, 0), 1000, 1e-5, 0.99) > 0
    False
    >>> epsilon_lower_bound((500, 20), 1000, 1e-5, 0.99) > 2
    True
    """
    delta = _validate.probability("delta", delta)
    low, high = _two_limits(hits, releases, confidence)
    return max(0.0, float(epsilon_of(low, high, delta)))


def mu_lower_bound(hits: Hits, releases: int, confidence: float) -> float:
    """Φ⁻¹(p) − Φ⁻¹(q), p a lower and q an upper Clopper-Pearson limit, each of confidence (1 + ``confidence``)/2.

    Guarantee: at most the μ of every μ-GDP mechanism with probability at least ``confidence``.

    Args:
        hits: occurrences of one event on two neighbouring inputs, the likelier one first.
        releases: independent releases for each. confidence: in (0, 1).

    Raises:
        ValueError: if an argument is outside its range.

    >>> mu_lower_bound((20, 0), 1000, 0.99) > 0
    True
    >>> mu_lower_bound((500, 500), 1000, 0.99)
    0.0
    """
    return max(0.0, float(mu_of(*_two_limits(hits, releases, confidence))))


def pooled_epsilon_lower_bound(hits: Hits, releases: int, delta: float, confidence: float) -> float:
    """log((a − δ)/(1 − a)) with one Clopper-Pearson limit for a = (p + 1 − q)/2.

    Guarantee: at most the ε of every (ε, δ)-DP mechanism with probability at least ``confidence``. It is sharp where
    both probabilities are equally far from 1/2, as for randomised response; a confidence below 3/4 is taken to be 3/4.

    Args:
        hits: occurrences of one event on two neighbouring inputs, the likelier one first.
        releases: independent releases for each. delta: δ in (0, 1). confidence: in (0, 1).

    Raises:
        ValueError: if an argument is outside its range.

    >>> pooled_epsilon_lower_bound((700, 300), 1000, 1e-5, 0.99) > epsilon_lower_bound((700, 300), 1000, 1e-5, 0.99)
    True
    """
    delta = _validate.probability("delta", delta)
    mean = _pooled(hits, releases, confidence)
    return max(0.0, float(epsilon_of(mean, 1 - mean, delta)))


def pooled_mu_lower_bound(hits: Hits, releases: int, confidence: float) -> float:
    """2Φ⁻¹(a) with one Clopper-Pearson limit for a = (p + 1 − q)/2.

    Guarantee: at most the μ of every μ-GDP mechanism with probability at least ``confidence``. It is sharp for a
    Gaussian mechanism and the event half-way; a confidence below 3/4 is taken to be 3/4.

    Args:
        hits: occurrences of one event on two neighbouring inputs, the likelier one first.
        releases: independent releases for each. confidence: in (0, 1).

    Raises:
        ValueError: if an argument is outside its range.

    >>> pooled_mu_lower_bound((700, 300), 1000, 0.99) > mu_lower_bound((700, 300), 1000, 0.99)
    True
    """
    return max(0.0, 2 * float(ndtri(_pooled(hits, releases, confidence))))


def _two_limits(hits: Hits, releases: int, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    failure = (1 - _validate.probability("confidence", confidence)) / 2
    one, other = _checked(hits, releases)
    return lower_limit(one, releases, failure), upper_limit(other, releases, failure)


def _pooled(hits: Hits, releases: int, confidence: float) -> np.ndarray:
    failure = 1 - _validate.probability("confidence", confidence)
    return pooled_limit(*_checked(hits, releases), releases, failure)


def _checked(hits: Hits, releases: int) -> tuple[np.ndarray, np.ndarray]:
    releases = _validate.whole("releases", releases)
    one, other = (_validate.whole("hits", count, at_least=0) for count in hits)
    if max(one, other) > releases:
        raise ValueError(f"hits must be at most the number of releases, {releases}, got {tuple(hits)!r}")
    return np.asarray(one), np.asarray(other)
