"""Verdicts on printed steps and constants of Appendix E of arXiv:2505.16329v2."""

from __future__ import annotations

import pandas as pd

from costofprivacy.experiments.dpgd.scaling_laws.trends import ROUNDING, decide, number, powers, untestable
from costofprivacy.experiments.dpgd.scaling_laws.verdicts_lemmas import CURVE
from costofprivacy.judging.findings import Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select

QUADRATURE = 1e-6  # relative error of the integrals behind (E.12)
COMPARED = 1e-3  # relative error of the path behind (E.14)
PRINTED_BOUND = 1.5  # of (E.48)


@judges("dpgd/equation-e.12")
def equation_e12(tables: Tables) -> Finding:
    """Is R' of (E.12) equal to the left side of (E.10)?"""
    rows = tables["linear"]
    printed = (rows["solved"] / rows["as_printed"] - 1).abs()
    half = (rows["solved"] / rows["half_clock"] - 1).abs()
    numbers = (
        Number("largest relative difference, as printed", printed.max(), None, QUADRATURE, "linear", "as_printed"),
        Number("largest relative difference, at half the clock", half.max(), None, QUADRATURE, "linear", "half_clock"),
    )
    change = "A solution of (E.12) equal to the left side of (E.10)."
    if printed.max() <= QUADRATURE:
        return decide(True, ("The linear system has the printed solution.", ""), numbers, change)
    if half.max() > QUADRATURE:
        return decide(False, ("", "The linear system's solution is another one."), numbers, change)
    headline = (
        f"The linear system descends at half the rate: its risk is up to "
        f"{compact(rows['solved'].div(rows['as_printed']).max())}"
        " times the side that it should equal."
    )
    mended = "$-2\\lambda_i\\tilde\\eta(t)cD'_i$ in the first term of (E.12); the lemma, up to constants, stays."
    return Finding(Verdict.CORRECTED, headline, numbers, correction=mended, would_change=change)


@judges("dpgd/equation-e.14")
def equation_e14(tables: Tables) -> Finding:
    """(E.14): does the comparison hold with a C₂ for which μ_c C₂ ≥ c/√(2R + ζ²), or only with a larger one?"""
    least, larger = (select(tables["comparison"], constant=name)["ratio"].min() for name in ("least", "larger"))
    numbers = (
        Number("least ratio of the two sides, least constant", least, None, 1.0, "comparison", "constant = least"),
        Number("least ratio of the two sides, larger constant", larger, None, 1.0, "comparison", "constant = larger"),
    )
    change = "A comparison of the two clocks that needs no bound on the risk."
    if least >= 1 - COMPARED:
        return decide(
            True, ("The comparison holds with the least constant that the proof allows.", ""), numbers, change
        )
    if larger < 1 - COMPARED:
        return decide(False, ("", "The comparison fails with a larger constant too."), numbers, change)
    headline = (
        f"With the proof's least constant one side falls to {compact(least)} of the other; with a larger one, which a "
        "bounded risk allows, it holds."
    )
    mended = (
        "$C_2$ is to be larger by $\\sqrt{2\\sup R+\\zeta^2}/\\zeta$. That $\\sup R$ is bounded has to be "
        "shown first; the "
        "page does."
    )
    return Finding(Verdict.CORRECTED, headline, numbers, correction=mended, would_change=change)


@judges("dpgd/equation-e.27")
def equation_e27(tables: Tables) -> Finding:
    """(E.27): is N₂(t) at most of the order of γv, at all times?"""
    rows = tables["paths"].assign(quotient=lambda t: t["sampling"] / (t["gamma"] * t["v"]))
    most = rows.groupby([*CURVE, "inverse_gamma"], as_index=False, sort=False)["quotient"].max()
    found = powers(most, CURVE, "quotient")
    if found["power"].isna().all():
        return untestable("A single aspect ratio shows no order.", "Several aspect ratios.")
    worst, largest = found.iloc[-1], rows.loc[rows["quotient"].idxmax()]
    product = float((rows["gamma"] * rows["v"]).max())
    numbers = (
        number("largest power of 1/γ in the quotient by γv", worst, "power", LOST_POWER, "paths", *CURVE),
        number("largest quotient", largest, "quotient", None, "paths", *CURVE, "gamma", "time"),
        Number("largest γv", product, None, 2.0, "paths", "all"),
    )
    change = "A time at which the sampling noise exceeds $\\gamma v$ by a power."
    headlines = (
        f"At all times the sampling noise is at most {compact(largest['quotient'])} times the printed bound, "
        "whatever the "
        "aspect ratio.",
        "At some time the sampling noise exceeds the printed bound by a power.",
    )
    return decide(bool(worst["power"] <= LOST_POWER and product <= 2), headlines, numbers, change)


