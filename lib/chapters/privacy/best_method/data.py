"""The data of the campaign and what is public of each: made data of three laws, and real ones."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from costofprivacy import datasets
from costofprivacy.estimators import expected

ISOTROPIC, CORRELATED, HEAVY = "Gaussian", "Gaussian, correlated", "heavy tails"
MADE = (ISOTROPIC, CORRELATED, HEAVY)
EXPLAINED = 0.7  # R² of the best linear prediction of made data, and what is stated of it
STATED = 0.5  # R² that is stated of real data, whatever it is
NEIGHBOUR = 0.5  # correlation of neighbouring features
FEATURES_FREEDOM, NOISE_FREEDOM = 5, 3  # degrees of freedom of Student's t
# What a person can state who has not seen the data: low, high, mean, standard deviation of each feature, in its units.
HOUSING_STATED = (
    *(
        (0.5, 15, 4, 2),
        (1, 52, 28, 12),
        (1, 15, 5, 1.5),
        (0.5, 5, 1, 0.3),
    ),  # income in 10,000 dollars, age, rooms
    *((0, 8000, 1400, 1000), (1, 10, 3, 1), (32, 42, 36, 2), (-125, -114, -119.5, 2)),  # people, of a home, place
)
HOUSING_RESPONSE = (0, 5, 2, 1)  # value of a house in 100,000 dollars
DIABETES_STATED = (
    *((18, 90, 50, 15), (1, 2, 1.5, 0.5), (15, 45, 26, 5), (60, 140, 95, 15)),  # age, sex, body mass, blood pressure
    *((90, 310, 190, 40), (40, 250, 115, 35), (20, 100, 50, 15)),  # cholesterol
    *((2, 10, 4, 1.5), (3, 6.5, 4.6, 0.5), (55, 130, 90, 12)),  # ratio, log of triglycerides, sugar
)
DIABETES_RESPONSE = (0, 350, 150, 75)
PIXEL, DIGIT = (0, 255, 30, 60), (-1, 1, 0, 1)
GREY = 16  # the brightest pixel of scikit-learn's digits


@dataclass(frozen=True, eq=False)
class Records:
    """Records, and what is public of them.

    Args:
        X: shape (n, d). y: shape (n,). public: arguments of an estimator. truth: best coefficients of made data with
            the second moment of the features, or None.
    """

    X: np.ndarray
    y: np.ndarray
    public: dict[str, Any]
    truth: tuple[np.ndarray, np.ndarray] | None = None


def draw(name: str, n: int, d: int, *, rng: np.random.Generator) -> Records:
    """n records of one of `MADE`, drawn anew, or n of a real set's, all of them if n is their number."""
    return _made(name, n, d, rng) if name in MADE else _real(name, n, rng)


def _made(name: str, n: int, d: int, rng: np.random.Generator) -> Records:
    moment = NEIGHBOUR ** np.abs(np.subtract.outer(np.arange(d), np.arange(d))) if name == CORRELATED else np.eye(d)
    heavy = name == HEAVY
    X = _unit(FEATURES_FREEDOM, (n, d), rng) if heavy else rng.standard_normal((n, d))
    if name == CORRELATED:
        X = X @ np.linalg.cholesky(moment).T
    direction = rng.standard_normal(d)
    theta = direction * math.sqrt(EXPLAINED / float(direction @ moment @ direction))
    noise = _unit(NOISE_FREEDOM, (n,), rng) if heavy else rng.standard_normal(n)
    public = {"feature_scale": 1.0, "response_scale": 1.0} | planned(name, d)
    return Records(X, X @ theta + math.sqrt(1 - EXPLAINED) * noise, public, (theta, moment))


def _unit(freedom: int, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    return rng.standard_t(freedom, shape) * math.sqrt((freedom - 2) / freedom)


def planned(name: str, d: int) -> dict[str, Any]:
    """What is public beside the scale, as arguments of an estimator and of a forecast.

    The campaign measures how far fits are from least squares on the same records, so that is the aim of the plans.
    Made data are known to be linear, with features that are nearly independent, and to have long tails or not. Of real
    data nothing is known but that they are real; of MNIST, what another set of handwritten digits tells (`sibling`).
    """
    kind = expected.REAL if name not in MADE else expected.HEAVY if name == HEAVY else expected.TEXTBOOK
    public = {"expected_r2": EXPLAINED if name in MADE else STATED, "plan_for": kind, "aim": expected.SAME}
    if name != datasets.MNIST:
        return public
    power, r2 = sibling()
    spectrum = np.arange(1, d + 1) ** -power
    return public | {"expected_r2": r2, "spectrum": spectrum * d / spectrum.sum()}


@functools.lru_cache(maxsize=1)
def sibling() -> tuple[float, float]:
    """What scikit-learn's own digits, 8 by 8 pixels, tell of others: how their spectrum falls, and R² of 1 against 7.

    Eigenvalues of the second moment about the stated mean fall like a power of their number, fitted to the larger half.
    The power is rounded to a tenth, and R² down to a hundredth.
    """
    from sklearn.datasets import load_digits

    x, digit = load_digits(return_X_y=True)
    rows = np.isin(digit, (1, 7))
    centred = (x[rows] - PIXEL[2] * GREY / PIXEL[1]) / GREY
    half = np.linalg.eigvalsh(centred.T @ centred)[::-1][: x.shape[1] // 2]
    power = -np.polyfit(np.log(np.arange(1, len(half) + 1)), np.log(half), 1)[0]
    y = np.where(digit[rows] == 1, 1.0, -1.0)
    enlarged = np.column_stack([centred, np.ones(len(y))])
    left = y - enlarged @ np.linalg.lstsq(enlarged, y, rcond=None)[0]
    return round(float(power), 1), math.floor(100 * (1 - left.var() / y.var())) / 100


@functools.lru_cache(maxsize=4)
def load(name: str) -> datasets.Regression:
    """A real data set."""
    return datasets.regression(name)


def _real(name: str, n: int, rng: np.random.Generator) -> Records:
    """n records without replacement; features are clipped to their bounds, as every method has them."""
    whole = load(name)
    rows = rng.permutation(len(whole.y))[:n]
    features, response = stated(name, whole.d)
    low, high = features[0], features[1]
    public: dict[str, Any] = planned(name, whole.d)
    for prefix, (lowest, highest, mean, deviation) in (("feature", features), ("response", response)):
        public |= {f"{prefix}_bounds": (lowest, highest), f"{prefix}_center": mean, f"{prefix}_scale": deviation}
    return Records(np.clip(whole.X[rows], low, high), whole.y[rows], public)


def stated(name: str, d: int) -> tuple[np.ndarray, tuple[float, ...]]:
    """What is public of a real set: low, high, mean and standard deviation of features, shape (4, d), and response."""
    if name == datasets.HOUSING:
        return np.array(HOUSING_STATED, dtype=float).T, HOUSING_RESPONSE
    if name == datasets.DIABETES:
        return np.array(DIABETES_STATED, dtype=float).T, DIABETES_RESPONSE
    return np.tile(np.array(PIXEL, dtype=float), (d, 1)).T, DIGIT
