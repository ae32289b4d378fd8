"""Seeds, parallel trials, progress, resume.

A trial's generator depends on (seed, cell, trial) alone, so a table does not depend on the number of workers, on the
order of the trials or on which other cells a run has. Trials run in blocks; each finished block is kept
(`companion.running.blocks`), so that an interrupted run resumes where it stopped, and more trials cost the missing
ones. The blocks run in processes of this machine or, where a cluster is named, on its workers
(`companion.running.cluster`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from companion import checks
from companion.running import _source, blocks, cluster, memory, progress
from companion.streams import C, Cell, Precision, Trial, generator

__all__ = ["BLOCK", "Block", "Cell", "Precision", "Runner", "Trial", "generator"]
BLOCK = 25  # trials in a block: some tenths of a second of work, so that a progress bar moves


@dataclass(frozen=True)
class Runner:
    """How trials are run; changes no number.

    Args:
        workers: worker processes on this machine, at least 1; -1 for all cores.
        cache: folder of finished blocks; None keeps nothing. progress: as of `progress.bar`.
        cluster: a Dask scheduler's address, its file, or a cluster that has one; its workers take the place of those
            here. Their blocks are kept from here.
    """

    workers: int = -1
    cache: Path | None = None
    progress: bool | str = False
    cluster: Any = None

    def __post_init__(self) -> None:
        checks.workers(self.workers)

    def run(self, trial: Trial, cells: Sequence[C], trials: int | Precision, seed: int) -> dict[C, np.ndarray]:
        """Measure ``trial(cell, rng=...)`` ``trials`` times in each cell, or as often as a precision asks for.

        Args:
            trial: a module's function; returns an array of fixed shape for a cell.
            cells: distinct hashable cells; cells with one key share their random streams.
            trials: at least 1; or the precision of the means, from which a cell's own number follows.
            seed: root of all random streams.

        Returns:
            for each cell an array of shape (trials, ...), in the order of ``cells``.
        """
        if len(set(cells)) < len(cells):
            raise ValueError(f"cells must be distinct, got {len(cells)} of which {len(set(cells))} differ")
        if not isinstance(trials, Precision):
            return self._run(trial, dict.fromkeys(cells, checks.whole("trials", trials)), seed)
        pilots = self._run(trial, dict.fromkeys(cells, trials.first), seed)
        numbers = {cell: trials.trials(pilot) for cell, pilot in pilots.items()}
        return self._run(trial, numbers, seed, pilots)

    def _run(
        self, trial: Trial, trials: Mapping[C, int], seed: int, known: Mapping[C, np.ndarray] | None = None
    ) -> dict[C, np.ndarray]:
        needed = (trial, generator, *{type(cell) for cell in trials})
        store = blocks.Store(self.cache, _source.digest_of(*needed)) if self.cache is not None else None
        plan = []
        for cell, number in trials.items():
            for first in range(0, number, BLOCK):
                before = known[cell][first : first + BLOCK] if known else None
                plan.append(Block(trial, cell, first, min(BLOCK, number - first), seed, store, before))
        done: dict[int, np.ndarray] = {}
        with progress.bar(self.progress, len(plan)) as bar:
            for index, values in self._finished(plan, needed):
                done[index] = values
                bar.update()
        of_cell: dict[C, list[np.ndarray]] = {cell: [] for cell in trials}
        for index, block in enumerate(plan):
            of_cell[block.cell].append(done[index])
        return {cell: np.concatenate(parts) for cell, parts in of_cell.items()}

    def _finished(self, plan: Sequence[Block], needed: tuple[Any, ...]) -> Iterator[tuple[int, np.ndarray]]:
        """The blocks' trials with their places, as they come: saved ones at once, the others by the workers."""
        missing = []
        for index, block in enumerate(plan):
            saved = block.saved()
            if len(saved) >= block.trials:
                yield index, saved[: block.trials]
            else:
                missing.append(index)
        tasks = ((index, plan[index], plan[index].saved()) for index in missing)
        if missing and self.cluster:
            for index, values in cluster.spread(self.cluster, _measured, list(tasks), needed):
                plan[index].keep(values)
                yield index, values
        elif missing:  # no pool of workers is started for nothing
            pool = memory.pool(self.workers, len(missing))
            yield from pool(joblib.delayed(_completed)(*task) for task in tasks)


class Block(NamedTuple):
    """Some consecutive trials of one cell: which, and where they are kept."""

    trial: Trial
    cell: Any
    first: int
    trials: int
    seed: int
    store: blocks.Store | None
    known: np.ndarray | None = None

    @property
    def path(self) -> Path | None:
        """The file of the block, if it is kept."""
        return self.store.path(self.trial, self.cell, self.seed, self.first) if self.store else None

    def saved(self) -> np.ndarray:
        """The trials that are kept already, perhaps none, perhaps more than are asked for."""
        found = blocks.read(self.path) if self.path else self.known
        return np.empty(0) if found is None else found

    def measured(self, saved: np.ndarray) -> np.ndarray:
        """All trials, those after the saved ones measured; another run may have saved all of them meanwhile."""
        if len(saved) >= self.trials:
            return saved[: self.trials]
        with threadpool_limits(1):
            numbers = range(self.first + len(saved), self.first + self.trials)
            missing = np.stack([self.trial(self.cell, rng=generator(self.seed, self.cell.key, t)) for t in numbers])
        return np.concatenate([saved, missing]) if len(saved) else missing

    def keep(self, values: np.ndarray) -> None:
        """Keep its trials, if it is kept."""
        if self.path:
            blocks.write(self.path, values)


def _completed(index: int, block: Block, saved: np.ndarray) -> tuple[int, np.ndarray]:
    values = block.measured(saved)
    if len(saved) < block.trials:
        block.keep(values)
    return index, values


def _measured(index: int, block: Block, saved: np.ndarray) -> tuple[int, np.ndarray]:
    """A block with its missing trials measured, and not kept: on another machine."""
    return index, block.measured(saved)
