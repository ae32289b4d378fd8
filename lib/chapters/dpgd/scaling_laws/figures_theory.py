"""Figures on when privacy is free, on Figures 10 to 13 and on the logarithm of (6.6) of arXiv:2505.16329v2."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from chapters.dpgd.scaling_laws.curves import PLACE
from chapters.dpgd.scaling_laws.figures import GAMMA, privacy
from chapters.dpgd.scaling_laws.theory import PANELS
from chapters.dpgd.scaling_laws.trends import log_power, smallest
from companion.judging.prose import compact, listed, percent, plain
from companion.judging.tables import select
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import described

CHOSEN = (0.0, 2.0, 10.0, math.inf)  # α on the map
TERMS = {"e1": "$e_1$: start", "e2": "$e_2$: sampling", "e3": "$e_3$: privacy"}
ROUND = (5, 10, 20, 50, 100, 200, 500, 1000)  # ticks of a logarithmic abscissa of few decades


def draw_cost(cost: pd.DataFrame) -> Plate:
    """What privacy costs against γ: free and costly, at the least and the largest α of one problem."""
    place = cost[["phi", "psi"]].iloc[-1]
    rows = select(cost, **place)
    alphas = sorted({rows["alpha"].min(), rows["alpha"].max()})
    panels_of = sorted(rows["b"].unique())
    with figures.panels(len(panels_of), figsize=(7.8, 3.5)) as (figure, panels):
        for axes, b in zip(panels, panels_of):
            for alpha, look in figures.looks(alphas).items():
                curve = select(rows, b=b, alpha=alpha).sort_values("gamma")
                axes.plot(curve["gamma"], curve["ratio"], label=rf"$\alpha={alpha:g}$", **look)
            figures.log_axes(axes, GAMMA, "risk over that without privacy" if axes is panels[0] else "")
            axes.set_title(privacy(b))
            if select(rows, b=b)["ratio"].max() < 10:
                axes.set(yscale="linear", ylim=(0.95, None))
    return Plate(
        figure,
        f"**What privacy costs.** $\\varphi={place['phi']:g}$, $\\psi={place['psi']:g}$; best learning rate with and "
        f"without privacy. {' '.join(_cost_of(select(rows, b=b)) for b in panels_of)} Solved equations: no sampling "
        "error.",
    )


def _cost_of(rows: pd.DataFrame) -> str:
    """What privacy costs at the largest and at the least γ, in words."""
    demand = f"At {privacy(rows['b'].iloc[0])}"
    start, end = select(rows, gamma=rows["gamma"].max())["ratio"].max(), smallest(rows)["ratio"].max()
    if end >= start:
        return f"{demand} the factor by which privacy raises the risk grows from {compact(start)} to {compact(end)}."
    largest, least = percent(start - 1), percent(end - 1)
    return f"{demand} privacy adds up to {largest} at the largest $\\gamma$ and {least} at the smallest."


def draw_critical(critical: pd.DataFrame) -> Plate:
    """The critical b against φ: left by schedule, right by target."""
    left, right = select(critical, psi=0.0), select(critical, alpha=math.inf)
    with figures.panels(2, figsize=(7.8, 3.7), sharey=True) as (figure, panels):
        _lines(panels[0], left, "alpha", [a for a in CHOSEN if a in set(left["alpha"])], r"\alpha")
        _lines(panels[1], right, "psi", sorted(right["psi"].unique()), r"\psi")
        panels[0].set(title=r"schedules, $\psi = 0$", ylabel="critical $b$ in $\\rho=\\gamma^b$")
        panels[1].set(title=r"targets, $\alpha \to \infty$")
    steepest = select(right, phi=right["phi"].max())
    negative = steepest[steepest["psi"] < 0]
    kept = [f" With $\\psi={row.psi:g}$ it is {compact(row.critical)}." for row in negative.head(1).itertuples()]
    return Plate(
        figure,
        "**Where privacy is free: below the lines.** A larger $b$ is a stricter requirement. Over all spectra and "
        f"targets shown the critical $b$ goes from {compact(critical['critical'].min())} to "
        f"{compact(critical['critical'].max())}. At the steepest spectrum, $\\psi=0$, it is "
        f"{compact(select(steepest, psi=0)['critical'].iloc[0])} with the best schedule.{''.join(kept)} Closed form.",
    )


def _lines(axes: Axes, rows: pd.DataFrame, by: str, values: list[float], name: str) -> None:
    for value, look in figures.looks(values).items():
        line = select(rows, **{by: value}).sort_values("phi")
        text = r"\infty" if value == math.inf else f"{value:g}"
        axes.plot(line["phi"], line["critical"], color=look["color"], label=f"${name}={text}$")
    axes.set(xlabel=r"$\varphi$, exponent of the spectrum", ylim=(0, 0.52))


def draw_panels(panels: pd.DataFrame) -> Plate:
    """Figures 10 to 13: the three exponents along a, with the peak of the smallest."""
    free, peaks = [], []
    with figures.style():
        figure, grid = plt.subplots(2, 2, figsize=(7.8, 6.2), squeeze=False)
        for axes, name in zip(grid.flat, PANELS):
            rows = select(panels, figure=name)
            for term, look in figures.looks(TERMS).items():
                axes.plot(rows["a"], rows[term], color=look["color"], label=TERMS[str(term)])
            peak, crossing = (rows.loc[rows[terms].min(axis=1).idxmax()] for terms in (list(TERMS), ["e1", "e2"]))
            height, number = peak[list(TERMS)].min(), f"Figure {name.split('-')[1]}"
            axes.plot(peak["a"], height, "k*", ms=11, label="_peak")
            title = rf"{number}: $\kappa_1={peak['kappa1']:g}$, $\alpha={peak['alpha']:g}$, $b={peak['b']:g}$"
            axes.set(xlabel="$a$ in $v=\\gamma^a$", ylabel="exponent", ylim=(-0.6, 2.0), title=title)
            figures.end_labels(axes)
            free.append(f"{number} {'free' if abs(peak['a'] - crossing['a']) < 1e-9 else 'costly'}")
            peaks.append(f"{plain(height)} at a = {plain(peak['a'])} ({number})")
    return Plate(
        figure,
        "**Figures 10 to 13, recomputed.** Star: where the smallest exponent is largest. Privacy is free where that "
        f"is the crossing of $e_1$ and $e_2$: {listed(free)}. All four draw (E.42), the case $\\varphi(\\alpha+1)<2$. "
        "Closed form.",
        f"{described(figure)} The smallest exponent is largest, {listed(peaks)}.",
    )


def draw_logarithm(logarithm: pd.DataFrame) -> Plate:
    """At φ(α + 1) = 2 where privacy costs: risk over γ^h against ln(1/γ), at v = γ^a and at the best v."""
    place = logarithm.iloc[0]
    rows = select(logarithm, **place[PLACE])
    kappa = 2 - place["phi"] - place["psi"]
    claims = {"power": 1.0, "best": kappa / (kappa + place["phi"])}
    labels = {"power": "$v=\\gamma^a$", "best": "best $v$"}
    x = np.asarray(rows["log"])
    with figures.panels(figsize=(6.2, 3.8)) as (figure, (axes,)):
        for (name, label), look in zip(labels.items(), figures.looks(labels).values()):
            axes.plot(x, rows[name], label=label, **look)
            line = rows[name].iloc[-1] * (x / x[-1]) ** claims[name]
            axes.plot(x, line, "--", color="0.35", lw=1, label="_slope")
        figures.log_axes(axes, r"$\ln(1/\gamma)$", r"risk over $\gamma^h$")
        figures.plain_ticks(axes, np.array([tick for tick in ROUND if x.min() <= tick <= x.max()]))
    gain = rows["power"].iloc[-1] / rows["best"].iloc[-1]
    return Plate(
        figure,
        f"**The logarithm of (6.6).** $\\varphi={place['phi']:g}$, $\\psi={place['psi']:g}$, "
        f"$\\alpha={place['alpha']:g}$, $b={place['b']:g}$, so $\\varphi(\\alpha+1)=2$. At $v=\\gamma^a$ the risk "
        f"contains the logarithm to the power {compact(log_power(rows, 'power'))}, at the best $v$, which is no power "
        f"of $\\gamma$, to the power {compact(log_power(rows, 'best'))} (dashed: 1 and {compact(claims['best'])}). The "
        f"best risk ends {compact(gain)} times lower. Closed form.",
    )
