"""Normalisation by private data: one record moves the scale, and the scale moves what is released."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from costofprivacy.estimators.scaling import Scale, public_scale
from costofprivacy.experiments.privacy.what_this_does_not_protect.pair import NOISE, fit
from costofprivacy.experiments.privacy.what_this_does_not_protect.seeds import row
from costofprivacy.privacy import GaussianDP
from costofprivacy.privacy.advantage import of_scores
from costofprivacy.streams import Runner

STANDARD, RANGE, PUBLIC = "mean and variance of the data", "least and largest of the data", "public bounds"
BOUND = 3.0  # public: features are clipped to ±3
SIZES = (1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)  # of the one record's feature, in standard deviations


@dataclass(frozen=True)
class Cell:
    """A way to scale and a size of the one record that may be there, with all that a fit needs."""

    way: str
    size: float
    n: int
    d: int
    rho: float

    @property
    def key(self) -> int:
        """All ways and sizes see the same records and the same noise."""
        return 1


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Scores of a release with the record and of one without, each with noise of its own: −log |coef_| of feature 1."""
    X = rng.standard_normal((cell.n, cell.d))
    y = X.sum(axis=1) / np.sqrt(cell.d) + NOISE * rng.standard_normal(cell.n)
    with_it = X.copy()
    with_it[-1, 0] = cell.size
    return np.array([_score(cell, data, y, rng) for data in (with_it, X)])


def _score(cell: Cell, X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> float:
    scale = SCALES[cell.way](X)
    coefficients = fit(scale.apply(X), y, cell.rho, rng) / scale.scale
    return -float(np.log(np.abs(coefficients[0])))


def _standard(X: np.ndarray) -> Scale:
    return public_scale("feature", None, X.mean(axis=0), X.std(axis=0), X.shape[1])


def _range(X: np.ndarray) -> Scale:
    return public_scale("feature", (X.min(axis=0), X.max(axis=0)), 0.0, 1.0, X.shape[1])


def _public(X: np.ndarray) -> Scale:
    return public_scale("feature", (-BOUND, BOUND), 0.0, 1.0, X.shape[1])


SCALES: dict[str, Callable[[np.ndarray], Scale]] = {STANDARD: _standard, RANGE: _range, PUBLIC: _public}


def table(runner: Runner, n: int, d: int, rho: float, trials: int, seed: int) -> pd.DataFrame:
    """The advantage of an attack on each way to scale, by the size of the record that may be there."""
    cells = [Cell(way, size, n, d, rho) for way in SCALES for size in SIZES]
    rows = []
    for cell, scores in runner.run(trial, cells, trials, seed).items():
        told = of_scores(scores[:, 0], scores[:, 1])
        rows.append({"way": cell.way, "size": cell.size, "n": n} | row(cell.way, told, GaussianDP(rho)))
    return pd.DataFrame(rows)
