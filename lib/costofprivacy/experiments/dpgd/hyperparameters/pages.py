"""The answer, figures and short tables for the page on the hyper-parameters of arXiv:2505.16329v2."""

from __future__ import annotations

import math
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from costofprivacy.experiments.dpgd.hyperparameters.pages_rates import (
    draw_comparison,
    draw_rates,
    show_reduced,
    show_steps,
)
from costofprivacy.experiments.dpgd.hyperparameters.problem import ALPHAS, NAMES
from costofprivacy.experiments.dpgd.hyperparameters.verdicts_maps import Valley, deviations, figure_4, valleys
from costofprivacy.judging import words
from costofprivacy.judging.cards import tally
from costofprivacy.judging.judges import judges_of
from costofprivacy.judging.prose import listed, percent, plain, span
from costofprivacy.judging.tables import Tables, select
from costofprivacy.judging.vocabulary import CONSISTENT
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

__all__ = [
    "agreement",
    "answer",
    "draw_advice",
    "draw_comparison",
    "draw_difference",
    "draw_figure_4",
    "draw_rates",
    "draw_valley",
    "show_advice",
    "show_reduced",
    "show_steps",
]
CAP = 1.0  # of the figure
FINE = 6  # pixels of a cell: a heat map is a small picture
KINK = 1.5  # a learning rate within this factor of 2/γ is beside the kink of min(η̃, 2/γ)
FEW = 0.05  # aspect ratios below it are those at which learning pays for every ρ that was tried
USUAL = 0.1  # c of the paper's Figure 7
LINES: dict[str, Any] = {"color": "#d62728", "ls": "--", "lw": 1}


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    rows = advice(tables["valley"])
    small = rows[rows["gamma"] < FEW]
    verdicts = [judge(tables).verdict for judge in judges_of(__package__).values()]
    return (
        f"Clip at $c = {USUAL:g}$, the learning rate divided by it. The printed "
        r"$c\tilde\eta(0) = \ln(1/\gamma)$ has the right order, but with constant 1 costs "
        f"{span(small['line'])} times the least risk where $\\gamma < {FEW:g}$; a rule with the right factor "
        f"{span(small['rule'])}. Of {len(verdicts)} claims, {tally(verdicts)}."
    )


def advice(valley: pd.DataFrame) -> pd.DataFrame:
    """For each problem what several choices cost, over the least risk of all c and η̃(0)."""
    rows = []
    for (rho, alpha, gamma), group in valley.groupby(["rho", "alpha", "gamma"]):
        best = group.loc[group["risk"].idxmin()]
        usual = group.loc[(group["clip"] - USUAL).abs().idxmin()]
        one = group.loc[(group["clip"] - 1).abs().idxmin()]
        place = {"rho": rho, "alpha": alpha, "gamma": gamma, "clip": best["clip"], "product": best["product"]}
        costs = {"line": usual["line_risk"], "rule": usual["rule_risk"], "usual": usual["risk"], "one": one["risk"]}
        rows.append(
            place | {"best": best["risk"], "share": best["product"] / best["line"]}
            | {name: risk / best["risk"] for name, risk in costs.items()}
        )  # fmt: skip
    return pd.DataFrame(rows).sort_values(["rho", "alpha", "gamma"], ascending=[True, True, False])


# ------------------------------------------------------------------------------------------------------- Figure 4


def draw_figure_4(table: pd.DataFrame) -> Plate:
    """The simulated maps of Figure 4 with the paper's lines, their valleys and the edge of the divergent corner."""
    found = valleys(table)
    with figures.style():
        figure, panels = plt.subplots(2, 2, figsize=(7.8, 6.6), sharey=True)
        for axes, valley in zip(panels.T.ravel() if len(found) == 4 else panels.ravel(), found):
            panel = select(table, gamma=valley.gamma, alpha=valley.alpha)
            image = _heat(axes, panel, panel["risk_mean"].clip(upper=CAP), 0.0, CAP, "viridis")
            _lines(axes, valley.gamma)
            _edge(axes, panel)
            axes.plot(np.log10(valley.rate), np.log10(valley.clip), ".", color="white", ms=4)
            axes.set_title(f"$\\alpha = {valley.alpha:g}$, $\\gamma = {valley.gamma:g}$")
        figure.colorbar(image, ax=panels, label=r"$\mathcal{R}(\theta^p)$ (units of $y^2$), capped", shrink=0.7)
    trials = int(table["trials"].min())
    return Plate(
        figure,
        caption=(
            f"**Figure 4, re-computed.** Mean released risk of {trials} runs; dashed red: $c = 1$, "
            r"$\tilde\eta(0) = 2/\gamma$, $c\tilde\eta(0) = \ln(1/\gamma)$. Points: the least risk of each row; "
            f"white line: where the risk is {CAP:g}, the edge of the divergent corner. The relative standard error is "
            f"{percent(_typical_error(table))} in the median. {words.headline(figure_4, {'figure-4': table})}"
        ),
        alt=_maps_alt(found),
    )


