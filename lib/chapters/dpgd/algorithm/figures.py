"""Figures on Algorithm 1 of arXiv:2505.16329v2: its noise, its steps, and what conversions of its privacy give away."""

from collections.abc import Callable

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from chapters.dpgd.algorithm.page import EVEN, LAST, OURS, placement_factors
from companion.judging.prose import compared, listed, percent, plain, span
from companion.judging.tables import select
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import described

ROUTES = {"proposition_a3": ("Proposition A.3", "-"), "renyi": ("best by way of Rényi", "--")}


def draw_noise(noise: pd.DataFrame, placement: pd.DataFrame) -> Plate:
    """Left: share of the noise added by time t. Right: released risks by placement of the noise."""
    with figures.panels(2, ends=False, figsize=(7.8, 3.5)) as (figure, (left, right)):
        for (name, rows), look in zip(noise.groupby("schedule", sort=False), figures.looks(range(9)).values()):
            left.plot(rows["t"].iloc[:-1], rows["share"].iloc[:-1], color=look["color"], label=name)
            left.plot(rows["t"].iloc[-1], rows["share"].iloc[-2], clip_on=False, **look)
        left.set(xlabel="$t = k/n$", ylabel="share of the noise added so far", xlim=(0, 1), ylim=(-0.02, 1.02))
        left.set_title("where (4.2) puts the noise")
        left.legend(loc="lower right", bbox_to_anchor=(1, 0.02), handlelength=1.2)
        _draw_placements(right, placement)
    alt = f"{described(figure)} By half of the run the share is {_shares(noise, _half)}."
    return Plate(figure, _noise_caption(noise, placement), alt)


def _draw_placements(axes: Axes, placement: pd.DataFrame) -> None:
    heights = {name: -float(i) for i, name in enumerate(placement["schedule"].unique())}
    shifts = {OURS: 0.2, EVEN: 0.0, LAST: -0.2}
    for (name, shift), look in zip(shifts.items(), figures.looks(shifts).values()):
        rows = select(placement, placement=name)
        y = rows["schedule"].map(heights) + shift
        axes.errorbar(rows["excess_risk"], y, xerr=2 * rows["standard_error"], ls="", label=name, **look)
    axes.axvline(placement["zero_risk"].max(), color="0.35", ls=":", lw=1.2, label="answering 0")
    axes.set(xscale="log", xlabel="released excess risk", ylabel="schedule", title="noise of one $\\rho$, placed")
    axes.set_yticks(list(heights.values()), list(heights))
    axes.grid(axis="y", visible=False)
    axes.legend(loc="center right", handlelength=1.2)


def _noise_caption(noise: pd.DataFrame, placement: pd.DataFrame) -> str:
    factors, others = placement_factors(placement), placement[placement["placement"] != OURS]
    least = others.loc[(others["above"] / others["above_error"]).idxmin()]
    texts = ("A better placement was found", "No placement is better", "No placement is better")
    return (
        "**Where the noise belongs.** Left: the share of the noise that (4.2) has added by time $t$, marks before the "
        f"last step. That step adds {_shares(noise, _last)}. Right: the mean risk of {placement['trials'].min()} "
        f"releases, $\\Sigma = I$, bars of two standard errors. Even noise multiplies the risk of (4.2) by "
        f"{span(factors[EVEN])}, and all noise in the last step by {span(factors[LAST])}. "
        f"{compared(least['above'], 0.0, texts, least['above_error'])}."
    )


def _shares(noise: pd.DataFrame, part: Callable[[pd.DataFrame], float]) -> str:
    """A share of the noise for each schedule."""
    return listed(f"{percent(part(rows))} ({name})" for name, rows in noise.groupby("schedule", sort=False))


def _last(rows: pd.DataFrame) -> float:
    """What the last step adds."""
    return round(1 - rows["share"].iloc[-2], 6)


def _half(rows: pd.DataFrame) -> float:
    """What is added by half of the run."""
    return rows.loc[(rows["t"] - 0.5).abs().idxmin(), "share"]


def draw_expansion(expansion: pd.DataFrame) -> Plate:
    """By how much a step stretches a distance, against η‖x‖²."""
    labels = {"bare": "rate $\\eta$", "shortened": "rate\n$\\min(\\eta, 2/\\|x\\|^2)$"}
    with figures.panels(figsize=(5.8, 3.4)) as (figure, (axes,)):
        axes.plot(expansion["product"], expansion["exact"], "--", color="0.35", lw=1)
        for (name, label), look in zip(labels.items(), figures.looks(labels).values()):
            axes.plot(expansion["product"], expansion[name], ls="", label=label, **look)
        axes.axvline(2, color="0.6", lw=0.8)
        axes.set(xlabel=r"$\eta\|x\|^2$", ylabel="largest growth of a distance")
    last = expansion.loc[expansion["product"].idxmax()]
    return Plate(
        figure,
        "**How far a clipped step can pull two parameters apart**, the most found among random records and parameters. "
        rf"With the rate $\eta$ it reaches {plain(expansion['bare'].max())} at $\eta\|x\|^2 = {last['product']:g}$, "
        rf"where $\max(1, |1-\eta\|x\|^2|)$ (dashed) is {plain(last['exact'])}. With the rate of Algorithm 1 it is at "
        f"most {plain(expansion['shortened'].max())}.",
    )


def draw_conversions(conversions: pd.DataFrame) -> Plate:
    """ε over what is truly spent, against ρ, for each δ."""
    some = conversions[conversions["exact"] > 0]
    looks = figures.looks(some["delta"].unique())
    with figures.panels(ends=False, figsize=(6.2, 3.8)) as (figure, (axes,)):
        for delta, rows in some.groupby("delta", sort=False):
            for column, (name, line) in ROUTES.items():
                label = f"{name}, δ = {plain(delta)}"
                axes.plot(rows["rho"], rows[column] / rows["exact"], line, label=label, **looks[delta])
        keys = [Line2D([], [], **looks[delta], label=f"δ = {plain(delta)}") for delta in some["delta"].unique()]
        keys += [Line2D([], [], color="0.2", ls=line, label=name) for name, line in ROUTES.values()]
        figures.log_axes(axes, r"$\rho$", r"$\varepsilon$ claimed / $\varepsilon$ spent")
        axes.axhline(1, color="0.35", ls=":", lw=1)
        axes.legend(handles=keys)
    return Plate(
        figure,
        r"**What conversions give away**: the $\varepsilon$ claimed over the $\varepsilon$ that the release truly "
        rf"spends as $\rho$-Gaussian DP. Proposition A.3 claims {_overstated(some, 'proposition_a3')}, the best known "
        rf"of zCDP {_overstated(some, 'renyi')}. Exact computations, where any $\varepsilon$ is spent at that "
        r"$\delta$.",
    )


def _overstated(rows: pd.DataFrame, column: str) -> str:
    """By what factor a route overstates ε, and where most."""
    ratio = rows[column] / rows["exact"]
    most = rows.loc[ratio.idxmax()]
    return f"{span(ratio)} times as much, most at ρ = {most['rho']:g}, δ = {plain(most['delta'])}"
