"""The data of the comparison, on one public scale: Gaussian, isotropic and uneven, and real."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from costofprivacy import datasets
from costofprivacy.dpgd import spectrum
from costofprivacy.rivals.bounds import Bounds

ISOTROPIC, UNEVEN = "isotropic", "power law"
SYNTHETIC = (ISOTROPIC, UNEVEN)
PHI = 0.5  # of the power law: the smallest eigenvalue is 1/(2d)² of the largest
LABEL_NOISE, INITIAL_RISK = 0.3, 0.5
WIDE = 1.5  # B over the usual length of a record
TALL = 3.0  # Y over the response's deviation
NUMERICAL = 1e-9  # dead pixels have eigenvalue 0
SPARE = 0.4  # the share of a small data set that may serve for normalisation


@dataclass(frozen=True, eq=False)
class Problem:
    """Training records as every method gets them, and how an answer is marked.

    Args:
        x, y: clipped to the public bounds, on the scale where the public tr Σ is d; shapes (n, d) and (n,). bounds:
        the public B and Y on that scale. error: the mean squared error on fresh records of θ, by θ. zero, floor: it
        for θ = 0 and for the best θ. public: it for least squares on rows that are public anyway, or NaN. moment:
        second moment of the features, shape (d, d), where it is public: no method of the comparison is told it.
    """

    x: np.ndarray
    y: np.ndarray
    bounds: Bounds
    error: Callable[[np.ndarray], float]
    zero: float
    floor: float
    public: float
    moment: np.ndarray


def draw(name: str, n: int, d: int, *, rng: np.random.Generator) -> Problem:
    """n training records of a problem.

    Args:
        name: `ISOTROPIC`, `UNEVEN` or the name of a data set. n: records. d: dimension of Gaussian data.
        rng: source of randomness.
    """
    return _gaussian(name, n, d, rng) if name in SYNTHETIC else _real(name, n, rng)


def dimension(name: str, d: int) -> int:
    """The number of features of a problem."""
    return d if name in SYNTHETIC else load(name).d


@functools.lru_cache(maxsize=4)
def load(name: str) -> datasets.Regression:
    """A data set by its own name."""
    return datasets.regression(name)


def available(name: str) -> str:
    """The own name of a data set, or of that which stands in for it where it is not there."""
    return datasets.regression(name, bundled=True).name if not datasets.is_cached(name) else name


def normalisation_rows(name: str) -> int:
    """Rows that only give means and standard deviations: 2,000, fewer of a small set."""
    return min(datasets.NORMALISATION, int(SPARE * len(load(name).y)))


def _gaussian(name: str, n: int, d: int, rng: np.random.Generator) -> Problem:
    values = spectrum.isotropic(d) if name == ISOTROPIC else spectrum.power_law(d, PHI).normalised()
    model = spectrum.RegressionModel(values, spectrum.projections(values, 0.0, INITIAL_RISK), LABEL_NOISE)
    bounds = Bounds(WIDE * math.sqrt(d), TALL * math.sqrt(model.response_variance))
    x, y = bounds.clip(*spectrum.sample(model, n, rng=rng))

    def error(theta: np.ndarray) -> float:
        return 2 * float(model.risk(theta)) + LABEL_NOISE**2

    return Problem(x, y, bounds, error, model.response_variance, LABEL_NOISE**2, math.nan, np.diag(values.eigenvalues))


def _real(name: str, n: int, rng: np.random.Generator) -> Problem:
    """Scales, B and tr Σ come from the normalisation rows, which nothing protects."""
    data, same = load(name), copy.deepcopy(rng)
    normal = normalisation_rows(name)
    parts = datasets.split(data, n, rng=rng, normalisation=normal)
    rows = same.permutation(len(data.y))[:normal]  # the same that were drawn there
    known = np.where(parts.live, (data.X[rows] - data.X[rows].mean(axis=0)) / parts.scale, 0.0)
    known_y = (data.y[rows] - data.y[rows].mean()) / parts.response_scale
    raw = Bounds(WIDE * float(np.median(np.linalg.norm(known, axis=1))), TALL)
    known, known_y = raw.clip(known, known_y)
    unit = math.sqrt(float((known**2).sum(axis=1).mean()) / data.d)
    x, y = raw.clip(parts.X, parts.y)
    test, test_y = raw.clip(parts.test_X, parts.test_y)[0] / unit, parts.test_y

    def error(theta: np.ndarray) -> float:
        return float(((test @ theta - test_y) ** 2).mean())

    everything = np.concatenate([known / unit, x / unit, test]), np.concatenate([known_y, y, test_y])
    floor, public = error(least_squares(*everything)), error(least_squares(known / unit, known_y))
    bounds = Bounds(raw.features / unit, raw.response)
    moment = known.T @ known / (normal * unit**2)
    return Problem(x / unit, y, bounds, error, error(np.zeros(data.d)), floor, public, moment)


def least_squares(x: np.ndarray, y: np.ndarray, square: np.ndarray | None = None) -> np.ndarray:
    """The shortest solution, directions below `NUMERICAL` of the largest eigenvalue left out; shape (d,)."""
    values, vectors = np.linalg.eigh(x.T @ x if square is None else square)
    kept = values > NUMERICAL * values[-1]
    return vectors[:, kept] @ ((vectors[:, kept].T @ (x.T @ y)) / values[kept])
