"""What is measured of the methods that a user would pick instead, at equal privacy and equal data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.privacy.rivals import diffprivlib, methods, problems, sizes
from chapters.privacy.rivals.choices import Public
from chapters.ranges import SEED, TRIALS, amount, chance, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy import datasets
from costofprivacy._validate import among
from costofprivacy.privacy import ApproximateDP

SMALL = 5  # training rows of a small data set are at most its rows over this times the number of sizes, in order


@dataclass(frozen=True)
class Cell:
    """One data set and size, at every budget."""

    problem: str
    n: int
    d: int
    epsilon: tuple[float, ...]
    delta: float

    @property
    def key(self) -> int:
        """The stream of the records, which diffprivlib's runs share."""
        return self.n + 1_000_000 * (sum(map(ord, self.problem)) % 997)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Mean squared errors of every method and setting on one draw of the records, as `methods.errors` has them."""
    problem = problems.draw(cell.problem, cell.n, cell.d, rng=rng)
    usual = problem.bounds.features if cell.problem in problems.SYNTHETIC else problems.WIDE * math.sqrt(cell.d)
    publics = tuple(
        Public(cell.n, cell.d, ApproximateDP(epsilon, cell.delta), usual, problem.bounds.response)
        for epsilon in cell.epsilon
    )
    return methods.errors(methods.Task(problem, publics, rng))


class Experiment(Parameters):
    """Private linear regression by eleven methods and diffprivlib at one (ε, δ), and how some of them grow with d."""

    d: int = parameter(count(2, 1000), 20)
    records: tuple[int, ...] = many(count(2, 10**6), 10, 100, 1000, ascending=True)
    """Records for each feature, n/d, of Gaussian data."""
    epsilon: tuple[float, ...] = many(amount(1e-3, 100), 1.0, 4.0, ascending=True)
    delta: float = parameter(chance(1e-50, 0.1), 1e-6)
    real: tuple[str, ...] = many(among((datasets.HOUSING, datasets.MNIST)), datasets.HOUSING, datasets.MNIST)
    """Real data sets; where one is not there, the one that scikit-learn brings along is taken, under its own name."""
    housing_n: tuple[int, ...] = many(count(10, 18000), 500, 3000, 16000, ascending=True)
    """Training records of California housing."""
    mnist_n: tuple[int, ...] = many(count(10, 13000), 2000, 5000, ascending=True)
    """Training records of MNIST."""
    trials: int = parameter(TRIALS, 20)
    """Independent repetitions on Gaussian data."""
    real_trials: int = parameter(count(2, 1000), 10)
    """Random splits of each real data set."""
    dimensions: tuple[int, ...] = many(count(2, 1000), 20, 40, 80, 160, 320, ascending=True)
    """Dimensions along which the records that are needed are counted."""
    size_trials: int = parameter(count(2, 10**4), 10)
    """Repetitions at each dimension, and at each clipping constant."""
    seed: int = parameter(SEED, 37)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``errors``, ``diffprivlib`` (its runs, one by one), ``thresholds``, ``proportional``, ``clipping``."""
        theirs = diffprivlib.table(
            [(self._runs(self._gaussian()), self.trials), (self._runs(self._real()), self.real_trials)], runner
        )
        gaussian = runner.run(trial, self._gaussian(), self.trials, self.seed)
        real = runner.run(trial, self._real(), self.real_trials, self.seed)
        found = [row for cell, values in (gaussian | real).items() for row in rows(cell, values)]
        return {"errors": pd.DataFrame(found), diffprivlib.NAME: theirs} | sizes.tables(
            runner, self.dimensions, self.d, self.delta, self.size_trials, self.seed
        )

    def _runs(self, cells: list[Cell]) -> list[diffprivlib.Run]:
        return [diffprivlib.Run(c.problem, c.n, c.d, epsilon, c.key, self.seed) for c in cells for epsilon in c.epsilon]

    def _gaussian(self) -> list[Cell]:
        return [
            self.shared(Cell, problem=name, n=ratio * self.d) for name in problems.SYNTHETIC for ratio in self.records
        ]

    def _real(self) -> list[Cell]:
        cells = []
        for asked in self.real:
            name = problems.available(asked)
            d, sizes_ = problems.load(name).d, self.housing_n if asked == datasets.HOUSING else self.mnist_n
            if name != asked:
                rows_ = len(problems.load(name).y)
                sizes_ = tuple(rows_ * (k + 1) // (SMALL * len(sizes_)) for k in range(len(sizes_)))
            cells += [self.shared(Cell, problem=name, n=n, d=d) for n in sizes_]
        return cells


def rows(cell: Cell, values: np.ndarray) -> Iterator[dict[str, object]]:
    """Rows of the table ``errors``, budget by budget.

    Args:
        cell: data, size and budgets. values: of `trial`, shape (trials, budgets, methods, SETTINGS).
    """
    for k, epsilon in enumerate(cell.epsilon):
        yield from _rows(cell, epsilon, values[:, k])


def _rows(cell: Cell, epsilon: float, values: np.ndarray) -> Iterator[dict[str, object]]:
    """Rows at one budget.

    ``lost`` is what is lost of what can be explained: 0 for the best linear predictor, 1 for the constant one.
    ``behind`` is how far it is above that of the least public setting in the cell, trial by trial, with its own error.
    """
    ends = values[:, -1]
    zero, floor = ends[:, 1], ends[:, len(methods.ENDS)]
    known = {"problem": cell.problem, "n": cell.n, "d": cell.d, "epsilon": epsilon, "delta": cell.delta}
    shared = known | {"trials": len(values), "zero": zero.mean(), "floor": floor.mean()}
    measured = values[:, : len(methods.METHODS)]
    lost = (measured - floor[:, None, None]) / (zero - floor)[:, None, None]
    leader = int(lost[:, :, 0].mean(axis=0).argmin())
    for i, name in enumerate(methods.METHODS):
        for setting in range(methods.SETTINGS):
            own = lost[:, i, setting]
            yield (
                shared | {"method": name, "setting": setting} | _summary(values[:, i, setting], own, lost[:, leader, 0])
            )
    told = values[:, len(methods.METHODS) : -1, 0]
    others = dict(zip(methods.TOLD, told.T, strict=True)) | dict(
        zip(methods.ENDS, ends.T[: len(methods.ENDS)], strict=True)
    )
    for name, error in others.items():
        if np.isfinite(error).all():
            own = (error - floor) / (zero - floor)
            yield shared | {"method": name, "setting": 0} | _summary(error, own, lost[:, leader, 0])


def _summary(error: np.ndarray, lost: np.ndarray, leader: np.ndarray) -> dict[str, float]:
    """Means and standard errors."""
    found: dict[str, float] = {}
    for name, values in {"test_error": error, "lost": lost, "behind": lost - leader}.items():
        mean, spread = _fits.mean_and_error(values)
        found |= {name: float(mean), f"{name}_error": float(spread)}
    return found
