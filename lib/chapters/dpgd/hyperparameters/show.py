"""How should the clipping constant and the learning rate be set, and what does the paper's advice cost or gain?"""

import itertools
import math
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from chapters.dpgd.heat import LINES, dots, heat, papers_lines
from chapters.dpgd.hyperparameters.judge import CAP, WITHIN, crossing, deviations, excess, valleys
from chapters.dpgd.hyperparameters.measure import ALPHAS, NAMES
from companion.judging import growth, words
from companion.judging.cards import tally
from companion.judging.judges import judges_of
from companion.judging.prose import listed, percent, plain, span, times
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT, ROUNDING
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import described

# ---- Short tables ----

FEW = 0.05  # aspect ratios below it are those at which learning pays for every ρ that was tried
USUAL = 0.1  # c of the paper's Figure 7


def advice(valley: pd.DataFrame) -> pd.DataFrame:
    """For each problem what several choices cost, over the least risk of all c and η̃(0)."""
    keys = ["rho", "alpha", "gamma"]
    rows = []
    for place, group in valley.groupby(keys):
        best = group.loc[group["risk"].idxmin()]
        usual, one = (group.loc[(group["clip"] - clip).abs().idxmin()] for clip in (USUAL, 1))
        costs = {"line": usual["line_risk"], "rule": usual["rule_risk"], "usual": usual["risk"], "one": one["risk"]}
        rows.append(
            dict(zip(keys, place, strict=True))
            | {"clip": best["clip"], "product": best["product"], "best": best["risk"]}
            | {"share": best["product"] / best["line"]}
            | {name: risk / best["risk"] for name, risk in costs.items()}
        )
    return pd.DataFrame(rows).sort_values(keys, ascending=[True, True, False])


def show_advice(valley: pd.DataFrame) -> pd.DataFrame:
    """The best choice by γ, and what three others cost."""
    names = {
        "rho": "ρ",
        "alpha": "α",
        "gamma": "γ",
        "clip": "best c",
        "product": "best c·η̃(0)",
        "share": "over ln(1/γ)",
        "best": "least risk",
        "usual": f"cost of c = {USUAL:g}",
        "line": "cost of c·η̃(0) = ln(1/γ)",
        "rule": "cost of the rule",
    }
    return advice(valley)[list(names)].map(plain).rename(columns=names).set_index(["ρ", "α", "γ"])


def show_steps(steps: pd.DataFrame) -> pd.DataFrame:
    """Each step of the proofs: in how many cases it stands as printed, and once corrected."""
    found: dict[str, dict[str, Any]] = {}
    for (step, reading), rows in steps.groupby(["step", "reading"], sort=False):
        shares = excess(rows)
        missed = int((shares > ROUNDING).sum())
        cell = {"cases": len(rows), "missed as printed": 0, "worst miss": "–", "missed once corrected": "–"}
        row = found.setdefault(f"({step})", cell)
        if reading == "printed":
            row["missed as printed"] = missed
            row["worst miss"] = percent(float(shares.max())) if missed else "–"
        else:
            row["missed once corrected"] = str(missed)
    return pd.DataFrame(found).T.rename_axis("step")


def show_reduced(reduced: pd.DataFrame) -> pd.DataFrame:
    """The constant with which (5.13) encloses the risk, at the largest and the smallest γ."""
    ends = {gamma: f"γ = {plain(gamma)}" for gamma in (reduced["gamma"].max(), reduced["gamma"].min())}
    rows = reduced[reduced["gamma"].isin(list(ends))]
    table = rows.pivot(index=["alpha", "clip_rule", "rho_rule"], columns=["reach", "gamma"], values="stretch")
    table = table.map(plain)[[(reach, gamma) for reach in rows["reach"].unique() for gamma in ends]]
    table.columns = [f"η̃(0) up to {reach}, {ends[gamma]}" for reach, gamma in table.columns]
    return table.rename_axis(index=["α", "c", "ρ"]).rename(index={0.0: "0", 0.5: "½"}, level=0)


# ---- Figures: maps, their valley and advice ----


