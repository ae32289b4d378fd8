"""Normalisation by private data: one record moves the scale, and the scale moves what is released."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.privacy.what_this_does_not_protect.pair import NOISE, noise_std, noiseless
from chapters.privacy.what_this_does_not_protect.seeds import row
from companion.streams import Runner
from costofprivacy.estimators.scaling import Scale, public_scale
from costofprivacy.privacy import GaussianDP
from costofprivacy.privacy.advantage import of_scores

STANDARD, RANGE, PUBLIC = "mean and variance of the data", "least and largest of the data", "public bounds"
BOUND = 3.0  # public: features are clipped to ±3
SIZES = (1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)  # of the one record's feature, in standard deviations


@dataclass(frozen=True)
class Cell:
    """All ways to scale and all sizes of the one record that may be there, with all that a fit needs."""

    n: int
    d: int
    rho: float

    @property
    def key(self) -> int:
        """All ways and sizes see the same records and the same noise."""
        return 1


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Scores of a release with the record and of one without, each with noise of its own: −log |coef_| of feature 1.

    Returns:
        shape (ways, sizes, 2).
    """
    X = rng.standard_normal((cell.n, cell.d))
    y = X.sum(axis=1) / np.sqrt(cell.d) + NOISE * rng.standard_normal(cell.n)
    noise = noise_std(cell.n, cell.d, cell.rho) * rng.standard_normal((2, cell.d))
    scores = np.empty((len(SCALES), len(SIZES), 2))
    with_it = X.copy()
    for k, scaled in enumerate(SCALES.values()):
        scores[k, :, 1] = _score(scaled(X), X, y, noise[1])
        for j, size in enumerate(SIZES):
            with_it[-1, 0] = size
            scores[k, j, 0] = _score(scaled(with_it), with_it, y, noise[0])
    return scores


def _score(scale: Scale, X: np.ndarray, y: np.ndarray, noise: np.ndarray) -> float:
    coefficients = (noiseless(scale.apply(X), y) + noise) / scale.scale
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
    cell = Cell(n, d, rho)
    scores, rows = runner.run(trial, [cell], trials, seed)[cell], []
    for (k, way), (j, size) in itertools.product(enumerate(SCALES), enumerate(SIZES)):
        told = of_scores(scores[:, k, j, 0], scores[:, k, j, 1])
        rows.append({"way": way, "size": size, "n": n} | row(way, told, GaussianDP(rho)))
    return pd.DataFrame(rows)
