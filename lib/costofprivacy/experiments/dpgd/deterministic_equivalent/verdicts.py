"""Verdicts on Assumptions 1 and 2, Figure 1, Theorem 1 and Proposition 4.4 of arXiv:2505.16329v2."""

from __future__ import annotations

import pandas as pd

from costofprivacy.experiments.dpgd.deterministic_equivalent import trends
from costofprivacy.judging.findings import Verdict
from costofprivacy.judging.judges import Ruling, judges, numbers, reads
from costofprivacy.judging.tables import Tables

NEARLY_EVERY = 0.9  # share of the times of all panels at which R(t) is to lie inside the band
FEWEST_SIZES = 3  # numbers of samples that show a trend


@judges("dpgd/assumption-1")
def assumption_1(tables: Tables) -> Ruling:
    """Assumption 1 assumes."""
    return Ruling(Verdict.UNTESTABLE)


@judges("dpgd/assumption-2")
def assumption_2(tables: Tables) -> Ruling:
    """Assumption 2 assumes."""
    return Ruling(Verdict.UNTESTABLE)


@judges("dpgd/figure-1")
def figure_1(tables: Tables) -> Ruling:
    """At the largest d the curve R(t) lies inside the band, and runs close in on it as d grows."""
    table = tables["figure-1"]
    later = table[table["t"] > 0]
    gap = later["ode_risk"] - later["risk_mean"]
    inside = gap.abs() <= later["risk_sd"]
    share = inside[later["d"] == later["d"].max()].mean()
    shrinks = _shrinks(later.assign(square=gap**2 + later["risk_sd"] ** 2))
    named = {
        "share of the times inside the band": (share, NEARLY_EVERY, "largest d, all panels"),
        **{f"distance at the smallest d over that at the largest, {at}": (by, 1.0) for at, by in shrinks.items()},
    }
    broken = share < NEARLY_EVERY or shrinks.min() <= 1
    verdict = reads(printed=not broken, decided=len(shrinks) > 0)
    return Ruling(verdict, numbers("figure-1", named, ""), {"share": share, "nearer": shrinks.min()})


def _shrinks(marked: pd.DataFrame) -> pd.Series:
    """How many times nearer to R(t) a run is at the largest than at the smallest d, by panel; empty for one d."""
    distance = marked.groupby(["spectrum", "alpha", "d"])["square"].mean().pow(0.5).unstack("d")
    if distance.shape[1] < 2:
        return pd.Series(dtype=float)
    shrinks = distance.iloc[:, 0] / distance.iloc[:, -1]
    names = [f"{spectrum} spectrum and the exponent {alpha:g}" for spectrum, alpha in shrinks.index]
    return shrinks.set_axis(names)


@judges("dpgd/theorem-1-path")
def theorem_1_path(tables: Tables) -> Ruling:
    """(4.9): sup over t < 1 of |R(θ) − R(t)|, its mean and its 99 % quantile over the chains."""
    return _rate(tables, ("path", "path, 99 %"))


@judges("dpgd/theorem-1-mean")
def theorem_1_mean(tables: Tables) -> Ruling:
    """(4.10): the same for the mean risk."""
    return _rate(tables, ("bias",))


@judges("dpgd/proposition-4.4-path")
def proposition_44_path(tables: Tables) -> Ruling:
    """(4.23): |R(θ_n) − R(1) − 2c²η̃(1)²γ²/ρ²|, its mean."""
    return _rate(tables, ("released",))


@judges("dpgd/proposition-4.4-mean")
def proposition_44_mean(tables: Tables) -> Ruling:
    """(4.24): the bias of the released risk."""
    return _rate(tables, ("released bias",))


def _rate(tables: Tables, quantities: tuple[str, ...]) -> Ruling:
    """Whether deviations fall as fast as log²n/√n, in every spectrum and schedule."""
    if trends.too_small(tables["rates"], FEWEST_SIZES):
        return trends.SMALL
    return trends.judge(falls(tables["rates"], quantities))


def falls(rates: pd.DataFrame, quantities: tuple[str, ...]) -> list[trends.Fall]:
    """The falls of these deviations between the last two n, for every spectrum and schedule."""
    chosen = rates[rates["quantity"].isin(quantities)]
    groups = chosen.groupby(["quantity", "spectrum", "schedule"], sort=False)
    return [trends.fall(", ".join(map(str, names)), "rates", rows) for names, rows in groups]
