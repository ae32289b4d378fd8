"""Records that no decent person would give: every type of number, every layout in memory, every hostile value.

`neighbours` draws two data sets that differ in one record and have one type and one layout: those are public.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATING = ("float16", "float32", "float64")
KINDS = (*WHOLE, *FLOATING, "bool", "object")
NARROW = tuple(kind for kind in KINDS if kind != "float64")

POWERS = (*(2**k for k in (4, 7, 8, 15, 16, 31, 32, 33, 53, 62, 63)), 17, 127, 255, 46_341, 2**32 + 1)
FLOATS = (
    *(0.0, -0.0, 1.0, -1.0, 5e-324, -1e-310, 1e-200, 1e-160, 1e-149, 1e-45, 6e-8, 1e-8, 30.0, -1e6, 65_504.0),
    *(1e20, -1e20, 3.4e38, 1e149, 1e151, -1e154, 1e200, 1.7e308, -1.7e308, math.inf, -math.inf, math.nan),
    *map(float, POWERS),
)
OBJECTS = (*FLOATS, *POWERS, -(2**31), 10**400, True, False, None, "123-45-6789", Fraction(1, 3), np.float32(0.1))
SIZES = (1, 2, 5, 6, 40, 700, 3000)  # numbers of records; beyond `sums.ROWS` blocks are added in pairs


def numbers(kind: str) -> st.SearchStrategy[Any]:
    """A cell of an array of this type."""
    if kind == "bool":
        return st.booleans()
    if kind == "object":
        return st.one_of(st.sampled_from(OBJECTS), st.floats(-3, 3))
    if kind in FLOATING:
        width = int(kind.removeprefix("float"))
        listed = sorted({float(v) for v in _rounded(kind)}, key=repr)
        return st.one_of(st.sampled_from(listed), st.floats(width=width), st.floats(-3, 3).map(np.dtype(kind).type))  # type: ignore[arg-type]
    ends = np.iinfo(kind)
    low, high = int(ends.min), int(ends.max)
    listed = [v for p in POWERS for v in (p, -p, p - 1) if low <= v <= high]
    return st.one_of(st.sampled_from([low, high, 0, 1, *listed]), st.integers(low, high))


def _rounded(kind: str) -> list[float]:
    with np.errstate(over="ignore"):
        return [float(v) for v in np.array(FLOATS).astype(kind)]


def cells(kind: str, shape: tuple[int, ...]) -> st.SearchStrategy[np.ndarray]:
    """An array of this type with hostile numbers, or with ordinary ones."""
    size = math.prod(shape)
    drawn = [st.lists(numbers(kind), min_size=size, max_size=size)]
    if kind in (*FLOATING, "object"):
        drawn.append(st.lists(st.floats(-3, 3), min_size=size, max_size=size))
    elif kind != "bool":
        drawn.append(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    return st.one_of(drawn).map(lambda values: _array(values, kind).reshape(shape))


def _array(values: list[Any], kind: str) -> np.ndarray:
    found = np.empty(len(values), dtype=kind)
    with np.errstate(over="ignore"):
        for k, value in enumerate(values):
            found[k] = value
    return found


Layout = Callable[[np.ndarray], np.ndarray]


def backwards(array: np.ndarray) -> np.ndarray:
    turned = tuple(slice(None, None, -1) for _ in array.shape)
    return array[turned].copy()[turned]


def spread(array: np.ndarray) -> np.ndarray:
    """Every second cell of a larger array, along the last axis."""
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype=array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def locked(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


LAYOUTS: tuple[Layout, ...] = (np.ascontiguousarray, np.asfortranarray, backwards, spread, locked)


@st.composite
def neighbours(
    draw: st.DrawFn,
    *shapes: tuple[int, ...],
    records: tuple[int, ...] = SIZES,
    kinds: tuple[str, ...] = KINDS,
    replaced: int | None = None,
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Two data sets that differ in one record: for each shape of a record's part an array, its first axis the record.

    A few records are drawn and repeated, so that data sets may be large; which one is replaced is drawn too, where it
    is not given.
    """
    kind, layout, n = draw(st.sampled_from(kinds)), draw(st.sampled_from(LAYOUTS)), draw(st.sampled_from(records))
    distinct = draw(st.integers(1, 3))
    k = draw(st.integers(0, n - 1)) if replaced is None else replaced
    first, second = [], []
    for shape in shapes:
        few = draw(cells(kind, (distinct, *shape)))
        whole = few[np.arange(n) % distinct]
        other = whole.copy()
        whole[k], other[k] = draw(cells(kind, shape)), draw(cells(kind, shape))
        first.append(layout(whole))
        second.append(layout(other))
    return tuple(first), tuple(second)
