"""What is called in the extra environment `diffprivlib`, which is imported inside the function, the package never.

See `companion.running.extras`.
"""

from __future__ import annotations

import warnings

import numpy as np


def fit(
    x: np.ndarray, y: np.ndarray, *, epsilon: float, low: float, high: float, releases: int, seed: int
) -> dict[str, np.ndarray]:
    """Coefficients of diffprivlib's ``LinearRegression`` with one feature and no intercept.

    Args:
        x, y: data sets of n records, shape (R, n). epsilon: for a record that is replaced. low, high: the feature's
            bounds; the response is within ±1. releases: of each data set. seed: of the noise.

    Returns:
        ``scores`` of shape (R, releases), ``stated`` of shape (1,).
    """
    from diffprivlib.models import LinearRegression

    warnings.simplefilter("ignore")
    random, scores = np.random.RandomState(seed), np.zeros((len(x), releases))
    told = {"bounds_X": (low, high), "bounds_y": (-1.0, 1.0), "fit_intercept": False}
    for k, (one, other) in enumerate(zip(x, y, strict=True)):
        for r in range(releases):
            model = LinearRegression(epsilon=epsilon, random_state=random, **told)
            scores[k, r] = model.fit(one[:, None], other).coef_.item()
    return {"scores": scores, "stated": np.array([epsilon])}
