"""The columns of a table, whatever holds it. What is refused is refused for a public property: names, types, shapes.

======================================  ============================================================================
table                                   how its columns are found
======================================  ============================================================================
data frame (pandas, polars, pyarrow)    by name; a column that is missing, unknown or twice there is refused
mapping of names to columns             the same
array of two dimensions                 by place, all of them
list of records                         a record is a mapping of names to cells, or a sequence of all cells in order.
                                        *Which keys a record has is part of the record*: a cell that it lacks is
                                        missing, keys that are not known are ignored, and nothing is refused.
======================================  ============================================================================
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set, Sized
from typing import Any

import numpy as np
from scipy.sparse import issparse

REFUSE, IGNORE = "refuse", "ignore"
EXTRA = (REFUSE, IGNORE)  # what happens to columns that are not asked for


def columns(X: Any, names: Sequence[str], extra: str = REFUSE) -> tuple[list[Any], int]:
    """The named columns of a table, in the order of the names, and the number of records.

    Args:
        X: a table of the module's list. names: of the columns. extra: one of `EXTRA`.

    Raises:
        TypeError: if X is no table. ValueError: if columns are missing, unknown or of unequal lengths. The messages
            hold column names, types and shapes, and never a cell.

    >>> columns([{"age": 40, "sex": "f"}, {"age": 30}], ["age", "sex"])
    ([[40, 30], ['f', None]], 2)
    """
    if _has_names(X):
        _check(_names(X), names, extra)
        found = [_sized(name, X[name]) for name in names]
    elif hasattr(type(X), "ndim") and hasattr(type(X), "shape"):
        array = np.asanyarray(X)
        if array.ndim != 2 or array.shape[1] != len(names):
            raise ValueError(
                f"X must have shape (any, {len(names)}), one column for each of the schema, got {array.shape}"
            )
        found = list(array.T)
    elif isinstance(X, Sequence):
        found = [list(column) for column in zip(*(_cells(record, names) for record in X))] or [[] for _ in names]
        return found, len(X)
    else:
        raise _no_table(X)
    lengths = {len(column) for column in found}
    if len(lengths) != 1:
        raise ValueError(f"the columns of X must have equal lengths, got {sorted(lengths)}")
    return found, lengths.pop()


def check_names(X: Any, names: Sequence[str], extra: str = REFUSE) -> None:
    """Raise what `columns` raises for the names and the shape of a table; no cell is read.

    Args, Raises: as there. A list of records has no names of its own.
    """
    if _has_names(X):
        _check(_names(X), names, extra)
    else:
        columns(X, names, extra)


def _has_names(X: Any) -> bool:
    """Whether a table has names of its own.

    Raises:
        TypeError: if it is of a type that is no table, or a table that is not in memory.
    """
    if issparse(X):
        raise TypeError("X must be a dense table, got a sparse matrix")
    if isinstance(X, (str, bytes)) or X is None:
        raise _no_table(X)
    if hasattr(type(X), "collect"):
        raise TypeError(f"X must be in memory, got a {type(X).__name__}: collect it first")
    return isinstance(X, Mapping) or hasattr(type(X), "columns")


def _no_table(X: Any) -> TypeError:
    return TypeError(f"X must be a data frame, a mapping, an array or a list of records, got {type(X).__name__}")


def named(X: Any) -> list[tuple[Any, Any]]:
    """The columns of a data frame with their names; none for what is no data frame. Names may stand twice there.

    What a frame is asked for is an attribute of its class: on a frame of pandas any name may be a column.
    """
    if hasattr(type(X), "iloc") and hasattr(type(X), "columns"):
        return [(name, X.iloc[:, k]) for k, name in enumerate(X.columns)]
    if hasattr(type(X), "get_columns"):  # of polars
        return [(column.name, column) for column in X.get_columns()]
    return list(zip(X.column_names, X.columns)) if hasattr(type(X), "column_names") else []


def _names(X: Any) -> list[Any]:
    if isinstance(X, Mapping):
        return list(X.keys())
    return list(X.column_names if hasattr(type(X), "column_names") else X.columns)


def _check(found: list[Any], names: Sequence[str], extra: str) -> None:
    """Refuse a table by the names of its columns."""
    faults: list[tuple[str, Callable[[], list[Any]]]] = [
        ("lacks the columns", lambda: [name for name in names if name not in found]),
        ("has columns that the schema does not know:", lambda: [name for name in found if name not in names]),
        ("has more than once the columns", lambda: [name for name in names if found.count(name) > 1]),
    ]
    for what, which in faults:
        wrong = which()
        if wrong and not (extra == IGNORE and "does not know" in what):
            raise ValueError(f"X {what} {', '.join(repr(name) for name in wrong)}")


def _cells(record: Any, names: Sequence[str]) -> list[Any]:
    """The cells of a record, each None where the record does not have it: never an exception."""
    try:
        if isinstance(record, Mapping) or hasattr(type(record), "iloc"):
            return [record.get(name) for name in names]
        if not isinstance(record, (str, bytes)) and len(record) == len(names):
            return [record[place] for place in range(len(names))]
    except Exception:
        pass
    return [None] * len(names)


def _sized(name: str, column: Any) -> Any:
    """A column with a length; what is a cell, as in a mapping that holds a single record, is refused by its type."""
    if isinstance(column, (str, bytes, Mapping, Set)) or not isinstance(column, Iterable):
        raise TypeError(
            f"X must map each name to a column of cells, got a {type(column).__name__} for {name!r}: "
            "a single record is given as a list of one, [record]"
        )
    return column if isinstance(column, Sized) else list(column)
