"""A trial's random stream, and what an experiment asks of the one who runs its trials.

Experiments import this module alone: how trials are spread, kept and resumed (`companion.running.montecarlo`)
changes no number, so no table depends on that code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from companion import _fits, checks


class Cell(Protocol):
    """One setting of an experiment: everything a trial needs, and the key of its random stream."""

    @property
    def key(self) -> int:
        """A whole number ≥ 0 that names the cell's random stream."""


C = TypeVar("C", bound=Cell)
Trial = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Precision:
    """The number of trials of a cell, from the standard error that its verdict needs: Stein's two stages.

    The spread of the first trials, the *pilot*, says how many trials bring the standard error of every mean down to a
    share of that mean. The number depends on the pilot alone, and the pilot's trials count among them.

    Args:
        relative: the largest standard error, as a share of the mean's absolute value, in (0, 1).
        most: no cell has more trials, whatever its spread; at least 2. pilot: at least 2; fewer where ``most`` is.
        of: the numbers whose means count, from a cell's trials of shape (trials, ...); all of them if left out. Those
            without a spread, whose mean is 0, or that are not finite, ask for nothing.
    """

    relative: float
    most: int
    pilot: int = 25
    of: Callable[[np.ndarray], np.ndarray] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.relative < 1:
            raise ValueError(f"relative must be between 0 and 1, both excluded, got {self.relative!r}")
        checks.whole("most", self.most, 2)
        checks.whole("pilot", self.pilot, 2)

    @property
    def first(self) -> int:
        """Trials of the pilot."""
        return min(self.pilot, self.most)

    def trials(self, pilot: np.ndarray) -> int:
        """How many trials a cell needs whose first have these values, shape (trials, ...)."""
        counted = (self.of(pilot) if self.of else pilot)[: self.first]
        mean, error = _fits.mean_and_error(counted)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = error / np.abs(mean) / self.relative
        share = share[np.isfinite(share)]
        needed = self.first * float(share.max(initial=0.0)) ** 2
        return min(self.most, max(self.first, math.ceil(needed)))


class Runner(Protocol):
    """Who runs the trials of an experiment."""

    def run(self, trial: Trial, cells: Sequence[C], trials: int | Precision, seed: int) -> dict[C, np.ndarray]:
        """Measure ``trial(cell, rng=...)`` ``trials`` times in each cell: `companion.running.montecarlo.Runner`."""


def generator(seed: int, cell: int, trial: int) -> np.random.Generator:
    """The random generator of one trial of one cell."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(cell, trial)))
