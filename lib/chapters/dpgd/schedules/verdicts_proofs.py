"""Verdicts on Proposition 5.2, Theorem 2 and what their proofs rest on, in arXiv:2505.16329v2."""

import math

import pandas as pd

from chapters.dpgd.schedules.figure_seven import HARMONIC, INITIAL_RISK, ISOTROPIC
from chapters.dpgd.schedules.identities import CEILING, EQUALITY, LIMIT, TAIL
from chapters.dpgd.schedules.orders import DEGREE, PROOF, SMALLEST, TEXT
from chapters.dpgd.schedules.verdicts import WITHIN, by_row
from companion.judging.findings import Number, Verdict
from companion.judging.growth import LAST, LOST_POWER, power
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import ON_A_PAR
from costofprivacy.dpgd import rates as rates_decaying

SOLVED = 1e-6  # relative error of LSODA and of quadratures, one after the other
CLOSE = 1e-4  # of a limit at the smallest argument
SHARP = 1e-3  # share of the least constant within which a schedule comes to it
TRIVIAL = INITIAL_RISK  # risk of always answering 0
EIGENVALUE, LOG_LOG = "eigenvalue", "log-log"
OUTRUN = 1 / math.sqrt(8 * math.pi)  # αγ/ρ above which, at large α, private noise outruns clipped descent; the page
LEVEL = 1.0  # A of (D.105), which has to be at least R(0) + ζ²/2
STEEP = 8  # γ = λ_min^STEEP, along which the order (D.106) tends to 0
OUTGROWN = "power by which the risk outgrows the order"


def _powers(table: pd.DataFrame, left: str = "left", right: str = "right") -> dict[str, float]:
    axes = {str(axis): rows for axis, rows in table.groupby("axis", sort=False)}
    return {axis: power(rows, "size", left, right) for axis, rows in axes.items()}


def _told(powers: dict[str, float], table: str, along: str = "axis") -> tuple[Number, ...]:
    rows = {f"{along} = {place}": value for place, value in powers.items()}
    return by_row(OUTGROWN, table, rows, LOST_POWER)


def _settled(powers: dict[str, float]) -> bool:
    """Whether every axis has sizes enough for a power."""
    return all(map(math.isfinite, powers.values()))


@judges("dpgd/proposition-5.2")
def proposition_52(tables: Tables) -> Ruling:
    """Is (5.16) a bound at the choice (5.15), along γ, α and both at once, inside (5.14)?"""
    table = tables["decay"]
    named = table["axis"].str
    return _decay(table[~named.contains(EIGENVALUE) & ~named.contains(LOG_LOG)])


@judges("dpgd/section-5.1-matching")
def matching(tables: Tables) -> Ruling:
    """Does (5.16) still bound the tuned risks at α = 0 and ½, as (5.3) does? And with 1 + α in the place of α?"""
    rates = tables["rates"][tables["rates"]["schedule"].isin(["0", "0.5"])]
    alpha, log = rates["schedule"].astype(float), rates["inverse"].map(math.log)
    part = rates["gamma"] * log ** (1 / (1 + alpha))
    printed, mended = (factor * part + (factor * part / rates["rho"]) ** 2 for factor in (alpha, 1 + alpha))
    named = {
        "bound as printed, alpha = 0": (printed[alpha == 0].max(), rates["risk"][alpha == 0].min()),
        "largest risk over the corrected bound": ((rates["risk"] / mended).max(), WITHIN),
    }
    holds, corrected = ((rates["risk"] <= WITHIN * bound).all() for bound in (printed, mended))
    return Ruling(reads(printed=holds, corrected=corrected), numbers("rates", named))


@judges("dpgd/proposition-5.2-general")
def proposition_52_general(tables: Tables) -> Ruling:
    """The same with eigenvalues that depend on γ, (D.81)."""
    table = tables["decay"]
    return _decay(table[table["axis"].str.contains(EIGENVALUE) | (table["axis"] == DEGREE)])


def _decay(table: pd.DataFrame) -> Ruling:
    """Does the risk stay below a multiple of the bound along each axis, or at least where αγ/ρ is below `OUTRUN`?"""
    powers = _powers(table)
    found = _told(powers, "decay")
    lost = [axis for axis, value in powers.items() if value > LOST_POWER]
    ends = pd.concat([table[:0], *(select(table, axis=axis).sort_values("size").tail(LAST) for axis in lost)])
    verdict = reads(printed=not lost, narrower=(ends["privacy"] > OUTRUN).all(), decided=_settled(powers))
    if verdict != Verdict.NARROWER:
        return Ruling(verdict, found)
    over = ends["left"] / ends["right"]
    worst = ends.loc[over.idxmax()]
    found += numbers(
        "decay",
        {
            "risk over the bound, at worst": (over.max(), 1.0),
            "alpha gamma / rho there": (worst["privacy"], OUTRUN),
            "bound there, beside the risk of answering 0": (worst["right"], TRIVIAL),
        },
        f"axis = {worst['axis']}, gamma = {worst['gamma']:g}",
    )
    return Ruling(verdict, found)


