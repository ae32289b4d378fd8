"""A number of random attacks on each claim, and the largest share of its bound that one of them reached."""

from __future__ import annotations

import traceback
import warnings
from dataclasses import dataclass

import numpy as np

from tests.attacks import cells, neighbours
from tests.attacks.claims import PROMPTS, REGRESSION
from tests.attacks.readings import READINGS

CLAIMS = REGRESSION | PROMPTS | READINGS
ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class Outcome:
    """What the attacks on one claim came to.

    Args:
        share: the largest distance over its bound. seed: of the pair that reached it. error: the first error, if any.
    """

    share: float
    seed: int
    error: str = ""

    @property
    def kept(self) -> bool:
        """Whether the claim was kept by every pair."""
        return self.share <= ROUNDING and not self.error


def attacked(name: str, pairs: int, first: int = 0) -> Outcome:
    """Attack one claim with pairs of neighbours from the seeds first, first + 1, …."""
    worst, where, error = 0.0, first, ""
    for seed in range(first, first + pairs):
        rng = np.random.default_rng([seed, sum(map(ord, name))])
        draw = (
            cells.neighbours if name in READINGS else neighbours.prompts if name in PROMPTS else neighbours.regression
        )
        drawn = draw(rng=rng)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                found = CLAIMS[name](*drawn, rng)
            except Exception:  # a record made it fail: that is what an attack looks for
                found, error = float("inf"), error or traceback.format_exc()
        if not found <= worst:
            worst, where = found, seed
    return Outcome(worst, where, error)
