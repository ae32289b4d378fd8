"""Random neighbours: data sets that differ in the same record, of any type, layout and size, with any values.

Each two of them are neighbours, so that `SETS` runs attack a claim with `PAIRS` pairs.

`regression` and `prompts` draw arrays; `of_cells` draws tables whose cells are of every type that pandas, NumPy and the
standard library hand out. What a cell is read as may depend on that cell and on public types alone. So a replaced
record, whatever it holds, may change the numbers of its own row and no others.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import math
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from costofprivacy.noisyhead.prompts import Prompts

Data = tuple[np.ndarray, np.ndarray]
KINDS = ("f8", "f8", "f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "O", ">f8", "g")
FAR = np.array(
    [
        *(0.0, -0.0, 1.0, -1.0, 5e-324, -1e-310, 1e-200, 1e-160, 1e-149, 1e-20, 1e-8, 30.0, -1e6, 1e10, 1e20, -1e38),
        *(1e60, 1e149, 1e151, -1e154, 1e200, 1.7e308, -1.7e308, math.inf, -math.inf, math.nan),
    ]
)
WHOLE = np.array(
    [0, 1, -1, 2, 16, 17, 127, -128, 181, 255, 256, 46341, 65536, 2**31 - 1, -(2**31), 2**32, 2**32 + 1, 2**62],
    dtype=float,
)
CELLS = (None, "text", 10**400, 1.5, 3, True, float("nan"))  # of an array of objects
MOST = 3000  # records
SETS = 5
PAIRS = SETS * (SETS - 1) // 2


def rows(n: int, width: int, *, rng: np.random.Generator) -> list[np.ndarray]:
    """Arrays of shape (n, width) and one type that differ in one row.

    The rows are ordinary, hostile, ordinary with some hostile values, all the same, or of a few clusters.
    """
    kind = np.dtype(KINDS[rng.integers(len(KINDS))])
    way = rng.integers(5)
    values = _ordinary(n, width, rng) if way in (0, 2) else _hostile(n, width, kind, rng)
    if way == 2:
        values = np.where(rng.random((n, width)) < 0.1, _hostile(n, width, kind, rng), values)
    elif way > 2:
        values = values[rng.integers(1 if way == 3 else min(n, 3), size=n)]
    place, layout = int(rng.integers(n)), int(rng.integers(4))
    first = _as(values, kind)
    found = [first]
    for _ in range(SETS - 1):
        row = _ordinary(1, width, rng) if rng.random() < 0.3 else _hostile(1, width, kind, rng)
        other = first.copy()
        other[place] = _as(row, kind)[0]
        if kind.kind == "O" and rng.random() < 0.5:
            other[place, rng.integers(width)] = CELLS[rng.integers(len(CELLS))]
        found.append(other)
    return [_laid(each, layout) for each in found]


def _ordinary(n: int, width: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((n, width)) * 10.0 ** rng.integers(-2, 3)


def _hostile(n: int, width: int, kind: np.dtype, rng: np.random.Generator) -> np.ndarray:
    values = WHOLE if kind.kind in "iub" else FAR
    return values[rng.integers(len(values), size=(n, width))]


def _as(values: np.ndarray, kind: np.dtype) -> np.ndarray:
    """The values in a type, those of whole numbers cut to its range."""
    with np.errstate(all="ignore"):
        if kind.kind in "iu":
            info = np.iinfo(kind)
            low, high = float(info.min), float(info.max)
            clipped = np.clip(np.nan_to_num(values), low, high)
            exact = np.array([min(max(int(v), info.min), info.max) for v in clipped.ravel()], dtype=object)
            return exact.reshape(values.shape).astype(kind)
        return values.astype(kind)


def _laid(array: np.ndarray, layout: int) -> np.ndarray:
    """The same array in C or Fortran order, with negative strides, or as every other row of a longer one."""
    if layout == 1:
        return np.asfortranarray(array)
    if layout == 2:
        return np.ascontiguousarray(array[::-1, ::-1])[::-1, ::-1]
    if layout == 3:
        longer = np.repeat(array, 2, axis=0)
        return longer[::2]
    return array


def size(*, rng: np.random.Generator) -> int:
    """A number of records: small as a rule, up to `MOST`."""
    return int(np.exp(rng.uniform(0, math.log(MOST if rng.random() < 0.02 else 12))).round())


def regression(*, rng: np.random.Generator) -> list[Data]:
    """Data sets of a regression, (x, y) each."""
    n, d = size(rng=rng), int(rng.integers(1, 5))
    return [(each[:, :d], each[:, d]) for each in rows(n, d + 1, rng=rng)]


def prompts(*, rng: np.random.Generator) -> list[Prompts]:
    """Data sets of prompts; a prompt has 1 to 4 labelled tokens of 1 to 3 features."""
    N, L, D = size(rng=rng), int(rng.integers(1, 5)), int(rng.integers(1, 4))
    cut = (L + 1) * D
    return [
        Prompts(a[:, :cut].reshape(N, L + 1, D), a[:, cut:].reshape(N, L + 1), np.zeros((N, D)))
        for a in rows(N, (L + 1) * (D + 1), rng=rng)
    ]


# ---- Cells ----

SECRET = "a secret"
Rows = tuple[list[list[Any]], list[Any]]  # features and responses, cell by cell


class Raising:
    """Raises when it is asked for a number."""

    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def __float__(self) -> float:
        raise self.error(SECRET)

    def __repr__(self) -> str:
        return SECRET


class Silent:
    """Cannot even be shown."""

    def __float__(self) -> float:
        raise ZeroDivisionError(SECRET)

    def __repr__(self) -> str:
        raise ZeroDivisionError(SECRET)


class Indexed:
    """A whole number by its index alone."""

    def __index__(self) -> int:
        return 7


class Level(enum.IntEnum):
    """A named number."""

    LOW = 1


NUMBERS: tuple[Any, ...] = (
    *(0, 1, -3, 2**31, 2**53 + 1, 2**63, 2**64, -(2**70), 10**400, -(10**400), True, False, 0.5, -0.0, 1e308, 5e-324),
    *(float("inf"), float("nan"), np.float16(1.5), np.float32(0.1), np.float64(2.5), np.longdouble("1e400")),
    *(np.int8(-128), np.uint8(200), np.int64(2**62), np.uint64(2**64 - 1), np.bool_(True)),
    *(decimal.Decimal("1.5"), decimal.Decimal("NaN"), decimal.Decimal("sNaN"), decimal.Decimal("1e999")),
    *(fractions.Fraction(1, 3), fractions.Fraction(10**400, 3), Level.LOW, Indexed(), np.array(2.0), np.array(3)),
)
TIMES: tuple[Any, ...] = (
    *(
        np.timedelta64(5, "D"),
        np.timedelta64(7, "h"),
        np.timedelta64(1, "ns"),
        np.timedelta64("NaT"),
        np.timedelta64(3),
    ),
    *(np.datetime64("2020-01-01"), np.datetime64("2020-01-01T10:00", "ns"), np.datetime64("NaT")),
    *(pd.Timedelta(days=5), pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01", tz="UTC"), pd.NaT),
    *(pd.Period("2020-01"), pd.Interval(0, 1), datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)),
    *(datetime.timedelta(days=5), datetime.time(12), np.array(np.timedelta64(5, "D")), np.array(np.datetime64("2020"))),
)
OTHERS: tuple[Any, ...] = (
    *(None, pd.NA, np.ma.masked, complex(1, 2), complex(3, 0), np.complex128(2 + 0j), np.complex64(1j)),
    *("5", " 7 ", "1_000", "nan", "inf", "1e400", "", SECRET, np.str_("3"), np.str_(SECRET), "\u0663"),
    *(b"5", b"a secret", np.bytes_(b"6"), bytearray(b"7"), memoryview(b"8"), np.array("9"), np.array(b"9")),
    *(uuid.UUID(int=1), Silent(), *(Raising(error) for error in (ValueError, ZeroDivisionError, KeyError, OSError))),
    *(object(), Ellipsis, int, np.array(complex(1, 2)), np.array(None, dtype=object)),
)
NESTED: tuple[Any, ...] = ([5.0], (1.0, 2.0), {"a": 1.0}, {1.0}, np.array([4.0]), np.ones((2, 2)), pd.Series([1.0]))
ALL = NUMBERS + TIMES + OTHERS
ORDINARY = (0.5, -2.0, 3.25, 1, 4)
MIXED = (ORDINARY, NUMBERS, TIMES, OTHERS, ALL, *((cell,) for cell in ALL))  # that a column may be of


def drawn(cells: tuple[Any, ...], rng: np.random.Generator) -> Any:
    """One of some cells: `numpy.random.Generator.choice` would convert them."""
    return cells[int(rng.integers(len(cells)))]


def of_cells(*, rng: np.random.Generator) -> list[Rows]:
    """Data sets of two records and more, whose columns are of a kind each, and that differ in one record."""
    n, d = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    kinds = [ORDINARY if rng.random() < 0.4 else MIXED[rng.integers(len(MIXED))] for _ in range(d + 1)]
    rows, place = [[drawn(kind, rng) for kind in kinds] for _ in range(n)], int(rng.integers(n))
    others = [[drawn(ALL if rng.random() < 0.6 else kind, rng) for kind in kinds] for _ in range(SETS - 1)]
    found = [[other if k == place else row for k, row in enumerate(rows)] for other in [rows[place], *others]]
    return [([row[:-1] for row in each], [row[-1] for row in each]) for each in found]


def _objects(values: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    """An array of objects, none of which is opened."""
    found = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        found[k] = value
    return found.reshape(shape)


def objects(data: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Arrays of objects."""
    x, y = data
    return _objects([cell for row in x for cell in row], (len(x), len(x[0]))), _objects(y, (len(y),))


