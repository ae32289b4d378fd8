r"""Descent and boosted AdaSSP over records that do not fit into memory, but can be read again for each step.

Both need several passes, so the records are given as something that can be read again: a function that returns batches.
Batches of any sizes are cut anew into blocks of `sums.ROWS` records, because the rounding of a sum may depend on n and
on the blocks, never on how the records happened to be cut (`privacy.sums`).

**Sums.** Sums of blocks are added as a binary counter carries: two sums over the same number of blocks become one. At
the end what is left, one sum for each binary digit, is added from the smallest to the largest. On the way from a block
to the whole each sum is over at least twice as many records as the one before the last, so the bound of
`privacy.sums.slack` holds as it does for `privacy.sums.product`.

Guarantee: that of `batch_descent.releases` and of `boosting.releases`, for the same plans. How many records there are
is public: it is announced, and a pass with another number is refused before anything is released.
"""

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, records, sums
from costofprivacy.privacy.mechanisms import gaussian_std, noisy
from costofprivacy.rivals import batch_descent, boosting, guarded_descent, huber, sandwich
from costofprivacy.rivals.bounds import Bounds, Prepared, prepare, shortened, within_reach
from costofprivacy.rivals.piloted_perturbation import weighted
from costofprivacy.rivals.sufficient_statistics import MOST, noisy_matrix, share, solver

Batch = tuple[np.ndarray, np.ndarray]
Read = Callable[[], Iterable[Batch]]


def blocks(batches: Iterable[Batch], rows: int = sums.ROWS) -> Iterator[Batch]:
    """The same records in the same order, in blocks of ``rows``, of which the last may be shorter.

    Args:
        batches: pairs of features, shape (m, d), and responses, shape (m,); m may be 0. rows: at least 1.

    Raises:
        ValueError: if a batch has another number of rows of features than of responses.

    >>> parts = [(np.ones((k, 1)), np.ones(k)) for k in (3, 0, 4)]
    >>> [len(y) for _, y in blocks(parts, 2)]
    [2, 2, 2, 1]
    """
    x: list[np.ndarray] = []
    y: list[np.ndarray] = []
    held = 0
    for batch in batches:
        features, responses = records.pair(batch)
        features, responses = records.numbers("x", features, (None, None)), records.numbers("y", responses, (None,))
        if len(features) != len(responses):
            raise ValueError(f"a batch must have a response for each row, got {len(features)} and {len(responses)}")
        start = 0
        while start < len(responses):
            taken = min(rows - held, len(responses) - start)
            x.append(features[start : start + taken])
            y.append(responses[start : start + taken])
            start, held = start + taken, held + taken
            if held == rows:
                yield np.concatenate(x), np.concatenate(y)
                x, y, held = [], [], 0
    if held:
        yield np.concatenate(x), np.concatenate(y)


def total(terms: Iterable[np.ndarray]) -> np.ndarray:
    """The sum of arrays of one shape, added as a binary counter carries.

    Raises:
        ValueError: if there is no term.

    >>> print(total(np.full(2, float(k)) for k in range(5)))
    [10. 10.]
    """
    carried: list[np.ndarray | None] = []
    for term in terms:
        level = 0
        while level < len(carried) and (held := carried[level]) is not None:
            term, carried[level] = held + term, None
            level += 1
        if level == len(carried):
            carried.append(None)
        carried[level] = term
    left = [part for part in carried if part is not None]
    if not left:
        raise ValueError("terms must be at least one, got none")
    found = left[0]
    for part in left[1:]:
        found = part + found
    return found


