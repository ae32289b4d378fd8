"""Figures on when privacy is free, on Figures 10 to 13 and on the logarithm of (6.6) of arXiv:2505.16329v2."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy.experiments.dpgd.scaling_laws.curves import PLACE
from costofprivacy.experiments.dpgd.scaling_laws.pages import GAMMA, privacy
from costofprivacy.experiments.dpgd.scaling_laws.theory import PANELS
from costofprivacy.experiments.dpgd.scaling_laws.trends import log_power
from costofprivacy.judging.prose import compact, listed, percent, plain
from costofprivacy.judging.tables import select
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

CHOSEN = (0.0, 2.0, 10.0, math.inf)  # α on the map
TERMS = {"e1": "$e_1$: start", "e2": "$e_2$: sampling", "e3": "$e_3$: privacy"}


def draw_cost(cost: pd.DataFrame) -> Plate:
    """What privacy costs against γ: free and costly, at the least and the largest α of one problem."""
    place = cost[["phi", "psi"]].drop_duplicates().iloc[-1]
    rows = select(cost, phi=place["phi"], psi=place["psi"])
    alphas = sorted({rows["alpha"].min(), rows["alpha"].max()})
    with figures.style():
        figure, panels = plt.subplots(1, rows["b"].nunique(), figsize=(7.8, 3.5), squeeze=False)
        for axes, b in zip(panels.flat, sorted(rows["b"].unique())):
            for alpha, look in figures.looks(alphas).items():
                curve = select(rows, b=b, alpha=alpha).sort_values("gamma")
                axes.plot(curve["gamma"], curve["ratio"], label=rf"$\alpha={alpha:g}$", **look)
            figures.log_axes(axes, GAMMA, "risk over that without privacy" if axes is panels.flat[0] else "")
            axes.set_title(privacy(b))
            if rows.loc[rows["b"] == b, "ratio"].max() < 10:
                axes.set(yscale="linear", ylim=(0.95, None))
            figures.end_labels(axes)
    least, most = rows[rows["gamma"] == rows["gamma"].min()], rows[rows["gamma"] == rows["gamma"].max()]
    texts = [_cost_of(b, least, most) for b in sorted(rows["b"].unique())]
    return Plate(
        figure,
        caption=(
            f"**What privacy costs.** $\\varphi={place['phi']:g}$, $\\psi={place['psi']:g}$; best learning "
            "rate with and "
            f"without privacy. {' '.join(texts)} Solved equations: no sampling error."
        ),
        alt="; ".join(
            f"b {plain(row.b)}, alpha {plain(row.alpha)}, gamma {plain(row.gamma)}: ratio {plain(row.ratio)}"
            for row in pd.concat([most, least]).itertuples()
        )
        + ".",
    )


def _cost_of(b: float, least: pd.DataFrame, most: pd.DataFrame) -> str:
    start, end = select(most, b=b)["ratio"].max(), select(least, b=b)["ratio"].max()
    if end < start:
        return (
            f"At {privacy(b)} it adds up to {percent(start - 1)} at the largest $\\gamma$ and "
            f"{percent(end - 1)} at the "
            "least."
        )
    return f"At {privacy(b)} the factor grows from {compact(start)} to {compact(end)}."


def draw_critical(critical: pd.DataFrame) -> Plate:
    """The critical b against φ: left by schedule, right by target."""
    left = select(critical, psi=0.0)
    right = critical[critical["alpha"] == math.inf]
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(7.8, 3.7), sharey=True)
        _lines(panels[0], left, "alpha", [a for a in CHOSEN if a in set(left["alpha"])], r"\alpha")
        _lines(panels[1], right, "psi", sorted(right["psi"].unique()), r"\psi")
        panels[0].set(title=r"schedules, $\psi = 0$", ylabel="critical $b$ in $\\rho=\\gamma^b$")
        panels[1].set(title=r"targets, $\alpha \to \infty$")
        for axes in panels:
            axes.set(ylim=(0, 0.52))
            figures.end_labels(axes)
    ends = right[(right["psi"] == 0) & (right["phi"] == right["phi"].max())]["critical"]
    negative = right[(right["psi"] < 0) & (right["phi"] == right["phi"].max())]
    kept = (
        f" With $\\psi={negative['psi'].iloc[0]:g}$ {compact(negative['critical'].iloc[0])} is left."
        if len(negative)
        else ""
    )
    return Plate(
        figure,
        caption=(
            "**Where privacy is free: below the lines.** A larger $b$ is a stricter demand. Over all spectra "
            "and targets "
            f"shown the critical $b$ goes from {compact(critical['critical'].min())} to "
            f"{compact(critical['critical'].max())}. At the steepest spectrum, $\\psi=0$, it is "
            f"{compact(float(ends.iloc[0]))} with the best schedule.{kept} Closed form."
        ),
        alt="; ".join(
            f"alpha {plain(row.alpha)}, phi {plain(row.phi)}: {plain(row.critical)}"
            for row in left[left["phi"].isin([left["phi"].min(), left["phi"].max()])].itertuples()
        )
        + ".",
    )


def _lines(axes: Axes, rows: pd.DataFrame, by: str, values: list[float], name: str) -> None:
    for value, look in figures.looks(values).items():
        line = select(rows, **{by: value}).sort_values("phi")
        text = r"\infty" if value == math.inf else f"{value:g}"
        axes.plot(line["phi"], line["critical"], color=look["color"], label=f"${name}={text}$")
    axes.set(xlabel=r"$\varphi$, exponent of the spectrum")


def draw_panels(panels: pd.DataFrame) -> Plate:
    """Figures 10 to 13: the three exponents along a, with the peak of the smallest."""
    looks = figures.looks(TERMS)
    texts = []
    with figures.style():
        figure, grid = plt.subplots(2, 2, figsize=(7.8, 6.2), squeeze=False)
        for axes, name in zip(grid.flat, PANELS):
            rows = select(panels, figure=name)
            for term, label in TERMS.items():
                axes.plot(rows["a"], rows[term], color=looks[term]["color"], label=label)
            peak = rows.loc[rows[list(TERMS)].min(axis=1).idxmax()]
            free = rows.loc[rows[["e1", "e2"]].min(axis=1).idxmax()]
            height = peak[list(TERMS)].min()
            axes.plot(peak["a"], height, "k*", ms=11, label="_peak")
            is_free = abs(peak["a"] - free["a"]) < 1e-9
            number = name.split("-")[1]
            title = rf"Figure {number}: $\kappa_1={peak['kappa1']:g}$, $\alpha={peak['alpha']:g}$, $b={peak['b']:g}$"
            axes.set(xlabel="$a$ in $v=\\gamma^a$", ylabel="exponent", ylim=(-0.6, 2.0), title=title)
            texts.append((number, "free" if is_free else "costly", peak["a"], height))
            figures.end_labels(axes)
    said = listed(f"Figure {number} {word}" for number, word, _, _ in texts)
    return Plate(
        figure,
        caption=(
            "**Figures 10 to 13, re-computed.** Star: where the smallest exponent is largest. Privacy is free "
            "where that "
            f"is the crossing of $e_1$ and $e_2$: {said}. All four draw (E.42), the case "
            "$\\varphi(\\alpha+1)<2$. Closed "
            "form."
        ),
        alt="; ".join(f"Figure {n}: {word}, peak {plain(h)} at a {plain(a)}" for n, word, a, h in texts) + ".",
    )


def draw_logarithm(logarithm: pd.DataFrame) -> Plate:
    """At φ(α + 1) = 2 where privacy costs: risk over γ^h against ln(1/γ), at v = γ^a and at the best v."""
    rows = next(rows for _, rows in logarithm.groupby(PLACE, sort=False))
    place = rows.iloc[0]
    kappa = 2 - place["phi"] - place["psi"]
    claims = {"power": 1.0, "best": kappa / (kappa + place["phi"])}
    labels = {"power": "$v=\\gamma^a$", "best": "best $v$"}
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.2, 3.8))
        for name, look in figures.looks(labels).items():
            axes.plot(rows["log"], rows[name], label=labels[str(name)], **look)
            x = np.asarray(rows["log"])
            axes.plot(
                x, rows[name].iloc[-1] * (x / x[-1]) ** claims[str(name)], "--", color="0.35", lw=1, label="_slope"
            )
        figures.log_axes(axes, r"$\ln(1/\gamma)$", r"risk over $\gamma^h$")
        figures.end_labels(axes)
    found = {name: log_power(rows, name) for name in labels}
    gain = rows["power"].iloc[-1] / rows["best"].iloc[-1]
    return Plate(
        figure,
        caption=(
            f"**The logarithm of (6.6).** $\\varphi={place['phi']:g}$, $\\psi={place['psi']:g}$, "
            f"$\\alpha={place['alpha']:g}$, "
            f"$b={place['b']:g}$, so $\\varphi(\\alpha+1)=2$. At $v=\\gamma^a$ the power of the logarithm is "
            f"{compact(found['power'])}; a rate that is no pure power has {compact(found['best'])} (dashed: 1 and "
            f"{compact(claims['best'])}) and ends {compact(gain)} times lower. Closed form."
        ),
        alt=(
            f"Risk over gamma to the h for ln(1/gamma) from {plain(rows['log'].min())} to "
            f"{plain(rows['log'].max())}: at the "
            f"power {plain(rows['power'].iloc[0])} to {plain(rows['power'].iloc[-1])}, at the best rate "
            f"{plain(rows['best'].iloc[0])} to {plain(rows['best'].iloc[-1])}."
        ),
    )
