"""The judge of what section 8 of arXiv:2505.16329v2 suspects where the label noise vanishes."""

import pandas as pd

from chapters.dpgd.small_noise.measure import FIXED, NONE, POWER
from companion.judging.growth import LOST_POWER, LOST_POWER_SIMULATED, power, several
from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import select

TABLE = "small-noise-full-batch"
SQUARE = 2.0  # the power of 1/γ in −ln(risk) that belongs to e^{−cρ²/γ²}


def along(table: pd.DataFrame, axis: str) -> pd.DataFrame:
    """One axis, towards vanishing label noise, with −ln(risk)."""
    rows = select(table, axis=axis).sort_values("size")
    return rows.assign(logarithm=-rows["exponent"] / rows["gamma"] ** 2)


@judges("dpgd/section-8-small-noise")
def small_noise(found: Record) -> Ruling:
    """Is ζ²(γ + γ²/ρ²) attained as ζ → 0, by some private algorithm, and at ζ = 0, too, where it is 0?

    That no algorithm does better follows from Theorem 3 by a change of units, which the page derives.
    """
    none, *noisy = (along(found[TABLE], axis) for axis in (NONE, POWER, FIXED))
    last, end, attained = none.iloc[-1], noisy[-1].iloc[-1], True
    for axis, rows in zip((POWER, FIXED), noisy):
        name = "power by which the full-batch risk outgrows the order"
        attained &= found.at_most(
            name, power(rows, "size", "risk", "order"), LOST_POWER, table=TABLE, row=f"axis = {axis}"
        )
    row = f"axis = {FIXED}, zeta = {end['zeta']:g}"
    found.number("full-batch risk over the order", end["risk"] / end["order"], table=TABLE, row=row, against=1.0)
    found.number("one-pass risk over the order", end["one_pass"] / end["order"], table=TABLE, row=row, against=1.0)
    name = "power of 1/γ in −ln(risk) without label noise"
    outgrown = power(none, "size", "logarithm", "")
    grows = found.number(name, outgrown, table=TABLE, row=f"axis = {NONE}", against=SQUARE)
    row = f"axis = {NONE}, gamma = {last['gamma']:g}"
    name = "ln(risk)·(γ/ρ)² without label noise"
    found.number(name, last["exponent"], table=TABLE, row=row, error=last["exponent_error"])
    return found.ruling(
        attained and (none["risk"] == 0).all(),
        narrower=attained and grows >= SQUARE - LOST_POWER_SIMULATED,
        decided=all(several(rows["size"]) for rows in (none, *noisy)),
    )
