"""Argument checks: one home, one wording. Every message names the argument, its value and the range.

A `Range` is the values that an argument may take, in words and as a test; the functions below apply one. What a
parameter declares (`companion.declaration`) is a range of this module, so that its message and its description
are the same words.
"""

import math
from collections.abc import Callable, Collection, Sized
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np


def number(value: Any) -> int | float | None:
    """A public number as Python's own ``int`` or ``float``, in which nothing overflows; None for what is none.

    Numbers are those of ``numbers.Real``: of Python, fractions among them, and of NumPy. True and False, durations,
    decimals, arrays, text, NaN and whole numbers beyond the doubles are none.

    >>> import fractions
    >>> [number(value) for value in (np.uint8(17), fractions.Fraction(1, 4), np.float16(0.5), True, "1", math.nan)]
    [17, 0.25, 0.5, None, None, None]
    """
    if isinstance(value, (bool, np.timedelta64)) or not isinstance(value, Real):
        return None
    try:
        with np.errstate(all="ignore"):
            found = int(value) if isinstance(value, Integral) else float(value)
            return None if math.isnan(found) else found
    except (TypeError, ValueError, OverflowError):
        return None


def quoted(value: Any) -> str:
    """An argument as a message shows it: what has a shape, or ten parts, may be the data in a wrong place, so by type.

    >>> print(quoted("1"), quoted([1, 2]), quoted(np.float64(0.5)), quoted(np.zeros(3)), quoted("much more than ten"))
    '1' [1, 2] np.float64(0.5) a ndarray 'much more than ten'
    """
    shape = getattr(value, "shape", None)
    long = shape is None and isinstance(value, Sized) and not isinstance(value, str) and len(value) > 9
    return f"a {type(value).__name__}" if long or shape else repr(value)


