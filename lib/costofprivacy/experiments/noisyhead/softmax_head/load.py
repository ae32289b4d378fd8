"""How much this chapter computes and holds."""

from __future__ import annotations

from math import isqrt

from costofprivacy.experiments.noisyhead.softmax_head.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load

SCORE = 4e-9  # seconds for the attention of one token, twice over, in one dimension


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    tokens = sum(N * isqrt(N) for N in asked.N) * asked.D
    budgets = len(asked.epsilon)
    plans = 2 * len(asked.reaches) * len(asked.clips) + 2 * len(asked.bounded_times)
    grid = asked.public_trials * budgets * plans * sum(asked.steps)
    runs = asked.trials * len(asked.condition) * (6 * budgets * max(asked.steps) + 60)
    theory = asked.tokens * (2 * len(asked.lengths) + len(asked.kappas) + 50) * asked.D
    public = 300 * asked.public_prompts * asked.D**2 * sum(map(isqrt, asked.N)) * len(asked.condition)
    largest = max(
        max(asked.N) * isqrt(max(asked.N)), asked.tokens, asked.public_prompts * asked.D * isqrt(max(asked.N))
    )
    work = SCORE * ((grid + runs) * tokens + theory + public) + asked.releases * 2e-4
    return Load(work, 8 * NUMBER * largest * asked.D, NUMBER * asked.trials * 100 * len(asked.N))
