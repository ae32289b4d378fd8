"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.privacy.rivals.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    drawn = asked.trials * asked.d * sum(asked.records) * len(asked.epsilon) * 1.5e-4
    pixels = 784 / 20
    real = asked.real_trials * len(asked.epsilon) * (sum(asked.housing_n) + pixels * sum(asked.mnist_n)) * 2e-5
    sizes = asked.size_trials * sum(d**2 for d in asked.dimensions) * 3e-5
    rows = max(asked.d * max(asked.records) * asked.d, max(asked.mnist_n) * 784, 30 * max(asked.dimensions) ** 2)
    kept = NUMBER * 55 * len(asked.epsilon) * (asked.trials * len(asked.records) + 5 * asked.real_trials)
    return Load(drawn + real + sizes + 5.0, 4.0 * NUMBER * rows, kept)
