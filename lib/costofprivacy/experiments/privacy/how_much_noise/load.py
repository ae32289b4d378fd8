"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.privacy.how_much_noise.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    budgets = len(asked.epsilon) * len(asked.delta)
    work = budgets * (0.8 * len(asked.records) + 0.5 * len(asked.N) + 0.2 * len(asked.n)) + 4.0
    return Load(work, NUMBER * 10.0**6, NUMBER * 100.0 * budgets)