@judges("dpgd/equation-5.17")
def equation_517(tables: Tables) -> Ruling:
    """Is the risk at α = ln ln(1/γ) of the order (5.17)?"""
    table = tables["decay"]
    powers = _powers(table[table["axis"].str.contains(LOG_LOG)])
    verdict = reads(printed=max(powers.values()) <= LOST_POWER, decided=_settled(powers))
    return Ruling(verdict, _told(powers, "decay"), {"paths": len(powers)})


def _of_order(rates: pd.DataFrame) -> dict[str, float]:
    """The power that the tuned harmonic schedule's risk loses against γ + γ²/ρ², by path."""
    paths = select(rates, schedule=HARMONIC).groupby("path", sort=False)
    return {str(path): power(rows, "inverse", "risk", "order") for path, rows in paths}


@judges("dpgd/theorem-2")
def theorem_2(tables: Tables) -> Ruling:
    """Is the tuned harmonic schedule's risk of the order γ + γ²/ρ²?"""
    table, powers = select(tables["rates"], schedule=HARMONIC), _of_order(tables["rates"])
    ends = table.loc[table.groupby("path", sort=False)["inverse"].idxmax()].set_index("path")
    limits = {f"path = {path}": value for path, value in (ends["risk"] / ends["least"]).items()}
    found = _told(powers, "rates", "path") + by_row("risk over its limit at the smallest gamma", "rates", limits, 1.0)
    grounds = "" if any(abs(limit - 1) <= SHARP for limit in limits.values()) else "another constant"
    verdict = reads(printed=max(powers.values()) <= LOST_POWER, decided=_settled(powers))
    return Ruling(verdict, found, {"paths": len(powers)}, grounds)


@judges("dpgd/section-8-optimal-schedule")
def optimal_schedule(tables: Tables) -> Ruling:
    """Has the harmonic schedule the least risk of all schedules, or the best order on well-conditioned data?

    Left out is the uniform spectrum, of which the paper does not speak: it has no λ_min = Θ(1).
    """
    powers = _of_order(tables["rates"])
    known = select(tables["gains"], family=HARMONIC).assign(over=lambda r: r["risk"] / r["least"])
    search = select(tables["search"], spectrum=ISOTROPIC).assign(over=lambda r: r["harmonic"] / r["searched"])
    rows = pd.concat([known.assign(table="gains"), search.assign(table="search")], ignore_index=True)
    worst = rows.loc[rows["over"].idxmax()]
    place = f"spectrum = {ISOTROPIC}, n_over_d = {worst['n_over_d']:g}, rho = {worst['rho']:g}"
    found = Number("harmonic risk over the least risk, at worst", worst["over"], None, ON_A_PAR, worst["table"], place)
    verdict = reads(
        printed=worst["over"] <= ON_A_PAR,
        narrower=max(powers.values()) <= LOST_POWER,
        decided=_settled(powers),
    )
    return Ruling(verdict, (found, *_told(powers, "rates", "path")), {"over": worst["over"]})


@judges("dpgd/theorem-2-offset")
def theorem_2_offset(tables: Tables) -> Ruling:
    """With constant β and c, does τ ~ max(γ, γ²/ρ²) do, or must it be max(γ, γ/ρ) as in (D.105)?"""
    table = tables["offsets"]
    text, proof = (_offset_powers(select(table, rule=rule)) for rule in (TEXT, PROOF))
    found = (
        *by_row(f"{OUTGROWN}, offset of the {TEXT}", "offsets", text, LOST_POWER),
        *by_row(f"{OUTGROWN}, offset of the {PROOF}", "offsets", proof, LOST_POWER),
    )
    loses = [value > LOST_POWER for value in text.values()]
    mended = not all(loses) and max(proof.values()) <= LOST_POWER
    return Ruling(reads(printed=not any(loses), narrower=mended, decided=_settled(text | proof)), found)


def _offset_powers(rows: pd.DataFrame) -> dict[str, float]:
    """For each path the least power that any β and multiple of τ loses."""
    found: dict[str, float] = {}
    for (path, _, _), part in rows.groupby(["path", "scale", "multiple"], sort=False):
        row, value = f"path = {path}", power(part, "inverse", "risk", "order")
        found[row] = min(value, found.get(row, value))
    return found


