"""The verdict on what section 8 of arXiv:2505.16329v2 suspects where the label noise vanishes."""

import pandas as pd

from chapters.dpgd.small_noise.experiment import FIXED, NONE, POWER
from companion.judging.findings import Number
from companion.judging.growth import LOST_POWER, LOST_POWER_SIMULATED, power, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select

TABLE = "small-noise-full-batch"
LOST = "power by which the full-batch risk outgrows the order"
SQUARE = 2.0  # the power of 1/γ in −ln(risk) that belongs to e^{−cρ²/γ²}


def along(table: pd.DataFrame, axis: str) -> pd.DataFrame:
    """One axis, towards vanishing label noise."""
    return select(table, axis=axis).sort_values("size")


def exponents(table: pd.DataFrame) -> pd.DataFrame:
    """The rows without label noise, with −ln(risk) where a risk has one."""
    rows = along(table, NONE)
    return rows.assign(logarithm=-rows["exponent"] / rows["gamma"] ** 2)


@judges("dpgd/section-8-small-noise")
def small_noise(tables: Tables) -> Ruling:
    """Is ζ²(γ + γ²/ρ²) attained as ζ → 0, by some private algorithm, and at ζ = 0, too, where it is 0?

    That no algorithm does better follows from Theorem 3 by a change of units, which the page derives.
    """
    table = tables[TABLE]
    noisy = {f"axis = {axis}": along(table, axis) for axis in (POWER, FIXED)}
    none, end = exponents(table), noisy[f"axis = {FIXED}"].iloc[-1]
    lost = {axis: power(rows, "size", "risk", "order") for axis, rows in noisy.items()}
    grows, last = power(none, "size", "logarithm", ""), none.iloc[-1]
    of_order = {
        "full-batch risk over the order": (end["risk"] / end["order"], 1.0),
        "one-pass risk over the order": (end["one_pass"] / end["order"], 1.0),
    }
    found = (
        *(Number(LOST, value, None, LOST_POWER, TABLE, row) for row, value in lost.items()),
        *numbers(TABLE, of_order, f"axis = {FIXED}, zeta = {end['zeta']:g}"),
        *numbers(TABLE, {"power of 1/γ in −ln(risk) without label noise": (grows, SQUARE)}, f"axis = {NONE}"),
        Number("ln(risk)·(γ/ρ)² without label noise", last["exponent"], last["exponent_error"], None, TABLE,
               f"axis = {NONE}, gamma = {last['gamma']:g}"),
    )  # fmt: skip
    attained, zero = max(lost.values()) <= LOST_POWER, bool((none["risk"] == 0).all())
    narrower = attained and grows >= SQUARE - LOST_POWER_SIMULATED
    decided = all(several(rows["size"]) for rows in (none, *noisy.values()))
    return Ruling(reads(printed=attained and zero, narrower=narrower, decided=decided), found)
