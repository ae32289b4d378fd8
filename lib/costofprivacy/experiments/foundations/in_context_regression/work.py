"""How much work the test errors of trained heads need, and the inverse moments."""

from __future__ import annotations

from costofprivacy.experiments.foundations.in_context_regression.experiment import (
    DESIGNS,
    PILOT,
    Cell,
    Design,
    Experiment,
)
from costofprivacy.experiments.noisyhead.prompts_work import gram, prompts
from costofprivacy.running.work import Work


def scheme(experiment: Experiment) -> Work:
    """Prompts without features, their Gram matrix and a Cholesky factor for each penalty, for the pilot's trials.

    A cell whose spread asks for more trials than the pilot has costs more. Tokens of the test prompts are drawn whole.
    """
    heads = sum((_trial(cell) for cell in experiment.cells), Work())
    designs = sum((_design(design) for design in experiment.designs), Work())
    tokens = sum(cell.test_prompts * (cell.L + 2) * cell.D for cell in experiment.cells)
    return min(PILOT, experiment.trials) * heads + experiment.trials * designs + Work(normals=tokens, loops=20 * tokens)


def cheapest(experiment: Experiment) -> Work:
    """No cheaper exact scheme is known."""
    return scheme(experiment)


def _trial(cell: Cell) -> Work:
    p = cell.D**2
    return prompts(cell.N, cell.L, cell.D) + gram(cell.N, cell.D) + Work(flops=len(cell.penalty) * p**3 / 3)


def _design(design: Design) -> Work:
    """Matrices X with their Gram matrices and inverses."""
    size = design.L * design.D
    return DESIGNS * Work(normals=size, flops=2 * size * design.D + 2 * design.D**3)
