"""Seeds, parallel trials, progress, resume.

A trial's generator depends on (seed, cell, trial) alone, so a table does not depend on the number of workers, on the
order of the trials or on which other cells a run has. Trials run in blocks; each finished block is kept by
`joblib.Memory`, keyed on the measured function's source closure, so an interrupted run resumes where it stopped.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TextIO, TypeVar

import joblib
import numpy as np
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm as tqdm_auto
from tqdm.std import tqdm

from costofprivacy import _source, _validate

BLOCK = 25  # trials in a block: some tenths of a second of work, so that a progress bar moves


class Cell(Protocol):
    """One setting of an experiment: everything a trial needs, and the key of its random stream."""

    @property
    def key(self) -> int:
        """A whole number ≥ 0 that names the cell's random stream."""


C = TypeVar("C", bound=Cell)
Trial = Callable[..., np.ndarray]


def generator(seed: int, cell: int, trial: int) -> np.random.Generator:
    """The random generator of one trial of one cell."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(cell, trial)))


@dataclass(frozen=True)
class Runner:
    """How trials are run; changes no number.

    Args:
        workers: worker processes; -1 for all cores.
        cache: folder of finished blocks; None keeps nothing.
        progress: True for a bar in the terminal or notebook, a path for a bar on that terminal, False for none.

    Raises:
        ValueError: if ``workers`` is neither -1 nor at least 1.
    """

    workers: int = -1
    cache: Path | None = None
    progress: bool | str = False

    def __post_init__(self) -> None:
        _validate.workers(self.workers)

    def run(self, trial: Trial, cells: Sequence[C], trials: int, seed: int) -> dict[C, np.ndarray]:
        """Measure ``trial(cell, rng=...)`` ``trials`` times in each cell.

        Args:
            trial: a module's function; returns an array of fixed shape for a cell.
            cells: distinct hashable cells; cells with one key share their random streams.
            trials: number of trials, at least 1.
            seed: root of all random streams.

        Returns:
            for each cell an array of shape (trials, ...), in the order of ``cells``.

        Raises:
            ValueError: if a cell stands twice, or ``trials`` is below 1.
        """
        _validate.whole("trials", trials)
        if len(set(cells)) < len(cells):
            raise ValueError(f"cells must be distinct, got {len(cells)} of which {len(set(cells))} differ")
        tasks = [(c, first) for c in cells for first in range(0, trials, BLOCK)]
        run_block = self._block_function(trial)
        jobs = (
            joblib.delayed(_indexed)(i, run_block, trial, cell, first, min(first + BLOCK, trials), seed)
            for i, (cell, first) in enumerate(tasks)
        )
        pool = joblib.Parallel(n_jobs=self.workers, return_as="generator_unordered")
        blocks: dict[int, np.ndarray] = {}
        with self._bar(len(tasks)) as bar:
            for index, block in pool(jobs):
                blocks[index] = block
                bar.update()
        return {cell: np.concatenate([blocks[i] for i, (c, _) in enumerate(tasks) if c == cell]) for cell in cells}

    def _block_function(self, trial: Trial) -> Callable[..., np.ndarray]:
        if self.cache is None:
            return _block
        digest = _source.digest([trial.__module__, __name__])[:16]
        return joblib.Memory(self.cache / digest, verbose=0).cache(_block)

    def _bar(self, total: int) -> Any:
        if self.progress is True:
            return tqdm_auto(total=total, leave=False, unit="block")
        terminal = open(self.progress, "w") if self.progress else None  # noqa: SIM115
        return _TerminalBar(total=total, leave=False, unit="block", file=terminal, disable=terminal is None)


class _TerminalBar(tqdm):
    """A bar that closes the terminal it draws on."""

    def __init__(self, *, file: TextIO | None, **options: Any) -> None:
        self._terminal = file
        super().__init__(file=file, **options)

    def close(self) -> None:
        super().close()
        if self._terminal is not None:
            self._terminal.close()
            self._terminal = None


def _indexed(index: int, run_block: Callable[..., np.ndarray], *arguments: Any) -> tuple[int, np.ndarray]:
    if isinstance(run_block, joblib.memory.MemorizedFunc):
        # A damaged block in the cache is computed anew; joblib's log of it is no reader's business.
        logging.getLogger(run_block._name).setLevel(logging.ERROR)
        try:
            return index, run_block(*arguments)
        except UnicodeDecodeError:  # the cache's own notes are damaged
            return index, run_block.func(*arguments)
    return index, run_block(*arguments)


def _block(trial: Trial, cell: Cell, first: int, last: int, seed: int) -> np.ndarray:
    with threadpool_limits(1):
        return np.stack([trial(cell, rng=generator(seed, cell.key, t)) for t in range(first, last)])
