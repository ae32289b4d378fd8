"""Checks of parameters: what a range is, lists of values, and how far beyond the usual a run may go.

The words are those of the library's own checks: every message names the argument, its value and the range.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

import numpy as np

ANYWAY = "COSTOFPRIVACY_ANYWAY"  # set to anything but 0, ranges and sizes that are only usual refuse nothing


def anyway() -> bool:
    """Whether what is beyond the usual is wanted all the same."""
    return os.environ.get(ANYWAY, "") not in ("", "0")


class Range(Protocol):
    """The values that a parameter may take: called with a name and a value it returns the value in its type."""

    @property
    def description(self) -> str:
        """The values in words, as in "must be positive"."""

    @property
    def ends(self) -> tuple[float, float] | None:
        """The least and the greatest value, where both are stated."""

    @property
    def convert(self) -> Callable[[Any], Any]:
        """The type of its values."""

    def __call__(self, name: str, value: Any) -> Any:
        """The value in its type; ``ValueError`` where it is not in the range."""


@dataclass(frozen=True)
class Usual:
    """The part of a range where runs are known to work; beyond it values make sense, and need ANYWAY.

    Args:
        sensible: the whole range. description: the usual part in words. admits: whether a value is in it. ends: of it.
    """

    sensible: Range
    description: str
    admits: Callable[[Any], bool]
    ends: tuple[float, float]

    @property
    def convert(self) -> Callable[[Any], Any]:
        """The type of its values."""
        return self.sensible.convert

    def __call__(self, name: str, value: Any) -> Any:
        """The value in its type; ``ValueError`` where it is not in the range, or not usual and ANYWAY is not set."""
        found = self.sensible(name, value)
        if self.admits(found) or anyway():
            return found
        raise ValueError(f"{name} must be {self.description}, got {value!r} (ANYWAY=1 goes beyond)")


def whole(name: str, value: Any, at_least: int = 1) -> int:
    """Return ``value`` if it is a whole number ≥ ``at_least``; raise ``ValueError`` otherwise."""
    found = _whole(value)
    if found is None or found < at_least:
        raise ValueError(f"{name} must be a whole number of at least {at_least}, got {value!r}")
    return found


def workers(value: Any) -> int:
    """Return a number of worker processes (-1: all cores); raise ``ValueError`` otherwise."""
    found = _whole(value)
    if found is None or not (found == -1 or found >= 1):
        raise ValueError(f"workers must be -1 (all cores) or a whole number of at least 1, got {value!r}")
    return found


def each(check: Any, name: str, values: Sequence[Any], **limits: Any) -> tuple[Any, ...]:
    """Apply ``check`` to every element of a non-empty sequence of distinct values; return them as a tuple."""
    if isinstance(values, str) or np.ndim(values) == 0 or len(values) == 0:
        raise ValueError(f"{name} must be a non-empty list, got {values!r}")
    checked = tuple(check(f"each of {name}", value, **limits) for value in values)
    if len(set(checked)) < len(checked):
        raise ValueError(f"{name} must be a list of distinct values, got {list(values)!r}")
    return checked


def _whole(value: Any) -> int | None:
    if isinstance(value, (bool, np.timedelta64)) or not isinstance(value, Real):
        return None
    number: Any = value
    try:
        return int(number) if math.isfinite(number) and number == int(number) else None
    except OverflowError:  # beyond the doubles
        return None
