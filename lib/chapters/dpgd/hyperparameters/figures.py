"""Figures of maps, of their valley and of advice, for the page on the hyper-parameters of arXiv:2505.16329v2."""

import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from chapters.dpgd.heat import LINES, dots, heat, papers_lines
from chapters.dpgd.hyperparameters.problem import ALPHAS, NAMES
from chapters.dpgd.hyperparameters.tables import FEW, USUAL, advice
from chapters.dpgd.hyperparameters.verdicts_maps import CAP, WITHIN, Valley, deviations, figure_4, valleys
from companion.judging import words
from companion.judging.prose import percent, plain, span
from companion.judging.tables import select
from companion.judging.vocabulary import CONSISTENT
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import described

KINK = 1.5  # a learning rate within this factor of 2/γ is beside the kink of min(η̃, 2/γ)


def draw_figure_4(table: pd.DataFrame) -> Plate:
    """The simulated maps of Figure 4 with the paper's lines, their valleys and the edge of the divergent corner."""
    found = valleys(table)
    with figures.style():
        figure, panels = plt.subplots(2, 2, figsize=(7.8, 6.6), sharey=True)
        for axes, valley in zip(panels.T.ravel() if len(found) == 4 else panels.ravel(), found):
            panel = select(table, gamma=valley.gamma, alpha=valley.alpha)
            image = _map(axes, panel, "risk_mean")
            papers_lines(axes, valley.gamma)
            _edge(axes, panel)
            dots(axes, valley.rate, valley.clip)
        figure.colorbar(image, ax=panels, label=r"$\mathcal{R}(\theta^p)$ (units of $y^2$), capped", shrink=0.7)
    trials, error = int(table["trials"].min()), float(np.median([np.median(v.error / v.risk) for v in found]))
    return Plate(
        figure,
        caption=(
            f"**Figure 4, re-computed.** Mean released risk of {trials} runs; dashed red: $c = 1$, "
            r"$\tilde\eta(0) = 2/\gamma$, $c\tilde\eta(0) = \ln(1/\gamma)$. Points: the least risk of each row; "
            f"white line: where the risk is {CAP:g}, the edge of the divergent corner. The relative standard error is "
            f"{percent(error)} in the median. {words.headline(figure_4, {'figure-4': table})}"
        ),
        alt=f"{described(figure)} {' '.join(map(_place, found))}",
    )


def _place(valley: Valley) -> str:
    """Where the valley of a map lies, which no label tells."""
    return (
        f"γ = {plain(valley.gamma)}, α = {plain(valley.alpha)}: least risk at c = "
        f"{plain(valley.clip[valley.risk.argmin()])}, valley at {plain(valley.product / math.log(1 / valley.gamma))} "
        f"of the drawn product, slope {plain(valley.slope)}."
    )


def _map(axes: Axes, panel: pd.DataFrame, column: str) -> AxesImage:
    """A column of the rows of one map, capped, under the map's name."""
    _name(axes, panel)
    return heat(axes, _grid(panel, column).clip(upper=CAP), 0.0, CAP)


def _name(axes: Axes, panel: pd.DataFrame) -> None:
    axes.set_title(f"$\\alpha = {panel['alpha'].iloc[0]:g}$, $\\gamma = {panel['gamma'].iloc[0]:g}$")


def _grid(panel: pd.DataFrame, column: str) -> pd.DataFrame:
    return panel.pivot(index="clip", columns="learning_rate", values=column)


def _edge(axes: Axes, panel: pd.DataFrame) -> None:
    """Where the ODE's risk passes the figure's cap."""
    grid = _grid(panel, "ode_risk").clip(upper=10 * CAP)
    axes.contour(np.log10(grid.columns), np.log10(grid.index), grid, levels=[CAP], colors="white", linewidths=1.2)


def draw_difference(table: pd.DataFrame) -> Plate:
    """Beside each map of the ODE the simulated means' distance from it in standard errors."""
    told = table.assign(apart=deviations(table)["deviation"])
    places = [panel for _, panel in told.groupby(["gamma", "alpha"])]
    with figures.style():
        figure, panels = plt.subplots(len(places), 2, figsize=(7.8, 2.9 * len(places)), squeeze=False)
        for (left, right), panel in zip(panels, places, strict=True):
            _map(left, panel, "ode_risk")
            papers_lines(left, panel["gamma"].iloc[0])
            _name(right, panel)
            gap = heat(right, _grid(panel, "apart"), -CONSISTENT, CONSISTENT, "RdBu_r")
        figure.colorbar(gap, ax=panels, label="right: simulated − ODE (standard errors)", shrink=0.5)
    share, kink = agreement(table)
    return Plate(
        figure,
        caption=(
            "**The deterministic equivalent, and the distance of the simulation from it.** Left: the released risk by "
            "the ODE, in the colours of Figure 4. Right: mean of the runs minus the ODE, in standard errors of the "
            f"mean; blank in the divergent corner, where the risk exceeds {CAP:g}. {percent(share)} of the points are "
            f"within {CONSISTENT:g}, those beside $2/\\gamma$ left out. There a finite dimension rounds the kink of "
            f"$\\bar\\eta$, and the simulation is off by up to {percent(kink)} of the risk. Points of a map share "
            "their data, so that their errors are correlated."
        ),
    )


