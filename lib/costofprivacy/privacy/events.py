r"""The event that an audit counts, learned from scores on two neighbours.

Scores are cut into bins: quantiles of all scores, finer ones towards both ends of either input's, and bins of their own
for NaN, for +∞, for −∞ and for values that repeat. The bins are ordered by their estimated likelihood ratio or by
value. Each initial and each final segment of an order is a candidate, for either order of the inputs: a tail, both
tails, a middle and an atom are all among them. An order that is estimated on one half of the scores is tried on the
other half and the other way round, so that an event does not look good by chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costofprivacy.privacy import evidence

Samples = tuple[np.ndarray, np.ndarray]  # scores on the first and on the second input

RESOLUTIONS = (8, 64, 512)  # bins of equal mass
FEWEST = 16  # scores in such a bin, on average, at least
ATOMS = 32  # repeated values with bins of their own, at most
TAIL = 24  # bins of each tail, at most; their masses form a geometric series
WORDY = 4  # intervals of an event that are told one by one, at most
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
        found: np.ndarray = self.chosen[np.searchsorted(self.edges, scores) + np.isnan(scores)]
        return found

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
        promise: the bound that the choosing scores themselves would give; −∞ where they show nothing.
    """

    event: Event
    swapped: bool
    pooled: bool
    promise: float


def choose(samples: Samples, delta: float, confidence: float) -> tuple[Choice, Choice]:
    """The events with the largest bounds on ε and on μ.

    Args:
        samples: scores on the first and on the second input, shape (n,) each, n ≥ 1; any may be NaN or infinite.
        delta: δ in (0, 1). confidence: that of each bound, in (0, 1).
    """
    folds = [[np.sort(sample[half::2]) for sample in samples] for half in range(2)]
    usable = [bins for bins in RESOLUTIONS if bins * FEWEST <= len(samples[0])] or [2]
    found = []
    for bins in usable:
        edges = _edges(samples, bins)
        counts = np.array([[_count(edges, sample) for sample in fold] for fold in folds])
        orders = [_by_ratio(counts[1]), _by_ratio(counts[0]), _by_ratio(counts.sum(axis=0))]
        found.append(_best(edges, counts, orders, delta, confidence))
        if bins == usable[-1]:
            found.append(_best(edges, counts, [np.arange(len(edges) + 2)] * 3, delta, confidence))
    on_epsilon, on_mu = (max(choices, key=lambda choice: choice.promise) for choices in zip(*found))
    return on_epsilon, on_mu


def _edges(samples: Samples, bins: int) -> np.ndarray:
    """Edges at quantiles of all finite scores, in the tails of each sample and on both sides of what repeats."""
    finite = [np.sort(sample[np.isfinite(sample)]) for sample in samples]
    pooled = np.sort(np.concatenate(finite))
    values, times = np.unique(pooled, return_counts=True)
    atoms = values[np.argsort(-times, kind="stable")[:ATOMS]]
    atoms = atoms[np.isin(atoms, values[times > 1])]
    cuts = [np.array([-np.inf, LARGEST]), atoms, np.nextafter(atoms, -np.inf)]
    cuts += [_ranked(pooled, np.arange(1, bins) * len(pooled) // bins)]
    for sample in finite:
        ranks = np.unique(np.geomspace(1, max(len(sample) // 2, 1), TAIL).astype(int))
        cuts += [_ranked(sample, ranks - 1), _ranked(sample, len(sample) - 1 - ranks)]
    return np.unique(np.concatenate(cuts))


def _ranked(values: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Sorted values at those ranks that exist."""
    found: np.ndarray = values[ranks[(ranks >= 0) & (ranks < len(values))]]
    return found


def _count(edges: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Sorted scores, NaN last, in each bin of `Event`, shape (edges + 2,)."""
    numbers = len(scores) - int(np.isnan(scores).sum())
    until = np.searchsorted(scores[:numbers], edges, side="right")
    found: np.ndarray = np.diff(until, prepend=0, append=[numbers, len(scores)])
    return found


def _by_ratio(counts: np.ndarray) -> np.ndarray:
    """Bins from the largest to the smallest estimated likelihood ratio, of counts of shape (2, bins)."""
    return np.argsort(np.log(counts[1] + 0.5) - np.log(counts[0] + 0.5), kind="stable")


def _best(
    edges: np.ndarray, counts: np.ndarray, orders: list[np.ndarray], delta: float, confidence: float
) -> tuple[Choice, Choice]:
    """The best segment of an order for ε and for μ: the last order, of which the two others are tried on the halves."""
    first, second = sum(half[:, order].cumsum(axis=1) for half, order in zip(counts, orders))
    n = int(counts[:, 0].sum())
    hits = np.stack([first, second, n - first, n - second])
    others = np.stack([second, first, n - second, n - first])
    chosen = []
    for found in evidence.bounds(hits, others, n, delta, confidence):
        pooled, way, last = np.unravel_index(np.argmax(found), found.shape)
        inside = np.zeros(len(edges) + 2, dtype=bool)
        inside[orders[-1][: last + 1]] = True
        event = Event(edges, inside if way < 2 else ~inside)
        chosen.append(Choice(event, way % 2 == 1, bool(pooled), float(found[pooled, way, last])))
    return chosen[0], chosen[1]

