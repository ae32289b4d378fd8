"""Verdicts on Proposition 5.2, Theorem 2 and what their proofs rest on, in arXiv:2505.16329v2."""

from __future__ import annotations

import math

import pandas as pd

from costofprivacy.experiments.dpgd.schedules.figure_seven import HARMONIC
from costofprivacy.experiments.dpgd.schedules.identities import CEILING, EQUALITY, JUMP, LIMIT, SLIP, TAIL
from costofprivacy.experiments.dpgd.schedules.orders import DEGREE, PROOF, TEXT
from costofprivacy.judging import growth
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact, times
from costofprivacy.judging.tables import Tables, select

ROUNDING = 1e-6  # of LSODA and of quadratures, one after the other
CLOSE = 1e-4  # of a limit at the smallest argument
EIGENVALUE, LOG_LOG = "eigenvalue", "log-log"
BOUNDED = 1.0  # αγ/ρ above it: the privacy term of (5.16) is above the risk of doing nothing


def _powers(table: pd.DataFrame, left: str = "left", right: str = "right") -> dict[str, float]:
    axes = {str(axis): rows for axis, rows in table.groupby("axis", sort=False)}
    return {axis: growth.power(rows, "size", left, right) for axis, rows in axes.items()}


def _told(powers: dict[str, float], table: str) -> tuple[Number, ...]:
    return tuple(
        Number("power lost against the order", power, None, growth.LOST_POWER, table, f"axis = {axis}")
        for axis, power in powers.items()
    )


def _outside(table: pd.DataFrame, axes: list[str]) -> bool:
    """Whether αγ/ρ leaves every bound on these axes: it grows, and ends above one."""
    ends = [select(table, axis=axis).sort_values("size")["privacy"] for axis in axes]
    return all(end.iloc[-1] > max(BOUNDED, end.iloc[0]) for end in ends)


@judges("dpgd/proposition-5.2")
def proposition_52(tables: Tables) -> Finding:
    """Is (5.16) a bound at the choice (5.15), along γ, α and both at once, inside (5.14)?"""
    table = tables["decay"]
    named = table["axis"].str
    return _decay(table[~named.contains(EIGENVALUE) & ~named.contains(LOG_LOG)], "", r"\alpha\gamma/\rho")


@judges("dpgd/proposition-5.2-general")
def proposition_52_general(tables: Tables) -> Finding:
    """The same with eigenvalues that depend on γ, (D.81); and the factor of (D.98)."""
    table, constants = tables["decay"], tables["constants"]
    chosen = table[table["axis"].str.contains(EIGENVALUE) | (table["axis"] == DEGREE)]
    slips = constants[constants["constant"].str.startswith(f"{SLIP}, factor")]
    short = slips[slips["printed"] < slips["needed"]]
    mended = r" In (D.98) the factor $(1+\alpha)^{1/3}$ must be $1+\alpha$." if len(short) else ""
    found = _decay(chosen, mended, r"\alpha\gamma/(\lambda_{\min}\rho)")
    if found.verdict == Verdict.HOLDS and mended:
        worst = (short["needed"] / short["printed"]).max()
        headline = f"The bound stands; on the way to it a printed factor is too small, by up to {times(worst)} here."
        return Finding(Verdict.CORRECTED, headline, found.numbers, Consequence.NUMBERS, mended.strip(),
                       found.would_change)  # fmt: skip
    return found


def _decay(table: pd.DataFrame, mended: str, size: str) -> Finding:
    powers = _powers(table)
    numbers = _told(powers, "decay")
    change = "A path inside the stated condition on which the risk outgrows the bound, or none on which it does."
    lost = [axis for axis, power in powers.items() if power > growth.LOST_POWER]
    if not lost:
        headline = "The risk stays below a multiple of the bound along every path."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if not _outside(table, lost):
        headline = "The risk outgrows every multiple of the bound while the bound says something."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    end = select(table, axis=lost[0]).sort_values("size").iloc[-1]
    numbers += (Number("risk over the bound at the end", end["left"] / end["right"], None, None, "decay",
                       f"axis = {lost[0]}"),)  # fmt: skip
    headline = (
        "For fixed exponents it bounds the risk; with strict privacy and the largest exponents allowed, the risk is "
        f"{compact(end['left'] / end['right'])} times the bound."
    )
    correction = (
        rf"True while ${size}$ stays bounded. Excluded are the larger $\alpha$ that the condition admits where "
        rf"$\rho\to0$: there the bound itself exceeds every constant.{mended}"
    )
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, correction, change)