def agreement(table: pd.DataFrame) -> tuple[float, float]:
    """The share of points within four standard errors, the kink left out, and the largest relative distance there.

    Points are those where the ODE's risk is below the cap of the figure; the kink is where η̃(0) is about 2/γ, and
    E min(η, 2/‖x‖²) is less than the lesser of the two means.
    """
    rows = deviations(table)
    kink = (rows["learning_rate"] * rows["gamma"] / 2).between(1 / KINK, KINK)
    far = rows[~kink]["deviation"].abs() <= CONSISTENT
    return float(far.mean()), float((rows[kink]["risk_mean"] / rows[kink]["ode_risk"] - 1).abs().max())


def draw_valley(valley: pd.DataFrame) -> Plate:
    """Left: cη̃(0) in the valley over ln(1/γ) against c. Right: what each c costs at its best learning rate."""
    rho = valley["rho"].min()
    table = select(valley, rho=rho)
    gammas = sorted(table["gamma"].unique(), reverse=True)[1:]
    gammas = gammas[:: max(1, len(gammas) // 2)][:3]
    with figures.panels(2, ends=False, figsize=(7.8, 3.9)) as (figure, (left, right)):
        for alpha, line in zip(ALPHAS, ("-", "--"), strict=True):
            for gamma, look in figures.looks(gammas).items():
                rows = select(table, alpha=alpha, gamma=gamma)
                free = _free(rows)
                told = {"label": f"$\\alpha = {alpha:g}$, $\\gamma = {plain(gamma)}$", "ls": line, "ms": 3, **look}
                left.plot(free["clip"], free["product"] / free["line"], **told)
                right.plot(rows["clip"], rows["risk"] / rows["risk"].min(), **told)
        left.axhline(1.0, **LINES)
        figures.log_axes(left, "$c$", r"$c\tilde\eta(0)/\ln(1/\gamma)$ in the valley")
        figures.log_axes(right, "$c$", "risk over the least of all $c$")
        right.set_ylim(0.9, 100)
        right.axvline(1.0, **LINES)
        figure.legend(*left.get_legend_handles_labels(), ncols=3, loc="outside lower center")
    return Plate(
        figure,
        caption=(
            f"**The valley, by the equivalent,** $\\rho = {rho:g}$. Left: the product along it; dashed red is the "
            f"paper's line. {_valley_words(table)} Right: what each $c$ costs at its own best "
            r"$\tilde\eta(0) \le 2/\gamma$. Deterministic, no error."
        ),
    )


def _free(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the valley that the largest learning rate does not cut."""
    return rows[rows["learning_rate"] < WITHIN * 2 / rows["gamma"]]


def _valley_words(table: pd.DataFrame) -> str:
    """Where the valley lies for small c, by schedule, and the best c."""
    texts = []
    for alpha, group in table.groupby("alpha"):
        free = _free(group[group["clip"] <= USUAL])
        best = group.loc[group.groupby("gamma")["risk"].idxmin(), "clip"]
        shares = free["product"] / free["line"]
        texts.append(f"{NAMES[float(alpha)]}, {span(shares)} of the line, the best c {span(best)}")
    return f"Over all aspect ratios: {'; '.join(texts)}."


def draw_advice(valley: pd.DataFrame) -> Plate:
    """What the paper's choice with constant 1, the rule, and c alone cost against the least risk, by γ."""
    table = advice(valley)
    choices = {
        "line": r"$c\tilde\eta(0) = \ln(1/\gamma)$",
        "one": "best rate, $c = 1$",
        "usual": f"best rate, $c = {USUAL:g}$",
        "rule": "the rule",
    }
    with figures.style():
        figure, panels = plt.subplots(2, 2, figsize=(7.8, 6.2), sharex=True, sharey=True)
        places = itertools.product(sorted(table["rho"].unique())[:2], ALPHAS)
        for axes, (rho, alpha) in zip(panels.ravel(), places):
            rows = select(table, rho=rho, alpha=alpha)
            for name, look in figures.looks(choices).items():
                axes.plot(rows["gamma"], rows[name], label=choices[name], ms=4, **look)
            figures.log_axes(axes, r"$\gamma$", "risk over the least")
            axes.set_title(f"$\\alpha = {alpha:g}$, $\\rho = {rho:g}$")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), ncols=4, loc="outside lower center")
    small = table[table["gamma"] < FEW]
    return Plate(
        figure,
        caption=(
            "**What advice costs.** Risk over the least of all $(c, \\tilde\\eta(0))$. At "
            f"$\\gamma < {FEW:g}$: the printed product with constant 1 at $c = {USUAL:g}$ costs {span(small['line'])}, "
            f"$c = 1$ with its best rate {span(small['one'])}, $c = {USUAL:g}$ with its best rate "
            f"{span(small['usual'])}, and with the rule of the text {span(small['rule'])}. Deterministic, no error."
        ),
    )
