"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.foundations.in_context_regression.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load, moments, prompts


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    N = asked.N + asked.test_prompts
    each = sum(prompts(N, L, D) + len(asked.penalty) * D**6 * 2e-10 for D in asked.D for L in asked.L)
    kept = 6 * NUMBER * asked.trials * len(asked.D) * len(asked.L) * len(asked.penalty)
    return Load(asked.trials * each + 6.0 + asked.trials * 0.1, moments(N, max(asked.D)), kept)
