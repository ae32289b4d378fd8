"""Verdicts on (2.3)-(2.5) and Appendix A.1 of arXiv:2504.16000v2."""

from __future__ import annotations

import pandas as pd

from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, cite, describe, select
from costofprivacy.judging.vocabulary import CONSISTENT

ROUNDING = 1e-12  # relative to the largest prediction
CLOSE = 0.1  # relative distance that "approximately equal" allows
ALL_WEIGHTS = "(2.3), all weights"
PRINTED_24, TRANSPOSED_24 = "(2.4), as printed", "(2.4), with W11 transposed"
PRINTED_25, TRANSPOSED_25 = "(2.5), as printed", "(2.5), Γ = w22 W11 transposed"
CONTAINED = "task + rank-one = ⟨Γ', Z⟩"
SQUARE = "even terms²"
LONG_PROMPTS = (
    r"$w_{22}^{PV}W_{11}^{KQ} \approx \mathbb{E}[(X^\top X)^{-1}]$ for $L \gg D$ and $\lambda \ll D^{-3}$, with the "
    r"features over $\sqrt L$ in the rows of $X$. That excludes prompts with few tokens for each dimension, and $L < D$"
    r", where the inverse does not exist. With the features themselves in the rows a factor $L$ is missing."
)


@judges("noisyhead/equation-2.3")
def equation_23(tables: Tables) -> Finding:
    """Is the last entry of the head's output the bilinear form?"""
    worst = _worst(tables, ALL_WEIGHTS)
    change = "Weights and a prompt for which the head's answer is not the bilinear form."
    if worst.value > ROUNDING:
        headline = f"The head's prediction differs from the stated form by {compact(worst.value)} of its size."
        return Finding(Verdict.FAILS, headline, (worst,), Consequence.NUMBERS, would_change=change)
    headline = "The head's prediction is the stated bilinear form, to rounding, for prompts of all shapes tried."
    return Finding(Verdict.HOLDS, headline, (worst,), would_change=change)


@judges("noisyhead/equation-2.4")
def equation_24(tables: Tables) -> Finding:
    """The form multiplied out; W₁₁ wants a transpose, and the blocks are w₂₁."""
    correction = (
        r"$Q^{(1)} = w_{22}^{PV}(W_{11}^{KQ})^\top\sum_iy_ix_i + w_{22}^{PV}w_{21}^{KQ}\sum_iy_i^2$, and likewise "
        r"$(W_{11}^{KQ})^\top$ in $Q^{(2)}$."
    )
    return _transposed(tables, PRINTED_24, TRANSPOSED_24, correction)


@judges("noisyhead/equation-2.5")
def equation_25(tables: Tables) -> Finding:
    """ŷ = ⟨Γ, Z⟩; Γ = w₂₂ W₁₁ wants a transpose."""
    return _transposed(tables, PRINTED_25, TRANSPOSED_25, r"$\Gamma = w_{22}^{PV}(W_{11}^{KQ})^\top$.")


def _transposed(tables: Tables, printed: str, mended: str, correction: str) -> Finding:
    """Which of two forms of the prediction is the head's: the printed one, or the one with W₁₁ transposed?"""
    numbers = as_printed, transposed = _worst(tables, printed), _worst(tables, mended)
    change = "A convention for the inner product in which the printed form is the head's answer."
    if as_printed.value <= ROUNDING:
        headline = "The prediction is as printed, to rounding, for prompts of all shapes tried."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if transposed.value <= ROUNDING:
        off = compact(as_printed.value)
        headline = f"A weight matrix wants to be transposed; as printed the prediction is off by {off} of its size."
        return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, correction, change)
    headline = f"The prediction is off by {compact(transposed.value)} of its size even with the weights transposed."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)


@judges("noisyhead/appendix-a.1")
def appendix_a1(tables: Tables) -> Finding:
    """Do the dropped terms carry nothing, is the fourth of the form ⟨Γ, Z⟩, and do zero blocks stay?"""
    dropped, contained = tables["dropped-terms"], _worst(tables, CONTAINED)
    products = dropped[dropped["product"] != SQUARE]
    common = _largest_score("mean product of a dropped term", products, "dropped-terms")
    slope = _largest_score("slope of the loss at zero blocks", tables["zero-blocks"], "zero-blocks")
    least = select(dropped, product=SQUARE)["mean"].min()
    added = Number("least that the even terms add to the error", least, None, 0.0, "dropped-terms", SQUARE)
    numbers, change = (
        (common, slope, contained, added),
        "A law of the prompts that a change of sign of all responses alters.",
    )
    if common.value > CONSISTENT:
        headline = (
            f"A dropped term is correlated with the response or the rest, at {compact(common.value)} standard errors."
        )
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if slope.value > CONSISTENT:
        headline = (
            f"At zero blocks the loss has a slope, at {compact(slope.value)} standard errors, so they do not stay zero."
        )
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if contained.value > ROUNDING:
        headline = f"A dropped term is not of the kept form: the difference is {compact(contained.value)} of its size."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        f"In none of {len(products)} products do the dropped terms tell of the response, and zero blocks stay zero."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("noisyhead/appendix-a.1-inverse-moment")
def inverse_moment(tables: Tables) -> Finding:
    """Is the best head's weight the inverse second moment of the features, with these or these over √L in X?"""
    everything = tables["inverse-moment"]
    table = select(everything, penalty=0.0).sort_values(["D", "L"])
    table = table.assign(gap=(table["over_normalised"] - 1).abs(), multiple=table["L"] / table["D"])
    far = table[table["gap"] + CONSISTENT * table["ratio_error"] > CLOSE]
    enough = sorted(m for m in table["multiple"].unique() if far.empty or m > far["multiple"].max())
    numbers = _inverse_numbers(tables)
    change = "Another reading of $X$, under which the two agree for prompts of every length."
    if far.empty or (table["over_features"] - 1).abs().max() <= CLOSE:
        headline = "The best weight is the inverse second moment of the features, at all lengths and dimensions tried."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if enough:
        penalised = everything[everything["penalty"] > 0]
        without = ", and without penalty" if (penalised["over_normalised"] - 1).abs().max() > CLOSE else ""
        headline = (
            f"The best weight comes near the inverse second moment only for prompts {enough[0]:g} times as long as the "
            f"dimension{without}."
        )
        return Finding(Verdict.NARROWER, headline, numbers, correction=LONG_PROMPTS, would_change=change)
    ratio = compact(table.loc[table["gap"].idxmax(), "over_normalised"])
    headline = (
        f"Longer prompts do not bring the best weight near the inverse second moment; at worst their ratio is {ratio}."
    )
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


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
    return Number(f"largest difference, {identity}", worst["relative_difference"], None, ROUNDING, "identities", where)


def _largest_score(name: str, rows: pd.DataFrame, table: str) -> Number:
    """The mean farthest from 0, in standard errors."""
    scores = (rows["mean"] / rows["standard_error"]).abs()
    where = describe({column: rows.loc[scores.idxmax(), column] for column in ("product", "D", "L")})
    return Number(f"{name}, in standard errors", scores.max(), None, CONSISTENT, table, where)
