"""What a cell is read as depends on itself and on public types alone: a replaced record changes one row at most.

A claim takes two neighbours cell by cell (`tests.attacks.cells`) and puts both into a container of one kind.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from costofprivacy.estimators import gate
from costofprivacy.estimators.schema import Schema, number
from costofprivacy.privacy import records
from costofprivacy.rivals import batch_descent, guarded_descent, streams
from tests.attacks import cells
from tests.attacks.claims import Share, largest, scale, seeded, share

Read = Callable[[Any, Any], tuple[np.ndarray, ...]]


class Told(BaseEstimator):
    """An estimator as the gate sees one."""

    def __init__(self, not_finite: str = gate.VOID) -> None:
        self.not_finite = not_finite


def outcome(read: Read, X: Any, y: Any) -> tuple[tuple[np.ndarray, ...], str]:
    """What is read, nothing where it is refused; and the words of all that is raised, causes included, or warned."""
    found: tuple[np.ndarray, ...] = ()
    words = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            found = read(X, y)
        except Exception as error:
            link: BaseException | None = error
            while link is not None:
                words.append(f"{type(link).__name__}: {link}")
                link = link.__cause__ or link.__context__
    return found, "\n".join([*words, *(str(each.message) for each in warned)])


def changed(read: Read, one: Any, two: Any) -> float:
    """How many rows differ; ∞ where one is refused and not the other, or words differ or quote a cell."""
    (first, told), (second, other) = (outcome(read, *data) for data in (one, two))
    if len(first) != len(second) or told != other or cells.SECRET in told:
        return math.inf
    same = [_same(a, b) for a, b in zip(first, second, strict=True)]
    return float((~np.logical_and.reduce(same)).sum()) if same else 0.0


def _same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    equal: np.ndarray = ((a == b) | (np.isnan(a) & np.isnan(b))).reshape(len(a), -1).all(axis=1)
    return equal


def _in(container: str, read: Read) -> Share:
    def claim(one: Any, two: Any, rng: np.random.Generator) -> float:
        return changed(read, *(cells.CONTAINERS[container](data) for data in (one, two)))

    return claim


def _numbers(X: Any, y: Any) -> tuple[np.ndarray, ...]:
    return records.numbers("X", X, (None, None)), records.numbers("y", y, (None,))


def _table(X: Any, y: Any) -> tuple[np.ndarray, ...]:
    return gate.table(Told(), X, y)


def _transformed(X: Any, y: Any) -> tuple[np.ndarray, ...]:
    names = list(X.columns) if hasattr(X, "columns") else [f"c{k}" for k in range(len(X[0]))]
    schema = Schema({name: number(-5.0, 5.0, indicator=True) for name in names})
    return (np.asarray(schema.transformer().transform(X), dtype=float),)


def alone(one: Any, two: Any, rng: np.random.Generator) -> float:
    """How many rows of lists are read otherwise than a row of objects alone is."""
    X, y = cells.objects(one)
    together, told = outcome(_numbers, *one)
    apart = [outcome(_numbers, X[k : k + 1], y[k : k + 1])[0] for k in range(len(y))]
    if told or not together or not all(apart):
        return math.inf
    parts = [np.concatenate(side) for side in zip(*apart, strict=True)]
    return float((~np.logical_and.reduce([_same(a, b) for a, b in zip(together, parts, strict=True)])).sum())


def nested(one: Any, two: Any, rng: np.random.Generator) -> float:
    """Cells of arrays of objects that are containers themselves."""
    (x, y), other, place = cells.objects(one), cells.drawn(cells.NESTED, rng), int(rng.integers(len(one[1])))
    second = x.copy()
    second[place, 0] = other
    return changed(_numbers if rng.random() < 0.5 else _table, (x, y), (second, y))


def refused(one: Any, two: Any, rng: np.random.Generator) -> float:
    """Where records are refused, the message quotes no cell; whether it is raised may depend on them."""

    def read(X: Any, y: Any) -> tuple[np.ndarray, ...]:
        return gate.table(Told(gate.REFUSE), X, y)

    container = list(cells.CONTAINERS.values())[rng.integers(len(cells.CONTAINERS))]
    return math.inf if any(cells.SECRET in outcome(read, *container(data))[1] for data in (one, two)) else 0.0


def prompts(one: Any, two: Any, rng: np.random.Generator) -> float:
    """Prompts of two tokens, as lists of lists of lists."""

    def read(X: Any, y: Any) -> tuple[np.ndarray, ...]:
        return gate.prompts(Told(), X), gate.responses(Told(), y, len(X), (1, 2))

    return changed(read, *(([[row, row] for row in X], [[cell] for cell in y]) for X, y in (one, two)))


def step(one: Any, two: Any, rng: np.random.Generator) -> float:
    """A noisy step from cells in lists."""
    C, rate, draw, n = scale(rng), scale(rng), seeded(rng), len(one[1])
    plan = batch_descent.Plan(C, (rate,), 1.0)
    found = [guarded_descent.release(*data, plan, rng=draw()) for data in (one, two)]
    return share(*found, rate * 2 * C / n, largest(*found))


def streamed(one: Any, two: Any, rng: np.random.Generator) -> float:
    """A noisy step from a stream of batches, each a pair of lists."""
    C, rate, draw, n, d = scale(rng), scale(rng), seeded(rng), len(one[1]), len(one[0][0])
    edges = np.unique([0, *rng.integers(0, n + 1, size=3), n]).tolist()

    def batches(data: Any) -> streams.Read:
        X, y = data
        return lambda: [(X[start:stop], y[start:stop]) for start, stop in itertools.pairwise(edges)]

    plan = batch_descent.Plan(C, (rate,), 1.0)
    found = [streams.descend(batches(data), n, d, plan, rng=draw()) for data in (one, two)]
    return share(*found, rate * 2 * C / n, largest(*found))


READINGS: dict[str, Share] = {
    **{f"privacy.records.numbers, {kind}": _in(kind, _numbers) for kind in cells.CONTAINERS},
    **{f"estimators.gate.table, {kind}": _in(kind, _table) for kind in cells.CONTAINERS},
    **{
        f"estimators.schema.SchemaTransformer.transform, {kind}": _in(kind, _transformed)
        for kind in ("lists", "objects", "a frame", "a frame of pandas' types")
    },
    "privacy.records.numbers, alone": alone,
    "privacy.records.numbers, nested": nested,
    "estimators.gate.table, refused": refused,
    "estimators.gate.prompts, lists": prompts,
    "rivals.guarded_descent.release, cells": step,
    "rivals.streams.descend, cells": streamed,
}
