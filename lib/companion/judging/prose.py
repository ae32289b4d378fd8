"""Words that follow numbers: comparisons for answers and captions, computed and never typed."""

import math
import re
from collections.abc import Callable, Iterable

import pandas as pd

from companion.judging.vocabulary import CONSISTENT

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LEADING = 2.0  # an error that begins with a smaller digit has two


def compact(value: float) -> str:
    """A number for a sentence: three significant digits, typeset where it needs a power of ten."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else r"$\infty$" if value > 0 else r"$-\infty$" if value < 0 else "no number"
    if 1e-3 <= abs(value) < 1e5:
        digits = max(0, 2 - math.floor(math.log10(abs(value))))
        text = f"{value:.{digits}f}"
        return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")
    mantissa, exponent = f"{value:.1e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".")
    return rf"${mantissa}\cdot 10^{{{int(exponent)}}}$" if mantissa != "1" else f"$10^{{{int(exponent)}}}$"


def compared(value: float, other: float, words: tuple[str, str, str], error: float = 0.0) -> str:
    """Which of three words fits a comparison: for less, for no visible difference, for more.

    Within four standard errors of the difference, ``error``, none is visible.
    """
    if abs(value - other) <= CONSISTENT * error or value == other:
        return words[1]
    return words[0] if value < other else words[2]


def plain(value: float) -> str:
    """A number as in `compact`, in characters alone: for alternative texts, tables and labels of figures."""
    text = compact(value).strip("$").replace(r"\cdot ", "·").replace(r"\infty", "∞")
    text = re.sub(r"\^\{(-?\d+)\}", lambda power: power[1].translate(SUPERSCRIPTS), text)
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


def measured(value: float, error: float) -> str:
    """A value with its error, which has one digit, or two after a leading one: ``0.197 ± 0.003``."""
    if not (math.isfinite(error) and error > 0):
        return plain(value)
    leading, exponent = f"{error:.1e}".split("e")
    digits = max(0, (float(leading) < LEADING) - int(exponent))
    return f"{value:.{digits}f} ± {error:.{digits}f}".replace("-", "−")


def with_errors(rows: pd.DataFrame, value: str, error: str = "standard_error") -> list[str]:
    """The numbers in a column with the errors in another, each as in `measured`."""
    return [measured(*pair) for pair in zip(rows[value], rows[error], strict=True)]


def course(first: float, last: float, error: float = 0.0, tell: Callable[[float], str] = compact) -> str:
    """How something goes from its first value to its last: ``falls from 3 to 0.2``, ``stays near 3``.

    ``error`` is that of their difference; ``tell`` writes a number.
    """
    verb = compared(last, first, ("falls", "stays", "rises"), error)
    return f"stays near {tell(last)}" if verb == "stays" else f"{verb} from {tell(first)} to {tell(last)}"


def along(rows: pd.DataFrame, column: str, tell: Callable[[float], str] = compact) -> str:
    """How a column goes from the first to the last row, as in `course`; its error is ``standard_error``, if any."""
    first, last = rows.iloc[0], rows.iloc[-1]
    error = math.hypot(first["standard_error"], last["standard_error"]) if "standard_error" in rows else 0.0
    return course(first[column], last[column], error, tell)
