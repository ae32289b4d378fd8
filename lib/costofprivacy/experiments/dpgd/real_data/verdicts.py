"""Verdicts on Figures 5 and 6, and on the small clipping constants that they show, of arXiv:2505.16329v2."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd

from costofprivacy.datasets import HOUSING, MNIST
from costofprivacy.experiments.dpgd.real_data.maps import FIGURES
from costofprivacy.experiments.dpgd.real_data.reading import FEWEST, Panel, Ratio, panels, ratio
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables
from costofprivacy.judging.vocabulary import CONSISTENT

SHOWN = {MNIST: FIGURES[MNIST], HOUSING: "kept"}  # the tables of what the paper shows
PARALLEL = 0.25  # how far the valley's slope may be from −1 on log axes
RISE = 1.02  # a risk this many times another is worse
SEEN = 2.0  # standard errors by which a map shows what it is asked for; what contradicts it takes more
FAR = 3.0  # a valley within this factor of a line is near it
NEAR = 1.1  # a risk within this factor of another is as good
AGGRESSIVE = 0.1  # a clipping constant up to here is small
ABSENT = "The paper's data set was not at hand, and what stands in for it says nothing about it."
MEND = "The paper's data set in the data folder (make data), and another run."


def absent(tables: Tables, *asked: str) -> Finding | None:
    """What a judge finds whose data set was missing when the tables were measured; None where it was there."""
    rows = tables["rows"]
    missing = [name for name in asked if (rows.loc[rows["asked"] == name, "data"] != name).any()]
    return Finding(Verdict.UNTESTABLE, ABSENT, would_change=MEND) if missing else None


def shown(tables: Tables, asked: str) -> list[Panel]:
    """The maps that the paper shows: all seeds on MNIST, those that do not blow up on housing.

    Maps that are left with too few seeds to compare are not among them.
    """
    return [panel for panel in panels(tables[SHOWN[asked]]) if len(panel.risks) >= FEWEST]


@judges("dpgd/figure-5")
def figure_5(tables: Tables) -> Finding:
    """Do the three features show on MNIST?"""
    return absent(tables, MNIST) or _features(tables, MNIST)


@judges("dpgd/figure-6")
def figure_6(tables: Tables) -> Finding:
    """Do they show on California housing, in the seeds that do not blow up?"""
    return absent(tables, HOUSING) or _features(tables, HOUSING)


def _features(tables: Tables, asked: str) -> Finding:
    found, table = shown(tables, asked), SHOWN[asked]
    numbers = tuple(number for panel in found for number in _of_panel(panel, table))
    change = "Maps on other rows, or over another range, in which a feature is gone or comes back."
    if not found:
        return Finding(Verdict.UNTESTABLE, "Too few seeds are left to read a map from.", numbers, would_change=change)
    if any(_astray(panel) > 0 for panel in found):
        worst = max(found, key=_astray)
        headline = f"The lowest risks do not lie parallel to the drawn line: one map's slope is {_slope(worst.slope)}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    better = [panel for panel in found if panel.worsening.below]
    if better:
        headline = f"In {len(better)} of {len(found)} maps a clipping constant above one is better."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    flat = [panel for panel in found if not _seen(panel.largest_clip)]
    gains = [(gain, clip, panel) for panel in found for gain, clip in zip(panel.gains, panel.clips) if _sure(gain)]
    degenerate = [panel for panel in found if panel.gamma >= 1]
    if not flat and not gains and not degenerate:
        headline = "The risk worsens beyond both lines, and its lowest values lie parallel to the third."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    return _narrower(found, flat, gains, degenerate, numbers, change)


def _astray(panel: Panel) -> float:
    """By how much a valley's slope is off beyond doubt; a valley that cannot be read is off."""
    if math.isnan(panel.slope):
        return math.inf
    return abs(panel.slope + 1) - PARALLEL - CONSISTENT * panel.slope_error


