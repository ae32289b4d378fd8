"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.real_data.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    pixels, columns = 784, 8
    mnist, housing = sum(pixels / g for g in asked.mnist_gamma), sum(columns / g for g in asked.housing_gamma)
    shuffles = asked.housing_trials + asked.kept_trials
    maps = asked.points**2 * (asked.mnist_trials * mnist * pixels * 4e-9 + shuffles * housing * columns * 5e-9)
    schedules = asked.schedule_trials * sum(asked.mnist_n) * pixels * 5e-7
    schedules += asked.housing_schedule_trials * sum(asked.housing_n) * columns * 2e-6
    seeds = asked.seed_trials * sum(asked.seed_n) * 2e-6
    equations = asked.equation_trials * asked.points**2 * 0.03
    held = NUMBER * (3 * pixels * asked.points**2 + 15_000 * pixels)
    kept = NUMBER * 7 * asked.points**2 * (4 * asked.mnist_trials + 8 * shuffles)
    return Load(maps + schedules + seeds + equations + 6.0, held, kept)
