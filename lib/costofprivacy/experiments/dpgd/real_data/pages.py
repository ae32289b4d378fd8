"""The answer, maps and short tables for the page on real data of arXiv:2505.16329v2."""

from __future__ import annotations

import math
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from costofprivacy.datasets import MNIST
from costofprivacy.experiments.dpgd.real_data.maps import FIGURES, PLACE
from costofprivacy.experiments.dpgd.real_data.pages_rows import (
    draw_equations,
    draw_seeds,
    show_rows,
    show_seeds,
    show_treatments,
)
from costofprivacy.experiments.dpgd.real_data.pages_schedules import draw_figure_8, show_figure_8
from costofprivacy.experiments.dpgd.real_data.problem import LIMIT, PAPERS
from costofprivacy.experiments.dpgd.real_data.reading import Panel, panels
from costofprivacy.experiments.dpgd.real_data.verdicts import figure_5, figure_6
from costofprivacy.experiments.dpgd.real_data.verdicts_rows import own_fractions
from costofprivacy.experiments.dpgd.real_data.verdicts_schedules import figure_8
from costofprivacy.judging import words
from costofprivacy.judging.findings import Verdict
from costofprivacy.judging.prose import compact, listed, percent, plain, span
from costofprivacy.judging.tables import Tables, select
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

__all__ = [
    "answer",
    "draw_equations",
    "draw_figure_8",
    "draw_map",
    "draw_remedy",
    "draw_seeds",
    "said_of_data",
    "show_figure_8",
    "show_rows",
    "show_seeds",
    "show_treatments",
]
CAP = 0.6  # of the paper's maps
FINE = 6  # pixels of a cell: a heat map is a small picture
LINES: dict[str, Any] = {"color": "#d62728", "ls": "--", "lw": 1}


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    rows = tables["rows"]
    used = [str(select(rows, asked=name)["data"].iloc[0]) for name in PAPERS]
    if used != list(PAPERS):
        return (
            f"Nothing is said of the paper's data here, as some of them were not at hand. The tables are of {used[0]} "
            f"and of {used[1]}, which come with scikit-learn. `make data` fetches the paper's."
        )
    shares = own_fractions(tables["seeds"])
    out = shares.loc[shares["share"].idxmax()]
    return (
        f"{_shape(tables)} On housing {percent(float(out['share']))} of shuffles blow up through a few held-out rows; "
        f"features limited at {LIMIT:g} standard deviations cure {_cured(shares)}. {words.headline(figure_8, tables)}"
    )


def _shape(tables: Tables) -> str:
    """Whether the maps have the shape that the theory gives them, and where."""
    found = [panel for panel in panels(tables[FIGURES[MNIST]]) if panel.gamma < 1]
    lines = span(panel.product / math.log(1 / panel.gamma) for panel in found)
    lost = Verdict.FAILS in (figure_5(tables).verdict, figure_6(tables).verdict)
    place = rf"on MNIST the best $c\tilde\eta(0)$ is {lines} times $\ln(1/\gamma)$."
    return f"The maps lose the predicted shape; {place}" if lost else f"The maps keep the predicted shape, but {place}"


def _cured(shares: pd.DataFrame) -> str:
    left = float(shares["limited"].max())
    return "all of them" if left == 0 else f"all but {percent(left)}"


def said_of_data(tables: Tables) -> str:
    """Which data sets the tables are of, in a sentence; a stand-in is named as one."""
    rows = tables["rows"].drop_duplicates("asked")
    told = [
        f"{row['data']}, {int(row['d'])} features"
        + ("" if row["data"] == row["asked"] else f" (in the place of {row['asked']}, which was not at hand)")
        for _, row in rows.iterrows()
    ]
    return f"The tables on this page are of {listed(told)}."


# ------------------------------------------------------------------------------------------------------- maps


def draw_map(table: pd.DataFrame, rows: pd.DataFrame, asked: str) -> Plate:
    """A figure of the paper with all seeds, its lines and its valleys.

    Args:
        table: ``figure-5`` or ``figure-6``. rows: the table ``rows``. asked: the paper's data set.
    """
    found, data = panels(table), str(select(rows, asked=asked)["data"].iloc[0])
    figure = _drawn(found, [np.minimum(panel.mean, CAP) for panel in found])
    seeds = int(table["seed"].nunique())
    name = f"**Figure {FIGURES[asked][-1]}, re-computed.**" if data == asked else "**Maps of a stand-in.**"
    return Plate(
        figure,
        caption=(
            f"{name} {data}: mean held-out risk of {seeds} seeds, none left out, capped at {CAP:g}. Dashed red: $c=1$, "
            r"$\tilde\eta(0)=2/\gamma$ and, where it exists, $c\tilde\eta(0)=\ln(1/\gamma)$. Points: the least "
            f"risk of each row. {_blown(found)} The relative standard error of the least risk is {_errors(found)}."
        ),
        alt=_alt(found, data),
    )


