r"""Known bounds, loose bounds, or private ones: what a fit loses at the same total budget.

The problem is that of `loose`. Where nothing is known, each of the d features and the response is given private bounds
first, on the default grid from 10⁻³ to 10⁶; they share a part of μ² equally. The fit has the rest, and must be Gaussian
DP. Private bounds clip the tails, so they are widened by a public factor, and the loss is measured on new people.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from chapters.your_data.estimating import Maker, dp_gd, summarised
from chapters.your_data.loose import REACH, Problem
from costofprivacy.estimators.private_bounds import private_bounds
from costofprivacy.estimators.spending import split
from costofprivacy.privacy import ApproximateDP, GaussianDP

SIZES = (3000, 10_000, 30_000)
STRETCH = 1.2  # public: private bounds are widened by it about their middle
SHARE = 0.2  # of μ², for all private bounds together
LOOSE = 4.0  # the factor by which loose bounds are too wide
KNOWN, WIDE, FOUND = "known", "loose", "private"
WAYS = (KNOWN, WIDE, FOUND)
NEW = 4000  # people who are predicted
Bounds = tuple[Any, Any]


def table(
    seeds: Sequence[int], problem: Problem | None = None, sizes: Sequence[int] = SIZES, make: Maker = dp_gd
) -> pd.DataFrame:
    """The loss with known, loose and private bounds against the number of records.

    Args:
        seeds: one for each trial; at a seed and a size all fits have the same records. problem: but for its size;
            `Problem` () where it is left out. sizes: numbers of records. make: from public arguments to an estimator.

    Returns:
        columns bounds, n, lost, lost_error, trials; ``lost`` is 1 for always predicting the mean.
    """
    stated = problem or Problem()
    rows = [row for seed in seeds for n in sizes for row in _trial(seed, _of_size(stated, n), make)]
    return summarised(rows, ["bounds", "n"], ["lost"])


def _of_size(problem: Problem, n: int) -> Problem:
    return Problem(n, problem.d, problem.r2, problem.epsilon, problem.delta)


def _trial(seed: int, problem: Problem, make: Maker) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    X, y = problem.draw(rng)
    new = rng.uniform(-1, 1, (NEW, problem.d))
    expected = new @ problem.coefficients
    rows = []
    for way in WAYS:
        features, response, left = _bounds(way, X, y, problem, seed)
        model = make(
            epsilon=left.epsilon(problem.delta),
            delta=problem.delta,
            feature_bounds=features,
            response_bounds=response,
            expected_r2=problem.r2,
            spectrum=None,
            random_state=seed,
        ).fit(X, y)
        lost = float(((model.predict(new) - expected) ** 2).mean() / expected.var())
        rows.append({"bounds": way, "n": problem.n, "lost": lost})
    return rows


def _bounds(way: str, X: np.ndarray, y: np.ndarray, problem: Problem, seed: int) -> tuple[Bounds, Bounds, GaussianDP]:
    """Bounds of the features and of the response, and what is left for the fit."""
    total = ApproximateDP(problem.epsilon, problem.delta).to_gaussian()
    if way != FOUND:
        factor = LOOSE if way == WIDE else 1.0
        reach = factor * REACH * problem.response_deviation
        return (-factor, factor), (-reach, reach), total
    columns = [*X.T, y]
    *each, left = split(total, [*[SHARE / len(columns)] * len(columns), 1 - SHARE])
    found = [
        private_bounds(column, rho=part.mu, random_state=seed * len(columns) + k)
        for k, (column, part) in enumerate(zip(columns, each))
        if isinstance(part, GaussianDP)
    ]
    middle, half = np.array([((side.high + side.low) / 2, (side.high - side.low) / 2) for side in found]).T
    low, high = middle - STRETCH * half, middle + STRETCH * half
    assert isinstance(left, GaussianDP)
    return (low[:-1], high[:-1]), (float(low[-1]), float(high[-1])), left