@judges("dpgd/equation-5.17")
def equation_517(tables: Tables) -> Finding:
    """Is the risk at α = ln ln(1/γ) of the order (5.17)?"""
    table = tables["decay"]
    powers = _powers(table[table["axis"].str.contains(LOG_LOG)])
    numbers = _told(powers, "decay")
    change = r"A path with $\alpha=\ln\ln(1/\gamma)$ on which the risk outgrows the bound."
    if max(powers.values()) <= growth.LOST_POWER:
        headline = "With this exponent the risk stays below a multiple of the bound along every path."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = "With this exponent the risk outgrows every multiple of the bound."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


@judges("dpgd/theorem-2")
def theorem_2(tables: Tables) -> Finding:
    """Is the tuned harmonic schedule's risk of the order γ + γ²/ρ²?"""
    table = select(tables["rates"], schedule=HARMONIC)
    paths = {str(path): rows for path, rows in table.groupby("path", sort=False)}
    powers = {path: growth.power(rows, "inverse", "risk", "order") for path, rows in paths.items()}
    ends = {path: rows.sort_values("inverse").iloc[-1] for path, rows in paths.items()}
    numbers = (
        *(Number("power lost against the order", p, None, growth.LOST_POWER, "rates", f"path = {path}")
          for path, p in powers.items()),
        *(Number("risk over its limit at the smallest gamma", end["risk"] / end["least"], None, 1.0, "rates",
                 f"path = {path}") for path, end in ends.items()),
    )  # fmt: skip
    change = "A path on which the best harmonic schedule loses a power or a logarithm against the order."
    if max(powers.values()) > growth.LOST_POWER:
        headline = "The best harmonic schedule's risk outgrows the order."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    nearest = min(abs(end["risk"] / end["least"] - 1) for end in ends.values())
    sharp = "" if nearest > ROUNDING**0.5 else ", and it comes to the least constant that any schedule has"
    headline = f"The tuned harmonic schedule has risks of that order along every path{sharp}."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/theorem-2-offset")
def theorem_2_offset(tables: Tables) -> Finding:
    """With constant β and c, does τ ~ max(γ, γ²/ρ²) do, or must it be max(γ, γ/ρ) as in (D.105)?"""
    table = tables["offsets"]
    lost = {rule: _offset_powers(select(table, rule=rule)) for rule in (TEXT, PROOF)}
    numbers = tuple(
        Number(f"least power lost, offset of the {rule}", power, None, growth.LOST_POWER, "offsets", f"path = {path}")
        for rule, powers in lost.items()
        for path, power in powers.items()
    )
    change = r"A constant $\beta$ and a multiple of the offset with which the order is attained along every path."
    bad = [path for path, power in lost[TEXT].items() if power > growth.LOST_POWER]
    if not bad:
        headline = "With an offset of the order that the text names, the risk has the right order along every path."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if max(lost[PROOF].values()) > growth.LOST_POWER or len(bad) == len(lost[TEXT]):
        headline = "With constant scale and clip no offset of the named order attains the rate on any path."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        "With the named offset a power is lost where privacy is strict; with the proof's own, of order "
        r"$\gamma/\rho$, none is."
    )
    correction = (
        r"$\tau$ scales like $\max(\gamma,\gamma/\rho)$, as in (D.105). The text's $\max(\gamma,\gamma^2/\rho^2)$ is "
        r"of that order for $\rho$ bounded away from $0$. Excluded is $\rho\to0$."
    )
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.NUMBERS, correction, change)


def _offset_powers(rows: pd.DataFrame) -> dict[str, float]:
    """For each path the least power that any β and multiple of τ loses."""
    found: dict[str, float] = {}
    for (path, _, _), part in rows.groupby(["path", "scale", "multiple"], sort=False):
        found[str(path)] = min(found.get(str(path), math.inf), growth.power(part, "inverse", "risk", "order"))
    return found


