"""What is called in the extra environment `diffprivlib`, which is imported inside the function, the package never.

See `companion.running.extras`.
"""

from __future__ import annotations

import warnings

import numpy as np


def fit(
    x: np.ndarray, y: np.ndarray, seed: np.ndarray, features: np.ndarray, response: np.ndarray, *, epsilon: float
) -> dict[str, np.ndarray]:
    """diffprivlib's ``LinearRegression`` without an intercept, on records clipped to a box, once for each data set.

    Args:
        x: R data sets of n records, shape (R, n, d). y: responses, shape (R, n). seed: of the noise, shape (R, S).
        features: b, every coordinate is within ±b, shape (R, S). response: bound on |y|, shape (R, S).
        epsilon: ε, for a record that is replaced; δ is 0.

    Returns:
        ``coefficients`` of shape (R, S, d); ``convex`` of shape (R, S), whether the noisy objective has a minimum.
    """
    from diffprivlib.models import LinearRegression

    warnings.simplefilter("ignore")
    coefficients, convex = np.zeros((*seed.shape, x.shape[2])), np.zeros(seed.shape, dtype=bool)
    for r, k in np.ndindex(seed.shape):
        b, bound = float(features[r, k]), float(response[r, k])
        model = LinearRegression(
            epsilon=epsilon,
            bounds_X=(-b, b),
            bounds_y=(-bound, bound),
            fit_intercept=False,
            random_state=int(seed[r, k]),
        )
        model.fit(np.clip(x[r], -b, b), np.clip(y[r], -bound, bound))
        coefficients[r, k] = model.coef_
        convex[r, k] = np.linalg.eigvalsh(model._obj_coefs[2])[0] > 0
    return {"coefficients": coefficients, "convex": convex}
