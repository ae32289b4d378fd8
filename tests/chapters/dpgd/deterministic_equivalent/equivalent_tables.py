"""Tables of the chapter on the deterministic equivalent, changed: what its modules of cases share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from tests.chapters.machinery import Tables, change


def power(
    table: pd.DataFrame, exponent: float, where: Any, *, error: float | None = 0.001, column: str = "value"
) -> pd.DataFrame:
    """A column that follows this power of n from its own last value on, with this relative error."""
    size = "d" if "d" in table and "n" not in table else "n"
    rows = table[where]
    last = rows.loc[rows[size] == rows[size].max(), column].abs().max()
    made = change(table, column, lambda r: last * (r[size] / r[size].max()) ** exponent, where)
    return made if error is None else change(made, "standard_error", lambda r: error * r["value"], where)


def sized(t: Tables, name: str, keep: Callable[[pd.Series], Any]) -> Tables:
    """A table of some of its sizes."""
    return {name: t[name][keep(t[name]["n"])]}


def of(t: Tables, table: str, quantity: str) -> Any:
    return t[table]["quantity"].str.startswith(quantity)
