r"""Records as arrays whose layout in memory does not depend on what is in them.

The last bit of a product of matrices depends on how they lie in memory, since the library that computes it takes
another path for transposed, reversed or scattered arrays. Where a record is void its array is copied, which changes the
layout. Without further care, one record could thus change the last bit of what is computed from every *other* record,
and where that is ill-conditioned (a residual that is a difference of large numbers) much more than the last bit.

`regular` therefore gives arrays whose copies have their layout: rows that lie in memory number by number. Whether it
copies depends on the array's strides alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from costofprivacy.privacy import records


def regular(name: str, values: Any, shape: tuple[int | None, ...] | None = None) -> np.ndarray:
    """What somebody gave as an array of double precision, in rows: `records.numbers`, then a layout.

    Guarantee: as there; and whether the array is copied depends on its type and its strides alone.

    Args:
        name: what the argument is called. values: an array, or what NumPy makes one of.
        shape: what its shape must be, None for any length; any shape if left out.

    Returns:
        The array itself where it is of double precision and its rows lie in memory number by number, else a copy.

    Raises:
        ValueError: as `records.numbers`.

    >>> x = np.ones((4, 3))
    >>> regular("x", x) is x, regular("x", x[::-1]) is x, regular("x", x[::-1]).strides
    (True, False, (24, 8))
    """
    found = records.numbers(name, values, (None,) * np.ndim(values) if shape is None else shape)
    return found if _in_rows(found) else np.ascontiguousarray(found)


def _in_rows(array: np.ndarray) -> bool:
    """Whether strides are positive and fall, down to one number; gaps between rows do not matter."""
    steps = [stride for stride, length in zip(array.strides, array.shape) if length > 1]
    if not steps:
        return True
    falling = all(a >= b for a, b in zip(steps, steps[1:]))
    scattered = array.ndim > 1 and array.shape[-1] > 1 and array.strides[-1] != array.itemsize
    return steps[-1] > 0 and falling and not scattered
