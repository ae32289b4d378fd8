"""Figures of what bounds and missing cells cost."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from chapters.your_data import finding, loose, missing
from companion.judging.prose import compact, percent
from companion.judging.tables import pick, select
from companion.showing import figures
from companion.showing.plates import Plate

WIDENED = {
    loose.BOTH: "both",
    loose.FEATURES: "features",
    loose.RESPONSE: "response",
    loose.STATED: "features,\nvariance stated",
}
RULES = {
    missing.MIDDLE: "middle of\nthe bounds",
    missing.TYPICAL: "typical value",
    missing.INDICATOR: "middle and\nindicator",
    missing.VOID: "void record",
}


def _lost(table: pd.DataFrame, x: str, meaning: str, by: str, names: Mapping[str, str]) -> Figure:
    """The share of the explainable variance that is lost, along a column, a curve for each name of another."""
    rows = table.rename(columns={"lost_error": "standard_error"})
    with figures.panels(1, figsize=(5.8, 3.8)) as (figure, (axes,)):
        figures.curves(axes, rows, x, "lost", by, names)
        axes.axhline(1, ls="--", lw=1, color="0.35")
        figures.log_axes(axes, meaning, "share lost")
        figures.plain_ticks(axes, table[x].unique())
    return figure


def draw_loose(table: pd.DataFrame) -> Plate:
    """What a private fit loses against the factor by which public bounds are too wide.

    Args:
        table: from `loose.table`.
    """
    figure = _lost(table, "factor", "bounds wider than the data by the factor", "widened", WIDENED)
    widest = table["factor"].max()
    tight = compact(pick(table, widened=loose.BOTH, factor=1.0)["lost"])
    each = {what: compact(pick(table, widened=what, factor=widest)["lost"]) for what in loose.WIDENED}
    return Plate(
        figure,
        caption=(
            f"**What a loose bound costs.** The share of the explainable variance that a private fit loses; 1 (dashed) "
            f"is the loss of always predicting the mean. Bars show two standard errors. With tight bounds the loss is "
            f"{tight}. If all bounds are {widest:g} times too wide, it is {each[loose.BOTH]}. If only the features' "
            f"bounds are, it is {each[loose.FEATURES]}, or {each[loose.STATED]} if their true variance is stated. If "
            f"only the response's bounds are too wide, it is {each[loose.RESPONSE]}."
        ),
    )


def draw_finding(table: pd.DataFrame) -> Plate:
    """What a fit loses with known, loose and private bounds, against the number of records.

    Args:
        table: from `finding.table`.
    """
    names = {finding.KNOWN: "known", finding.FOUND: "private", finding.WIDE: f"{finding.LOOSE:g} times\ntoo wide"}
    figure = _lost(table, "n", "$n$ (records)", "bounds", names)
    most = table["n"].max()
    lost = {way: compact(pick(table, bounds=way, n=most)["lost"]) for way in finding.WAYS}
    return Plate(
        figure,
        caption=(
            f"**Known, private or loose bounds**, at the same total budget. The share of the explainable variance that "
            f"a private fit loses; 1 (dashed) is the loss of always predicting the mean. Bars show two standard "
            f"errors. Private bounds have {percent(finding.SHARE)} of $\\mu^2$. With {most:,} records, the loss is "
            f"{lost[finding.KNOWN]} with known bounds, {lost[finding.FOUND]} with private ones, and "
            f"{lost[finding.WIDE]} with bounds that are {finding.LOOSE:g} times too wide."
        ),
    )


def draw_missing(table: pd.DataFrame) -> Plate:
    """What a fit loses against the share of missing cells: left with privacy, right without.

    Args:
        table: from `missing.table`.
    """
    with figures.panels(2, figsize=(9.2, 3.9), sharey=True) as (figure, panels):
        for axes, fit in zip(panels, (missing.PRIVATE, missing.FREE), strict=True):
            rows = select(table, fit=fit).rename(columns={"lost_complete_error": "standard_error"})
            figures.curves(axes, rows, "share", "lost_complete", "rule", RULES)
            axes.set(yscale="log", xlabel="share of missing cells", ylabel="share lost", title=fit)
    most = table["share"].max()
    at_most = select(table, fit=missing.PRIVATE, share=most).set_index("rule")["lost_complete"]
    complete = pick(table, fit=missing.PRIVATE, rule=missing.VOID, share=most)["records"]
    return Plate(
        figure,
        caption=(
            f"**What missing cells cost.** The share of the explainable variance that is lost for new people without "
            f"missing cells; bars show two standard errors. One panel has a private fit, the other least squares on "
            f"the same features. With {percent(most)} of the cells missing, {percent(complete)} of the records are "
            f"complete. The private fit then loses {compact(at_most[missing.MIDDLE])} with the middle of the bounds "
            f"in their place, {compact(at_most[missing.TYPICAL])} with a typical value, "
            f"{compact(at_most[missing.INDICATOR])} with an indicator, and {compact(at_most[missing.VOID])} if "
            f"incomplete records are void."
        ),
    )
