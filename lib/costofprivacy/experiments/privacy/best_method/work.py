"""How much work the cases need that are measured now: the numbers of their records, and passes over them."""

from __future__ import annotations

from costofprivacy.experiments.privacy.best_method import data
from costofprivacy.experiments.privacy.best_method.experiment import Experiment
from costofprivacy.running.work import Work

PASSES = 60.0  # over the records, for all methods at one budget: steps of descents, rounds, and a search
OPERATIONS = 4.0  # for a number of a record in a pass


def scheme(experiment: Experiment) -> Work:
    """Each case draws its records once, and every method passes over them at each budget."""
    numbers = sum(experiment.n) * experiment.d * len(data.MADE) * experiment.trials
    return Work(normals=float(numbers), loops=numbers * PASSES * OPERATIONS * len(experiment.epsilon))


def cheapest(experiment: Experiment) -> Work:
    """No cheaper way is known to run the methods as they are."""
    return scheme(experiment)
