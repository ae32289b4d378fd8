"""How much work the chapter's trials need, counted from its parameters."""

from __future__ import annotations

from costofprivacy.experiments.noisyhead.dp_sgd.cell import DP_SGD, NOISYHEAD, Cell
from costofprivacy.experiments.noisyhead.dp_sgd.experiment import Experiment
from costofprivacy.running.work import Work

COSINE = 3.0  # uniform numbers behind a cosine (`costofprivacy.noisyhead.contexts`, D = 5: three, and two)
TOKEN = 30.0  # operations for a token of a prompt
CLIPPED = 8.0  # operations that clip a gradient


def scheme(experiment: Experiment) -> Work:
    """What the chapter's own sampling scheme needs: prompts by their contexts, minibatches, NoisyHead's steps.

    A prompt takes 3D normals and two cosines a token. A step of DP-SGD draws a number for each prompt, and multiplies
    those in it by D² weights twice for each configuration; a step of NoisyHead takes D² operations in an eigenbasis.
    """
    return sum((_trial(cell) for cell in experiment.cells), Work()) * experiment.trials


def cheapest(experiment: Experiment) -> Work:
    """What the cheapest exact scheme known needs: that of `scheme`, with as many numbers in a step as prompts in it.

    Which prompts are in a step follows from the gaps between them, geometric numbers.
    """
    saved = (_steps(cell) * (cell.N - cell.batch) * experiment.trials for cell in experiment.cells)
    return scheme(experiment) + Work(uniforms=-float(sum(saved)))


def _trial(cell: Cell) -> Work:
    """A draw of N prompts and all methods on it."""
    N, p, L, steps = cell.N, cell.D**2, cell.model.L, _steps(cell)
    head, sgd = (len(cell.private[method]) for method in (NOISYHEAD, DP_SGD))
    prompts = Work(normals=3 * N * cell.D, uniforms=2 * COSINE * N * L, loops=TOKEN * N * L)
    batches = Work(p * steps, steps * N, 4.0 * steps * cell.batch * p * sgd, CLIPPED * steps * cell.batch * sgd)
    moments = Work(flops=2.0 * (len(cell.hyper) + 1) * N * p**2)
    return prompts + batches + moments + Work(normals=p * steps, loops=4.0 * steps * p * head)


def _steps(cell: Cell) -> int:
    """The steps of all settings together."""
    return sum(hyper.steps for hyper in cell.hyper.values())
