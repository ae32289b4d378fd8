"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.noisyhead.high_dimensional.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    step = len(asked.epsilon) * 6
    each = sum(N**2 * (40e-9 + step * asked.T * 2e-9) for N in asked.N)
    sides = asked.bound_trials * sum(N**3 * 2e-9 + N**2 * 100e-9 for N in asked.bound_N)
    work = asked.trials * each + sides + asked.lemma_trials * 0.05 + 15.0
    largest = max(12 * max(asked.N) ** 1.5 + 3 * step * max(asked.N), 8 * max(asked.bound_N) ** 2)
    return Load(work, NUMBER * largest, 6 * NUMBER * asked.trials * len(asked.N) * 2 * (step + 4))