def _typical_error(table: pd.DataFrame) -> float:
    """The median relative standard error of the means in the valleys."""
    return float(np.median([np.median(valley.error / valley.risk) for valley in valleys(table)]))


def _maps_alt(found: list[Valley]) -> str:
    texts = []
    for v in found:
        share, best = plain(v.product / math.log(1 / v.gamma)), v.risk.argmin()
        texts.append(
            f"{NAMES[v.alpha]}, gamma {plain(v.gamma)}: least risk {plain(v.risk[best])} at c {plain(v.clip[best])}, "
            f"valley at {share} of the drawn product, slope {plain(v.slope)}"
        )
    return f"Heat maps. {'; '.join(texts)}."


def _heat(axes: Axes, panel: pd.DataFrame, values: pd.Series, low: float, high: float, colours: str) -> AxesImage:
    """A map even in the logarithms of both parameters, as a picture with sharp cells."""
    grid = panel.assign(shown=values).pivot(index="clip", columns="learning_rate", values="shown")
    x, y = np.log10(grid.columns.to_numpy(float)), np.log10(grid.index.to_numpy(float))
    half_x, half_y = (x[1] - x[0]) / 2, (y[1] - y[0]) / 2
    place = (x[0] - half_x, x[-1] + half_x, y[0] - half_y, y[-1] + half_y)
    fine = np.kron(grid.to_numpy(), np.ones((FINE, FINE)))
    image = axes.imshow(
        fine, origin="lower", extent=place, aspect="auto", vmin=low, vmax=high, cmap=colours, interpolation="none"
    )
    axes.grid(False)
    for axis, ends in ((axes.xaxis, place[:2]), (axes.yaxis, place[2:])):
        whole = np.arange(math.ceil(ends[0]), math.floor(ends[1]) + 1)
        axis.set_ticks(whole, [f"$10^{{{k}}}$" for k in whole])
    axes.set(xlabel=r"$\tilde\eta(0)$", ylabel="$c$", xlim=place[:2], ylim=place[2:])
    return image


def _lines(axes: Axes, gamma: float) -> None:
    axes.axhline(0.0, **LINES)
    axes.axvline(math.log10(2 / gamma), **LINES)
    x, height = np.array(axes.get_xlim()), math.log10(math.log(1 / gamma))
    axes.plot(x, height - x, **LINES)


def _edge(axes: Axes, panel: pd.DataFrame) -> None:
    """Where the ODE's risk passes the figure's cap."""
    grid = panel.pivot(index="clip", columns="learning_rate", values="ode_risk")
    x, y = np.log10(grid.columns.to_numpy(float)), np.log10(grid.index.to_numpy(float))
    axes.contour(x, y, np.minimum(grid.to_numpy(), 10 * CAP), levels=[CAP], colors="white", linewidths=1.2)