def _sure(gain: Ratio) -> bool:
    return gain.above and gain.value > RISE


def _seen(cost: Ratio) -> bool:
    return cost.value > RISE and cost.beyond(SEEN)


def _narrower(
    found: list[Panel],
    flat: list[Panel],
    gains: list[tuple[Ratio, float, Panel]],
    degenerate: list[Panel],
    numbers: tuple[Number, ...],
    change: str,
) -> Finding:
    """What is missing of the three features, the valley's direction apart."""
    told, mended = [], []
    if flat:
        told.append(f"in {len(flat)} of {len(found)} maps a large clipping constant does no harm beyond the errors")
        mended.append(f"Excluded: large $c$ where {_listed(flat)}, which costs nothing that these seeds show.")
    if gains:
        most = max(gain.value for gain, _, _ in gains)
        told.append(f"learning rates beyond their line are up to {compact(most)} times better at small clips")
        widest = max(clip for _, clip, _ in gains)
        mended.append(
            r"The risk worsens beyond $\tilde\eta(0)=2/\gamma$ only where the valley lies below it; excluded is "
            f"$c\\le{compact(widest)}$ where {_listed([panel for _, _, panel in gains])}."
        )
    if degenerate:
        mended.append(
            r"For $\gamma=1$ the line $c\tilde\eta(0)=\ln(1/\gamma)$ is $c\tilde\eta(0)=0$, which is in no map on "
            f"logarithmic axes; the valley has {_products(degenerate)}."
        )
        mended += _distance(found)
        told = told or ["for as many records as features the drawn line is at zero, off every map"]
    headline = f"The lowest risks lie parallel to the line, but {told[0]}."
    weight = Consequence.CONCLUSION if flat else Consequence.NUMBERS
    verdict = Verdict.NARROWER if flat or gains else Verdict.CORRECTED
    return Finding(verdict, headline, numbers, weight, " ".join(mended), change)


def _distance(found: list[Panel]) -> list[str]:
    """How far valleys lie from the line, where that is more than a factor `FAR`."""
    shares = [panel.product / math.log(1 / panel.gamma) for panel in found if panel.gamma < 1]
    if not shares or all(1 / FAR <= share <= FAR for share in shares):
        return []
    low, high = compact(min(shares)), compact(max(shares))
    return [rf"Parallel is not near: for smaller $\gamma$ the valley has {low} to {high} times $\ln(1/\gamma)$."]


def _slope(value: float) -> str:
    return "not to be read" if math.isnan(value) else compact(value)


def _products(chosen: list[Panel]) -> str:
    values = [panel.product for panel in chosen]
    low, high = compact(min(values)), compact(max(values))
    return rf"$c\tilde\eta(0)\approx {low}$" if low == high else rf"$c\tilde\eta(0)$ from {low} to {high}"


def _listed(chosen: list[Panel]) -> str:
    places = dict.fromkeys(rf"$\gamma={panel.gamma:g}$, $\alpha={panel.alpha:g}$" for panel in chosen)
    return "; ".join(places)


def _of_panel(panel: Panel, table: str) -> tuple[Number, ...]:
    where = f"γ = {panel.gamma:g}, α = {panel.alpha:g}"
    told = partial(Number, table=table, row=panel.row)
    worse, largest, beyond = panel.worsening, panel.largest_clip, panel.beyond
    gain = max((gain for gain in panel.gains), key=lambda each: each.value if each.above else 0.0)
    line = math.log(1 / panel.gamma)
    return (
        told(f"slope of the valley, {where}", panel.slope, _finite(panel.slope_error), -1.0),
        told(f"cη̃(0) in the valley, {where}", panel.product, against=line),
        told(f"least risk with c > 1 over that with c ≤ 1, {where}", worse.value, _spread(worse), 1.0),
        told(f"least risk at the largest c over the least, {where}", largest.value, _spread(largest), 1.0),
        told(f"least risk beyond 2/γ over that below, {where}", beyond.value, _spread(beyond), 1.0),
        told(f"largest gain beyond 2/γ at one c, {where}", gain.value, _spread(gain), 1.0),
        told(f"seeds, {where}", len(panel.risks)),
    )


