"""Verdicts on Definition 4.2, (4.11) to (4.13), Proposition D.1 and (C.7) of arXiv:2505.16329v2."""

import math

import pandas as pd

from companion.judging.findings import Number
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, cite, describe, select
from companion.judging.vocabulary import ABOUT, CONSISTENT

FINITE = 2.0  # over d: the size of second-order effects on the mean of a step, as tr Σ²/d² ≤ λ_max/d
SOLVED = 1e-5  # relative difference of two solutions of one equation
EXACT = 1e-6  # relative difference of two sides of an identity, one of them by central differences
SLACK = 0.01  # fraction of the risk by which a bound may be crossed, which the solver's error is far below
READINGS = ("printed", "corrected")
HALVES = {"D, lower half": "D of the smaller half of the eigenvalues", "D, upper half": "D of the larger half"}


# ---------------------------------------------------------------------------------------------------- single steps


@judges("dpgd/definition-4.2")
def definition_42(tables: Tables) -> Ruling:
    """The drift of D_i, term by term and at every d, and one solution from two solvers."""
    steps = tables["one-step"]
    off = _deviation(steps, "derived")
    largest = _at_the_largest(steps)
    over = largest["value"] / largest["derived"]
    ratio = over.loc[(over - 1).abs().idxmax()]
    gap = identity(
        tables, "(4.7), exponential integrator and LSODA", SOLVED, "relative difference of two solvers of (4.7)"
    )
    named = {
        "worst measured term over the term of the equations": (ratio, 1.0, "largest d"),
        "largest deviation beyond 2/d, in standard errors": (off, CONSISTENT),
    }
    verdict = reads(printed=off <= CONSISTENT and gap.value <= SOLVED, decided=not math.isnan(off + gap.value))
    return Ruling(verdict, (*numbers("one-step", named, ""), gap), {"ratio": ratio})


@judges("dpgd/equation-c.7")
def equation_c7(tables: Tables) -> Ruling:
    """Is the sampling term halved?"""
    printed, derived = sampling(tables)
    last = _at_the_largest(select(tables["one-step"], term="sampling"))
    hidden = max(printed, derived) <= CONSISTENT  # too few trials to tell a term from its half
    decided = not (hidden or math.isnan(printed + derived))
    verdict = reads(printed=printed <= CONSISTENT, corrected=derived <= CONSISTENT, decided=decided)
    return Ruling(verdict, sampling_numbers(tables), {"ratio": (last["value"] / last["printed"]).mean()})


def sampling(tables: Tables) -> tuple[float, float]:
    """How far the sampling term deviates at every d, from the printed and from the derived reading."""
    rows = select(tables["one-step"], term="sampling")
    return _deviation(rows, "printed"), _deviation(rows, "derived")


def sampling_numbers(tables: Tables) -> tuple[Number, ...]:
    """The sampling term over the printed one at the largest d, for every quadratic."""
    last = _at_the_largest(select(tables["one-step"], term="sampling"))
    over, errors = last["value"] / last["printed"], last["standard_error"] / last["printed"]
    named = {
        f"measured sampling term over the printed one, {name}": {"value": ratio, "error": error, "against": 1.0}
        for name, ratio, error in zip(last["quadratic"].replace(HALVES), over, errors)
    }
    return numbers("one-step", named, "largest d, term = sampling")


def _at_the_largest(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["d"] == rows["d"].max()]


def _deviation(rows: pd.DataFrame, reading: str) -> float:
    """The largest distance from a reading in standard errors, less what a finite d may do."""
    allowed = FINITE / rows["d"] * rows[reading].abs()
    beyond = ((rows["value"] - rows[reading]).abs() - allowed).clip(lower=0)
    return float((beyond / rows["standard_error"]).max(skipna=False))


# ------------------------------------------------------------------------------------------------------ identities


@judges("dpgd/equation-4.11")
def equation_411(tables: Tables) -> Ruling:
    """For Σ = I, d equations and one."""
    name = "relative difference of the d equations and the single one"
    gap = identity(tables, "(4.11), d equations and one", SOLVED, name)
    return Ruling(reads(printed=gap.value <= SOLVED, decided=not math.isnan(gap.value)), (gap,))


def identity(tables: Tables, identity: str, against: float, name: str) -> Number:
    """How far the two sides of an identity are apart, as a number of this name."""
    return cite(name, tables, "identities", "relative_difference", against=against, identity=identity)


