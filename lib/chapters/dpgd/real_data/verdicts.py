"""Verdicts on Figures 5 and 6, and on the small clipping constants that they show, of arXiv:2505.16329v2."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chapters.dpgd.real_data.maps import FIGURES
from chapters.dpgd.real_data.reading import FEWEST, Panel, Ratio, panels, ratio
from companion.judging.findings import Number, Verdict
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables
from companion.judging.vocabulary import CONSISTENT, ON_A_PAR, WORSE
from costofprivacy.datasets import HOUSING, MNIST

SHOWN = {MNIST: FIGURES[MNIST], HOUSING: "kept"}  # the tables of what the paper shows
PARALLEL = 0.25  # how far the valley's slope may be from −1 on log axes
AGGRESSIVE = 0.1  # a clipping constant up to here is small
UNKNOWN = Ruling(
    Verdict.UNTESTABLE, grounds="stand-in"
)  # what stands in for a data set of the paper says nothing about it


def absent(tables: Tables, *asked: str) -> bool:
    """Whether a data set of the paper was missing when the tables were measured."""
    rows = tables["rows"]
    return any((rows.loc[rows["asked"] == name, "data"] != name).any() for name in asked)


def shown(tables: Tables, asked: str) -> list[Panel]:
    """The maps that the paper shows: all seeds on MNIST, those that do not blow up on housing.

    Maps that are left with too few seeds to compare are not among them.
    """
    return [panel for panel in panels(tables[SHOWN[asked]]) if len(panel.risks) >= FEWEST]


@dataclass(frozen=True)
class Features:
    """What some maps show of the three features.

    Args:
        found: the maps.
    """

    found: list[Panel]

    @cached_property
    def flat(self) -> list[Panel]:
        """The maps in which a large clipping constant does no harm beyond the errors."""
        return [panel for panel in self.found if not _seen(panel.largest_clip)]

    @cached_property
    def gains(self) -> list[float]:
        """The factors by which a learning rate beyond 2/γ is better at a single clipping constant."""
        return [gain.value for panel in self.found for gain in panel.gains if gain.above and gain.value > WORSE]

    @property
    def outside(self) -> list[Panel]:
        """The maps whose least risk of all is beyond 2/γ."""
        return [panel for panel in self.found if panel.beyond.below]

    @property
    def degenerate(self) -> list[Panel]:
        """The maps whose line is at zero."""
        return [panel for panel in self.found if panel.gamma >= 1]

    @property
    def grounds(self) -> str:
        """Which features are missing."""
        missing = {
            "large clips": bool(self.flat),
            "beyond the cap": bool(self.outside),
            "line at zero": bool(self.degenerate),
        }
        return ", ".join(name for name, true in missing.items() if true)

    @property
    def verdict(self) -> Verdict:
        """Whether the valleys lie parallel to the line and no large clip is better, and nothing else is missing."""
        kept = not any(_astray(panel) > 0 or panel.worsening.below for panel in self.found)
        harmful = kept and not self.flat and not self.outside
        printed = harmful and not self.degenerate
        decided = bool(self.found) and not any(math.isnan(panel.slope) for panel in self.found)
        return reads(printed, corrected=harmful, narrower=kept, decided=decided)

    def numbers(self, table: str) -> tuple[Number, ...]:
        """Of each map in a table, its valley and its edges."""
        return tuple(number for panel in self.found for number in _of_panel(panel, table))


@judges("dpgd/figure-5")
def figure_5(tables: Tables) -> Ruling:
    """Do the three features show on MNIST?"""
    if absent(tables, MNIST):
        return UNKNOWN
    seen = Features(shown(tables, MNIST))
    return Ruling(seen.verdict, seen.numbers(SHOWN[MNIST]), {}, seen.grounds)


@judges("dpgd/figure-6")
def figure_6(tables: Tables) -> Ruling:
    """Do they show on California housing, in the seeds that do not blow up?"""
    if absent(tables, HOUSING):
        return UNKNOWN
    seen = Features(shown(tables, HOUSING))
    grounds = seen.grounds or ("" if seen.gains else "no gain")
    return Ruling(seen.verdict, seen.numbers(SHOWN[HOUSING]), {"gain": max(seen.gains, default=1.0)}, grounds)


def _astray(panel: Panel) -> float:
    """By how much a valley's slope is off beyond doubt."""
    return abs(panel.slope + 1) - PARALLEL - CONSISTENT * panel.slope_error


