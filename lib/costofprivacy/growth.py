"""Whether one side of a bound loses a power of a size against the other: one threshold for all judges.

A claim "left ≲ right", its constant hidden, is contradicted along a size if left/right grows like a power of it. Over
the largest sizes of a table a power is told from logarithms by its height: log³(NL) alone rises like the power 0.2
where log(NL) is 15, which is where simulations end, and like less than 0.1 where closed forms end.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

LOST_POWER = 0.1  # in closed form, at sizes of 1e12 and more
LOST_POWER_SIMULATED = 0.25  # where log(NL) is about 15
LAST = 3  # sizes over which the power is fitted


def several(sizes: pd.Series) -> bool:
    """Whether there are two different sizes at least, without which nothing shows a trend."""
    return bool(sizes.nunique() > 1)


def power(rows: pd.DataFrame, size: str, left: str = "left", right: str = "right", last: int = LAST) -> float:
    """The power of a size in left/right, by least squares on log axes over the largest sizes.

    Args:
        rows: one axis of a table. size: the column that runs along it. left, right: the columns of the two sides.
        last: how many of the largest sizes are fitted.

    Returns:
        The power; NaN where the axis has a single size.
    """
    end = rows.sort_values(size).tail(last)
    if not several(end[size]):
        return float("nan")
    log_size = np.log(end[size].to_numpy(float))
    return float(np.polyfit(log_size, np.log(end[left].to_numpy(float) / end[right].to_numpy(float)), 1)[0])


def powers(table: pd.DataFrame, axes: dict[str, str], left: str = "left", right: str = "right") -> dict[str, float]:
    """The power of each size along its own axis.

    Args:
        table: rows of several axes, named in the column ``axis``. axes: the column that runs along each, by its name.
    """
    return {axis: power(table[table["axis"] == axis], size, left, right) for axis, size in axes.items()}
