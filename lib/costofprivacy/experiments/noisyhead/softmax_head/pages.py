"""The answer and the figures of the page on a softmax head."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy.experiments.noisyhead.softmax_head import readings
from costofprivacy.experiments.noisyhead.softmax_head.names import (
    CLIPPED,
    EXACT,
    HEADS,
    ISOTROPIC,
    NON_PRIVATE,
    PRIVATE,
    SOFTMAX,
)
from costofprivacy.experiments.noisyhead.softmax_head.readings import ROUTES
from costofprivacy.judging.prose import along, compact, plain
from costofprivacy.judging.tables import Tables, select
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

WORDS = {PRIVATE: "private", NON_PRIVATE: "not private"}
BUDGET = r"$\varepsilon$"


def title(covariance: str) -> str:
    """A covariance as a panel has it."""
    if covariance == ISOTROPIC:
        return "isotropic features"
    return f"unknown covariance, condition {covariance.partition('-')[2]}"


def where(covariance: str) -> str:
    """A covariance as a caption has it, with its condition number."""
    if covariance == ISOTROPIC:
        return readings.where(covariance)
    return f"{readings.where(covariance)} of condition number {covariance.partition('-')[2]}"


def answer(tables: Tables) -> str:
    """The chapter's answer: the softmax head over the linear one, private and not, and what two lessons are worth."""
    errors = tables["test-error"]
    case, names = readings.largest(errors), readings.covariances(errors)
    heads = [
        f"{compact(readings.heads(errors, name).value)} times {whose}{readings.where(name)} "
        f"({free}{compact(readings.heads_without_privacy(errors, name).value)})"
        for name, whose, free in ((names[0], "the linear head's ", "without privacy "), (names[-1], "", ""))
    ]
    exact, clipped = (readings.worth(errors, SOFTMAX, route).value for route in (ROUTES[2], ROUTES[1]))
    convex = tables["curvature"]["least"].min() >= 0
    last = "Its loss shows no negative curvature" if convex else "Its loss is not convex: every iterate is paid for"
    beside = compact(readings.beside_whitened(errors, names[-1]).value)
    return (
        f"At $N = {case['N']:.0f}$, $\\varepsilon = {case['epsilon']:g}$ its error is {' and '.join(heads)}; there "
        f"{beside} times a whitened linear head's. On isotropic features clipping each gradient divides it by "
        f"{compact(clipped)}, exact accounting by {compact(exact)}, each beside the other. {last}."
    )


def _lines(errors: pd.DataFrame, covariance: str) -> dict[tuple[str, str], pd.DataFrame]:
    """Private and non-private rows of both heads at the largest N, the latter at every ε."""
    rows = select(errors, covariance=covariance, N=errors["N"].max())
    budgets = sorted(rows["epsilon"].dropna().unique())
    found = {}
    for head in HEADS:
        found[head, PRIVATE] = select(rows, head=head, method=PRIVATE, bound=CLIPPED, account=EXACT).sort_values(
            "epsilon"
        )
        free = select(rows, head=head, method=NON_PRIVATE)
        found[head, NON_PRIVATE] = pd.concat([free.assign(epsilon=e) for e in budgets])
    return found


def draw_heads(errors: pd.DataFrame) -> Plate:
    """Test error of both heads against ε at the largest N, private and not, a panel for each covariance."""
    names = readings.covariances(errors)
    looks = figures.looks(HEADS)
    with figures.style():
        drawing, panels = plt.subplots(1, len(names), figsize=(4.6 * len(names), 4.0), sharey=True, squeeze=False)
        for axes, name in zip(panels[0], names):
            for (head, method), rows in _lines(errors, name).items():
                if method == PRIVATE:
                    figures.points(axes, rows, "epsilon", "test_error", label=f"{head},\nprivate", **looks[head])
                else:
                    colour = looks[head]["color"]
                    label = f"{head},\nnot private"
                    axes.plot(rows["epsilon"], rows["test_error"], "--", lw=1, color=colour, label=label)
            axes.set(xscale="log", xlabel=BUDGET, ylabel="test error")
            figures.plain_ticks(axes, errors["epsilon"].dropna().unique())
            axes.set_title(title(name))
        panels[0][0].set_ylim(bottom=0)  # of all panels, now that they have their curves
        for axes in panels[0]:
            figures.end_labels(axes)
    return Plate(drawing, *_words_on_heads(errors, names))


def _words_on_heads(errors: pd.DataFrame, names: list[str]) -> tuple[str, str]:
    N = errors["N"].max()
    without = [
        f"{compact(readings.heads_without_privacy(errors, name).value)} without privacy and "
        f"{compact(readings.heads(errors, name).value)} at the largest budget {where(name)}"
        for name in names
    ]
    caption = (
        f"**A softmax head beside a linear one**: test error against $\\varepsilon$ at $N = {N}$, both trained by the "
        f"same private descent (solid) and without privacy (dashed). The softmax head's error over the linear "
        f"head's is {'; '.join(without)}. Answering 0 errs 1. Bars: two standard errors over the trials."
    )
    told = "; ".join(
        f"{title(name)}, {head}, {WORDS[method]}: {along(rows, 'test_error', plain)}"
        for name in names
        for (head, method), rows in _lines(errors, name).items()
    )
    return caption, f"Test error against epsilon at N = {N}. {told}. Answering 0: 1."


def draw_theory(temperatures: pd.DataFrame, dimensions: pd.DataFrame) -> Plate:
    """Left: L times the error against κ. Right: the softmax head's error over the linear head's, by dimension."""
    with figures.style():
        drawing, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.8))
        looks = figures.looks(["simulated", "closed"])
        figures.points(left, temperatures.rename(columns={"scaled": "y"}), "kappa", "y", label="simulated",
                       **looks["simulated"] | {"ls": ""})  # fmt: skip
        left.plot(
            temperatures["kappa"], temperatures["closed_form"], color=looks["closed"]["color"], label="closed\nform"
        )
        figures.log_axes(left, r"$\kappa$ (inverse temperature)", r"$L\cdot$ test error")
        figures.plain_ticks(left, temperatures["kappa"].unique())
        _ratio(right, dimensions, looks["closed"]["color"])
        for axes in (left, right):
            figures.few_decades(axes)
            figures.end_labels(axes)
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
    alt = (
        f"Left: L times the error against kappa {along(temperatures, 'closed_form', plain)} with a minimum near "
        f"{plain(best['kappa'])}, where it is {plain(best['scaled'])}. Right: ratio of tokens against dimension "
        f"{along(dimensions, 'ratio', plain)}."
    )
    return Plate(drawing, caption, alt)


def _ratio(axes: Axes, dimensions: pd.DataFrame, colour: str) -> None:
    axes.plot(dimensions["D"], dimensions["ratio"], color=colour, marker="o", label="softmax\nover linear")
    axes.axhline(math.e, color="k", ls="--", lw=1)
    axes.axhline(1, color="0.6", lw=1)
    figures.log_axes(axes, "$D$ (dimension)", "tokens needed, over linear")
    figures.plain_ticks(axes, dimensions["D"].unique())
