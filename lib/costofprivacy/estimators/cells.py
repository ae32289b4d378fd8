r"""What one cell of a table is worth: a number, a key, a truth value or an instant. Each cell is read alone.

**Guarantee.** For every function of this module, what a cell becomes depends on that cell alone. So replacing one
record of a table changes the results of that record and no other's. Nothing is refused: a cell that cannot be read is
missing, and so no error can depend on a record or quote one.

*Proof.* The functions apply one map to each cell. The maps hold no state, and they catch every exception. Columns of
one type of number, or of dates, go through NumPy instead, all at once. That is the same map: an integer becomes the
nearest double on both ways, and an instant is rounded down to microseconds on both ways (the tests compare them bit for
bit). This matters, because *the type of a column depends on all its cells*: one text makes a column of numbers a column
of objects, and one missing value makes integers floating-point numbers. A number is therefore read from text, too, and
is the same category and truth value however it is written: ``1``, ``1.0``, ``True`` and ``"1"`` are all true.

**Where this begins.** With the table that is given. ``pandas.read_csv`` infers types from all cells; with
``dtype=str`` each cell stays what the file says.

**What a column's type says of its cells: numbers, truth values, dates, text, or nothing. No cell is read.**

The type of a column is taken as public structure, as its name is. It can depend on records: one text makes a column of
numbers a column of text. So what follows from a type alone may be told to the holder of the data, and is no part of a
release.

**The columns of a table, whatever holds it.** What is refused is refused for a public property: names, types, shapes.

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

import datetime
import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set, Sized
from decimal import Decimal
from typing import Any

import numpy as np
from scipy.sparse import issparse

from costofprivacy.privacy import records

# ---- Column types ----

NUMBER, TRUTH, DATE, DURATION, TEXT, OBJECTS = "number", "truth value", "date", "duration", "text", "object"
# of cells that some kind of column reads, or warns that it cannot
READ = (NUMBER, TRUTH, DATE, DURATION, TEXT, OBJECTS)
AS_NUMBERS = (NUMBER, TRUTH, TEXT, OBJECTS)  # text is read cell by cell
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
    return at_once(lambda: getattr(column, names[0])) if names else None


def of_column(column: Any) -> str | None:
    """What the type of a column says of its cells; None for a list, which has no type."""
    return at_once(lambda: family(dtype(column)))


Key = float | str
MISSING = None
TRUE, FALSE = ("true", "t", "yes", "y"), ("false", "f", "no", "n")
_TRUTHS = dict.fromkeys(TRUE, 1.0) | dict.fromkeys(FALSE, 0.0)
EXACT = 2.0**53  # whole numbers below are doubles
_WHOLE = {id(kind) for kind in np.sctypeDict.values() if np.dtype(kind).kind in "iu"}  # by identity, as in `records`
_DAY = 86_400_000_000  # microseconds
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ].*)?", re.DOTALL | re.ASCII)
_FIRST, _LAST = np.datetime64("0001-01-01", "us"), np.datetime64("9999-12-31T23:59:59.999999", "us")


def numbers(column: Any) -> np.ndarray:
    """The cells as doubles, shape (n,): NaN is missing, and a number beyond the doubles is infinite.

    >>> from decimal import Decimal
    >>> numbers([1, "2.5", Decimal(3), True, None, "a secret", 10**400, float("-inf")])
    array([ 1. ,  2.5,  3. ,  1. ,  nan,  nan,  inf, -inf])
    """
    given = _doubles(column)
    return records.each(cells(column)) if given is None else given


def codes(column: Any, levels: dict[Key, int], unknown: int, missing: int) -> np.ndarray:
    """The place of each cell among known levels, shape (n,).

    Args:
        column: cells. levels: the place of each key, as `key` makes them. unknown: what a cell that is none of them is
            given. missing: what an empty cell is given.

    >>> codes([3, "3.0", "f ", "x", None], {"f": 0, 3.0: 1}, unknown=7, missing=9).tolist()
    [1, 1, 0, 7, 9]
    """
    given = None if _kind(column) == "b" else _doubles(column)
    if given is not None and not (np.abs(given) >= EXACT).any():
        found = np.where(np.isnan(given), missing, unknown)
        for level, place in levels.items():
            if isinstance(level, float):
                found[given == level] = place
        return found
    told: dict[Any, int] = {}  # texts are parsed once

    def code(cell: Any) -> int:
        known = type(cell) is str
        if known and cell in told:
            return told[cell]
        level = key(cell)
        place = missing if level is MISSING else levels.get(level, unknown)
        if known:
            told[cell] = place
        return place

    with np.errstate(all="ignore"):
        return np.array([code(cell) for cell in cells(column)], dtype=int)


def truths(column: Any) -> np.ndarray:
    """The cells as 1 (true), 0 (false) or NaN (neither), shape (n,).

    >>> truths([True, 0, "Yes", "f", "1.0", 2, None, "a secret"])
    array([ 1.,  0.,  1.,  0.,  1., nan, nan, nan])
    """

    def truth(cell: Any) -> float:
        value = records.number(cell)
        return _TRUTHS.get((records.text(cell) or "").lower(), math.nan) if math.isnan(value) else value

    given = _doubles(column)
    with np.errstate(all="ignore"):
        values = np.array([truth(cell) for cell in cells(column)], dtype=float) if given is None else given
    return np.where((values == 0) | (values == 1), values, np.nan)


def instants(column: Any, form: str | None = None) -> np.ndarray:
    """The cells as instants, ``datetime64[us]`` of shape (n,): NaT is missing, and so is what is no date.

    An instant with a time zone is that instant in UTC. Text must be in ISO format, with dashes, or in a given one.
    Instants outside the years 1 to 9999 are missing.

    Args:
        column: cells. form: of text, as for ``datetime.strptime``, or None for ISO.

    >>> instants(["2024-02-29", "2024-02-29T01:00+02:00", "29/02/2024", 20240229]).astype("datetime64[h]").tolist()[:3]
    [datetime.datetime(2024, 2, 29, 0, 0), datetime.datetime(2024, 2, 28, 23, 0), None]
    """
    found = None
    if _kind(column) == "M":
        zone = getattr(column.dtype, "tz", None)
        given = at_once(lambda: np.asarray(column if zone is None else column.dt.tz_convert(None)))
        if getattr(given, "dtype", np.dtype(object)).kind == "M":  # NumPy warns for each time zone among objects
            found = at_once(lambda: given.astype("datetime64[us]"))
            if found is not None and isinstance(column, np.ma.MaskedArray):
                found[column.mask] = np.datetime64("NaT", "us")
    if found is None:
        known = functools.cache(functools.partial(_instant, form=form))  # texts are parsed once
        read = [known(cell) if type(cell) is str else _instant(cell, form) for cell in cells(column)]
        found = np.array(read, dtype="datetime64[us]")
    return np.where((found >= _FIRST) & (found <= _LAST), found, np.datetime64("NaT", "us"))


def cells(column: Any) -> Iterable[Any]:
    """The cells of a column of a data frame, an array or a list, as Python objects where there is a choice."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "mM":
        return list(column)  # as a list of objects they would be whole numbers
    for name in ("to_list", "to_pylist", "tolist"):
        if hasattr(type(column), name):
            found = at_once(getattr(column, name))
            if found is None:  # what the class says of it may quote a cell
                raise TypeError(f"a column of a {type(column).__name__} cannot be read: convert it first")
            return found
    return column


