"""Verdicts on (2.3)-(2.5) and Appendix A.1 of arXiv:2504.16000v2."""

import numpy as np
import pandas as pd

from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import describe, select
from companion.judging.tolerances import Cases, Declared, Rounding
from companion.judging.vocabulary import ABOUT, CONSISTENT, ROUNDING

ALL_WEIGHTS = "(2.3), all weights"
PRINTED_24, TRANSPOSED_24 = "(2.4), as printed", "(2.4), with W11 transposed"
PRINTED_25, TRANSPOSED_25 = "(2.5), as printed", "(2.5), Γ = w22 W11 transposed"
CONTAINED = "task + rank-one = ⟨Γ', Z⟩"
SQUARE = "even terms²"


def rounds(found: Record, identity: str) -> bool:
    """Does an identity hold to rounding, in all shapes?"""
    rows = select(found["identities"], identity=identity)
    worst = rows.loc[rows["relative_difference"].idxmax()]
    name = f"relative difference from the head, {identity}, largest"
    row = describe(dict(worst[["identity", "D", "L"]]))
    return found.at_most(name, worst["relative_difference"], ROUNDING, table="identities", row=row)


def vanish(found: Record, name: str, rows: pd.DataFrame, table: str) -> bool:
    """Is the mean farthest from 0, in standard errors, consistent with 0?"""
    scores = (rows["mean"] / rows["standard_error"]).abs()
    row = describe(dict(rows.loc[scores.idxmax(), ["product", "D", "L"]]))
    return found.at_most(f"{name}, in standard errors", scores.max(), CONSISTENT, table=table, row=row)


@judges("noisyhead/equation-2.3")
def equation_23(found: Record) -> Ruling:
    """Is the last entry of the head's output the bilinear form?"""
    return found.ruling(rounds(found, ALL_WEIGHTS))


@judges("noisyhead/equation-2.4", printed=PRINTED_24, transposed=TRANSPOSED_24)
@judges("noisyhead/equation-2.5", printed=PRINTED_25, transposed=TRANSPOSED_25)
def reduced(found: Record, printed: str, transposed: str) -> Ruling:
    """Which form of the prediction is the head's: the printed one, or the one with W₁₁ transposed?"""
    as_printed, corrected = rounds(found, printed), rounds(found, transposed)
    return found.ruling(as_printed, corrected=corrected, off=found.numbers[0].value)


@judges("noisyhead/appendix-a.1")
def appendix_a1(found: Record) -> Ruling:
    """Do the dropped terms carry nothing, is the fourth of the form ⟨Γ, Z⟩, and do zero blocks stay?"""
    dropped = found["dropped-terms"]
    products = dropped[dropped["product"] != SQUARE]
    name = "mean product of a dropped term with the response or the rest"
    apart = vanish(found, name, products, "dropped-terms")
    flat = vanish(found, "slope of the loss at zero blocks", found["zero-blocks"], "zero-blocks")
    contained = rounds(found, CONTAINED)
    least = select(dropped, product=SQUARE)["mean"].min()
    name = "mean square that the dropped terms add to the error, least"
    found.number(name, least, table="dropped-terms", row=SQUARE)
    return found.ruling(apart and flat and contained, products=len(products))


@judges("noisyhead/appendix-a.1-inverse-moment")
def inverse_moment(found: Record) -> Ruling:
    """Is the best head's weight the inverse second moment of the features, with these or these over √L in X?"""
    everything = found["inverse-moment"]
    table, penalised = select(everything, penalty=0.0), everything[everything["penalty"] > 0]
    gap, multiple = (table["over_normalised"] - 1).abs(), table["L"] / table["D"]
    far = multiple[gap + CONSISTENT * table["ratio_error"] > ABOUT]
    enough = [m for m in multiple.unique() if far.empty or m > far.max()]
    equal = far.empty or (table["over_features"] - 1).abs().max() <= ABOUT

    D, penalty = everything["D"].max(), everything["penalty"].max()
    lengths = everything.loc[everything["D"] == D, "L"]
    for name, L, at, column, error in (
        ("shortest prompts", lengths.min(), 0.0, "over_normalised", "ratio_error"),
        ("longest prompts", lengths.max(), 0.0, "over_normalised", "ratio_error"),
        ("longest prompts, features themselves in X", lengths.max(), 0.0, "over_features", ""),
        ("longest prompts, largest penalty", lengths.max(), penalty, "over_normalised", "ratio_error"),
    ):
        where = {"D": D, "L": L, "penalty": at}
        name = f"weight over inverse moment, {name}"
        found.cite(name, column, table="inverse-moment", against=1.0, error=error, **where)
    grounds = "without penalty" if (penalised["over_normalised"] - 1).abs().max() > ABOUT else ""
    return found.ruling(equal, narrower=bool(enough), grounds=grounds, times=min(enough, default=np.nan))


# ---- How near numbers come on another machine ----

# Both sides of what holds as written differ by rounding alone; what does not hold differs by a number.
HOLD = {
    "equation-2.3": ALL_WEIGHTS,
    "equation-2.4": TRANSPOSED_24,
    "equation-2.5": TRANSPOSED_25,
    "appendix-a.1": CONTAINED,
}
TOLERANCES: Declared = {
    "identities": {"relative_difference": Cases("identity", dict.fromkeys(HOLD.values(), Rounding()))},
    "verdicts": {
        f"noisyhead/{place}: relative difference from the head, {name}, largest": Rounding()
        for place, name in HOLD.items()
    },
}
