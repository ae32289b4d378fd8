"""Verdicts on Assumptions 1 and 2, Figure 1, Theorem 1 and Proposition 4.4 of arXiv:2505.16329v2."""

import math

import pandas as pd

from chapters.dpgd.deterministic_equivalent import trends
from chapters.dpgd.deterministic_equivalent.rates import KINK
from chapters.dpgd.deterministic_equivalent.reach import TARGETS
from companion.judging.findings import Verdict
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import ABOUT, CONSISTENT

NEARLY_EVERY = 0.9  # fraction of the times of all panels at which R(t) has to lie inside the band
FEWEST_SIZES = 3  # numbers of samples that show a trend
LIGHT = ("Rademacher", "Student t, 5")  # laws of independent coordinates with light tails, of those that were tried
LAW_COLUMNS = ("law", "target", "relative_gap", "standard_error")
SHOWN = {KINK: "constant schedule at 2/γ"}
DEVIATIONS = {  # what they are on a card
    "path": "largest distance of a run",
    "path, 99 %": "99 % quantile of the largest distance of a run",
    "bias": "largest bias of the mean risk",
    "released": "distance of the released risk",
    "released bias": "bias of the released risk",
}


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
        "fraction of the times at which R(t) is in the band": (share, NEARLY_EVERY, "largest d, all panels"),
        **{f"distance from R(t), smallest d over largest, {at}": (by, 1.0) for at, by in shrinks.items()},
    }
    close = share >= NEARLY_EVERY and shrinks.min() > 1
    verdict = reads(printed=close, decided=len(shrinks) > 0 and shrinks.notna().all() and not math.isnan(share))
    return Ruling(verdict, numbers("figure-1", named, ""), {"share": share, "nearer": shrinks.min()})


def _shrinks(marked: pd.DataFrame) -> pd.Series:
    """How many times nearer to R(t) a run is at the largest than at the smallest d, by panel; empty for one d."""
    distance = marked.groupby(["spectrum", "alpha", "d"])["square"].mean().pow(0.5).unstack("d")
    if distance.shape[1] < 2:
        return pd.Series(dtype=float)
    shrinks = distance.iloc[:, 0] / distance.iloc[:, -1]
    names = [f"{spectrum} spectrum, α = {alpha:g}" for spectrum, alpha in shrinks.index]
    return shrinks.set_axis(names)


@judges("dpgd/section-4-tails")
def section_4_tails(tables: Tables) -> Ruling:
    """Is R(t) the mean risk for other features with light tails: wherever θ* lies, or for θ* spread out alone?"""
    rows = tables["laws"]
    rows = rows[rows["law"].isin(LIGHT) & (rows["d"] == rows["d"].max())]
    agrees = rows["relative_gap"].abs() <= CONSISTENT * rows["standard_error"]
    noticed = (CONSISTENT * rows["standard_error"] <= ABOUT).all() and set(TARGETS) == set(rows["target"])
    found = {
        f"relative gap of the mean risk, {law}, target: {target}": {"value": gap, "error": error, "against": 0.0}
        for law, target, gap, error in zip(*(rows[name] for name in LAW_COLUMNS))
    }
    verdict = reads(printed=agrees.all(), narrower=agrees[rows["target"] == TARGETS[0]].all(), decided=noticed)
    gap = select(rows, law=LIGHT[0], target=TARGETS[1])["relative_gap"].abs().max()
    return Ruling(verdict, numbers("laws", found, "largest d"), {"gap": gap})


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
    return [
        trends.fall(f"{DEVIATIONS[quantity]}, {spectrum}, {SHOWN.get(schedule, f'{schedule} schedule')}", "rates", rows)
        for (quantity, spectrum, schedule), rows in groups
    ]
