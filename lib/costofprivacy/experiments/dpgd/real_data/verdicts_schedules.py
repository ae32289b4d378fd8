"""Verdicts on Figure 8 of arXiv:2505.16329v2 and what section 7 says of it."""

from __future__ import annotations

import pandas as pd

from costofprivacy.datasets import HOUSING, MNIST
from costofprivacy.experiments.dpgd.real_data.figure_eight import ALL, HARMONIC, KEPT
from costofprivacy.experiments.dpgd.real_data.reading import ratio
from costofprivacy.experiments.dpgd.real_data.verdicts import UNKNOWN, absent
from costofprivacy.judging.findings import Number
from costofprivacy.judging.judges import Ruling, judges, numbers, reads
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
def figure_8(tables: Tables) -> Ruling:
    """Is the harmonic schedule the lowest, beyond the errors, at every n? Or on a par, or behind another?

    Section 7 tells *optimal* from *on par*: a tie, or what the errors cannot tell from one, is not the lowest.
    """
    if absent(tables, MNIST, HOUSING):
        return UNKNOWN
    rows = {data: margins(tables["figure-8"], data, view) for data, view in VIEWS.items()}
    found = tuple(number for data, table in rows.items() for number in _closest(table, data, VIEWS[data]))
    places = [group for table in rows.values() for _, group in table.groupby("n")]
    ahead, behind = leads(places), sum(bool(group["behind"].any()) for group in places)
    verdict = reads(ahead == len(places), narrower=behind < len(places), decided=bool(places))
    quoted = {
        "best": f"only {ahead}" if ahead else "none",
        "ties": len(places) - ahead,
        "sizes": len(places),
        "errors": [number.error for number in found if number.error is not None],
    }
    return Ruling(verdict, found, quoted, "beaten" if behind else "")


def leads(places: list[pd.DataFrame]) -> int:
    """At how many sizes the harmonic schedule is ahead of every other beyond doubt; a table of `margins` for each."""
    return sum(bool(rows["ahead"].all()) for rows in places)


def _closest(rows: pd.DataFrame, data: str, view: str) -> tuple[Number, ...]:
    """For each n, the schedule that the harmonic one is least ahead of, or most behind."""
    if rows.empty:
        return ()
    worst = rows.loc[rows.groupby("n")["quotient"].idxmax()]
    named = {
        f"harmonic over α = {row['schedule']}, {data.split(',')[0]}, n = {row['n']:g}": {
            "value": row["quotient"],
            "error": row["quotient"] * row["standard_error"],
            "against": 1.0,
            "row": f"data = {data}, view = {view}, n = {row['n']:g}",
        }
        for _, row in worst.iterrows()
    }
    return numbers("figure-8", named)


@judges("dpgd/section-7-theory-harmonic")
def theory_harmonic(tables: Tables) -> Ruling:
    """Do the equations, fed the spectra of these data, put the harmonic schedule first at every n?"""
    if absent(tables, MNIST, HOUSING):
        return UNKNOWN
    risks = tables["theory"].pivot(index=["data", "n"], columns="schedule", values="risk")
    quotients = risks[HARMONIC] / risks.drop(columns=HARMONIC).min(axis=1)
    named = {
        f"harmonic over the best other, by the equations, {data.split(',')[0]}, n = {n}": (
            value,
            CLOSE,
            f"data = {data}, n = {n}",
        )
        for (data, n), value in quotients.items()
    }
    behind = quotients > CLOSE
    verdict = reads(printed=not behind.any(), narrower=not behind.all())
    return Ruling(verdict, numbers("theory", named), {"worst": quotients.max()})
