"""How much this chapter computes and holds."""

from __future__ import annotations

import math

from costofprivacy.experiments.noisyhead.mechanism.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load, moments, prompts


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    trials = asked.trials * sum(prompts(N, math.isqrt(N), asked.D) for N in asked.N)
    tried = len(asked.N) * asked.pairs * math.isqrt(max(asked.N)) * asked.D * 60e-9
    worker = moments(max(asked.N), asked.D)
    kept = NUMBER * asked.pairs * (math.isqrt(max(asked.N)) + 8) * (2 * asked.D + 3) * 2
    return Load(trials + tried + len(asked.T) * 0.2, worker, kept)