@np.errstate(all="ignore")
def descend(
    read: Read, n: int, d: int, *stages: batch_descent.Plan, averaged: int = 1, rng: np.random.Generator
) -> np.ndarray:
    """Clipped descent on all records, a pass for each step, shape (d,): `guarded_descent.descend`.

    Guarantee: that of `guarded_descent`. Memory does not grow with n.

    Args:
        read: returns the records, the same each time in any order. n: their number, announced. d: of features.
        stages: of the descent. averaged: how many of the last iterates. rng: source of the noise.

    Raises:
        ValueError: if a pass has another number of records, shapes disagree, or ``averaged`` is outside its range.
    """

    def pulls(theta: np.ndarray, clips: np.ndarray) -> np.ndarray:
        return total(told.pulls(theta, clips) for told in _counted(read, n))

    return guarded_descent.descend(pulls, n, d, *stages, averaged=averaged, rng=rng)


@np.errstate(all="ignore")
def boost(read: Read, n: int, bounds: Bounds, plan: boosting.Plan, *, rng: np.random.Generator) -> np.ndarray:
    """θ of boosted AdaSSP, one pass for the matrix and one for each round, shape (d,).

    Guarantee: that of `boosting.releases`. Memory does not grow with n.

    Args:
        read: returns the records, the same each time in any order. n: their number, announced. bounds: B and Y.
        plan: clip norm, rounds and budget. rng: source of the noise.

    Raises:
        ValueError: if a pass has another number of records, shapes disagree, or nB² exceeds 10³⁰⁷.
    """
    _validate.between("n B²", n * bounds.features**2, 0, MOST)
    clips = np.array([plan.clip_norm])
    square = total(told.square for told in _counted(read, n, bounds.features))
    solve = solver(*noisy_matrix(square, n, bounds, share(plan.budget), rng=rng))
    theta = np.zeros((len(square), 1))
    std = plan.noise_std(n, len(square))
    for _ in range(plan.rounds):
        at = theta
        pull = total(told.pulls(at, clips) for told in _counted(read, n, bounds.features))
        theta = within_reach(theta + solve(noisy(-pull, std, plan.each.mu, rng=rng)))
    return theta[:, 0]


@np.errstate(all="ignore")
def step(
    read: Read, n: int, theta: np.ndarray, limits: sandwich.Limits, budget: GaussianDP, *, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The centre of intervals, one step from released coefficients, and the covariance of its error (`sandwich`).

    Guarantee: ``budget`` for replacing one record, whatever the records, which are weighted to the norm B first
    (`piloted_perturbation.weighted`).

    Args:
        read: returns the n records in batches; it is called once, or twice for units. theta: θ̂, shape (d,).
        limits: of the terms; with ``most`` above 1, records of a unit are side by side, and fit into memory.
        budget: μ in (0, ∞). rng: of the noise.

    Returns:
        shapes (d,) and (d, d), NaN for coefficients that have no interval (`sandwich.Moments.covariance`).

    Raises:
        ValueError: as `sandwich.release`, or if there are not n records.
    """

    def blocks() -> Iterator[Batch]:
        return (weighted(told.rows, told.responses, limits.feature_bound) for told in _counted(read, n))

    found, d = total(limits.terms(x, y, theta) for x, y in blocks()), len(theta)
    if limits.most > 1:
        found[1, :d] = limits.spread(np.concatenate([limits.rows(x, y, theta)[1] for x, y in blocks()]))
    own, rest = (GaussianDP(budget.mu * math.sqrt(part)) for part in (sandwich.GRADIENT, 1 - sandwich.GRADIENT))
    moments = limits.noisy(found[0, :d], found[1, :d], n, rest, rng=rng)
    std = gaussian_std(2 * limits.clip_norm * (1 + sums.slack(n, d)) * huber.ROUNDING, own)
    moved = -moments.solve(noisy(found[0, d], std, own.mu, rng=rng))
    return theta + moved, moments.covariance(std, moved)


def _counted(read: Read, n: int, bound: float = records.FAR) -> Iterator[Prepared]:
    """The blocks of a pass, prepared, with features of norm ``bound`` at most."""
    found = 0
    for x, y in blocks(read()):
        found += len(y)
        if found > n:
            break
        yield prepare(shortened(x, bound), y)
    if found != n:
        raise ValueError(f"a pass must have the {n} records that were announced, got {'more' if found > n else found}")
