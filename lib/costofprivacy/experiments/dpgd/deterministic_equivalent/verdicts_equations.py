"""Verdicts on Definition 4.2, (4.11) to (4.13), Proposition D.1 and (C.7) of arXiv:2505.16329v2."""

from __future__ import annotations

import pandas as pd

from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, cite, describe, select
from costofprivacy.judging.vocabulary import CONSISTENT

FINITE = 2.0  # over d: half the variance of ‖x‖²/d, tr Σ²/d² ≤ λ_max/d, which second order may cost a step's mean
SOLVED = 1e-5  # relative difference of two solutions of one equation
EXACT = 1e-6  # relative difference of two sides of an identity, one of them by central differences
CLEARED = -0.01  # a bound with a smaller margin, in parts of the risk, fails
APART = 0.1  # relative difference that is no rounding
READINGS = ("printed", "corrected")
CAPPED = r"$\bar\eta$ for $\tilde\eta$"


# ---------------------------------------------------------------------------------------------------- single steps


@judges("dpgd/definition-4.2")
def definition_42(tables: Tables) -> Finding:
    """The drift of D_i, term by term and at every d, and a solution that two solvers share."""
    steps = tables["one-step"]
    off = _deviation(steps, "derived")
    largest = steps[steps["d"] == steps["d"].max()]
    over = largest["value"] / largest["derived"]
    ratio = over.loc[(over - 1).abs().idxmax()]
    gap = identity(tables, "(4.7), exponential integrator and LSODA", SOLVED)
    numbers = (
        Number("worst term over that of the equations", ratio, None, 1.0, "one-step", "largest d"),
        Number("largest deviation beyond 2/d, in standard errors", off, None, CONSISTENT, "one-step"),
        gap,
    )
    change = "A term of the equations that is not the mean of a step, or a second solution."
    if off > CONSISTENT:
        headline = f"A term of the equations is {compact(off)} standard errors from a step's mean."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if gap.value > SOLVED:
        headline = f"Solvers of the equations differ by {compact(gap.value)} of the risk."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        "Each term of the equations is the mean of a step of the algorithm; at the largest dimension "
        f"{ratio:.3f} of it at worst."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/equation-c.7")
def equation_c7(tables: Tables) -> Finding:
    """Is the sampling term halved?"""
    ratio, (printed, derived) = sampling(tables)
    numbers = sampling_numbers(tables)
    change = "A mean of steps with half of the sampling term."
    if printed <= CONSISTENT < derived:
        headline = f"The sampling term is {ratio:.2f} times the printed term."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if max(printed, derived) <= CONSISTENT:
        headline = "Too few trials to tell a term from its half."
        return Finding(Verdict.UNTESTABLE, headline, numbers, would_change=change)
    if derived <= CONSISTENT:
        headline = (
            f"The sampling term is {ratio:.2f} times what is printed: its factor of a half does not belong there."
        )
        correction = r"$\bar\eta^2\nu_c\mathcal P\,\mathrm{tr}(\Sigma\nabla^2q)/n^2$, without the $\frac12$."
        return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, correction, change)
    headline = f"The sampling term is {ratio:.2f} times the printed term, which is neither that term nor its double."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


def sampling(tables: Tables) -> tuple[float, tuple[float, float]]:
    """The sampling term over the printed one at the largest d, and its deviations from both readings at every d."""
    rows = select(tables["one-step"], term="sampling")
    last = rows[rows["d"] == rows["d"].max()]
    return float((last["value"] / last["printed"]).mean()), (_deviation(rows, "printed"), _deviation(rows, "derived"))


def sampling_numbers(tables: Tables) -> tuple[Number, ...]:
    """The sampling term over the printed one at the largest d, for every quadratic."""
    rows = select(tables["one-step"], term="sampling")
    last = rows[rows["d"] == rows["d"].max()]
    over, errors = last["value"] / last["printed"], last["standard_error"] / last["printed"]
    return tuple(
        Number(f"sampling term over the printed, {name}", ratio, error, 1.0, "one-step", "largest d, term = sampling")
        for name, ratio, error in zip(last["quadratic"], over, errors)
    )


def _deviation(rows: pd.DataFrame, reading: str) -> float:
    """The largest distance from a reading in standard errors, less what a finite d may do."""
    allowed = FINITE / rows["d"] * rows[reading].abs()
    beyond = ((rows["value"] - rows[reading]).abs() - allowed).clip(lower=0)
    return float((beyond / rows["standard_error"]).max())


# ------------------------------------------------------------------------------------------------------ identities


@judges("dpgd/equation-4.11")
def equation_411(tables: Tables) -> Finding:
    """For Σ = I, d equations and one."""
    gap = identity(tables, "(4.11), d equations and one", SOLVED)
    change = "A start from which the equations differ from the single one."
    if gap.value > SOLVED:
        headline = (
            f"For equal eigenvalues, all equations and the single one differ by {compact(gap.value)} of the risk."
        )
        return Finding(Verdict.FAILS, headline, (gap,), Consequence.CONCLUSION, would_change=change)
    headline = (
        "For equal eigenvalues, all equations and the single one have the same solution, from unequal starts too."
    )
    return Finding(Verdict.HOLDS, headline, (gap,), would_change=change)


