"""Verdicts on Appendix A.3 of arXiv:2504.16000v2, its deterministic steps: (A.2) and (A.4)-(A.9)."""

from __future__ import annotations

from functools import partial

import pandas as pd

from costofprivacy import _fits
from costofprivacy.experiments.noisyhead.cost_of_privacy.trends import Trend, trend
from costofprivacy.experiments.noisyhead.cost_of_privacy.verdicts import (
    AXES,
    CONCLUSION,
    CORRECTED,
    FAILS,
    HALVED,
    HOLDS,
    NARROWER,
    NONE,
    NUMBERS,
    ROUNDING,
    UNTESTABLE,
    failure_probability,
    lost,
    short,
)
from costofprivacy.judging.findings import Finding, Number
from costofprivacy.judging.growth import LOST_POWER, several
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, cite, pick, select
from costofprivacy.judging.vocabulary import CONSISTENT

VANISHES = 1e-20  # of R²


@judges("noisyhead/equation-a.2")
def equation_a2(tables: Tables) -> Finding:
    """(A.2): the projection brings no iterate farther from Γ*, and noise is split off for every C₀."""
    away, lost_factor = (tables["projection-step"][name].max() for name in ("left_over_middle", "middle_over_right"))
    numbers = (
        Number("largest left over middle", away, None, 1.0, "projection-step", "all"),
        Number("largest middle over right", lost_factor, None, 1.0, "projection-step", "all"),
    )
    change = "A point that the projection onto the ball moves away from another point of the ball."
    found = partial(Finding, numbers=numbers, would_change=change)
    if away > 1 + ROUNDING:
        headline = f"A projected step moves away from the ridge solution, by the factor {compact(away)}."
        return found(FAILS, headline, consequence=CONCLUSION)
    if lost_factor > 1 + ROUNDING:
        headline = f"Splitting the noise off loses the factor {compact(lost_factor)}."
        return found(FAILS, headline, consequence=CONCLUSION)
    return found(HOLDS, "Projecting onto the ball brings no iterate farther from the ridge solution.")


@judges("noisyhead/equation-a.4")
def equation_a4(tables: Tables) -> Finding:
    """(A.4): 𝒟₂ and 𝒟₃ imply ‖Z‖ ≤ G. Tried with the least C and G for which the data have 𝒟₂ and 𝒟₃."""
    events, paired = tables["events"].sort_values("L"), tables["signed-sums"]
    few, longest = events[short(events, failure_probability(events))], events.iloc[-1]
    broken = paired[paired["statistic_norm"] > paired["allowed"] + ROUNDING]
    shown = (broken if len(broken) else paired).iloc[0]
    violated, tried = int(events["A4_violated"].sum()), int(events["data_sets"].sum())
    built = f"L = {shown['L']:.0f}"
    numbers = (
        Number(
            "‖Z‖ where features come in pairs", shown["statistic_norm"], None, shown["allowed"], "signed-sums", built
        ),
        Number("data sets in which some ‖Z‖ exceeds G", violated, None, 0.0, "events", f"of {tried}"),
        Number("largest ‖Z‖/G", longest["A4_ratio"], None, 1.0, "events", f"L = {longest['L']:.0f}"),
    )
    change = "A proof that the two events bound a signed sum; no data and no size can give it."
    found = partial(Finding, numbers=numbers, would_change=change)
    if broken.empty and violated == 0:
        return found(HOLDS, f"Bounded sums of features and responses bound every statistic, in {tried} data sets.")
    if broken.empty and len(few) and few["A4_violated"].sum() == 0:
        beyond = tried - int(few["data_sets"].sum())
        headline = (
            f"Bounded sums bound the statistics of short prompts, of longer not in {violated} of {beyond} data sets."
        )
        condition = r"Add $L \lesssim D\log(NL/\kappa)$, which excludes all longer prompts."
        return found(NARROWER, headline, consequence=CONCLUSION, correction=condition)
    if broken.empty:
        headline = f"Statistics exceed what the events allow in {violated} of {tried} data sets."
    elif (broken["sum_norm"] <= ROUNDING).any():
        headline = "Features that cancel pairwise make the assumed sum zero, not the statistic that it is to bound."
    else:
        headline = (
            f"A built prompt has {compact(shown['statistic_norm'] / shown['allowed'])} times the statistic allowed."
        )
    mended = r"$\|Z_k\|_F \le \mathcal{C}\,\|L^{-1}\sum_i x_{k,i}x_{k,i}^\top\|_{op}^{1/2}$."
    return found(FAILS, headline, consequence=CONCLUSION, correction=mended)


def _worst(tables: Tables, check: str) -> tuple[float, float]:
    """As printed, and with half the penalty."""
    printed, halved = (pick(tables["recursion"], setting=s, check=check)["worst"] for s in ("printed", "corrected"))
    return float(printed), float(halved)


def _step(tables: Tables, check: str, fine: tuple[bool, bool], against: float, does: str, more: str = "") -> Finding:
    """The finding on a step of the recursion that does what is claimed as printed, or with λ/2, or not: ``fine``."""
    numbers = [
        cite(f"{check}, {setting}", tables, "recursion", "worst", against=against, setting=setting, check=check)
        for setting in ("printed", "corrected")
    ]
    found = partial(Finding, numbers=tuple(numbers), would_change="A step that leads to the ridge solution as printed.")
    if fine[0]:
        return found(HOLDS, f"{does}, as printed.")
    if fine[1]:
        headline = f"{does} only with half the penalty in the update."
        return found(CORRECTED, headline, consequence=NUMBERS, correction=f"{HALVED}.{more}")
    return found(
        FAILS, f"It is not so that {does[0].lower()}{does[1:]}, even with half the penalty.", consequence=CONCLUSION
    )


