"""How much work this chapter's numbers need: for `make bench`."""

from __future__ import annotations

import math

from costofprivacy.experiments.dpgd.small_noise.experiment import PILOT, RATIOS, Cell, Experiment
from costofprivacy.running.work import Work

RESIDUAL = 4  # operations on a residual in a round: two bounds, a comparison with each
CURVE = 1_000_000  # operations for the best schedule of one equation: a table of some thousand risks, sixty halvings


def scheme(experiment: Experiment) -> Work:
    """What the chapter does: fresh records for each release, and two products with all of them in each round."""
    cells = experiment.cells
    drawn = sum((_releases(experiment) * _release(cell) for cell in cells), Work())
    return drawn + Work(loops=len(cells) * len(RATIOS) * CURVE)


def cheapest(experiment: Experiment) -> Work:
    """The same: which records are clipped changes from round to round, so no statistic is known that suffices."""
    return scheme(experiment)


def _releases(experiment: Experiment) -> int:
    """Of a cell: a risk is χ² of d degrees of freedom, nearly, whose spread is √(2/d) of its mean."""
    needed = math.ceil(2 / experiment.d / experiment.precision**2)
    return min(max(needed, PILOT), experiment.trials)


def _release(cell: Cell) -> Work:
    size, rounds = cell.n * cell.d, cell.plan.rounds
    return Work(size + cell.n + rounds * cell.d, flops=4 * size * rounds, loops=RESIDUAL * cell.n * rounds)
