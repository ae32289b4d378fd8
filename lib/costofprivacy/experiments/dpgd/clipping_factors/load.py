"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.clipping_factors.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    numbers = asked.trials * asked.records * (2 * sum(asked.d) + 60)
    bounds = len(asked.clips) * len(asked.label_noises)
    work = numbers * 80e-9 + asked.points * 1e-5 + bounds * 0.01 + 1.0
    kept = 6 * NUMBER * asked.trials * 3 * (2 * len(asked.d) + 12) + NUMBER * 20 * asked.points
    return Load(work, 6 * NUMBER * asked.records * max(asked.d), kept)