def identity(tables: Tables, name: str, against: float) -> Number:
    """How far the two sides of an identity are apart."""
    return cite(name, tables, "identities", "relative_difference", against=against, identity=name)


def reads(tables: Tables, display: str, reading: str) -> bool:
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
def equation_412(tables: Tables) -> Finding:
    """For Σ = I its two equations are to be (4.11), which has η̄."""
    inside, beyond, mended = _isotropic(tables["enclosure"])
    numbers = (
        Number("difference over the risk, as printed, below the cap", inside, None, 0.0, "enclosure", "isotropic"),
        Number("difference over the risk, as printed, above the cap", beyond, None, 0.0, "enclosure", "isotropic"),
        Number("difference over the risk, corrected", mended, None, 0.0, "enclosure", "isotropic"),
        *ratios(tables, "(4.12)"),
    )
    change = "Eigenvalues that are all equal and a rate above the cap, for which the printed equations are exact."
    if not reads(tables, "(4.12)", "corrected"):
        headline = "The equations solved here are not those displayed, so nothing is decided."
        return Finding(Verdict.UNTESTABLE, headline, numbers, would_change=change)
    if max(inside, mended) > APART:
        headline = (
            f"For equal eigenvalues they differ from the exact equation by {compact(max(inside, mended))} of the risk."
        )
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if beyond <= APART:
        headline = "For equal eigenvalues both comparison equations are the exact equation."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = (
        "With the learning rate capped, both are exact for equal eigenvalues; as printed, above the cap, they are off "
        f"{compact(beyond)}-fold."
    )
    return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, f"{CAPPED} in both lines.", change)


def _isotropic(enclosure: pd.DataFrame) -> tuple[float, float, float]:
    """Largest distance of both bounds from the risk, over it, for Σ = I: as printed below and above the cap, mended."""
    rows = select(enclosure, spectrum="isotropic")
    worst = rows[["lower", "upper"]].sub(rows["risk"], axis=0).abs().max(axis=1) / rows["risk"]
    printed, above = rows["reading"] == "printed", rows["share_of_cap"] > 1
    return worst[printed & ~above].max(), worst[printed & above].max(), worst[~printed].max()


@judges("dpgd/equation-4.13")
def equation_413(tables: Tables) -> Finding:
    """Do R̲ and R̄ enclose R?"""
    return _enclosure(tables["enclosure"], f"{CAPPED} in (4.12).")


@judges("dpgd/proposition-d.1")
def proposition_d1(tables: Tables) -> Finding:
    """The same, with its proof's step on tr Σ²."""
    correction = rf"{CAPPED}; in the proof $\mathrm{{tr}}\,\Sigma^2\le\lambda_{{\max}}\mathrm{{tr}}\,\Sigma$."
    return _enclosure(tables["enclosure"], correction)


def _enclosure(enclosure: pd.DataFrame, correction: str) -> Finding:
    margin = enclosure[["lower_margin", "upper_margin"]].min(axis=1)
    corrected, above = enclosure["reading"] == "corrected", enclosure["share_of_cap"] > 1
    safe, printed = margin[corrected | ~above].min(), margin[~corrected & above].min()
    as_printed = enclosure[~corrected]
    lower, upper = (-as_printed[f"{side}_margin"].min() for side in ("lower", "upper"))
    worst = {side: _case(as_printed.loc[as_printed[f"{side}_margin"].idxmin()]) for side in ("lower", "upper")}
    cases = int(corrected.sum())
    numbers = (
        Number("least margin over the risk, capped or below the cap", safe, None, CLEARED, "enclosure"),
        Number("excess of the lower bound over the risk, as printed", lower, None, 0.0, "enclosure", worst["lower"]),
        Number("deficit of the upper bound over the risk, as printed", upper, None, 0.0, "enclosure", worst["upper"]),
    )
    change = "A covariance or a schedule for which the risk leaves the interval."
    if safe < CLEARED:
        headline = f"With the learning rate capped, or below the cap, a bound fails by {compact(-safe)} of the risk."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if printed >= CLEARED:
        headline = f"The risk lies between both comparison solutions in all {cases} cases."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    bound = f"lower bound is {compact(1 + lower)} times" if lower > upper else f"upper bound is {compact(1 - upper)} of"
    headline = (
        f"With the learning rate capped, the risk lies between both bounds in all {cases} cases; as printed the "
        f"{bound} the risk."
    )
    return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, correction, change)


def _case(row: pd.Series) -> str:
    """Which case of the enclosure a row is."""
    return describe({name: row[name] for name in ("spectrum", "schedule", "share_of_cap", "clip")})
