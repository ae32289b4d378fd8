r"""The kind of column that holds dates: the time within public bounds, and public cycles of the calendar."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from costofprivacy import _validate
from costofprivacy.estimators import cells, column_types
from costofprivacy.estimators.kinds import (
    INDICATED,
    RARELY,
    SHARE,
    SYMMETRIC,
    UNIFORM,
    Bounds,
    Moments,
    Unit,
    boolean_argument,
    indicator_name,
    joined,
)

CYCLES = {"month": 12, "weekday": 7}  # and how many there are


@dataclass(frozen=True)
class Date:
    """A date within public bounds, carried to [−1, 1], with sines and cosines of public cycles where asked for.

    Read as dates are dates, instants (those with a time zone in UTC), and text in ISO format, "2024-12-31". Text such
    as "31/12/2024" cannot be read and counts as missing: `costofprivacy.estimators.Schema.count_unread` shows it.

    Args:
        low, high: public bounds, dates or text such as "2024-12-31"; the bound is the beginning of that day.
        typical: a public date between them, which missing cells are given; None for the middle.
        cycles: of "month" and "weekday": two features each. They are 0 for a missing cell.
        indicator: whether one more feature tells which cells were missing.

    Raises:
        ValueError: if an argument is outside its range.

    >>> visit = Date("2024-01-01", "2024-12-31", cycles=["month"])
    >>> print(visit.features("visit"), visit.images(["2024-07-01", None]).round(2).tolist())
    ['visit', 'visit_month_sin', 'visit_month_cos'] [[-0.0, 0.0, -1.0], [0.0, 0.0, 0.0]]
    """

    low: str
    high: str
    typical: str | None = None
    cycles: Sequence[str] = ()
    indicator: bool = False
    kind: ClassVar[str] = "date"

    def __post_init__(self) -> None:
        for name in ("low", "high", "typical"):
            if name != "typical" or self.typical is not None:
                object.__setattr__(self, name, _iso(name, getattr(self, name)))
        if not self.low < self.high:
            raise ValueError(f"low must be before high, got {self.low!r} and {self.high!r}")
        if self.typical is not None and not self.low <= self.typical <= self.high:
            raise ValueError(f"typical must be between {self.low!r} and {self.high!r}, got {self.typical!r}")
        asked = tuple(self.cycles) if not isinstance(self.cycles, str) else (self.cycles,)
        object.__setattr__(self, "cycles", tuple(_validate.one_of("each of cycles", name, CYCLES) for name in asked))
        if len(set(self.cycles)) < len(self.cycles):
            raise ValueError(f"cycles must be distinct, got {self.cycles!r}")
        boolean_argument("indicator", self.indicator)

    def features(self, name: str) -> list[str]:
        """Names of the features that a column of that name becomes."""
        waves = [f"{name}_{cycle}_{wave}" for cycle in self.cycles for wave in ("sin", "cos")]
        return [name, *waves, *indicator_name(name, self.indicator)]

    def bounds(self) -> list[Bounds]:
        """Public bounds of each feature."""
        return [*[SYMMETRIC] * (1 + 2 * len(self.cycles)), *[SHARE] * self.indicator]

    def moments(self) -> list[Moments]:
        """The mean and the standard deviation of each feature that are expected: those of a uniform date."""
        mean = 0.0 if self.typical is None else float(self.images([self.typical])[0, 0])
        return [(mean, UNIFORM), *[(0.0, 0.5**0.5)] * (2 * len(self.cycles)), *[RARELY] * self.indicator]

    def units(self) -> list[Unit]:
        """What a feature's step of 1 is in the column."""
        days = (datetime.date.fromisoformat(self.high) - datetime.date.fromisoformat(self.low)).days
        return [(days / 2, "day"), *[(1.0, "wave")] * (2 * len(self.cycles)), *[INDICATED] * self.indicator]

    def norm(self) -> float:
        """The largest ℓ₂ norm of a cell's features."""
        return math.sqrt(1 + max(len(self.cycles), int(self.indicator)))

    def images(self, column: Any) -> np.ndarray:
        """The features of each cell, shape (n, number of features)."""
        given = cells.instants(column)
        missing = np.isnat(given)
        low, high = (np.datetime64(side, "us") for side in (self.low, self.high))
        inside = np.clip(np.where(missing, low, given), low, high)
        middle = 0.5 if self.typical is None else float((np.datetime64(self.typical, "us") - low) / (high - low))
        time = np.where(missing, middle, (inside - low) / (high - low))
        waves = [wave for cycle in self.cycles for wave in _waves(inside, cycle, missing)]
        return joined(np.clip(2 * time - 1, -1.0, 1.0), missing, self.indicator, *waves)

    def read(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        """Which cells are missing, and which are beyond the bounds."""
        given = cells.instants(column)
        return np.isnat(given), (given < np.datetime64(self.low)) | (given > np.datetime64(self.high))

    def described(self) -> dict[str, str]:
        """The public choices in words."""
        scale = ", ".join(["time", *(f"cycle of the {cycle}" for cycle in self.cycles)])
        return {
            "public values": f"{self.low} to {self.high}",
            "scale": scale,
            "missing": "middle of the scale" if self.typical is None else self.typical,
        }

    def doubt(self, family: str | None) -> str:
        """Why a column whose type says this of its cells may be the wrong one; empty where there is no doubt."""
        if family in (column_types.NUMBER, column_types.TRUTH, column_types.DURATION):
            return "no cell can be read as a date"
        text = family in (column_types.TEXT, column_types.OBJECTS)
        return "a cell such as '31/12/2024' cannot be read as a date" if text else ""


def _waves(instants: np.ndarray, cycle: str, missing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sine and cosine of the place in a cycle, 0 where the cell is missing."""
    unit, first = ("M", 0) if cycle == "month" else ("D", 3)  # 1 January 1970 was a Thursday; Monday is 0
    place = (instants.astype(f"datetime64[{unit}]").astype(int) + first) % CYCLES[cycle]
    angle = 2 * math.pi * place / CYCLES[cycle]
    return np.where(missing, 0.0, np.sin(angle)), np.where(missing, 0.0, np.cos(angle))


def _iso(name: str, value: Any) -> str:
    """A public date as text in ISO format."""
    try:
        found = datetime.date.fromisoformat(value) if isinstance(value, str) else value
        if isinstance(found, datetime.datetime):
            found = found.date()
        if isinstance(found, datetime.date):
            return found.isoformat()
    except ValueError:
        pass
    raise ValueError(f"{name} must be a date such as '2024-12-31', got {value!r}")
