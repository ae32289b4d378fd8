"""Verdicts on Proposition 5.2, Theorem 2 and what their proofs rest on, in arXiv:2505.16329v2."""

from __future__ import annotations

import math

import pandas as pd

from costofprivacy.experiments.dpgd.schedules.figure_seven import HARMONIC
from costofprivacy.experiments.dpgd.schedules.identities import CEILING, EQUALITY, JUMP, LIMIT, SLIP, TAIL
from costofprivacy.experiments.dpgd.schedules.orders import DEGREE, PROOF, TEXT
from costofprivacy.experiments.dpgd.schedules.verdicts import by_row
from costofprivacy.judging.findings import Number, Verdict
from costofprivacy.judging.growth import LOST_POWER, power
from costofprivacy.judging.judges import Ruling, judges, numbers, reads
from costofprivacy.judging.tables import Tables, select

ROUNDING = 1e-6  # of LSODA and of quadratures, one after the other
CLOSE = 1e-4  # of a limit at the smallest argument
SHARP = 1e-3  # share of the least constant within which a schedule comes to it
TRIVIAL = 0.5  # risk of doing nothing
EIGENVALUE, LOG_LOG = "eigenvalue", "log-log"
BOUNDED = 1.0  # αγ/ρ above it: the privacy term of (5.16) is above the risk of doing nothing


def _powers(table: pd.DataFrame, left: str = "left", right: str = "right") -> dict[str, float]:
    axes = {str(axis): rows for axis, rows in table.groupby("axis", sort=False)}
    return {axis: power(rows, "size", left, right) for axis, rows in axes.items()}


def _told(powers: dict[str, float], table: str, along: str = "axis") -> tuple[Number, ...]:
    rows = {f"{along} = {place}": value for place, value in powers.items()}
    return by_row("power lost against the order", table, rows, LOST_POWER)


def _outside(table: pd.DataFrame, axes: list[str]) -> bool:
    """Whether αγ/ρ leaves every bound on these axes: it grows, and ends above one."""
    ends = [select(table, axis=axis).sort_values("size")["privacy"] for axis in axes]
    return all(end.iloc[-1] > max(BOUNDED, end.iloc[0]) for end in ends)


@judges("dpgd/proposition-5.2")
def proposition_52(tables: Tables) -> Ruling:
    """Is (5.16) a bound at the choice (5.15), along γ, α and both at once, inside (5.14)?"""
    table = tables["decay"]
    named = table["axis"].str
    return _decay(table[~named.contains(EIGENVALUE) & ~named.contains(LOG_LOG)])


@judges("dpgd/proposition-5.2-general")
def proposition_52_general(tables: Tables) -> Ruling:
    """The same with eigenvalues that depend on γ, (D.81); and the factor of (D.98)."""
    table, constants = tables["decay"], tables["constants"]
    found = _decay(table[table["axis"].str.contains(EIGENVALUE) | (table["axis"] == DEGREE)])
    slips = constants[constants["constant"].str.startswith(f"{SLIP}, factor")]
    if not (slips["printed"] < slips["needed"]).any():
        return found._replace(grounds="no slip")
    return found._replace(verdict=Verdict.CORRECTED) if found.verdict == Verdict.HOLDS else found


def _decay(table: pd.DataFrame) -> Ruling:
    """Does the risk stay below a multiple of the bound along each axis, or at least where that is bounded itself?"""
    powers = _powers(table)
    found = _told(powers, "decay")
    lost = [axis for axis, value in powers.items() if value > LOST_POWER]
    verdict = reads(printed=not lost, narrower=_outside(table, lost))
    if verdict != Verdict.NARROWER:
        return Ruling(verdict, found)
    end = select(table, axis=lost[0]).sort_values("size").iloc[-1]
    over = end["left"] / end["right"]
    found += numbers("decay", {"risk over the bound at the end": over}, f"axis = {lost[0]}")
    return Ruling(verdict, found, {"over": over})


@judges("dpgd/equation-5.17")
def equation_517(tables: Tables) -> Ruling:
    """Is the risk at α = ln ln(1/γ) of the order (5.17)?"""
    table = tables["decay"]
    powers = _powers(table[table["axis"].str.contains(LOG_LOG)])
    return Ruling(reads(printed=max(powers.values()) <= LOST_POWER), _told(powers, "decay"))


@judges("dpgd/theorem-2")
def theorem_2(tables: Tables) -> Ruling:
    """Is the tuned harmonic schedule's risk of the order γ + γ²/ρ²?"""
    table = select(tables["rates"], schedule=HARMONIC)
    paths = {str(path): rows for path, rows in table.groupby("path", sort=False)}
    powers = {path: power(rows, "inverse", "risk", "order") for path, rows in paths.items()}
    ends = {f"path = {path}": rows.sort_values("inverse").iloc[-1] for path, rows in paths.items()}
    limits = {row: end["risk"] / end["least"] for row, end in ends.items()}
    found = _told(powers, "rates", "path") + by_row("risk over its limit at the smallest gamma", "rates", limits, 1.0)
    grounds = "" if any(abs(limit - 1) <= SHARP for limit in limits.values()) else "another constant"
    return Ruling(reads(printed=not max(powers.values()) > LOST_POWER), found, grounds=grounds)


