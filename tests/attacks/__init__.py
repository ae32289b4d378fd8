"""Random attacks on every guarantee: `python -m tests.attacks` runs any number, `test_short` a few in the suite."""

from __future__ import annotations

import traceback
import warnings
from dataclasses import dataclass

import numpy as np

from tests.attacks import neighbours
from tests.attacks.claims import PROMPTS, READINGS, REGRESSION

CLAIMS = REGRESSION | PROMPTS | READINGS
ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class Outcome:
    """What the attacks on one claim came to.

    Args:
        share: the largest distance over its bound, ∞ for NaN. seed: that reached it. error: the first error, if any.
    """

    share: float
    seed: int
    error: str = ""

    @property
    def kept(self) -> bool:
        """Whether the claim was kept by every pair."""
        return self.share <= ROUNDING and not self.error


def attacked(name: str, seeds: int, first: int = 0) -> Outcome:
    """Attack one claim with `neighbours.PAIRS` pairs for each of the seeds first, first + 1, …."""
    worst, where, error = 0.0, first, ""
    for seed in range(first, first + seeds):
        rng = np.random.default_rng([seed, sum(map(ord, name))])
        kinds = (READINGS, neighbours.of_cells), (PROMPTS, neighbours.prompts), (REGRESSION, neighbours.regression)
        drawn = next(draw for claims, draw in kinds if name in claims)(rng=rng)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                found = CLAIMS[name](drawn, rng)
            except Exception:  # a record made it fail: that is what an attack looks for
                found, error = float("inf"), error or traceback.format_exc()
        if not found <= worst:
            worst, where = found if found == found else float("inf"), seed
    return Outcome(worst, where, error)
