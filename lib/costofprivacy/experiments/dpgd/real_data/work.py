"""How much work the maps and schedules on real rows need; nothing is drawn but shuffles and private noise."""

from __future__ import annotations

from costofprivacy.datasets import HOUSING, MNIST
from costofprivacy.experiments.dpgd.real_data import figure_eight, maps
from costofprivacy.experiments.dpgd.real_data.experiment import FEATURES, Experiment
from costofprivacy.experiments.dpgd.real_data.problem import problems
from costofprivacy.running.work import Work

STEP = 4  # operations of a configuration in a step over d: a product with the record, and a step along it
VIEWS = 2  # all rows, and features limited


def scheme(experiment: Experiment) -> Work:
    """Every configuration of each map and of Figure 8 on each shuffle; the noise is drawn once for a shuffle."""
    return _passes(experiment) + _figure_8(experiment) + _seeds(experiment)


def cheapest(experiment: Experiment) -> Work:
    """No cheaper exact scheme is known: clipping makes each configuration's path its own."""
    return scheme(experiment)


def _passes(told: Experiment) -> Work:
    most = max(told.housing_trials, told.kept_trials)
    found = Work()
    for asked, gammas, trials in ((MNIST, told.mnist_gamma, told.mnist_trials), (HOUSING, told.housing_gamma, most)):
        configurations, d = len(maps.ALPHAS) * told.points**2, FEATURES[asked]
        found += sum((VIEWS * trials * _pass(d / gamma, d, configurations) for gamma in gammas), Work())
    return found + told.mnist_trials * _pass(FEATURES[MNIST] / min(told.mnist_gamma), FEATURES[MNIST], told.points**2)


def _figure_8(told: Experiment) -> Work:
    found = Work()
    for asked, sizes, trials in (
        (MNIST, told.mnist_n, told.schedule_trials),
        (HOUSING, told.housing_n, told.housing_schedule_trials),
    ):
        for problem in problems(asked, sizes, told.normalisation, told.held_out, gammas=False):
            grid = figure_eight.Run(problem, told.clip, told.schedule_rho).grid
            found += VIEWS * trials * _pass(problem.n, FEATURES[asked], len(grid))
    return found


def _seeds(told: Experiment) -> Work:
    rows = sum(told.seed_n) + len(told.seed_normalisation) * told.seed_n[len(told.seed_n) // 2]
    return told.seed_trials * _pass(rows, FEATURES[HOUSING], 1)


def _pass(n: float, d: float, configurations: float) -> Work:
    """One pass over n rows."""
    return Work(normals=n * d, flops=STEP * n * d * configurations)
