"""How much work the chapter on the mechanism needs: hardly any."""

from __future__ import annotations

from costofprivacy.experiments.noisyhead.mechanism.experiment import Experiment
from costofprivacy.experiments.noisyhead.prompts_work import gram, prompts
from costofprivacy.running.work import Work
from costofprivacy.settings import Setting


def scheme(experiment: Experiment) -> Work:
    """Prompts with their Gram matrix and its eigenbasis; the pairs that are tried as neighbours, by inner products."""
    D, work = experiment.D, Work()
    for cell in experiment.cells:
        eigenbases = Work(flops=2 * 10 * D**6)
        work += experiment.trials * (prompts(cell.N, cell.model.L, D) + gram(cell.N, D) + eigenbases)
        tried = len(Setting) * experiment.pairs
        work += Work(flops=4 * tried * D**2, loops=20 * tried, uniforms=(tried / 2) ** 0.5)
    return work


def cheapest(experiment: Experiment) -> Work:
    """No cheaper scheme is known."""
    return scheme(experiment)
