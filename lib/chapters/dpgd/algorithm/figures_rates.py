"""Figures on rates and lower bounds of arXiv:2505.16329v2 beside what private predictors attain."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from chapters.dpgd.algorithm.models import ISOTROPIC
from chapters.dpgd.algorithm.rates import ALGORITHMS, BOUNDS, DESCENT, ZERO
from chapters.dpgd.algorithm.verdicts_rates import equation_14, equation_15
from companion.judging import words
from companion.judging.prose import compact, listed
from companion.judging.tables import select
from companion.showing import figures
from companion.showing.plates import Plate

CONSTANT, RARE = ALGORITHMS
GROWTH = {CONSTANT: "Algorithm 1,\n$c$ constant", RARE: "Algorithm 1, clipping\nrarely active"}
AXES = {
    "gamma": ("gamma", r"$\gamma$, at $\rho = 1$"),
    "both": ("gamma", r"$\gamma = \rho^2$"),
    "rho": ("rho", r"$\rho$, at $\gamma = 0.01$"),
}


def _along_n(rates: pd.DataFrame, algorithm: str) -> pd.DataFrame:
    """The rows of one way of clipping along n, Σ = I."""
    return select(rates, axis="n", spectrum=ISOTROPIC, algorithm=algorithm).sort_values("n")


def growth_factors(rates: pd.DataFrame) -> dict[str, float]:
    """Factors from the least to the largest n at fixed γ and ρ, Σ = I: of both risks, of log n and of (1.3)."""
    first = _along_n(rates, CONSTANT)
    curves = {name: _along_n(rates, name)["excess_risk"] for name in ALGORITHMS}
    curves |= {"log n": np.log(first["n"]), "(1.3)": first["rate_1.3"], "(1.4)": first["rate_1.4"]}
    return {name: float(values.iloc[-1] / values.iloc[0]) for name, values in curves.items()}


def draw_growth(rates: pd.DataFrame) -> Plate:
    """Both ways of clipping against n, each over its first mean, beside log n and (1.3) over theirs."""
    first = _along_n(rates, CONSTANT)
    with figures.panels(figsize=(6.4, 3.6)) as (figure, (axes,)):
        for (name, label), look in zip(GROWTH.items(), figures.looks(GROWTH).values()):
            rows = _along_n(rates, name)
            start = rows["excess_risk"].iloc[0]
            relative = rows.assign(growth=rows["excess_risk"] / start, standard_error=rows["standard_error"] / start)
            figures.points(axes, relative, "n", "growth", label=label, **look)
        logarithm = np.log(first["n"])
        axes.plot(first["n"], logarithm / logarithm.iloc[0], ":", color="0.35", lw=1.5, label=r"$\log n$")
        axes.plot(first["n"], first["rate_1.3"] / first["rate_1.3"].iloc[0], "--", color="0.35", lw=1, label="(1.3)")
        axes.axhline(1, color="0.6", lw=0.8)
        axes.set(xscale="log", xlabel="$n$ (records)", ylabel="over the value at the least $n$")
        figures.plain_ticks(axes, first["n"].unique(), most=3)
    factors, fixed = {name: compact(value) for name, value in growth_factors(rates).items()}, first.iloc[0]
    return Plate(
        figure,
        f"**What grows with $n$** at $\\gamma = {fixed['gamma']:g}$ and $\\rho = {fixed['rho']:g}$, $\\Sigma = I$; "
        "bars of two standard errors. From the least to the largest $n$ the risk changes by a factor of "
        f"{factors[CONSTANT]} with $c$ constant, where (1.4) has {factors['(1.4)']}. Where clipping is rarely "
        f"active it changes by {factors[RARE]}, beside {factors['log n']} of $\\log n$ and {factors['(1.3)']} of "
        "(1.3).",
    )


def draw_rates(rates: pd.DataFrame) -> Plate:
    """The risk against γ + γ²/ρ², a panel for each covariance: (1.4) says below a line of slope one."""
    grid = select(rates, axis="gamma")
    spectra = dict(iter(grid.groupby("spectrum", sort=False)))
    labels = {rho: rf"$\rho = {rho:g}$" for rho in sorted(grid["rho"].unique())}
    with figures.panels(len(spectra), ends=False, figsize=(7.6, 4.2), sharey=True) as (figure, panels):
        for axes, (name, rows) in zip(panels, spectra.items()):
            figures.curves(axes, rows, "rate_1.4", "excess_risk", "rho", labels, ls="")
            ends = np.array([rows["rate_1.4"].min(), rows["rate_1.4"].max()])
            axes.plot(ends, derived_multiple(rows) * ends, "k-", lw=1, label="derived multiple of (1.4)")
            axes.axhline(rows["zero_risk"].max(), color="0.35", ls=":", lw=1.5, label="answering 0")
            figures.log_axes(axes, r"$\gamma + \gamma^2/\rho^2$", "")
            axes.set_title(name)
        panels[0].set_ylabel("released excess risk")
        figure.legend(*panels[0].get_legend_handles_labels(), ncols=2, loc="outside lower center")
    multiples = listed(f"{compact(derived_multiple(rows))} ({name})" for name, rows in spectra.items())
    return Plate(
        figure,
        f"**The rate (1.4) and Algorithm 1**: mean risk of {grid['runs'].min()} runs for several $\\gamma$ and "
        "$\\rho$, bars of two standard errors. (1.4) claims that the marks stay below a line of slope one. Drawn "
        f"is the line with the multiple derived here, {multiples}. {words.headline(equation_14, {'rates': rates})}",
    )


def derived_multiple(rows: pd.DataFrame) -> float:
    """The largest ratio of the derived limit to γ + γ²/ρ²."""
    return float((rows["limit"] / rows["rate_1.4"]).max())


def draw_lower_bounds(bounds: pd.DataFrame) -> Plate:
    """Least known risk of a private predictor over (1.2) and (1.5): along γ, along both, and along ρ."""
    looks = figures.looks(BOUNDS)
    with figures.panels(len(AXES), ends=False, figsize=(8.0, 3.6), sharey=True) as (figure, panels):
        for axes, (axis, (across, label)) in zip(panels, AXES.items()):
            for claim in BOUNDS:
                _draw_ratio(axes, select(bounds, axis=axis, claim=claim), across, f"over {claim}", looks[claim])
            figures.log_axes(axes, label, "")
            axes.invert_xaxis()
        panels[0].set_ylabel("least known risk / bound")
        keys = [Line2D([], [], label=f"over {claim}", **look) for claim, look in looks.items()]
        keys.append(Line2D([], [], label=ZERO, color="0.35", marker="o", ls="", mfc="none"))
        figure.legend(handles=keys, ncols=3, loc="outside lower center")
    ends = listed(f"{compact(ratio)} ({label})" for label, ratio in bound_ends(bounds).items())
    return Plate(
        figure,
        "**The least known risk of a private predictor over the lower bounds (1.2) and (1.5)**, hidden constant "
        r"one, $\Sigma = I$, exact limits. Filled is Algorithm 1, hollow answering 0. At the far ends the ratio to "
        f"(1.5) is {ends}. {words.headline(equation_15, {'lower-bounds': bounds})}",
    )


def _draw_ratio(axes: Axes, rows: pd.DataFrame, across: str, label: str, look: dict) -> None:
    """A bound's ratio along an axis: filled where Algorithm 1 is the best, hollow where answering 0 is."""
    axes.plot(rows[across], rows["ratio"], color=look["color"], lw=1, label=label)
    for name, filled in ((DESCENT, look["color"]), (ZERO, "none")):
        own = select(rows, predictor=name)
        axes.plot(own[across], own["ratio"], ls="", mfc=filled, **look)


def bound_ends(bounds: pd.DataFrame) -> dict[str, float]:
    """The ratio to (1.5) at the far end of each axis, by the axis' label."""
    rows = {label: (select(bounds, axis=axis, claim=BOUNDS[-1]), across) for axis, (across, label) in AXES.items()}
    return {label: float(part.loc[part[across].idxmin(), "ratio"]) for label, (part, across) in rows.items()}
