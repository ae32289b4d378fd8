"""How much work the two sides of (4.2) need, and the events of the proof."""

from __future__ import annotations

from costofprivacy.experiments.noisyhead.cost_of_privacy import prediction, steps
from costofprivacy.experiments.noisyhead.cost_of_privacy.experiment import Experiment
from costofprivacy.experiments.noisyhead.cost_of_privacy.sides import Cell
from costofprivacy.experiments.noisyhead.prompts_work import descent, gram, prompts
from costofprivacy.running.work import Work

PLANE = 3  # numbers of a token that ‖Σx_i‖, max |y| and ‖Z‖ together depend on: along w, and in the plane of two sums


def scheme(experiment: Experiment) -> Work:
    """Prompts and runs of both sides and of the response to unit noise; the events' tokens, one by one."""
    return _common(experiment) + _events(experiment, max(experiment.base["D"], 1))


def cheapest(experiment: Experiment) -> Work:
    """The same, with `PLANE` numbers for a token of the events: given w, its other coordinates are exchangeable."""
    return _common(experiment) + _events(experiment, min(experiment.base["D"], PLANE))


def _common(experiment: Experiment) -> Work:
    cells = dict.fromkeys(cell for axis in experiment.axes.values() for cell in axis)
    sides = sum((_sides(cell) for cell in cells), Work())
    dimensions = [experiment.base | {"D": D} for D in experiment.D]
    response = sum((_response(**sizes) for sizes in dimensions), Work())
    drawn, base = len(prediction.PENALTIES) * prediction.DRAWS, experiment.base
    split = prompts(drawn, base["L"], base["D"]) + Work(normals=drawn * base["D"] ** 2)
    return experiment.trials * (sides + response) + split


def _sides(cell: Cell) -> Work:
    """One draw, NoisyHead and its twin at each T in both settings."""
    work = prompts(cell.N, cell.L, cell.D) + 3 * gram(cell.N, cell.D)
    for hyper in cell.hyper.values():
        T = cell.steps(hyper)
        work += descent(max(T), 2 * sum(T) / max(T), cell.D)
    return work


def _response(N: int, L: int, D: int) -> Work:
    return prompts(N, L, D) + gram(N, D) + descent(steps.RESPONSE_STEPS, 1, D)


def _events(experiment: Experiment, numbers: int) -> Work:
    """Tokens of all prompts of all data sets."""
    tokens = experiment.event_trials * experiment.base["N"] * sum(L + 1 for L in experiment.L)
    return tokens * Work(normals=numbers, loops=10 * numbers)
