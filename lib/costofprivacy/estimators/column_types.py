"""What a column's type says of its cells: numbers, truth values, dates, text, or nothing. No cell is read.

The type of a column is taken as public structure, as its name is. It can depend on records: one text makes a column of
numbers a column of text (`costofprivacy.estimators.cells`). So what follows from a type alone may be told to the holder
of the data, and is no part of a release.
"""

from __future__ import annotations

from typing import Any

NUMBER, TRUTH, DATE, DURATION, TEXT, OBJECTS = "number", "truth value", "date", "duration", "text", "object"
_KINDS = {"b": TRUTH, "M": DATE, "m": DURATION, "U": TEXT, "S": TEXT} | dict.fromkeys("iuf", NUMBER)  # NumPy's letters
_NAMES = (  # how the names of types begin that have no letter of NumPy: of pandas, polars and pyarrow
    *((start, TEXT) for start in ("str", "utf8", "large_string", "large_utf8", "categorical", "enum")),
    *((start, NUMBER) for start in ("int", "uint", "float", "double", "halffloat", "decimal")),
    *((start, DATE) for start in ("date", "timestamp")),
    *(("bool", TRUTH), ("duration", DURATION), ("object", OBJECTS)),
)


def family(dtype: Any) -> str | None:
    """What a type of column says of its cells; None where it says nothing.

    Args:
        dtype: a type of NumPy, pandas, polars or pyarrow. That of pandas' categories is the type of the categories.

    >>> import pandas as pd
    >>> columns = pd.Series([1, None], dtype="Int8"), pd.Series(["a"], dtype="category"), pd.Series([1, "a"])
    >>> [family(column.dtype) for column in columns]
    ['number', 'text', 'object']
    """
    categories = getattr(dtype, "categories", None)
    if getattr(dtype, "name", None) == "category" and categories is not None:
        return family(categories.dtype)
    kind = getattr(dtype, "kind", None)
    if isinstance(kind, str) and kind in _KINDS:
        return _KINDS[kind]
    name = str(dtype).lower() if dtype is not None else ""
    return next((found for start, found in _NAMES if name.startswith(start)), None)


def of_column(column: Any) -> str | None:
    """What the type of a column says of its cells; None for a list, which has no type."""
    return family(getattr(column, "dtype", getattr(column, "type", None)))


def families(table: Any) -> dict[Any, str | None]:
    """What the types of a data frame's columns say, by their names; nothing for what is no data frame."""
    names, dtypes = getattr(table, "columns", None), getattr(table, "dtypes", None)
    if names is None or dtypes is None:
        return {}
    return dict(zip(names, map(family, dtypes)))
