"""Verdicts on Appendix A.3 of arXiv:2504.16000v2, its deterministic steps: (A.2) and (A.4)-(A.9)."""

from collections.abc import Callable

import pandas as pd

from chapters.noisyhead.cost_of_privacy.trends import Trend, lost, told, trend
from chapters.noisyhead.cost_of_privacy.verdicts import AXES, failure_probability, short
from companion import _fits
from companion.judging.findings import Verdict
from companion.judging.growth import LOST_POWER, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, cite, select
from companion.judging.vocabulary import CONSISTENT, ROUNDING

VANISHES = 1e-20  # of R²


@judges("noisyhead/equation-a.2")
def equation_a2(tables: Tables) -> Ruling:
    """(A.2): the projection brings no iterate farther from Γ*, and noise is split off for every C₀."""
    away, lost_factor = (tables["projection-step"][name].max() for name in ("left_over_middle", "middle_over_right"))
    named = {
        "left side over the middle, largest, up to rounding": (away, 1.0),
        "middle over the right side, largest": (lost_factor, 1.0),
    }
    kept = away <= 1 + ROUNDING and lost_factor <= 1 + ROUNDING
    return Ruling(reads(printed=kept), numbers("projection-step", named))


@judges("noisyhead/equation-a.4")
def equation_a4(tables: Tables) -> Ruling:
    """(A.4): 𝒟₂ and 𝒟₃ imply ‖Z‖ ≤ G. Tried with the least C and G for which the data have 𝒟₂ and 𝒟₃."""
    events, paired = tables["events"].sort_values("L"), tables["signed-sums"]
    few, longest = events[short(events, failure_probability(events))], events.iloc[-1]
    broken = paired[paired["statistic_norm"] > paired["allowed"] + ROUNDING]
    shown = (broken if len(broken) else paired).iloc[0]
    violated, tried = int(events["A4_violated"].sum()), int(events["data_sets"].sum())
    built = {"‖Z‖ beside G, features in opposite pairs": (shown["statistic_norm"], shown["allowed"])}
    named = {
        "data sets in which some ‖Z‖ exceeds G": (violated, 0.0, f"of {tried}"),
        "‖Z‖/G, largest": (longest["A4_ratio"], 1.0, f"L = {longest['L']:.0f}"),
    }
    found = (*numbers("signed-sums", built, f"L = {shown['L']:.0f}"), *numbers("events", named))
    fine_if_short = len(few) > 0 and few["A4_violated"].sum() == 0
    verdict = reads(printed=broken.empty and violated == 0, narrower=broken.empty and fine_if_short)
    return Ruling(verdict, found, grounds="pairs cancel" if (broken["sum_norm"] <= ROUNDING).any() else "")


def _step(tables: Tables, check: str, name: str, against: float, fine: Callable[[float], bool]) -> Ruling:
    """Whether the worst case of a step of the recursion is as claimed, as printed or with λ/2 in the update.

    The latter is (2.7) with 2λ for the penalty λ/2, whose (A.5) and (A.7) ask for less than those of λ.
    """
    settings = {"printed": "as printed", "corrected": "update and Γ* of one loss"}
    found = tuple(
        cite(f"{name}, {words}", tables, "recursion", "worst", against=against, setting=setting, check=check)
        for setting, words in settings.items()
    )
    printed, halved = (fine(number.value) for number in found)
    return Ruling(reads(printed=printed, corrected=halved), found)


@judges("noisyhead/equation-a.5")
def equation_a5(tables: Tables) -> Ruling:
    """(A.5): strong convexity around Γ*, a lower bound."""
    return _step(tables, "(A.5)", "left side over right side, least", 1.0, lambda worst: worst >= 1 - ROUNDING)


