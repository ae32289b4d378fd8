"""The plan of a run is made block by block: a number of trials that nobody can run takes no memory to plan."""

import tracemalloc

import numpy as np
import pytest

from companion.running.montecarlo import BLOCK, Blocks


def trial(cell: object, *, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal(1)


@pytest.mark.parametrize("trials", [1, BLOCK - 1, BLOCK, BLOCK + 1, 7 * BLOCK + 3])
def test_the_blocks_are_those_of_the_list(trials: int) -> None:
    cells = ["a", "b", "c"]
    listed = [(cell, first, min(BLOCK, trials - first)) for cell in cells for first in range(0, trials, BLOCK)]
    plan = Blocks(trial, cells, [trials] * len(cells), 5, None)
    assert [(block.cell, block.first, block.trials) for block in plan] == listed
    assert len(plan) == len(listed)
    assert plan[-1] == list(plan)[-1]
    assert plan[1:3] == list(plan)[1:3]
    assert {(block.trial, block.seed, block.store) for block in plan} == {(trial, 5, None)}
    with pytest.raises(IndexError):
        plan[len(listed)]


def test_a_plan_of_a_million_million_trials_is_small() -> None:
    tracemalloc.start()
    plan = Blocks(trial, ["a", "b"], [10**12, 10**12], 0, None)
    assert (len(plan), plan[-1].first) == (2 * 10**12 // BLOCK, 10**12 - BLOCK)
    assert tracemalloc.get_traced_memory()[1] < 2**16
    tracemalloc.stop()
