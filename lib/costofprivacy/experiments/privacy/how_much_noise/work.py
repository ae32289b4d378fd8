"""How much work the costs of the budgets need; the conversions beside them are small."""

from __future__ import annotations

import math

from costofprivacy.experiments.dpgd.solving import best_harmonic, total
from costofprivacy.experiments.privacy.how_much_noise import calibration, regression
from costofprivacy.experiments.privacy.how_much_noise.experiment import Experiment
from costofprivacy.running.work import Work

LINEAR = 10  # operations with a vector of D numbers or a context of L tokens, for a prompt that is left out


def scheme(experiment: Experiment) -> Work:
    """A tuned harmonic schedule for each n/d and each ρ; and the prompts of which one is left out."""
    asked = list(regression._asked(experiment.epsilon, experiment.delta))
    rhos = len({row["noise_rho"] for row in asked}) + 1
    tuned = total([rhos * best_harmonic(1 / ratio) for ratio in experiment.records])
    prompts = sum(3 * 2 * calibration.TRIED * LINEAR * math.isqrt(N) * experiment.D for N in experiment.N)
    return tuned + Work(loops=prompts)


def cheapest(experiment: Experiment) -> Work:
    """No cheaper way to the best harmonic schedule is known."""
    return scheme(experiment)