@judges("noisyhead/equation-a.6")
def equation_a6(tables: Tables) -> Ruling:
    """(A.6): smoothness, of statistics as drawn and of one built in opposite pairs; projected ones curve less.

    Where all prompts are alike the Hessian has the eigenvalue ‖Z‖² + 2λ; responses 0 to the queries make Γ* = 0.
    """
    row = {"setting": "printed", "check": "(A.6)"}
    slope = cite("Lipschitz constant over G² + 2λ, largest", tables, "recursion", "worst", against=1.0, **row)
    paired = tables["signed-sums"]
    built = paired.loc[(paired["statistic_norm"] - paired["allowed"]).idxmax()]
    named = {"‖Z‖ beside G, all prompts alike": (built["statistic_norm"], built["allowed"])}
    drawn, kept = slope.value <= 1 + ROUNDING, built["statistic_norm"] <= built["allowed"] + ROUNDING
    found = (slope, *numbers("signed-sums", named, f"L = {built['L']:.0f}"))
    return Ruling(reads(printed=drawn and kept, corrected=drawn), found)


@judges("noisyhead/equation-a.7")
def equation_a7(tables: Tables) -> Ruling:
    """(A.7): one step brings Γ nearer to Γ* by the factor of (A.3)."""
    return _step(tables, "(A.7)", "left side over right side, largest", 1.0, lambda worst: worst <= 1 + ROUNDING)


@judges("noisyhead/equation-a.8")
def equation_a8(tables: Tables) -> Ruling:
    """(A.8): without noise the distance to Γ* tends to 0."""
    return _step(
        tables, "(A.8)", "squared distance to Γ* at rest over R², largest", VANISHES, lambda worst: worst < VANISHES
    )


@judges("noisyhead/display-before-a.9")
def display_before_a9(tables: Tables) -> Ruling:
    """The weights' squared distance to Γ*: is what noise leaves there linear in D?"""
    rows = select(tables["noise-response"], quantity="weights")
    if not several(rows["D"]):
        return Ruling(Verdict.UNTESTABLE)
    power, error = _fits.power_law(rows["D"], rows["value"], rows["standard_error"])
    closed, _ = _fits.power_law(rows["D"], rows["closed_form"], rows["standard_error"])
    named = {
        "power of D in the weights' noise": {"value": power, "error": error, "against": 1.0},
        "power of D in closed form": (closed, 1.0),
    }
    verdict = reads(printed=power - 1 <= max(CONSISTENT * error, LOST_POWER))
    return Ruling(verdict, numbers("noise-response", named, "quantity = weights"), {"power": power})


@judges("noisyhead/equation-a.9")
def equation_a9(tables: Tables) -> Ruling:
    """(A.9): both parts of the prediction's error on its event, against both parts of the right side."""
    table = tables["conditional"]
    right = table["bound_noise"] + table["bound_descent"]
    noise = _trends(table, table["noise"] / table["bound_noise"])
    share = {name: table[f"descent_{name}"] / right for name in ("printed", "halved")}
    descent = {name: _trends(table, ratio) for name, ratio in share.items()}
    beyond = {name: share[name].max() > 1 and bool(lost(trends)) for name, trends in descent.items()}
    found = (
        *told(noise, "noise over the bound's noise term", "conditional"),
        *told(descent["printed"], "descent over the bound", "conditional"),
        *numbers("conditional", {"descent over the bound, update and Γ* of one loss": (share["halved"].max(), 1.0)}),
    )
    fails = bool(lost(noise)) or beyond["halved"]
    verdict = reads(
        printed=not fails and not beyond["printed"],
        corrected=not fails,
        decided=fails or len(noise) == len(AXES),
    )
    return Ruling(verdict, found)


def _trends(table: pd.DataFrame, ratio: pd.Series) -> list[Trend]:
    """How a ratio goes along each axis that has two sizes."""
    parts = {axis: select(table, axis=axis) for axis in AXES}
    found = [trend(rows, axis, ratio[rows.index], 0.0, LOST_POWER) for axis, rows in parts.items()]
    return [g for g in found if g is not None]
