"""Figures on the lower bound of arXiv:2505.16329v2."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from chapters.dpgd.lower_bound.attacks import HARMONIC, LEAST_SQUARES, OUTPUT, RIDGE
from chapters.dpgd.lower_bound.optimality import ALONG_RHO
from chapters.dpgd.lower_bound.page import CONSTANT_RHO, drawn, tex
from companion.judging.prose import compact, course, percent
from companion.judging.tables import select
from companion.showing import figures
from companion.showing.plates import Plate

CURVES = {
    "trivial": ("always 0", ":"),
    "harmonic": ("DP-GD,\nharmonic", "-"),
    "two_stage": ("pilot and\none step", "-"),
    "lower": ("lower bound", "--"),
}
ATTACKED = (LEAST_SQUARES, RIDGE, HARMONIC, OUTPUT)


def draw_bounds(bounds: pd.DataFrame) -> Plate:
    """What DP-GD reaches and what no private algorithm beats: along γ at constant ρ, along ρ at one γ."""
    rows = drawn(bounds)
    along_gamma = select(rows, path=CONSTANT_RHO).sort_values("gamma")
    along_rho = select(rows, path=ALONG_RHO).sort_values("rho")
    slow, peak = along_gamma.iloc[0], along_rho.loc[along_rho["factor"].idxmax()]
    with figures.panels(2, figsize=(9.4, 3.9)) as (figure, (left, right)):
        _draw_sides(left, along_gamma.assign(x=1 / along_gamma["gamma"]))
        _draw_sides(right, along_rho.assign(x=along_rho["rho"]))
        left.set(xlabel=r"$1/\gamma = n/d$ (records over dimension)", title=rf"$\rho = {slow['rho']:g}$")
        right.set(xlabel=r"$\rho$ (privacy parameter)", title=rf"$\gamma = {tex(peak['gamma'])}$")
    return Plate(
        figure,
        "**Upper and lower bound.** The worst mean risk over the unit ball, $\\Sigma = I$, $\\zeta = "
        f"{slow['label_noise']:g}$: the best harmonic schedule of DP-GD and a pilot with one averaged step, by "
        "their deterministic equivalents, above what is proven of every private algorithm. Left: DP-GD over the "
        f"lower bound {course(along_gamma.iloc[-1]['factor'], slow['factor'])} as records grow. Right: it is at "
        f"most {compact(peak['factor'])}, at $\\rho = {tex(peak['rho'])}$. No simulation, so no error bars.",
    )


def _draw_sides(axes: Axes, rows: pd.DataFrame) -> None:
    shown = rows.assign(two_stage=rows["two_stage"].where(rows["two_stage"] <= rows["trivial"])).sort_values("x")
    for (column, (label, line)), look in zip(CURVES.items(), figures.looks(CURVES).values()):
        axes.plot(shown["x"], shown[column], line, label=label, **look)
    figures.log_axes(axes, "", "excess risk (units of $y^2$)")


def draw_attack(attack: pd.DataFrame) -> Plate:
    """Left: the score of each algorithm over its largest value. Right: the ρ that score and risk certify."""
    spent = sorted(attack.loc[np.isfinite(attack["rho"]), "rho"].unique())
    rho = spent[len(spent) // 2]
    shown = attack[(attack["rho"] == rho) | (attack["algorithm"].isin([LEAST_SQUARES, RIDGE]))]
    with figures.panels(2, figsize=(9.4, 3.9)) as (figure, (left, right)):
        for name, look in figures.looks(ATTACKED).items():
            rows = select(shown, algorithm=name).sort_values("n")
            ratio, whole = rows["n"] / rows["d"], rows["whole"]
            left.errorbar(ratio, rows["score"] / whole, yerr=2 * rows["score_error"] / whole, label=name, **look)
            left.plot(ratio, (rows["least_score"] / whole).clip(lower=0), ":", color=look["color"], lw=1)
        left.set(xscale="log", xlabel="$n/d$ (records over dimension)", ylabel=r"score $\div\ \zeta^2 d$")
        figures.plain_ticks(left, np.unique(shown["n"] / shown["d"]))
        left.set_title(rf"DP-GD at $\rho = {rho:g}$")
        _draw_certified(right, attack)
    row = select(attack, algorithm=HARMONIC, rho=max(spent)).sort_values("n").iloc[-1]
    bare = select(attack, algorithm=LEAST_SQUARES).sort_values("n").iloc[-1]
    return Plate(
        figure,
        "**The tracing attack.** Left: the attack's score, summed over all records and averaged over targets from "
        "the prior; dotted, the least that (D.140) allows at the algorithm's risk. Right: the privacy parameter "
        f"that score and risk certify. At $\\rho = {row['rho']:g}$ and $n/d = {row['n'] / row['d']:g}$ harmonic "
        f"DP-GD shows {compact(row['certified'])}. Least squares, with no privacy at all, shows "
        f"{compact(bare['certified'])}: an average over records certifies little. Bars of two standard errors.",
    )


def _draw_certified(axes: Axes, attack: pd.DataFrame) -> None:
    private = attack[np.isfinite(attack["rho"]) & (attack["algorithm"] == HARMONIC)]
    for n, look in figures.looks(sorted(private["n"].unique())).items():
        rows = select(private, n=n).sort_values("rho")
        axes.plot(rows["rho"], rows["certified"], label=f"$n/d = {n / rows['d'].iloc[0]:g}$", **look)
    ends = np.array(sorted(private["rho"].unique()))
    axes.plot(ends, ends, "--", color="0.35", lw=1, label="all of it")
    figures.log_axes(axes, r"$\rho$ (spent)", r"$\rho$ (certified)")
    figures.plain_ticks(axes, ends)
    axes.set_title("harmonic DP-GD")


def draw_records(records: pd.DataFrame) -> Plate:
    """E(L_i − 1)² along the data over the most that zCDP allows, output perturbation at its best learning rate."""
    rows = select(records, multiple=1.0, n=records["n"].max())
    shares = rows.assign(value=rows["value"] / rows["most"], standard_error=rows["standard_error"] / rows["most"])
    with figures.panels(figsize=(6.6, 3.9)) as (figure, (axes,)):
        for rho, look in figures.looks(sorted(rows["rho"].unique())).items():
            part = select(shares, rho=rho).sort_values("share")
            error = 2 * part["standard_error"]
            axes.errorbar(part["share"], part["value"], yerr=error, label=rf"$\rho = {rho:g}$", **look)
        axes.set(yscale="log", xlabel="place of the record in the pass ($i/n$)")
        axes.set_ylabel(r"$\mathbb{E}(L_i - 1)^2 \div (e^{\rho^2} - 1)$")
    small = select(shares, rho=rows["rho"].min()).sort_values("share")
    first, last = small["value"].iloc[[0, -1]]
    return Plate(
        figure,
        "**What each record's likelihood ratio shows of the budget.** Output perturbation at its best learning "
        f"rate, $n/d = {rows['n'].iloc[0] / rows['d'].iloc[0]:g}$, one random record replaced by another. At "
        f"$\\rho = {small['rho'].iloc[0]:g}$ the share {course(first, last, tell=percent)} from the first record to "
        "the last: later steps forget what came before, and typical records stay far from the worst pair. Bars of two "
        "standard errors.",
    )
