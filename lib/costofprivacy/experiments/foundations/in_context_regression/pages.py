"""The answer and the short tables of the page on in-context regression."""

from __future__ import annotations

import pandas as pd

from costofprivacy.experiments.foundations.in_context_regression.verdicts import appendix_a1, equation_23
from costofprivacy.judging import words
from costofprivacy.judging.prose import compact, plain
from costofprivacy.judging.tables import Tables, pick

BLOCKS = {"W^PV": "v, in the values", "W^KQ": "u, in keys and queries"}


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    table = tables["test-error"]
    row = pick(table, D=table["D"].max(), L=table["L"].max(), penalty=table["penalty"].max())
    return (
        f"{words.headline(equation_23, tables)} {words.headline(appendix_a1, tables)} "
        f"At $D = {row['D']:.0f}$, $L = {row['L']:.0f}$ the best linear head has a test error of "
        f"{compact(row['best'])}, ridge with $\\lambda = {row['penalty']:g}$ has {compact(row['test_error'])}, "
        f"answering 0 has {compact(row['response_variance'])}."
    )


def show_identities(identities: pd.DataFrame) -> pd.DataFrame:
    """The largest difference of each identity over all shapes, for the page."""
    worst = identities.groupby("identity", sort=False)["relative_difference"].max()
    return worst.map(plain).to_frame("largest relative difference")


def show_dropped_terms(dropped: pd.DataFrame) -> pd.DataFrame:
    """Means of the products over all shapes, and their sizes in standard errors, for the page."""
    scored = dropped.assign(score=dropped["mean"] / dropped["standard_error"]).groupby("product", sort=False)
    means, scores = (scored[column].agg(["min", "max"]) for column in ("mean", "score"))
    shown = means.set_axis(["least mean", "largest mean"], axis=1)
    return shown.join(scores.set_axis(["least, in standard errors", "largest"], axis=1)).map(plain)


def show_tuned(table: pd.DataFrame) -> pd.DataFrame:
    """Test error with the best penalty for each shape beside the best linear head, for the page."""
    tuned = table.loc[table.groupby(["D", "L"])["test_error"].idxmin()].set_index(["D", "L"])
    names = {"penalty": "best λ", "test_error": "test error", "standard_error": "standard error"}
    names |= {"best": "best linear head"}
    return tuned[list(names)].rename(columns=names).map(plain)


def show_zero_blocks(zero: pd.DataFrame) -> pd.DataFrame:
    """The slope of the loss at zero blocks over all shapes, in standard errors, for the page."""
    scored = zero.assign(score=zero["mean"] / zero["standard_error"]).groupby("product", sort=False)["score"]
    shown = scored.agg(["min", "max"]).set_axis(["least, in standard errors", "largest"], axis=1)
    return shown.rename(index=BLOCKS).map(plain).rename_axis("slope along")
