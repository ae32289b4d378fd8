"""The figures of the page on a softmax head."""

import math

import pandas as pd
from matplotlib.axes import Axes

from chapters.noisyhead.softmax_head import readings
from chapters.noisyhead.softmax_head.names import CLIPPED, EXACT, HEADS, NON_PRIVATE, PRIVATE
from companion.judging.prose import compact
from companion.judging.tables import pick, select
from companion.showing import figures
from companion.showing.plates import Plate


def draw_heads(errors: pd.DataFrame) -> Plate:
    """Test error of both heads against ε at the largest N, private and not, a panel for each covariance."""
    names, N = readings.covariances(errors), errors["N"].max()
    budgets = sorted(errors["epsilon"].dropna().unique())
    with figures.panels(len(names), figsize=(4.6 * len(names), 4.0), sharey=True) as (drawing, panels):
        for axes, name in zip(panels, names):
            for head, look in figures.looks(HEADS).items():
                rows = select(errors, covariance=name, N=N, head=head)
                private = select(rows, method=PRIVATE, bound=CLIPPED, account=EXACT)
                figures.points(axes, private, "epsilon", "test_error", label=f"{head},\nprivate", **look)
                free = pick(rows, method=NON_PRIVATE)["test_error"]
                label = f"{head},\nnot private"
                axes.plot(budgets, [free] * len(budgets), "--", lw=1, color=look["color"], label=label)
            axes.set(xscale="log", xlabel=r"$\varepsilon$", ylabel="test error")
            figures.plain_ticks(axes, errors["epsilon"].dropna().unique())
            axes.set_title(readings.title(name))
        panels[0].set_ylim(bottom=0)  # of all panels, now that they have their curves
    without = [
        f"{compact(readings.heads_without_privacy(errors, name).value)} without privacy and "
        f"{compact(readings.heads(errors, name).value)} at the largest budget {readings.under(name)}"
        for name in names
    ]
    caption = (
        f"**A softmax head beside a linear one**: test error against $\\varepsilon$ at $N = {N}$, both trained by the "
        f"same private descent (solid) and without privacy (dashed). The softmax head's error over the linear "
        f"head's is {'; '.join(without)}. Predicting 0 has error 1. Bars: two standard errors over the trials."
    )
    return Plate(drawing, caption)


def draw_theory(temperatures: pd.DataFrame, dimensions: pd.DataFrame) -> Plate:
    """Left: L times the error against κ. Right: the softmax head's error over the linear head's, by dimension."""
    with figures.panels(2, figsize=(9.2, 3.8)) as (drawing, (left, right)):
        simulated, closed = figures.looks(["simulated", "closed"]).values()
        figures.points(left, temperatures, "kappa", "scaled", label="simulated", ls="", **simulated)
        left.plot(temperatures["kappa"], temperatures["closed_form"], color=closed["color"], label="closed\nform")
        figures.log_axes(left, r"$\kappa$ (inverse temperature)", r"$L\cdot$ test error")
        figures.plain_ticks(left, temperatures["kappa"].unique())
        _ratio(right, dimensions, closed["color"])
        for axes in (left, right):
            figures.few_decades(axes)
    best = temperatures.loc[temperatures["scaled"].idxmin()]
    wide = dimensions.iloc[-1]
    better = dimensions.loc[dimensions["ratio"] < 1, "D"]
    caption = (
        f"**What is known without data.** Left: $L$ times the test error of the head $A = \\kappa I$, "
        f"$D = {best['D']:.0f}$, $L = {best['L']:.0f}$; of those tried $\\kappa = {best['kappa']:g}$ is best. Bars: "
        "two standard errors. Right: how many times the tokens of the best linear head the best softmax head needs, in "
        "the limit of long prompts: "
        f"{'fewer up to $D = ' + str(better.max()) + '$, ' if len(better) else ''}{compact(wide['ratio'])} at "
        f"$D = {wide['D']:.0f}$, and $e$ in the limit (dashed)."
    )
    return Plate(drawing, caption)


def _ratio(axes: Axes, dimensions: pd.DataFrame, colour: str) -> None:
    axes.plot(dimensions["D"], dimensions["ratio"], color=colour, marker="o", label="softmax\nover linear")
    axes.axhline(math.e, color="k", ls="--", lw=1)
    axes.axhline(1, color="0.6", lw=1)
    figures.log_axes(axes, "$D$ (dimension)", "tokens needed, over linear")
    figures.plain_ticks(axes, dimensions["D"].unique())