def draw_remedy(remedy: pd.DataFrame, rows: pd.DataFrame, asked: str) -> Plate:
    """The same maps with limited features; no seed is left out."""
    data = str(select(rows, asked=asked)["data"].iloc[0])
    chosen = remedy[remedy["data"] == data]
    found = panels(chosen.assign(seed=0)[[*PLACE, "seed", "risk"]])
    figure = _drawn(found, [np.minimum(panel.mean, CAP) for panel in found])
    best = [select(chosen, gamma=p.gamma, alpha=p.alpha).nsmallest(1, "risk").iloc[0] for p in found]
    shares = [each["standard_error"] / each["risk"] for each in best]
    return Plate(
        figure,
        caption=(
            f"**The same with features limited at {LIMIT:g} standard deviations.** {data}, "
            f"{int(chosen['seeds'].min())} seeds, none left out. The least risks are "
            f"{span(p.mean.min() for p in found)}, with relative standard errors of {_shares(shares)}."
        ),
        alt=_alt(found, f"{data}, features limited"),
    )


def _shares(values: list[float]) -> str:
    low, high = percent(min(values)), percent(max(values))
    return low if low == high else f"{low} to {high}"


def _errors(found: list[Panel]) -> str:
    """The relative standard errors of the least risks, in words."""
    shares = []
    for panel in found:
        risks = panel.least(np.ones(len(panel.clips), bool))
        shares.append(float(risks.std(ddof=1) / math.sqrt(len(risks)) / risks.mean()))
    return _shares(shares)


def _blown(found: list[Panel]) -> str:
    """In how many seeds of each map the least risk of its own places stays above that of the others."""
    worst = [float((panel.risks.max(axis=0) / np.median(panel.risks, axis=0))[panel.mean < CAP].max(initial=1.0))
             for panel in found]  # fmt: skip
    return f"Where the mean is below the cap, a single seed is up to {compact(max(worst))} times the median seed."


def _alt(found: list[Panel], data: str) -> str:
    texts = []
    for panel in found:
        clip, rate = panel.best
        slope = "" if math.isnan(panel.slope) else f", valley of slope {plain(panel.slope)}"
        texts.append(
            f"gamma {plain(panel.gamma)}, alpha {plain(panel.alpha)}: least mean risk {plain(float(panel.mean.min()))} "
            f"at c {plain(clip)} and learning rate {plain(rate)}{slope}"
        )
    return f"Heat maps of {data}. {'; '.join(texts)}."


def _drawn(found: list[Panel], values: list[np.ndarray]) -> plt.Figure:
    """Maps side by side, with the paper's lines and the least risk of each row."""
    with figures.style():
        figure, axes = plt.subplots(2, 2, figsize=(7.8, 6.6))
        for one, panel, shown in zip(axes.ravel(), found, values):
            image = _heat(one, panel, shown)
            _lines(one, panel.gamma)
            best = panel.rates[panel.mean.argmin(axis=1)]
            one.plot(np.log10(best), np.log10(panel.clips), ".", color="white", ms=4)
            one.set_title(f"$\\alpha = {panel.alpha:g}$, $\\gamma = {panel.gamma:.3g}$")
        figure.colorbar(image, ax=axes, label=r"$\mathcal{P}(\theta^p)$ (units of $y^2$), capped", shrink=0.7)
    return figure


def _heat(axes: Axes, panel: Panel, values: np.ndarray) -> AxesImage:
    """A map even in the logarithms of both parameters, as a picture with sharp cells."""
    x, y = np.log10(panel.rates), np.log10(panel.clips)
    half_x, half_y = (x[-1] - x[0]) / (len(x) - 1) / 2, (y[-1] - y[0]) / (len(y) - 1) / 2
    place = (x[0] - half_x, x[-1] + half_x, y[0] - half_y, y[-1] + half_y)
    fine = np.kron(values, np.ones((FINE, FINE)))
    image = axes.imshow(
        fine, origin="lower", extent=place, aspect="auto", vmin=0.0, vmax=CAP, cmap="viridis", interpolation="none"
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
    if gamma < 1:
        x, height = np.array(axes.get_xlim()), math.log10(math.log(1 / gamma))
        axes.plot(x, height - x, **LINES)