def says(tables: Tables, display: str, reading: str) -> bool:
    """Whether every term of a display says what it should, in this reading."""
    rows = select(tables["displays"], display=display, reading=reading)
    return len(rows) > 0 and bool(((rows["value"] / rows["derived"] - 1).abs() <= EXACT).all())


def ratios(tables: Tables, display: str) -> tuple[Number, ...]:
    """Each term of a display over what it should be, in all readings."""
    return tuple(
        Number(f"{row.term}, {row.reading}, over the independent computation", ratio, None, 1.0, "displays",
               f"display = {row.display}")
        for row in select(tables["displays"], display=display).itertuples()
        for ratio in (row.value / row.derived,)
    )  # fmt: skip


# ------------------------------------------------------------------------------------------- comparison equations


@judges("dpgd/equation-4.12")
def equation_412(tables: Tables) -> Ruling:
    """For Σ = I its two equations are to be (4.11), which has η̄. Nothing is decided if others were solved."""
    inside, beyond, corrected = _isotropic(tables["enclosure"])
    named = {
        "largest error over the risk, as printed, rates below the cap": (inside, ABOUT),
        "largest error over the risk, as printed, rates above the cap": (beyond, ABOUT),
        "largest error over the risk, as corrected": (corrected, ABOUT),
    }
    found = (*numbers("enclosure", named, "isotropic"), *ratios(tables, "(4.12)"))
    exact, known = max(inside, corrected) <= ABOUT, not math.isnan(inside + beyond + corrected)
    decided = known and says(tables, "(4.12)", "corrected")
    verdict = reads(printed=exact and beyond <= ABOUT, corrected=exact, decided=decided)
    return Ruling(verdict, found)


def _isotropic(enclosure: pd.DataFrame) -> tuple[float, float, float]:
    """Largest relative distance of both bounds from the risk, Σ = I: as printed below and above the cap, corrected."""
    rows = select(enclosure, spectrum="isotropic")
    worst = rows[["lower", "upper"]].sub(rows["risk"], axis=0).abs().max(axis=1, skipna=False) / rows["risk"]
    printed, above = rows["reading"] == "printed", rows["share_of_cap"] > 1
    below, beyond, corrected = (worst[at].max(skipna=False) for at in (printed & ~above, printed & above, ~printed))
    return below, beyond, corrected


@judges("dpgd/equation-4.13")
def equation_413(tables: Tables) -> Ruling:
    """Do R̲ and R̄ enclose R?"""
    return _enclosure(tables["enclosure"])


@judges("dpgd/proposition-d.1")
def proposition_d1(tables: Tables) -> Ruling:
    """The same, with its proof's step on tr Σ²."""
    return _enclosure(tables["enclosure"])


def _enclosure(enclosure: pd.DataFrame) -> Ruling:
    margin = enclosure[["lower_margin", "upper_margin"]].min(axis=1, skipna=False)
    corrected, above = enclosure["reading"] == "corrected", enclosure["share_of_cap"] > 1
    safe, printed = (margin[rows].min(skipna=False) for rows in (corrected | ~above, ~corrected & above))
    worst = {side: _worst(enclosure[~corrected], side) for side in ("lower", "upper")}
    lower, upper = (-row[f"{side}_margin"] for side, row in worst.items())
    named = {
        "least margin over the risk, rate capped or below the cap": (safe, -SLACK),
        "excess of the lower bound over the risk, as printed": (lower, SLACK, _case(worst["lower"])),
        "deficit of the upper bound over the risk, as printed": (upper, SLACK, _case(worst["upper"])),
    }
    capped, known = safe >= -SLACK, not math.isnan(safe + printed)
    verdict = reads(printed=capped and printed >= -SLACK, corrected=capped, decided=known)
    side, ratio = ("lower", 1 + lower) if lower > upper else ("upper", 1 - upper)
    return Ruling(verdict, numbers("enclosure", named, ""), {"cases": corrected.sum(), "side": side, "ratio": ratio})


def _worst(rows: pd.DataFrame, side: str) -> pd.Series:
    """The row in which a bound has the smallest margin."""
    return rows.loc[rows[f"{side}_margin"].idxmin()]


def _case(row: pd.Series) -> str:
    """Which case of the enclosure a row is."""
    return describe({name: row[name] for name in ("spectrum", "schedule", "share_of_cap", "clip")})
