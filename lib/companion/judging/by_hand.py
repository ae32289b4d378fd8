"""How a number that a page computed by hand stands to the chapter's table: *One run, by hand*.

A deterministic entry must agree to four digits; a mean within four standard errors, its own and the hand's together.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from companion.judging.prose import compact

DIGITS = 4
MOST_ERRORS = 4.0  # standard errors
DIFFERENT = "**The two differ**"  # begins the sentence that says so


def relation(
    value: float,
    tables: Mapping[str, pd.DataFrame],
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
        found = found[_same(found[name], wanted)]
    # an exact entry may be repeated, with other columns beside it
    if len(found) > 1 and found[column].nunique() > 1:
        raise ValueError(f"one row of {table} must have {dict(row)}, got {len(found)}")
    if not len(found):
        return f"The table *{table}* has no such row at the sizes of this run; at the papers' scale it has one."
    entry, its_error = float(found[column].iloc[0]), float(found[spread].iloc[0]) if spread else 0.0
    both = float(np.hypot(error, its_error))
    told = f"By hand: {_digits(value)}{_plus(error)}. The table *{table}* has {_digits(entry)}{_plus(its_error)}."
    if both > 0:
        away = abs(value - entry) / both
        if away > MOST_ERRORS:
            return f"{told} {DIFFERENT} by {compact(away)} standard errors."
        return f"{told} The difference is {compact(away)} standard errors."
    if not np.isclose(value, entry, rtol=0.5 * 10.0 ** (1 - DIGITS), atol=0.0):
        return f"{told} {DIFFERENT} within the first four digits."
    return f"{told} The two agree to four digits."


def _same(column: pd.Series, wanted: Any) -> pd.Series:
    if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        return pd.Series(np.isclose(pd.to_numeric(column, errors="coerce"), wanted, rtol=1e-9, atol=0.0), column.index)
    return column == wanted


def _digits(value: float) -> str:
    return _typeset(f"{value:.{DIGITS}g}")


def _plus(error: float) -> str:
    return f" ± {_typeset(f'{error:.1g}')}" if error > 0 else ""


def _typeset(number: str) -> str:
    """A number without a computer's spelling of its power of ten, and with a true minus."""
    digits, _, power = number.partition("e")
    return rf"${digits}\cdot 10^{{{int(power)}}}$" if power else digits.replace("-", "−")
