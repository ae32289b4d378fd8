r"""Records as arrays whose layout in memory does not depend on what is in them.

The last bit of a product of matrices depends on how they lie in memory, since the library that computes it takes
another path for transposed, reversed or scattered arrays. Where a record is void its array is copied, which changes the
layout. Without further care, one record could thus change the last bit of what is computed from every *other* record,
and where that is ill-conditioned (a residual that is a difference of large numbers) much more than the last bit.

`regular` therefore gives arrays whose copies (`numpy.where`, ``copy(order="K")``) have the order of their axes in
memory: arrays in rows or in columns, with or without gaps, but neither reversed nor scattered. Whether it copies
depends on the array's strides alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from costofprivacy.privacy import records


def regular(name: str, values: Any, shape: tuple[int | None, ...] | None = None) -> np.ndarray:
    """What somebody gave as an array of double precision, in rows or columns: `records.numbers`, then a layout.

    Guarantee: as there; and whether the array is copied depends on its type and its strides alone.

    Args:
        name: what the argument is called. values: an array, or what NumPy makes one of.
        shape: what its shape must be, None for any length; any shape if left out.

    Returns:
        The array itself where it is of double precision and lies in memory number by number along one axis, else a
        copy.

    Raises:
        ValueError: as `records.numbers`.

    >>> x = np.ones((4, 3))
    >>> regular("x", x) is x, regular("x", x[::-1]) is x, regular("x", x[::-1]).strides
    (True, False, (24, 8))
    """
    found = records.numbers(name, values, (None,) * np.ndim(values) if shape is None else shape)
    return found if _in_line(found) else np.ascontiguousarray(found)


def _in_line(array: np.ndarray) -> bool:
    """Whether no axis is reversed and the numbers along one of several lie side by side."""
    steps = [stride for stride, length in zip(array.strides, array.shape) if length > 1]
    return not steps or min(steps) == array.itemsize or (len(steps) == 1 and steps[0] > 0)
