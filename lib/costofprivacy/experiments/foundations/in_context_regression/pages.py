"""Figures and short tables for the page on in-context regression."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from costofprivacy import figures
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.plates import Plate


def show_identities(identities: pd.DataFrame) -> pd.DataFrame:
    """The largest difference of each identity over all shapes, for the page."""
    worst = identities.groupby("identity", sort=False)["relative_difference"].max()
    return worst.map("{:.1e}".format).to_frame("largest relative difference")


def show_dropped_terms(dropped: pd.DataFrame) -> pd.DataFrame:
    """Means of the products over all shapes, and their sizes in standard errors, for the page."""
    scored = dropped.assign(score=dropped["mean"] / dropped["standard_error"]).groupby("product", sort=False)
    shown = scored.agg(least_mean=("mean", "min"), largest_mean=("mean", "max"))
    return shown.join(scored.agg(least_score=("score", "min"), largest_score=("score", "max"))).round(3)


def show_tuned(table: pd.DataFrame) -> pd.DataFrame:
    """Test error with the best penalty for each shape beside the best linear head, for the page."""
    tuned = table.loc[table.groupby(["D", "L"])["test_error"].idxmin()].set_index(["D", "L"])
    return tuned[["penalty", "test_error", "standard_error", "best"]].round(5)


def show_zero_blocks(zero: pd.DataFrame) -> pd.DataFrame:
    """The slope of the loss at zero blocks over all shapes, in standard errors, for the page."""
    scored = zero.assign(score=zero["mean"] / zero["standard_error"]).groupby("product", sort=False)["score"]
    return scored.agg(["min", "max"]).rename(columns={"min": "least", "max": "largest"}).round(2)


def draw_inverse_moment(table: pd.DataFrame) -> Plate:
    """The weight of the best head over the inverse second moment of the features, and that of a penalised one."""
    with figures.style():
        figure, axes = plt.subplots()
        shown = table.assign(multiple=table["L"] / table["D"], standard_error=table["ratio_error"])
        for D, look in figures.looks(sorted(shown["D"].unique())).items():
            free, penalised = (shown[(shown["D"] == D) & of] for of in (shown["penalty"] == 0, shown["penalty"] > 0))
            figures.points(axes, free, "multiple", "over_normalised", label=f"D = {D}", **look)
            figures.points(axes, penalised, "multiple", "over_normalised", **look | {"ls": ":", "mfc": "none"})
        axes.axhline(1, color="0.35", ls="--", lw=1)
        axes.set(xscale="log", xlabel="$L/D$ (tokens for each dimension)", ylim=(-0.02, 1.05))
        axes.set(ylabel=r"weight over $\mathbb{E}[(X^\top X)^{-1}]$")
        figures.plain_ticks(axes, shown["multiple"].unique())
        axes.legend(loc="center right")
        return Plate(
            figure,
            caption=(
                "**The best head's weight over the inverse second moment of the features**, against the length "
                "of the prompts for each dimension. Filled: without penalty, in closed form over a simulated "
                "moment (bars of two standard errors are smaller than the marks). Open: with the largest "
                "penalty of the list. The dashed line is equality."
            ),
            alt=(
                "Ratios against tokens for each dimension: without penalty they rise to one, with the penalty "
                "they stay near zero."
            ),
        )


def draw_prompt(drawn: Prompts, embedding: np.ndarray) -> Plate:
    """One prompt: responses along the task, and its embedding E."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.4), width_ratios=(1, 1.5))
        along = drawn.x[0] @ drawn.w[0] / np.linalg.norm(drawn.w[0])
        left.plot(along[:-1], drawn.y[0, :-1], "o", label="labelled tokens")
        left.plot(along[-1], drawn.y[0, -1], "*", ms=12, label="query (its response is asked for)")
        left.set(xlabel=r"$\langle w, x\rangle/\|w\|$", ylabel="$y$")
        left.legend()
        limit = np.abs(embedding[0]).max()
        image = right.imshow(embedding[0], cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
        right.set(xlabel="token (the last is the query)", ylabel="row of $E$ (the last holds $y$)")
        right.grid(False)
        figure.colorbar(image, ax=right)
        return Plate(
            figure,
            caption=(
                "**One prompt.** Left: responses against the features' component along the task; without label "
                r"noise they lie on a line whose slope is $\|w\|$. Right: its embedding $E$; the last row holds "
                "the responses, the last column the query."
            ),
            alt=(
                "Left panel: responses of the labelled tokens and of the query on a straight line. Right "
                "panel: heat map of the embedding matrix."
            ),
        )


def draw_test_error(table: pd.DataFrame) -> Plate:
    """Left: test error against λ at the largest L. Right: the best over λ against L, with the closed form."""
    with figures.style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.2), sharey=True)
        longest = table[table["L"] == table["L"].max()]
        tuned = table.loc[table.groupby(["D", "L"])["test_error"].idxmin()]
        for D, look in figures.looks(sorted(table["D"].unique())).items():
            rows = longest[longest["D"] == D].sort_values("penalty")
            figures.points(left, rows, "penalty", "test_error", label=f"D = {D}", ls="", **look)
            left.plot(rows["penalty"], rows["closed_form"], color=look["color"], lw=1)
            rows = tuned[tuned["D"] == D].sort_values("L")
            figures.points(right, rows, "L", "test_error", label=f"D = {D}", ls="", **look)
            right.plot(rows["L"], rows["best"], color=look["color"], lw=1)
        left.axhline(table["response_variance"].max(), color="0.35", ls="--", lw=1, label="Γ = 0")
        right.axhline(table["response_variance"].max(), color="0.35", ls="--", lw=1)
        figures.log_axes(left, r"$\lambda$", "test error")
        figures.log_axes(right, "$L$ (tokens in a prompt)", "")
        left.set_title(f"L = {table['L'].max()}: points simulated, lines in closed form")
        right.set_title("λ tuned; lines: the best linear head")
        figures.plain_ticks(right, table["L"].unique())
        left.legend()
        return Plate(
            figure,
            caption=(
                "**Test error without privacy.** Heads trained by ridge regression on $N$ prompts, tested on "
                "fresh ones; bars of two standard errors over the trials are smaller than most marks. Left: "
                "against the penalty, with the population's value as a line. Right: with the best penalty, "
                "against $L$; the line is the closed form of the best linear head. A penalty that is large "
                "beside $1/D^3$ leaves little but the answer 0 (dashed)."
            ),
            alt=(
                "Test error against the ridge penalty, flat and low for small penalties and rising to one; and "
                "tuned test error falling with prompt length along the closed form."
            ),
        )
