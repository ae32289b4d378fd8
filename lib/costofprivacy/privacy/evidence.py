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

**The event that an audit counts, learned from scores on two neighbours.**

Scores are cut into bins: quantiles of all scores, finer ones towards both ends of either input's, and bins of their own
for NaN, for +∞, for −∞ and for values that repeat. The bins are ordered by their estimated likelihood ratio, by value,
and from both ends towards the median. Each initial and each final segment of an order is a candidate, for either order
of the inputs: a tail, both tails, a middle and an atom are all among them. An order that is estimated on one half of
the scores is tried on the other half and the other way round, so that an event does not look good by chance.
"""

from dataclasses import dataclass

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
        return np.asarray(np.log(np.maximum(low - delta, 0.0)) - np.log(high))


def mu_of(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Φ⁻¹(p) − Φ⁻¹(q) for p ≥ ``low`` and q ≤ ``high``; −∞ where ``low`` is 0 or ``high`` is 1."""
    return np.asarray(ndtri(np.where(high < 1, low, 0.0)) - ndtri(np.where(high < 1, high, 0.5)))


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


def epsilon_lower_bound(hits: Hits, releases: int, delta: float, confidence: float, *, pooled: bool = False) -> float:
    """log((p − δ)/q), p a lower and q an upper Clopper-Pearson limit, each of confidence (1 + ``confidence``)/2.

    Pooled: log((a − δ)/(1 − a)) with one limit for a = (p + 1 − q)/2. That is sharp where both probabilities are as far
    from 1/2, as for randomised response; a confidence below 3/4 is taken to be 3/4.

    Guarantee: at most the ε of every (ε, δ)-DP mechanism with probability at least ``confidence`` (two limits fail
    together with probability at most 1 − ``confidence``).

    Args:
        hits: occurrences of one event on two neighbouring inputs, the likelier one first.
        releases: independent releases for each.
        delta: δ in (0, 1). confidence: in (0, 1). pooled: whether the counts are.

    Raises:
        ValueError: if an argument is outside its range.

    >>> epsilon_lower_bound((10, 0), 1000, 1e-5, 0.99) > 0
    False
    >>> 2 < epsilon_lower_bound((500, 20), 1000, 1e-5, 0.99)
    True
    >>> two, pooled = (epsilon_lower_bound((700, 300), 1000, 1e-5, 0.99, pooled=one) for one in (False, True))
    >>> two < pooled
    True
    """
    delta = _validate.probability("delta", delta)
    low, high = _limits(hits, releases, confidence, pooled)
    return max(0.0, float(epsilon_of(low, high, delta)))


def mu_lower_bound(hits: Hits, releases: int, confidence: float, *, pooled: bool = False) -> float:
    """Φ⁻¹(p) − Φ⁻¹(q), p a lower and q an upper Clopper-Pearson limit, each of confidence (1 + ``confidence``)/2.

    Pooled: 2Φ⁻¹(a) with one limit for a = (p + 1 − q)/2. That is sharp for a Gaussian mechanism and the event half-way;
    a confidence below 3/4 is taken to be 3/4.

    Guarantee: at most the μ of every μ-GDP mechanism with probability at least ``confidence``.

    Args, Raises: as for `epsilon_lower_bound`.

    >>> mu_lower_bound((500, 500), 1000, 0.99)
    0.0
    >>> 0 < mu_lower_bound((700, 300), 1000, 0.99) < mu_lower_bound((700, 300), 1000, 0.99, pooled=True)
    True
    """
    low, high = _limits(hits, releases, confidence, pooled)
    return max(0.0, float(2 * ndtri(low) if pooled else mu_of(low, high)))


def _limits(hits: Hits, releases: int, confidence: float, pooled: bool) -> tuple[np.ndarray, np.ndarray]:
    """Limits of p and q, or of a and 1 − a."""
    failure = 1 - _validate.probability("confidence", confidence)
    releases = _validate.whole("releases", releases)
    one, other = (_validate.whole("hits", count, at_least=0) for count in hits)
    if max(one, other) > releases:
        raise ValueError(f"hits must be at most the number of releases, {releases}, got {tuple(hits)!r}")
    if pooled:
        mean = pooled_limit(np.asarray(one), np.asarray(other), releases, failure)
        return mean, 1 - mean
    return lower_limit(np.asarray(one), releases, failure / 2), upper_limit(np.asarray(other), releases, failure / 2)


