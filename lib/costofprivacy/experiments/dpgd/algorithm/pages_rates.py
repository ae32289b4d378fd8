"""Rates and lower bounds of arXiv:2505.16329v2 beside what private predictors attain: figures and tables."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from costofprivacy.experiments.dpgd.algorithm.models import ISOTROPIC
from costofprivacy.experiments.dpgd.algorithm.rates import ALGORITHMS, BOUNDS, DESCENT, ZERO
from costofprivacy.experiments.dpgd.algorithm.verdicts_rates import equation_14, equation_15
from costofprivacy.judging import words
from costofprivacy.judging.prose import compact, listed, measured, plain
from costofprivacy.judging.tables import select
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

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
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.4, 3.6))
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
        figures.end_labels(axes)
    factors, fixed = {name: compact(value) for name, value in growth_factors(rates).items()}, first.iloc[0]
    return Plate(
        figure,
        caption=(
            f"**What grows with $n$** at $\\gamma = {fixed['gamma']:g}$ and $\\rho = {fixed['rho']:g}$, $\\Sigma = I$; "
            "bars of two standard errors. From the least to the largest $n$ the risk changes by a factor of "
            f"{factors[CONSTANT]} with $c$ constant, where (1.4) has {factors['(1.4)']}. Where clipping is rarely "
            f"active it changes by {factors[RARE]}, beside {factors['log n']} of $\\log n$ and {factors['(1.3)']} of "
            "(1.3)."
        ),
        alt=(
            f"Growth from n = {first['n'].min()} to n = {first['n'].max()}: risk with constant c {factors[CONSTANT]}, "
            f"risk with clipping rarely active {factors[RARE]}, log n {factors['log n']}, (1.3) {factors['(1.3)']}."
        ),
    )


def draw_rates(rates: pd.DataFrame) -> Plate:
    """The risk against γ + γ²/ρ², a panel for each covariance: (1.4) says below a line of slope one."""
    grid = select(rates, axis="gamma")
    looks = figures.looks(sorted(grid["rho"].unique()))
    with figures.style():
        figure, panels = plt.subplots(1, grid["spectrum"].nunique(), figsize=(7.6, 4.2), sharey=True, squeeze=False)
        for axes, (name, rows) in zip(panels.flat, grid.groupby("spectrum", sort=False)):
            for rho, part in rows.groupby("rho"):
                figures.points(axes, part, "rate_1.4", "excess_risk", label=rf"$\rho = {rho:g}$", ls="", **looks[rho])
            ends = np.array([rows["rate_1.4"].min(), rows["rate_1.4"].max()])
            axes.plot(ends, derived_multiple(rows) * ends, "k-", lw=1, label="derived multiple of (1.4)")
            axes.axhline(rows["zero_risk"].max(), color="0.35", ls=":", lw=1.5, label="answering 0")
            figures.log_axes(axes, r"$\gamma + \gamma^2/\rho^2$", "")
            axes.set_title(name)
        panels[0, 0].set_ylabel("released excess risk")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), ncols=2, loc="outside lower center")
    multiples = {name: compact(derived_multiple(rows)) for name, rows in grid.groupby("spectrum", sort=False)}
    return Plate(
        figure,
        caption=(
            f"**The rate (1.4) and Algorithm 1**: mean risk of {grid['runs'].min()} runs for several $\\gamma$ and "
            "$\\rho$, bars of two standard errors. (1.4) claims that the marks stay below a line of slope one. Drawn "
            f"is the line with the multiple derived here, {listed(f'{m} ({name})' for name, m in multiples.items())}. "
            f"{words.headline(equation_14, {'rates': rates})}"
        ),
        alt=_rates_alt(grid),
    )


def derived_multiple(rows: pd.DataFrame) -> float:
    """The largest ratio of the derived limit to γ + γ²/ρ²."""
    return float((rows["limit"] / rows["rate_1.4"]).max())


def _rates_alt(grid: pd.DataFrame) -> str:
    texts = []
    for (name, rho), rows in grid.groupby(["spectrum", "rho"], sort=False):
        first, last = rows.loc[rows["rate_1.4"].idxmax()], rows.loc[rows["rate_1.4"].idxmin()]
        ends = [f"{plain(row['excess_risk'])} at {plain(row['rate_1.4'])}" for row in (first, last)]
        texts.append(f"{name}, rho {rho:g}: {' to '.join(ends)}")
    return f"Released risk against the rate gamma plus gamma squared over rho squared. {'; '.join(texts)}."


def draw_lower_bounds(bounds: pd.DataFrame) -> Plate:
    """Least known risk of a private predictor over (1.2) and (1.5): along γ, along both, and along ρ."""
    looks = figures.looks(BOUNDS)
    with figures.style():
        figure, panels = plt.subplots(1, len(AXES), figsize=(8.0, 3.6), sharey=True)
        for axes, (axis, (across, label)) in zip(panels, AXES.items()):
            for claim in BOUNDS:
                _draw_ratio(axes, select(bounds, axis=axis, claim=claim), across, looks[claim])
            figures.log_axes(axes, label, "")
            axes.invert_xaxis()
        panels[0].set_ylabel("least known risk / bound")
        keys = [Line2D([], [], label=f"over {claim}", **looks[claim]) for claim in BOUNDS]
        keys.append(Line2D([], [], label=ZERO, color="0.35", marker="o", ls="", mfc="none"))
        figure.legend(handles=keys, ncols=3, loc="outside lower center")
    ends = bound_ends(bounds)
    return Plate(
        figure,
        caption=(
            "**The least known risk of a private predictor over the lower bounds (1.2) and (1.5)**, hidden constant "
            r"one, $\Sigma = I$, exact limits. Filled is Algorithm 1, hollow answering 0. At the far ends the ratio to "
            f"(1.5) is {listed(f'{compact(ratio)} ({label})' for label, ratio in ends.items())}. "
            f"{words.headline(equation_15, {'lower-bounds': bounds})}"
        ),
        alt=(
            "Least known risk over the bound (1.5) at the far end of each axis: "
            f"{listed(f'{plain(ratio)} along {axis}' for axis, ratio in zip(AXES, ends.values()))}."
        ),
    )


def _draw_ratio(axes: Axes, rows: pd.DataFrame, across: str, look: dict) -> None:
    """A bound's ratio along an axis: filled where Algorithm 1 is the best, hollow where answering 0 is."""
    axes.plot(rows[across], rows["ratio"], color=look["color"], lw=1)
    for name, filled in ((DESCENT, look["color"]), (ZERO, "none")):
        own = select(rows, predictor=name)
        axes.plot(own[across], own["ratio"], ls="", mfc=filled, **look)