def _seen(cost: Ratio) -> bool:
    return cost.value > WORSE and cost.above


def _of_panel(panel: Panel, table: str) -> tuple[Number, ...]:
    where = f"γ = {panel.gamma:g}, α = {panel.alpha:g}"
    gain = max(panel.gains, key=lambda each: each.value if each.above else 0.0)
    named = {
        "slope of the valley": {"value": panel.slope, "error": _finite(panel.slope_error), "against": -1.0},
        "cη̃(0) in the valley": (panel.product, math.log(1 / panel.gamma)),
        "least risk with c > 1 over that with c ≤ 1": _against_one(panel.worsening),
        "least risk at the largest c over the least": _against_one(panel.largest_clip),
        "least risk beyond 2/γ over that below": _against_one(panel.beyond),
        "largest gain beyond 2/γ at one c": _against_one(gain),
        "seeds": len(panel.risks),
    }
    return numbers(table, {f"{name}, {where}": given for name, given in named.items()}, panel.row)


def _against_one(found: Ratio) -> dict[str, float | None]:
    """A ratio with its standard error, against 1."""
    return {"value": found.value, "error": _spread(found), "against": 1.0}


def _spread(found: Ratio) -> float | None:
    """The standard error of a ratio; None where there are too few seeds for one."""
    return _finite(found.value * found.error)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


# ------------------------------------------------------------------------------------------- small and large clips


@judges("dpgd/section-5.1-large-clip-real")
def large_clip(tables: Tables) -> Ruling:
    """Is the harm of a large clipping constant, max(1, c²) in (5.12), evident in Figures 5 and 6?"""
    if absent(tables, MNIST, HOUSING):
        return UNKNOWN
    costs = _costs(tables, lambda panel: panel.largest_clip)
    harmful = [_seen(cost) for _, _, cost in costs]
    found = tuple(
        _number("least risk at the largest c over the least", asked, panel, cost, SHOWN[asked])
        for asked, panel, cost in costs
    )
    least = min((cost.value for _, _, cost in costs), default=math.nan)
    verdict = reads(printed=all(harmful), narrower=any(harmful), decided=_both(costs))
    return Ruling(verdict, found, {"least": least})


@judges("dpgd/section-1-small-clip-real")
def small_clip(tables: Tables) -> Ruling:
    """Has a small clipping constant, with a learning rate to fit, less risk than the largest, and as little as any?

    A map in which the clipping constant changes nothing shows no benefit.
    """
    if absent(tables, MNIST, HOUSING):
        return UNKNOWN
    costs = _costs(tables, _small)
    gains = _costs(tables, _benefit)
    best = not any(cost.above and cost.value > ON_A_PAR for _, _, cost in costs)
    gained = [_seen(gain) for _, _, gain in gains]
    found = tuple(
        _number(name, asked, panel, cost, SHOWN[asked])
        for name, ratios in (
            (f"least risk with c ≤ {AGGRESSIVE:g} over the least of all", costs),
            (f"least risk at the largest c over the least with c ≤ {AGGRESSIVE:g}", gains),
        )
        for asked, panel, cost in ratios
    )
    most = max((cost.value for _, _, cost in costs), default=math.nan)
    verdict = reads(printed=best and all(gained), narrower=best and any(gained), decided=_both(costs))
    return Ruling(verdict, found, {"most": most})


def _both(costs: list[tuple[str, Panel, Ratio]]) -> bool:
    """Whether there are maps of both data sets that have seeds enough."""
    return {asked for asked, _, _ in costs} == {MNIST, HOUSING}


def _costs(tables: Tables, cost: Callable[[Panel], Ratio]) -> list[tuple[str, Panel, Ratio]]:
    """A ratio of risks in each map of both data sets."""
    return [(asked, panel, cost(panel)) for asked in (MNIST, HOUSING) for panel in shown(tables, asked)]


def _small(panel: Panel) -> Ratio:
    return ratio(panel.least(panel.clips <= AGGRESSIVE), panel.least(np.ones(len(panel.clips), bool)))


def _benefit(panel: Panel) -> Ratio:
    return ratio(panel.least(panel.clips == panel.clips.max()), panel.least(panel.clips <= AGGRESSIVE))


def _number(name: str, asked: str, panel: Panel, cost: Ratio, table: str) -> Number:
    where = f"{asked.split(',')[0]}, γ = {panel.gamma:g}, α = {panel.alpha:g}"
    return Number(f"{name}, {where}", cost.value, _spread(cost), 1.0, table, panel.row)
