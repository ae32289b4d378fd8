"""The answer of the page on real data of arXiv:2505.16329v2, and what its tables are of."""

import math

import pandas as pd

from chapters.dpgd.real_data.maps import FIGURES
from chapters.dpgd.real_data.problem import LIMIT, PAPERS
from chapters.dpgd.real_data.reading import panels
from chapters.dpgd.real_data.verdicts import figure_5, figure_6
from chapters.dpgd.real_data.verdicts_rows import own_fractions
from chapters.dpgd.real_data.verdicts_schedules import figure_8
from companion.judging import words
from companion.judging.findings import Verdict
from companion.judging.prose import listed, percent, span
from companion.judging.tables import Tables, select
from costofprivacy.datasets import MNIST


def answer(tables: Tables) -> list[str]:
    """The shape of the maps, what ruins some shuffles, which schedule is best, and what the page does."""
    rows = tables["rows"]
    used = [str(select(rows, asked=name)["data"].iloc[0]) for name in PAPERS]
    if used != list(PAPERS):
        return [
            "This page says nothing of the paper's data, because some of them are missing here.",
            f"Its tables are of {used[0]} and {used[1]}, which come with scikit-learn.",
            "`make data` fetches the paper's.",
        ]
    shares = own_fractions(tables["seeds"])
    out = shares.loc[shares["share"].idxmax()]
    return [
        _shape(tables),
        f"On housing, a few held-out rows ruin {percent(float(out['share']))} of the shuffles; "
        f"features limited to {LIMIT:g} standard deviations cure {_cured(shares)}.",
        words.headline(figure_8, tables),
        "We derive what private noise does to the held-out risk, run DP-GD on housing by hand, and judge the paper's "
        "claims.",
    ]


def _shape(tables: Tables) -> str:
    """Whether the maps have the shape that the theory gives them, and where."""
    lost = Verdict.FAILS in (figure_5(tables).verdict, figure_6(tables).verdict)
    shape = f"The maps {'do not have' if lost else 'have'} the predicted shape"
    found = [panel for panel in panels(tables[FIGURES[MNIST]]) if panel.gamma < 1]
    if not found:  # ln(1/γ) = 0
        return f"{shape}."
    lines = span(panel.product / math.log(1 / panel.gamma) for panel in found)
    also = ";" if lost else ", but"
    return rf"{shape}{also} on MNIST the best $c\tilde\eta(0)$ is {lines} times $\ln(1/\gamma)$."


def _cured(shares: pd.DataFrame) -> str:
    left = float(shares["limited"].max())
    return "all" if left == 0 else f"all but {percent(left)}"


def said_of_data(tables: Tables) -> str:
    """Which data sets the tables are of, in a sentence; a stand-in is named as one."""
    rows = tables["rows"].drop_duplicates("asked")
    told = [
        f"{row['data']}, {int(row['d'])} features"
        + ("" if row["data"] == row["asked"] else f" (in the place of {row['asked']}, which was not at hand)")
        for _, row in rows.iterrows()
    ]
    return f"The tables on this page are of {listed(told)}."
