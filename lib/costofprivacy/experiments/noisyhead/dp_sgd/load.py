"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.costs import NUMBER, Load
from costofprivacy.experiments.noisyhead.dp_sgd.experiment import Experiment


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.costs`."""
    trials = asked.trials * sum(asked.N) * (asked.D / 5) ** 2 * 25e-6
    accounts = 0.4 * len(asked.N) * len(asked.epsilon)
    held = 4 * NUMBER * max(asked.N) * asked.D**2 + 20 * NUMBER * asked.D**4
    return Load(trials + accounts, held, NUMBER * asked.trials * len(asked.N) * len(asked.epsilon) * 40)
