"""Random neighbours: two data sets that differ in one record, of any type, layout and size, with any values."""

from __future__ import annotations

import math

import numpy as np

from costofprivacy.noisyhead.prompts import Prompts

Data = tuple[np.ndarray, np.ndarray]
KINDS = ("f8", "f8", "f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "O", ">f8", "g")
FAR = (
    *(0.0, -0.0, 1.0, -1.0, 5e-324, -1e-310, 1e-200, 1e-160, 1e-149, 1e-20, 1e-8, 30.0, -1e6, 1e10, 1e20, -1e38, 1e60),
    *(1e149, 1e151, -1e154, 1e200, 1.7e308, -1.7e308, math.inf, -math.inf, math.nan),
)
WHOLE = (0, 1, -1, 2, 16, 17, 127, -128, 181, 255, 256, 46341, 65536, 2**31 - 1, -(2**31), 2**32, 2**32 + 1, 2**62)
CELLS = (None, "text", 10**400, 1.5, 3, True, float("nan"))  # of an array of objects
MOST = 3000  # records


def rows(n: int, width: int, *, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays of shape (n, width) and one type that differ in one row.

    The rows are ordinary, hostile, ordinary with some hostile values, all the same, or of a few clusters.
    """
    kind = np.dtype(str(rng.choice(KINDS)))
    way = rng.integers(5)
    values = _ordinary(n, width, rng) if way in (0, 2) else _hostile(n, width, kind, rng)
    if way == 2:
        values = np.where(rng.random((n, width)) < 0.1, _hostile(n, width, kind, rng), values)
    elif way > 2:
        values = values[rng.integers(1 if way == 3 else min(n, 3), size=n)]
    other, place = values.copy(), int(rng.integers(n))
    other[place] = _ordinary(1, width, rng)[0] if rng.random() < 0.3 else _hostile(1, width, kind, rng)[0]
    first, second = _as(values, kind), _as(other, kind)
    if kind.kind == "O" and rng.random() < 0.5:
        second[place, rng.integers(width)] = CELLS[rng.integers(len(CELLS))]
    layout = int(rng.integers(4))
    return _laid(first, layout), _laid(second, layout)


def _ordinary(n: int, width: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((n, width)) * 10.0 ** rng.integers(-2, 3)


def _hostile(n: int, width: int, kind: np.dtype, rng: np.random.Generator) -> np.ndarray:
    values = WHOLE if kind.kind in "iub" else FAR
    return np.array([float(v) for v in values])[rng.integers(len(values), size=(n, width))]


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


def regression(*, rng: np.random.Generator) -> tuple[Data, Data]:
    """Two data sets of a regression, (x, y) each."""
    n, d = size(rng=rng), int(rng.integers(1, 5))
    first, second = rows(n, d + 1, rng=rng)
    return (first[:, :d], first[:, d]), (second[:, :d], second[:, d])


def prompts(*, rng: np.random.Generator) -> tuple[Prompts, Prompts]:
    """Two data sets of prompts; a prompt has 1 to 4 labelled tokens of 1 to 3 features."""
    N, L, D = size(rng=rng), int(rng.integers(1, 5)), int(rng.integers(1, 4))
    both = rows(N, (L + 1) * (D + 1), rng=rng)
    cut = (L + 1) * D
    first, second = (
        Prompts(a[:, :cut].reshape(N, L + 1, D), a[:, cut:].reshape(N, L + 1), np.zeros((N, D))) for a in both
    )
    return first, second