# ---- Events ----

Samples = tuple[np.ndarray, np.ndarray]  # scores on the first and on the second input

RESOLUTIONS = (8, 64, 512)  # bins of equal mass
FEWEST = 16  # scores in such a bin, on average, at least
ATOMS = 32  # repeated values with bins of their own, at most
TAIL = 24  # bins of each tail, at most; their masses form a geometric series
WORDY = 4  # intervals of an event that are told one by one, at most
STEPS = 4  # numbers of releases for which bounds are tried
LARGEST = np.finfo(float).max


@dataclass(frozen=True)
class Event:
    """A set of scores: bins between edges, {−∞}, {+∞} and {NaN}.

    Args:
        edges: increasing, from −∞ to the largest finite number.
        chosen: which bins belong to it: {−∞}, the intervals (e, e'] between neighbouring edges, {+∞}, {NaN}.
    """

    edges: np.ndarray
    chosen: np.ndarray

    def contains(self, scores: np.ndarray) -> np.ndarray:
        """Whether each score is in the event, same shape."""
        change = np.flatnonzero(self.chosen[:-2] != self.chosen[1:-1])  # where the event begins or ends
        chosen = self.chosen[[*change, -2, -1]]  # between these, {NaN} last
        return np.asarray(chosen[np.searchsorted(self.edges[change], scores) + np.isnan(scores)])

    @property
    def words(self) -> str:
        """The event in words: ``score above 2.5 or NaN``."""
        numbers = self.chosen[:-1].astype(int)
        borders = np.flatnonzero(np.diff(numbers, prepend=0, append=0))
        runs = list(zip(borders[::2], borders[1::2]))
        pieces = [self._run(start, stop) for start, stop in runs]
        if len(runs) > WORDY:
            pieces = [f"in {len(runs)} intervals, from {pieces[0]} to {pieces[-1]}"]
        pieces += ["NaN"] if self.chosen[-1] else []
        return f"score {' or '.join(pieces)}" if pieces else "no score"

    def _run(self, start: int, stop: int) -> str:
        """Neighbouring bins in words, the last one excluded."""
        low = self.edges[start - 1] if start else None
        high = self.edges[stop - 1] if stop <= len(self.edges) else None
        if low is None:
            return "any number" if high is None else f"at most {high:.4g}"
        if high is None:
            return "equal to inf" if low == LARGEST else f"above {low:.4g}"
        return f"equal to {high:.6g}" if np.nextafter(low, np.inf) == high else f"in ({low:.4g}, {high:.4g}]"


@dataclass(frozen=True)
class Choice:
    """What is to be counted for one quantity.

    Args:
        event: where to look.
        swapped: whether it is to be likelier on the second input.
        pooled: whether the counts are to be pooled (`costofprivacy.privacy.evidence`), or each is to be bounded.
    """

    event: Event
    swapped: bool
    pooled: bool


@dataclass(frozen=True)
class _Candidates:
    """The initial and the final segments of an order of bins, for either order of the inputs: four ways.

    Args:
        edges: those of `Event`. order: of the bins. hits, others: counts on the input where the event is to be likelier
            and on the other one, shape (4, bins).
    """

    edges: np.ndarray
    order: np.ndarray
    hits: np.ndarray
    others: np.ndarray

    def take(self, pooled: int, way: int, last: int) -> Choice:
        """One of them."""
        inside = np.zeros(len(self.order), dtype=bool)
        inside[self.order[: last + 1]] = True
        return Choice(Event(self.edges, inside if way < 2 else ~inside), way % 2 == 1, bool(pooled))


