"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.noisyhead.early_stopping.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    steps, runs = max(asked.T), len(asked.T)
    each = asked.N**3 * 5e-10 + asked.N**2 * 40e-9 + steps * runs * asked.N * 2.5e-8
    runs_at_once = 3 * runs * asked.N
    worker = NUMBER * (6 * asked.N**2 + 12 * asked.N**1.5 + 6 * runs_at_once)
    return Load(asked.trials * each + 3.0, worker, 6 * NUMBER * asked.trials * 8 * runs)