@judges("noisyhead/equation-a.5")
def equation_a5(tables: Tables) -> Finding:
    """(A.5): strong convexity around Γ*, a lower bound."""
    printed, halved = _worst(tables, "(A.5)")
    fine = (printed >= 1 - ROUNDING, halved >= 1 - ROUNDING)
    return _step(tables, "(A.5)", fine, 1.0, "The gradient is strongly convex around the ridge solution")


@judges("noisyhead/equation-a.6")
def equation_a6(tables: Tables) -> Finding:
    """(A.6): smoothness."""
    row = {"setting": "printed", "check": "(A.6)"}
    slope = cite("Lipschitz constant over its bound", tables, "recursion", "worst", against=1.0, **row)
    found = partial(Finding, numbers=(slope,), would_change="A statistic that is beyond $G$ after the projection.")
    if slope.value <= 1 + ROUNDING:
        return found(HOLDS, "The gradient is as smooth as claimed.")
    headline = f"The gradient's slope exceeds its bound, by the factor {compact(slope.value)}."
    return found(FAILS, headline, consequence=CONCLUSION)


@judges("noisyhead/equation-a.7")
def equation_a7(tables: Tables) -> Finding:
    """(A.7): one step brings Γ nearer to Γ* by the factor of (A.3)."""
    printed, halved = _worst(tables, "(A.7)")
    fine = (printed <= 1 + ROUNDING, halved <= 1 + ROUNDING)
    return _step(tables, "(A.7)", fine, 1.0, "A noiseless step contracts towards the ridge solution")


@judges("noisyhead/equation-a.8")
def equation_a8(tables: Tables) -> Finding:
    """(A.8): without noise the distance to Γ* tends to 0."""
    printed, halved = _worst(tables, "(A.8)")
    does, more = (
        "Without noise the recursion ends at the ridge solution",
        r" Besides, $(2R)^2$ for $R^2$ unless $\Gamma^0 = 0$.",
    )
    return _step(tables, "(A.8)", (printed < VANISHES, halved < VANISHES), VANISHES, does, more)


@judges("noisyhead/display-before-a.9")
def display_before_a9(tables: Tables) -> Finding:
    """The weights' squared distance to Γ*: is what noise leaves there linear in D?"""
    rows = select(tables["noise-response"], quantity="weights")
    change = "Noise in the weights that grows linearly with the dimension."
    if not several(rows["D"]):
        return Finding(UNTESTABLE, "A single dimension tells no power.", would_change=change)
    power, error = _fits.power_law(rows["D"], rows["value"], rows["standard_error"])
    closed, _ = _fits.power_law(rows["D"], rows["closed_form"], rows["standard_error"])
    numbers = (
        Number("power of D in the weights' noise", power, error, 1.0, "noise-response", "quantity = weights"),
        Number("the same in closed form", closed, None, 1.0, "noise-response", "quantity = weights"),
    )
    found = partial(Finding, numbers=numbers, would_change=change)
    if power - 1 <= max(CONSISTENT * error, LOST_POWER):
        return found(HOLDS, "Noise in the weights grows no faster than the dimension.")
    headline = f"Noise in the weights grows like the power {compact(power)} of the dimension, not linearly."
    mended = (
        r"$\lesssim (1-\eta_0\lambda)^TR^2 + \sigma^2\eta_0^2D^2\,T^2\log(2T/\delta)/(N\varepsilon)^2$; (A.9) stands."
    )
    return found(FAILS, headline, consequence=NONE, correction=mended)


@judges("noisyhead/equation-a.9")
def equation_a9(tables: Tables) -> Finding:
    """(A.9): both parts of the prediction's error on its event, against both parts of the right side."""
    table = tables["conditional"]
    right = table["bound_noise"] + table["bound_descent"]
    noise = _trends(table, table["noise"] / table["bound_noise"])
    share = {name: table[f"descent_{name}"] / right for name in ("printed", "halved")}
    descent = {name: _trends(table, ratio) for name, ratio in share.items()}
    beyond = {name: lost(trends) if share[name].max() > 1 else [] for name, trends in descent.items()}
    numbers = [g.number("noise over its part", "conditional", f"axis = {g.size}") for g in noise]
    numbers += [g.number("descent over both parts", "conditional", f"axis = {g.size}") for g in descent["printed"]]
    largest = share["halved"].max()
    numbers.append(Number("descent over both parts with half the penalty", largest, None, 1.0, "conditional", "all"))
    change = "A power of some size by which the left side exceeds the right with half the penalty."
    found = partial(Finding, numbers=tuple(numbers), would_change=change)
    for trends, part in ((lost(noise), "noise"), (beyond["halved"], "descent")):
        if trends:
            power, size = compact(trends[0].power), trends[0].words
            headline = f"The {part} in the prediction exceeds what is claimed by the power {power} of the {size}."
            return found(FAILS, headline, consequence=CONCLUSION)
    if len(noise) < len(AXES):
        return found(UNTESTABLE, "A single value of some size tells no power.")
    if beyond["printed"]:
        headline = "The claimed error holds, with one factor of the dimension, once the update's penalty is halved."
        return found(CORRECTED, headline, consequence=NONE, correction=HALVED + ".")
    return found(HOLDS, "The prediction's error has both claimed parts, with one factor of the dimension.")


def _trends(table: pd.DataFrame, ratio: pd.Series) -> list[Trend]:
    """How a ratio goes along each axis that has two sizes."""
    parts = {axis: select(table, axis=axis) for axis in AXES}
    found = [trend(rows, axis, ratio[rows.index], 0.0, LOST_POWER) for axis, rows in parts.items()]
    return [g for g in found if g is not None]
