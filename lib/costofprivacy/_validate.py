"""Argument checks: one home, one wording. Every message names the argument, its value and the range."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np


def _fail(name: str, requirement: str, value: Any) -> ValueError:
    return ValueError(f"{name} must be {requirement}, got {value!r}")


def _is_number(value: Any) -> bool:
    """Whether ``value`` is a real number (bool and text are not)."""
    try:
        return not isinstance(value, (bool, np.bool, str, bytes)) and not math.isnan(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _is_whole(value: Any) -> bool:
    return _is_number(value) and math.isfinite(value) and value == int(value)


def positive(name: str, value: float) -> float:
    """Return ``value`` if it is in (0, ∞]; raise ``ValueError`` otherwise."""
    if not _is_number(value) or not value > 0:
        raise _fail(name, "positive", value)
    return float(value)


def finite_positive(name: str, value: float) -> float:
    """Return ``value`` if it is in (0, ∞); raise ``ValueError`` otherwise."""
    if not _is_number(value) or not 0 < value < math.inf:
        raise _fail(name, "positive and finite", value)
    return float(value)


def finite(name: str, value: float) -> float:
    """Return ``value`` if it is a finite number; raise ``ValueError`` otherwise."""
    if not _is_number(value) or not math.isfinite(value):
        raise _fail(name, "a finite number", value)
    return float(value)


def nonnegative(name: str, value: float) -> float:
    """Return ``value`` if it is in [0, ∞); raise ``ValueError`` otherwise."""
    if not _is_number(value) or not 0 <= value < math.inf:
        raise _fail(name, "non-negative and finite", value)
    return float(value)


def probability(name: str, value: float) -> float:
    """Return ``value`` if it is in (0, 1); raise ``ValueError`` otherwise."""
    if not _is_number(value) or not 0 < value < 1:
        raise _fail(name, "between 0 and 1, both excluded", value)
    return float(value)


def between(name: str, value: float, low: float, high: float) -> float:
    """Return ``value`` if it is in [low, high]; raise ``ValueError`` otherwise."""
    if not _is_number(value) or not low <= value <= high:
        raise _fail(name, f"between {low} and {high}", value)
    return float(value)


def whole(name: str, value: int, at_least: int = 1) -> int:
    """Return ``value`` if it is a whole number ≥ ``at_least``; raise ``ValueError`` otherwise."""
    if not _is_whole(value) or value < at_least:
        raise _fail(name, f"a whole number of at least {at_least}", value)
    return int(value)


def one_of(name: str, value: str, options: Collection[str]) -> str:
    """Return ``value`` if it is among ``options``; raise ``ValueError`` otherwise."""
    if value not in options:
        raise _fail(name, "one of " + ", ".join(options), value)
    return value


def each(check: Any, name: str, values: Sequence[Any], **limits: Any) -> tuple[Any, ...]:
    """Apply ``check`` to every element of a non-empty sequence of distinct values; return them as a tuple."""
    if isinstance(values, str) or np.ndim(values) == 0 or len(values) == 0:
        raise _fail(name, "a non-empty list", values)
    checked = tuple(check(f"each of {name}", value, **limits) for value in values)
    if len(set(checked)) < len(checked):
        raise _fail(name, "a list of distinct values", list(values))
    return checked


def workers(value: int) -> int:
    """Return a number of worker processes (-1: all cores); raise ``ValueError`` otherwise."""
    if not _is_whole(value) or not (value == -1 or value >= 1):
        raise _fail("workers", "-1 (all cores) or a whole number of at least 1", value)
    return int(value)


def shape(name: str, array: Any, expected: tuple[int | None, ...]) -> None:
    """Raise ``ValueError`` unless ``array.shape`` equals ``expected`` (None: any length)."""
    actual = array.shape
    if len(actual) != len(expected) or any(e is not None and a != e for a, e in zip(actual, expected, strict=True)):
        wanted = "(" + ", ".join("any" if e is None else str(e) for e in expected) + ")"
        raise ValueError(f"{name} must have shape {wanted}, got {actual}")
