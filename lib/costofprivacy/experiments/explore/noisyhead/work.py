"""How much work the page to explore NoisyHead needs: closed forms, counted from its parameters."""

from __future__ import annotations

from costofprivacy.experiments.explore.noisyhead.experiment import ACCOUNTS, Experiment, step_grid
from costofprivacy.running.work import Work

CLOSED = 300  # operations for the noise's standard deviation and its part of the error, arguments checked


def scheme(experiment: Experiment) -> Work:
    """What the chapter computes: what is learnt, and each account's noise, after every number of steps of every run."""
    runs, steps = len(list(experiment.runs())), len(step_grid(experiment.decades))
    budgets = 2 * experiment.epsilon_count
    return Work(loops=float(CLOSED * len(ACCOUNTS) * (runs * steps + budgets) + CLOSED * runs * steps))


def cheapest(experiment: Experiment) -> Work:
    """What the cheapest exact scheme known needs: that of `scheme`, which draws nothing."""
    return scheme(experiment)