def choose(samples: Samples, delta: float, releases: int, confidence: float) -> tuple[Choice, Choice]:
    """The events to count for ε and for μ: those with the largest bounds on the scores given.

    Where these scores are too few to bound anything, they are multiplied, up to the number of those to be counted,
    until the first event bounds something: it is the most significant one.

    Args:
        samples: scores on the first and on the second input, shape (n,) each, n ≥ 1; any may be NaN or infinite.
        delta: δ in (0, 1).
        releases: how many are to be counted on each input, at least 1.
        confidence: that of each bound, in (0, 1).
    """
    tried = _candidates(samples)
    n, chosen = len(samples[0]), []
    for quantity in range(2):
        for more in np.geomspace(1, max(releases / n, 1), STEPS):
            found = [bounds(more * one.hits, more * one.others, more * n, delta, confidence)[quantity] for one in tried]
            best = int(np.argmax([bounds.max() for bounds in found]))
            if found[best].max() > 0:
                break
        pooled, way, last = np.unravel_index(np.argmax(found[best]), found[best].shape)
        chosen.append(tried[best].take(int(pooled), int(way), int(last)))
    return chosen[0], chosen[1]


def _candidates(samples: Samples) -> list[_Candidates]:
    """By the ratio at each resolution, by value, and from both ends towards the median."""
    folds = [[np.sort(sample[half::2]) for sample in samples] for half in range(2)]
    found, sorted_once = [], _Sorted(samples)
    for bins in [bins for bins in RESOLUTIONS if bins * FEWEST <= len(samples[0])] or [2]:
        edges = _edges(sorted_once, bins)
        counts = np.array([[_count(edges, sample) for sample in fold] for fold in folds])
        total = counts.sum(axis=0)
        found.append(_segments(edges, counts, _by_ratio(total), [_by_ratio(counts[1]), _by_ratio(counts[0])]))
    both = total.sum(axis=0)
    from_outside = np.argsort(-np.abs(2 * both.cumsum() - both - both.sum()), kind="stable")
    for order in (np.arange(len(edges) + 2), from_outside):
        found.append(_segments(edges, counts, order, [order, order]))
    return found


class _Sorted:
    """The finite scores of each sample and of both, sorted, and the values that repeat most."""

    def __init__(self, samples: Samples) -> None:
        self.each = [np.sort(sample[np.isfinite(sample)]) for sample in samples]
        self.pooled = np.sort(np.concatenate(self.each), kind="stable")  # two sorted runs are merged
        first = np.flatnonzero(np.append(True, self.pooled[1:] != self.pooled[:-1])[: len(self.pooled)])
        times = np.diff(first, append=len(self.pooled))
        values, times = self.pooled[first[times > 1]], times[times > 1]
        self.atoms = values[np.argsort(-times, kind="stable")[:ATOMS]]


def _edges(scores: _Sorted, bins: int) -> np.ndarray:
    """Edges at quantiles of all finite scores, in the tails of each sample and on both sides of what repeats."""
    pooled = scores.pooled
    cuts = [np.array([-np.inf, LARGEST]), scores.atoms, np.nextafter(scores.atoms, -np.inf)]
    cuts += [_ranked(pooled, np.arange(1, bins) * len(pooled) // bins)]
    for sample in scores.each:
        ranks = np.unique(np.geomspace(1, max(len(sample) // 2, 1), TAIL).astype(int))
        cuts += [_ranked(sample, ranks - 1), _ranked(sample, len(sample) - 1 - ranks)]
    return np.unique(np.concatenate(cuts))


def _ranked(values: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Sorted values at those ranks that exist."""
    return np.asarray(values[ranks[(ranks >= 0) & (ranks < len(values))]])


def _count(edges: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Sorted scores, NaN last, in each bin of `Event`, shape (edges + 2,)."""
    numbers = len(scores) - int(np.isnan(scores).sum())
    until = np.searchsorted(scores[:numbers], edges, side="right")
    return np.asarray(np.diff(until, prepend=0, append=[numbers, len(scores)]))


def _by_ratio(counts: np.ndarray) -> np.ndarray:
    """Bins from the largest to the smallest estimated likelihood ratio, of counts of shape (2, bins)."""
    return np.argsort(np.log(counts[1] + 0.5) - np.log(counts[0] + 0.5), kind="stable")


def _segments(edges: np.ndarray, counts: np.ndarray, order: np.ndarray, on_halves: list[np.ndarray]) -> _Candidates:
    """Segments of an order, counted on each half in the order that the other half knows."""
    first, second = sum(half[:, known].cumsum(axis=1) for half, known in zip(counts, on_halves))
    n = counts[:, 0].sum()
    hits, others = [first, second, n - first, n - second], [second, first, n - second, n - first]
    return _Candidates(edges, order, np.stack(hits), np.stack(others))
