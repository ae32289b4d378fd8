"""How much work Figure 3 needs."""

from __future__ import annotations

import numpy as np

from costofprivacy.experiments.noisyhead.early_stopping.cell import RUNS
from costofprivacy.experiments.noisyhead.early_stopping.experiment import Experiment
from costofprivacy.experiments.noisyhead.prompts_work import prompts
from costofprivacy.noisyhead import population, series
from costofprivacy.running.work import Work


def scheme(experiment: Experiment) -> Work:
    """Per trial: prompts, every step's noise, H applied to S settings' noise at each T, answers to the test prompts.

    J terms of the series take J − 1 applications of H, 4ND² operations a row.
    """
    cell = experiment.cell
    N, D, p, T = cell.N, cell.model.D, cell.model.D**2, len(cell.T)
    ratio = population.context_energy(cell.model) / D * (1 + np.sqrt(D / N)) ** 2 / cell.penalty
    S, J, columns = len(cell.hyper), series.terms(ratio), len(cell.columns)
    drawn = prompts(N + cell.test_prompts, cell.model.L, D) + Work(normals=(max(cell.T) + 1) * p)
    noise = Work(loops=max(cell.T) * S * p * (3 * J + 4), flops=(J - 1) * S * T * 4 * N * p)
    answers = Work(flops=2 * (S * T + 2 * J) * cell.test_prompts * p)
    weights = Work(flops=4 * len(RUNS) * (T + len(cell.later)) * J * p, loops=8 * columns * (p + cell.test_prompts))
    return experiment.trials * (drawn + noise + answers + weights)


def cheapest(experiment: Experiment) -> Work:
    """No cheaper exact scheme is known that sees every iterate's norm, and so whether Π_R is idle."""
    return scheme(experiment)
