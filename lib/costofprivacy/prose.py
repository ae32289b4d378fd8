"""Words that follow numbers: comparisons for answers and captions, computed and never typed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

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


_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def plain(value: float) -> str:
    """A number as in `compact`, in characters alone: for alternative texts, tables and labels of figures."""
    text = compact(value).strip("$").replace(r"\cdot ", "·").replace(r"\infty", "∞")
    text = re.sub(r"\^\{(-?\d+)\}", lambda power: power[1].translate(_SUPERSCRIPTS), text)
    return text.replace("-", "−")


def listed(items: Iterable[str]) -> str:
    """Items as one reads them out: ``a``, ``a and b``, ``a, b and c``."""
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


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
