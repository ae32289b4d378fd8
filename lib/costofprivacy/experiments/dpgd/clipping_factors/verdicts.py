"""Verdicts on (4.5), (4.6), Lemmas B.1 and B.2 and Figure 9 of arXiv:2505.16329v2."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.experiments.dpgd.clipping_factors.experiment import (
    NU_AT_ONE,
    NU_AT_ONE_MEASURED,
    NU_AT_ONE_PRINTED,
    PEAK,
    PEAK_HEIGHT,
)
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import several
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, cite, describe, select
from costofprivacy.judging.vocabulary import CONSISTENT

ROUNDING = 1e-12
INVERSE = -0.8  # an exponent below this, error included, is that of 1/d: the next order adds 0.05 at d = 10
TENDS = 0.1  # least power of c/ζ that counts as tending to a limit
SATURATED = 1e-4  # distance from 1 at the end of Figure 9 that counts as having arrived
PRINTED = 0.516  # of (B.24)
DIGITS = 5e-4  # half of its last digit
MU_LIMIT, NU_LIMIT = math.sqrt(2 / math.pi), 1.0  # of (B.15) and (B.16)


@judges("dpgd/equation-4.5")
def equation_45(tables: Tables) -> Finding:
    """Does clipping the gradient at c√d become clipping the residual at c as d grows, like 1/d?"""
    distance = select(tables["dimension"], quantity="distance").sort_values("d")
    change = "A covariance of bounded spectrum for which the two ways of clipping stay apart as $d$ grows."
    if not several(distance["d"]):
        return Finding(Verdict.UNTESTABLE, "A single dimension shows no approximation.", would_change=change)
    fits = {}
    for name, rows in distance.groupby("spectrum"):
        last = rows.iloc[-2:]
        fits[str(name)] = _fits.power_law(last["d"], last["value"], last["standard_error"])
    powers = [
        Number("power of d between the last two", *fit, -1.0, "dimension", f"spectrum = {name}, quantity = distance")
        for name, fit in fits.items()
    ]
    numbers = (*powers, *_at_the_largest(tables["dimension"]))
    power = f"$d^{{{max(fits.values())[0]:.2f}}}$"
    if all(fitted + CONSISTENT * error <= INVERSE for fitted, error in fits.values()):
        headline = (
            f"Clipping gradients instead of residuals moves them by a share of their square that falls like {power}."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if any(fitted - CONSISTENT * error > INVERSE for fitted, error in fits.values()):
        headline = f"The two ways of clipping differ by a share of their square that goes only like {power}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = "Too few records to tell how the two ways of clipping approach each other."
    return Finding(Verdict.UNTESTABLE, headline, numbers, would_change=change)


def _at_the_largest(dimension: pd.DataFrame) -> list[Number]:
    """What clipping whole gradients changes at the largest d: the distance beside its leading order, the factors."""
    return [
        Number(
            f"{row['quantity']} at the largest d",
            row["value"],
            row["standard_error"],
            row["closed_form"] if row["quantity"] == "distance" else 0.0,
            "dimension",
            describe({name: row[name] for name in ("spectrum", "d", "quantity")}),
        )
        for _, row in select(dimension, d=dimension["d"].max()).iterrows()
    ]


@judges("dpgd/equation-4.6")
def equation_46(tables: Tables) -> Finding:
    """Do the factors depend on the risk alone, and increase in c from 0 to 1?"""
    gaussian = select(tables["definition"], law="Gaussian")
    score = max(_spread(select(gaussian, quantity=name)) for name in ("mu", "nu"))
    curves = tables["factors"].sort_values("ratio")[["ratio", "mu", "nu"]]
    first, last = curves.iloc[0], curves.iloc[-1]
    start, end = max(first["mu"], first["nu"]), min(last["mu"], last["nu"])
    numbers = (
        Number("largest difference at one risk, in standard errors", score, None, CONSISTENT, "definition",
               "law = Gaussian"),
        Number("larger factor at the start", start, None, first["ratio"], "factors", f"ratio = {first['ratio']:g}"),
        Number("lesser factor at the end", end, None, 1.0, "factors", f"ratio = {last['ratio']:g}"),
    )  # fmt: skip
    change = "Gaussian data and coefficients of equal risk with other factors."
    if score > CONSISTENT:
        headline = f"Coefficients of equal risk have factors {compact(score)} standard errors apart."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    rising = (np.diff(curves[["mu", "nu"]], axis=0) > 0).all()
    if not rising or start > first["ratio"] or end < 1 - SATURATED:
        headline = "A factor does not rise all the way from nothing to everything as clipping is relaxed."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        f"Coefficients of equal risk have equal factors within {compact(score)} standard errors, and both rise as "
        "clipping is relaxed."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/lemma-b.1-mu")
def lemma_b1_mu(tables: Tables) -> Finding:
    """(B.1), by quadrature and by simulation; μ is also the share of residuals left whole."""
    return _closed_form(tables, "mu_error", "mu", "share whole")


@judges("dpgd/lemma-b.1-nu")
def lemma_b1_nu(tables: Tables) -> Finding:
    """(B.2) with (B.3), by quadrature and by simulation."""
    return _closed_form(tables, "nu_error", "nu")


def _closed_form(tables: Tables, column: str, *quantities: str) -> Finding:
    """A formula of Lemma B.1 against quadrature of the moment, in ``column``, and against simulated gradients."""
    precision, gaussian = tables["precision"], select(tables["definition"], law="Gaussian")
    worst = precision.loc[precision[column].idxmax()]
    scores = {name: _score(select(gaussian, quantity=name)) for name in quantities}
    score = max(scores.values())
    numbers = (
        Number("largest relative difference from quadrature", worst[column], None, ROUNDING, "precision",
               f"ratio = {worst['ratio']:.3g}"),
        *(Number("largest distance from the simulation, in standard errors", value, None, CONSISTENT, "definition",
                 f"law = Gaussian, quantity = {name}") for name, value in scores.items()),
    )  # fmt: skip
    change = "A ratio of clipping at which the formula and the moment that it stands for differ."
    if worst[column] > ROUNDING:
        headline = f"The formula differs from quadrature by {compact(worst[column])} of its value."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)
    if score > CONSISTENT:
        headline = f"The formula is {compact(score)} standard errors from simulated gradients."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)
    headline = (
        f"The formula agrees with quadrature to rounding, and with simulated gradients within {compact(score)} "
        "standard errors."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/lemma-b.2-bounds")
def lemma_b2_bounds(tables: Tables) -> Finding:
    """(B.15): are both ratios between constants of c and ζ that fall in c, and √(2/π) and 1?"""
    bounds = tables["bounds"].sort_values("clip")
    highest = bounds[["mu_high", "nu_high"]].max()
    broken = (
        (bounds["mu_high"] > MU_LIMIT * (1 + ROUNDING))
        | (bounds["nu_high"] > NU_LIMIT * (1 + ROUNDING))
        | (bounds["mu_low"] < bounds["mu_sharp"] * (1 - ROUNDING))
        | (bounds["nu_low"] < bounds["nu_sharp"] * (1 - ROUNDING))
    )
    constants = bounds[["mu_sharp", "nu_sharp"]]
    numbers = (
        Number("largest ratio of the mean", highest["mu_high"], None, MU_LIMIT, "bounds", "all, mu_high"),
        Number("largest ratio of the square", highest["nu_high"], None, NU_LIMIT, "bounds", "all, nu_high"),
        Number("least ratio of the mean over its constant", (bounds["mu_low"] / bounds["mu_sharp"]).min(), None, 1.0,
               "bounds", "all, mu_low"),
        Number("least ratio of the square over its constant", (bounds["nu_low"] / bounds["nu_sharp"]).min(), None, 1.0,
               "bounds", "all, nu_low"),
        Number("least constant", constants.min(axis=None), None, 0.0, "bounds", "all, mu_sharp and nu_sharp"),
    )  # fmt: skip
    change = "A risk, a clipping constant and a label noise at which a ratio leaves its bounds."
    if broken.any():
        headline = f"A bound is broken at {broken.sum()} of {len(bounds)} pairs of clipping constant and label noise."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    falls = [(np.diff(rows[["mu_sharp", "nu_sharp"]], axis=0) < 0).all() for _, rows in bounds.groupby("label_noise")]
    if not all(falls) or constants.min(axis=None) <= 0:
        headline = "A lower constant is not positive, or does not fall as clipping is relaxed."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)
    headline = (
        f"Both ratios stay between their bounds for all {len(bounds)} pairs of clipping constant and label noise."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/lemma-b.2-limits")
def lemma_b2_limits(tables: Tables) -> Finding:
    """(B.16): do both ratios tend to √(2/π) and 1 as c/ζ → 0, at the worst risk, along c and along ζ?"""
    bounds = tables["bounds"].assign(
        share=lambda t: t["clip"] / t["label_noise"],
        mu=lambda t: (MU_LIMIT - t["mu_low"]).abs(),
        nu=lambda t: (NU_LIMIT - t["nu_low"]).abs(),
    )
    small = bounds[bounds["share"] < 1].sort_values("share")
    change = "A sequence of risks along which a ratio does not come near its limit."
    if not several(small["clip"]):
        return Finding(Verdict.UNTESTABLE, "Too few small clipping constants to see a limit.", would_change=change)
    least = small.iloc[0]
    gap, row = compact(max(least["mu"], least["nu"])), describe({name: least[name] for name in ("clip", "label_noise")})
    # the leading orders, derived on the page
    leading = {"mu": least["share"] ** 2 / math.sqrt(18 * math.pi), "nu": least["share"] * math.sqrt(8 / (9 * math.pi))}
    numbers = (
        Number("distance of the mean's ratio from its limit", least["mu"], None, leading["mu"], "bounds", row),
        Number("distance of the square's ratio from its limit", least["nu"], None, leading["nu"], "bounds", row),
    )
    series = [rows for fixed in ("clip", "label_noise") for _, rows in small.groupby(fixed)]
    if all(_tends(rows["share"], rows[name]) for rows in series for name in ("mu", "nu")):
        headline = (
            f"Both ratios approach their limits at every risk, up to {gap} when the clipping constant is "
            f"{compact(least['share'])} label noises."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = f"As clipping tightens a ratio does not keep approaching its limit; at the tightest, {gap} is left."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


def _tends(x: pd.Series, gap: pd.Series) -> bool:
    """Whether a distance falls at least like x^`TENDS` at each step towards x = 0; ``x`` ascends."""
    ratio = (x / x.shift(-1)).iloc[:-1] ** TENDS
    return bool((gap.iloc[:-1] <= gap.shift(-1).iloc[:-1] * ratio).all())


@judges("dpgd/lemma-b.2-half")
def lemma_b2_half(tables: Tables) -> Finding:
    """(B.17): are ν/c'² for c' ≤ 1 and ν for c' > 1 above one half?"""
    sides = {"nu_half_clipped": "clipping ratio at most 1", "nu_half_unclipped": "clipping ratio above 1"}
    least = {name: float(tables["bounds"][name].min()) for name in sides}
    numbers = tuple(Number(f"least, {text}", least[name], None, 0.5, "bounds", name) for name, text in sides.items())
    change = "A risk at which the ratio is a half or less."
    if not all(map(math.isfinite, least.values())):
        headline = "No risk was tried on one side of the clipping constant."
        return Finding(Verdict.UNTESTABLE, headline, numbers, would_change=change)
    lowest = min(least.values())
    if lowest <= 0.5:
        headline = f"A ratio falls to {compact(lowest)}, which is not above a half."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = f"Both ratios stay above a half at all risks tried; the least is {compact(lowest)}."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/figure-9")
