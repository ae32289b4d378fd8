"""Figures and short tables for the page on the reduction factors of arXiv:2505.16329v2."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from costofprivacy import figures
from costofprivacy.experiments.dpgd.clipping_factors.experiment import DIMENSION_QUANTITIES, PEAK, PEAK_HEIGHT
from costofprivacy.plates import Plate

CURVES = {
    "mu": r"$\mu_c$",
    "mu_over_ratio": r"$\mu_c/c'$",
    "nu": r"$\nu_c$",
    "nu_over_ratio": r"$\nu_c/c'$",
}


def show_definition(definition: pd.DataFrame) -> pd.DataFrame:
    """Simulated factors with their standard errors, and the closed form, for the page."""
    shown = definition.assign(
        simulated=definition["value"].map("{:.4f}".format) + " ± " + definition["standard_error"].map("{:.4f}".format)
    )
    wide = shown.pivot(index=["law", "spectrum", "direction"], columns="quantity", values="simulated")
    order = shown[["law", "spectrum", "direction"]].drop_duplicates()
    closed = definition.drop_duplicates("quantity").set_index("quantity")["closed_form"]
    table = wide.loc[list(map(tuple, order.to_numpy()))]
    table.loc[("closed form", "", "")] = closed.map("{:.4f}".format)
    return table.rename(columns={"mu": "μ", "nu": "ν", "share whole": "share left whole"})


def show_landmarks(landmarks: pd.DataFrame) -> pd.DataFrame:
    """Landmarks to ten digits."""
    return landmarks.set_index("landmark").map("{:.10f}".format)


def show_bounds(bounds: pd.DataFrame) -> pd.DataFrame:
    """Both ratios of (B.15) over all risks, between the best constants, at the middle ζ."""
    middle = sorted(bounds["label_noise"].unique())[bounds["label_noise"].nunique() // 2]
    columns = {
        "mu_sharp": "best constant, μ",
        "mu_low": "least μ/c'",
        "mu_high": "largest μ/c'",
        "nu_sharp": "best constant, ν",
        "nu_low": "least ν/c'²",
        "nu_high": "largest ν/c'²",
    }
    rows = bounds[bounds["label_noise"] == middle].assign(share=bounds["clip"] / bounds["label_noise"])
    shown = rows.sort_values("share").set_index(rows["share"].map("{:.3g}".format).rename("c/ζ"))
    return shown[list(columns)].rename(columns=columns).map("{:.4g}".format)


def draw_figure_9(factors: pd.DataFrame, landmarks: pd.DataFrame) -> Plate:
    """Figure 9 of the paper, with ν/c'² and the peak of ν/c'."""
    value = landmarks.set_index("landmark")["value"]
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.6, 4.4))
        for (name, label), style in zip(CURVES.items(), ("-", "--", "-", "--")):
            color = "C0" if name.startswith("mu") else "C1"
            axes.plot(factors["ratio"], factors[name], style, color=color, label=label)
        axes.plot(factors["ratio"], factors["nu_over_square"], ":", color="C2", lw=2, label=r"$\nu_c/c'^2$ (ours)")
        axes.plot(value[PEAK], value[PEAK_HEIGHT], "o", color="C1", label=r"peak of $\nu_c/c'$")
        axes.axhline(0.5, color="0.6", lw=0.8)
        axes.axvline(1, color="0.6", lw=0.8)
        axes.set(
            xlabel=r"$c' = c/\sqrt{2R + \zeta^2}$", ylabel="factor", xlim=(0, factors["ratio"].max()), ylim=(0, 1.02)
        )
        axes.legend(fontsize=8, ncol=2)
        return Plate(
            figure,
            caption=(
                r"**Figure 9, re-computed**, with one curve more. Both factors rise from 0 to 1, and $\mu_c/c'$ "
                r"falls. But $\nu_c/c'$ is not monotone: it rises to a peak (dot) beyond $c' = 1$ before it "
                r"falls. The ratio that Lemma B.2 needs is $\nu_c/c'^2$, which falls from 1 (dotted). Closed "
                r"forms, no simulation; grey lines mark $c' = 1$ and $\tfrac12$."
            ),
            alt=(
                "Five curves against the clipping ratio: two rise from 0 to 1, one falls from 0.8, one rises "
                "to about 0.53 and falls, one falls from 1 to 0."
            ),
        )


def draw_dimension(dimension: pd.DataFrame) -> Plate:
    """Clipping whole gradients against clipping residuals, against the dimension."""
    labels = {
        "distance": "squared distance of the gradients",
        "mu shift": r"relative change of $\mu$",
        "nu shift": r"relative change of $\nu$",
    }
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.2, 4.2), sharey=True)
        for axes, (name, rows) in zip(panels, dimension.groupby("spectrum", sort=False)):
            for quantity, look in figures.looks(DIMENSION_QUANTITIES).items():
                chosen = rows[rows["quantity"] == quantity]
                points = chosen.assign(value=chosen["value"].abs())
                figures.points(axes, points, "d", "value", label=labels[str(quantity)], ls="", **look)
            distance = rows[rows["quantity"] == "distance"].sort_values("d")
            axes.plot(distance["d"], distance["closed_form"], "--", color="0.35", lw=1, label="leading order, slope −1")
            figures.log_axes(axes, "$d$ (dimension)", "relative difference" if axes is panels[0] else "")
            figures.plain_ticks(axes, dimension["d"].unique())
            axes.set_title(f"{name} spectrum")
            axes.set_ylim(bottom=dimension["closed_form"].min() / 10)
        panels[0].legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                r"**Clipping whole gradients at $c\sqrt d$ against clipping residuals at $c$**, on the same "
                "records: the mean squared distance relative to the gradient's square follows the leading "
                r"order (dashed), which falls like $1/d$; the factors $\mu$ and $\nu$ move by as little "
                "(absolute values; bars of two standard errors)."
            ),
            alt=(
                "Two log-log panels, isotropic and uniform spectrum: relative differences fall along a dashed "
                "line of slope minus one."
            ),
        )


def draw_precision(precision: pd.DataFrame) -> Plate:
    """Relative error of F, as printed and by the incomplete gamma function, and of ν."""
    floor = np.finfo(float).eps / 8
    curves = {
        "printed_F_error": ("$F$ as (B.3) prints it", "--"),
        "printed_nu_error": (r"$\nu_c$ with it", "--"),
        "nu_error": (r"$\nu_c$ as computed here", "-"),
    }
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.6, 4.0))
        for (column, (label, line)), look in zip(curves.items(), figures.looks(curves).values()):
            error = precision[column].clip(lower=floor)
            axes.plot(precision["ratio"], error, line, label=label, markersize=4, **look)
        figures.log_axes(axes, r"$c' = c/\sqrt{2\mathcal{P}}$", "relative error")
        axes.legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                "**What cancellation costs.** Relative error against quadrature of the defining moments. The "
                r"difference that (B.3) prints loses all digits of $F$ as $c' \to 0$, where privacy dominates, "
                r"and with them about half of those of $\nu_c$; the form used here keeps them all over the "
                "whole range. Errors below the smallest shown are 0."
            ),
            alt=(
                "Relative errors against the clipping ratio on log axes: two curves rise towards small ratios, "
                "the third stays at rounding level throughout."
            ),
        )