def draw_difference(table: pd.DataFrame) -> Plate:
    """Beside each map of the ODE the simulated means' distance from it in standard errors."""
    rows = deviations(table)
    places = [(float(g), float(a)) for (g, a), _ in table.groupby(["gamma", "alpha"])]
    with figures.style():
        figure, panels = plt.subplots(len(places), 2, figsize=(7.8, 2.9 * len(places)))
        for (left, right), (gamma, alpha) in zip(np.atleast_2d(panels), places):
            panel, apart = (select(each, gamma=gamma, alpha=alpha) for each in (table, rows))
            _heat(left, panel, panel["ode_risk"].clip(upper=CAP), 0.0, CAP, "viridis")
            whole = panel.assign(apart=apart["deviation"])
            gap = _heat(right, whole, whole["apart"], -CONSISTENT, CONSISTENT, "RdBu_r")
            _lines(left, gamma)
            for axes in (left, right):
                axes.set_title(f"$\\alpha = {alpha:g}$, $\\gamma = {gamma:g}$")
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
            "their data: they err together."
        ),
        alt=(
            f"Share of points within {CONSISTENT:g} standard errors: {percent(share)}; largest deviation beside the "
            f"kink {percent(kink)} of the risk."
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


# ------------------------------------------------------------------------------------------- the valley and advice


def draw_valley(valley: pd.DataFrame) -> Plate:
    """Left: cη̃(0) in the valley over ln(1/γ) against c. Right: what each c costs at its best learning rate."""
    rho = valley["rho"].min()
    gammas = sorted(select(valley, rho=rho)["gamma"].unique(), reverse=True)[1:]
    gammas = gammas[:: max(1, len(gammas) // 2)][:3]
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(7.8, 3.9))
        looks = figures.looks(gammas)
        for alpha, line in zip(ALPHAS, ("-", "--")):
            for gamma in gammas:
                rows = select(valley, rho=rho, alpha=alpha, gamma=gamma)
                free = rows[rows["learning_rate"] < 0.9 * 2 / gamma]
                told = {"ls": line, "ms": 3, **looks[gamma]}
                label = f"$\\alpha = {alpha:g}$, $\\gamma = {plain(gamma)}$"
                panels[0].plot(free["clip"], free["product"] / free["line"], label=label, **told)
                panels[1].plot(rows["clip"], rows["risk"] / rows["risk"].min(), **told)
        panels[0].axhline(1.0, **LINES)
        figures.log_axes(panels[0], "$c$", r"$c\tilde\eta(0)/\ln(1/\gamma)$ in the valley")
        figures.log_axes(panels[1], "$c$", "risk over the least of all $c$")
        panels[1].set_ylim(0.9, 100)
        panels[1].axvline(1.0, **LINES)
        figure.legend(*panels[0].get_legend_handles_labels(), ncols=3, loc="outside lower center")
    where = _valley_words(select(valley, rho=rho))
    return Plate(
        figure,
        caption=(
            f"**The valley, by the equivalent,** $\\rho = {rho:g}$. Left: the product along it; dashed red is the "
            f"paper's line. {where} Right: what each $c$ costs at its own best "
            r"$\tilde\eta(0) \le 2/\gamma$. Deterministic, no error."
        ),
        alt=f"For rho {plain(rho)}. {where}",
    )


def _valley_words(rows: pd.DataFrame) -> str:
    """Where the valley lies for small c, by schedule, and the best c."""
    texts = []
    for alpha, group in rows.groupby("alpha"):
        free = group[(group["clip"] <= USUAL) & (group["learning_rate"] < 0.9 * 2 / group["gamma"])]
        shares = free["product"] / free["line"]
        best = group.loc[group.groupby("gamma")["risk"].idxmin(), "clip"]
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
    rhos = sorted(table["rho"].unique())
    with figures.style():
        figure, panels = plt.subplots(2, 2, figsize=(7.8, 6.2), sharex=True, sharey=True)
        for row, rho in zip(panels, rhos):
            for axes, alpha in zip(row, ALPHAS):
                rows = select(table, rho=rho, alpha=alpha)
                for (name, look), label in zip(figures.looks(choices).items(), choices.values()):
                    axes.plot(rows["gamma"], rows[str(name)], label=label, ms=4, **look)
                figures.log_axes(axes, r"$\gamma$", "risk over the least")
                axes.set_title(f"$\\alpha = {alpha:g}$, $\\rho = {rho:g}$")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), ncols=4, loc="outside lower center")
    worst = {name: (table[name].max(), table.loc[table[name].idxmax(), "gamma"]) for name in choices}
    small = table[table["gamma"] < FEW]
    return Plate(
        figure,
        caption=(
            "**What advice costs.** Risk over the least of all $(c, \\tilde\\eta(0))$. At "
            f"$\\gamma < {FEW:g}$: the printed product with constant 1 at $c = {USUAL:g}$ costs {span(small['line'])}, "
            f"$c = 1$ with its best rate {span(small['one'])}, $c = {USUAL:g}$ with its best rate "
            f"{span(small['usual'])}, and with the rule of the text {span(small['rule'])}. Deterministic, no error."
        ),
        alt="Largest cost over all problems: "
        + listed(f"{name} {plain(value)} at gamma {plain(gamma)}" for name, (value, gamma) in worst.items())
        + ".",
    )


def show_advice(valley: pd.DataFrame) -> pd.DataFrame:
    """The best choice by γ, and what three others cost."""
    names = {
        "clip": "best c",
        "product": "best c·η̃(0)",
        "share": "over ln(1/γ)",
        "best": "least risk",
        "usual": f"cost of c = {USUAL:g}",
        "line": "cost of c·η̃(0) = ln(1/γ)",
        "rule": "cost of the rule",
    }
    table = advice(valley)
    shown = table[["rho", "alpha", "gamma", *names]].map(plain)
    shown.columns = ["ρ", "α", "γ", *names.values()]
    return shown.set_index(["ρ", "α", "γ"])
