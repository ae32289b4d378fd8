"""How much work the chapter that chooses a method needs, counted from its parameters."""

from __future__ import annotations

import math

from costofprivacy.experiments.dpgd import solving
from costofprivacy.experiments.method import regression
from costofprivacy.experiments.method.experiment import PENALTIES, Experiment, wanted
from costofprivacy.experiments.noisyhead import prompts_work
from costofprivacy.running.work import Work

CLOSED = 1000  # operations for a method's closed form at one penalty


def scheme(experiment: Experiment) -> Work:
    """What the chapter's own sampling scheme needs: prompts by their contexts, closed forms, and best schedules.

    Each size has the trials of the pilot, which are enough for the default precision.
    """
    trials = wanted(experiment).first
    each = (
        prompts_work.prompts(N, math.isqrt(N), experiment.D) + prompts_work.gram(N, experiment.D) for N in experiment.N
    )
    closed = Work(loops=3.0 * CLOSED * len(PENALTIES) * len(experiment.N) * len(experiment.epsilon))
    return sum(each, Work()) * trials + closed + _schedules(experiment)


def cheapest(experiment: Experiment) -> Work:
    """What the cheapest exact scheme known needs: none is known that draws less than `scheme`."""
    return scheme(experiment)


def _schedules(experiment: Experiment) -> Work:
    """Two ways of one learning rate and two of a harmonic schedule, at every size and budget."""
    harmonic = [regression.HARMONIC, regression.UNCLIPPED]
    parts = []
    for ratio in experiment.records:
        rates = solving.best_rate(1 / ratio) * (len(regression.WAYS) - len(harmonic))
        parts.append((rates + solving.best_harmonic(1 / ratio) * len(harmonic)) * len(experiment.rho))
    return solving.total(parts)