def _kept(table: pd.DataFrame, constants: pd.DataFrame) -> bool:
    """Whether every risk is below its bound and its ceiling, no rate above 2, and every printed equality one."""
    equal = constants[constants["constant"].str.startswith(EQUALITY)]
    below = (table["risk"] <= table["bound"]) & (table["highest"] <= table["ceiling"]) & (table["rate"] <= 2)
    return bool(below.all() and ((equal["printed"] / equal["needed"] - 1).abs() <= SOLVED).all())


@judges("dpgd/theorem-2-general")
def theorem_2_general(tables: Tables) -> Ruling:
    """At (D.105), is the risk below its bound, and the bound of the order (D.106)?"""
    table, constants = tables["theorem-2"], tables["constants"]
    steep = f"{SMALLEST}, γ its power {STEEP}, closed form"
    powers = _powers(table, "bound", "order") | {steep: power(_steep(table), "size", "bound", "order")}
    least = table.groupby("axis", sort=False)["order"].min()
    largest = (table["risk"] / table["bound"]).max()
    found = (
        *by_row("power by which the bound outgrows the order", "theorem-2",
                {f"axis = {axis}": value for axis, value in powers.items()}, LOST_POWER),
        *numbers("theorem-2", {"largest risk over its bound": (largest, 1.0)}),
        *by_row("least order, beside the risk of answering 0", "theorem-2",
                {f"axis = {axis}": order for axis, order in least.items()}, TRIVIAL),
    )  # fmt: skip
    useful = table[(table["axis"] == table["axis"].iloc[0]) & (table["bound"] < TRIVIAL)]["gamma"].max()
    holds = _kept(table, constants) and max(powers.values()) <= LOST_POWER
    grounds = "nowhere useful" if math.isnan(useful) else ""
    return Ruling(reads(printed=holds, decided=_settled(powers)), found, {"power": math.log10(useful)}, grounds,
                  vacuous=bool((least >= TRIVIAL).all()))  # fmt: skip


def _steep(table: pd.DataFrame) -> pd.DataFrame:
    """The bound at (D.105) and the order (D.106) for λ_min as in the table, but γ = λ_min^STEEP and ρ = 1."""
    rows = []
    for size in select(table, axis=SMALLEST)["size"]:
        low = 1 / size
        high, gamma = 2 - low, low**STEEP
        told = rates_decaying.theorem_2(gamma, 1.0, LEVEL, low, high)
        last = 2 * (told.clip * gamma * told.scale / (1 + told.offset)) ** 2
        end = rates_decaying.harmonic_end(told.linear, told.scale, told.offset, INITIAL_RISK)
        rows.append({"size": size, "bound": end + last, "order": (high * gamma + gamma**2) / low**4})
    return pd.DataFrame(rows)


@judges("dpgd/equation-5.22")
def equation_522(tables: Tables) -> Ruling:
    """Is the harmonic schedule of (5.22) a solution, and is no harmonic schedule near it better?"""
    table = tables["heuristic"]
    off = (table["printed"] / table["solved"] - 1).abs().max()
    better = (table["nearby"] / table["printed"]).min()
    named = {
        "largest relative difference from quadrature": (off, SOLVED),
        "least risk of a schedule near it over its own": (better, 1.0),
    }
    return Ruling(reads(printed=off <= SOLVED and better >= 1 - SOLVED), numbers("heuristic", named))


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
    named = {"largest relative difference": (worst, SOLVED)}
    return Ruling(reads(printed=worst <= SOLVED), numbers("solutions", named, f"display = {display}"))


@judges("dpgd/lemma-d.2")
def lemma_d2(tables: Tables) -> Ruling:
    """(D.10), (D.12) and (D.13), by quadrature and by proof.

    x^{1−β} E_β(x) = Γ(1 − β, x) tends to Γ(1 − β) from below as x → 0: (D.10), and (D.12) with supremum 1. Over
    2e^{−x}/x the integral is ½ ∫ e^{−u} (1 + u/x)^b du with b = −β. It is at most ½ where b ≤ 0; else, by
    (1 + u/x)^b ≤ e^{bu/x}, less than x/(2(x − b)), which is at most 1 where x ≥ 2b. At x = 2b it tends to 1 as b → ∞.
    """
    table = tables["exponential-integrals"]
    away, ceiling, tail = (table[LIMIT] - 1).abs().max(), table[CEILING].max(), table[TAIL].max()
    named = {
        "largest distance from the limit": (away, CLOSE),
        "largest quotient by (D.12)": (ceiling, 1.0),
        "largest quotient by (D.13)": (tail, 1.0),
    }
    verdict = reads(printed=away <= CLOSE and max(ceiling, tail) <= 1 + SOLVED)
    return Ruling(verdict, numbers("exponential-integrals", named))
