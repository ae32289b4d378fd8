"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.explore.dpgd.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    runs = 9 * len(asked.gamma) * (len(asked.rho) + 1) * len(asked.clip) * len(asked.learning_rate)
    return Load(1.0 + runs * (0.01 + 2e-4 * len(asked.times)), NUMBER * 2.0**20, 30 * NUMBER * runs * len(asked.times))
