"""Figures on the rates, for the page on the hyper-parameters of arXiv:2505.16329v2."""

import numpy as np
import pandas as pd

from chapters.dpgd.hyperparameters.problem import ALPHAS
from chapters.dpgd.hyperparameters.verdicts import crossing
from companion.judging import growth
from companion.judging.prose import listed, plain, span
from companion.judging.tables import select
from companion.showing import figures
from companion.showing.plates import Plate

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
    slopes = {alpha: log_slope(select(rates, axis=MAIN, alpha=alpha)) for alpha in ALPHAS}
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


def log_slope(rows: pd.DataFrame) -> float:
    """The power of ln(1/γ) in the least risk over γ, over the three smallest γ."""
    last = rows.sort_values("inverse").tail(growth.LAST)
    logs = np.log(np.log(last["inverse"].to_numpy()))
    return float(np.polyfit(logs, np.log((last["best_risk"] / last["gamma"]).to_numpy()), 1)[0])


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
