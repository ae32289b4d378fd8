"""Figures and short tables for the page on Algorithm 1 of arXiv:2505.16329v2."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from costofprivacy import figures
from costofprivacy.experiments.dpgd.algorithm.models import ISOTROPIC
from costofprivacy.experiments.dpgd.algorithm.rates import ALGORITHMS, BOUNDS, DESCENT, ZERO
from costofprivacy.plates import Plate


def show_schedules(schedules: pd.DataFrame) -> pd.DataFrame:
    """What (4.1) and (4.2) give for each schedule, for the page."""
    columns = {
        "rho_recomputed": "ρ recomputed",
        "share_last": "share of noise in the last step",
        "least_total": "least other total",
        "least_tail": "least other, any step on",
        "last_step_total": "all in last step, total",
        "rho_every": "ρ if all iterates are released",
    }
    return schedules.set_index("schedule")[list(columns)].rename(columns=columns).T.map("{:.5g}".format)


def show_outputs(outputs: pd.DataFrame) -> pd.DataFrame:
    """What neighbouring outputs spend, as a share of αρ²/2, by schedule and replaced record."""
    return outputs.pivot_table(index=["schedule", "others"], columns="k", values="renyi_share", sort=False).map(
        lambda v: f"{max(v, 0):.3f}"
    )


def show_tightness(tightness: pd.DataFrame) -> pd.DataFrame:
    """How much of ρ neighbours reach, by placement of the noise, with the share of the noise that is left."""
    columns = {
        "step": "step that attains (4.1)",
        "noise_left": "noise still to come there",
        "reached_silent": "reached, others silent",
        "reached_found": "most found",
    }
    return tightness.set_index(["schedule", "placement", "rho"])[list(columns)].rename(columns=columns).round(3)


def show_placement(placement: pd.DataFrame) -> pd.DataFrame:
    """Risks by schedule and placement of the noise, with the excess over (4.2) on the same records."""
    shown = placement.assign(
        risk=placement["excess_risk"].map("{:.3f}".format) + " ± " + placement["standard_error"].map("{:.3f}".format)
    )
    return shown.pivot(index="schedule", columns="placement", values="risk").loc[
        placement["schedule"].unique(), placement["placement"].unique()
    ]


def show_conversions(conversions: pd.DataFrame) -> pd.DataFrame:
    """ε by four routes at the middle δ, for the page."""
    middle = sorted(conversions["delta"].unique())[conversions["delta"].nunique() // 2]
    columns = ["proposition_a3", "equation_a3", "renyi", "exact", "condition"]
    rows = conversions[conversions["delta"] == middle].set_index("rho")[columns]
    return rows.map(lambda v: f"{v:.3f}" if isinstance(v, float) else v)


def show_along_gamma(rates: pd.DataFrame) -> pd.DataFrame:
    """Mean risk with its standard error, and its share of the limit, by γ, covariance and ρ."""
    rows = rates[rates["axis"] == "gamma"]
    text = _with_error(rows) + " (" + (rows["excess_risk"] / rows["limit"]).map("{:.2f}".format) + ")"
    wide = rows.assign(text=text).pivot(index=["spectrum", "gamma"], columns="rho", values="text")
    return wide.sort_index(ascending=False).loc[list(rows["spectrum"].unique())]


def show_along_n(rates: pd.DataFrame) -> pd.DataFrame:
    """Mean risk with its standard error for Σ = I, by n and way of clipping, beside (1.2) to (1.4)."""
    rows = rates[(rates["axis"] == "n") & (rates["spectrum"] == ISOTROPIC)]
    wide = rows.assign(text=_with_error(rows)).pivot(index=["n", "d"], columns="algorithm", values="text")
    bounds = rows.drop_duplicates("n").set_index(["n", "d"])[["rate_1.2", "rate_1.3", "rate_1.4"]]
    return wide.join(bounds.rename(columns=lambda c: f"({c.removeprefix('rate_')})").map("{:.3g}".format))


def show_growth(rates: pd.DataFrame) -> pd.DataFrame:
    """Factors from the least to the largest n, Σ = I: of the risk for both ways of clipping, of log n, of (1.3)."""
    rows = rates[(rates["axis"] == "n") & (rates["spectrum"] == ISOTROPIC)].sort_values("n")
    ends = rows.groupby("algorithm", sort=False).agg(["first", "last"])
    factors = {f"risk, {name}": ends.loc[name, "excess_risk"] for name in ALGORITHMS}
    factors |= {
        "log n": np.log(ends.loc[ALGORITHMS[0], "n"].astype(float)),
        "(1.3)": ends.loc[ALGORITHMS[0], "rate_1.3"],
    }
    growth = pd.Series({name: pair["last"] / pair["first"] for name, pair in factors.items()})
    return growth.map("{:.3g}".format).to_frame("factor, least to largest n")


def show_translation(translation: pd.DataFrame) -> pd.DataFrame:
    """ε at δ = 1/n², and its square over ρ² log n, by n."""
    shown = translation.assign(n=translation["n"].map("{:.0e}".format)).set_index("n").round(3)
    return shown.rename(columns={"epsilon": "ε at δ = 1/n²", "ratio": "ε² / (ρ² log n)"})


def draw_lower_bounds(bounds: pd.DataFrame) -> Plate:
    """Least known risk of a private predictor over (1.2) and (1.5): along γ, along both, and along ρ."""
    labels = {"gamma": r"$\gamma$, at $\rho = 1$", "both": r"$\gamma = \rho^2$", "rho": r"$\rho$, at $\gamma = 0.01$"}
    with figures.style():
        figure, panels = plt.subplots(1, len(labels), figsize=(4.2 * len(labels), 4.0), sharey=True)
        for axes, (axis, label) in zip(panels, labels.items()):
            for claim, look in zip(BOUNDS, figures.looks(BOUNDS).values()):
                rows = bounds[(bounds["axis"] == axis) & (bounds["claim"] == claim)]
                across = "rho" if axis == "rho" else "gamma"
                axes.plot(rows[across], rows["ratio"], color=look["color"], lw=1)
                for name, filled in ((DESCENT, look["color"]), (ZERO, "none")):
                    own = rows[rows["predictor"] == name]
                    axes.plot(own[across], own["ratio"], ls="", marker=look["marker"], color=look["color"], mfc=filled,
                              label=f"{name} over {claim}")  # fmt: skip
            figures.log_axes(axes, label, "")
            axes.invert_xaxis()
        panels[0].set_ylabel("least known risk / bound")
        panels[-1].legend(fontsize=8, loc="lower left")
        return Plate(
            figure,
            caption=(
                "**The least known risk of a private predictor over the lower bounds (1.2) and (1.5)**, hidden "
                r"constant one, $\Sigma = I$, exact limits. Where the privacy term stays bounded (left, middle) "
                r"the ratio comes to rest. Where it does not (right: ever stricter privacy at fixed $\gamma$), "
                "the predictor 0, drawn hollow, falls below every multiple of both."
            ),
            alt=(
                "Three log-log panels of risk over bound: along gamma and along gamma equal to rho squared the "
                "curves become level, along rho they fall steeply once the predictor 0 is the best."
            ),
        )


def _with_error(rows: pd.DataFrame) -> pd.Series:
    return rows["excess_risk"].map("{:.3g}".format) + " ± " + rows["standard_error"].map("{:.1g}".format)


def draw_expansion(expansion: pd.DataFrame) -> Plate:
    """By how much a step stretches a distance, against η‖x‖²."""
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.2, 4.0))
        look = figures.looks(("bare", "shortened"))
        axes.plot(
            expansion["product"], expansion["exact"], "--", color="0.35", lw=1, label=r"$\max(1, |1 - \eta\|x\|^2|)$"
        )
        for name, label in (("bare", r"rate $\eta$"), ("shortened", r"rate $\min(\eta, 2/\|x\|^2)$")):
            axes.plot(expansion["product"], expansion[name], ls="", label=f"largest found, {label}", **look[name])
        axes.axvline(2, color="0.6", lw=0.8)
        axes.set(xlabel=r"$\eta\|x\|^2$", ylabel="largest growth of a distance")
        axes.legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                r"**How far a clipped step can pull two parameters apart**, against $\eta\|x\|^2$: the largest "
                r"growth of a distance found among random records and parameters. With the rate $\eta$ "
                r"(circles) it follows $\max(1, |1-\eta\|x\|^2|)$ and exceeds 1 beyond 2; with the rate of "
                "Algorithm 1 (squares) no distance grows."
            ),
            alt=(
                "Growth of a distance against the product of rate and squared length: circles rise along a "
                "dashed line beyond 2, squares stay at 1."
            ),
        )


def draw_noise(noise: pd.DataFrame) -> Plate:
    """Share of the noise added by time t, for each schedule."""
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.6, 4.2))
        for (name, rows), look in zip(
            noise.groupby("schedule", sort=False), figures.looks(noise["schedule"].unique()).values()
        ):
            axes.plot(rows["t"], rows["share"], color=look["color"], label=name)
            jump = rows.iloc[-2:]
            axes.plot(
                jump["t"].iloc[-1], jump["share"].iloc[0], color=look["color"], marker=look["marker"], clip_on=False
            )
        axes.set(xlabel="$t = k/n$", ylabel=r"share of $\sum_j\sigma_j^2$ added so far", xlim=(0, 1), ylim=(0, 1.02))
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.02, 0.5))
        return Plate(
            figure,
            caption=(
                r"**Where (4.2) puts the noise**: share of the total $\sum_j\sigma_j^2$ added up to time $t$; "
                "marks show the share before the last step. A constant learning rate has all its noise in the "
                r"last step (output perturbation), $\alpha = \tfrac12$ the same in every step; faster decay "
                "puts it earlier, and a rate that ends above 0 keeps a rest for the end."
            ),
            alt=(
                "Cumulative share of noise against time for five schedules; the constant schedule stays at 0 "
                "and jumps to 1 at the end."
            ),
        )


def draw_conversions(conversions: pd.DataFrame) -> Plate:
    """ε over what is truly spent, against ρ, for each δ."""
    routes = {"proposition_a3": ("Proposition A.3", "-"), "renyi": ("by way of Rényi divergences", "--")}
    some = conversions[conversions["exact"] > 0]
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.6, 4.2))
        for (delta, rows), look in zip(
            some.groupby("delta", sort=False), figures.looks(some["delta"].unique()).values()
        ):
            for column, (label, line) in routes.items():
                axes.plot(rows["rho"], rows[column] / rows["exact"], line, label=f"{label}, δ = {delta:g}", **look)
        figures.log_axes(axes, r"$\rho$", "ε claimed / ε spent")
        axes.axhline(1, color="0.35", ls=":", lw=1)
        axes.legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                r"**What conversions give away**: the $\varepsilon$ of Proposition A.3, and the best from zCDP "
                r"by way of Rényi divergences, over the $\varepsilon$ that the release truly spends as "
                r"$\rho$-Gaussian DP. Proposition A.3 claims most above it for small $\rho$ and large $\delta$. "
                r"Exact computations; settings that spend no $\varepsilon$ at their $\delta$ are left out."
            ),
            alt=("Ratios of epsilon claimed to epsilon spent against rho for three deltas, all above 1 and falling."),
        )


def draw_rates(rates: pd.DataFrame) -> Plate:
    """Left: (1.2) to (1.4) and Algorithm 1 against n at fixed γ, ρ. Others: against γ, a panel for each covariance."""
    spectra = rates["spectrum"].unique()
    with figures.style():
        figure, panels = plt.subplots(1, 1 + len(spectra), figsize=(4.4 * (1 + len(spectra)), 4.4))
        _draw_along_n(panels[0], rates[(rates["axis"] == "n") & (rates["spectrum"] == ISOTROPIC)])
        for axes, name in zip(panels[1:], spectra):
            _draw_along_gamma(axes, rates[(rates["axis"] == "gamma") & (rates["spectrum"] == name)])
            axes.set_title(name)
        panels[0].set_title(ISOTROPIC)
        return Plate(
            figure,
            caption=(
                "**The rates of the introduction and what Algorithm 1 does** (means over runs, bars of two "
                r"standard errors; harmonic learning rate, $\beta \propto 1/\lambda_{\min}$). Left: against $n$ "
                r"at fixed $\gamma$ and $\rho$, $\Sigma = I$. (1.4) does not depend on $n$, and marks that stay "
                r"level agree with it; (1.3) grows with its power of $\log n$, and for clipping to be rarely "
                r"active $c$, and with it the noise, has to grow with $n$ too. Other panels: against $\gamma$, "
                r"for several $\rho$ and two covariances, with $\gamma + \gamma^2/\rho^2$ (dotted) and the "
                r"limit derived here (lines), which the risk tends to as $\gamma$ and $\gamma/\rho$ tend to 0. "
                "Marks above the dashed line do worse than answering 0."
            ),
            alt=(
                "Three log-log panels of excess risk: against n for constant and rarely active clipping with "
                "three reference curves; against gamma for three rho with dotted and solid lines, for two "
                "covariances."
            ),
        )


def _draw_along_gamma(axes: plt.Axes, grid: pd.DataFrame) -> None:
    for (rho, rows), look in zip(grid.groupby("rho"), figures.looks(grid["rho"].unique()).values()):
        rows = rows.sort_values("gamma")
        figures.points(axes, rows, "gamma", "excess_risk", label=f"ρ = {rho:g}", ls="", **look)
        axes.plot(rows["gamma"], rows["rate_1.4"], ":", color=look["color"], lw=1)
        axes.plot(rows["gamma"], rows["limit"], "-", color=look["color"], lw=1)
    axes.axhline(grid["zero_risk"].max(), color="0.35", ls="--", lw=1, label="answering 0")
    figures.log_axes(axes, r"$\gamma$", "")
    axes.set_ylim(top=8 * grid["zero_risk"].max())
    axes.legend(fontsize=8, loc="lower right")


def _draw_along_n(axes: plt.Axes, rows: pd.DataFrame) -> None:
    looks = figures.looks(ALGORITHMS)
    for name in ALGORITHMS:
        figures.points(axes, rows[rows["algorithm"] == name], "n", "excess_risk", label=name, ls="", **looks[name])
    one = rows[rows["algorithm"] == ALGORITHMS[0]].sort_values("n")
    for column, line in (("rate_1.3", "--"), ("rate_1.4", ":"), ("rate_1.2", "-.")):
        axes.plot(one["n"], one[column], line, color="0.35", lw=1.2, label=f"({column.removeprefix('rate_')})")
    axes.axhline(one["zero_risk"].max(), color="0.35", ls="-", lw=0.6, label="answering 0")
    figures.log_axes(axes, "$n$", "excess risk")
    axes.set_ylim(top=one["zero_risk"].max() * 4)
    axes.legend(fontsize=8, ncol=2)
