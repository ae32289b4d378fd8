"""Verdicts on Assumptions 1 and 2, Figure 1, Theorem 1 and Proposition 4.4 of arXiv:2505.16329v2."""

from __future__ import annotations

import pandas as pd

from costofprivacy.experiments.dpgd.deterministic_equivalent import trends
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables

NEARLY_EVERY = 0.9  # share of the times of all panels at which R(t) is to lie inside the band
FEWEST_SIZES = 3  # numbers of samples that show a trend


@judges("dpgd/assumption-1")
def assumption_1(tables: Tables) -> Finding:
    """Assumption 1 assumes."""
    return Finding(
        Verdict.UNTESTABLE,
        "An assumption; every run of this chapter meets it but those on other laws of the features.",
        would_change="Nothing: it is assumed, not claimed.",
    )


@judges("dpgd/assumption-2")
def assumption_2(tables: Tables) -> Finding:
    """Assumption 2 assumes."""
    return Finding(
        Verdict.UNTESTABLE,
        "An assumption; that the learning rate must not increase is missing from it.",
        would_change="Nothing: it is assumed, not claimed.",
    )


@judges("dpgd/figure-1")
def figure_1(tables: Tables) -> Finding:
    """At the largest d the curve R(t) lies inside the band, and runs close in on it as d grows."""
    table = tables["figure-1"]
    later = table[table["t"] > 0]
    gap = later["ode_risk"] - later["risk_mean"]
    marked = later.assign(inside=gap.abs() <= later["risk_sd"], square=gap**2 + later["risk_sd"] ** 2)
    share = marked.loc[marked["d"] == marked["d"].max(), "inside"].mean()
    shrinks = _shrinks(marked)
    numbers = (
        Number("share of the times inside the band", share, None, NEARLY_EVERY, "figure-1", "largest d, all panels"),
        *(
            Number(f"distance at the smallest d over that at the largest, {panel}", value, None, 1.0, "figure-1")
            for panel, value in shrinks.items()
        ),
    )
    change = "A larger dimension in which runs lie further from the curve."
    if len(shrinks) == 0:
        headline = "A single dimension shows no trend."
        return Finding(Verdict.UNTESTABLE, headline, numbers, would_change="A second dimension.")
    if share < NEARLY_EVERY:
        headline = f"In the largest dimension the equations' curve is inside the band at only {share:.0%} of the times."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if shrinks.min() <= 1:
        headline = f"In the panel with the {shrinks.idxmin()} runs do not close in on the curve."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        f"In the largest dimension the curve is in the band at {share:.0%} of times; runs lie at least "
        f"{compact(shrinks.min())} times nearer than in the smallest."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


def _shrinks(marked: pd.DataFrame) -> pd.Series:
    """How many times nearer to R(t) a run is at the largest than at the smallest d, by panel; empty for one d."""
    distance = marked.groupby(["spectrum", "alpha", "d"])["square"].mean().pow(0.5).unstack("d")
    if distance.shape[1] < 2:
        return pd.Series(dtype=float)
    shrinks = distance.iloc[:, 0] / distance.iloc[:, -1]
    names = [f"{spectrum} spectrum and the exponent {alpha:g}" for spectrum, alpha in shrinks.index]
    return shrinks.set_axis(names)


@judges("dpgd/theorem-1-path")
def theorem_1_path(tables: Tables) -> Finding:
    """(4.9): sup over t < 1 of |R(θ) − R(t)|, its mean and its 99 % quantile over the chains."""
    return _rate(tables, ("path", "path, 99 %"), "a run's distance from the equations")


@judges("dpgd/theorem-1-mean")
def theorem_1_mean(tables: Tables) -> Finding:
    """(4.10): the same for the mean risk."""
    return _rate(tables, ("bias",), "the bias of the mean risk")


@judges("dpgd/proposition-4.4-path")
def proposition_44_path(tables: Tables) -> Finding:
    """(4.23): |R(θ_n) − R(1) − 2c²η̃(1)²γ²/ρ²|, its mean."""
    return _rate(tables, ("released",), "the released risk's distance from its prediction")


@judges("dpgd/proposition-4.4-mean")
def proposition_44_mean(tables: Tables) -> Finding:
    """(4.24): the bias of the released risk."""
    return _rate(tables, ("released bias",), "the bias of the released risk")


def _rate(tables: Tables, quantities: tuple[str, ...], what: str) -> Finding:
    """Whether deviations fall as fast as log²n/√n, in every spectrum and schedule."""
    if trends.too_small(tables["rates"], FEWEST_SIZES):
        return trends.SMALL
    return trends.judge(falls(tables["rates"], quantities), what)


def falls(rates: pd.DataFrame, quantities: tuple[str, ...]) -> list[trends.Fall]:
    """The falls of these deviations between the last two n, for every spectrum and schedule."""
    chosen = rates[rates["quantity"].isin(quantities)]
    groups = chosen.groupby(["quantity", "spectrum", "schedule"], sort=False)
    return [trends.fall(", ".join(map(str, names)), "rates", rows) for names, rows in groups]
