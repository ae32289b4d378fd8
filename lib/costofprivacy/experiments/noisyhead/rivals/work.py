"""How much work Table 1 needs, and the audits beside it."""

from __future__ import annotations

import math

from costofprivacy.experiments.noisyhead.prompts_work import descent, gram, prompts
from costofprivacy.experiments.noisyhead.rivals.experiment import Cell, Experiment
from costofprivacy.running.work import Work
from costofprivacy.settings import Setting

MECHANISMS = 2  # calibrations that are audited at each ε
RELEASE = 60  # operations for an audited release: its place among the others, which is sorted for a quarter of them


def scheme(experiment: Experiment) -> Work:
    """Prompts, Gram matrices and runs of every trial; a number for each audited release; the drawn neighbours."""
    trials = sum((_trial(cell) for cell in experiment.cells), Work())
    released = 2 * MECHANISMS * len(experiment.epsilon) * experiment.releases
    audits = Work(normals=released, loops=RELEASE * released)
    moves = sum((_moves(cell, experiment.pairs) for cell in experiment.cells), Work())
    return experiment.trials * trials + audits + moves


def _trial(cell: Cell) -> Work:
    """One draw, and the runs of each setting, which end at their own numbers of steps."""
    work = prompts(cell.N + cell.test_prompts, cell.model.L, cell.D) + 4 * gram(cell.N, cell.D)
    for columns in cell.descended.values():
        steps = [column.steps for column in columns]
        work += descent(max(steps), sum(steps) / max(steps), cell.D)
    return work


def _moves(cell: Cell, pairs: int) -> Work:
    """One prompt after the other replaced, in two settings of G."""
    settings, tried = len(Setting) - 1, cell.N + pairs
    drawn = prompts(tried + cell.N, math.isqrt(cell.N), cell.D)
    return drawn + settings * Work(flops=2 * tried * cell.D**4, loops=20 * tried * cell.D**2, uniforms=11 * pairs)


def cheapest(experiment: Experiment) -> Work:
    """No cheaper exact scheme is known: every run shares its data and noise with all others already."""
    return scheme(experiment)
