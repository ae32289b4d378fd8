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

from chapters.noisyhead.newsgroups.readings import LENGTHS, Reading

FOLDS, NEIGHBOURS = 5, 30
LINEAR, NEAREST = "linear", "nearest neighbours"
MODELS: dict[str, Callable[[], Any]] = {
    LINEAR: LinearRegression,
    NEAREST: lambda: KNeighborsRegressor(NEIGHBOURS, algorithm="brute"),
}


@dataclass(frozen=True)
class Question:
    """A reading's features, and the scales of a length that they are asked for: neighbours are sought once."""

    reading: Reading
    lengths: tuple[str, ...]

    @property
    def key(self) -> int:
        """The folds' random numbers."""
        return 2


def explained(question: Question, *, rng: np.random.Generator) -> np.ndarray:
    """R² on held-out articles by scale of the length, model and fold, shape (lengths, 2, 5)."""
    x, lengths = question.reading.tokens[0], question.reading.articles.lengths
    y = np.column_stack([LENGTHS[name](lengths) for name in question.lengths])
    folds = KFold(FOLDS, shuffle=True, random_state=int(rng.integers(2**31)))
    found = np.empty((len(question.lengths), len(MODELS), FOLDS))
    for k, (train, test) in enumerate(folds.split(x)):
        for m, make in enumerate(MODELS.values()):
            predicted = make().fit(x[train], y[train]).predict(x[test])
            found[:, m, k] = r2_score(y[test], predicted, multioutput="raw_values")
    return found


def rows(found: dict[Question, np.ndarray]) -> pd.DataFrame:
    """Table ``scores``: the share of a length's variance that its scores explain; errors over the folds."""
    table = []
    for question, values in found.items():
        for length, by_model in zip(question.lengths, values[0], strict=True):
            for model, shares in zip(MODELS, by_model, strict=True):
                row = {"features": question.reading.features, "length": length, "model": model}
                row |= {"explained": shares.mean(), "standard_error": shares.std(ddof=1) / math.sqrt(FOLDS)}
                table.append(row | {"folds": FOLDS})
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