def draw_figure_4(table: pd.DataFrame) -> Plate:
    """The simulated maps of Figure 4 with the paper's lines, their valleys and the edge of the divergent corner."""
    found = valleys(table)
    with figures.style():
        figure, panels = plt.subplots(2, 2, figsize=(7.8, 6.6), sharey=True)
        for axes, valley in zip(panels.T.ravel() if len(found) == 4 else panels.ravel(), found):
            panel = select(table, gamma=valley.gamma, alpha=valley.alpha)
            image = _map(axes, panel, "risk_mean")
            axes.set_title(f"$\\alpha = {valley.alpha:g}$, $\\gamma = {valley.gamma:g}$")
            papers_lines(axes, valley.gamma)
            grid = _grid(panel, "ode_risk").clip(upper=10 * CAP)
            edge = {"levels": [CAP], "colors": "white", "linewidths": 1.2}
            axes.contour(np.log10(grid.columns), np.log10(grid.index), grid, **edge)
            dots(axes, valley.rate, valley.clip)
        figure.colorbar(image, ax=panels, label=r"$\mathcal{R}(\theta^p)$ (units of $y^2$), capped", shrink=0.7)
    judge = judges_of(__package__)["dpgd/figure-4"]
    trials, error = int(table["trials"].min()), float(np.median([np.median(v.error / v.risk) for v in found]))
    places = [
        f"γ = {plain(valley.gamma)}, α = {plain(valley.alpha)}: least risk at c = "
        f"{plain(valley.clip[valley.risk.argmin()])}, valley at {plain(valley.product / math.log(1 / valley.gamma))} "
        f"of the drawn product, slope {plain(valley.slope)}."
        for valley in found
    ]
    return Plate(
        figure,
        caption=(
            f"**Figure 4, re-computed.** Mean released risk of {trials} runs; dashed red: $c = 1$, "
            r"$\tilde\eta(0) = 2/\gamma$, $c\tilde\eta(0) = \ln(1/\gamma)$. Points: the least risk of each row; "
            f"white line: where the risk is {CAP:g}, the edge of the divergent corner. The relative standard error is "
            f"{percent(error)} in the median. {words.headline(judge, {'figure-4': table})}"
        ),
        alt=f"{described(figure)} {' '.join(places)}",
    )


def _map(axes: Axes, panel: pd.DataFrame, column: str) -> AxesImage:
    return heat(axes, _grid(panel, column).clip(upper=CAP), 0.0, CAP)


def _grid(panel: pd.DataFrame, column: str) -> pd.DataFrame:
    return panel.pivot(index="clip", columns="learning_rate", values=column)


def draw_difference(table: pd.DataFrame) -> Plate:
    """Beside each map of the ODE the simulated means' distance from it in standard errors."""
    told = table.assign(apart=deviations(table)["deviation"])
    places = list(told.groupby(["gamma", "alpha"]))
    with figures.style():
        figure, panels = plt.subplots(len(places), 2, figsize=(7.8, 2.9 * len(places)), squeeze=False)
        for (left, right), ((gamma, alpha), panel) in zip(panels, places, strict=True):
            _map(left, panel, "ode_risk")
            papers_lines(left, gamma)
            for axes in (left, right):
                axes.set_title(f"$\\alpha = {alpha:g}$, $\\gamma = {gamma:g}$")
            gap = heat(right, _grid(panel, "apart"), -CONSISTENT, CONSISTENT, "RdBu_r")
        figure.colorbar(gap, ax=panels, label="right: simulated − ODE (standard errors)", shrink=0.5)
    rows = deviations(table)
    # Where η̃(0) is about 2/γ, E min(η, 2/‖x‖²) is less than the lesser of the two means.
    beside = (rows["learning_rate"] * rows["gamma"] / 2).between(1 / 1.5, 1.5)
    share = float((rows[~beside]["deviation"].abs() <= CONSISTENT).mean())
    kink = float((rows[beside]["risk_mean"] / rows[beside]["ode_risk"] - 1).abs().max())
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
    texts = []
    for alpha, group in table.groupby("alpha"):
        free = _free(group[group["clip"] <= USUAL])
        best = group.loc[group.groupby("gamma")["risk"].idxmin(), "clip"]
        shares = free["product"] / free["line"]
        texts.append(f"{NAMES[float(alpha)]}, {span(shares)} of the line, the best c {span(best)}")
    return Plate(
        figure,
        caption=(
            f"**The valley, by the equivalent,** $\\rho = {rho:g}$. Left: the product along it; dashed red is the "
            f"paper's line. Over all aspect ratios: {'; '.join(texts)}. Right: what each $c$ costs at its own best "
            r"$\tilde\eta(0) \le 2/\gamma$. Deterministic, no error."
        ),
    )


