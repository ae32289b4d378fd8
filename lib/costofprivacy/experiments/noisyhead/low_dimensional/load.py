"""How much this chapter computes and holds."""

from __future__ import annotations

import math

from costofprivacy.experiments.noisyhead.low_dimensional.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load, moments, prompts


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    each = [prompts(N, math.isqrt(N), asked.D) for N in asked.N]
    tested = prompts(asked.test_prompts, math.isqrt(max(asked.N)), asked.D)
    work = asked.trials * (sum(each) + 0.3 * tested + len(asked.epsilon) * asked.D**4 * 1e-7) + 5.0
    columns = 4 * (len(asked.epsilon) + 3)
    return Load(work, moments(max(asked.N), asked.D), 6 * NUMBER * asked.trials * len(asked.N) * columns)
