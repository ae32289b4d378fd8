"""How much this chapter computes and holds."""

from __future__ import annotations

import math

from costofprivacy.experiments.noisyhead.a_head_that_works.experiment import PUBLIC_TRIALS, RATE_L, Experiment
from costofprivacy.running.costs import NUMBER, Load

TOKEN = 1.7e-7  # seconds for a token: to draw it and to make its examples
STEP = 1.4e-7  # and for the steps of one release; both at D = 5


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    wide = (asked.D / 5) ** 2
    budgets = len(asked.epsilon)

    def tokens(sizes: tuple[int, ...]) -> float:
        return float(sum(n * (math.isqrt(n) + 1) for n in sizes))

    one = TOKEN + budgets * STEP
    work = asked.trials * len(asked.condition) * tokens(asked.N) * one * wide
    work += (
        asked.few * len(asked.area_condition) * tokens(asked.area_N) * (TOKEN + len(asked.area_epsilon) * STEP) * wide
    )
    work += asked.few * 2 * sum(asked.rate_N) * (RATE_L + 1) * one * wide
    last = asked.N[-1]
    work += asked.few * last * (TOKEN + STEP) * sum((d / 5) ** 2 * math.isqrt(last) for d in asked.sizes)
    work += asked.few * last * (TOKEN + STEP) * wide * sum(asked.tokens)
    rungs = len(asked.condition) * len(asked.ladder_epsilon)
    work += rungs * (asked.few * 9e-5 * last + min(asked.few, PUBLIC_TRIALS) * (1.3 + 5e-4 * last)) * wide
    work += asked.few * len(asked.condition) * tokens((last,)) * (2 * TOKEN + 4 * budgets * STEP) * wide
    work += asked.few * 6 * len(asked.poison) * 10 * asked.N[0] * math.isqrt(asked.N[0]) * (TOKEN + STEP) * wide
    work += 3.3e-4 * asked.audits + 6e-4 * asked.test_prompts + 1.0
    largest = max(n * max(math.isqrt(n), *asked.tokens) for n in (asked.N[-1], asked.area_N[-1]))
    held = NUMBER * (6 * asked.D * largest + 3 * max(asked.D, *asked.sizes) ** 2 * asked.N[-1])
    return Load(work, held, NUMBER * 40.0 * asked.trials * len(asked.N) * len(asked.condition))
