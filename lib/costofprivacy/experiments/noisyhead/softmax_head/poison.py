"""By how much a few poisoned prompts move a private head, on the same noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.experiments.noisyhead.softmax_head import choosing
from costofprivacy.experiments.noisyhead.softmax_head.choosing import Way
from costofprivacy.experiments.noisyhead.softmax_head.law import Law
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.privacy.advantage import largest_advantage

LOUD = 1e3  # responses of a poisoned prompt, in standard deviations of an honest one


@dataclass(frozen=True)
class PoisonCell:
    """The head of each kind that was chosen for one law and budget, and how many prompts are poisoned."""

    law: Law
    scale: float
    epsilon: float
    delta: float
    ways: tuple[Way, ...]
    poisoned: tuple[int, ...]
    test_prompts: int

    @property
    def key(self) -> int:
        """The size names the stream."""
        return self.law.N


def contradicting(D: int, L: int) -> tuple[np.ndarray, np.ndarray]:
    """A prompt whose query says the opposite of its tokens, loudly: features, shape (L + 1, D), and responses.

    Tokens lie at e_1 with response LOUD and at −e_1 with −LOUD in turn, the query at e_1 with −LOUD. Either head's
    gradient is clipped, and points where A₁₁ falls: away from what every honest prompt teaches.
    """
    x, y = np.zeros((L + 1, D)), np.empty(L + 1)
    sign = np.where(np.arange(L) % 2 == 0, 1.0, -1.0)
    x[:L, 0], y[:L] = sign, LOUD * sign
    x[L, 0], y[L] = 1.0, -LOUD
    return x, y


def poison(prompts: Prompts, count: int) -> Prompts:
    """The first ``count`` prompts replaced by contradicting ones."""
    x, y = prompts.x.copy(), prompts.y.copy()
    x[:count], y[:count] = contradicting(x.shape[2], x.shape[1] - 1)
    return Prompts(x, y, prompts.w)


def trial(cell: PoisonCell, *, rng: np.random.Generator) -> np.ndarray:
    """Shape (1 + counts, heads, 2): distance to the clean run's weights, and test error, on one draw."""
    law, eye = cell.law, np.eye(cell.law.D)
    prompts = law.draw(eye, law.N, rng=rng)
    test = law.draw(eye, cell.test_prompts, rng=rng)
    seed, budget = int(rng.integers(2**32)), ApproximateDP(cell.epsilon, cell.delta)
    ways = [(way, way.plan(law.N, budget)) for way in cell.ways]
    runs = [
        choosing.run(poison(prompts, count), cell.scale, ways, np.zeros((law.D, law.D)), seed).average
        for count in (0, *cell.poisoned)
    ]
    result = np.empty((len(runs), len(ways), 2))
    for place, A in enumerate(runs):
        result[place, :, 0] = np.linalg.norm(A - runs[0], axis=(1, 2))
        for k, way in enumerate(cell.ways):
            scale = np.array([cell.scale])
            result[place, k, 1] = choosing.errors(law, eye, way.head, A[k : k + 1], scale, test)[0]
    return result


def table(cell: PoisonCell, values: np.ndarray) -> pd.DataFrame:
    """Table ``poison``: how far the weights move and the test error rises, beside the bounds on both.

    ``push`` is how far the average would move, if every poisoned gradient were c long, the same way, and no step
    expanded or contracted. ``bound`` is on the rise of the mean of min(error, 1), for any poison and any head.
    """
    rows, mu = [], ApproximateDP(cell.epsilon, cell.delta).to_gaussian().mu
    for k, way in enumerate(cell.ways):
        for place, count in enumerate(cell.poisoned, start=1):
            moved, moved_error = _fits.mean_and_error(values[:, place, k, 0])
            rise, rise_error = _fits.mean_and_error(values[:, place, k, 1] - values[:, 0, k, 1])
            half = (way.steps - way.steps // 2 - 1) / 2  # steps that the mean of the second half lacks, on average
            push = 2 * way.clip_norm / cell.law.N * way.time * (1 - half / way.steps) * count
            row = {"head": way.head, "N": cell.law.N, "epsilon": cell.epsilon, "poisoned": count, "moved": moved}
            row |= {"moved_error": moved_error, "push": push, "rise": rise, "standard_error": rise_error}
            row |= {
                "clean": values[:, 0, k, 1].mean(),
                "bound": largest_advantage(GaussianDP(count * mu)),
                "trials": len(values),
            }
            rows.append(row)
    return pd.DataFrame(rows)
