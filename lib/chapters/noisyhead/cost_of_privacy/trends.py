"""How a ratio goes along a size at the end of a table, with its error: what the judges of this chapter rest on."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from companion.judging.findings import Number
from companion.judging.growth import LAST, several
from companion.judging.vocabulary import CONSISTENT

_TINY = 1e-300  # for 0
SYMBOLS = {"penalty": "λ", "log_odds": "log(N/κ)"}  # of columns that are no symbols themselves


@dataclass(frozen=True)
class Trend:
    """The power with which a ratio goes over its last sizes.

    Args:
        size: its column, such as ``N``. power, error: of it.
        limit: above which a power is lost (`companion.judging.growth`).
    """

    size: str
    power: float
    error: float
    limit: float

    @property
    def lost(self) -> bool:
        """Whether the ratio grows like a power beyond doubt."""
        return self.power - CONSISTENT * self.error > self.limit

    @property
    def changes(self) -> bool:
        """Whether the ratio grows or falls like a power beyond doubt."""
        return abs(self.power) - CONSISTENT * self.error > self.limit

    def number(self, name: str, table: str, row: str) -> Number:
        """The power as a number of a finding."""
        symbol = SYMBOLS.get(self.size, self.size)
        return Number(f"power of {symbol} in {name}", self.power, self.error, self.limit, table, row)


def trend(rows: pd.DataFrame, size: str, ratio: pd.Series, error: pd.Series | float, limit: float) -> Trend | None:
    """How ``ratio`` goes along ``size``, fitted over the largest sizes; None for fewer than two.

    Args:
        rows: with a column ``size``. ratio, error: of each row, in any order. limit: above which a power is lost.
    """
    points = pd.DataFrame({"size": rows[size], "ratio": ratio, "error": error}).sort_values("size").tail(LAST)
    if not several(points["size"]):
        return None
    value, log_size = np.maximum(points["ratio"], _TINY), np.log(points["size"].to_numpy(float))
    weight = (log_size - log_size.mean()) / ((log_size - log_size.mean()) ** 2).sum()
    error_of_power = np.linalg.norm(weight * points["error"] / value)
    return Trend(size, float(weight @ np.log(value)), float(error_of_power), limit)


def lost(trends: Iterable[Trend | None]) -> list[Trend]:
    """Those that have lost a power, the worst first."""
    return sorted((g for g in trends if g is not None and g.lost), key=lambda g: -g.power)


def told(trends: Iterable[Trend | None], name: str, table: str, where: str = "") -> tuple[Number, ...]:
    """The powers along the axes that have several sizes, as numbers of a finding."""
    return tuple(g.number(name, table, f"axis = {g.size}{where}") for g in trends if g is not None)