@judges("dpgd/equation-e.45")
def equation_e45(tables: Tables) -> Finding:
    """(E.45), (E.48), (E.51), (E.54): is the noise on the way bounded at the chosen a, in every case?"""
    rows = tables["exponents"].dropna(subset="tight")
    least = rows.loc[rows["tight"].idxmin()]
    numbers = (number("least exponent of the noise on the way", least, "tight", 0.0, "exponents", "phi", "alpha", "b"),)
    change = "A place at which the noise on the way grows as the aspect ratio falls."
    headlines = (
        f"At all {len(rows)} places the conditions of Lemma E.4 are met.",
        f"At a place the noise on the way grows: its exponent is {compact(least['tight'])}.",
    )
    return decide(bool(least["tight"] >= 0), headlines, numbers, change)


@judges("dpgd/equation-e.46")
def equation_e46(tables: Tables) -> Finding:
    """(E.46): is a in [−1, 0], and do b ≤ 1 and κ₁ > 1 alone put it there?"""
    rows = tables["reasons"]
    case = rows[rows["b"] > rows["bound"]]
    inside = case["a"].between(-1, 0).all()
    least, outside = case["a"].min(), rows.loc[rows["a"].idxmin()]
    numbers = (
        Number("least a where b is above its bound", least, None, -1.0, "reasons", "b > bound"),
        number("least a where only b ≤ 1 is asked", outside, "a", -1.0, "reasons", "phi", "psi", "alpha", "b"),
    )
    change = "A derivation of $a\\ge-1$ from $b\\le1$ and $\\kappa_1>1$ alone."
    if not inside:
        return decide(False, ("", "Above the bound the exponent leaves its interval."), numbers, change)
    if outside["a"] >= -1:
        return decide(True, ("The two reasons given suffice at every place tried.", ""), numbers, change)
    headline = (
        f"The interval is right, but the reasons given allow {compact(outside['a'])}; it takes the lower bound on the "
        "privacy exponent too."
    )
    mended = "The inclusion follows from $b\\le1$ and from $b>K/(2(K+1))$, as at (E.52)."
    return Finding(Verdict.CORRECTED, headline, numbers, correction=mended, would_change=change)


@judges("dpgd/equation-e.48")
def equation_e48(tables: Tables) -> Finding:
    """After (E.48): 2 − 2b + 4a/3 > 0 at α = ½, "since 3κ₁/2 + 2 > 3/2": against which number is it held?"""
    rows = tables["reasons"].dropna(subset="threshold")
    change = "A value of $2-2b+4a/3$ whose sign is that of $3\\kappa_1/2+2-3/2$."
    if rows.empty:
        return untestable("No schedule with a square root was drawn.", change)
    low, high = rows["threshold"].min(), rows["threshold"].max()
    numbers = (
        Number("least number to compare with", low, None, PRINTED_BOUND, "reasons", "alpha = 0.5"),
        Number("largest number to compare with", high, None, PRINTED_BOUND, "reasons", "alpha = 0.5"),
        Number("least value over 2(1 − b)", rows["left"].min(), None, 0.0, "reasons", "alpha = 0.5"),
    )
    if rows["left"].min() <= 0:
        return decide(False, ("", "The condition does not hold for this schedule."), numbers, change)
    if max(abs(low - PRINTED_BOUND), abs(high - PRINTED_BOUND)) <= ROUNDING:
        return decide(True, ("The condition holds for the printed reason.", ""), numbers, change)
    headline = (
        f"The condition holds, but the sum is to be compared with {compact(high)} and not with the printed number."
    )
    mended = "$3\\kappa_1/2+2>2$, since $\\frac43(\\alpha+1)=2$."
    return Finding(Verdict.CORRECTED, headline, numbers, correction=mended, would_change=change)


@judges("dpgd/appendix-e-references")
def appendix_e_references(tables: Tables) -> Finding:
    """The three figures named for b ≤ K/(2(K + 1)): do they show that case?"""
    printed, meant = (select(tables["references"], kind=kind) for kind in ("printed", "meant"))
    wrong, repeats = printed[~printed["fits"]], len(printed) - printed["figure"].nunique()
    numbers = (
        Number("figures named that show the other case", len(wrong), None, 0.0, "references", "kind = printed"),
        Number("figures named twice", repeats, None, 0.0, "references", "kind = printed"),
        *(number("its b", row, "b", row["critical"], "references", "figure") for _, row in wrong.iterrows()),
    )
    change = "Figures at the places named that show privacy for free."
    if wrong.empty and not repeats:
        return decide(True, ("All three figures named show the case.", ""), numbers, change)
    if not meant["fits"].all():
        no = "Neither the figures named nor those meant show the case."
        return decide(False, ("", no), numbers, change)
    headline = "Of the figures named one shows the opposite case and one stands twice; three others show it."
    mended = "Figures 10, 12 and 13."
    return Finding(Verdict.CORRECTED, headline, numbers, correction=mended, would_change=change)


def tested(tables: Tables) -> pd.DataFrame:
    """The risks that were computed a second time, with both relative differences."""
    rows = tables["check"]
    return rows.assign(apart=(rows["lsoda"] / rows["risk"] - 1).abs(), better=rows["risk"] / rows["lsoda_least"] - 1)
