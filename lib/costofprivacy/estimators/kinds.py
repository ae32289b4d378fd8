r"""Kinds of columns: how a cell becomes numbers within public bounds, from what is stated before the data.

=====================  ===================================  =======  ==============================================
kind                   features                             bounds   a cell that is missing or cannot be read
=====================  ===================================  =======  ==============================================
`Number`               the transformed value                [−1, 1]  the typical value, or the middle
`categories.Category`  one for each value but the first     [0, 1]   all zeros, a listed value, or a level of its own
`Boolean`              one                                  [0, 1]   the typical value, or ½
`dates.Date`           the time                             [−1, 1]  the typical date, or the middle
its cycles             a sine and a cosine for each cycle   [−1, 1]  0
indicator              1 where the cell is missing, else 0  [0, 1]
=====================  ===================================  =======  ==============================================

Values beyond the bounds, infinite ones included, are clipped to them. Each feature of a record depends on one cell of
that record and on the kind's arguments alone (`costofprivacy.estimators.cells` has the proof for reading a cell; what
follows is done entry by entry).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from costofprivacy import _validate
from costofprivacy.estimators import cells, column_types
from costofprivacy.estimators.scaling import UNITS

Bounds = tuple[float, float]
Moments = tuple[float, float]  # a mean and a standard deviation
Unit = tuple[float, str]  # how many units of the column a feature's step of 1 is, and their name
SYMMETRIC, SHARE = (-1.0, 1.0), (0.0, 1.0)
INDICATED = (1.0, "indicator")
UNIFORM = 3**-0.5  # the standard deviation of a feature that is uniform within [−1, 1]
RARE = 0.05  # the expected share of missing cells, and of a level that is not listed
RARELY = (RARE, math.sqrt(RARE * (1 - RARE)))
IDENTITY = "identity"
TRANSFORMS: dict[str, tuple[Callable[[Any], Any], float]] = {  # and above what the lower bound must be
    IDENTITY: (np.asarray, -math.inf),
    "log": (np.log, 0.0),
    "log1p": (np.log1p, -1.0),
    "sqrt": (np.sqrt, -5e-324),
    "asinh": (np.arcsinh, -math.inf),
}


@dataclass(frozen=True)
class Number:
    """A number within public bounds, carried to [−1, 1] after a public monotone transform.

    Args:
        low, high: public bounds, of size at most 10⁵⁰; values are clipped to them.
        transform: "identity", "log" (low > 0), "log1p" (low > −1), "sqrt" (low ≥ 0) or "asinh".
        typical: a public value between the bounds, which missing cells are given; None for the middle of [−1, 1].
        std: the standard deviation around it that is expected, after the transform; public, and for `moments` alone.
            None for that of a feature which is uniform within its bounds.
        indicator: whether a second feature tells which cells were missing.

    Raises:
        ValueError: if an argument is outside its range, or the bounds are too close for doubles.

    >>> Number(1, 100, transform="log").images([10, 1000, None]).ravel()
    array([0., 1., 0.])
    """

    low: float
    high: float
    transform: str = IDENTITY
    typical: float | None = None
    std: float | None = None
    indicator: bool = False
    kind: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, _validate.between(name, getattr(self, name), -UNITS, UNITS))
        _, above = TRANSFORMS[_validate.one_of("transform", self.transform, TRANSFORMS)]
        if not self.low > above:
            raise ValueError(f"low must be in the domain of {self.transform}, got {self.low!r}")
        low, high = self._ends
        if not (self.low < self.high and high - low >= 1 / UNITS):
            raise ValueError(f"low must be below high, got {self.low!r} and {self.high!r}")
        if self.typical is not None:
            object.__setattr__(self, "typical", _validate.between("typical", self.typical, self.low, self.high))
        if self.std is not None:
            object.__setattr__(self, "std", _validate.between("std", self.std, (high - low) / UNITS, high - low))
        boolean_argument("indicator", self.indicator)

    @property
    def _ends(self) -> Bounds:
        function, _ = TRANSFORMS[self.transform]
        return float(function(self.low)), float(function(self.high))

    def features(self, name: str) -> list[str]:
        """Names of the features that a column of that name becomes."""
        return [name, *indicator_name(name, self.indicator)]

    def bounds(self) -> list[Bounds]:
        """Public bounds of each feature."""
        return [SYMMETRIC, *[SHARE] * self.indicator]

    def moments(self) -> list[Moments]:
        """The mean and the standard deviation of each feature that are expected."""
        low, high = self._ends
        std = UNIFORM if self.std is None else 2 * self.std / (high - low)
        return [(self._scaled(self._fill), std), *[RARELY] * self.indicator]

    def units(self) -> list[Unit]:
        """What a feature's step of 1 is in the column."""
        low, high = self._ends
        return [
            ((high - low) / 2, "unit" if self.transform == IDENTITY else self.transform),
            *[INDICATED] * self.indicator,
        ]

    def norm(self) -> float:
        """The largest ℓ₂ norm of a cell's features."""
        return max(1.0, math.hypot(self._scaled(self._fill), float(self.indicator)))

    def images(self, column: Any) -> np.ndarray:
        """The features of each cell, shape (n, number of features)."""
        values = cells.numbers(column)
        missing = np.isnan(values)
        return joined(self._scaled(np.where(missing, self._fill, values)), missing, self.indicator)

    def read(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        """Which cells are missing, and which are beyond the bounds."""
        values = cells.numbers(column)
        return np.isnan(values), (values < self.low) | (values > self.high)

    def described(self) -> dict[str, str]:
        """The public choices in words."""
        fill = "middle of the scale" if self.typical is None else f"{self.typical:g}"
        return {"public values": f"{self.low:g} to {self.high:g}", "scale": self.transform, "missing": fill} | (
            {} if self.std is None else {"expected": f"standard deviation {self.std:g}"}
        )

    def doubt(self, family: str | None) -> str:
        """Why a column whose type says this of its cells may be the wrong one; empty where there is no doubt."""
        if family in (column_types.DATE, column_types.DURATION):
            return "no cell can be read as a number"
        if family in (column_types.TEXT, column_types.OBJECTS):
            return "a cell such as '27,500' or '30 kg' cannot be read as a number"
        return ""

    @property
    def _fill(self) -> float:
        """What a missing cell counts as; NaN stands for the middle of the scale."""
        return math.nan if self.typical is None else self.typical

    def _scaled(self, values: Any) -> Any:
        function, _ = TRANSFORMS[self.transform]
        low, high = self._ends
        share = (function(np.clip(values, self.low, self.high)) - low) / (high - low)
        scaled = np.nan_to_num(np.clip(2 * share - 1, -1.0, 1.0), nan=0.0)
        return scaled if np.ndim(scaled) else float(scaled)


@dataclass(frozen=True)
class Boolean:
    """True or false as 1 or 0. Read as such are 1 and 0, and the words true, t, yes, y, false, f, no, n in any case.

    Args:
        typical: what missing cells count as; None for halfway between. indicator: as for `Number`.
        share: the share of true cells that is expected; public, and for `moments` alone.

    Raises:
        ValueError: if an argument is outside its range.

    >>> Boolean().images([True, "no", None]).ravel()
    array([1. , 0. , 0.5])
    """

    typical: bool | None = None
    share: float = 0.5
    indicator: bool = False
    kind: ClassVar[str] = "boolean"

    def __post_init__(self) -> None:
        if self.typical is not None:
            boolean_argument("typical", self.typical)
        object.__setattr__(self, "share", _validate.probability("share", self.share))
        boolean_argument("indicator", self.indicator)

    def features(self, name: str) -> list[str]:
        """Names of the features that a column of that name becomes."""
        return [name, *indicator_name(name, self.indicator)]

    def bounds(self) -> list[Bounds]:
        """Public bounds of each feature."""
        return [SHARE, *[SHARE] * self.indicator]

    def moments(self) -> list[Moments]:
        """The mean and the standard deviation of each feature that are expected."""
        return [(self.share, math.sqrt(self.share * (1 - self.share))), *[RARELY] * self.indicator]

    def units(self) -> list[Unit]:
        """What a feature's step of 1 is in the column."""
        return [INDICATED, *[INDICATED] * self.indicator]

    def norm(self) -> float:
        """The largest ℓ₂ norm of a cell's features."""
        return max(1.0, math.hypot(self._fill, float(self.indicator)))

    def images(self, column: Any) -> np.ndarray:
        """The features of each cell, shape (n, number of features)."""
        values = cells.truths(column)
        missing = np.isnan(values)
        return joined(np.where(missing, self._fill, values), missing, self.indicator)

    def read(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        """Which cells are missing; none is outside."""
        missing = np.isnan(cells.truths(column))
        return missing, np.zeros_like(missing)

    def described(self) -> dict[str, str]:
        """The public choices in words."""
        told = {"public values": "false, true", "scale": "0, 1", "missing": f"{self._fill:g}"}
        return told | {"outside": told["missing"], "expected": f"share {self.share:g}"}

    def doubt(self, family: str | None) -> str:
        """Why a column whose type says this of its cells may be the wrong one; empty where there is no doubt."""
        return "no cell is true or false" if family in (column_types.DATE, column_types.DURATION) else ""

    @property
    def _fill(self) -> float:
        return 0.5 if self.typical is None else float(self.typical)


def boolean_argument(name: str, value: Any) -> None:
    """Raise ``ValueError`` unless an argument is True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False, got {value!r}")


def indicator_name(name: str, indicator: bool) -> list[str]:
    """The name of the feature that tells which cells of a column are missing, where there is one."""
    return [f"{name}_missing"] if indicator else []


def joined(values: np.ndarray, missing: np.ndarray, indicator: bool, *more: np.ndarray) -> np.ndarray:
    """Features side by side, and the indicator of missing cells where it is wanted, shape (n, number of features)."""
    return np.column_stack([values, *more, *([missing.astype(float)] if indicator else [])])
