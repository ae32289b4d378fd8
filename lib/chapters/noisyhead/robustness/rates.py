"""How fast a measured side outgrows a claimed one, with the error of the fit, for the verdicts on robustness."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from companion import _fits
from companion.judging import growth
from companion.judging.findings import Number
from companion.judging.growth import LOST_POWER, LOST_POWER_SIMULATED
from companion.judging.prose import compact

SIZES = {"N": "the number of prompts", "L": "prompt length", "D": "the dimension"}


def fitted(table: pd.DataFrame, value: str, error: str, over: str = "", by: Sequence[str] = ()) -> pd.DataFrame:
    """The power of ``value`` over ``over`` along each axis and group: axis, ``by``, power, error.

    An axis with a single size has none. Where all errors are nought all rows weigh the same and the power has none.
    """
    found = []
    for (axis, *group), rows in table.groupby(["axis", *by], sort=False):
        scale = rows[over] if over else 1.0
        ratio, size = rows[value] / scale, rows[str(axis)]
        if growth.several(size):
            power, own = _fits.power_law(size, ratio, np.maximum(rows[error] / scale, 1e-9 * ratio))
            own = own if rows[error].any() else 0.0
            found.append({"axis": axis, **dict(zip(by, group)), "power": power, "error": own})
    return pd.DataFrame(found, columns=["axis", *by, "power", "error"])


def grows(rates: pd.DataFrame) -> pd.DataFrame:
    """Those that are a lost power beyond doubt."""
    return rates[rates["power"] - 2 * rates["error"] > LOST_POWER_SIMULATED]


def falls(rates: pd.DataFrame) -> pd.DataFrame:
    """Those that fall by as much."""
    return rates[rates["power"] + 2 * rates["error"] < -LOST_POWER_SIMULATED]


def steepest(rates: pd.DataFrame) -> pd.DataFrame:
    """The fastest of each axis, in either direction."""
    return rates.loc[rates["power"].abs().groupby(rates["axis"], sort=False).idxmax()]


def worded(rates: pd.DataFrame) -> str:
    """The fastest of the first axis in words, "the power 2 of prompt length"; empty where there is none."""
    if rates.empty:
        return ""
    worst = steepest(rates).iloc[0]
    return f"the power {compact(worst['power'])} of {SIZES[worst['axis']]}"


def as_numbers(rates: pd.DataFrame, name: str, table: str) -> list[Number]:
    """Fitted powers as data, the fastest of each axis."""
    told = [column for column in rates.columns if column not in ("power", "error")]
    found = []
    for _, rate in steepest(rates).iterrows():
        row, size = ", ".join(f"{column} = {rate[column]}" for column in told), SIZES[rate["axis"]]
        found.append(Number(f"power of {size} in {name}", rate["power"], rate["error"] or None, None, table, row))
    return found


def far(rows: pd.DataFrame, size: str, value: str) -> float:
    """The power of a closed form at its largest sizes."""
    return growth.power(rows, size, value, "")


def far_powers(sizes: pd.DataFrame) -> dict[str, float]:
    """By axis, the power of its size that a claim's left over its right side ends with."""
    return growth.powers(sizes, {str(axis): str(axis) for axis in sizes["axis"].unique()})


def far_lost(sizes: pd.DataFrame) -> set[str]:
    """The axes along which that is a lost power."""
    return {axis for axis, power in far_powers(sizes).items() if power > LOST_POWER}


def far_numbers(sizes: pd.DataFrame) -> list[Number]:
    """Those powers as data."""
    claim = sizes["claim"].iloc[0]
    return [
        Number(f"power of {SIZES[axis]} far out", power, None, LOST_POWER, "sizes", f"claim = {claim}, axis = {axis}")
        for axis, power in far_powers(sizes).items()
    ]
