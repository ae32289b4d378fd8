"""Tables by name, and the rows and numbers that are asked of them."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from companion.judging.findings import Number

Tables = Mapping[str, pd.DataFrame]


def pick(table: pd.DataFrame, **where: Any) -> pd.Series:
    """The one row of a table in which each named column has the given value; else a ``LookupError``."""
    rows = select(table, **where)
    if len(rows) != 1:
        raise LookupError(f"one row must have {describe(where)}, got {len(rows)}")
    return rows.iloc[0]


def select(table: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """The rows of a table in which each named column has the given value; NaN is equal to NaN."""
    for column, value in where.items():
        missing = isinstance(value, float) and math.isnan(value)
        table = table[table[column].isna() if missing else table[column] == value]
    return table


def nearest(values: pd.Series, wanted: float) -> float:
    """The value of a column that is nearest on a logarithmic scale."""
    return values.iloc[int(np.abs(np.log(values.to_numpy(dtype=float) / wanted)).argmin())]


def cite(
    name: str, tables: Tables, table: str, column: str, *, error: str = "", against: float | None = None, **where: Any
) -> Number:
    """A number that stands in one row of a table, with its error from another column of the row.

    ``where``: the values by column that single out the row.
    """
    row = pick(tables[table], **where)
    return Number(name, float(row[column]), float(row[error]) if error else None, against, table, describe(where))


def describe(where: Mapping[str, Any]) -> str:
    """Values by column, in words."""
    return ", ".join(
        f"{column} = {value:g}" if isinstance(value, float) else f"{column} = {value}"
        for column, value in where.items()
    )
