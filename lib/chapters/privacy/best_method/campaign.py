"""One draw of the records, every method at every budget: excess errors beside those of the best and of the forecast."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from chapters.privacy.best_method import data
from companion import _fits
from companion.streams import Runner
from costofprivacy import datasets
from costofprivacy.estimators import expected, forecasting
from costofprivacy.estimators.automatic import METHODS, PrivateLinearRegression
from costofprivacy.estimators.tabular import TabularRegressor

EPSILONS = (0.5, 1.0, 3.0, 10.0)
DELTA = 1e-6
# n and the d that are tried with it: n from 442 to 10⁶, d from 3 to 100, at least 10 records for each feature
SIZES = {
    442: (3, 10, 30),
    1000: (3, 10, 30, 100),
    3000: (3, 10, 30, 100),
    10_000: (3, 10, 30, 100),
    100_000: (10, 100),
    1_000_000: (10,),
}
REAL = {
    datasets.DIABETES: (10, (442,)),
    datasets.HOUSING: (8, (1000, 5000, 20_640)),
    datasets.MNIST: (784, (2000, 15_170)),
}
LARGE = 10_000  # records above which fewer seeds are taken
WIDE = 200  # features above which fewer seeds are taken
NAMES = tuple(METHODS)
# over least squares, over the truth on new records, of the mean, of the response; and least squares on new records
VALUES = ("excess", "new", "constant", "variance", "plain")


@dataclass(frozen=True)
class Cell:
    """A data set and its size, at every budget."""

    data: str
    n: int
    d: int
    epsilon: tuple[float, ...] = EPSILONS
    delta: float = DELTA

    @property
    def key(self) -> int:
        return self.n * 1000 + self.d + 10**10 * (1 + sum(map(ord, self.data)) % 997)


def cells() -> list[Cell]:
    """The whole campaign."""
    made = [Cell(name, n, d) for name in data.MADE for n, several in SIZES.items() for d in several]
    return made + [Cell(name, n, d) for name, (d, several) in REAL.items() for n in several]


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """`VALUES` of every method on one draw of the records, shape (budgets, methods, values)."""
    records = data.draw(cell.data, cell.n, cell.d, rng=rng)
    best = least_squares(records.X, records.y)
    floor, variance, plain = mean_square(records, best), float(records.y.var()), on_new(records, best)
    found = np.empty((len(cell.epsilon), len(NAMES), len(VALUES)))
    for k, epsilon in enumerate(cell.epsilon):
        for m, name in enumerate(NAMES):
            fitted = fit(name, records, epsilon, cell.delta, rng)
            excess = mean_square(records, fitted) - floor
            found[k, m] = excess, on_new(records, fitted), variance - floor, variance, plain
    return found


def fit(name: str, records: data.Records, epsilon: float, delta: float, rng: np.random.Generator) -> np.ndarray:
    """Coefficients and intercept of a private fit, shape (d + 1,)."""
    model: TabularRegressor = PrivateLinearRegression(name, epsilon=epsilon, delta=delta, **records.public)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model._fit(records.X, records.y, rng)
    return np.append(model.coef_, model.intercept_)


def least_squares(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Least squares on all records, shape (d + 1,)."""
    enlarged = np.column_stack([X, np.ones(len(X))])
    return np.linalg.lstsq(enlarged, y, rcond=None)[0]


def mean_square(records: data.Records, found: np.ndarray) -> float:
    """The mean squared error on the records themselves."""
    return float(((records.X @ found[:-1] + found[-1] - records.y) ** 2).mean())


def on_new(records: data.Records, found: np.ndarray) -> float:
    """The mean squared error on new records over that of the truth; NaN where this is not known."""
    if records.truth is None:
        return float("nan")
    theta, moment = records.truth
    off = found[:-1] - theta
    return float(off @ moment @ off + found[-1] ** 2)


def measure(asked: Sequence[Cell], small: int, large: int, seed: int, runner: Runner) -> pd.DataFrame:
    """The table ``cases``, with ``small`` data sets up to `LARGE` records and `WIDE` features, and ``large`` above."""
    few = [cell for cell in asked if cell.n > LARGE or cell.d > WIDE]
    many = [cell for cell in asked if cell not in few]
    found: dict[Any, np.ndarray] = {}
    for part, trials in ((many, small), (few, large)):
        if part:
            found |= runner.run(trial, part, trials, seed)
    return pd.DataFrame([row for cell in asked for row in _rows(cell, found[cell])])


def promises(cell: Cell, epsilon: float) -> pd.DataFrame:
    """The forecast of a case."""
    return forecasting.forecast(cell.n, cell.d, epsilon, cell.delta, **data.planned(cell.data, cell.d))


def choice(cell: Cell, epsilon: float) -> int:
    """The place in `NAMES` of the method that is chosen from public numbers."""
    return list(METHODS.values()).index(forecasting.best_method(promises(cell, epsilon), expected.SAME))


def _rows(cell: Cell, values: np.ndarray) -> Iterator[dict[str, object]]:
    """Rows of a cell; ``behind`` is by how much a method is above the best one of the case, seed by seed."""
    for k, epsilon in enumerate(cell.epsilon):
        excess, new, constant, variance, plain = np.moveaxis(values[:, k], -1, 0)
        leader = int(excess.mean(axis=0).argmin())
        promised = promises(cell, epsilon)
        chosen = METHODS[NAMES[choice(cell, epsilon)]]
        for m, name in enumerate(NAMES):
            told = promised.loc[METHODS[name]]
            row = {"data": cell.data, "n": cell.n, "d": cell.d, "epsilon": epsilon, "delta": cell.delta}
            row |= {"method": METHODS[name], "chosen": METHODS[name] == chosen, "trials": len(values)}
            yield row | {
                **_mean("excess", excess[:, m]),
                **_mean("behind", excess[:, m] - excess[:, leader]),
                **_mean("new", new[:, m]),
                "constant": float(constant[:, m].mean()),
                "plain_new": float(plain[:, m].mean()),
                "forecast": float(told["cost_of_privacy"] * variance[:, m].mean()),
                "forecast_new": float(told["excess_risk"]),
            }


def _mean(name: str, values: np.ndarray) -> dict[str, float]:
    mean, error = _fits.mean_and_error(values)
    return {name: float(mean), f"{name}_error": float(error)}
