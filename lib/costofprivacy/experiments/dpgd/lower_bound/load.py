"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.lower_bound.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load, records


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    d, ns = asked.d, [ratio * asked.d for ratio in asked.ratios]
    attacks = asked.trials * sum(n * d * 60e-9 * (1 + 5 * len(asked.rho)) for n in ns)
    bounds = (len(asked.gammas) + len(asked.rhos) + len(asked.noises)) * 1.0
    rivals = asked.rival_trials * asked.rival_n * d * 60e-9
    worker = records(d) + 6 * NUMBER * max(*ns, asked.rival_n) * d + 10 * NUMBER * d**2
    return Load(
        attacks + bounds + rivals + 10.0, worker, 6 * NUMBER * 20.0 * asked.trials * len(ns) * (1 + len(asked.rho))
    )
