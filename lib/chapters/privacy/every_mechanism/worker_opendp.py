"""What is called in the extra environment `opendp`, which is imported inside the function, the package never.

See `companion.running.extras`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


def theil_sen(x: np.ndarray, y: np.ndarray, *, epsilon: float, bound: float, releases: int) -> dict[str, np.ndarray]:
    """Predictions of OpenDP's ``LinearRegression`` half-way, so many for each data set, and the ε that its map states.

    The class takes no ε but the scale of its noise, which is inversely proportional to it. Its map takes the symmetric
    distance of two data sets: 2 if one record is replaced.

    Args:
        x, y: data sets of n records, shape (R, n). epsilon: for a record that is replaced. bound: all numbers are in
            [0, bound]. releases: of each data set.

    Returns:
        ``scores`` of shape (R, releases), ``stated`` of shape (1,).
    """
    import opendp.prelude as dp

    warnings.simplefilter("ignore")
    dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")

    def model(scale: float) -> Any:
        return dp.sklearn.linear_model.LinearRegression(
            dp.max_divergence(), x_bounds=[(0.0, bound)], y_bounds=(0.0, bound), scale=scale
        )

    found = model(model(1.0).measurement.map(2) / epsilon)
    scores = np.zeros((len(x), releases))
    for k, (one, other) in enumerate(zip(x, y, strict=True)):
        for r in range(releases):
            line = found.fit(one[:, None], other)
            scores[k, r] = line.coef_[0] * bound / 2 + line.intercept_
    return {"scores": scores, "stated": np.array([found.measurement.map(2)])}
