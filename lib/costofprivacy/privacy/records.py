r"""What a record may hold: anything. How a bound on one record is kept, and what is refused.

A guarantee of differential privacy speaks of *every* pair of neighbours, whatever the replaced record holds. So every
function on the way to a release keeps one rule.

**There is one gate.** What somebody gives becomes an array of double precision in `numbers`, before any arithmetic: an
integer of 8 bits overflows when it is squared, and a sum of many numbers of single precision loses the small ones. What
`numbers` refuses, it refuses for a public property (the type of the array, its shape), never for a value.

**What is public is refused.** Shapes, numbers of records, radii, budgets and every other argument that is fixed before
the data: a ``ValueError`` that names the argument, at the boundary. Such a refusal tells nothing of the data.

**What is in a record is bounded, never refused.** An error that only one of two neighbours raises is itself a release,
without noise. So a value beyond its bound is clipped to it (an infinite label too, where labels are clipped), and a
record that is not finite, or whose squares leave the range of doubles, is *void*: it is replaced by 0 and contributes
nothing. Both are maps of single records, fixed before the data: neighbours stay neighbours, and the sensitivity stays
what it was. Whether a record is void depends on that record alone, never on the iterate or on other records; otherwise
a step that does not expand could become one that does.

**What was summed is refused where it cannot be right.** Moments that are not finite, or longer than any prompts within
the stated bounds could make them, were not made by the functions that bound each record. No release of theirs is
private, and a ``ValueError`` says so. For data that did come through these functions it is never raised, so it tells
nothing of them.

**The estimators** (`costofprivacy.estimators`) follow scikit-learn by default: NaN and infinities in X or y are a
``ValueError``. Whether there are any is then not protected. With ``not_finite="void"`` such a record is void as above
(`costofprivacy.estimators.gate`). Finite values, however large, are bounded as above.

*Where doubles end.* A value beyond 10¹⁵⁰ or a norm below 10⁻¹⁵⁰ has a square that overflows or
vanishes, and a bound that is computed from it would be a bound no longer.
"""

import math
from array import array
from collections import deque
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from costofprivacy import _validate

FAR = 1e150  # the square of a number beyond overflows
NEAR = 1e-150  # that of one below vanishes
REACH = (-FAR, FAR)
_KINDS = "biuf"  # booleans, whole numbers, floating-point numbers
# Types, by identity: a type of somebody else may have an == and a hash of its own.
_SCALARS = {id(kind) for kind in np.sctypeDict.values() if np.dtype(kind).kind in _KINDS} | {id(Fraction)}


