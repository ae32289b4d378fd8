"""What the largest TF-IDF scores of an article say of its length, without any prompt or head."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor

from costofprivacy.experiments.noisyhead.newsgroups.readings import LENGTHS, Reading

FOLDS, NEIGHBOURS = 5, 30
LINEAR, NEAREST = "linear", "nearest neighbours"
MODELS: dict[str, Callable[[], Any]] = {
    LINEAR: LinearRegression,
    NEAREST: lambda: KNeighborsRegressor(NEIGHBOURS, algorithm="brute"),
}


@dataclass(frozen=True)
class Question:
    """A reading's features and lengths."""

    reading: Reading

    @property
    def key(self) -> int:
        """The folds' random numbers."""
        return 2


def explained(question: Question, *, rng: np.random.Generator) -> np.ndarray:
    """R² on held-out articles by model and fold, shape (2, 5)."""
    x, y = question.reading.tokens
    folds = KFold(FOLDS, shuffle=True, random_state=int(rng.integers(2**31)))
    found = np.empty((len(MODELS), FOLDS))
    for k, (train, test) in enumerate(folds.split(x)):
        for m, make in enumerate(MODELS.values()):
            found[m, k] = r2_score(y[test], make().fit(x[train], y[train]).predict(x[test]))
    return found


def rows(found: dict[Question, np.ndarray]) -> pd.DataFrame:
    """Table ``scores``: the share of a length's variance that its scores explain; errors over the folds."""
    table = []
    for question, values in found.items():
        reading = question.reading
        for model, shares in zip(MODELS, values[0], strict=True):
            row = {"features": reading.features, "length": reading.length, "model": model, "explained": shares.mean()}
            table.append(row | {"standard_error": shares.std(ddof=1) / math.sqrt(FOLDS), "folds": FOLDS})
    return pd.DataFrame(table)


def description(reading: Reading) -> pd.DataFrame:
    """Table ``data``: the articles that the figure is made of."""
    articles, C = reading.articles, reading.told(next(iter(reading.hyper)), 1).clip_norm
    norms, lengths = np.linalg.norm(articles.scores, axis=1), articles.lengths
    row = {
        "name": articles.name,
        "instead_of": articles.instead_of,
        "available": articles.available,
        "used": len(articles),
        "D": articles.scores.shape[1],
        "L": reading.L,
        "wanted": reading.N + reading.test_prompts,
        "short_share": (articles.scores[:, -1] == 0).mean(),
        "mean_length": lengths.mean(),
        "median_length": np.median(lengths),
        "length_spread": lengths.std(),
        "longest": lengths.max(),
        "mean_norm": norms.mean(),
        "alignment": np.linalg.norm((articles.scores / norms[:, None]).mean(axis=0)),
        "clip_norm": C,
        "clipped_share": (np.abs(LENGTHS[reading.length](lengths)) > C).mean(),
    }
    return pd.DataFrame([row])