@judges("dpgd/theorem-2-offset")
def theorem_2_offset(tables: Tables) -> Ruling:
    """With constant β and c, does τ ~ max(γ, γ²/ρ²) do, or must it be max(γ, γ/ρ) as in (D.105)?"""
    table = tables["offsets"]
    text, proof = (_offset_powers(select(table, rule=rule)) for rule in (TEXT, PROOF))
    found = (
        *by_row(f"least power lost, offset of the {TEXT}", "offsets", text, LOST_POWER),
        *by_row(f"least power lost, offset of the {PROOF}", "offsets", proof, LOST_POWER),
    )
    loses = [value > LOST_POWER for value in text.values()]
    mended = not all(loses) and not max(proof.values()) > LOST_POWER
    return Ruling(reads(printed=not any(loses), narrower=mended), found)


def _offset_powers(rows: pd.DataFrame) -> dict[str, float]:
    """For each path the least power that any β and multiple of τ loses."""
    found: dict[str, float] = {}
    for (path, _, _), part in rows.groupby(["path", "scale", "multiple"], sort=False):
        row = f"path = {path}"
        found[row] = min(found.get(row, math.inf), power(part, "inverse", "risk", "order"))
    return found


def _kept(table: pd.DataFrame, constants: pd.DataFrame) -> bool:
    """Whether every risk is below its bound and its ceiling, no rate above 2, and every printed equality one."""
    equal = constants[constants["constant"].str.startswith(EQUALITY)]
    below = (table["risk"] <= table["bound"]) & (table["highest"] <= table["ceiling"]) & (table["rate"] <= 2)
    return bool(below.all() and ((equal["printed"] / equal["needed"] - 1).abs() <= ROUNDING).all())


@judges("dpgd/theorem-2-general")
def theorem_2_general(tables: Tables) -> Ruling:
    """At (D.105), is the risk below its bound, and the bound of the order (D.106)?"""
    table, constants = tables["theorem-2"], tables["constants"]
    powers = _powers(table, "bound", "order")
    jump = constants[constants["constant"].str.startswith(JUMP)].iloc[0]
    largest = (table["risk"] / table["bound"]).max()
    found = (
        *_told(powers, "theorem-2"),
        *numbers("theorem-2", {"largest risk over its bound": (largest, 1.0)}),
        *numbers("constants", {"last noise, printed factor": (jump["printed"], jump["needed"])}, jump["constant"]),
    )
    useful = table[(table["axis"] == table["axis"].iloc[0]) & (table["bound"] < TRIVIAL)]["gamma"].max()
    verdict = reads(printed=_kept(table, constants) and not max(powers.values()) > LOST_POWER)
    return Ruling(verdict, found, {"power": math.log10(useful)}, "nowhere useful" if math.isnan(useful) else "")


@judges("dpgd/equation-5.22")
def equation_522(tables: Tables) -> Ruling:
    """Is the harmonic schedule of (5.22) a solution, and is no harmonic schedule near it better?"""
    table = tables["heuristic"]
    off = (table["printed"] / table["solved"] - 1).abs().max()
    better = (table["nearby"] / table["printed"]).min()
    named = {
        "largest relative difference from quadrature": (off, ROUNDING),
        "least risk of a schedule near it over its own": (better, 1.0),
    }
    return Ruling(reads(printed=not (off > ROUNDING or better < 1 - ROUNDING)), numbers("heuristic", named))


@judges("dpgd/equation-5.24")
def equation_524(tables: Tables) -> Ruling:
    """(5.24) against the equation (5.23) that it solves."""
    return _solution(tables, "(5.24)")


@judges("dpgd/lemma-d.5")
def lemma_d5(tables: Tables) -> Ruling:
    """(D.101) against the equation (D.100) that it solves."""
    return _solution(tables, "(D.101)")


def _solution(tables: Tables, display: str) -> Ruling:
    worst = select(tables["solutions"], display=display)["difference"].max()
    named = {"largest relative difference": (worst, ROUNDING)}
    return Ruling(reads(printed=not worst > ROUNDING), numbers("solutions", named, f"display = {display}"))


@judges("dpgd/lemma-d.2")
def lemma_d2(tables: Tables) -> Ruling:
    """(D.10), (D.12) and (D.13) by quadrature."""
    table = tables["exponential-integrals"]
    away, ceiling, tail = (table[LIMIT] - 1).abs().max(), table[CEILING].max(), table[TAIL].max()
    named = {
        "largest distance from the limit": (away, CLOSE),
        "largest quotient by (D.12)": (ceiling, 1.0),
        "largest quotient by (D.13)": (tail, 1.0),
    }
    verdict = reads(printed=not (away > CLOSE or max(ceiling, tail) > 1 + ROUNDING))
    return Ruling(verdict, numbers("exponential-integrals", named), {"share": tail})
