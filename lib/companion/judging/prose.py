"""Words that follow numbers: comparisons for answers and captions, computed and never typed."""

import html
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from companion.judging.tables import Tables
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
    """Which of three words fits: for less, for no difference within four standard errors ``error``, for more."""
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
    """A ratio in words: ``3.5 times``, ``19400 times``."""
    return f"{compact(float(f'{value:.3g}'))} times"


def percent(share: float) -> str:
    """A share of one as a percentage of two significant digits."""
    if share == 0 or not math.isfinite(share):
        return f"{share:g} %"
    digits = max(0, 1 - math.floor(math.log10(abs(100 * share))))
    return f"{100 * share:.{digits}f} %".replace("-", "−")


def span(values: Iterable[float], tell: Callable[[float], str] = compact) -> str:
    """The range of some values: ``0.2 to 1``, or the one value. ``tell`` writes a number."""
    numbers = sorted(float(value) for value in values)
    low, high = tell(numbers[0]), tell(numbers[-1])
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
    """How something goes: ``falls from 3 to 0.2``. ``error``: of the difference. ``tell`` writes a number."""
    verb = compared(last, first, ("falls", "stays", "rises"), error)
    return f"stays near {tell(last)}" if verb == "stays" else f"{verb} from {tell(first)} to {tell(last)}"


def along(rows: pd.DataFrame, column: str, tell: Callable[[float], str] = compact) -> str:
    """How a column goes from the first to the last row, as in `course`; its error is ``standard_error``, if any."""
    first, last = rows.iloc[0], rows.iloc[-1]
    error = math.hypot(first["standard_error"], last["standard_error"]) if "standard_error" in rows else 0.0
    return course(first[column], last[column], error, tell)


Check = tuple[Callable[[Tables], bool], str, str]
"""What is asked of the tables, the sentence if it is so, and the sentence if it is not."""


@dataclass(frozen=True)
class Sentences:
    """Sentences, as a page shows them and nbval compares them."""

    sentences: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        return "<ul>" + "".join(f"<li>{html.escape(sentence)}</li>" for sentence in self.sentences) + "</ul>"


def checked(tables: Tables, checks: tuple[Check, ...]) -> Sentences:
    """The sentence of each check that fits the tables."""
    return Sentences(tuple(yes if holds(tables) else no for holds, yes, no in checks))


DIGITS = 4
DIFFERENT = "**The two differ**"  # begins the sentence that says so


def relation(
    value: float,
    tables: Tables,
    table: str,
    column: str,
    row: Mapping[str, Any],
    *,
    error: float = 0.0,
    spread: str = "",
) -> str:
    """A sentence that holds a number against an entry of a table, as Markdown.

    Args:
        value, tables, table, column: the number, and where its counterpart stands.
        row: what the columns that choose the row must hold; numbers within rounding. Where the table has no such row,
            as at another preset, the sentence says that; several are a ``ValueError``.
        error: standard error of ``value``; 0 if it is exact.
        spread: the column with the standard error of the counterpart; empty if that is exact.
    """
    found = tables[table]
    missing = [name for name in (column, *row, *([spread] if spread else [])) if name not in found]
    if missing:
        raise ValueError(f"the columns must be among those of {table}, {list(found)}, got {missing}")
    for name, wanted in row.items():
        if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
            found = found[np.isclose(pd.to_numeric(found[name], errors="coerce"), wanted, rtol=1e-9, atol=0.0)]
        else:
            found = found[found[name] == wanted]
    # an exact entry may be repeated, with other columns beside it
    if len(found) > 1 and found[column].nunique() > 1:
        raise ValueError(f"one row of {table} must have {dict(row)}, got {len(found)}")
    if not len(found):
        return f"The table *{table}* has no such row at the sizes of this run; at the papers' scale it has one."
    entry, its_error = float(found[column].iloc[0]), float(found[spread].iloc[0]) if spread else 0.0
    both = float(np.hypot(error, its_error))
    sentence = f"By hand: {_told(value, error)}. The table *{table}* has {_told(entry, its_error)}."
    if both > 0:
        away = abs(value - entry) / both
        if away > CONSISTENT:
            return f"{sentence} {DIFFERENT} by {compact(away)} standard errors."
        return f"{sentence} The difference is {compact(away)} standard errors."
    if not np.isclose(value, entry, rtol=0.5 * 10.0 ** (1 - DIGITS), atol=0.0):
        return f"{sentence} {DIFFERENT} within the first four digits."
    return f"{sentence} The two agree to four digits."


def _told(value: float, error: float) -> str:
    return _typeset(f"{value:.{DIGITS}g}") + (f" ± {_typeset(f'{error:.1g}')}" if error > 0 else "")


def _typeset(number: str) -> str:
    digits, _, power = number.partition("e")
    return rf"${digits}\cdot 10^{{{int(power)}}}$" if power else digits.replace("-", "−")


_FONT = re.compile(r"\\(?:mathrm|mathcal|mathbf|mathbb|text|operatorname)\{(.*?)\}")
_FRACTION = re.compile(r"\\frac\{(.*?)\}\{(.*?)\}")
_SPACE = re.compile(r"\\[,;:! ]")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "Gamma": "Γ", "delta": "δ", "Delta": "Δ", "epsilon": "ε",
    "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν",
    "rho": "ρ", "sigma": "σ", "Sigma": "Σ", "tau": "τ", "phi": "φ", "varphi": "φ", "psi": "ψ", "Pi": "Π",
    "infty": "∞", "cdot": "·", "times": "×", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "approx": "≈",
    "div": "÷", "sum": "Σ", "sqrt": " root of ", "log": "log ", "ln": "ln ", "to": " → ",
    "tilde": "", "hat": "", "bar": "", "star": "*",
    "lfloor": "⌊", "rfloor": "⌋", "langle": "⟨", "rangle": "⟩", "propto": " ∝ ", "top": "T",
}  # fmt: skip


def spoken(text: str) -> str:
    """A label without its mathematical dress."""
    text = _FRACTION.sub(r"\1/\2", _FONT.sub(r"\1", _SPACE.sub(" ", " ".join(text.split()))))
    text = text.replace("^*", "*").replace(r"\|", "‖")
    text = _COMMAND.sub(lambda found: _LETTERS.get(found[1], found[1]), text)
    return " ".join(re.sub(r"[\$\{\}\\]", "", text).split()).replace(" ^", "^")
