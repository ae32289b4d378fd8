"""Statistics that tables and verdicts share: means, standard errors, slopes on log axes."""

from __future__ import annotations

import numpy as np


def mean_and_error(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean over the first axis, of at least two trials, and its standard error."""
    if len(samples) < 2:
        raise ValueError(f"samples must hold at least two trials, got {len(samples)}")
    return samples.mean(axis=0), samples.std(axis=0, ddof=1) / np.sqrt(len(samples))


def power_law(x: np.ndarray, y: np.ndarray, standard_error: np.ndarray) -> tuple[float, float]:
    """Exponent of y ~ x^a and its standard error, by least squares on log axes weighted with (y/standard error)²."""
    if len(np.unique(x)) < 2:
        raise ValueError(f"x must hold at least two distinct values, got {len(np.unique(x))}")
    weight = (np.asarray(y) / np.asarray(standard_error)) ** 2
    log_x, log_y = np.log(np.asarray(x, dtype=float)), np.log(np.asarray(y, dtype=float))
    centred = log_x - np.average(log_x, weights=weight)
    information = (weight * centred**2).sum()
    return float((weight * centred * log_y).sum() / information), float(information**-0.5)


def local_exponents(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """d log y / d log x along a grid, by differences, central inside and one-sided at the ends."""
    return np.gradient(np.log(np.asarray(y, dtype=float)), np.log(np.asarray(x, dtype=float)))