def _spread(found: Ratio) -> float | None:
    """The standard error of a ratio; None where there are too few seeds for one."""
    return _finite(found.value * found.error)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


# ------------------------------------------------------------------------------------------- small and large clips


@judges("dpgd/section-5.1-large-clip-real")
def large_clip(tables: Tables) -> Finding:
    """Is the harm of a large clipping constant, max(1, c²) in (5.12), evident in Figures 5 and 6?"""
    if missing := absent(tables, MNIST, HOUSING):
        return missing
    found = [(asked, panel) for asked in (MNIST, HOUSING) for panel in shown(tables, asked)]
    costs = [(asked, panel, panel.largest_clip) for asked, panel in found]
    numbers = tuple(
        Number(f"least risk at the largest c over the least, {_named(asked, panel)}", cost.value, _spread(cost), 1.0,
               SHOWN[asked], panel.row)
        for asked, panel, cost in costs
    )  # fmt: skip
    change = "A map in which the largest clipping constant costs nothing beyond the errors, or in which each does."
    harmless = [(asked, panel) for asked, panel, cost in costs if not _seen(cost)]
    least = min(cost.value for _, _, cost in costs)
    if not harmless:
        headline = f"In every map the largest clipping constant costs at least a factor {compact(least)} of risk."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if len(harmless) == len(costs):
        headline = "No map shows beyond its errors that a large clipping constant costs anything."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = f"In {len(harmless)} of {len(costs)} maps a large clipping constant costs nothing beyond the errors."
    places = "; ".join(_typeset(asked, panel) for asked, panel in harmless)
    correction = f"Evident where the seeds suffice to see it; excluded: {places}."
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.NUMBERS, correction, change)


@judges("dpgd/section-1-small-clip-real")
def small_clip(tables: Tables) -> Finding:
    """Is a small clipping constant, its learning rate chosen with it, as good as any on real data?"""
    if missing := absent(tables, MNIST, HOUSING):
        return missing
    found = [(asked, panel) for asked in (MNIST, HOUSING) for panel in shown(tables, asked)]
    costs = [(asked, panel, _small(panel)) for asked, panel in found]
    numbers = tuple(
        Number(f"least risk with c ≤ {AGGRESSIVE:g} over the least of all, {_named(asked, panel)}", cost.value,
               _spread(cost), 1.0, FIGURES[asked], panel.row)
        for asked, panel, cost in costs
    )  # fmt: skip
    change = "A map in which every small clipping constant is worse than a large one, beyond the errors."
    worst = max(cost.value for _, _, cost in costs)
    bad = [each for each in costs if each[2].above and each[2].value > NEAR]
    if bad:
        headline = f"In {len(bad)} of {len(costs)} maps every small clipping constant is worse than a larger one."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        f"With its own learning rate a small clipping constant costs at most {compact(worst)} times the least risk."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


def _small(panel: Panel) -> Ratio:
    return ratio(panel.least(panel.clips <= AGGRESSIVE), panel.least(np.ones(len(panel.clips), bool)))


def _named(asked: str, panel: Panel) -> str:
    return f"{asked.split(',')[0]}, γ = {panel.gamma:g}, α = {panel.alpha:g}"


def _typeset(asked: str, panel: Panel) -> str:
    return rf"{asked.split(',')[0]}, $\gamma={panel.gamma:g}$, $\alpha={panel.alpha:g}$"


def plainly(table: pd.DataFrame) -> list[tuple[float, float, float]]:
    """γ, α and the least mean of each map, in terms of the plain mean square."""
    return [(panel.gamma, panel.alpha, 2 * float(panel.mean.min())) for panel in panels(table)]
