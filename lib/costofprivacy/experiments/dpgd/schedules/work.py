"""How much work this chapter's numbers need: for `make bench`."""

from __future__ import annotations

from costofprivacy.dpgd import control
from costofprivacy.dpgd.update import BLOCK
from costofprivacy.experiments.dpgd import solving
from costofprivacy.experiments.dpgd.schedules import best, orders, small_noise
from costofprivacy.experiments.dpgd.schedules.experiment import NONNEGATIVE_EXPONENTS, Experiment
from costofprivacy.experiments.dpgd.schedules.figure_seven import TOLERANCE
from costofprivacy.running.work import Work

STEP = 20  # operations of a step of the risk chain, two roots among them
DRAWS = Work(normals=5, uniforms=2)  # of a step: three normal numbers, two of the gamma family by rejection
LEAST = 600_000  # operations for the best schedule of one equation: a table of a thousand risks, sixty halvings each
SOUGHT = 60  # gradients in a search over schedules, each of as many solutions as it has knots
FALLS = 400  # solutions in the descents among schedules that are flat at first
CLIPS = 57  # best schedules at a place where the label noise vanishes, one for each clip that is tried


def scheme(experiment: Experiment) -> Work:
    """What the chapter does: Algorithm 1 for many eigenvalues, its chain for one, and scans of the equations."""
    algorithm = _steps(experiment) * _step(experiment.d, 2 * experiment.d)
    return algorithm + _chains(experiment) + _tuned(experiment) + _best(experiment)


def cheapest(experiment: Experiment) -> Work:
    """With the private noise of a block of m steps drawn where it is read: along the block's records, and as a sum.

    That takes m + d/m normal numbers to a step in the place of d, and a Cholesky factor of the block's Gram matrix.
    """
    d = experiment.d
    algorithm = _steps(experiment) * _step(d, d + BLOCK / 2 + d / BLOCK)
    return algorithm + _chains(experiment) + _tuned(experiment) + _best(experiment)


def _sizes(experiment: Experiment) -> list[int]:
    return [n for n in experiment.n if n <= experiment.simulated]


def _steps(experiment: Experiment) -> float:
    """Of Algorithm 1, and of its chain."""
    return experiment.trials * sum(_sizes(experiment))


def _step(d: int, normals: float) -> Work:
    """A step in blocks: the Gram matrix and two products with the noise, and two with all schedules."""
    schedules = len(NONNEGATIVE_EXPONENTS) + 1
    flops = 2 * d * (2 * BLOCK + 3 * schedules) + 2 * BLOCK * schedules
    return Work(normals=normals + 1, flops=flops, loops=BLOCK * schedules + 3 * d)


def _chains(experiment: Experiment) -> Work:
    schedules = len(NONNEGATIVE_EXPONENTS) + 2
    return _steps(experiment) * (DRAWS + Work(loops=STEP * schedules))


def _tuned(experiment: Experiment) -> Work:
    """Figure 7 with one equation and with d, and the rates along γ."""
    parts = []
    for n in experiment.n:
        for equations in (1, experiment.d):
            gamma = experiment.d / n
            parts.append(len(NONNEGATIVE_EXPONENTS) * solving.best_rate(gamma, equations))
            parts.append(solving.best_harmonic(gamma, equations, TOLERANCE))
    for gamma in experiment.gammas:
        each = len(orders.EXPONENTS) * solving.best_rate(gamma) + solving.best_harmonic(gamma, 1, TOLERANCE)
        parts.append(len(orders.PATHS) * each)
    return solving.total(parts)


def _best(experiment: Experiment) -> Work:
    """The best schedule, families beside it, searches without its theorem, and label noise that vanishes."""
    places = small_noise.places(experiment.small_gammas, experiment.small_noises)
    parts = [Work(loops=len(places) * CLIPS * LEAST)]
    for n in experiment.best_n:
        family = solving.best_harmonic(1 / n, 1, TOLERANCE) + solving.solutions(FALLS, 1, best.SETTLED)
        parts.append(len(experiment.best_rho) * (family + Work(loops=LEAST)))
    side = 2 * control._STEPS * (1 + control._KNOTS) * SOUGHT
    for equations, starts in ((1, 1), (best.NODES, 3)):
        each = side * starts * (8 * equations + solving.REDUCTION)
        parts.append(Work(loops=len(experiment.search_n) * each))
    return solving.total(parts)