def frame(data: Rows) -> tuple[pd.DataFrame, pd.Series]:
    """A frame of objects."""
    x, y = objects(data)
    return pd.DataFrame({f"c{k}": pd.Series(x[:, k], dtype=object) for k in range(x.shape[1])}), pd.Series(
        y, dtype=object
    )


def columns(data: Rows) -> tuple[pd.DataFrame, pd.Series]:
    """A frame whose columns are of pandas' own types for numbers that may be missing; all else is missing there."""
    x, y = objects(data)
    dtypes = ("Float64", "Int64", "boolean", "float32")

    def column(values: np.ndarray, dtype: str) -> pd.Series:
        known = [cell if type(cell) in (int, float, bool) and abs(cell) < 2**62 else None for cell in values]
        whole = {"Int64": int, "boolean": bool}.get(dtype, float)
        missing = np.nan if dtype == "float32" else pd.NA
        return pd.Series([missing if cell is None or cell != cell else whole(cell) for cell in known], dtype=dtype)

    return pd.DataFrame({f"c{k}": column(x[:, k], dtypes[k]) for k in range(x.shape[1])}), column(y, "Float64")


def mixed(data: Rows) -> tuple[pd.DataFrame, pd.Series]:
    """A frame of which one column is of doubles and the others of objects."""
    X, y = frame(data)
    return X.assign(plain=np.arange(float(len(X)))), y


CONTAINERS: dict[str, Callable[[Rows], tuple[Any, Any]]] = {
    "lists": lambda data: data,
    "tuples": lambda data: (tuple(map(tuple, data[0])), tuple(data[1])),
    "rows of objects": lambda data: (list(objects(data)[0]), list(data[1])),
    "objects": objects,
    "a frame": frame,
    "a frame of pandas' types": columns,
    "a mixed frame": mixed,
}
