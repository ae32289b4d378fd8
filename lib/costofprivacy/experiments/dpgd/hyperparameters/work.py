"""How much work this chapter's numbers need: for `make bench`."""

from __future__ import annotations

from costofprivacy.experiments.dpgd import solving
from costofprivacy.experiments.dpgd.hyperparameters import limit, terms, tuned
from costofprivacy.experiments.dpgd.hyperparameters.experiment import LIMIT_GAMMA, Experiment
from costofprivacy.experiments.dpgd.hyperparameters.problem import ALPHAS, TOLERANCE
from costofprivacy.running.work import Work

STEP = 20  # operations of a step of the risk chain in one place, two roots among them
DRAWS = Work(normals=5, uniforms=2)  # of a step: three normal numbers, two of the gamma family by rejection


def scheme(experiment: Experiment) -> Work:
    """What the chapter does: chains that share their draws in all places of a map, and scans of the equations."""
    return _maps(experiment) + _limit(experiment) + _tuned(experiment)


def cheapest(experiment: Experiment) -> Work:
    """The same: a step's draws serve all places, and no scheme is known that takes fewer operations in a place."""
    return scheme(experiment)


def _maps(experiment: Experiment) -> Work:
    cells, places = experiment.map_cells, experiment.points**2
    steps = experiment.trials * sum(cell.n for cell in cells)
    return steps * (DRAWS + Work(loops=STEP * places)) + solving.solutions(places * len(cells), 1, TOLERANCE)


def _limit(experiment: Experiment) -> Work:
    runs = experiment.limit_trials * len(ALPHAS) * len(limit.RULES)
    steps = runs * sum(d / LIMIT_GAMMA for d in experiment.limit_d)
    return steps * (DRAWS + Work(loops=STEP)) + len(ALPHAS) * len(limit.RULES) * len(
        experiment.limit_d
    ) * solving.best_rate(LIMIT_GAMMA, tolerance=TOLERANCE)


def _tuned(experiment: Experiment) -> Work:
    """The tables of `tuned` and `terms`, one learning rate after another."""
    both, clips = len(ALPHAS), len(tuned.RATE_CLIPS)
    advised = sorted({*experiment.advice_gammas, *experiment.gamma})
    valley = 2 * both * len(experiment.clips)
    beyond = solving.solutions(valley * len(advised) * (2 + len(tuned.SCAN)), 1, TOLERANCE)
    sketch = both * len(terms.CLIPS) * len(terms.RHOS) * len(experiment.sketch_gammas) * 14
    parts = [beyond, solving.solutions(sketch, 1, TOLERANCE)]
    parts += [valley * solving.best_rate(gamma, tolerance=TOLERANCE) for gamma in advised]
    for gamma in experiment.rate_gammas:
        one, two = (solving.best_rate(gamma, equations, TOLERANCE) for equations in (1, 2))
        single = sum(axis.least == 1 and axis.fall == 0 for axis in tuned.AXES.values())
        parts += [both * clips * (single * one + (len(tuned.AXES) - single) * two)]
        parts += [both * len(tuned.CLIP_RULES) * one]
    privacies = len(experiment.rhos) + 1
    number = privacies * both * clips
    parts += [number * solving.best_rate(gamma, tolerance=TOLERANCE) for gamma in experiment.comparison_gammas]
    return solving.total(parts)
