"""A trial's random stream, and what an experiment asks of the one who runs its trials.

Experiments import this module alone: how trials are spread, kept and resumed (`costofprivacy.running.montecarlo`)
changes no number, so no table depends on that code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np


class Cell(Protocol):
    """One setting of an experiment: everything a trial needs, and the key of its random stream."""

    @property
    def key(self) -> int:
        """A whole number ≥ 0 that names the cell's random stream."""


C = TypeVar("C", bound=Cell)
Trial = Callable[..., np.ndarray]


class Runner(Protocol):
    """Who runs the trials of an experiment."""

    def run(self, trial: Trial, cells: Sequence[C], trials: int, seed: int) -> dict[C, np.ndarray]:
        """Measure ``trial(cell, rng=...)`` ``trials`` times in each cell: `costofprivacy.running.montecarlo.Runner`."""


def generator(seed: int, cell: int, trial: int) -> np.random.Generator:
    """The random generator of one trial of one cell."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(cell, trial)))
