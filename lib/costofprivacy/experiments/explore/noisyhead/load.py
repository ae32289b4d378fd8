"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.explore.noisyhead.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    points = len(asked.N) * len(asked.penalty) * asked.epsilon_count
    return Load(1.0 + points * 5e-4, NUMBER * 20.0 * points, 40 * NUMBER * 10.0 * points)
