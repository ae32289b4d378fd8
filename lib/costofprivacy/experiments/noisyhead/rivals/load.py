"""How much this chapter computes and holds."""

from __future__ import annotations

import math

from costofprivacy.experiments.noisyhead.rivals.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load, moments, prompts


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    trials = asked.trials * sum(prompts(N, math.isqrt(N), asked.D) for N in asked.N)
    audits = 4 * len(asked.epsilon) * asked.releases * asked.D**2 * 20e-9
    tried = len(asked.N) * asked.pairs * (math.isqrt(max(asked.N)) * asked.D * 60e-9 + asked.D**4 * 5e-8)
    columns = 4 * len(asked.epsilon) * (len(asked.shares) + 4)
    worker = (
        moments(max(asked.N), asked.D) + NUMBER * min(asked.releases, 10**6) * asked.D**2 + 2 * NUMBER * asked.releases
    )
    kept = (
        6 * NUMBER * asked.trials * len(asked.N) * columns + NUMBER * asked.pairs * math.isqrt(max(asked.N)) * asked.D
    )
    return Load(1.5 * trials + audits + tried + 3.0, worker, kept)