@judges("dpgd/theorem-2-general")
def theorem_2_general(tables: Tables) -> Finding:
    """At (D.105), is the risk below its bound, and the bound of the order (D.106)?"""
    table, constants = tables["theorem-2"], tables["constants"]
    powers = _powers(table, "bound", "order")
    numbers = _told(powers, "theorem-2")
    kept = ((table["risk"] <= table["bound"]) & (table["highest"] <= table["ceiling"]) & (table["rate"] <= 2)).all()
    equal = constants[constants["constant"].str.startswith(EQUALITY)]
    kept &= bool(((equal["printed"] / equal["needed"] - 1).abs() <= ROUNDING).all())
    first = table[table["axis"] == table["axis"].iloc[0]].sort_values("size")
    useful = first[first["bound"] < 0.5]
    jump = constants[constants["constant"].str.startswith(JUMP)].iloc[0]
    numbers += (
        Number("largest risk over its bound", (table["risk"] / table["bound"]).max(), None, 1.0, "theorem-2", "all"),
        Number("last noise, printed factor", jump["printed"], None, jump["needed"], "constants", jump["constant"]),
    )
    change = "A path on which the bound at the printed constants is not of the order, or the risk exceeds it."
    if not kept or max(powers.values()) > growth.LOST_POWER:
        headline = "At the printed constants the risk or its bound is above what is claimed."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    says = f"from $\\gamma = 10^{{{math.log10(useful['gamma'].max()):.0f}}}$ on" if len(useful) else "nowhere here"
    headline = f"The constants are right, and large: the bound falls below the risk of doing nothing {says}."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/equation-5.22")
def equation_522(tables: Tables) -> Finding:
    """Is the harmonic schedule of (5.22) a solution, and is no harmonic schedule near it better?"""
    table = tables["heuristic"]
    off = float((table["printed"] / table["solved"] - 1).abs().max())
    better = float((table["nearby"] / table["printed"]).min())
    numbers = (
        Number("largest relative difference from quadrature", off, None, ROUNDING, "heuristic", "all"),
        Number("least risk of a schedule near it over its own", better, None, 1.0, "heuristic", "all"),
    )
    change = "A risk of the simplified equation that differs from the printed one, or a schedule that has less."
    if off > ROUNDING or better < 1 - ROUNDING:
        headline = f"The printed solution is off by {compact(max(off, 1 - better))} of its value."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)
    headline = "The printed schedule solves the simplified equation, and no harmonic schedule near it does better."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/equation-5.24")
def equation_524(tables: Tables) -> Finding:
    """(5.24) against the equation (5.23) that it solves."""
    return _solution(tables, "(5.24)")


@judges("dpgd/lemma-d.5")
def lemma_d5(tables: Tables) -> Finding:
    """(D.101) against the equation (D.100) that it solves."""
    return _solution(tables, "(D.101)")


def _solution(tables: Tables, display: str) -> Finding:
    worst = float(select(tables["solutions"], display=display)["difference"].max())
    numbers = (Number("largest relative difference", worst, None, ROUNDING, "solutions", f"display = {display}"),)
    change = "A schedule for which the formula and the equation that it solves differ."
    if worst > ROUNDING:
        headline = f"The formula is off by {compact(worst)} of the equation's solution."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)
    headline = (
        "The formula agrees with a numerical solution of the equation, for decaying powers and harmonic schedules."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/lemma-d.2")
def lemma_d2(tables: Tables) -> Finding:
    """(D.10), (D.12) and (D.13) by quadrature."""
    table = tables["exponential-integrals"]
    away = float((table[LIMIT] - 1).abs().max())
    ceiling, tail = float(table[CEILING].max()), float(table[TAIL].max())
    numbers = (
        Number("largest distance from the limit", away, None, CLOSE, "exponential-integrals", "all"),
        Number("largest quotient by (D.12)", ceiling, None, 1.0, "exponential-integrals", "all"),
        Number("largest quotient by (D.13)", tail, None, 1.0, "exponential-integrals", "all"),
    )
    change = "An order and an argument at which the integral exceeds a bound, or leaves its limit."
    if away > CLOSE or max(ceiling, tail) > 1 + ROUNDING:
        headline = f"A bound is exceeded {times(max(ceiling, tail))}, or the limit is missed by {compact(away)}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = f"Both bounds stand by quadrature; the integral comes up to {compact(tail)} of the second."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
