"""How much this chapter computes and holds."""

from __future__ import annotations

import math

from costofprivacy.experiments.method.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load, moments, prompts


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    each = sum(prompts(N, math.isqrt(N), asked.D) + len(asked.epsilon) * 0.02 for N in asked.N)
    closed = len(asked.N) * len(asked.epsilon) * 4.0 + len(asked.records) * len(asked.rho) * 4.0
    kept = 6 * NUMBER * asked.trials * len(asked.N) * 8 * len(asked.epsilon)
    return Load(asked.trials * each + closed, moments(max(asked.N), asked.D), kept)
