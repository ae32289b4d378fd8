"""Verdicts on Figure 8 of arXiv:2505.16329v2 and what section 7 says of it."""

from __future__ import annotations

import math

import pandas as pd

from costofprivacy.datasets import HOUSING, MNIST
from costofprivacy.experiments.dpgd.real_data.figure_eight import ALL, HARMONIC, KEPT, LIMITED
from costofprivacy.experiments.dpgd.real_data.reading import ratio
from costofprivacy.experiments.dpgd.real_data.verdicts import absent
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact, span
from costofprivacy.judging.tables import Tables, select

VIEWS = {MNIST: ALL, HOUSING: KEPT}  # what the paper shows
CLOSE = 1.01  # risks by the equations within this factor are on a par


def margins(table: pd.DataFrame, data: str, view: str) -> pd.DataFrame:
    """By n and other schedule: the harmonic schedule's risk over the other's, the geometric mean over seeds.

    Columns: n, schedule, quotient, standard_error of its logarithm, seeds; and what is beyond doubt, ``behind`` and
    ``ahead``.
    """
    rows = []
    for n, group in select(table, data=data, view=view).groupby("n"):
        risks = group.pivot(index="seed", columns="schedule", values="risk")
        for name in risks.columns.drop(HARMONIC):
            found = ratio(risks[HARMONIC].to_numpy(), risks[name].to_numpy())
            place = {"n": n, "schedule": name, "quotient": found.value, "standard_error": found.error}
            rows.append(place | {"seeds": len(risks), "behind": found.above, "ahead": found.below})
    return pd.DataFrame(rows, columns=["n", "schedule", "quotient", "standard_error", "seeds", "behind", "ahead"])


@judges("dpgd/figure-8")
def figure_8(tables: Tables) -> Finding:
    """Is the harmonic schedule the lowest, beyond the errors, at every n? Or on a par, or behind another?

    Section 7 tells *optimal* from *on par*: a tie, or what the errors cannot tell from one, is not the lowest.
    """
    if missing := absent(tables, MNIST, HOUSING):
        return missing
    found = {data: margins(tables["figure-8"], data, view) for data, view in VIEWS.items()}
    numbers = tuple(number for data, rows in found.items() for number in _closest(rows, data, VIEWS[data]))
    change = "More seeds, or a finer grid, in which it or another schedule is lowest beyond the errors."
    places = [(data, n, rows) for data, table in found.items() for n, rows in table.groupby("n")]
    if not places:
        return Finding(Verdict.UNTESTABLE, "Too few seeds are left to compare schedules.", would_change=change)
    lost = [(data, n, float(rows.loc[rows["behind"], "quotient"].max())) for data, n, rows in places
            if rows["behind"].any()]  # fmt: skip
    if not lost:
        return _unbeaten([rows for _, _, rows in places], numbers, change)
    worst = max(quotient for _, _, quotient in lost)
    if len(lost) == len(places):
        headline = f"At every number of records another schedule is better, up to a factor {compact(worst)}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = f"At {len(lost)} of {len(places)} sizes another schedule is better beyond the errors."
    where = "; ".join(f"{data.split(',')[0]} at $n={n}$" for data, n, _ in lost)
    correction = f"On a par or better elsewhere; excluded: {where}, by a factor of up to {compact(worst)}."
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, correction, change)


def _unbeaten(places: list[pd.DataFrame], numbers: tuple[Number, ...], change: str) -> Finding:
    """What is found where no schedule beats the harmonic one: is it ahead of all others everywhere, or on a par?"""
    ahead, on_par = leads(places), len(places) - leads(places)
    if not on_par:
        headline = f"The harmonic schedule has the lowest risk beyond the errors at all {len(places)} sizes."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    best = f"only {ahead}" if ahead else "none"
    headline = f"Beyond the errors no schedule beats the harmonic one, and it is best at {best} of {len(places)} sizes."
    errors = span([number.error for number in numbers if number.error is not None])
    correction = (
        f"Where a tie counts as optimal. At {on_par} of {len(places)} sizes it is on a par with the best other one: "
        f"the ratio's standard errors, {errors}, tell no more."
    )
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.NUMBERS, correction, change)


def leads(places: list[pd.DataFrame]) -> int:
    """At how many sizes the harmonic schedule is ahead of every other beyond doubt; a table of `margins` for each."""
    return sum(bool(rows["ahead"].all()) for rows in places)


def _closest(rows: pd.DataFrame, data: str, view: str) -> tuple[Number, ...]:
    """For each n, the schedule that the harmonic one is least ahead of, or most behind."""
    if rows.empty:
        return ()
    worst = rows.loc[rows.groupby("n")["quotient"].idxmax()]
    return tuple(
        Number(f"harmonic over α = {row['schedule']}, {data.split(',')[0]}, n = {row['n']:g}", row["quotient"],
               row["quotient"] * row["standard_error"], 1.0, "figure-8",
               f"data = {data}, view = {view}, n = {row['n']:g}")
        for _, row in worst.iterrows()
    )  # fmt: skip


@judges("dpgd/section-7-theory-harmonic")
def theory_harmonic(tables: Tables) -> Finding:
    """Do the equations, fed the spectra of these data, put the harmonic schedule first at every n?"""
    if missing := absent(tables, MNIST, HOUSING):
        return missing
    table = tables["theory"]
    quotients = {}
    for (data, n), rows in table.groupby(["data", "n"]):
        risks = rows.set_index("schedule")["risk"]
        others = risks.drop(HARMONIC)
        quotients[data, int(n)] = (float(risks[HARMONIC] / others.min()), str(others.idxmin()))
    numbers = tuple(
        Number(f"harmonic over the best other, by the equations, {data.split(',')[0]}, n = {n}", value, None, CLOSE,
               "theory", f"data = {data}, n = {n}")
        for (data, n), (value, _) in quotients.items()
    )  # fmt: skip
    change = "Spectra, or a spread of norms, for which the equations put another schedule first, or do so nowhere."
    worst = max(value for value, _ in quotients.values())
    behind = [key for key, (value, _) in quotients.items() if value > CLOSE]
    if not behind:
        headline = "Fed these data's spectra, the equations have the harmonic schedule first or on a par at every size."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    places = "; ".join(f"{data.split(',')[0]} at $n={n}$" for data, n in behind)
    if len(behind) == len(quotients):
        headline = (
            "Fed these data's spectra, the equations put another schedule first at every size, up to a factor "
            f"{compact(worst)}."
        )
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    count = f"{len(behind)} of {len(quotients)}"
    headline = f"Fed these data's spectra, the equations put another schedule first at {count} sizes."
    correction = f"The theory suggests it for well-conditioned data. Excluded: {places}."
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.NUMBERS, correction, change)


def limited_gains(table: pd.DataFrame, data: str) -> float:
    """What limiting features does at the largest n: the least mean risk over that without; NaN where there is none."""
    rows = table[(table["data"] == data) & (table["n"] == table.loc[table["data"] == data, "n"].max())]
    means = rows.groupby(["view", "schedule"])["risk"].mean().unstack("schedule").min(axis=1)
    return float(means[LIMITED] / means[ALL]) if {LIMITED, ALL} <= set(means.index) else math.nan
