"""Verdicts on Definition 4.2, (4.11) to (4.13), Proposition D.1 and (C.7) of arXiv:2505.16329v2."""

from __future__ import annotations

import pandas as pd

from costofprivacy.judging.findings import Number
from costofprivacy.judging.judges import Ruling, judges, numbers, reads
from costofprivacy.judging.tables import Tables, cite, describe, select
from costofprivacy.judging.vocabulary import ABOUT, CONSISTENT

FINITE = 2.0  # over d: half the variance of ‖x‖²/d, tr Σ²/d² ≤ λ_max/d, which second order may cost a step's mean
SOLVED = 1e-5  # relative difference of two solutions of one equation
EXACT = 1e-6  # relative difference of two sides of an identity, one of them by central differences
CLEARED = -0.01  # a bound with a smaller margin, in parts of the risk, fails
READINGS = ("printed", "corrected")


# ---------------------------------------------------------------------------------------------------- single steps


@judges("dpgd/definition-4.2")
def definition_42(tables: Tables) -> Ruling:
    """The drift of D_i, term by term and at every d, and a solution that two solvers share."""
    steps = tables["one-step"]
    off = _deviation(steps, "derived")
    largest = _at_the_largest(steps)
    over = largest["value"] / largest["derived"]
    ratio = over.loc[(over - 1).abs().idxmax()]
    gap = identity(tables, "(4.7), exponential integrator and LSODA", SOLVED)
    named = {
        "worst term over that of the equations": (ratio, 1.0, "largest d"),
        "largest deviation beyond 2/d, in standard errors": (off, CONSISTENT),
    }
    broken = off > CONSISTENT or gap.value > SOLVED
    return Ruling(reads(printed=not broken), (*numbers("one-step", named, ""), gap), {"ratio": ratio})


@judges("dpgd/equation-c.7")
def equation_c7(tables: Tables) -> Ruling:
    """Is the sampling term halved?"""
    printed, derived = sampling(tables)
    last = _at_the_largest(select(tables["one-step"], term="sampling"))
    hidden = max(printed, derived) <= CONSISTENT  # too few trials to tell a term from its half
    verdict = reads(printed=printed <= CONSISTENT, corrected=derived <= CONSISTENT, decided=not hidden)
    return Ruling(verdict, sampling_numbers(tables), {"ratio": (last["value"] / last["printed"]).mean()})


def sampling(tables: Tables) -> tuple[float, float]:
    """How far the sampling term deviates at every d, from the printed and from the derived reading."""
    rows = select(tables["one-step"], term="sampling")
    return _deviation(rows, "printed"), _deviation(rows, "derived")


def sampling_numbers(tables: Tables) -> tuple[Number, ...]:
    """The sampling term over the printed one at the largest d, for every quadratic."""
    last = _at_the_largest(select(tables["one-step"], term="sampling"))
    over, errors = last["value"] / last["printed"], last["standard_error"] / last["printed"]
    return tuple(
        Number(f"sampling term over the printed, {name}", ratio, error, 1.0, "one-step", "largest d, term = sampling")
        for name, ratio, error in zip(last["quadratic"], over, errors)
    )


def _at_the_largest(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["d"] == rows["d"].max()]


def _deviation(rows: pd.DataFrame, reading: str) -> float:
    """The largest distance from a reading in standard errors, less what a finite d may do."""
    allowed = FINITE / rows["d"] * rows[reading].abs()
    beyond = ((rows["value"] - rows[reading]).abs() - allowed).clip(lower=0)
    return float((beyond / rows["standard_error"]).max())


# ------------------------------------------------------------------------------------------------------ identities


@judges("dpgd/equation-4.11")
def equation_411(tables: Tables) -> Ruling:
    """For Σ = I, d equations and one."""
    gap = identity(tables, "(4.11), d equations and one", SOLVED)
    return Ruling(reads(printed=not gap.value > SOLVED), (gap,))


def identity(tables: Tables, name: str, against: float) -> Number:
    """How far the two sides of an identity are apart."""
    return cite(name, tables, "identities", "relative_difference", against=against, identity=name)