def _free(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the valley that the largest learning rate does not cut."""
    return rows[rows["learning_rate"] < WITHIN * 2 / rows["gamma"]]


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


# ---- Figures: rates ----

MAIN, FALLING = "isotropic, ρ = 0.1", "λ_min = γ^¼, ρ = 0.1"
SIDES = {
    "upper": "(D.24),\n(D.50)",
    "proven_risk": "the choice\n(D.23)",
    "best_risk": "best choice",
    "lower": "(D.25),\n(D.51)",
}


def draw_rates(rates: pd.DataFrame) -> Plate:
    """Left: the least risk over γ + γ²/ρ² with its leading order. Right: λ_min falling, between both bounds."""
    falling = select(rates, axis=FALLING, alpha=0.0)
    with figures.panels(2, figsize=(9.2, 4.3)) as (figure, (left, right)):
        for alpha, look in figures.looks(ALPHAS).items():
            rows = select(rates, axis=MAIN, alpha=alpha)
            rate = rows["gamma"] + (rows["gamma"] / rows["rho"]) ** 2
            left.plot(rows["gamma"], rows["best_risk"] / rate, ls="-", label=f"$\\alpha = {alpha:g}$", **look)
            left.plot(rows["gamma"], rows["leading"] / rate, ls="--", color=look["color"], lw=1)
        for name, look in figures.looks(SIDES).items():
            right.plot(falling["gamma"], falling[name] / falling["gamma"], ls="-", label=SIDES[name], **look)
        figures.log_axes(left, r"$\gamma$", r"risk over $\gamma + \gamma^2/\rho^2$")
        figures.log_axes(right, r"$\gamma$", r"over $\gamma$")
        left.set_title("isotropic, fixed $\\rho$")
        right.set_title(r"$\lambda_{\min} = \gamma^{1/4}$, $\alpha = 0$")
        for axes in (left, right):
            axes.invert_xaxis()
    slopes = {}
    for alpha in ALPHAS:
        last = select(rates, axis=MAIN, alpha=alpha).sort_values("inverse").tail(growth.LAST)
        logs = np.log(np.log(last["inverse"].to_numpy()))
        slopes[alpha] = float(np.polyfit(logs, np.log((last["best_risk"] / last["gamma"]).to_numpy()), 1)[0])
    powers = listed(rf"$\ln^{{{slope:.2f}}}(1/\gamma)$ ($\alpha = {alpha:g}$)" for alpha, slope in slopes.items())
    loose = growth.power(falling, "least", "upper", "best_risk", last=4)
    return Plate(
        figure,
        caption=(
            "**Measured rates.** Left: the least risk over all $c$ and $\\tilde\\eta(0)$; dashed: its leading order "
            f"with the constant derived here. Over the last three $\\gamma$ it goes like {powers}; the claimed powers "
            "are 1 and 2/3. Right: with a falling $\\lambda_{\\min}$ the upper bound goes like the least risk times "
            f"$\\lambda_{{\\min}}^{{{loose:.2f}}}$. Deterministic, no error."
        ),
    )


def draw_comparison(table: pd.DataFrame) -> Plate:
    """The risk of constant noise over that of output perturbation, each at its best, by γ and ρ."""
    rhos = sorted(table["rho"].unique())
    chosen = [rhos[0], *rhos[1::2]][:4]
    with figures.panels(figsize=(6.4, 3.8)) as (figure, (axes,)):
        for rho, look in figures.looks(chosen).items():
            rows = select(table, rho=rho).sort_values("gamma", ascending=False)
            axes.plot(rows["gamma"], rows["ratio"], label=f"$\\rho = {plain(rho)}$", **look)
        axes.axhline(1.0, color="0.5", lw=0.8)
        axes.set(xscale="log", xlabel=r"$\gamma$", ylabel="constant noise over output perturbation")
        axes.invert_xaxis()
    told = listed(f"{plain(value)} at ρ = {plain(rho)}" for rho, value in crossing(table).items())
    last = select(table, gamma=table["gamma"].min())["ratio"]
    return Plate(
        figure,
        caption=(
            "**Which schedule wins.** Least risk over $c$ and $\\tilde\\eta(0)$ with constant noise, over the same "
            f"with output perturbation. Constant noise wins below $\\gamma$ of {told}. At the smallest $\\gamma$ the "
            f"ratio is {span(last)}. Deterministic, no error."
        ),
    )


def answer(tables: Tables) -> list[str]:
    """What the chapter found, and what its page shows."""
    rows = advice(tables["valley"])
    small = rows[rows["gamma"] < FEW]
    verdicts = [judge(tables).verdict for judge in judges_of(__package__).values()]
    return [
        f"Clip at $c = {USUAL:g}$, below the label noise, and divide the learning rate by $c$. At small $\\gamma$ the "
        f"best one then has at most {times(small['usual'].max())} the least risk.",
        rf"The printed $c\tilde\eta(0) = \ln(1/\gamma)$ has {span(small['line'])} times the least risk.",
        f"Our rule, which adds the constant, has {span(small['rule'])} times the least.",
        r"We derive the best of both at given $\gamma$ and $\rho$, and try them by hand.",
        f"Of {len(verdicts)} claims, {tally(verdicts)}.",
    ]
