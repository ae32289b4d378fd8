"""Whether 90 % intervals contain the coefficients, and how wide they are beside those of one who knows the law."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import binom, norm

from chapters.privacy.best_method import data
from chapters.privacy.best_method.campaign import least_squares
from companion.streams import Runner
from costofprivacy import datasets
from costofprivacy.estimators.objective import ObjectivePerturbationRegressor
from costofprivacy.rivals import huber, piloted_perturbation

LEVEL, WANTED = 0.9, 0.88  # of the intervals, and the coverage that is to be kept
TINY = 1e-6  # a penalty for each record that changes nothing
SHARE = 0.2  # of the noise's budget, for what intervals need
CASES = (
    *((data.ISOTROPIC, 1000, 3, 3.0), (data.ISOTROPIC, 10_000, 3, 1.0), (data.ISOTROPIC, 10_000, 10, 1.0)),
    *((data.ISOTROPIC, 10_000, 10, 10.0), (data.CORRELATED, 10_000, 10, 3.0), (data.HEAVY, 10_000, 10, 3.0)),
    *((data.ISOTROPIC, 442, 10, 1.0), (datasets.DIABETES, 442, 10, 10.0), (datasets.HOUSING, 20_640, 8, 3.0)),
    (datasets.HOUSING, 20_640, 8, 3.0, True),
)


@dataclass(frozen=True)
class Cell:
    """Data, their size, and ε. Real data are drawn anew with replacement from all records.

    ``own`` says what is to be covered: the minimiser of the method's own clipped loss over all records of a real set,
    or their least squares. For made data both are the truth.
    """

    data: str
    n: int
    d: int
    epsilon: float
    own: bool = False
    delta: float = 1e-6

    @property
    def key(self) -> int:
        return (
            self.n * 1000 + self.d + 10**10 * (1 + sum(map(ord, self.data)) % 997) + round(10 * self.epsilon) * 10**14
        )


def cells() -> list[Cell]:
    """The settings at which intervals are judged."""
    return [Cell(*case) for case in CASES]


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Whether each coefficient is covered, the width, and the error of the centre: shape (3, d), NaN without it."""
    records, truth = _drawn(cell, rng)
    model = ObjectivePerturbationRegressor(
        epsilon=cell.epsilon, delta=cell.delta, interval_share=SHARE, **records.public
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model._fit(records.X, records.y, rng)
        told = model.intervals(LEVEL).iloc[:-1]
    target = own_limit(cell) if cell.own else truth
    low, high = told["low"].to_numpy(), told["high"].to_numpy()
    inside = np.where(np.isnan(low), np.nan, (low <= target) & (target <= high))
    return np.stack([inside, high - low, (low + high) / 2 - target])


def _drawn(cell: Cell, rng: np.random.Generator) -> tuple[data.Records, np.ndarray]:
    """Records, and the truth behind them, or least squares on all records of a real set."""
    if cell.data in data.MADE:
        records = data.draw(cell.data, cell.n, cell.d, rng=rng)
        assert records.truth is not None
        return records, records.truth[0]
    whole = _whole(cell)
    rows = rng.integers(len(whole.y), size=cell.n)
    return data.Records(whole.X[rows], whole.y[rows], whole.public), least_squares(whole.X, whole.y)[:-1]


def _whole(cell: Cell) -> data.Records:
    return data.draw(cell.data, cell.n, cell.d, rng=np.random.default_rng(0))


@functools.lru_cache(maxsize=4)
def own_limit(cell: Cell) -> np.ndarray:
    """The minimiser of the method's own loss over all records, without noise and penalty, shape (d,)."""
    whole = _whole(cell)
    model = ObjectivePerturbationRegressor(epsilon=cell.epsilon, delta=cell.delta, interval_share=SHARE, **whole.public)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model._fit(whole.X, whole.y, np.random.default_rng(0))
    added, features, response = model.plan_.added, model._feature_scale(), model._response_scale()
    x = np.column_stack([features.apply(whole.X), np.ones(len(whole.y))])
    x, y = piloted_perturbation.weighted(x, response.apply(whole.y), added.feature_bound)
    theta = huber.minimiser(x, y, added.clip_norm, TINY * len(y))
    return response.scale * theta[:-1] / features.scale


def measure(asked: Sequence[Cell], trials: int, seed: int, runner: Runner) -> pd.DataFrame:
    """The table ``intervals``: a row for each cell, from so many data sets of each."""
    found = runner.run(trial, asked, trials, seed)
    return pd.DataFrame([row for cell in asked for row in _rows(cell, found[cell])])


def _rows(cell: Cell, values: np.ndarray) -> Iterator[dict[str, object]]:
    """One row; ``oracle`` is the width of an interval whose owner knows the law of the centre.

    ``valid`` is the share of the coefficients, over all data sets, that have an interval; the rest is about these.
    ``p`` is the least probability, over the coefficients, of at most as many covered data sets if the coverage were
    `WANTED`, times the number of coefficients.
    """
    told = ~np.isnan(values[:, 0])
    sizes = told.sum(axis=0)
    row: dict[str, object] = {"data": cell.data, "n": cell.n, "d": cell.d, "epsilon": cell.epsilon, "delta": cell.delta}
    row |= {"target": "its own limit" if cell.own else "truth" if cell.data in data.MADE else "least squares"}
    row |= {"trials": len(values), "valid": float(told.mean())}
    if sizes.min() < 2:
        yield row | dict.fromkeys(("coverage", "coverage_error", "least", "p", "width", "oracle"), math.nan)
        return
    inside, width, error = np.moveaxis(values, 1, 0)
    counts = np.nansum(inside, axis=0)
    mean = np.nanmean(inside[told.any(axis=1)], axis=1)
    oracle = 2 * float(norm.ppf(0.5 + LEVEL / 2)) * np.nanstd(np.where(told, error, np.nan), axis=0)
    yield row | {
        "coverage": float(mean.mean()),
        "coverage_error": float(mean.std(ddof=1) / math.sqrt(len(mean))),
        "least": float((counts / sizes).min()),
        "p": float(min(1.0, len(counts) * binom.cdf(counts, sizes, WANTED).min())),
        "width": float(np.median(np.nanmedian(width, axis=0) / oracle)),
        "oracle": float(np.median(oracle)),
    }