def figure_9(tables: Tables) -> Finding:
    """Do the factors rise, and are the ratios monotone as the proof of Lemma B.2 takes them to be?"""
    curves = tables["factors"].sort_values("ratio").reset_index(drop=True)
    step = curves.diff().iloc[1:]
    numbers = (
        cite("peak of the drawn ratio of the square", tables, "landmarks", "value", landmark=PEAK_HEIGHT),
        cite("where it peaks", tables, "landmarks", "value", landmark=PEAK),
        Number("steps at which the drawn ratio of the square rises", (step["nu_over_ratio"] >= 0).sum(), None, 0.0,
               "factors", "nu_over_ratio"),
        Number("steps at which its division by the square rises", (step["nu_over_square"] >= 0).sum(), None, 0.0,
               "factors", "nu_over_square"),
    )  # fmt: skip
    change = "A derivative of the drawn ratio of the square that is negative near zero."
    drawn = (step["mu"] > 0).all() and (step["nu"] > 0).all() and (step["mu_over_ratio"] < 0).all()
    if drawn and (step["nu_over_ratio"] < 0).all():
        headline = "All drawn curves are monotone, as the proof takes them to be."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if not drawn or not (step["nu_over_square"] < 0).all():
        headline = "A curve that the proof takes to be monotone is not, and dividing by the square does not mend it."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    top = curves["nu_over_ratio"][step.index[step["nu_over_ratio"] >= 0][-1]]
    headline = (
        f"A ratio that the proof calls monotone rises up to {compact(top)}; divided by the square instead, it falls "
        "throughout, and that suffices."
    )
    correction = r"$\nu_c/c'^2$ in the place of $\nu_c/c'$ in the last sentence of the proof of Lemma B.2."
    return Finding(Verdict.CORRECTED, headline, numbers, correction=correction, would_change=change)


