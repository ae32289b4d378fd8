"""The figures of the page on a private head that works over sizes: where it is worth anything, D, L, and the rate."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy.experiments.noisyhead.a_head_that_works import findings, words
from costofprivacy.experiments.noisyhead.a_head_that_works.curves import COVARIANCE, METHODS, PRIVATE
from costofprivacy.experiments.noisyhead.a_head_that_works.pages import LOOKS
from costofprivacy.experiments.noisyhead.a_head_that_works.problems import NO_DATA, NON_PRIVATE
from costofprivacy.judging.prose import compact, percent, plain, span
from costofprivacy.judging.tables import select
from costofprivacy.judging.vocabulary import CONSISTENT
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

SHOWN_AREA = 3  # condition numbers of the map that are drawn


def draw_area(area: pd.DataFrame) -> Plate:
    """Where each private head beats the head that uses no data: maps over (N, ε) for some condition numbers."""
    parts = {method: findings.worth(area, method) for method in METHODS}
    every = sorted(area["condition"].unique())
    conditions = [k for k in every if k > 1] or [1.0]
    shown = [conditions[i] for i in np.unique(np.linspace(0, len(conditions) - 1, SHOWN_AREA).round().astype(int))]
    with figures.style():
        size = (3.2 * len(shown) + 0.6, 3.5 * len(parts))
        figure, panels = plt.subplots(len(parts), len(shown), figsize=size, squeeze=False)
        for row, (method, rows) in zip(panels, parts.items(), strict=True):
            for axes, condition in zip(row, shown, strict=True):
                _draw_map(axes, select(rows, condition=condition))
                axes.set_title(f"{words.METHODS[method]}, κ = {condition:g}")
    told = {method: rows.groupby("condition")["wins"].mean() for method, rows in parts.items()}
    return Plate(
        figure,
        caption=(
            f"**Where private pretraining is worth anything.** Each cell is the test error of a private head over that "
            f"of the best head that uses no data and knows the eigenvalues. Circles: it wins, beyond {CONSISTENT:g} "
            f"standard errors; crosses: it loses. Shown are {len(shown)} of {len(every)} condition numbers. "
            + " ".join(_won(words.METHODS[m], wins, "$\\kappa = {}$: {}") for m, wins in told.items())
            + f" {area['trials'].iloc[0]} trials a cell."
        ),
        alt=" ".join(_won(words.METHODS[method], wins, "{} {}") for method, wins in told.items()),
    )


def _won(name: str, wins: pd.Series, pattern: str) -> str:
    """The share of the cells that a method wins, by condition number."""
    told = ", ".join(pattern.format(f"{k:g}", percent(float(v))) for k, v in wins.items())
    return f"Cells that the {name} wins: {told}."


def _draw_map(axes: Axes, rows: pd.DataFrame) -> None:
    rows = rows.assign(ratio=rows["test_error"] / rows["no_data"])
    N, epsilon = sorted(rows["N"].unique()), sorted(rows["epsilon"].unique())
    for _, cell in rows.iterrows():
        at = N.index(cell["N"]), epsilon.index(cell["epsilon"])
        marker, colour = ("o", figures.COLOURS[0]) if cell["wins"] else ("x", figures.COLOURS[3])
        if cell["wins"] or cell["loses"]:
            axes.plot(at[0] - 0.28, at[1], marker, color=colour, ms=5)
        axes.text(at[0] + 0.08, at[1], plain(float(f"{cell['ratio']:.2g}")), ha="center", va="center", fontsize=9)
    axes.set(xlim=(-0.6, len(N) - 0.4), ylim=(-0.6, len(epsilon) - 0.4), xlabel="$N$", ylabel="$\\varepsilon$")
    axes.set_xticks(range(len(N)), [str(n) for n in N])
    axes.set_yticks(range(len(epsilon)), [f"{e:g}" for e in epsilon])
    axes.grid(False)


def draw_sizes(sizes: pd.DataFrame, D: int) -> Plate:
    """Test error against D at one L, and against L at one D."""
    L = int(sizes.loc[sizes["D"] != D, "L"].iloc[0]) if (sizes["D"] != D).any() else int(sizes["L"].iloc[0])
    parts = {"D": sizes[sizes["L"] == L], "L": sizes[sizes["D"] == D]}
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.4, 3.9))
        for axes, (name, rows) in zip(panels, parts.items(), strict=True):
            for method in (NO_DATA, PRIVATE, COVARIANCE, NON_PRIVATE):
                part = select(rows, method=method)
                figures.points(axes, part, name, "test_error", label=words.LABELS[method], **LOOKS[method])
            figures.log_axes(axes, f"${name}$", "test error")
            figures.plain_ticks(axes, np.unique(rows[name]))
            figures.few_decades(axes)
            figures.end_labels(axes)
    ratios = {}
    for name, rows in parts.items():
        wide = rows.pivot(index=name, columns="method", values="test_error")
        ratios[name] = wide[PRIVATE] / wide[NON_PRIVATE]
    first = sizes.iloc[0]
    where = f"{words.title(first['covariance'])}, $N = {first['N']}$, $\\varepsilon = {first['epsilon']:g}$"
    return Plate(
        figure,
        caption=(
            f"**Dimension and length** ({where}). Left: $L = {L}$. Right: $D = {D}$. The private head's error is "
            f"{span(ratios['D'])} times the non-private one's over $D$, {span(ratios['L'])} times over $L$. Bars are "
            f"two standard errors over {sizes['trials'].iloc[0]} trials."
        ),
        alt="Private over non-private by D: " + ", ".join(f"{d} {plain(v)}" for d, v in ratios["D"].items()) + ".",
    )


def draw_rate(rate: pd.DataFrame) -> Plate:
    """Excess over the best head against γ = D²/N, and the fitted aγ + bγ²/ρ²."""
    names = list(dict.fromkeys(rate["covariance"]))
    with figures.style():
        figure, panels = plt.subplots(1, len(names), figsize=(4.6 * len(names), 3.9), squeeze=False)
        for axes, name in zip(panels[0], names, strict=True):
            for k, (epsilon, rows) in enumerate(select(rate, covariance=name, method=PRIVATE).groupby("epsilon")):
                look = {"color": figures.COLOURS[k], "marker": figures.MARKS[k]}
                figures.points(axes, rows.rename(columns={"excess": "y"}), "gamma", "y", ls="none", **look)
                line = rows.sort_values("gamma")
                axes.plot(line["gamma"], line["fitted"], color=look["color"], label=f"ε = {epsilon:g}")
            figures.log_axes(axes, "$\\gamma = D^2/N$", "excess test error")
            figures.plain_ticks(axes, np.unique(select(rate, covariance=name)["gamma"]).round(4))
            axes.set_title(words.title(name))
            figures.end_labels(axes)
    miss = {name: findings.rate_miss(rate, PRIVATE, name) for name in names}
    told = ", ".join(f"{words.title(name)}: {compact(value)}" for name, value in miss.items())
    return Plate(
        figure,
        caption=(
            f"**DP-GD's rate on this head.** Points: the private head's excess over the best head, $L$ fixed. Lines: "
            f"$a\\gamma + b\\gamma^2/\\rho^2$ with the best $a$ and $b$. The largest factor between line and point is "
            f"{told}. Bars are two standard errors over {rate['trials'].iloc[0]} trials."
        ),
        alt="Largest factor between rate and excess: "
        + ", ".join(f"{words.title(n)} {plain(v)}" for n, v in miss.items())
        + ".",
    )
