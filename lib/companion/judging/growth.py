"""Whether one side of a bound loses a power of a size against the other: one threshold for all judges.

A claim "left ≲ right", its constant hidden, is contradicted along a size if left/right grows like a power of it. Over
the largest sizes of a table a power is told from logarithms by its height: log³(NL) alone rises like the power 0.2
where log(NL) is 15, which is where simulations end, and like less than 0.1 where closed forms end.
"""

import numpy as np
import pandas as pd

from companion.judging.vocabulary import CONSISTENT

LOST_POWER = 0.1  # in closed form, at sizes of 1e12 and more
LOST_POWER_SIMULATED = 0.25  # where log(NL) is about 15
LOST_LOGARITHM = 1 / 6  # of ln(size), in closed form, where a claim is about the power of a logarithm
LAST = 3  # sizes over which the power is fitted
RULE = (
    "A claim about several sizes is tested along each of them alone, with the others at the paper's own values or tied "
    "to it as the claim says. A closed form is followed, with at least one point a decade, to where the claim's "
    "conditions or double precision end; a simulation to where the memory of a laptop ends, with at least three sizes. "
    f"One side outgrows the other if, over the {LAST} largest sizes, their ratio grows faster than the power "
    f"{LOST_POWER:g} of the size in closed form, or {LOST_POWER_SIMULATED:g} in a simulation, which ends where "
    f"logarithms still look like powers. Where a claim is that a logarithm is gone, the power {LOST_LOGARITHM:.2g} of "
    "the logarithm is too much. Sizes and thresholds are fixed before results are seen."
)


def several(sizes: pd.Series) -> bool:
    """Whether there are two different sizes at least, without which nothing shows a trend."""
    return bool(sizes.nunique() > 1)


def power(rows: pd.DataFrame, size: str, left: str = "left", right: str = "right", last: int = LAST) -> float:
    """The power of a size in left/right, or in left alone, by least squares on log axes over the largest sizes.

    ``rows`` are one axis of a table, along which the column ``size`` runs. NaN where the axis has a single size.
    """
    end = rows.sort_values(size).tail(last)
    if not several(end[size]):
        return float("nan")
    log_size, ratio = np.log(end[size].to_numpy(float)), end[left] / end[right] if right else end[left]
    return float(np.polyfit(log_size, np.log(ratio.to_numpy(float)), 1)[0])


def logarithm(rows: pd.DataFrame, size: str, left: str = "left", right: str = "right") -> float:
    """The power of the logarithm of a size in left/right, or in left alone; see `power`."""
    return power(rows.assign(logarithm=np.log(rows[size])), "logarithm", left, right)


def stays(rows: pd.DataFrame, size: str, left: str, right: str, error: str) -> bool:
    """Whether a simulated side is beyond doubt at the largest size, and a power of the size is lost along it."""
    rows = rows.sort_values(size)
    sure = rows[left] > CONSISTENT * rows[error]
    return bool(sure.iloc[-1] and power(rows[sure], size, left, right) > LOST_POWER_SIMULATED)


def powers(table: pd.DataFrame, axes: dict[str, str], left: str = "left", right: str = "right") -> dict[str, float]:
    """The power of each size along its own axis, of those that the column ``axis`` of a table names."""
    return {axis: power(table[table["axis"] == axis], size, left, right) for axis, size in axes.items()}
