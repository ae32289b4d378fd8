"""How much work Figure 1 needs; what else the chapter has is closed forms."""

from __future__ import annotations

from costofprivacy.experiments.noisyhead.low_dimensional import limits
from costofprivacy.experiments.noisyhead.low_dimensional.experiment import Cell, Experiment
from costofprivacy.experiments.noisyhead.prompts_work import gram, prompts
from costofprivacy.running.work import Work

FACTORS = 20  # operations of an eigendecomposition over p³


def scheme(experiment: Experiment) -> Work:
    """Per trial: prompts, three Gram matrices with their eigenbases, the steps of all settings; and the floors."""
    trials = sum((_trial(cell) for cell in experiment.cells), Work())
    lengths = sum((prompts(limits.GROUP_PROMPTS, L, experiment.D) for L in limits.LENGTHS), Work())
    return experiment.trials * trials + limits.GROUPS * lengths


def cheapest(experiment: Experiment) -> Work:
    """No cheaper exact scheme is known: Π_G needs the length of every prompt's context."""
    return scheme(experiment)


def _trial(cell: Cell) -> Work:
    D, p, settings = cell.D, cell.D**2, cell.hyper.values()
    bounds = len({hyper.feature_bound for hyper in settings})
    matrices = (1 + bounds) * (gram(cell.N, D) + Work(flops=FACTORS * p**3)) + gram(cell.test_prompts, D)
    steps = sum(hyper.steps for hyper in settings)
    noise = Work(normals=steps * p, loops=steps * len(cell.epsilon) * 5 * p)
    return prompts(cell.N + cell.test_prompts, cell.model.L, D) + matrices + noise
