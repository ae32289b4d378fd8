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

from __future__ import annotations

from typing import Any

import numpy as np

from costofprivacy import _validate

FAR = 1e150  # the square of a number beyond overflows
NEAR = 1e-150  # that of one below vanishes
REACH = (-FAR, FAR)
_KINDS = "biuf"  # booleans, whole numbers, floating-point numbers


def numbers(name: str, values: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """What somebody gave as an array of double precision: the one gate through which records come to a release.

    Booleans, whole numbers and floating-point numbers of any width are converted before anything is computed with
    them. In an array of Python objects, or in a list, what is no number becomes NaN; `voided`, `usable`, `regression`
    then treat its record as they treat every record that is not finite.

    Guarantee: each number depends on the one that was given alone. Whether the array is refused depends on its type and
    its shape alone.

    Args:
        name: what the argument is called, for the message.
        values: an array, or what NumPy makes one of.
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
    found = doubles(name, values)
    _validate.shape(name, found, shape)
    return found


def doubles(name: str, values: Any) -> np.ndarray:
    """What `numbers` returns for an array of any shape.

    Guarantee: that of `numbers`.

    Args:
        name: what the argument is called, for the message. values: an array, or what NumPy makes one of.

    Raises:
        ValueError: if the array is not of numbers. The message names no value.

    >>> doubles("value", np.int8(-128))
    array(-128.)
    """
    given = values if isinstance(values, np.ndarray) else _array(name, values)
    if given.dtype == object:
        given = _each_number(given)
    elif given.dtype.kind not in _KINDS:
        raise ValueError(f"{name} must be an array of real numbers, got one of type {given.dtype}")
    with np.errstate(over="ignore"):  # an extended number beyond the doubles is infinite there
        return np.asarray(given, dtype=np.float64, order="C")


def _array(name: str, values: Any) -> np.ndarray:
    """An array of what is not one yet: of doubles if all are numbers, else of objects."""
    declared = getattr(values, "dtype", None)  # that of a series; a list has none
    try:
        if declared is None:
            return np.asarray(values, dtype=np.float64)
        return np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        pass
    try:
        return np.asarray(values, dtype=object)
    except ValueError:
        pass  # rows of unequal length: the error of NumPy would be raised from one that quotes a value
    raise ValueError(f"{name} must be an array of real numbers, with rows of equal length")


def _each_number(values: np.ndarray) -> np.ndarray:
    """Objects as doubles, NaN where one is no number."""
    return np.array([_number(value) for value in values.ravel()], dtype=np.float64).reshape(values.shape)


def _number(value: Any) -> float:
    try:
        return float(value)
    except Exception:  # an object may raise whatever it likes, and what it raises may quote it
        return float("nan")


def voided(*parts: np.ndarray) -> tuple[np.ndarray, ...]:
    """Arrays whose first axis is the record, 0 in every record that is not finite in one of them.

    In double precision; the arrays themselves where they are that and all is finite. It costs their sums.
    """
    parts = tuple(doubles("records", part) for part in parts)
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(sum(float(part.sum()) for part in parts)):
            return parts
    sound = np.logical_and.reduce([np.isfinite(part).reshape(len(part), -1).all(axis=1) for part in parts])
    return tuple(np.where(sound.reshape(-1, *[1] * (part.ndim - 1)), part, 0.0) for part in parts)


def usable(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Whether a record of a regression has a gradient that can be bounded in doubles.

    Args:
        x: features, shape (..., d). y: responses, a shape that broadcasts with (...).

    Returns:
        Booleans of the broadcast shape: x and y finite, and NEAR ≤ ‖x‖ ≤ FAR.
    """
    x, y = doubles("x", x), doubles("y", y)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        square = np.einsum("...d,...d", x, x)
    return (square >= NEAR**2) & (square <= FAR**2) & np.isfinite(y)


def regression(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Records of a regression in which every one that is not `usable` is void: x = 0 and y = 0.

    Args:
        x: features, shape (m, d). y: responses, shape (m,).

    Returns:
        the arrays in double precision; themselves where they are that and every record is usable, else copies.
    """
    x, y = doubles("x", x), doubles("y", y)
    sound = usable(x, y)
    if sound.all():
        return x, y
    return np.where(sound[:, None], x, 0.0), np.where(sound, y, 0.0)


def lengths(rows: np.ndarray) -> np.ndarray:
    """‖row‖₂ of rows of shape (m, D), shape (m,), without overflow or underflow on the way; NaN where not finite."""
    rows = doubles("rows", rows)
    size = np.abs(rows).max(axis=1, initial=0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        unit = np.divide(rows, size[:, None], out=np.zeros_like(rows), where=size[:, None] > 0)
        return size * np.sqrt(np.einsum("nd,nd->n", unit, unit))


def refuse_not_finite(name: str, *sums: np.ndarray) -> None:
    """Raise ``ValueError`` where what was summed over records is not finite."""
    if not all(np.isfinite(doubles(name, part)).all() for part in sums):
        raise ValueError(f"{name} must be finite, got NaN or infinities: its records were not bounded one by one")
