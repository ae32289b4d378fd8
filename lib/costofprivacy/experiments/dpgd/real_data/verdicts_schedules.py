"""Verdicts on Figure 8 of arXiv:2505.16329v2 and what section 7 says of it."""

from __future__ import annotations

import math

import pandas as pd

from costofprivacy.datasets import HOUSING, MNIST
from costofprivacy.experiments.dpgd.real_data.figure_eight import ALL, HARMONIC, KEPT, LIMITED
from costofprivacy.experiments.dpgd.real_data.reading import ratio
from costofprivacy.experiments.dpgd.real_data.verdicts import absent
from costofprivacy.findings import Consequence, Finding, Number, Tables, Verdict, compact, judges, select

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
    """Is any other schedule better than the harmonic one, beyond the errors, at some n?"""
    if missing := absent(tables, MNIST, HOUSING):
        return missing
    found = {data: margins(tables["figure-8"], data, view) for data, view in VIEWS.items()}
    numbers = tuple(number for data, rows in found.items() for number in _closest(rows, data, VIEWS[data]))
    change = "More seeds, or a finer grid, in which another schedule is better beyond the errors."
    places = [(data, n, rows) for data, table in found.items() for n, rows in table.groupby("n")]
    if not places:
        return Finding(Verdict.UNTESTABLE, "Too few seeds are left to compare schedules.", would_change=change)
    lost = [(data, n, float(rows.loc[rows["behind"], "quotient"].max())) for data, n, rows in places
            if rows["behind"].any()]  # fmt: skip
    if not lost:
        alone = sum(bool(rows["ahead"].all()) for _, _, rows in places)
        headline = (
            "Beyond the errors no schedule beats the harmonic one; it beats every other at "
            f"{alone} of {len(places)} sizes."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    worst = max(quotient for _, _, quotient in lost)
    if len(lost) == len(places):
        headline = f"At every number of records another schedule is better, up to a factor {compact(worst)}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = f"At {len(lost)} of {len(places)} sizes another schedule is better beyond the errors."
    where = "; ".join(f"{data.split(',')[0]} at $n={n}$" for data, n, _ in lost)
    correction = f"On a par or better elsewhere; excluded: {where}, by a factor of up to {compact(worst)}."
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, correction, change)


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
