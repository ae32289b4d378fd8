"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.noisyhead.dp_sgd.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    trials = asked.trials * sum(asked.N) * (asked.D / 5) ** 2 * 25e-6
    accounts = 0.4 * len(asked.N) * len(asked.epsilon)
    held = 4 * NUMBER * max(asked.N) * asked.D**2 + 20 * NUMBER * asked.D**4
    return Load(trials + accounts, held, NUMBER * asked.trials * len(asked.N) * len(asked.epsilon) * 40)
