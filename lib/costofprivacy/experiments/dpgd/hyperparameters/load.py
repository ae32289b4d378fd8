"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.hyperparameters.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    maps = asked.trials * asked.points**2 * sum(asked.d / gamma * 6e-7 for gamma in asked.gamma)
    tuned = len(asked.advice_gammas) * len(asked.rhos) + len(asked.clips) + 2 * len(asked.rate_gammas)
    tuned += len(asked.sketch_gammas) + len(asked.comparison_gammas)
    limit = asked.limit_trials * sum(100 * d * 2e-6 for d in asked.limit_d)
    worker = NUMBER * (40.0 * asked.points**2 + 2**19)
    return Load(
        maps + tuned * 0.8 + limit + 3.0, worker, 6 * NUMBER * asked.trials * asked.points**2 * len(asked.gamma) * 3
    )