def numbers(name: str, values: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """What somebody gave as an array of double precision: the one gate through which records come to a release.

    Booleans, whole numbers and floating-point numbers of any width are converted before anything is computed with
    them. In an array of Python objects, or in a list, each cell is read by `number`, and what is no number becomes NaN;
    `voided`, `usable`, `regression` then treat its record as they treat every record that is not finite.

    Guarantee: each number depends on the one that was given alone. Whether the array is refused depends on its type and
    its shape alone. A list whose rows are not of equal length has no shape.

    Args:
        name: what the argument is called, for the message.
        values: an array, or a list of cells, of rows, and so on.
        shape: what its shape must be; None stands for any length.

    Returns:
        The array itself where it is of double precision already and lies row by row in memory, else a copy that does.
        There is one layout because the rounding of a product of matrices may depend on it: a neighbour that was copied
        to void a record would else differ from the other one in the last bits of every record.

    Raises:
        ValueError: if the array is not of numbers (text, dates, complex numbers), or its shape is another. The message
            names no value.

    >>> numbers("x", np.array([[200, 100]], dtype=np.uint8), (None, 2)) ** 2
    array([[40000., 10000.]])
    >>> numbers("y", [1, "a secret", None], (3,))
    array([ 1., nan, nan])
    """
    found = doubles(name, values, len(shape))
    _validate.shape(name, found, shape)
    return found


@np.errstate(all="ignore")  # an extended number beyond the doubles is infinite there
def doubles(name: str, values: Any, axes: int | None = None) -> np.ndarray:
    """What `numbers` returns for an array of any shape.

    Guarantee: that of `numbers`.

    Args:
        name: what the argument is called, for the message. values: as for `numbers`.
        axes: how many a list has: what is in it below the last one is a cell. If left out, as many as all its rows
            have, and where cells are lists in some rows alone, two.

    Raises:
        ValueError: if the array is not of numbers. The message names no value.

    >>> doubles("value", np.int8(-128))
    array(-128.)
    """
    given = _array(name, values, axes)
    if given.dtype == object:
        return each(given.ravel()).reshape(given.shape)
    if given.dtype.kind not in _KINDS:
        raise ValueError(f"{name} must be an array of real numbers, got one of type {given.dtype}")
    found = np.asarray(given, dtype=np.float64, order="C")
    return np.where(np.ma.getmaskarray(given), np.nan, found) if isinstance(given, np.ma.MaskedArray) else found


def number(cell: Any) -> float:
    """What one cell is worth, whatever holds it: NaN if it is no number, infinite if it is beyond the doubles.

    Numbers are those of Python (fractions and decimals among them) and NumPy's of real numbers, truth values, text
    that reads as a number (bytes as UTF-8, without underscores), arrays without an axis, and lists of one cell.
    Dates, durations, complex numbers and all other objects are none.

    Guarantee: it depends on the cell alone, on no warning or error that was turned on, and never raises; nothing that
    a class of somebody else defines is called.

    >>> from decimal import Decimal
    >>> [number(cell) for cell in (1, " 2.5", b"3", True, Decimal("1e400"), 1j, np.timedelta64(5, "D"), "1_0", None)]
    [1.0, 2.5, 3.0, 1.0, inf, nan, nan, nan, nan]
    """
    kind = type(cell)
    if kind is float:
        return float(cell)
    try:
        if id(kind) in _SCALARS:
            return float(cell)
        if kind is np.ndarray and cell.ndim == 0:
            return number(cell[()])
        for base in (float, int, Decimal):
            if issubclass(kind, base):
                return float(base.__float__(cell))
        if kind is list or kind is tuple:
            return number(cell[0]) if len(cell) == 1 else math.nan
        words = text(cell)
        return math.nan if words is None or "_" in words else float(words)
    except OverflowError:
        return math.inf if (int.__gt__(cell, 0) if issubclass(kind, int) else cell > 0) else -math.inf
    except Exception:
        return math.nan


def text(cell: Any) -> str | None:
    """A cell of text without the blanks around it, bytes as UTF-8; None for what is no text. It never raises.

    >>> text(" a b "), text(b"f"), text(1)
    ('a b', 'f', None)
    """
    try:
        if issubclass(type(cell), str):
            return str.strip(cell)
        return bytes.decode(cell).strip() if issubclass(type(cell), bytes) else None
    except UnicodeDecodeError:
        return None


def each(cells: Iterable[Any]) -> np.ndarray:
    """`number` of each cell, shape (n,)."""
    with np.errstate(all="ignore"):
        return np.fromiter(map(number, cells), dtype=np.float64)


def pair(batch: Any) -> tuple[Any, Any]:
    """A batch of a stream as features and responses; a ``ValueError`` that names its type where it is no pair."""
    if not isinstance(batch, (tuple, list)) or len(batch) != 2:
        raise ValueError(f"each batch must be a pair (X, y) of features and responses, got a {type(batch).__name__}")
    return batch[0], batch[1]


def _array(name: str, values: Any, axes: int | None) -> np.ndarray:
    """An array of what may not be one: of its own type, or of doubles or objects for a list."""
    if isinstance(values, np.ndarray):
        return values
    rows = _row(values)
    if rows is not None and not _is_array(values):
        return _of_list(name, rows, axes)
    if _is_array(values) or isinstance(values, memoryview | array):
        try:
            found = np.asarray(values)
            return found.astype(object) if found.dtype.kind in "SU" else found  # it is objects where a cell is missing
        except Exception:
            pass  # what another library raises may quote a cell
        raise ValueError(f"{name} must be an array of real numbers, got a {type(values).__name__} that is none")
    return np.array(number(values))


def _of_list(name: str, cells: list[Any], axes: int | None) -> np.ndarray:
    """A list of rows of rows … of cells as doubles."""
    shape, firsts = [len(cells)], list[Any]()  # the first row of each depth: a list that comes again holds itself
    while cells and (axes is None or len(shape) < axes or (len(shape) == axes and _row(cells[0]) is not None)):
        rows = [_row(cell) for cell in cells]
        there, lengths = [row for row in rows if row is not None], {len(row) for row in rows if row is not None}
        whole = len(there) == len(rows) and len(lengths) == 1
        if len(shape) == axes and (not whole or lengths == {1}):
            break  # a list of one cell is that cell, others are none
        if not whole and there and axes is None and len(shape) > 1:
            break  # rows of cells, some of which are lists
        if not whole and there:
            raise ValueError(f"{name} must be an array of real numbers, with rows of equal length")
        if not there:
            break
        if any(cells[0] is first for first in firsts):
            raise ValueError(f"{name} must be an array of real numbers, got a list that holds itself")
        firsts.append(cells[0])
        shape.append(lengths.pop())
        cells = [cell for row in there for cell in row]
    return each(cells).reshape(shape)


def _row(values: Any) -> list[Any] | None:
    """The cells of a list, or of an array in one; None for a cell."""
    kind = type(values)
    if kind is float or kind is int or kind is str:  # a type may have an == of its own
        return None
    try:
        for base in (list, tuple, range, deque):
            if issubclass(kind, base):
                return list(base.__iter__(values))
        if not _is_array(values):
            return None
        array = values if isinstance(values, np.ndarray) else np.asarray(values)
        if array.ndim != 1:
            return list(array) if array.ndim else None
        return array.tolist() if array.dtype.kind in _KINDS + "OUS" else [None] * len(array)
    except Exception:
        return None


def _is_array(values: Any) -> bool:
    """Whether its type says that it is an array; a name that its values might have is not looked up on it."""
    return hasattr(type(values), "__array__") and not isinstance(values, np.generic | type)


def voided(*parts: np.ndarray) -> tuple[np.ndarray, ...]:
    """Arrays whose first axis is the record, 0 in every record that is not finite in one of them.

    In double precision; the arrays themselves where they are that and all is finite. It costs their sums. Lists are
    refused: how many axes they have would depend on what is in them. `doubles` makes arrays of them.

    Raises:
        ValueError: if the parts are not arrays of numbers, or not of equally many records.
    """
    if not all(_is_array(part) and np.ndim(part) for part in parts) or len({len(part) for part in parts}) > 1:
        raise ValueError("records must be arrays of equally many records")
    parts = tuple(doubles("records", part) for part in parts)
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(sum(float(part.sum()) for part in parts)):
            return parts
    sound = np.logical_and.reduce([np.isfinite(part).reshape(len(part), -1).all(axis=1) for part in parts])
    return tuple(np.where(sound.reshape(-1, *[1] * (part.ndim - 1)), part, 0.0) for part in parts)


@np.errstate(all="ignore")
def usable(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Whether a record of a regression has a gradient that can be bounded in doubles.

    Args:
        x: features, shape (..., d). y: responses, a shape that broadcasts with (...).

    Returns:
        Booleans of the broadcast shape: x and y finite, and NEAR ≤ ‖x‖ ≤ FAR.
    """
    x = doubles("x", x)
    y = doubles("y", y, x.ndim - 1 or None)
    square = np.einsum("...d,...d", x, x)
    return (square >= NEAR**2) & (square <= FAR**2) & np.isfinite(y)


@np.errstate(all="ignore")
def regression(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Records of a regression in which every one that is not `usable` is void: x = 0 and y = 0.

    Args:
        x: features, shape (m, d). y: responses, shape (m,).

    Returns:
        the arrays in double precision; themselves where they are that and every record is usable, else copies.
    """
    x, y = doubles("x", x, 2), doubles("y", y, 1)
    sound = usable(x, y)
    if sound.all():
        return x, y
    return np.where(sound[:, None], x, 0.0), np.where(sound, y, 0.0)


@np.errstate(all="ignore")
def lengths(rows: np.ndarray) -> np.ndarray:
    """‖row‖₂ of rows of shape (m, D), shape (m,), without overflow or underflow on the way; NaN where not finite."""
    rows = doubles("rows", rows, 2)
    size = np.abs(rows).max(axis=1, initial=0.0)
    unit = np.divide(rows, size[:, None], out=np.zeros_like(rows), where=size[:, None] > 0)
    return size * np.sqrt(np.einsum("nd,nd->n", unit, unit))


def refuse_not_finite(name: str, *sums: np.ndarray) -> None:
    """Raise ``ValueError`` where what was summed over records is not finite."""
    if not all(np.isfinite(doubles(name, part)).all() for part in sums):
        raise ValueError(f"{name} must be finite, got NaN or infinities: its records were not bounded one by one")
