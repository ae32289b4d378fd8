r"""Kinds of columns: how a cell becomes numbers within public bounds, from what is stated before the data.

=====================  ===================================  =======  ==============================================
kind                   features                             bounds   a cell that is missing or cannot be read
=====================  ===================================  =======  ==============================================
`Number`               the transformed value                [−1, 1]  the typical value, or the middle
`Category`             one for each value but the first,    [0, 1]   that of values which are not listed, all zeros,
                       and one for values not listed                 a listed value, or a level of its own
`Boolean`              one                                  [0, 1]   the typical value, or ½
`Date`                 the time                             [−1, 1]  the typical date, or the middle
its cycles             a sine and a cosine for each cycle   [−1, 1]  0
indicator              1 where the cell is missing, else 0  [0, 1]
=====================  ===================================  =======  ==============================================

Values beyond the bounds, infinite ones included, are clipped to them, or count as missing with ``outside="missing"``,
as codes such as 999 should. Each feature of a record depends on one cell of that record and on the kind's arguments
alone (`costofprivacy.estimators.cells` has the proof for reading a cell; what follows is done entry by entry).
"""

import datetime
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from costofprivacy import _validate
from costofprivacy.estimators import cells
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
CLIP, OTHER, MISSING, ZEROS = "clip", "other", "missing", "zeros"
OUTSIDE = (CLIP, MISSING)  # what happens to a value beyond the bounds
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
        low, high: public bounds, of size at most 10⁵⁰.
        transform: "identity", "log" (low > 0), "log1p" (low > −1), "sqrt" (low ≥ 0) or "asinh".
        typical: a public value between the bounds, which missing cells are given; None for the middle of [−1, 1].
        std: the standard deviation around it that is expected, after the transform; public, and for `moments` alone.
            None for that of a feature which is uniform within its bounds.
        indicator: whether a second feature tells which cells were missing.
        outside: what a value beyond the bounds counts as: "clip", the nearer bound, or "missing", for codes such as 999
            that stand for a missing value. A code between the bounds is a value.

    Raises:
        ValueError: if an argument is outside its range, or the bounds are too close for doubles.

    >>> Number(1, 100, transform="log").images([10, 1000, None]).ravel()
    array([0., 1., 0.])
    >>> Number(18, 90, typical=45, outside="missing").images([45, 90, 999]).ravel()
    array([-0.25,  1.  , -0.25])
    """

    low: float
    high: float
    transform: str = IDENTITY
    typical: float | None = None
    std: float | None = None
    indicator: bool = False
    outside: str = CLIP
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
        _validate.one_of("outside", self.outside, OUTSIDE)

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
        (low, high), unit = self._ends, "unit" if self.transform == IDENTITY else self.transform
        return [((high - low) / 2, unit), *[INDICATED] * self.indicator]

    def images(self, column: Any) -> np.ndarray:
        """The features of each cell, shape (n, number of features)."""
        values = self._inside(column)
        missing = np.isnan(values)
        return joined(self._scaled(np.where(missing, self._fill, values)), missing, self.indicator)

    def responses(self, column: Any) -> np.ndarray:
        """The cells as responses: clipped, and after the transform, shape (n,); NaN where one is missing."""
        function, _ = TRANSFORMS[self.transform]
        return np.asarray(function(np.clip(self._inside(column), self.low, self.high)), dtype=float)

    def read(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        """Which cells are missing, and which are beyond the bounds."""
        values = cells.numbers(column)
        return np.isnan(values), self._beyond(values)

    def _beyond(self, values: np.ndarray) -> np.ndarray:
        return (values < self.low) | (values > self.high)

    def described(self) -> dict[str, str]:
        """The public choices in words."""
        fill = "middle of the scale" if self.typical is None else f"{self.typical:g}"
        return (
            {"public values": f"{self.low:g} to {self.high:g}", "scale": self.transform, "missing": fill}
            | ({} if self.std is None else {"expected": f"standard deviation {self.std:g}"})
            | ({} if self.outside == CLIP else {"outside": fill})
        )

    def doubt(self, family: str | None) -> str:
        """Why a column whose type says this of its cells may be the wrong one; empty where there is no doubt."""
        if family in (cells.DATE, cells.DURATION):
            return "no cell can be read as a number"
        if family in (cells.TEXT, cells.OBJECTS):
            return "a cell such as '27,500' or '30 kg' cannot be read as a number"
        return ""

    def _inside(self, column: Any) -> np.ndarray:
        """The cells as numbers, NaN where one is missing or counts as it."""
        values = cells.numbers(column)
        return values if self.outside == CLIP else np.where(self._beyond(values), np.nan, values)

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
        return "no cell is true or false" if family in (cells.DATE, cells.DURATION) else ""

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


# ---- Categories ----


@dataclass(frozen=True)
class Category:
    """One of a public list of values, as indicators. The first is 0 throughout, unless all are kept.

    Numbers and text are compared by value: 1, 1.0 and "1" are the same, and blanks around a text do not count.

    Args:
        values: the public list, at least one: text, or finite numbers. Its order is public too: the first value is the
            one that an intercept stands for.
        unknown: what a value outside the list counts as: "other", a level of its own, a listed value, or "zeros" (all
            indicators 0).
        missing: what an empty cell counts as: "other", a listed value, "zeros", or "missing", one more level.
        drop_first: whether the first value's indicator is left out, so that the indicators do not sum to the
            intercept. All zeros then count as the first value.
        shares: the share of each listed value that is expected; public, and for `moments` alone. None for equal ones.

    By default such cells are a level "other", so that a misspelling is not taken for the first value. "other" and
    "missing" are one more feature each where they are used and not listed. Each feature is one more coordinate of
    noise, and one in which no cell falls is 0 throughout: its coefficient is pure noise and its interval NaN, and in a
    small table those of other coefficients too. So where you expect fewer than a few per cent of such cells, let them
    count as a listed value. "zeros" is the first value where that is left out, and none where it is kept.

    Raises:
        ValueError: if an argument is outside its range, or there is no feature left.

    >>> sex = Category(["f", "m"])
    >>> print(sex.features("sex"), sex.images(["f", "m", "x", None]).tolist())
    ['sex_m', 'sex_other'] [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    >>> sex = Category(["f", "m"], unknown="f", missing="f")
    >>> print(sex.features("sex"), sex.images(["f", "m", "x", None]).tolist())
    ['sex_m'] [[0.0], [1.0], [0.0], [0.0]]
    """

    values: Sequence[Any]
    unknown: Any = OTHER
    missing: Any = OTHER
    drop_first: bool = True
    shares: Sequence[float] | None = None
    kind: ClassVar[str] = "category"

    def __post_init__(self) -> None:
        if isinstance(self.values, (str, bytes)) or not isinstance(self.values, Sequence) or not self.values:
            raise ValueError(f"values must be a non-empty list, got {_validate.quoted(self.values)}")
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
            cells.DATE: False,
            cells.DURATION: False,
            cells.TRUTH: not {str(True), str(False)}.isdisjoint(self._known),
            cells.NUMBER: any(isinstance(key, float) for key in self._known),
        }
        return "" if known.get(str(family), True) else "no cell can be one of the listed values"

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
    number = _validate.number(value)
    if number is not None and math.isfinite(number):
        return int(number) if number == int(number) else number
    raise ValueError(f"{name} must be text or a finite number, got {value!r}")


# ---- Dates ----

CYCLES = {"month": 12, "weekday": 7}  # and how many there are


@dataclass(frozen=True)
class Date:
    """A date within public bounds, carried to [−1, 1], with sines and cosines of public cycles where asked for.

    Read as dates are dates, instants (those with a time zone in UTC), and text in one public format. Text in another
    one counts as missing: `costofprivacy.estimators.Schema.read_report` shows how much.

    Args:
        low, high: public bounds, dates or text such as "2024-12-31"; the bound is the beginning of that day.
        typical: a public date between them, which missing cells are given; None for the middle.
        cycles: of "month" and "weekday": two features each. They are 0 for a missing cell.
        indicator: whether one more feature tells which cells were missing.
        format: of text, as for ``datetime.strptime``: "%d/%m/%Y" reads "31/12/2024". None for ISO, "2024-12-31".
        outside: "clip" or "missing", as for `Number`.

    Raises:
        ValueError: if an argument is outside its range, or the format does not tell the bounds.

    >>> visit = Date("2024-01-01", "2024-12-31", cycles=["month"])
    >>> print(visit.features("visit"), visit.images(["2024-07-01", None]).round(2).tolist())
    ['visit', 'visit_month_sin', 'visit_month_cos'] [[-0.0, 0.0, -1.0], [0.0, 0.0, 0.0]]
    """

    low: str
    high: str
    typical: str | None = None
    cycles: Sequence[str] = ()
    indicator: bool = False
    format: str | None = None
    outside: str = CLIP
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
        _validate.one_of("outside", self.outside, OUTSIDE)
        if self.format is not None and not self._told_by_format():
            raise ValueError(
                f"format must tell day, month and year, as '%d/%m/%Y' does, from low to high; got {self.format!r}"
            )

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

    def images(self, column: Any) -> np.ndarray:
        """The features of each cell, shape (n, number of features)."""
        given = cells.instants(column, self.format)
        missing = np.isnat(given) | (self._beyond(given) & (self.outside == MISSING))
        low, high = (np.datetime64(side, "us") for side in (self.low, self.high))
        inside = np.clip(np.where(missing, low, given), low, high)
        middle = 0.5 if self.typical is None else float((np.datetime64(self.typical, "us") - low) / (high - low))
        time = np.where(missing, middle, (inside - low) / (high - low))
        waves = []
        for cycle in self.cycles:  # sine and cosine of the place in it, 0 where the cell is missing
            unit, first = ("M", 0) if cycle == "month" else ("D", 3)  # 1 January 1970 was a Thursday; Monday is 0
            place = (inside.astype(f"datetime64[{unit}]").astype(int) + first) % CYCLES[cycle]
            angle = 2 * math.pi * place / CYCLES[cycle]
            waves += [np.where(missing, 0.0, wave(angle)) for wave in (np.sin, np.cos)]
        return joined(np.clip(2 * time - 1, -1.0, 1.0), missing, self.indicator, *waves)

    def read(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        """Which cells are missing, and which are beyond the bounds."""
        given = cells.instants(column, self.format)
        return np.isnat(given), self._beyond(given)

    def _beyond(self, given: np.ndarray) -> np.ndarray:
        return (given < np.datetime64(self.low)) | (given > np.datetime64(self.high))

    def described(self) -> dict[str, str]:
        """The public choices in words."""
        scale = ", ".join(["time", *(f"cycle of the {cycle}" for cycle in self.cycles)])
        fill = "middle of the scale" if self.typical is None else self.typical
        told = {"public values": f"{self.low} to {self.high}", "scale": scale, "missing": fill}
        told |= {} if self.format is None else {"expected": f"text as {self.format}"}
        return told if self.outside == CLIP else told | {"outside": fill}

    def doubt(self, family: str | None) -> str:
        """Why a column whose type says this of its cells may be the wrong one; empty where there is no doubt."""
        if family in (cells.NUMBER, cells.TRUTH, cells.DURATION):
            return "no cell can be read as a date"
        text = family in (cells.TEXT, cells.OBJECTS) and self.format is None
        return "a cell such as '31/12/2024' cannot be read as a date without format='%d/%m/%Y'" if text else ""

    def _told_by_format(self) -> bool:
        """Whether the bounds, written in the format, are read as what they are."""
        try:
            form, sides = str(self.format), map(datetime.datetime.fromisoformat, (self.low, self.high))
            return all(datetime.datetime.strptime(side.strftime(form), form) == side for side in sides)
        except ValueError:
            return False


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
