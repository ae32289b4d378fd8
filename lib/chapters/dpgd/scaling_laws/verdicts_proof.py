"""Verdicts on printed steps and constants of Appendix E of arXiv:2505.16329v2."""

import pandas as pd

from chapters.dpgd.scaling_laws.trends import least, most, number, powers
from chapters.dpgd.scaling_laws.verdicts_lemmas import CURVE
from companion.judging.findings import Verdict
from companion.judging.growth import LOST_POWER
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables
from companion.judging.vocabulary import ROUNDING

QUADRATURE = 1e-6  # relative error of the integrals behind (E.12)
COMPARED = 1e-3  # relative error of the path behind (E.14)
PRINTED_BOUND = 1.5  # of (E.48)


@judges("dpgd/equation-e.12")
def equation_e12(tables: Tables) -> Ruling:
    """Is R' of (E.12) equal to the left side of (E.10)?"""
    rows = tables["linear"]
    ratio = rows[["as_printed", "half_clock"]].rdiv(rows["solved"], axis=0)
    printed, half = (ratio - 1).abs().max()
    named = {
        "(E.12) against (E.10), largest relative difference": (printed, QUADRATURE, "as_printed"),
        "the same with the missing 2": (half, QUADRATURE, "half_clock"),
    }
    verdict = reads(printed=printed <= QUADRATURE, corrected=half <= QUADRATURE)
    return Ruling(verdict, numbers("linear", named), {"ratio": ratio["as_printed"].max()})


@judges("dpgd/equation-e.14")
def equation_e14(tables: Tables) -> Ruling:
    """(E.14): does the comparison hold with a C₂ for which μ_c C₂ ≥ c/√(2R + ζ²), or only with a larger one?"""
    ratio = tables["comparison"].groupby("constant")["ratio"].min()
    named = {
        f"left over right side of (E.14), {name} constant": (ratio[name], 1.0, f"constant = {name}")
        for name in ("least", "larger")
    }
    suffices = ratio >= 1 - COMPARED
    verdict = reads(printed=suffices["least"], corrected=suffices["larger"])
    return Ruling(verdict, numbers("comparison", named), {"least": ratio["least"]})


@judges("dpgd/equation-e.27")
def equation_e27(tables: Tables) -> Ruling:
    """(E.27): is N₂(t) at most of the order of γv, at all times?"""
    rows = tables["paths"].assign(quotient=lambda t: t["sampling"] / (t["gamma"] * t["v"]))
    ends = rows.groupby([*CURVE, "inverse_gamma"], as_index=False, sort=False)["quotient"].max()
    kinds = powers(ends, CURVE, "quotient")
    if kinds.empty:
        return Ruling(Verdict.UNTESTABLE)
    worst, largest = kinds.iloc[-1], most(rows, "quotient")
    product = (rows["gamma"] * rows["v"]).max()
    found = (
        number("largest power of 1/γ in sampling noise over γv", worst, "power", LOST_POWER, "paths", *CURVE),
        number("largest sampling noise over γv", largest, "quotient", None, "paths", *CURVE, "gamma", "time"),
        *numbers("paths", {"largest γv": (product, 2.0)}),
    )
    verdict = reads(printed=worst["power"] <= LOST_POWER and product <= 2)
    return Ruling(verdict, found, {"quotient": largest["quotient"]})


@judges("dpgd/equation-e.45")
def equation_e45(tables: Tables) -> Ruling:
    """(E.45), (E.48), (E.51), (E.54): is the private noise along the run bounded at the chosen a, in every case?"""
    rows = tables["exponents"].dropna(subset="tight")
    low = least(rows, "tight")
    found = number(
        "least exponent of the private noise along the run", low, "tight", 0.0, "exponents", "phi", "alpha", "b"
    )
    return Ruling(reads(printed=low["tight"] >= 0), (found,), {"places": len(rows)})


@judges("dpgd/equation-e.46")
def equation_e46(tables: Tables) -> Ruling:
    """(E.46): is a in [−1, 0] in the case that the sentence treats, b > K/(2(K + 1))?

    It is. From b ≤ 1 follows a ≤ 0. The case's b gives 2(1 − b) < (K + 2)/(K + 1), hence −a < (α + 1)/(K + 1), and this
    is below 1 because κ₁ > 1 makes K = κ₁(α + 1) larger than α.
    """
    rows = tables["reasons"]
    case, outside = rows[rows["b"] > rows["bound"]]["a"], least(rows, "a")
    found = (
        *numbers("reasons", {"least a, b above its bound": (case.min(), -1.0)}, "b > bound"),
        *numbers("reasons", {"largest a, b above its bound": (case.max(), 0.0)}, "b > bound"),
        number("least a, any b ≤ 1", outside, "a", None, "reasons", "phi", "psi", "alpha", "b"),
    )
    verdict = reads(printed=bool(case.between(-1, 0).all()), decided=not case.empty)
    return Ruling(verdict, found, {"places": len(case)})


@judges("dpgd/equation-e.48")
def equation_e48(tables: Tables) -> Ruling:
    """After (E.48): 2 − 2b + 4a/3 > 0 at α = ½, "since 3κ₁/2 + 2 > 3/2": which number must it exceed?"""
    rows = tables["reasons"].dropna(subset="threshold")
    if rows.empty:
        return Ruling(Verdict.UNTESTABLE)
    low, high, left = rows["threshold"].min(), rows["threshold"].max(), rows["left"].min()
    named = {
        "number that K + 2 must exceed, least": (low, PRINTED_BOUND),
        "number that K + 2 must exceed, largest": (high, PRINTED_BOUND),
        "least 2 − 2b + 4a/3, over 2(1 − b)": (left, 0.0),
    }
    as_printed = (rows["threshold"] - PRINTED_BOUND).abs().max() <= ROUNDING
    verdict = reads(printed=left > 0 and as_printed, corrected=left > 0)
    return Ruling(verdict, numbers("reasons", named, "alpha = 0.5"), {"number": high})


def tested(tables: Tables) -> pd.DataFrame:
    """The risks that were computed a second time, with both relative differences."""
    rows = tables["check"]
    return rows.assign(apart=(rows["lsoda"] / rows["risk"] - 1).abs(), better=rows["risk"] / rows["lsoda_least"] - 1)
