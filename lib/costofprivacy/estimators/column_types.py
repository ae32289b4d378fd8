"""What a column's type says of its cells: numbers, truth values, dates, text, or nothing. No cell is read.

The type of a column is taken as public structure, as its name is. It can depend on records: one text makes a column of
numbers a column of text (`costofprivacy.estimators.cells`). So what follows from a type alone may be told to the holder
of the data, and is no part of a release.
"""

from __future__ import annotations

from typing import Any

from costofprivacy.estimators import frames

NUMBER, TRUTH, DATE, DURATION, TEXT, OBJECTS = "number", "truth value", "date", "duration", "text", "object"
READ = (
    NUMBER,
    TRUTH,
    DATE,
    DURATION,
    TEXT,
    OBJECTS,
)  # of cells that some kind of column reads, or warns that it cannot
_KINDS = {"b": TRUTH, "M": DATE, "m": DURATION, "U": TEXT, "S": TEXT} | dict.fromkeys("iuf", NUMBER)  # NumPy's letters
_NAMES = (  # how the names of types begin that have no letter of NumPy: of pandas, polars and pyarrow
    *(("struct", None), ("interval", None)),
    *((start, TEXT) for start in ("str", "utf8", "large_string", "large_utf8", "categorical", "enum")),
    *((start, TEXT) for start in ("binary", "large_binary", "fixed_size_binary")),
    *((start, NUMBER) for start in ("int", "uint", "float", "double", "halffloat", "decimal")),
    *((start, DATE) for start in ("date", "timestamp")),
    *(("bool", TRUTH), ("duration", DURATION), ("object", OBJECTS), ("null", OBJECTS)),
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
    name = str(dtype).lower().removeprefix("dictionary<values=") if dtype is not None else ""
    return next((found for start, found in _NAMES if name.startswith(start)), None)


def dtype(column: Any) -> Any:
    """The type of a column or an array; None for what has none. On a frame or a series a name may be a column or a row.

    So attributes are asked of its class.
    """
    names = [name for name in ("dtype", "type") if hasattr(type(column), name)]
    return getattr(column, names[0]) if names else None


def of_column(column: Any) -> str | None:
    """What the type of a column says of its cells; None for a list, which has no type."""
    return family(dtype(column))


def families(table: Any) -> dict[Any, str | None]:
    """What the types of a data frame's columns say, by their names; nothing for what is no data frame."""
    return {name: of_column(column) for name, column in frames.named(table)}
