"""Figures on where the equations of arXiv:2505.16329v2 stop working."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from companion.judging.prose import listed, percent
from companion.judging.tables import select
from companion.showing import figures
from companion.showing.plates import Plate

SPREAD, LONE = "spread", "one coordinate"  # where θ* lies
PANELS = {SPREAD: r"$\theta^*$ spread out", LONE: r"$\theta^*$ on one coordinate"}
AXES = {
    "c": r"$c$, at the same $\tilde\eta(0)$",
    "c, η̃(0)c fixed": r"$c$, at the same $\tilde\eta(0)c$",
    "initial rate": r"$\tilde\eta(0)$",
}


def draw_laws(laws: pd.DataFrame) -> Plate:
    """The gap between the mean risk and R(t) against d: independent coordinates for each θ*, then elliptical."""
    elliptical = laws["law"].str.startswith("elliptical")
    names = list(laws["law"].unique())
    looks = figures.looks(names)
    with figures.panels(3, ends=False, figsize=(8.0, 3.8), sharey=True) as (figure, panels):
        for axes, (target, title) in zip(panels, PANELS.items()):
            _draw_gaps(axes, select(laws[~elliptical], target=target), looks)
            axes.set_title(f"independent,\n{title}")
        for target, shift in zip(PANELS, (0.95, 1.05)):
            rows = select(laws[elliptical], target=target)
            hollow = {"mfc": "white"} if target == LONE else {}
            _draw_gaps(panels[2], rows.assign(d=rows["d"] * shift), looks, **hollow)
        for law, rows in laws[elliptical].groupby("law", sort=False):
            panels[2].plot(rows["d"], rows["relative_gap_averaged"], "k-", lw=1, label=f"{law}, averaged equation")
        panels[2].set_title("elliptical, any $\\theta^*$\n(black: averaged equation)")
        for axes in panels:
            axes.axhline(0, color="0.35", ls="--", lw=1)
            axes.set(xscale="log", xlabel="$d$ (dimension)")
            figures.plain_ticks(axes, laws["d"].unique(), most=4)
        panels[0].set_ylabel("mean risk over $R(t)$, minus 1")
        named = {text: line for axes in panels for line, text in zip(*axes.get_legend_handles_labels())}
        figure.legend([named[law] for law in names], names, ncols=3, loc="outside lower center")
        kinds = laws.loc[elliptical, "law"].nunique()
        for marks, title in zip(panels[2].containers, np.repeat(list(PANELS.values()), kinds)):
            marks.set_label(f"{marks.get_label()}, {title}")  # after the legend, which has one name for both
    return Plate(figure, _laws_caption(laws))


def _draw_gaps(axes: Axes, part: pd.DataFrame, looks: dict, **more: str) -> None:
    for law, rows in part.groupby("law", sort=False):
        figures.points(axes, rows, "d", "relative_gap", label=str(law), ls="", **looks[law] | more)


def _laws_caption(laws: pd.DataFrame) -> str:
    last = select(laws, d=laws["d"].max())
    gaps = last.pivot(index="law", columns="target", values="relative_gap").loc[last["law"].unique()]
    found = listed(f"{percent(gap[SPREAD])} / {percent(gap[LONE])} ({law})" for law, gap in gaps.iterrows())
    averaged = select(last, target=SPREAD).dropna(subset="relative_gap_averaged")
    told = listed(f"{percent(r.relative_gap_averaged)} ({r.law})" for r in averaged.itertuples())
    return (
        "**The price of other features** of covariance $I$: the mean risk over that of $R(t)$, averaged over time, "
        f"minus 1; bars of two standard errors. At $d = {last['d'].iloc[0]}$ the gaps, with $\\theta^*$ spread out / "
        f"on one coordinate, are {found}. The equation averaged over the scale of elliptical features (black) predicts "
        f"{told}; there hollow marks are those of one coordinate."
    )


def draw_axes(table: pd.DataFrame) -> Plate:
    """Left above: spread and bias against d. The others: what is released beside what is predicted."""
    with figures.style():
        figure, panels = plt.subplots(2, 2, figsize=(7.4, 6.0))
        _draw_dimension(panels[0, 0], select(table, axis="d"))
        for axes, (axis, label) in zip(list(panels.flat)[1:], AXES.items()):
            _draw_released(axes, select(table, axis=axis), label)
        cap = 2 * table["n"].iloc[0] / table["d"].iloc[0]
        panels[1, 1].axvline(cap, color="0.35", lw=0.8)
        place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        panels[1, 1].annotate(r"$2/\gamma$", (cap, 0), (3, 4), **place)
        figure.legend(*panels[0, 1].get_legend_handles_labels(), ncols=3, loc="outside lower center")
    return Plate(figure, _axes_caption(table))


def _draw_dimension(axes: Axes, rows: pd.DataFrame) -> None:
    spread, bias = figures.looks(("spread", "bias")).values()
    sizes = rows["value"].to_numpy()
    axes.plot(sizes, rows["relative_spread"], label="spread", **spread)
    figures.points(axes, rows.assign(size=rows["relative_bias"].abs()), "value", "size", label="bias", **bias)
    figures.slope(axes, sizes, rows["relative_spread"].iloc[0] * 2, -0.5, "$d^{-1/2}$")
    figures.slope(axes, sizes, abs(rows["relative_bias"].iloc[0]) / 2, -1.0, "$d^{-1}$")
    figures.log_axes(axes, "$d$ (dimension)", "largest, over $R(t)$")
    axes.set_ylim(bottom=2e-4)
    figures.end_labels(axes)


def _draw_released(axes: Axes, rows: pd.DataFrame, label: str) -> None:
    rows = rows.sort_values("value")
    axes.plot(rows["value"], rows["ode_released"], "-", color="0.35", lw=1, label="predicted")
    found = rows.assign(standard_error=_most_error(rows))
    (look,) = figures.looks(("Algorithm 1",)).values()
    figures.points(axes, found, "value", "risk_released", label="Algorithm 1", ls="", **look)
    axes.plot(rows["value"], rows["zero_risk"], ":", color=figures.COLOURS[3], lw=1.5, label="answering 0")
    figures.log_axes(axes, label, "released excess risk")
    axes.yaxis.set_minor_formatter(NullFormatter())


def _most_error(rows: pd.DataFrame) -> pd.Series:
    """No less than the standard error of a released mean: the largest spread along the path bounds that at its end."""
    return rows["relative_spread"] * rows["ode_released"] / np.sqrt(rows["chains"])


def _axes_caption(table: pd.DataFrame) -> str:
    along, others = select(table, axis="d"), table[table["axis"] != "d"]
    ends = listed(
        f"{percent(r.relative_spread)} and {percent(abs(r.relative_bias))} at $d = {r.d}$"
        for r in along.sort_values("value").iloc[[0, -1]].itertuples()
    )
    wild, worst = int(table["diverged"].sum()), (others["risk_released"] / others["ode_released"] - 1).abs().max()
    ends_well = "no run diverges" if wild == 0 else f"runs diverge at {wild} points"
    return (
        "**The reach of the equations**: square-root schedule, isotropic Gaussian data, "
        f"{table['chains'].min()} runs a point. Upper left: the largest spread of the risk along the path and the "
        f"largest bias of its mean, over $R(t)$, are {ends}. Elsewhere, at $d = {others['d'].iloc[0]}$, the mean "
        f"released risk is within {percent(worst)} of the prediction, and {ends_well}. Bars are two standard "
        "errors, for released risks at least that."
    )
