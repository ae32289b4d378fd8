"""Verdicts on (4.5), (4.6), Lemmas B.1 and B.2 and Figure 9 of arXiv:2505.16329v2: pure functions of the tables."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.claims import Judgement, Verdict
from costofprivacy.experiments.dpgd.clipping_factors.experiment import (
    NU_AT_ONE,
    NU_AT_ONE_MEASURED,
    NU_AT_ONE_PRINTED,
    PEAK,
    PEAK_HEIGHT,
)

CONSISTENT = 4.5  # standard errors, the largest of a dozen comparisons
ROUNDING = 1e-12
INVERSE = (-1.2, -0.8)  # exponents of 1/d
NO_DIGIT = 0.5  # relative error
ALIKE = 0.15  # relative distance from a leading order where it should have taken over
LINEAR = (0.8, 1.2)  # exponents of c/ζ
QUADRATIC = (1.8, 2.2)
SMALL = 0.1  # c/ζ at which (B.16) is looked at as a limit
SATURATED = 1e-4  # distance from 1 at the end of Figure 9 that counts as having arrived
PRINTED = 1e-3  # three printed digits


def _gaussian(definition: pd.DataFrame, quantity: str) -> pd.DataFrame:
    return definition[(definition["law"] == "Gaussian") & (definition["quantity"] == quantity)]


def _score(rows: pd.DataFrame) -> float:
    """Largest distance from the closed form in standard errors."""
    return float(((rows["value"] - rows["closed_form"]).abs() / rows["standard_error"]).max())


def judge_equation_45(dimension: pd.DataFrame) -> Judgement:
    """(4.5): clipping the gradient at c√d amounts to clipping the residual at c."""
    if dimension["d"].nunique() < 2:
        return Judgement(Verdict.UNTESTABLE, "fewer than two dimensions")
    fits = {}
    for name, rows in dimension[dimension["quantity"] == "distance"].groupby("spectrum"):
        fits[name] = _fits.power_law(rows["d"], rows["value"], rows["standard_error"])
    last = dimension[dimension["d"] == dimension["d"].max()]
    distance = last[last["quantity"] == "distance"]
    ratio = distance["value"] / distance["closed_form"]
    shift = last.loc[last["quantity"] != "distance", "value"].abs().max()
    powers = " and ".join(f"d^({a:.2f} ± {s:.2f}) ({name})" for name, (a, s) in fits.items())
    evidence = (
        f"a definition, and an approximation that is right: the mean squared distance between the two clipped "
        f"gradients falls like {powers}, to {distance['value'].max():.1e} of the gradient's square at d = "
        f"{last['d'].max()}, {ratio.min():.2f} to {ratio.max():.2f} of the leading order derived here; μ and ν move by "
        f"at most {shift:.1e} of themselves there"
    )
    right = all(INVERSE[0] <= a <= INVERSE[1] for a, _ in fits.values()) and ((ratio - 1).abs() < ALIKE).all()
    return Judgement(Verdict.HOLDS if right else Verdict.FAILS, evidence)


def judge_equation_46(definition: pd.DataFrame, factors: pd.DataFrame) -> Judgement:
    """(4.6): the factors depend on the risk alone and increase in c from 0 to 1."""
    simulated = definition[(definition["law"] == "Gaussian") & definition["quantity"].isin(["mu", "nu"])]
    score = _score(simulated)
    if score > CONSISTENT:
        return Judgement(Verdict.FAILS, f"two parameters of one risk differ by {score:.1f} standard errors")
    table = factors.sort_values("ratio")
    rising = all((np.diff(table[name]) > 0).all() for name in ("mu", "nu"))
    ends = 1 - table[["mu", "nu"]].iloc[-1].min()
    if not rising or ends > SATURATED:
        return Judgement(Verdict.FAILS, "a factor does not increase with c' from 0 to 1")
    other = definition[(definition["law"] != "Gaussian") & (definition["quantity"] == "mu")]
    spread = f"; without Gaussian features μ ranges from {other['value'].min():.3f} to {other['value'].max():.3f}"
    return Judgement(
        Verdict.HOLDS,
        f"{len(simulated)} simulated factors of parameters with one risk are within {score:.1f} standard errors of one "
        f"value each; both rise in c', to within {ends:.0e} of 1 at c' = {table['ratio'].iloc[-1]:g}; at θ* itself "
        f"(4.6) is 0/0 for μ and holds by continuity{spread if len(other) else ''}",
    )


def judge_lemma_b1_mu(precision: pd.DataFrame, definition: pd.DataFrame) -> Judgement:
    """(B.1): μ_c = erf(c/(2√𝒫))."""
    error, score = precision["mu_error"].max(), _score(_gaussian(definition, "mu"))
    share = _score(_gaussian(definition, "share whole"))
    evidence = (
        f"equal to E[ξ clip(ξ)] by quadrature to {error:.0e} relative for c' from 1e-8 to 1e8, and to simulated "
        f"gradients within {score:.1f} standard errors; it is the probability that a residual is left whole "
        f"({share:.1f} standard errors)"
    )
    right = error < ROUNDING and max(score, share) <= CONSISTENT
    return Judgement(Verdict.HOLDS if right else Verdict.FAILS, evidence)


def judge_lemma_b1_nu(precision: pd.DataFrame, definition: pd.DataFrame) -> Judgement:
    """(B.2), (B.3): ν_c = c'²(1 − erf(c'/√2)) + F(c')."""
    error, score = precision["nu_error"].max(), _score(_gaussian(definition, "nu"))
    lost = precision.loc[precision["printed_F_error"] > NO_DIGIT, "ratio"].max()
    digits = f"; in double precision the difference (B.3) prints for F has no digit left below c' = {lost:.0e}"
    evidence = (
        f"equal to E[clip(ξ)²] by quadrature to {error:.0e} relative for c' from 1e-8 to 1e8, F being the χ²₃ "
        f"distribution function at c'², and to simulated residuals within {score:.1f} standard errors"
        f"{digits if math.isfinite(lost) else ''}"
    )
    right = error < ROUNDING and score <= CONSISTENT
    return Judgement(Verdict.HOLDS if right else Verdict.FAILS, evidence)


def judge_lemma_b2_bounds(bounds: pd.DataFrame) -> Judgement:
    """(B.15): both ratios between constants of c and ζ, and √(2/π) and 1."""
    above = (bounds["mu_high"] > math.sqrt(2 / math.pi) * (1 + ROUNDING)) | (bounds["nu_high"] > 1 + ROUNDING)
    below = (bounds["mu_low"] < bounds["mu_sharp"] * (1 - ROUNDING)) | (
        bounds["nu_low"] < bounds["nu_sharp"] * (1 - ROUNDING)
    )
    if above.any() or below.any():
        return Judgement(Verdict.FAILS, f"violated in {int((above | below).sum())} of {len(bounds)} pairs of c and ζ")
    ordered = bounds.sort_values("clip")
    falls = ordered.groupby("label_noise")[["mu_sharp", "nu_sharp"]].agg(lambda v: bool((np.diff(v) < 0).all()))
    if not falls.all(axis=None) or (bounds[["mu_sharp", "nu_sharp"]] <= 0).any(axis=None):
        return Judgement(Verdict.FAILS, "the lower constants do not decrease in c")
    return Judgement(
        Verdict.HOLDS,
        f"in all {len(bounds)} pairs of c and ζ, over risks from 0 to 1e8; the best constants are the ratios at R = 0, "
        "erf(c'/√2)/c' and ν/c'² at c' = c/ζ (attained there, so that the strict sign wants anything less)",
    )


def judge_lemma_b2_limits(bounds: pd.DataFrame) -> Judgement:
    """(B.16): both ratios tend to √(2/π) and 1 as c/ζ → 0, whatever the risk."""
    small = bounds.assign(share=bounds["clip"] / bounds["label_noise"]).query("share <= @SMALL")
    if small["share"].nunique() < 2:
        return Judgement(Verdict.UNTESTABLE, f"fewer than two values of c/ζ below {SMALL:g}")
    gaps = {"mu": math.sqrt(2 / math.pi) - small["mu_low"], "nu": 1 - small["nu_low"]}
    power = {name: _fits.power_law(small["share"], gap, gap)[0] for name, gap in gaps.items()}
    least = small["share"].min()
    leading = {"mu": least**2 / math.sqrt(18 * math.pi), "nu": least * math.sqrt(8 / (9 * math.pi))}
    ratio = {name: gaps[name].min() / leading[name] for name in gaps}
    evidence = (
        f"the largest distance over all risks falls like (c/ζ)^{power['mu']:.2f} and (c/ζ)^{power['nu']:.2f}, to "
        f"{gaps['mu'].min():.0e} and {gaps['nu'].min():.0e} at c/ζ = {least:.2g}, which is {ratio['mu']:.3f} and "
        f"{ratio['nu']:.3f} of the leading orders c'²/√(18π) and √(8/(9π)) c'"
    )
    right = QUADRATIC[0] <= power["mu"] <= QUADRATIC[1] and LINEAR[0] <= power["nu"] <= LINEAR[1]
    alike = all(abs(value - 1) < ALIKE for value in ratio.values())
    return Judgement(Verdict.HOLDS if right and alike else Verdict.FAILS, evidence)


def judge_lemma_b2_half(bounds: pd.DataFrame) -> Judgement:
    """(B.17): above one half, ν/c'² for c' ≤ 1 and ν for c' > 1."""
    clipped, whole = bounds["nu_half_clipped"].min(), bounds["nu_half_unclipped"].min()
    if not (math.isfinite(clipped) and math.isfinite(whole)):
        return Judgement(Verdict.UNTESTABLE, "no risk on one side of c' = 1")
    evidence = (
        f"over the risks tried ν/c'² is at least {clipped:.3f} for c' ≤ 1, and ν at least {whole:.3f} for c' > 1; the "
        "first follows from ν/c'² decreasing, not from ν/c', which the proof names and which is not monotone"
    )
    return Judgement(Verdict.HOLDS if min(clipped, whole) > 0.5 else Verdict.FAILS, evidence)


def judge_figure_9(factors: pd.DataFrame, landmarks: pd.DataFrame) -> Judgement:
    """Figure 9: the factors rise, and the ratios are monotone."""
    table = factors.sort_values("ratio")
    step = {name: np.diff(table[name]) for name in factors.columns}
    if not ((step["mu"] > 0).all() and (step["nu"] > 0).all() and (step["mu_over_ratio"] < 0).all()):
        return Judgement(Verdict.FAILS, "μ, ν or μ/c' is not monotone")
    if (step["nu_over_ratio"] < 0).all():
        return Judgement(Verdict.HOLDS, "all four curves are monotone")
    if not (step["nu_over_square"] < 0).all():
        return Judgement(Verdict.FAILS, "neither ν/c' nor ν/c'² is monotone")
    value = landmarks.set_index("landmark")["value"]
    place, height = value[PEAK], value[PEAK_HEIGHT]
    return Judgement(
        Verdict.AMENDED,
        f"μ, ν and μ/c' are as drawn; ν/c' is not monotone, it rises to {height:.3f} at c' = {place:.3f} and falls "
        "from there: what the proof of Lemma B.2 needs is ν/c'², whose derivative is −2F(c')/c'³",
    )


def judge_equation_b24(landmarks: pd.DataFrame) -> Judgement:
    """(B.24): ν = 1 − √(2/(πe)) ≈ 0.516 at c' = 1."""
    value = landmarks.set_index("landmark")["value"]
    closed, quadrature, printed = value[NU_AT_ONE], value[NU_AT_ONE_MEASURED], value[NU_AT_ONE_PRINTED]
    gap = max(abs(closed - printed), abs(quadrature - printed))
    right = gap < ROUNDING and abs(printed - 0.516) < PRINTED / 2
    return Judgement(
        Verdict.HOLDS if right else Verdict.FAILS,
        f"1 − √(2/(πe)) = {printed:.6f}, from which (B.2) and quadrature of the definition differ by at most {gap:.0e}",
    )
