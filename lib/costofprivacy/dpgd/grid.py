r"""Where the cells of the integrator end: a coordinate of time that has no fast scale, in which they have equal length.

A third of it is ln(a + t), where a is the time in which the fastest mode relaxes at the start; a third is
−ln(b + (1 − t)^¼), where b⁴ is the time before the end from which on even the fastest mode is at rest; a third is
−ln(η̄ + η̄_b), with η̄_b the learning rate then, for schedules that fall by orders of magnitude on the way. Where η̄
has
a kink, and at the times asked for, a cell ends.

The coordinate is a table over `TABLE`, linear in between.
"""

from __future__ import annotations

import math

import numpy as np

from costofprivacy._compiled import compiled
from costofprivacy.dpgd.exponential import Law
from costofprivacy.dpgd.system import reductions_at

CELLS = 12  # of the coarsest grid
_RELAXED = 0.25  # of a relaxation time: for less than that a mode is at rest
_NEAREST = 1e-9  # the smallest b⁴: 1 − t has seven digits there
_GRADING = 0.25  # the power of 1 − t in which the grid is even at the end
_HALF = 120  # points of the table to an end, several to a cell
_LEFT = np.geomspace(_NEAREST, 0.5, _HALF)
TABLE = np.concatenate([[0.0], np.geomspace(_NEAREST**2, 0.5, 2 * _HALF)[:-1], 1 - _LEFT[::-1], [1.0]])
_ROOT = (1 - TABLE) ** _GRADING


@compiled
def fastest(law: Law) -> float:
    """The rate at which the fastest mode relaxes at R = 0, for η̄ = 1: 2 max a_i μ_c(0)."""
    return 2 * law.relaxation.max() * reductions_at(law.label, law.clip)[0]


@compiled
def coordinates(rates: np.ndarray, fastest: float) -> np.ndarray:
    """The coordinate of each time of `TABLE`, from 0 to 2 or 3, ascending.

    Args:
        rates: η̄ at the times of `TABLE`, not increasing. fastest: of that name.
    """
    early = _RELAXED / max(fastest * rates[0], 2 * _RELAXED)
    late, slow = _late(rates, fastest)
    root = late**_GRADING
    found = np.empty(len(TABLE))
    start, finish = math.log(early), math.log(root + 1)
    span, length = math.log(early + 1) - start, finish - math.log(root)
    falls = rates[-1] < rates[0]
    top = math.log(rates[0] + slow) if falls else 0.0
    depth = top - math.log(rates[-1] + slow) if falls else 1.0
    for k in range(len(TABLE)):
        place = (math.log(early + TABLE[k]) - start) / span + (finish - math.log(root + _ROOT[k])) / length
        found[k] = place + ((top - math.log(rates[k] + slow)) / depth if falls else 0.0)
    return found


@compiled
def _late(rates: np.ndarray, fastest: float) -> tuple[float, float]:
    """b⁴ and η̄_b: the time before the end from which on even the fastest mode is at rest, and the rate then."""
    first = len(TABLE) - 1 - len(_LEFT)  # of the times 1 − `_LEFT`, the furthest from the end first
    for k in range(len(TABLE) - 2, first, -1):
        nearer, further = 1 - TABLE[k], 1 - TABLE[k - 1]
        low, high = fastest * nearer * rates[k], fastest * further * rates[k - 1]
        if high >= _RELAXED:
            if low >= _RELAXED:
                return nearer, rates[k]
            share = (_RELAXED - low) / (high - low)
            return nearer + share * (further - nearer), rates[k] + share * (rates[k - 1] - rates[k])
    return 1 - TABLE[first], rates[first]


@compiled
def nodes(coordinates: np.ndarray, breaks: np.ndarray, level: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the cells, halved ``level`` times from the coarsest, and which of them are the breaks.

    Args:
        coordinates: of the times of `TABLE`. breaks: times that are ends of cells, ascending, 0 and 1 among them.
        level: 0 for the coarsest grid.
    """
    marks = np.interp(breaks, TABLE, coordinates)
    counts = np.empty(len(breaks) - 1, np.int64)
    for k in range(len(counts)):
        share = (marks[k + 1] - marks[k]) / (marks[-1] - marks[0])
        counts[k] = 2**level * max(math.ceil(share * CELLS - 1e-9), 1)
    places, ends = np.empty(counts.sum() + 1), np.zeros(len(breaks), np.int64)
    for k in range(len(counts)):
        ends[k + 1] = ends[k] + counts[k]
        for j in range(counts[k]):
            places[ends[k] + j] = marks[k] + (marks[k + 1] - marks[k]) * j / counts[k]
    places[-1] = marks[-1]
    found = np.interp(places, coordinates, TABLE)
    found[ends] = breaks
    return found, ends
