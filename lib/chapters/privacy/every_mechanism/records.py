"""Neighbouring data sets for audits, with one feature and few records: the worst ones, and hostile ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from costofprivacy.noisyhead.prompts import Prompts

Data = tuple[np.ndarray, np.ndarray]  # features of shape (n, 1) and responses of shape (n,)
Pair = tuple[Data, Data]
Record = tuple[float, float]

FAR = 1e6  # a response that is clipped whatever the coefficients
LONG = 30.0  # a feature that changes a scale
EMPTY: Record = (0.0, 0.0)
PLAIN: Record = (1.0, 0.5)
HOSTILE: tuple[tuple[Record, Record], ...] = (
    ((1e308, 1e308), (-1e308, 1e308)),
    ((math.nan, 1.0), (1.0, 1e308)),
    ((5e-324, 1e308), (1.0, -1.0)),
    ((math.inf, -math.inf), (1e-310, math.nan)),
)


@dataclass(frozen=True)
class Knobs:
    """What is deliberately wrong with a mechanism; by default nothing.

    Args:
        noise: factor of all noise. clip: whether records are bounded.
    """

    noise: float = 1.0
    clip: bool = True


SOUND = Knobs()
Draw = Callable[[Data, int, np.random.Generator, Knobs], np.ndarray]


def data(*records: Record) -> Data:
    """Records as a data set.

    >>> [part.tolist() for part in data((1.0, 2.0), (3.0, 4.0))]
    [[[1.0], [3.0]], [2.0, 4.0]]
    """
    x, y = np.array(records, dtype=float).T
    return x[:, None].copy(), y.copy()


def pair(others: tuple[Record, ...], first: Record, second: Record, place: int = 0) -> Pair:
    """Two data sets that differ in one record, which stands in a place among the others."""
    return data(*others[:place], first, *others[place:]), data(*others[:place], second, *others[place:])


def hostile(others: tuple[Record, ...], place: int = 0) -> tuple[Pair, ...]:
    """A pair for each of `HOSTILE`."""
    return tuple(pair(others, first, second, place) for first, second in HOSTILE)


def scaled(draw: Draw) -> Draw:
    """The release of a mechanism whose features are divided by their root mean square in the data, undone afterwards.

    Args:
        draw: releases of θ, of features that are public in scale.
    """

    def release(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        x, y = given
        size = float(np.sqrt((x**2).mean()))
        return draw((x / size, y), count, rng, knobs) / size

    return release


def prompts(given: Data, D: int = 1) -> Prompts:
    """Records as prompts with one labelled token: token and query have the feature in each coordinate.

    The token's response is 1, or not finite where the record's is; the query's is the record's.
    """
    x, y = given
    tokens = np.tile(x[:, :, None], (1, 2, D))
    return Prompts(tokens, np.stack([np.where(np.isfinite(y), 1.0, y), y], axis=1), np.zeros((len(x), D)))