def key(cell: Any) -> Key | None:
    """What a category is known by: a finite number by its value, other text without the blanks around it.

    A whole number that is no double, as identifiers of 64 bits may be, is its digits.

    >>> key("007"), key(7), key(True), key(" a b "), key("  "), key(2**53 + 1)
    (7.0, 7.0, 'True', 'a b', None, '9007199254740993')
    """
    if type(cell) is bool or type(cell) is np.bool:
        return str(bool(cell))
    value, text = records.number(cell), records.text(cell)
    if EXACT <= abs(value) < math.inf and (whole := _whole(cell if text is None else text)) not in (None, int(value)):
        return str(whole)
    if text is None:
        return MISSING if math.isnan(value) else value
    return value if math.isfinite(value) else (text or MISSING)


def empty(cell: Any) -> bool:
    """Whether a cell is an empty one, of any library.

    >>> [empty(cell) for cell in (None, " ", "nan", float("nan"), np.datetime64("NaT"), 0, "unknown")]
    [True, True, True, True, True, False, False]
    """
    kind = type(cell)
    if cell is None or kind.__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    if kind is np.datetime64 or kind is np.timedelta64:
        return bool(np.isnat(cell))
    nothing = issubclass(kind, (float, np.floating, Decimal)) and math.isnan(records.number(cell))
    return nothing or records.text(cell) in ("", "nan", "NaN")


def _whole(cell: Any) -> int | None:
    """A whole number of Python, NumPy or text with all of its digits; None for another cell."""
    try:
        kind = type(cell)
        return int.__int__(cell) if issubclass(kind, int) else int(cell) if kind is str or id(kind) in _WHOLE else None
    except ValueError:
        return None


