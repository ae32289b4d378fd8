"""Verdicts on (2.3)-(2.5) and Appendix A.1 of arXiv:2504.16000v2."""

import numpy as np
import pandas as pd

from companion.judging.findings import Number
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, cite, describe, select
from companion.judging.vocabulary import ABOUT, CONSISTENT, ROUNDING

ALL_WEIGHTS = "(2.3), all weights"
PRINTED_24, TRANSPOSED_24 = "(2.4), as printed", "(2.4), with W11 transposed"
PRINTED_25, TRANSPOSED_25 = "(2.5), as printed", "(2.5), Γ = w22 W11 transposed"
CONTAINED = "task + rank-one = ⟨Γ', Z⟩"
SQUARE = "even terms²"


@judges("noisyhead/equation-2.3")
def equation_23(tables: Tables) -> Ruling:
    """Is the last entry of the head's output the bilinear form?"""
    worst = _worst(tables, ALL_WEIGHTS)
    return Ruling(reads(printed=worst.value <= ROUNDING), (worst,))


@judges("noisyhead/equation-2.4")
def equation_24(tables: Tables) -> Ruling:
    """The form multiplied out; W₁₁ must be transposed, and the blocks are w₂₁."""
    return _transposed(tables, PRINTED_24, TRANSPOSED_24)


@judges("noisyhead/equation-2.5")
def equation_25(tables: Tables) -> Ruling:
    """ŷ = ⟨Γ, Z⟩; Γ = w₂₂ W₁₁ must be transposed."""
    return _transposed(tables, PRINTED_25, TRANSPOSED_25)


def _transposed(tables: Tables, printed: str, corrected: str) -> Ruling:
    """Which of two forms of the prediction is the head's: the printed one, or the one with W₁₁ transposed?"""
    as_printed, transposed = _worst(tables, printed), _worst(tables, corrected)
    verdict = reads(printed=as_printed.value <= ROUNDING, corrected=transposed.value <= ROUNDING)
    return Ruling(verdict, (as_printed, transposed), {"off": as_printed.value})


@judges("noisyhead/appendix-a.1")
def appendix_a1(tables: Tables) -> Ruling:
    """Do the dropped terms carry nothing, is the fourth of the form ⟨Γ, Z⟩, and do zero blocks stay?"""
    dropped, contained = tables["dropped-terms"], _worst(tables, CONTAINED)
    products = dropped[dropped["product"] != SQUARE]
    common = _largest_score("mean product of a dropped term with the response or the rest", products, "dropped-terms")
    slope = _largest_score("slope of the loss at zero blocks", tables["zero-blocks"], "zero-blocks")
    least = select(dropped, product=SQUARE)["mean"].min()
    added = numbers("dropped-terms", {"mean square that the dropped terms add to the error, least": least}, SQUARE)
    unseen = common.value <= CONSISTENT and slope.value <= CONSISTENT
    verdict = reads(printed=unseen and contained.value <= ROUNDING)
    return Ruling(verdict, (common, slope, contained, *added), {"products": len(products)})


@judges("noisyhead/appendix-a.1-inverse-moment")
def inverse_moment(tables: Tables) -> Ruling:
    """Is the best head's weight the inverse second moment of the features, with these or these over √L in X?"""
    everything = tables["inverse-moment"]
    table = select(everything, penalty=0.0).sort_values(["D", "L"])
    gap, multiple = (table["over_normalised"] - 1).abs(), table["L"] / table["D"]
    far = multiple[gap + CONSISTENT * table["ratio_error"] > ABOUT]
    enough = [m for m in multiple.unique() if far.empty or m > far.max()]
    equal = far.empty or (table["over_features"] - 1).abs().max() <= ABOUT
    verdict = reads(printed=equal, narrower=bool(enough))
    penalised = everything[everything["penalty"] > 0]
    matters = (penalised["over_normalised"] - 1).abs().max() > ABOUT
    grounds = "without penalty" if matters else ""
    return Ruling(verdict, _inverse_numbers(tables), {"times": min(enough, default=np.nan)}, grounds)


def _inverse_numbers(tables: Tables) -> tuple[Number, ...]:
    """The weight over the inverse moment at both ends of the lengths, in both readings, and at the largest penalty."""
    table = tables["inverse-moment"]
    D = table["D"].max()
    lengths, penalty = table.loc[table["D"] == D, "L"], table["penalty"].max()

    def ratio(name: str, L: int, penalty: float, column: str = "over_normalised", error: str = "ratio_error") -> Number:
        where = {"D": D, "L": L, "penalty": penalty}
        return cite(
            f"weight over inverse moment, {name}", tables, "inverse-moment", column, error=error, against=1.0, **where
        )

    return (
        ratio("shortest prompts", lengths.min(), 0.0),
        ratio("longest prompts", lengths.max(), 0.0),
        ratio("longest prompts, features themselves in X", lengths.max(), 0.0, "over_features", ""),
        ratio("longest prompts, largest penalty", lengths.max(), penalty),
    )


def _worst(tables: Tables, identity: str) -> Number:
    """The largest relative difference of an identity over all shapes."""
    rows = select(tables["identities"], identity=identity)
    worst = rows.loc[rows["relative_difference"].idxmax()]
    where = describe({name: worst[name] for name in ("identity", "D", "L")})
    return Number(
        f"relative difference from the head, {identity}, largest",
        worst["relative_difference"],
        None,
        ROUNDING,
        "identities",
        where,
    )


def _largest_score(name: str, rows: pd.DataFrame, table: str) -> Number:
    """The mean farthest from 0, in standard errors."""
    scores = (rows["mean"] / rows["standard_error"]).abs()
    where = describe({column: rows.loc[scores.idxmax(), column] for column in ("product", "D", "L")})
    return Number(f"{name}, in standard errors", scores.max(), None, CONSISTENT, table, where)
