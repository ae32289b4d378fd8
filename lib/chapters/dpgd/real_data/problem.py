"""The real problems of section 7 of arXiv:2505.16329v2: which rows are trained on, and what the equations are fed.

A trial is a shuffle of the rows. All problems on one data set share the shuffles: trial k has the same normalisation
rows for every n and treatment, and the training rows of a smaller n are the first of a larger one.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from costofprivacy import datasets
from costofprivacy.datasets import HOUSING, MNIST, Regression, Split
from costofprivacy.dpgd.quadrature import lumped
from costofprivacy.dpgd.schedule import Constant, Polynomial, Schedule
from costofprivacy.dpgd.system import System

PAPERS = (MNIST, HOUSING)  # the data sets of section 7
ALPHAS = (0.0, 0.5)  # output perturbation and constant noise
LIMIT = 5.0  # standard deviations at which the remedy clips a feature
SPARED = 4  # of a stand-in's rows one part in so many normalises, and as many at least test
CUT = 1e-9  # eigenvalues below this share of the largest one count as zero


@cache
def loaded(name: str) -> Regression:
    """A data set of the paper, or what stands in for it; read once in a process."""
    return datasets.regression(name, bundled=True)


@dataclass(frozen=True)
class Problem:
    """A data set with its numbers of rows, and how features are treated.

    Args:
        asked: the paper's data set. data: the own name of the one that is used.
        n: training rows. normalisation: rows for means and standard deviations.
        limit: standard deviations at which features are clipped; ∞ clips none.
        constant_scale: what a feature is divided by that is constant in the normalisation rows; ∞ makes it 0.
        held_out: test rows at most; ∞ takes all.
    """

    asked: str
    data: str
    n: int
    normalisation: int
    limit: float = math.inf
    constant_scale: float = math.inf
    held_out: float = math.inf

    @property
    def key(self) -> int:
        """The data set names the random stream."""
        return PAPERS.index(self.asked)

    @property
    def d(self) -> int:
        """Number of features, constant ones too."""
        return loaded(self.asked).d

    @property
    def gamma(self) -> float:
        """d/n."""
        return self.d / self.n

    def split(self, rng: np.random.Generator) -> tuple[Split, np.random.Generator]:
        """The rows of a trial, and the generator of its private noise."""
        rows, noise = rng.spawn(2)
        found = datasets.split(
            loaded(self.asked),
            self.n,
            rng=rows,
            normalisation=self.normalisation,
            limit=self.limit,
            constant_scale=self.constant_scale,
            held_out=self.held_out,
        )
        return found, noise


def problems(
    asked: str, sizes: tuple[float, ...], normalisation: int, held_out: float = math.inf, *, gammas: bool
) -> list[Problem]:
    """A problem for each size, of the paper's data set or of what stands in for it.

    A stand-in has too few rows for the paper's sizes: it takes as many as it can spare, then half of that, and so on.

    Args:
        asked: the paper's data set. sizes: aspect ratios d/n, or numbers of rows. normalisation: the paper's rows.
        held_out: test rows at most.
        gammas: whether sizes are aspect ratios.
    """
    data = loaded(asked)
    if not data.instead_of:
        rows = [round(data.d / size) if gammas else round(size) for size in sizes]
        return [Problem(asked, data.name, n, normalisation, held_out=held_out) for n in rows]
    spared = len(data.y) // SPARED
    most = len(data.y) - 2 * spared
    return [Problem(asked, data.name, most >> k, spared) for k in reversed(range(len(sizes)))]


def schedule(alpha: float, rate: float) -> Schedule:
    """η̃(0)(1 − t)^α, (5.1)."""
    return Polynomial(rate, alpha) if alpha else Constant(rate)


@dataclass(frozen=True, eq=False)
class Moments:
    """What 𝒫 of (3.2) on some rows needs to know of them, sums over rows; features that are 0 in all are left out.

    𝒫(θ) = (θᵀSθ − 2bᵀθ + s)/(2m) with S = Σ xxᵀ, b = Σ xy and s = Σ y² over m rows.

    Args:
        used: places of the other features. second: S, shape (used, used). cross: b. square: s. rows: m.
    """

    used: np.ndarray
    second: np.ndarray
    cross: np.ndarray
    square: float
    rows: int

    def __add__(self, other: Moments) -> Moments:
        """Of the rows of both, whose used features are the same."""
        second, cross = self.second + other.second, self.cross + other.cross
        return Moments(self.used, second, cross, self.square + other.square, self.rows + other.rows)

    def risks(self, theta: np.ndarray) -> np.ndarray:
        """𝒫 for each row of ``theta``, shape (configurations,)."""
        part = theta[:, self.used]
        quadratic = np.einsum("kd,kd->k", part @ self.second - 2 * self.cross, part)
        return (quadratic + self.square) / (2 * self.rows)


def moments(X: np.ndarray, y: np.ndarray, used: np.ndarray) -> Moments:
    """Of some rows."""
    features = X.take(used, axis=1)
    return Moments(used, features.T @ features, y @ features, float(y @ y), len(y))


@dataclass(frozen=True, eq=False)
class Shuffle:
    """One trial's rows for problems that differ by n alone, held once.

    The training rows of a smaller n are the first of a larger one, and the others are among its test rows.

    Args:
        problems: their n. largest: the split of the largest n.
    """

    problems: Sequence[Problem]
    largest: Split
    _noise: np.random.Generator

    @property
    def noise(self) -> np.random.Generator:
        """The generator of a trial's private noise, each time from its start: all problems meet the same."""
        return copy.deepcopy(self._noise)

    def training(self, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        """x and y."""
        return self.largest.X[: problem.n], self.largest.y[: problem.n]

    def end(self, problem: Problem) -> int:
        """How many rows it trains and tests on."""
        return int(min(problem.n + problem.held_out, len(self.largest.y) + len(self.largest.test_y)))

    @property
    def splits(self) -> list[Split]:
        """Of each problem, the same as `Problem.split` has."""
        one = self.largest
        X, y = np.concatenate([one.X, one.test_X]), np.concatenate([one.y, one.test_y])
        ends = [(problem.n, self.end(problem)) for problem in self.problems]
        return [replace(one, X=X[:n], y=y[:n], test_X=X[n:end], test_y=y[n:end]) for n, end in ends]

    @property
    def held_out(self) -> list[Moments]:
        """Of each problem's test rows; no row is counted twice on the way."""
        one, n = self.largest, len(self.largest.y)
        used = np.flatnonzero(one.X.any(axis=0) | one.test_X.any(axis=0))
        spans = [(problem.n, self.end(problem)) for problem in self.problems]
        parts = {}
        for a, b in itertools.pairwise(sorted({end for span in spans for end in span})):
            X, y = (one.X[a:b], one.y[a:b]) if a < n else (one.test_X[a - n : b - n], one.test_y[a - n : b - n])
            parts[a, b] = moments(X, y, used)
        inside = [[part for (a, b), part in parts.items() if first <= a and b <= last] for first, last in spans]
        return [sum(rest, start) for start, *rest in inside]


def shuffled(problems: Sequence[Problem], rng: np.random.Generator) -> Shuffle:
    """A trial of problems that differ by n alone."""
    return Shuffle(problems, *max(problems, key=lambda problem: problem.n).split(rng))


def populations(splits: Sequence[Split]) -> list[Population]:
    """Of each split of one shuffle, those that have the same rows in all together."""
    found: dict[int, Population] = {}
    for split in splits:
        rows = len(split.y) + len(split.test_y)
        if rows not in found:
            found[rows] = population(split)
    return [found[len(split.y) + len(split.test_y)] for split in splits]


@dataclass(frozen=True, eq=False)
class Population:
    """What the equations are fed: the second moments of all rows but those that normalise.

    Args:
        eigenvalues: of E xxᵀ, the positive ones, shape (m,). target: θ* in their eigenvectors, shape (m,).
        floor: ζ²/2, the least risk of a linear predictor. typical: the median of ‖x‖². d: the dimension.
    """

    eigenvalues: np.ndarray
    target: np.ndarray
    floor: float
    typical: float
    d: int

    @property
    def trace(self) -> float:
        """tr Σ, the mean of ‖x‖²."""
        return float(self.eigenvalues.sum())

    def system(self, n: int, square: float) -> System:
        """Definition 4.2 with the cap where η̄ = 2/‖x‖² takes over if ‖x‖² is ``square``; d in the paper. `lumped`."""
        values = self.eigenvalues
        energies = self.d * self.target**2 / 2
        noise = math.sqrt(2 * self.floor)
        cap = 2 * n / square
        return lumped(System(values, values, values / self.d, energies, self.d / n, noise, cap), cap)


def population(split: Split) -> Population:
    """Second moments and least squares over training and test rows.

    Directions whose eigenvalue is below `CUT` times the largest are left out: the rows do not tell them from none.
    """
    X, y = np.concatenate([split.X, split.test_X]), np.concatenate([split.y, split.test_y])
    rows = X.take(np.flatnonzero(X.any(axis=0)), axis=1)
    values, vectors = np.linalg.eigh(rows.T @ rows / len(y))
    kept = values > CUT * values[-1]
    along = vectors[:, kept].T @ (rows.T @ y) / len(y)
    target = along / values[kept]
    floor = ((y**2).mean() - along @ target) / 2
    typical = float(np.median(np.einsum("ij,ij->i", rows, rows)))
    return Population(values[kept], target, float(floor), typical, X.shape[1])
