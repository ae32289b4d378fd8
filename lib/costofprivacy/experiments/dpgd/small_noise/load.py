"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.small_noise.experiment import Experiment
from costofprivacy.rivals.shrinking_clip import ROUNDS
from costofprivacy.running.costs import NUMBER, Load


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    gammas = [*asked.gammas, *asked.gammas, *(asked.fixed_gamma for _ in asked.label_noises)]
    rounds = [max(1.0, ROUNDS * (asked.rho / gamma) ** 2) for gamma in gammas]
    numbers = [asked.d**2 / gamma for gamma in gammas]
    work = asked.trials * sum(n * (k * 1.2e-9 + 15e-9) + k * 1e-4 for n, k in zip(numbers, rounds))
    return Load(work + 0.1 * len(gammas) + 1.0, 4 * NUMBER * max(numbers), 6 * NUMBER * asked.trials * len(gammas))
