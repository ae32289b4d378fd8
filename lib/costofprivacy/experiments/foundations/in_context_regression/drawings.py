"""Figures for the page on in-context regression."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from costofprivacy.judging.prose import compact, listed, plain, times
from costofprivacy.judging.tables import select
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate


def draw_test_error(table: pd.DataFrame) -> Plate:
    """Left: test error against λ at the largest L. Right: the best over λ against L, with the closed form."""
    longest, tuned = select(table, L=table["L"].max()), _tuned(table)
    variance = table["response_variance"].max()
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.8), sharey=True)
        for D, look in figures.looks(sorted(table["D"].unique())).items():
            rows = select(longest, D=D).sort_values("penalty")
            figures.points(left, rows, "penalty", "test_error", label=f"$D$ = {D}", ls="", **look)
            left.plot(rows["penalty"], rows["closed_form"], color=look["color"], lw=1)
            rows = select(tuned, D=D).sort_values("L")
            figures.points(right, rows, "L", "test_error", label=f"$D$ = {D}", ls="", **look)
            right.plot(rows["L"], rows["best"], color=look["color"], lw=1)
        for axes in (left, right):
            axes.axhline(variance, color="0.35", ls="--", lw=1, label="answer 0")
        figures.log_axes(left, r"$\lambda$", "test error")
        figures.log_axes(right, "$L$ (tokens in a prompt)", "test error")
        left.set_title(f"$L$ = {table['L'].max()}")
        right.set_title(r"the best $\lambda$")
        figures.plain_ticks(right, table["L"].unique())
        left.legend(loc="lower right")
        figures.end_labels(right)
    return Plate(figure, caption=_test_error_caption(table), alt=_test_error_alt(table))


def _tuned(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the best penalty for each shape."""
    return table.loc[table.groupby(["D", "L"])["test_error"].idxmin()]


def _test_error_caption(table: pd.DataFrame) -> str:
    tuned, largest = _tuned(table), select(table, penalty=table["penalty"].max())
    off = (tuned["test_error"] / tuned["best"]).max()
    penalised = (largest["test_error"] / largest["response_variance"]).min()
    return (
        "**Test error without privacy** of heads trained by ridge regression, on fresh prompts; bars of two standard "
        f"errors over {table['trials'].max()} trials, mostly hidden. Left: against the penalty (lines: closed form in "
        f"the population). At $\\lambda = {table['penalty'].max():g}$ no head gets below {times(penalised)} the error "
        f"of answering 0. Right: with the best penalty, at most {times(off)} that of the best linear head (lines)."
    )


def _test_error_alt(table: pd.DataFrame) -> str:
    longest, largest = select(table, L=table["L"].max()), table["penalty"].max()
    said = []
    for D, rows in longest.groupby("D"):
        tuned = rows["test_error"].min()
        penalised = select(rows, penalty=largest)["test_error"].iloc[0]
        said.append(f"D = {D}: {plain(tuned)} at the best λ, {plain(penalised)} at λ = {largest:g}")
    trivial = plain(table["response_variance"].max())
    return f"Test errors at L = {table['L'].max()}: {'; '.join(said)}. Answering 0: {trivial}."


def draw_prompt(drawn: Prompts, embedding: np.ndarray) -> Plate:
    """One prompt: responses along the task, and its embedding E."""
    slope = float(np.linalg.norm(drawn.w[0]))
    along, responses = drawn.x[0] @ drawn.w[0] / slope, drawn.y[0]
    off = float(np.abs(responses - slope * along).max())
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.4), width_ratios=(1, 1.5))
        left.plot(along[:-1], responses[:-1], "o", label="labelled tokens")
        left.plot(along[-1], responses[-1], "*", ms=12, label="query")
        left.set(xlabel=r"$\langle w, x\rangle/\|w\|$", ylabel="$y$")
        left.legend()
        limit = np.abs(embedding[0]).max()
        image = right.imshow(embedding[0], cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
        right.set(xlabel="token (the last is the query)", ylabel="row of $E$ (the last holds $y$)")
        right.grid(False)
        figure.colorbar(image, ax=right, location="top")
    rows, columns = embedding[0].shape
    return Plate(
        figure,
        caption=(
            "**One prompt.** Left: responses against the features' component along the task. They lie within "
            f"{compact(off)} of a line of slope $\\|w\\|$ = {compact(slope)}. Right: its embedding $E$; the last row "
            "holds the responses, the last column the query."
        ),
        alt=(
            f"{len(along) - 1} labelled tokens and the query within {plain(off)} of a line of slope {plain(slope)}; "
            f"the query has the response {plain(float(responses[-1]))}. The embedding is a matrix of {rows} rows and "
            f"{columns} columns."
        ),
    )


def draw_inverse_moment(table: pd.DataFrame) -> Plate:
    """The weight of the best head over the inverse second moment of the features, and that of a penalised one."""
    shown = table.assign(multiple=table["L"] / table["D"], standard_error=table["ratio_error"])
    free, penalised = shown[shown["penalty"] == 0], shown[shown["penalty"] > 0]
    with figures.style():
        figure, axes = plt.subplots(figsize=(6.8, 4.0))
        for D, look in figures.looks(sorted(shown["D"].unique())).items():
            figures.points(axes, select(free, D=D), "multiple", "over_normalised", label=f"$D$ = {D}", **look)
            rows = select(penalised, D=D)
            figures.points(axes, rows, "multiple", "over_normalised", **look | {"ls": ":", "mfc": "none"})
        axes.axhline(1, color="0.35", ls="--", lw=1)
        axes.set(xscale="log", xlabel="$L/D$ (tokens for each dimension)", ylim=(-0.02, 1.05))
        axes.set(ylabel=r"weight over $\mathbb{E}[(X^\top X)^{-1}]$")
        figures.plain_ticks(axes, shown["multiple"].unique())
        axes.legend(loc="center right", title="no penalty; open: penalised", title_fontsize=figures.LETTERS)
    return Plate(figure, caption=_inverse_caption(free, penalised), alt=_inverse_alt(free, penalised))


def _inverse_caption(free: pd.DataFrame, penalised: pd.DataFrame) -> str:
    short, long = (free[free["multiple"] == free["multiple"].agg(end)]["over_normalised"] for end in ("min", "max"))
    return (
        "**The best head's weight over the inverse second moment of the features** (dashed: equality). Filled: without "
        "penalty, in closed form over a simulated moment. The ratio goes from "
        f"{compact(short.min())} at the shortest prompts for each dimension to {compact(long.max())} at the longest. "
        f"Open: with $\\lambda = {penalised['penalty'].max():g}$ it is at most "
        f"{compact(penalised['over_normalised'].max())}. Bars of two standard errors are smaller than the marks."
    )


def _inverse_alt(free: pd.DataFrame, penalised: pd.DataFrame) -> str:
    said = []
    for D, rows in free.groupby("D"):
        own = rows.sort_values("multiple")["over_normalised"]
        said.append(f"D = {D} from {plain(own.iloc[0])} to {plain(own.iloc[-1])}")
    return (
        f"Ratio without penalty as L/D goes from {plain(free['multiple'].min())} to {plain(free['multiple'].max())}: "
        f"{listed(said)}. With the penalty at most {plain(penalised['over_normalised'].max())}."
    )
