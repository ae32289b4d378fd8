"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.schedules.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load, records


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    simulated = [n for n in asked.n if n <= asked.simulated]
    runs = asked.trials * sum(2 * n * (asked.d * 25e-9 + 10e-7) for n in simulated)
    tuned = 2 * len(asked.n) * 1.0 + 3 * len(asked.gammas) * 1.0
    best = len(asked.best_n) * len(asked.best_rho) * 0.5 + 3 * len(asked.search_n)
    small = len(asked.small_gammas) * len(asked.small_noises) * 0.2
    return Load(
        runs + tuned + best + small + 10.0, records(asked.d) + NUMBER * 60.0 * 1024, 6 * NUMBER * asked.trials * 100
    )
