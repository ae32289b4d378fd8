"""The kind of column that holds one of a public list of values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from costofprivacy import _validate
from costofprivacy.estimators import cells, column_types
from costofprivacy.estimators.kinds import INDICATED, RARE, SHARE, Bounds, Moments, Unit, boolean_argument

OTHER, MISSING, ZEROS = "other", "missing", "zeros"


@dataclass(frozen=True)
class Category:
    """One of a public list of values, as indicators. The first is 0 throughout, unless all are kept.

    Numbers and text are compared by value: 1, 1.0 and "1" are the same, and blanks around a text do not count.

    Args:
        values: the public list, at least one: text, or finite numbers. Its order is public too: the first value is the
            one that an intercept stands for.
        unknown: what a value outside the list counts as: "zeros" (all indicators 0), a listed value, or "other".
        missing: what an empty cell counts as: "zeros", a listed value, "other", or "missing".
        drop_first: whether the first value's indicator is left out, so that the indicators do not sum to the
            intercept. All zeros then count as the first value.
        shares: the share of each listed value that is expected; public, and for `moments` alone. None for equal ones.

    By default such cells are all zeros, so that no feature arises which the list does not name. Where the first value
    is left out they count as that value; where it is kept they count as none. "other" and "missing" are one more
    feature each where they are used and not listed. Each feature is one more coordinate of noise, and one in which no
    cell falls is 0 throughout: its coefficient is pure noise, and it can make all intervals NaN. So state "other" or
    "missing" where you expect at least a few per cent of such cells.

    Raises:
        ValueError: if an argument is outside its range, or there is no feature left.

    >>> sex = Category(["f", "m"])
    >>> print(sex.features("sex"), sex.images(["f", "m", "x", None]).tolist())
    ['sex_m'] [[0.0], [1.0], [0.0], [0.0]]
    >>> sex = Category(["f", "m"], unknown="other", missing="other")
    >>> print(sex.features("sex"), sex.images(["f", "m", "x", None]).tolist())
    ['sex_m', 'sex_other'] [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    """

    values: Sequence[Any]
    unknown: Any = ZEROS
    missing: Any = ZEROS
    drop_first: bool = True
    shares: Sequence[float] | None = None
    kind: ClassVar[str] = "category"

    def __post_init__(self) -> None:
        if isinstance(self.values, (str, bytes)) or not isinstance(self.values, Sequence) or not self.values:
            raise ValueError(f"values must be a non-empty list, got {self.values!r}")
        object.__setattr__(self, "values", tuple(_plain("each of values", value) for value in self.values))
        if len(self._known) < len(self.values) or ZEROS in self._known:
            raise ValueError(f"values must be distinct and none of them {ZEROS!r}, got {list(self.values)!r}")
        for name, own in (("unknown", (OTHER,)), ("missing", (OTHER, MISSING))):
            asked = _plain(name, getattr(self, name))
            object.__setattr__(self, name, asked)
            if asked not in (ZEROS, *own) and cells.key(asked) not in self._known:
                raise ValueError(f"{name} must be {', '.join(own)}, {ZEROS} or a listed value, got {asked!r}")
        boolean_argument("drop_first", self.drop_first)
        if self.shares is not None:
            shares = tuple(_validate.probability("each of shares", share) for share in self.shares)
            if len(shares) != len(self.values) or math.fsum(shares) > 1 + 1e-9:
                raise ValueError(f"shares must be one for each value, with a sum of at most 1, got {self.shares!r}")
            object.__setattr__(self, "shares", shares)
        if not self.bounds():
            raise ValueError(f"values must leave a feature with drop_first=True, got {list(self.values)!r}")

    def features(self, name: str) -> list[str]:
        """Names of the features that a column of that name becomes."""
        return [f"{name}_{level}" for level in self._levels[int(self.drop_first) :]]

    def bounds(self) -> list[Bounds]:
        """Public bounds of each feature."""
        return [SHARE] * (len(self._levels) - int(self.drop_first))

    def moments(self) -> list[Moments]:
        """The mean and the standard deviation of each feature that are expected; 5 % for "other" and "missing"."""
        known, levels = len(self.values), len(self._levels)
        shares = [*(self.shares or [1 / max(known, 2)] * known), *[RARE] * (levels - known)]
        return [(share, math.sqrt(share * (1 - share))) for share in shares[int(self.drop_first) :]]

    def units(self) -> list[Unit]:
        """What a feature's step of 1 is in the column."""
        return [INDICATED] * len(self.bounds())

    def norm(self) -> float:
        """The largest ℓ₂ norm of a cell's features."""
        return 1.0

    def images(self, column: Any) -> np.ndarray:
        """The features of each cell, shape (n, number of features)."""
        places = {cells.key(level): place for place, level in enumerate(self._levels)}
        unknown, missing = (places.get(cells.key(rule), -1) for rule in (self.unknown, self.missing))
        found = cells.codes(column, self._known, unknown, missing)
        return (found[:, None] == np.arange(int(self.drop_first), len(self._levels))).astype(float)

    def read(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        """Which cells are missing, and which are not listed."""
        found = cells.codes(column, self._known, unknown=-1, missing=-2)
        return found == -2, found == -1

    def described(self) -> dict[str, str]:
        """The public choices in words."""
        first = f", first {'left out' if self.drop_first else 'kept'}"
        values = ", ".join(map(str, self.values))
        told = {"public values": values, "scale": f"indicators{first}", "missing": self._counted_as(self.missing)}
        told |= (
            {} if self.shares is None else {"expected": "shares " + ", ".join(f"{share:g}" for share in self.shares)}
        )
        return told | {"outside": self._counted_as(self.unknown)}

    def doubt(self, family: str | None) -> str:
        """Why a column whose type says this of its cells may be the wrong one; empty where there is no doubt."""
        known = {
            column_types.DATE: False,
            column_types.DURATION: False,
            column_types.TRUTH: not {str(True), str(False)}.isdisjoint(self._known),
            column_types.NUMBER: any(isinstance(key, float) for key in self._known),
        }
        if not known.get(str(family), True):
            return "no cell can be one of the listed values"
        first = self.drop_first and (self.unknown == ZEROS or self.missing == ZEROS)
        if not first or family == column_types.TRUTH:
            return ""
        return f"a value that is not listed, or an empty cell, counts as {self.values[0]!r} as unknown and missing say"

    def _counted_as(self, rule: Any) -> str:
        """What a rule of missing or unknown cells means, in words."""
        if rule != ZEROS:
            return str(rule)
        return str(self.values[0]) if self.drop_first else "none of the values"

    @property
    def _known(self) -> dict[cells.Key, int]:
        """The places of the listed values by their keys."""
        return {key: place for place, value in enumerate(self.values) if (key := cells.key(value)) is not None}

    @property
    def _levels(self) -> tuple[Any, ...]:
        """The listed values, and those of "other" and "missing" that are used without being listed."""
        used = dict.fromkeys(rule for rule in (self.unknown, self.missing) if rule != ZEROS)
        return (*self.values, *(rule for rule in used if cells.key(rule) not in self._known))


def _plain(name: str, value: Any) -> Any:
    """A public value as Python's own text or number, which JSON knows."""
    if isinstance(value, str) and value.strip():
        return str(value)
    if isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(float(value)):
        number = float(value)
        return int(number) if number.is_integer() else number
    raise ValueError(f"{name} must be text or a finite number, got {value!r}")
