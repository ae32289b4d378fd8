"""The answer, Figure 1 and the release, for the page on the deterministic equivalent of arXiv:2505.16329v2."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy.experiments.dpgd.deterministic_equivalent.regime import SCHEDULES
from costofprivacy.experiments.dpgd.deterministic_equivalent.verdicts import figure_1, theorem_1_path
from costofprivacy.judging import words
from costofprivacy.judging.cards import tally
from costofprivacy.judging.judges import judges_of
from costofprivacy.judging.prose import listed, measured, percent
from costofprivacy.judging.tables import Tables
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

PAST = (1.0, 1.1)  # where the released iterate is drawn
CUT = 5  # the lower edge of a band is drawn no lower than this part of the mean: a log axis has no place for 0
EVERY = 2  # of the times are drawn


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    verdicts = [judge(tables).verdict for judge in judges_of(__package__).values()]
    strays = released_strays(tables["figure-1"]).groupby("d").max()
    runs = listed(f"{percent(share)} in dimension {d}" for d, share in strays.iloc[[0, -1]].drop_duplicates().items())
    return (
        f"A run's released risk typically strays from the prediction by {runs}. "
        f"{words.headline(theorem_1_path, tables)} Of {len(verdicts)} claims, {tally(verdicts)}."
    )


def released_strays(table: pd.DataFrame) -> pd.Series:
    """Root mean square distance of a released risk from its prediction, over the prediction, by panel and d."""
    rows = table[table["t"] == 1].set_index(["spectrum", "alpha", "d"])
    return np.hypot(rows["risk_mean"] - rows["ode_risk"], rows["risk_sd"]) / rows["ode_risk"]


def draw_figure_1(table: pd.DataFrame) -> Plate:
    """The four panels: bands of one standard deviation around the mean, and R(t)."""
    with figures.style():
        figure, panels = plt.subplots(2, 2, figsize=(7.4, 4.1), sharex=True, sharey=True)
        for axes, ((alpha, spectrum), rows) in zip(panels.flat, table.groupby(["alpha", "spectrum"])):
            _draw_panel(axes, rows)
            axes.set(yscale="log", title=f"{SCHEDULES[alpha]} schedule, {spectrum} spectrum")
        for axes in panels[:, 0]:
            axes.set_ylabel("excess risk")
        for axes in panels[-1]:
            axes.set_xlabel("$t$ (past 1: released)")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), ncols=3, loc="outside lower center")
    trials = table["trials"].max()
    return Plate(
        figure,
        caption=(
            f"**Figure 1, re-run.** Excess risk along Algorithm 1, mean and standard deviation over {trials} runs, "
            f"beside the solution $R(t)$ of (4.7). {words.headline(figure_1, {'figure-1': table})} Past $t = 1$: what "
            "is released."
        ),
        alt=_released_in_words(table),
    )


def _draw_panel(axes: Axes, rows: pd.DataFrame) -> None:
    dimensions = sorted(rows["d"].unique())
    places = np.linspace(*PAST, len(dimensions) + 2)[1:-1]
    for (d, look), place in zip(figures.looks(dimensions).items(), places):
        part = rows[rows["d"] == d]
        before = part[part["t"] < 1].iloc[::EVERY]
        low, high = before["risk_mean"] - before["risk_sd"], before["risk_mean"] + before["risk_sd"]
        floor = before["risk_mean"] / CUT
        axes.fill_between(before["t"], np.maximum(low, floor), high, color=look["color"], alpha=0.25, lw=0)
        axes.plot(before["t"], before["risk_mean"], color=look["color"], lw=1.2, label=f"$d = {d}$")
        released = part[part["t"] == 1]
        axes.errorbar([place], released["risk_mean"], released["risk_sd"], **look, capsize=2, ms=3.5, lw=1.2)
    largest = rows[rows["d"] == dimensions[-1]]
    before = largest[largest["t"] < 1].iloc[::EVERY]
    axes.plot(before["t"], before["ode_risk"], "k--", lw=1.2, label="$R(t)$")
    level = largest.loc[largest["t"] == 1, "ode_risk"].iloc[0]
    axes.hlines(level, *PAST, color="k", lw=1.5, zorder=1, label="level of (4.23)")


def _released_in_words(table: pd.DataFrame) -> str:
    """What is released in each panel, and what is predicted."""
    panels = []
    for (alpha, spectrum), rows in table[table["t"] == 1].groupby(["alpha", "spectrum"]):
        found = listed(f"{measured(r.risk_mean, r.risk_sd)} for d = {r.d}" for r in rows.itertuples())
        predicted = rows.loc[rows["d"].idxmax(), "ode_risk"]
        panels.append(f"{SCHEDULES[alpha]} schedule, {spectrum} spectrum: {found}, predicted {predicted:.3g}")
    return f"Four panels of excess risk against time. Released, mean and standard deviation: {'; '.join(panels)}."


def show_released(table: pd.DataFrame) -> pd.DataFrame:
    """The released iterate at the largest d, for the page."""
    rows = table[(table["t"] == 1) & (table["d"] == table["d"].max())]
    wide = pd.DataFrame(
        {
            "schedule": rows["alpha"].map(SCHEDULES),
            "spectrum": rows["spectrum"],
            "excess risk": [measured(m, e) for m, e in zip(rows["risk_mean"], rows["standard_error"])],
            "predicted, (4.23)": rows["ode_risk"].map("{:.3f}".format),
            "test error": rows["test_error"].map("{:.3f}".format),
            "test error of answering 0": rows["response_variance"].map("{:.2f}".format),
        }
    )
    return wide.set_index(["schedule", "spectrum"])
