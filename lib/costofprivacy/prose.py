"""Words that follow numbers: comparisons for answers and captions, computed and never typed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import pandas as pd

from costofprivacy.findings import CONSISTENT, compact


def compared(value: float, other: float, words: tuple[str, str, str], error: float = 0.0) -> str:
    """Which of three words fits a comparison.

    Args:
        value, other: the numbers. words: for less, for no visible difference, for more.
        error: standard error of the difference; within four of them no difference is visible.
    """
    if abs(value - other) <= CONSISTENT * error or value == other:
        return words[1]
    return words[0] if value < other else words[2]


def times(value: float) -> str:
    """A ratio in words: ``3.5 times``."""
    return f"{compact(value)} times"


def percent(share: float) -> str:
    """A share of one as a percentage of two significant digits."""
    if share == 0 or not math.isfinite(share):
        return f"{share:g} %"
    digits = max(0, 1 - math.floor(math.log10(abs(100 * share))))
    return f"{100 * share:.{digits}f} %".replace("-", "−")


def span(values: Iterable[float]) -> str:
    """The range of some values: ``0.2 to 1``, or the one value."""
    numbers = sorted(float(value) for value in values)
    low, high = compact(numbers[0]), compact(numbers[-1])
    return low if low == high else f"{low} to {high}"


def course(first: float, last: float, error: float = 0.0, tell: Callable[[float], str] = compact) -> str:
    """How something goes from its first value to its last: ``falls from 3 to 0.2``, ``stays near 3``.

    Args:
        first, last: the values. error: standard error of their difference. tell: how a number is written.
    """
    verb = compared(last, first, ("falls", "stays", "rises"), error)
    return f"stays near {tell(last)}" if verb == "stays" else f"{verb} from {tell(first)} to {tell(last)}"


def along(rows: pd.DataFrame, column: str, tell: Callable[[float], str] = compact) -> str:
    """How a column goes from the first to the last row, as in `course`; its error is ``standard_error``, if any.

    Args:
        rows: in order, at least one. column: of the values. tell: how a number is written.
    """
    first, last = rows.iloc[0], rows.iloc[-1]
    error = math.hypot(first["standard_error"], last["standard_error"]) if "standard_error" in rows else 0.0
    return course(first[column], last[column], error, tell)


def spoken(value: float) -> str:
    """A number for the ear, without typesetting: ``6.8 times 10 to the −7``."""
    text = compact(value).strip("$").replace(r"\infty", "infinity")
    return text.replace(r"\cdot ", " times ").replace("^{", " to the ").replace("}", "").replace("-", "−")
