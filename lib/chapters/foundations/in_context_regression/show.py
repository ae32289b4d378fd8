"""What does a linear attention head compute in context, may two blocks of it be zero, and how well can it do?"""

import numpy as np
import pandas as pd

from companion.judging import words
from companion.judging.judges import judges_of
from companion.judging.prose import compact, plain, span, times
from companion.judging.tables import Tables, pick, select
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import described
from costofprivacy.noisyhead.prompts import Prompts


def show_identities(identities: pd.DataFrame) -> pd.DataFrame:
    """The largest difference of each identity over all shapes."""
    worst = identities.groupby("identity", sort=False)["relative_difference"].max()
    return worst.map(plain).to_frame("largest relative difference")


def show_dropped_terms(dropped: pd.DataFrame) -> pd.DataFrame:
    """Means of the products over all shapes, and their sizes in standard errors."""
    means = dropped.groupby("product", sort=False)["mean"].agg(["min", "max"])
    return means.set_axis(["least mean", "largest mean"], axis=1).join(scores(dropped)).map(plain)


def scores(means: pd.DataFrame) -> pd.DataFrame:
    """The range of the means of each product, in standard errors."""
    ends = (means["mean"] / means["standard_error"]).groupby(means["product"], sort=False).agg(["min", "max"])
    return ends.set_axis(["least, in standard errors", "largest"], axis=1)


def caption_test_error(tables: Tables) -> str:
    """How near trained heads come to the best linear head, and what the penalty costs."""
    table = tables["test-error"]
    tuned = table.loc[table.groupby(["D", "L"])["test_error"].idxmin()]
    strongest = select(table, penalty=table["penalty"].max())
    off = (tuned["test_error"] / tuned["best"]).max()
    penalised = (strongest["test_error"] / strongest["response_variance"]).min()
    return (
        f"**With the best penalty trained heads have at most {times(off)} the error of the best linear head; at "
        f"$\\lambda = {table['penalty'].max():g}$ no head gets below {times(penalised)} the error of answering 0.** "
        "Test error without privacy of heads trained by ridge regression, over all fresh prompts. Left: against the "
        "penalty (lines: closed form in the population). Right: with the best penalty (lines: the best linear head). "
        f"Bars, mostly hidden: two standard errors over {span(table['trials'])} trials."
    )


def draw_prompt(drawn: Prompts, embedding: np.ndarray) -> Plate:
    """One prompt: responses along the task, and its embedding E."""
    slope = float(np.linalg.norm(drawn.w[0]))
    along, responses = drawn.x[0] @ drawn.w[0] / slope, drawn.y[0]
    off = float(np.abs(responses - slope * along).max())
    with figures.panels(2, ends=False, figsize=(9.2, 3.4), width_ratios=(1, 1.5)) as (figure, (left, right)):
        left.plot(along[:-1], responses[:-1], "o", label="labelled tokens")
        left.plot(along[-1], responses[-1], "*", ms=12, label="query")
        left.set(xlabel=r"$\langle w, x\rangle/\|w\|$", ylabel="$y$")
        left.legend()
        limit = np.abs(embedding[0]).max()
        image = right.imshow(embedding[0], cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
        right.set(xlabel="token (the last is the query)", ylabel="row of $E$ (the last holds $y$)")
        right.grid(False)
        figure.colorbar(image, ax=right, location="top", label="entry of $E$")
    rows, columns = embedding[0].shape
    return Plate(
        figure,
        f"**The responses of one prompt lie within {compact(off)} of a line.** Left: responses against the features' "
        f"component along the task; the slope is $\\|w\\|$ = {compact(slope)}. Right: its embedding $E$; the last row "
        "holds the responses, the last column the query.",
        # Tokens in the order in which they are drawn have no course.
        alt=f"{len(along) - 1} labelled tokens and the query within {plain(off)} of a line of slope {plain(slope)}; "
        f"the query has the response {plain(float(responses[-1]))}. The embedding is a matrix of {rows} rows and "
        f"{columns} columns.",
    )


def draw_inverse_moment(table: pd.DataFrame) -> Plate:
    """The weight of the best head over the inverse second moment of the features, and that of a penalised one."""
    shown = table.assign(multiple=table["L"] / table["D"], standard_error=table["ratio_error"])
    free, penalised = shown[shown["penalty"] == 0], shown[shown["penalty"] > 0]
    with figures.panels(ends=False, figsize=(6.8, 4.0)) as (figure, (axes,)):
        for D, look in figures.looks(sorted(shown["D"].unique())).items():
            figures.points(axes, select(free, D=D), "multiple", "over_normalised", label=f"$D$ = {D}", **look)
            rows = select(penalised, D=D)
            figures.points(axes, rows, "multiple", "over_normalised", **look | {"ls": ":", "mfc": "none"})
        axes.axhline(1, color="0.35", ls="--", lw=1)
        axes.set(xscale="log", xlabel="$L/D$ (tokens for each dimension)", ylim=(-0.02, 1.05))
        axes.set(ylabel=r"weight over $\mathbb{E}[(X^\top X)^{-1}]$")
        figures.plain_ticks(axes, shown["multiple"].unique())
        axes.legend(loc="center right", title="no penalty; open: penalised", title_fontsize=figures.LETTERS)
    short, long = (select(free, multiple=free["multiple"].agg(end))["over_normalised"] for end in ("min", "max"))
    return Plate(
        figure,
        f"**The best head's weight is {compact(short.min())} of the inverse second moment of the features at the "
        f"shortest prompts for each dimension, {compact(long.max())} of it at the longest.** Dashed: equality. Filled: "
        "without penalty, in closed form over a simulated moment. "
        f"Open: with $\\lambda = {penalised['penalty'].max():g}$ it is at most "
        f"{compact(penalised['over_normalised'].max())}. Bars of two standard errors are smaller than the marks.",
        alt=f"{described(figure)} With the penalty at most {plain(penalised['over_normalised'].max())}.",
    )


def answer(tables: Tables) -> list[str]:
    """The chapter's answer, and what a reader will see."""
    table, judges = tables["test-error"], judges_of(__package__)
    row = pick(table, D=table["D"].max(), L=table["L"].max(), penalty=table["penalty"].max())
    return [
        "The head is a linear regression on one statistic $Z$ of the prompt. "
        f"At $D = {row['D']:.0f}$, $L = {row['L']:.0f}$ the best linear head has test error {compact(row['best'])}, "
        f"and ridge regression with $\\lambda = {row['penalty']:g}$ has {compact(row['test_error'])}.",
        *(words.headline(judges[f"noisyhead/{place}"], tables) for place in ("equation-2.3", "appendix-a.1")),
    ]