def _instant(cell: Any, form: str | None) -> np.datetime64:
    try:
        if (text := records.text(cell)) is not None:
            if form is not None:
                cell = datetime.datetime.strptime(text, form)
            else:
                cell = datetime.datetime.fromisoformat(text) if _ISO.fullmatch(text) else None
        kind = type(cell)
        if kind is np.datetime64 or (issubclass(kind, datetime.datetime) and hasattr(kind, "asm8")):  # in UTC
            return np.datetime64(getattr(cell, "asm8", cell), "us")
        if issubclass(kind, datetime.datetime):
            seconds = (cell.hour * 60 + cell.minute) * 60 + cell.second
            found = (cell.toordinal() - _EPOCH) * _DAY + seconds * 1_000_000 + cell.microsecond
            offset = cell.utcoffset()  # none: as the clock says
            return np.datetime64(found - (offset or datetime.timedelta(0)) // datetime.timedelta(microseconds=1), "us")
        if issubclass(kind, datetime.date):
            return np.datetime64((cell.toordinal() - _EPOCH) * _DAY, "us")
    except Exception:
        pass
    return np.datetime64("NaT", "us")


def _kind(column: Any) -> str:
    """NumPy's letter for the type of a column; none for a list, and for a data frame that is not made of arrays."""
    found = getattr(dtype(column), "kind", "")
    return found if isinstance(found, str) else ""


def _doubles(column: Any) -> np.ndarray | None:
    """A column of one type of number at once; None where cells have to be read one by one."""
    told = dtype(column)
    of_polars = [getattr(told, name, None) for name in ("is_integer", "is_float")]
    if _kind(column) not in tuple("biuf") and not at_once(lambda: any(ask() for ask in of_polars if callable(ask))):
        return None

    def converted() -> np.ndarray:
        if hasattr(told, "na_value"):  # an extension type of pandas
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return records.doubles("column", column.to_numpy() if hasattr(type(column), "to_numpy") else column)

    return at_once(converted)


def at_once(convert: Callable[[], Any]) -> Any:
    """What a conversion gives, None where it fails: an error of another library may quote a cell."""
    try:
        with np.errstate(all="ignore"):
            return convert()
    except Exception:
        return None


# ---- Columns of a table ----

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
        _check(X, names, extra)
        found = []
        for name in names:
            column = X[name]
            if isinstance(column, (str, bytes, Mapping, Set)) or not isinstance(column, Iterable):
                raise TypeError(
                    f"X must map each name to a column of cells, got a {type(column).__name__} for {name!r}: "
                    "a single record is given as a list of one, [record]"
                )
            found.append(column if isinstance(column, Sized) else list(column))
    elif hasattr(type(X), "ndim") and hasattr(type(X), "shape"):
        array = at_once(lambda: np.asanyarray(X))
        if array is None or array.ndim != 2 or array.shape[1] != len(names):
            raise ValueError(
                f"X must have shape (any, {len(names)}), one column for each of the schema, got {np.shape(array)}"
            )
        found = list(array.T)
    elif isinstance(X, Sequence):
        found = [list(column) for column in zip(*(_cells_of(record, names) for record in X))] or [[] for _ in names]
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
        _check(X, names, extra)
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


def _check(X: Any, names: Sequence[str], extra: str) -> None:
    """Refuse a table by the names of its columns."""
    named = X.keys() if isinstance(X, Mapping) else X.column_names if hasattr(type(X), "column_names") else X.columns
    found = list(named)
    faults: list[tuple[str, Callable[[], list[Any]]]] = [
        ("lacks the columns", lambda: [name for name in names if name not in found]),
        ("has columns that the schema does not know:", lambda: [name for name in found if name not in names]),
        ("has more than once the columns", lambda: [name for name in names if found.count(name) > 1]),
    ]
    for what, which in faults:
        wrong = which()
        if wrong and not (extra == IGNORE and "does not know" in what):
            raise ValueError(f"X {what} {', '.join(repr(name) for name in wrong)}")


def _cells_of(record: Any, names: Sequence[str]) -> list[Any]:
    """The cells of a record, each None where the record does not have it: never an exception."""
    try:
        if isinstance(record, Mapping) or hasattr(type(record), "iloc"):
            return [record.get(name) for name in names]
        if not isinstance(record, (str, bytes)) and len(record) == len(names):
            return [record[place] for place in range(len(names))]
    except Exception:
        pass
    return [None] * len(names)