def says(tables: Tables, display: str, reading: str) -> bool:
    """Whether every term of a display says what it should, in this reading."""
    rows = select(tables["displays"], display=display, reading=reading)
    return bool(((rows["value"] / rows["derived"] - 1).abs() <= EXACT).all())


def ratios(tables: Tables, display: str) -> tuple[Number, ...]:
    """Each term of a display over what it should be, in all readings."""
    return tuple(
        Number(f"{row.term}, {row.reading}, over what it should be", row.value / row.derived, None, 1.0, "displays",
               f"display = {row.display}")
        for row in select(tables["displays"], display=display).itertuples()
    )  # fmt: skip


# ------------------------------------------------------------------------------------------- comparison equations


@judges("dpgd/equation-4.12")
def equation_412(tables: Tables) -> Ruling:
    """For Σ = I its two equations are to be (4.11), which has η̄. Nothing is decided if others were solved."""
    inside, beyond, mended = _isotropic(tables["enclosure"])
    named = {
        "difference over the risk, as printed, below the cap": (inside, 0.0),
        "difference over the risk, as printed, above the cap": (beyond, 0.0),
        "difference over the risk, corrected": (mended, 0.0),
    }
    found = (*numbers("enclosure", named, "isotropic"), *ratios(tables, "(4.12)"))
    exact = not max(inside, mended) > ABOUT
    verdict = reads(printed=exact and beyond <= ABOUT, corrected=exact, decided=says(tables, "(4.12)", "corrected"))
    return Ruling(verdict, found, {"beyond": beyond})


def _isotropic(enclosure: pd.DataFrame) -> tuple[float, float, float]:
    """Largest distance of both bounds from the risk, over it, for Σ = I: as printed below and above the cap, mended."""
    rows = select(enclosure, spectrum="isotropic")
    worst = rows[["lower", "upper"]].sub(rows["risk"], axis=0).abs().max(axis=1) / rows["risk"]
    printed, above = rows["reading"] == "printed", rows["share_of_cap"] > 1
    return worst[printed & ~above].max(), worst[printed & above].max(), worst[~printed].max()


@judges("dpgd/equation-4.13")
def equation_413(tables: Tables) -> Ruling:
    """Do R̲ and R̄ enclose R?"""
    return _enclosure(tables["enclosure"])


@judges("dpgd/proposition-d.1")
def proposition_d1(tables: Tables) -> Ruling:
    """The same, with its proof's step on tr Σ²."""
    return _enclosure(tables["enclosure"])


def _enclosure(enclosure: pd.DataFrame) -> Ruling:
    margin = enclosure[["lower_margin", "upper_margin"]].min(axis=1)
    corrected, above = enclosure["reading"] == "corrected", enclosure["share_of_cap"] > 1
    safe, printed = margin[corrected | ~above].min(), margin[~corrected & above].min()
    worst = {side: _worst(enclosure[~corrected], side) for side in ("lower", "upper")}
    lower, upper = (-row[f"{side}_margin"] for side, row in worst.items())
    named = {
        "least margin over the risk, capped or below the cap": (safe, CLEARED),
        "excess of the lower bound over the risk, as printed": (lower, 0.0, _case(worst["lower"])),
        "deficit of the upper bound over the risk, as printed": (upper, 0.0, _case(worst["upper"])),
    }
    capped = not safe < CLEARED
    verdict = reads(printed=capped and printed >= CLEARED, corrected=capped)
    side, ratio = ("lower", 1 + lower) if lower > upper else ("upper", 1 - upper)
    return Ruling(verdict, numbers("enclosure", named, ""), {"cases": corrected.sum(), "side": side, "ratio": ratio})


def _worst(rows: pd.DataFrame, side: str) -> pd.Series:
    """The row in which a bound has the smallest margin."""
    return rows.loc[rows[f"{side}_margin"].idxmin()]


def _case(row: pd.Series) -> str:
    """Which case of the enclosure a row is."""
    return describe({name: row[name] for name in ("spectrum", "schedule", "share_of_cap", "clip")})
