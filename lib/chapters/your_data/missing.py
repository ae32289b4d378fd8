r"""What missing cells cost: a public constant in their place, an indicator beside it, or no record at all.

Every cell is missing with the same probability s, independently of its value. The features lie within [0, 1] and are
skewed: each is the third power of a uniform variable, with mean ¼, so the middle of the bounds is not typical. A
Gaussian copula correlates them. A record with a missing cell can be

* kept, with the *middle* of the bounds in the place of the cell,
* kept, with a public *typical* value, here the mean of the law,
* kept, with the middle and an *indicator* of what is missing: d more features, and their noise,
* *void*: it contributes nothing. With d features that are 1 − (1 − s)^d of the records.

The loss is that of predictions for new people against the response's expectation given *all* their cells, as a share of
its variance: for people without missing cells, and for people whose cells are missing at the same rate.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr
from sklearn.linear_model import LinearRegression

from chapters.your_data.estimating import Maker, dp_gd, summarised
from costofprivacy.estimators.schema import Schema, number

SHARES = (0.0, 0.05, 0.1, 0.2, 0.4)
MIDDLE, TYPICAL, INDICATOR, VOID = "middle", "typical", "indicator", "void"
RULES = (MIDDLE, TYPICAL, INDICATOR, VOID)
PRIVATE, FREE = "private", "least squares"
POWER = 3  # of a uniform variable
MEAN = 1 / (POWER + 1)
CORRELATION = 0.3  # of the copula
REACH = 3.0  # standard deviations of the response that its bounds hold on each side of the middle
NEW, CALIBRATION = 4000, 200_000  # people who are predicted, and from whom the variance of the response follows


@dataclass(frozen=True)
class Problem:
    """A regression whose records have missing cells.

    Args:
        n: number of records. d: number of features. r2: the share of the response's variance that they explain where
            nothing is missing. epsilon, delta: of each fit.
    """

    n: int = 10_000
    d: int = 5
    r2: float = 0.8
    epsilon: float = 1.0
    delta: float = 1e-6

    @property
    def response_bounds(self) -> tuple[float, float]:
        """Public bounds of the response, whose explained part has variance 1."""
        middle, reach = float(_coefficients(self.d).sum() * MEAN), REACH / math.sqrt(self.r2)
        return middle - reach, middle + reach

    def expected(self, X: np.ndarray) -> np.ndarray:
        """The response's expectation given all cells, shape (n,)."""
        return np.asarray(X @ _coefficients(self.d))

    def respond(self, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Responses with noise, shape (n,)."""
        return self.expected(X) + math.sqrt(1 / self.r2 - 1) * rng.standard_normal(len(X))


def people(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Features within [0, 1], shape (n, d)."""
    common = math.sqrt(CORRELATION) * rng.standard_normal((n, 1))
    return np.asarray(ndtr(common + math.sqrt(1 - CORRELATION) * rng.standard_normal((n, d))) ** POWER)


@functools.cache
def _coefficients(d: int) -> np.ndarray:
    """θ of equal entries and changing signs, with which the explained part has variance 1."""
    signs = (-1.0) ** np.arange(d)
    return np.asarray(signs / (people(CALIBRATION, d, np.random.default_rng(0)) @ signs).std())


def schema(d: int, rule: str) -> Schema:
    """The public schema of a rule; "void" is that of "middle", and its records are dropped beside it.

    Args:
        d: number of features. rule: one of `RULES`.
    """
    typical = MEAN if rule == TYPICAL else None
    column = number(0, 1, typical=typical, indicator=rule == INDICATOR)
    return Schema({f"x{k + 1}": column for k in range(d)})


def table(
    seeds: Sequence[int], problem: Problem | None = None, shares: Sequence[float] = SHARES, make: Maker = dp_gd
) -> pd.DataFrame:
    """The loss of each rule at each share of missing cells, of private fits and of least squares.

    Args:
        seeds: one for each trial; at a seed all fits have the same people, the same order of cells that go missing, and
            the same seed of the noise. problem: `Problem` () where it is left out. shares: in [0, 1).
        make: from public arguments to an estimator, which takes NaN as void.

    Returns:
        columns fit, rule, share, records (the share of complete ones), lost_complete, lost_missing with their errors
        (``_error``), trials. A loss of 1 is that of always predicting the mean.
    """
    stated = problem or Problem()
    rows = [row for seed in seeds for share in shares for row in _trial(seed, share, stated, make)]
    return summarised(rows, ["fit", "rule", "share"], ["records", "lost_complete", "lost_missing"])


def _trial(seed: int, share: float, problem: Problem, make: Maker) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    X, new = people(problem.n, problem.d, rng), people(NEW, problem.d, rng)
    y = problem.respond(X, rng)
    gaps, new_gaps = (np.where(rng.random(part.shape) < share, np.nan, part) for part in (X, new))
    rows = []
    for rule in RULES:
        transformed = [_features(part, rule) for part in (gaps, new, new_gaps)]
        for fit in (PRIVATE, FREE):
            model = _fitted(fit, rule, transformed[0], y, problem, make, seed)
            lost = [_lost(model, part, problem.expected(new)) for part in transformed[1:]]
            told = {"records": float((~np.isnan(gaps).any(axis=1)).mean())}
            told |= dict(zip(("lost_complete", "lost_missing"), lost))
            rows.append({"fit": fit, "rule": rule, "share": share} | told)
    return rows


def _features(cells: np.ndarray, rule: str) -> np.ndarray:
    """Features by the public schema; NaN throughout in a void record."""
    found = schema(cells.shape[1], rule).transformer().transform(cells)
    return np.where(np.isnan(cells).any(axis=1)[:, None], np.nan, found) if rule == VOID else found


def _fitted(fit: str, rule: str, features: np.ndarray, y: np.ndarray, problem: Problem, make: Maker, seed: int) -> Any:
    if fit == FREE:
        complete = ~np.isnan(features).any(axis=1)
        return LinearRegression().fit(features[complete], y[complete])
    model = make(
        epsilon=problem.epsilon,
        delta=problem.delta,
        feature_bounds=schema(problem.d, rule).feature_bounds(),
        response_bounds=problem.response_bounds,
        expected_r2=problem.r2,
        spectrum=None,
        random_state=seed,
    )
    return model.fit(features, y)


def _lost(model: Any, features: np.ndarray, expected: np.ndarray) -> float:
    """The mean square error as a share of the variance; a void record is answered at the middle of the bounds."""
    answers = model.predict(np.where(np.isnan(features), 0.0, features))
    return float(((answers - expected) ** 2).mean() / expected.var())
