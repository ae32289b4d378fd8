"""Seeds, parallel trials, progress, resume.

A trial's generator depends on (seed, cell, trial) alone, so a table does not depend on the number of workers, on the
order of the trials or on which other cells a run has. Trials run in blocks; each finished block is kept
(`costofprivacy.blocks`), so that an interrupted run resumes where it stopped, and more trials cost the missing ones.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TextIO, overload

import joblib
import numpy as np
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm as tqdm_auto
from tqdm.std import tqdm

from costofprivacy import _source, _validate, blocks
from costofprivacy.orphans import end_with
from costofprivacy.streams import C, Cell, Trial, generator

__all__ = ["BLOCK", "Block", "Cell", "Runner", "Trial", "generator"]
BLOCK = 25  # trials in a block: some tenths of a second of work, so that a progress bar moves


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
        store = None
        if self.cache is not None:
            code = _source.digest_of(trial, generator, *{type(cell) for cell in cells})
            store = blocks.Store(self.cache, code)
        plan = Plan(trial, cells, trials, seed, store)
        done: dict[int, np.ndarray] = {}
        with self._bar(len(plan)) as bar:
            for index, values in self._finished(plan):
                done[index] = values
                bar.update()
        of_cell: dict[C, list[np.ndarray]] = {cell: [] for cell in cells}
        for index, block in enumerate(plan):
            of_cell[block.cell].append(done[index])
        return {cell: np.concatenate(parts) for cell, parts in of_cell.items()}

    def _finished(self, plan: Sequence[Block]) -> Iterator[tuple[int, np.ndarray]]:
        """The blocks' trials with their places, as they come: saved ones at once, the others by the workers."""
        missing = array("Q")
        for index, block in enumerate(plan):
            saved = block.saved()
            if len(saved) >= block.trials:
                yield index, saved[: block.trials]
            else:
                missing.append(index)
        if missing:  # no pool of workers is started for nothing
            pool = joblib.Parallel(n_jobs=min(self.workers, len(missing)), return_as="generator_unordered")
            owner = os.getpid()
            tasks = ((index, plan[index], plan[index].saved(), owner) for index in missing)
            yield from pool(joblib.delayed(_completed)(*task) for task in tasks)

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


@dataclass(frozen=True)
class Plan(Sequence["Block"]):
    """The blocks of a run, cell by cell, each made when it is asked for: any number of trials takes no memory."""

    trial: Trial
    cells: Sequence[Any]
    trials: int
    seed: int
    store: blocks.Store | None

    @property
    def _each(self) -> int:
        """Blocks of a cell."""
        return -(-self.trials // BLOCK)

    def __len__(self) -> int:
        return len(self.cells) * self._each

    @overload
    def __getitem__(self, index: int) -> Block: ...
    @overload
    def __getitem__(self, index: slice) -> list[Block]: ...
    def __getitem__(self, index: int | slice) -> Block | list[Block]:
        if isinstance(index, slice):
            return [self[k] for k in range(len(self))[index]]
        cell, place = divmod(range(len(self))[index], self._each)
        first = place * BLOCK
        return Block(self.trial, self.cells[cell], first, min(BLOCK, self.trials - first), self.seed, self.store)


class Block(NamedTuple):
    """Some consecutive trials of one cell: which, and where they are kept."""

    trial: Trial
    cell: Any
    first: int
    trials: int
    seed: int
    store: blocks.Store | None

    @property
    def path(self) -> Path | None:
        """The file of the block, if it is kept."""
        return self.store.path(self.trial, self.cell, self.seed, self.first) if self.store else None

    def saved(self) -> np.ndarray:
        """The trials that are kept already, perhaps none, perhaps more than are asked for."""
        found = blocks.read(self.path) if self.path else None
        return np.empty(0) if found is None else found


def _completed(index: int, block: Block, saved: np.ndarray, owner: int) -> tuple[int, np.ndarray]:
    """A block with its missing trials measured, and kept; a worker of ``owner`` ends with it."""
    end_with(owner)
    with threadpool_limits(1):
        numbers = range(block.first + len(saved), block.first + block.trials)
        missing = np.stack([block.trial(block.cell, rng=generator(block.seed, block.cell.key, t)) for t in numbers])
    values = np.concatenate([saved, missing]) if len(saved) else missing
    if block.path:
        blocks.write(block.path, values)
    return index, values
