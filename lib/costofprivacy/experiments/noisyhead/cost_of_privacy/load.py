"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.noisyhead.cost_of_privacy.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load, moments, prompts


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    cells = [place for axis in ("N", "L", "D") for place in asked.along(axis)]
    sides = sum(prompts(**place) + max(asked.T) * place["D"] ** 4 * 1e-8 for place in cells)
    events = asked.event_trials * asked.base["N"] * sum(asked.L) * asked.base["D"] * 25e-9
    middle = sum(prompts(asked.base["N"], asked.base["L"], D) for D in asked.D)
    worker = max(moments(place["N"], place["D"]) for place in cells)
    return Load(asked.trials * (sides + middle) + events + 4.0, worker, 6 * NUMBER * asked.trials * len(cells) * 40)