def bound_ends(bounds: pd.DataFrame) -> dict[str, float]:
    """The ratio to (1.5) at the far end of each axis, by the axis' label."""
    rows = {label: (select(bounds, axis=axis, claim=BOUNDS[-1]), across) for axis, (across, label) in AXES.items()}
    return {label: float(part.loc[part[across].idxmin(), "ratio"]) for label, (part, across) in rows.items()}


def _with_error(rows: pd.DataFrame) -> list[str]:
    return [measured(value, error) for value, error in zip(rows["excess_risk"], rows["standard_error"])]


def show_along_gamma(rates: pd.DataFrame) -> pd.DataFrame:
    """Mean risk with its standard error, and its share of the limit, by γ, covariance and ρ."""
    rows = select(rates, axis="gamma")
    shares = (rows["excess_risk"] / rows["limit"]).map(" ({:.2f})".format)
    wide = rows.assign(text=_with_error(rows) + shares, rho=rows["rho"].map("ρ = {:g}".format))
    wide = wide.rename(columns={"spectrum": "covariance", "gamma": "γ"})
    shown = wide.pivot(index=["covariance", "γ"], columns="rho", values="text").rename_axis(columns=None)
    return shown.sort_index(ascending=False).loc[list(rows["spectrum"].unique())]


def show_along_n(rates: pd.DataFrame) -> pd.DataFrame:
    """Mean risk with its standard error for Σ = I, by n and way of clipping, beside (1.2) to (1.4)."""
    rows = select(rates, axis="n", spectrum=ISOTROPIC)
    wide = rows.assign(text=_with_error(rows)).pivot(index=["n", "d"], columns="algorithm", values="text")
    bounds = rows.drop_duplicates("n").set_index(["n", "d"])[["rate_1.2", "rate_1.3", "rate_1.4"]]
    return wide.join(bounds.rename(columns=lambda name: f"({name.removeprefix('rate_')})").map(plain))


def show_translation(translation: pd.DataFrame) -> pd.DataFrame:
    """ε at δ = 1/n², and its square over ρ² log n, by n."""
    shown = translation.map(plain).set_index("n")
    return shown.rename(columns={"epsilon": "ε at δ = 1/n²", "ratio": "ε² / (ρ² log n)"})
