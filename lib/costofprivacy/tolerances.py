"""How far a number of a table may lie from the committed one, on another machine.

A processor sums in its own order and has its own last bits, so a table comes out again to a tolerance, which belongs to
what a column holds: numbers as such to a share of themselves, differences of nearly equal numbers to a share of what
was subtracted, simulated ones that take another turn to a share of their standard error, and recorded rounding errors
to orders of magnitude. An experiment declares the columns that are not what `of_column` takes them for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd

SHARE = 1e-6


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
    """A share of the committed number, or of another column's.

    Attributes:
        share: the share, above 0.
        of: the column whose numbers, in absolute value, are the scale; empty for the number itself.
        scale: a scale that no row goes below, for numbers whose natural size is known (powers of a rate are about 1).
    """

    share: float = SHARE
    of: str = ""
    scale: float = 0.0

    def distance(self, table: pd.DataFrame, name: str, now: pd.Series) -> np.ndarray:
        """The difference over the share of the scale."""
        scale = np.maximum(np.abs(table[self.of or name].to_numpy(float)), self.scale)
        return _over(table[name], now, self.share * scale)

    def __str__(self) -> str:
        return f"to {self.share:g} of {self.of or 'itself'}"


@dataclass(frozen=True)
class Errors:
    """A multiple of the number's own standard error, where a last bit can send a simulation another way.

    Attributes:
        multiple: of the standard error, above 0.
        column: the column that holds it.
    """

    multiple: float = 0.1
    column: str = "standard_error"

    def distance(self, table: pd.DataFrame, name: str, now: pd.Series) -> np.ndarray:
        """The difference over the multiple of the standard error."""
        return _over(table[name], now, self.multiple * np.abs(table[self.column].to_numpy(float)))

    def __str__(self) -> str:
        return f"to {self.multiple:g} of {self.column}"


@dataclass(frozen=True)
class Rounding:
    """Orders of magnitude: what is recorded is a rounding error, which belongs to a machine.

    Attributes:
        orders: how many, above 0.
        floor: below it all numbers are as good as 0.
    """

    orders: float = 1.5
    floor: float = 1e-16

    def distance(self, table: pd.DataFrame, name: str, now: pd.Series) -> np.ndarray:
        """The difference in decimal logarithms over the orders."""
        before, after = (np.maximum(np.abs(x.to_numpy(float)), self.floor) for x in (table[name], now))
        return np.nan_to_num(_apart(np.log10(before), np.log10(after)) / self.orders, nan=np.inf, posinf=np.inf)

    def __str__(self) -> str:
        return f"to {self.orders:g} orders of magnitude"


def of_column(declared: Mapping[str, Tolerance], column: pd.Series) -> Tolerance:
    """The rule of a column: what is declared, else `Relative` for numbers with a point, else `Exact`."""
    if column.name in declared:
        return declared[str(column.name)]
    return Relative() if pd.api.types.is_float_dtype(column) else Exact()


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
