"""How much work the chapter on rivals needs, counted from its parameters.

How many steps a method takes and how many a search needs is chosen by formulas and by the data; here they have the most
of what is tried, and what is usual. diffprivlib's runs are read.
"""

from __future__ import annotations

from collections.abc import Iterator

from costofprivacy import datasets
from costofprivacy.dpgd.update import BLOCK
from costofprivacy.experiments.privacy.rivals import choices, methods, problems, sizes
from costofprivacy.experiments.privacy.rivals.experiment import Cell, Experiment
from costofprivacy.running.work import Work

NEWTON = 6  # steps of a search; in each the curvature of a fifth of the records changes
CHANGED = 0.2
PAIRS = 35  # operations for a product of pairs of doubles; each certificate takes three passes over the records
LOWEST, ALL = 4 / 3, 9  # d³ operations for the smallest eigenvalue, and for all with their vectors
SHARES = 2.0  # of the records that the pilots of all shares see
ELEMENT = 10  # operations to clip a residual


def scheme(experiment: Experiment) -> Work:
    """What the chapter's own sampling scheme needs: every method at every setting and budget on one draw of records."""
    return sum((_trial(cell, experiment) * trials for cell, trials in _cells(experiment)), Work()) + _sizes(experiment)


def cheapest(experiment: Experiment) -> Work:
    """What the cheapest exact scheme known needs: samples drawn by the gaps between them, searches in doubles alone."""
    saved = Work()
    for cell, trials in _cells(experiment):
        spared = choices.SAMPLED_STEPS[-1] * (1 - choices.SAMPLING) * cell.n
        certified = _minima(cell) * PAIRS * 3 * cell.n * cell.d
        saved += Work(uniforms=spared, loops=certified) * trials
    return scheme(experiment) + saved * -1.0


def _cells(experiment: Experiment) -> Iterator[tuple[Cell, int]]:
    """Every cell with its trials."""
    yield from ((cell, experiment.trials) for cell in experiment._gaussian())
    yield from ((cell, experiment.real_trials) for cell in experiment._real())


def _minima(cell: Cell) -> int:
    """Searches for a minimum: of output and of objective perturbation."""
    return 2 * methods.SETTINGS * len(cell.epsilon)


def _trial(cell: Cell, experiment: Experiment) -> Work:
    """All methods on one draw."""
    n, d, runs = cell.n, cell.d, methods.SETTINGS * len(cell.epsilon)
    passes = _one_pass(n, d, len(methods.ONE_PASS) * runs) + _one_pass(SHARES * n, d, runs) + _one_pass(n, d, 2)
    searches = _minimum(n, d) * _minima(cell)
    moments = Work(normals=(runs + 2) * d**2, flops=4.0 * n * d**2 + (4 * LOWEST + (runs + 2) / 3) * d**3)
    steps = choices.STEPS[-1] + choices.ROUNDS[-1] + choices.SAMPLING * choices.SAMPLED_STEPS[-1]
    descents = Work(
        uniforms=choices.SAMPLED_STEPS[-1] * n, flops=4.0 * n * d * runs * steps, loops=ELEMENT * n * runs * steps
    )
    models = Work(flops=methods.SETTINGS * (2.0 * n * d**2))
    return _draw(cell) + passes + searches + moments + descents + models


def _draw(cell: Cell) -> Work:
    """The records, and what is known of them besides."""
    if cell.problem in problems.SYNTHETIC:
        return Work(normals=cell.n * (cell.d + 1))
    test = len(problems.load(cell.problem).y) - cell.n - datasets.NORMALISATION
    answers = (len(methods.METHODS) + 1) * methods.SETTINGS * len(cell.epsilon)
    return Work(flops=(test + 2 * cell.n) * cell.d**2 + 4 * ALL * cell.d**3 + 2.0 * answers * test * cell.d)


def _one_pass(n: float, d: int, runs: int) -> Work:
    """Some runs of DP-GD over n records, in blocks."""
    return Work(normals=n * d, flops=n * d * (4 * runs + 4 * BLOCK), loops=n * BLOCK * runs)


def _minimum(n: int, d: int) -> Work:
    """One search, certified."""
    curvature = NEWTON * (CHANGED * n * d**2 + d**3 / 3)
    return Work(
        normals=2 * d, flops=4.0 * NEWTON * n * d + curvature, loops=3 * PAIRS * n * d + 8 * ELEMENT * NEWTON * n
    )


def _sizes(experiment: Experiment) -> Work:
    """Records that are needed, risks at d/n fixed, and clips."""
    total = Work()
    for d in experiment.dimensions:
        n = sizes.PROPORTIONAL * d
        total += (Work(normals=n * d) + _minimum(n, d)) * 2.0
        tried = sum(multiple for multiple in sizes.GRIDS[methods.FULL][1]) * d
        total += Work(normals=tried * d, flops=4.0 * choices.STEPS[-1] * tried * d)
        statistics = Work(normals=1.5 * d**2, flops=(1 / 3 + LOWEST + 1) * d**3)
        total += statistics * float(len(sizes.GRIDS[methods.ADASSP][1]))
    clipped = sizes.CLIPPED_RATIO * experiment.d**2
    total += Work(normals=clipped, flops=4.0 * sizes.CLIPPED_STEPS * len(sizes.CLIPS) * clipped)
    return total * float(experiment.size_trials)