def numbers(name: str, values: Any) -> np.ndarray:
    """Public numbers of any shape in double precision, NaN among them; ``ValueError`` for what is none (`number`)."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return np.asarray(values, dtype=float)
    given = np.asarray(values, dtype=object)
    found = [value if isinstance(value, float) else number(value) for value in given.ravel()]
    if None in found:
        raise ValueError(f"{name} must be numbers, got {quoted(values)}")
    return np.array(found, dtype=float).reshape(given.shape)


_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _end(value: float) -> str:
    """An end of a range as it is read: ``1e+06``, ``100``, and ``2⁶³ − 1`` for the largest of 64 bits."""
    if isinstance(value, int):
        bits = value.bit_length()
        large = bits > 32 and value == 2**bits - 1
        return f"2{str(bits).translate(_RAISED)} − 1" if large else f"{value:d}"
    return f"{value:g}"


@dataclass(frozen=True)
class Range:
    """The values that an argument may take.

    Args:
        words: what it must be, as in "must be positive". admits: whether a value is in it. convert: to its type.
        after: a wider range that is asked first, so that its message comes first.
        ends: the least and the greatest value, where both are stated.
    """

    words: str
    admits: Callable[[Any], bool]
    convert: Callable[[Any], Any] = float
    after: "Range | None" = None
    ends: tuple[float, float] | None = None

    def __call__(self, name: str, value: Any) -> Any:
        """Return ``value``, converted; raise ``ValueError`` if it is not in the range."""
        if self.after is not None:
            self.after(name, value)
        found = value if self.convert is str else number(value)
        if found is not None and self.admits(found):
            return self.convert(found)
        raise ValueError(f"{name} must be {self.words}, got {quoted(value)}")

    @property
    def description(self) -> str:
        """The whole range in words, each end once."""
        if self.after is None:
            return self.words
        if self.ends and self.convert is int:
            return f"a whole number between {_end(self.ends[0])} and {_end(self.ends[1])}"
        if self.ends and self.after in (POSITIVE, FINITE_POSITIVE):
            return self.words if self.ends[0] > 0 else f"positive and at most {_end(self.ends[1])}"
        return f"{self.after.description} and {self.words}"


POSITIVE = Range("positive", lambda v: v > 0)
FINITE_POSITIVE = Range("positive and finite", lambda v: 0 < v < math.inf)
FINITE = Range("a finite number", math.isfinite)
NONNEGATIVE = Range("non-negative and finite", lambda v: 0 <= v < math.inf)
PROBABILITY = Range("between 0 and 1, both excluded", lambda v: 0 < v < 1)
BELOW_ONE = Range("at least 0 and below 1", lambda v: 0 <= v < 1)


def within(low: float, high: float, after: Range | None = None, convert: Callable[[Any], Any] = float) -> Range:
    """The numbers in [low, high]."""
    words = f"between {_end(low)} and {_end(high)}"
    return Range(words, lambda v: low <= v <= high, convert, after, (low, high))


def at_least(least: int) -> Range:
    """The whole numbers from ``least`` on."""
    return Range(f"a whole number of at least {least}", lambda v: math.isfinite(v) and v == int(v) >= least, int)


def integer(least: int) -> Range:
    """`at_least`, of the types of whole numbers alone: 2.0 is none."""
    return Range(f"a whole number of at least {least}", lambda v: isinstance(v, int) and v >= least, int)


def among(options: Collection[str]) -> Range:
    """One of these words."""
    return Range("one of " + ", ".join(options), lambda v: v in options, str)


SHARE = within(0, 1, after=POSITIVE)  # (0, 1]


class InvalidParameterError(ValueError, TypeError):
    """An argument of an estimator is outside its range, or of another kind; raised by ``fit``, as scikit-learn does."""


def argument(name: str, value: Any, *allowed: Any) -> None:
    """Raise `InvalidParameterError` unless an estimator's argument is one of what it may be.

    Args:
        name: of the argument. value: of any kind.
        allowed: ranges, ``bool`` for True and False, ``callable`` for a function, and single values such as None and ∞.
    """
    words = []
    for one in allowed:
        if isinstance(one, Range):
            try:
                one(name, value)
                return
            except (TypeError, ValueError):
                words.append(one.words)
        elif (one is bool and isinstance(value, (bool, np.bool_))) or (one is callable and callable(value)):
            return
        elif one in (bool, callable):
            words.append("True or False" if one is bool else "a function")
        elif value is one or (one == math.inf and isinstance(value, Real) and value == one):
            return
        else:
            words.append(f"{one}")
    raise InvalidParameterError(f"{name} must be {' or '.join(words)}, got {quoted(value)}")


def positive(name: str, value: float) -> float:
    """Return ``value`` if it is in (0, ∞]; raise ``ValueError`` otherwise."""
    return float(POSITIVE(name, value))


def finite_positive(name: str, value: float) -> float:
    """Return ``value`` if it is in (0, ∞); raise ``ValueError`` otherwise."""
    return float(FINITE_POSITIVE(name, value))


def finite(name: str, value: float) -> float:
    """Return ``value`` if it is a finite number; raise ``ValueError`` otherwise."""
    return float(FINITE(name, value))


def nonnegative(name: str, value: float) -> float:
    """Return ``value`` if it is in [0, ∞); raise ``ValueError`` otherwise."""
    return float(NONNEGATIVE(name, value))


def probability(name: str, value: float) -> float:
    """Return ``value`` if it is in (0, 1); raise ``ValueError`` otherwise."""
    return float(PROBABILITY(name, value))


def between(name: str, value: float, low: float, high: float) -> float:
    """Return ``value`` if it is in [low, high]; raise ``ValueError`` otherwise."""
    return float(within(low, high)(name, value))


def whole(name: str, value: int, at_least: int = 1) -> int:
    """Return ``value`` if it is a whole number ≥ ``at_least``; raise ``ValueError`` otherwise."""
    return int(_at_least(at_least)(name, value))


def one_of(name: str, value: str, options: Collection[str]) -> str:
    """Return ``value`` if it is among ``options``; raise ``ValueError`` otherwise."""
    return str(among(options)(name, value))


_at_least = at_least  # `whole` has an argument of that name


def keep(owner: Any, range: Range, *names: str) -> None:
    """Put what a range makes of some attributes of a frozen value in their place; raise ``ValueError`` otherwise."""
    for name in names:
        object.__setattr__(owner, name, range(name, getattr(owner, name)))


def keep_all(owner: Any, range: Range, *names: str) -> None:
    """`keep` for attributes that are sequences of numbers: they become tuples."""
    for name in names:
        object.__setattr__(owner, name, tuple(range(name, value) for value in getattr(owner, name)))


def shape(name: str, array: Any, expected: tuple[int | None, ...]) -> None:
    """Raise ``ValueError`` unless ``array.shape`` equals ``expected`` (None: any length)."""
    actual = array.shape
    if len(actual) != len(expected) or any(e is not None and a != e for a, e in zip(actual, expected, strict=True)):
        wanted = "(" + ", ".join("any" if e is None else str(e) for e in expected) + ")"
        raise ValueError(f"{name} must have shape {wanted}, got {actual}")
