"""What Algorithm 1's noise protects of a prompt, and of an article that several prompts hold; exactly accounted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.noisyhead.newsgroups.readings import OVER, Reading
from costofprivacy.noisyhead import pretraining
from costofprivacy.noisyhead.accounts import ALGORITHM, noise_std
from costofprivacy.privacy import ApproximateDP, GaussianDP


@dataclass(frozen=True)
class Occurrence:
    """A reading whose prompts are drawn and looked at, without anything run on them."""

    reading: Reading

    @property
    def key(self) -> int:
        """The random numbers of the runs: the very prompts."""
        return 0


def occurrences(cell: Occurrence, *, rng: np.random.Generator) -> np.ndarray:
    """Training prompts that a training article stands in, on average and at most; share of test articles in training.

    The last is the share of all places in test prompts whose article stands in a training prompt as well.
    """
    rows, N = cell.reading.draw(rng), cell.reading.sizes[0]
    train, test = rows[:N], rows[N:]
    times = np.bincount(train.ravel(), minlength=len(cell.reading.articles))
    return np.array([times[times > 0].mean(), times.max(), (times[test] > 0).mean()])


def occurrence_rows(found: dict[Occurrence, np.ndarray]) -> pd.DataFrame:
    """Table ``occurrences``."""
    table = []
    for cell, values in found.items():
        mean = values.mean(axis=0)
        sizes = dict(zip(("N", "test_prompts"), cell.reading.sizes, strict=True))
        row = {"prompts": cell.reading.prompts, "articles": len(cell.reading.articles)} | sizes
        shares = {"prompts_per_article": mean[0], "most_prompts": int(values[:, 1].max()), "test_seen": mean[2]}
        table.append(row | shares | {"trials": len(values)})
    return pd.DataFrame(table)


def spent(reading: Reading, budget: ApproximateDP, steps: tuple[int, ...], most: int) -> pd.DataFrame:
    """Table ``guarantee``: the ε at the claimed δ for one prompt, and for an article of 1 to ``most`` prompts.

    Replacing k prompts moves each step by at most k times what one does, so that every μ is k times as large.
    """
    table, N = [], reading.sizes[0]
    for T in steps:
        hyper = reading.told(OVER, T)
        profile = pretraining.profile(hyper, budget, N, noise_std(ALGORITHM, hyper, budget, N, T))
        for k in range(1, most + 1):
            every, last = (GaussianDP(k * one.mu) for one in (profile.every_iterate, profile.last_iterate))
            table.append(
                {
                    "T": T,
                    "prompts_held": k,
                    "claimed": budget.epsilon,
                    "every_iterate": every.epsilon(budget.delta),
                    "last_iterate": last.epsilon(budget.delta),
                }
            )
    return pd.DataFrame(table)
