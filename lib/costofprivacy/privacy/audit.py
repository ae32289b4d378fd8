r"""Empirical audits: what a mechanism's releases themselves say against its claim.

If a mechanism is (ε, δ)-DP, then P(M(x) ∈ S) ≤ e^ε P(M(x') ∈ S) + δ for every event S and neighbours x, x'; if it is
μ-GDP, then P(M(x) ∈ S) ≤ Φ(Φ⁻¹(P(M(x') ∈ S)) + μ). Counting how often S occurs in independent releases bounds these
probabilities, hence ε and μ from below (`costofprivacy.privacy.evidence`). No knowledge of the mechanism is used; a
bound below the claim proves nothing. What an audit can find is `detectable`.

A quarter of the releases chooses S (`costofprivacy.privacy.evidence`), and the others are counted.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy.evidence import Choice, Hits, choose, epsilon_lower_bound, mu_lower_bound

Data = TypeVar("Data")
Scores = Callable[[Data, int, np.random.Generator], np.ndarray]

BLOCK = 50_000  # releases asked of a mechanism at once
CHOOSING = 4  # one release in so many chooses the events
QUANTITIES = 2  # ε and μ share the probability of an error


@dataclass(frozen=True)
class Evidence:
    """What the counts of one event prove.

    Args:
        bound: lower bound on ε or on μ; 0 where nothing was found.
        event: the event in words.
        order: the input on which it was to be likelier: ``first`` or ``second``.
        hits: how often it occurred on the first and on the second input.
        pooled: whether the counts were pooled (`costofprivacy.privacy.evidence`), or each was bounded.
    """

    bound: float
    event: str
    order: str
    hits: tuple[int, int]
    pooled: bool


@dataclass(frozen=True)
class Audit:
    """Lower bounds on ε at a given δ and on μ, and the counts that they come from.

    Args:
        delta: δ for which the bound on ε holds.
        confidence: probability, at least, with which both bounds are below the mechanism's ε and μ.
        releases: releases counted for each input (three quarters of those drawn; the others chose the events).
        on_epsilon, on_mu: the evidence for each.
    """

    delta: float
    confidence: float
    releases: int
    on_epsilon: Evidence
    on_mu: Evidence

    @property
    def epsilon(self) -> float:
        """Lower bound on ε at δ."""
        return self.on_epsilon.bound

    @property
    def mu(self) -> float:
        """Lower bound on μ, for every mechanism that claims μ-GDP."""
        return self.on_mu.bound

    @property
    def hits(self) -> tuple[int, int]:
        """Occurrences of the event behind ε on the first and on the second input."""
        return self.on_epsilon.hits

    @property
    def order(self) -> str:
        """The input on which the event behind ε was to be likelier."""
        return self.on_epsilon.order

    @property
    def rho(self) -> float:
        """Lower bound on ρ of zero-concentrated privacy for Gaussian noise, μ²/2. For other noise it is none."""
        return self.mu**2 / 2


def counted(releases: int) -> int:
    """How many of the releases on each input are counted; the others choose the events.

    Args:
        releases: drawn on each input, at least 2.
    """
    releases = _validate.whole("releases", releases, at_least=2)
    return releases - max(releases // CHOOSING, 1)


def each_of(audits: int, confidence: float) -> float:
    """The confidence of each of several audits with which all their bounds hold together (Bonferroni).

    Args:
        audits: their number, at least 1.
        confidence: that of all together, in (0, 1).

    >>> round(each_of(10, 0.99), 6)
    0.999
    """
    return 1 - (1 - _validate.probability("confidence", confidence)) / _validate.whole("audits", audits)


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
    """Audit a mechanism on two neighbouring inputs by the events of its scores.

    Assumes: the scores are independent releases of the mechanism on the input given, each turned into a number by any
    function (post-processing). NaN and the infinities are scores like others; for a release that fails, return one of
    them. The neighbours may stand in either order.

    Guarantee: with probability at least ``confidence``, both bounds are at most what the mechanism spends: ε and μ each
    have half of the probability of an error. The event, the order of the inputs and the form of the bound are chosen by
    other releases than those that are counted, so that their choice costs no confidence.

    Args:
        scores: (input, count, rng) ↦ ``count`` scores, shape (count,).
        first, second: the neighbours.
        delta: δ in (0, 1).
        releases: releases on each input, at least 2.
        confidence: in (0, 1).
        rng: source of all randomness.

    Raises:
        ValueError: if an argument is outside its range, or if the scores have another shape.
    """
    delta = _validate.probability("delta", delta)
    left, each = counted(releases), each_of(QUANTITIES, confidence)
    one, two = (np.concatenate(list(_draw(scores, data, releases - left, rng))) for data in (first, second))
    on_epsilon, on_mu = chosen = choose((one, two), delta, left, each)
    counts = [[0, 0], [0, 0]]  # of each event on each input
    for side, data in enumerate((first, second)):
        for block in _draw(scores, data, left, rng):
            for count, choice in zip(counts, chosen):
                count[side] += int(choice.event.contains(block).sum())

    def evidence(choice: Choice, count: list[int], bound: Callable[[Hits], float]) -> Evidence:
        hits, order = (count[0], count[1]), "second" if choice.swapped else "first"
        return Evidence(bound(hits[::-1] if choice.swapped else hits), choice.event.words, order, hits, choice.pooled)

    return Audit(
        delta,
        confidence,
        left,
        evidence(on_epsilon, counts[0], lambda h: epsilon_lower_bound(h, left, delta, each, pooled=on_epsilon.pooled)),
        evidence(on_mu, counts[1], lambda h: mu_lower_bound(h, left, each, pooled=on_mu.pooled)),
    )


def _draw(scores: Scores[Data], data: Data, count: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        block = np.asarray(scores(data, size, rng), dtype=float)
        _validate.shape("scores", block, (size,))
        yield block
