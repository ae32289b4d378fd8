"""The figures of the page on the best method."""

from __future__ import annotations

from typing import Any

import pandas as pd

from chapters.privacy.best_method import cases as judged
from companion.judging.prose import compact, percent
from companion.showing import figures
from companion.showing.plates import Plate

MARKS = ("o", "s", "^", "D", "v", "P")


def draw_choices(cases: pd.DataFrame) -> Plate:
    """Left: excess error of the choice over the least. Right: forecast over measured. Both over how much is lost."""
    found = judged.compared(cases)
    with figures.panels(2, ends=False, figsize=(9.4, 4.2)) as (figure, (left, right)):
        for k, (name, own) in enumerate(found.groupby("data", sort=False)):
            look: dict[str, Any] = {
                "marker": MARKS[k],
                "linestyle": "",
                "color": figures.COLOURS[k],
                "ms": 4,
            }
            behind = own[own["ratio"] > 1]
            left.plot(behind["share"], behind["ratio"], label=name, **look)
            right.plot(own["share"], own["forecast"], **look)
        left.axhline(judged.FAR, color="k", ls="--", lw=1)
        for level in (1 / judged.OTHERWISE, 1 / 1.5, 1.5, judged.OTHERWISE):
            right.axhline(level, color="k", ls="--" if level in (1.5, 1 / 1.5) else ":", lw=1)
        left.set(xscale="log", xlabel="excess error over that of the mean", ylabel="choice over the best")
        right.set(xscale="log", yscale="log", ylabel="forecast over measured")
        right.set_xlabel("excess error over that of the mean")
        left.legend(fontsize="small")
    near, within = found["near"].mean(), judged.told(found).mean()
    return Plate(
        figure,
        caption=(
            f"**The choice and the forecast in {len(found)} cases.** Left: the excess error of the method that is "
            f"chosen from public numbers, over the least of the four. In {percent(near)} of the cases it is within "
            f"10 % or two standard errors of the best; its largest value is {compact(found['ratio'].max())}. Cases in "
            "which the choice is the best one are left out; the dashed line is 1.5. Right: "
            f"the forecast of the excess error over what was measured. {percent(within)} are within their factor "
            "(dashed: 1.5, for Gaussian data; dotted: 3, elsewhere)."
        ),
        alt=f"Ratios between {compact(found['ratio'].min())} and {compact(found['ratio'].max())}; medians of forecast "
        f"over measured: {', '.join(_medians(found))}.",
    )


def draw_intervals(intervals: pd.DataFrame) -> Plate:
    """Coverage of each setting with its standard error, by its number in the table."""
    own = intervals[intervals["coverage"].notna()]
    with figures.panels(1, ends=False, figsize=(6.4, 3.2)) as (figure, (axes,)):
        places = own.index + 1
        axes.errorbar(places, own["coverage"], yerr=2 * own["coverage_error"], fmt="o", color=figures.COLOURS[0])
        axes.axhline(0.9, color="k", lw=1)
        axes.axhline(0.88, color="k", ls="--", lw=1)
        axes.set(xlabel="setting, by its number in the table", ylabel="coverage", ylim=(0, 1))
        axes.set_xticks(places)
    meant, other = (own[(own["target"] != "least squares") == kind] for kind in (True, False))
    return Plate(
        figure,
        caption=(
            "**Coverage of 90 % intervals that include the privacy noise**, the mean over the coefficients, by the "
            "number of the setting in the table below. Bars are two standard errors, often shorter than a dot. The "
            "solid line is 90 %; the dashed one is 88 %, which leaves two points for what is only approximate. "
            "Settings without intervals are left out. The coefficient that is covered least is covered in "
            f"{percent(meant['least'].min())} where the target is the one that the intervals are made for"
            + (
                f", and in {percent(other['least'].min())} where it is least squares of real data."
                if len(other)
                else "."
            )
        ),
        alt=f"Coverage by setting: {', '.join(f'{k} {percent(v)}' for k, v in zip(places, own['coverage']))}.",
    )


def _medians(found: pd.DataFrame) -> list[str]:
    return [f"{name} {compact(own['forecast'].median())}" for name, own in found.groupby("data", sort=False)]
