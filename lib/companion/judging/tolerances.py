"""How far a number of a table may lie from the committed one, on another machine.

A processor sums in its own order and has its own last bits, so a table comes out again to a tolerance, which belongs to
what a column holds: numbers as such to a share of themselves, differences of nearly equal numbers to a share of what
was subtracted, simulated ones that take another turn to a share of their standard error, and recorded rounding errors
to orders of magnitude. A chapter declares the columns that are not what `of_column` takes them for, in a module
`tolerances` of its package: nothing is measured or told anew when a tolerance changes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

SHARE = 1e-6
ByRow = Callable[[pd.DataFrame], Any]
"""A number for each row of the committed table."""


class Tolerance(Protocol):
    """A rule for one column."""

    def distance(self, table: pd.DataFrame, name: str, now: pd.Series) -> np.ndarray:
        """How far each number lies from the committed one, in tolerances: it agrees up to 1.

        Args:
            table: the committed table. name: the column. now: what came out, as long as the table.
        """

    def __str__(self) -> str:
        """The rule in words."""


Declared = Mapping[str, Mapping[str, Tolerance]]
"""Rules by table and column."""


@dataclass(frozen=True)
class Exact:
    """The same: text, truth values, whole numbers, parameters."""

    def distance(self, table: pd.DataFrame, name: str, now: pd.Series) -> np.ndarray:
        """0 where nothing differs, else infinite."""
        same = table[name].astype(object).fillna("").to_numpy() == now.astype(object).fillna("").to_numpy()
        return np.where(same, 0.0, np.inf)

    def __str__(self) -> str:
        return "exactly"


@dataclass(frozen=True)
class Relative:
    """A share of the committed number, or of the absolute value of another column ``of``.

    No row goes below ``scale``, for numbers whose natural size is known (powers of a rate are about 1).
    """

    share: float | ByRow = SHARE
    of: str = ""
    scale: float | ByRow = 0.0

    def distance(self, table: pd.DataFrame, name: str, now: pd.Series) -> np.ndarray:
        """The difference over the share of the scale."""
        scale = np.maximum(np.abs(table[self.of or name].to_numpy(float)), _by_row(self.scale, table))
        return _over(table[name], now, _by_row(self.share, table) * scale)

    def __str__(self) -> str:
        least = ", or of its scale" if callable(self.scale) else f", or of {self.scale:g}" if self.scale else ""
        share = "a share by row" if callable(self.share) else f"{self.share:g}"
        return f"to {share} of {self.of or 'itself'}{least}"


@dataclass(frozen=True)
class Errors:
    """A multiple of the number's own standard error, where a last bit can send a simulation another way."""

    multiple: float = 0.1
    column: str = "standard_error"

    def distance(self, table: pd.DataFrame, name: str, now: pd.Series) -> np.ndarray:
        """The difference over the multiple of the standard error; over a share of the number where there is none."""
        error = np.abs(table[self.column].to_numpy(float))
        usual = SHARE * np.abs(table[name].to_numpy(float))
        return _over(table[name], now, np.where(np.isfinite(error) & (error > 0), self.multiple * error, usual))

    def __str__(self) -> str:
        return f"to {self.multiple:g} of {self.column}"


@dataclass(frozen=True)
class Rounding:
    """Orders of magnitude: what is recorded is a rounding error, which belongs to a machine.

    They are infinite where a machine may find any number, or none. Below the floor all numbers are as good as 0; it is
    given by row where an evaluation is known to enlarge what it rounds.
    """

    orders: float | ByRow = 1.5
    floor: float | ByRow = 1e-16

    def distance(self, table: pd.DataFrame, name: str, now: pd.Series) -> np.ndarray:
        """The difference in decimal logarithms over the orders."""
        floor = _by_row(self.floor, table)
        before, after = (np.maximum(np.abs(x.to_numpy(float)), floor) for x in (table[name], now))
        orders = _by_row(self.orders, table)
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = _apart(np.log10(before), np.log10(after)) / orders
        return np.where(np.isinf(orders), 0.0, np.nan_to_num(apart, nan=np.inf, posinf=np.inf))

    def __str__(self) -> str:
        return "to its rounding by row" if callable(self.orders) else f"to {self.orders:g} orders of magnitude"


@dataclass(frozen=True)
class Squares:
    """Squared distances between vectors that are nearly equal: they keep the last bits of the vectors.

    Where the distance is far above those bits, this is a share of the square; near them, their own size. ``bits`` is
    the uncertainty of a vector, in its own units: its norm times the roundings that its evaluation collects. ``of`` is
    the column of the squares, where the rule is for something of their size, such as their standard error.
    """

    bits: float
    of: str = ""
    share: float = SHARE

    def distance(self, table: pd.DataFrame, name: str, now: pd.Series) -> np.ndarray:
        """The difference over what the bits and the share make of it."""
        squares = np.abs(table[self.of or name].to_numpy(float))
        allowed = 2 * np.sqrt(squares) * self.bits + self.bits**2
        return _over(table[name], now, allowed + self.share * np.abs(table[name].to_numpy(float)))

    def __str__(self) -> str:
        return f"to {self.share:g} of itself, or {self.bits:g} of the root of {self.of or 'itself'}"


@dataclass(frozen=True)
class Cases:
    """Another rule for some rows, by the values of a column, whose number is of another kind than the rest."""

    column: str
    rules: Mapping[Any, Tolerance]
    otherwise: Tolerance = Relative()

    def distance(self, table: pd.DataFrame, name: str, now: pd.Series) -> np.ndarray:
        """What the rule of each row says."""
        found = self.otherwise.distance(table, name, now)
        for value, rule in self.rules.items():
            found = np.where(table[self.column] == value, rule.distance(table, name, now), found)
        return found

    def __str__(self) -> str:
        words = dict.fromkeys(f"{rule} for some {self.column}" for rule in self.rules.values())
        return ", ".join([*words, f"else {self.otherwise}"])


NUMBER = Relative(scale=lambda numbers: 1e-3 * numbers["against"].abs().replace(np.inf, np.nan).fillna(0.0))
"""A number of a verdict, which may be as good as 0 beside what it is held against, to a thousandth of that."""

SEARCHED = Relative(2e-3)
"""Where a least risk lies: `dpgd.tuning` finds it to a share of 1e-3; risks so near it hardly differ."""


def of_column(declared: Mapping[str, Tolerance], column: pd.Series) -> Tolerance:
    """The rule of a column: what is declared, else `Relative` for numbers with a point, else `Exact`."""
    if column.name in declared:
        return declared[str(column.name)]
    return Relative() if pd.api.types.is_float_dtype(column) else Exact()


def _by_row(value: float | ByRow, table: pd.DataFrame) -> Any:
    return np.asarray(value(table), float) if callable(value) else value


def _over(before: pd.Series, now: pd.Series, tolerance: np.ndarray) -> np.ndarray:
    """Differences over tolerances: 0 between equals, infinite between a number and what is none."""
    apart = _apart(before.to_numpy(float), now.to_numpy(float))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(apart == 0, 0.0, np.nan_to_num(apart / tolerance, nan=np.inf, posinf=np.inf))


def _apart(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Absolute differences; 0 where both are the same infinity, or both no number."""
    with np.errstate(invalid="ignore"):
        apart: np.ndarray = np.abs(now - before)
    return np.where((before == now) | (np.isnan(before) & np.isnan(now)), 0.0, apart)