@judges("dpgd/equation-b.24")
def equation_b24(tables: Tables) -> Finding:
    """(B.24): is ν = 1 − √(2/(πe)) ≈ 0.516 at c' = 1, by (B.2) and by quadrature?"""
    value = tables["landmarks"].set_index("landmark")["value"]
    closed, quadrature, exact = (value[name] for name in (NU_AT_ONE, NU_AT_ONE_MEASURED, NU_AT_ONE_PRINTED))
    numbers = (
        cite("by (B.2)", tables, "landmarks", "value", against=exact, landmark=NU_AT_ONE),
        cite("by quadrature", tables, "landmarks", "value", against=exact, landmark=NU_AT_ONE_MEASURED),
        cite("the printed expression", tables, "landmarks", "value", against=PRINTED, landmark=NU_AT_ONE_PRINTED),
    )
    change = "Another value of the second moment of a standard normal variable clipped at its standard deviation."
    if max(abs(closed - exact), abs(quadrature - exact)) > ROUNDING:
        headline = f"The value is {quadrature:.6f} by quadrature, while the printed expression is {exact:.6f}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)
    if abs(exact - PRINTED) > DIGITS:
        headline = f"The expression is right, but it is {exact:.4f} and not the printed decimal."
        correction = f"$1 - \\sqrt{{2/(\\pi e)}} \\approx {exact:.4f}$."
        return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, correction, change)
    headline = f"The value is {exact:.3f}, as printed, by the formula and by quadrature."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


def _score(rows: pd.DataFrame) -> float:
    """Largest distance from the closed form in standard errors."""
    return float(((rows["value"] - rows["closed_form"]).abs() / rows["standard_error"]).max())


def _spread(rows: pd.DataFrame) -> float:
    """Largest difference between two of the rows in combined standard errors."""
    pairs = combinations(zip(rows["value"], rows["standard_error"]), 2)
    return max(abs(a - b) / math.hypot(s, t) for (a, s), (b, t) in pairs)
