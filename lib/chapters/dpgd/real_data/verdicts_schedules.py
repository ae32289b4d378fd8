"""Verdicts on Figure 8 of arXiv:2505.16329v2 and what section 7 says of it."""

import pandas as pd

from chapters.dpgd.real_data.figure_eight import ALL, HARMONIC, KEPT
from chapters.dpgd.real_data.reading import ratio
from chapters.dpgd.real_data.verdicts import UNKNOWN, absent
from companion.judging.findings import Number, Verdict
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import WORSE
from costofprivacy.datasets import HOUSING, MNIST

VIEWS = {MNIST: ALL, HOUSING: KEPT}  # what the paper shows


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
    """Is no schedule better than the harmonic one at any n?

    The harmonic schedule tends to output perturbation as τ grows, so a tie with that is all that it can have where
    output perturbation is best. Section 7 calls that optimal, too.
    """
    if absent(tables, MNIST, HOUSING):
        return UNKNOWN
    rows = {data: margins(tables["figure-8"], data, view) for data, view in VIEWS.items()}
    found = tuple(number for data, table in rows.items() for number in _closest(table, data, VIEWS[data]))
    places = [group for table in rows.values() for _, group in table.groupby("n")]
    behind = sum(bool((group["behind"] & (group["quotient"] > WORSE)).any()) for group in places)
    decided = all(len(table) for table in rows.values())
    verdict = reads(printed=behind == 0, narrower=behind < len(places), decided=decided)
    quoted = {"ahead": leads(places) or "none", "sizes": len(places)}
    return Ruling(verdict, found, quoted)


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
    """What the equations say, fed the spectra of these data: no factor contradicts the theory, which is a rate."""
    if absent(tables, MNIST, HOUSING):
        return UNKNOWN
    risks = tables["theory"].pivot(index=["data", "n"], columns="schedule", values="risk")
    quotients = risks[HARMONIC] / risks.drop(columns=HARMONIC).min(axis=1)
    named = {
        f"harmonic over the best other, by the equations, {data.split(',')[0]}, n = {n}": (value, 1.0)
        for (data, n), value in quotients.items()
    }
    return Ruling(Verdict.UNTESTABLE, numbers("theory", named), {"worst": quotients.max()})
