"""How much work the chapter on Algorithm 1 needs: numbers drawn and operations on them, by its parameters."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.algorithm import identity, models, noise, outputs, rates
from costofprivacy.experiments.dpgd.algorithm.experiment import OUTPUT_STEPS, Experiment
from costofprivacy.running.work import Work

DRAWN = 17  # normals that cost as much as 4G + 1 scalars of a step of the chain with G = 2, half of them gammas
KERNEL = 20  # operations of an exponential
PASSES = 6  # arrays of the size of the random noise schedules that are made or read


def scheme(experiment: Experiment) -> Work:
    """What the chapter's own sampling scheme needs: rates by the chain, placements and random schedules step by step.

    Of the output laws only the pulling record's kernels are no convolutions.
    """
    return _rates(experiment) + _placements(experiment) + _searches(experiment) + _laws(experiment)


def cheapest(experiment: Experiment) -> Work:
    """What the cheapest exact scheme known needs: all schedules that share records in the placements draw them once."""
    shared = Work(normals=_drawn(experiment, 1))
    placed = _placements(experiment)
    return scheme(experiment) + placed * -1 + Work(loops=placed.loops) + shared


def _rates(experiment: Experiment) -> Work:
    """Steps of chains: 4G + 1 scalars, and a dozen operations for each of them and configuration."""
    steps = experiment.trials * rates.RUNS * sum(cell.n for cell in experiment.rate_cells)
    configurations = max(len(cell.configurations) for cell in experiment.rate_cells)
    return Work(normals=DRAWN * steps, loops=12 * len(models.SPECTRA) * configurations * steps)


def _drawn(experiment: Experiment, schedules: int) -> float:
    """Features and noise of the placements, and features of the identity (1.1)."""
    d = models.dimension(experiment.gamma, experiment.n)
    disputed = sum(2 * cell.n * models.dimension(cell.gamma, cell.n) for cell in noise.DISPUTED)
    whole = len(identity.LAWS) * identity.RECORDS * identity.DIMENSION
    return experiment.placements * (2 * schedules * experiment.n * d + disputed + whole)


def _placements(experiment: Experiment) -> Work:
    """Whole records and noise; two passes over θ for each step and placement."""
    schedules = len(experiment.schedules(experiment.learning_rate))
    drawn = _drawn(experiment, schedules)
    return Work(normals=drawn, loops=3 * len(noise.PLACEMENTS) * drawn)


def _searches(experiment: Experiment) -> Work:
    """Random noise schedules beside each one of (4.2)."""
    numbers = len(experiment.schedules(experiment.learning_rate)) * experiment.others * experiment.n
    return Work(normals=numbers, loops=PASSES * numbers)


def _laws(experiment: Experiment) -> Work:
    """Kernels of the record that pulls and convolutions for the others: each schedule, step and record replaced."""
    runs = 3 * len(experiment.schedules(experiment.learning_rate)) * OUTPUT_STEPS
    square = outputs.CELLS**2
    return Work(loops=runs * (KERNEL + 4 * len(outputs.OTHERS)) * square)
