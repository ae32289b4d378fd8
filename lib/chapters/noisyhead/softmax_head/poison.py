"""By how much a few poisoned prompts move a private head, on the same noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.noisyhead.softmax_head import choosing
from chapters.noisyhead.softmax_head.choosing import Way
from chapters.noisyhead.softmax_head.law import Law
from companion import _fits
from costofprivacy.noisyhead import per_prompt
from costofprivacy.noisyhead.per_prompt import Gradient, Plan
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
    seed, counts = int(rng.integers(2**32)), (0, *cell.poisoned)
    result = np.empty((len(counts), len(cell.ways), 2))
    for k, way in enumerate(cell.ways):
        plans = [way.plan(law.N, ApproximateDP(cell.epsilon, cell.delta))] * len(counts)
        gradient = poisoned_gradient(way.head, prompts, cell.scale, plans, counts)
        start = np.zeros((len(counts), law.D, law.D))
        A = per_prompt.descend(gradient, start, plans, rng=np.random.default_rng(seed)).average
        result[:, k, 0] = np.linalg.norm(A - A[0], axis=(1, 2))
        result[:, k, 1] = choosing.errors(law, eye, way.head, A, np.full(len(counts), cell.scale), test)
    return result


def poisoned_gradient(
    head: str, prompts: Prompts, scale: float, plans: Sequence[Plan], counts: Sequence[int]
) -> Gradient:
    """The mean gradients of heads of one kind, each on its own number of poisoned prompts, as of `poison`.

    The heads are moved side by side: the prompts after the last poisoned one are common to all, the poisoned ones are
    alike, so one stands for all, and only the clean ones between are each head's own.
    """
    N, most = len(prompts.y), max(counts)
    x, y = contradicting(prompts.x.shape[2], prompts.x.shape[1] - 1)
    common = choosing.gradient_of(head, _part(prompts, most, N), scale, plans)
    bad = choosing.gradient_of(head, Prompts(x[None], y[None], prompts.w[:1]), scale, plans)
    clean = [
        choosing.gradient_of(head, _part(prompts, count, most), scale, [plan]) if count < most else None
        for count, plan in zip(counts, plans, strict=True)
    ]

    def mean(A: np.ndarray) -> np.ndarray:
        total = (N - most) * common(A) + np.array(counts)[:, None, None] * bad(A)
        for k, (count, own) in enumerate(zip(counts, clean)):
            if own is not None:
                total[k] += (most - count) * own(A[k : k + 1])[0]
        return total / N

    return Gradient(mean, common.clip_norms, N)


def _part(prompts: Prompts, start: int, stop: int) -> Prompts:
    return Prompts(prompts.x[start:stop], prompts.y[start:stop], prompts.w[start:stop])


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
