"""Verdicts on Figure 7 and on what sections 5.1, 7 and 8 of arXiv:2505.16329v2 say of schedules."""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pandas as pd

from chapters.dpgd.schedules.measure import (
    ALONG_NOISE,
    CEILING,
    DEGREE,
    EQUALITY,
    HARMONIC,
    INITIAL_RISK,
    ISOTROPIC,
    LIMIT,
    OPTIMUM,
    PROOF,
    SMALLEST,
    TAIL,
    TEXT,
    UNIFORM,
)
from companion.judging.findings import Number, Verdict
from companion.judging.growth import LAST, LOST_POWER, power, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.prose import listed
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT, ON_A_PAR, WORSE, worse
from costofprivacy.dpgd import rates_decaying

# ---- Judges ----

WITHIN = 4.0  # a quotient of orders between this and its inverse is of order one
OUTPUT = "0"  # output perturbation, α = 0


def wide(figure: pd.DataFrame, spectrum: str) -> pd.DataFrame:
    """The deterministic equivalent's risks of Figure 7 by n, a column a schedule."""
    rows = select(figure, spectrum=spectrum)
    return rows.pivot(index="n", columns="schedule", values="ode_risk").sort_index()


def polynomial(table: pd.DataFrame) -> pd.DataFrame:
    """The columns of the polynomial schedules."""
    return table.drop(columns=HARMONIC)


def excess(table: pd.DataFrame) -> pd.Series:
    """By what share the harmonic schedule is above the best polynomial one, by n."""
    return table[HARMONIC] / polynomial(table).min(axis=1) - 1


def by_row(name: str, table: str, values: Mapping[str, float], against: float | None = None) -> tuple[Number, ...]:
    """One number from several rows of a table."""
    return tuple(Number(name, value, None, against, table, row) for row, value in values.items())


def _at(spectrum: str, n: float) -> str:
    return f"spectrum = {spectrum}, n = {n:g}"


def _as_claimed(table: pd.DataFrame) -> bool:
    """Whether every risk falls with n, and output perturbation is the best power early and α ≥ 1 late."""
    powers = polynomial(table)
    falls = (table.diff().iloc[1:] < 0).all(axis=None)
    return bool(falls and powers.iloc[0].idxmin() == OUTPUT and float(powers.iloc[-1].idxmin()) >= 1)


@judges("dpgd/figure-7")
def figure_7(tables: Tables) -> Ruling:
    """Does every risk fall with n, and does output perturbation win early and lose to α ≥ 1 late?"""
    both = {name: wide(tables["figure-7"], name) for name in (ISOTROPIC, UNIFORM)}
    steps = {f"spectrum = {name}": (table / table.shift()).max(axis=None) for name, table in both.items()}
    best = {name: polynomial(table).idxmin(axis=1) for name, table in both.items()}
    ends = {_at(name, n): float(alphas[n]) for name, alphas in best.items() for n in alphas.index[[0, -1]]}
    found = (
        *by_row("largest risk over the risk at the next smaller n", "figure-7", steps, 1.0),
        *by_row("exponent of the best polynomial schedule", "figure-7", ends),
    )
    verdict = reads(
        printed=all(map(_as_claimed, both.values())),
        decided=all(several(table.index) for table in both.values()),
    )
    return Ruling(verdict, found, {"late": listed(sorted({alphas.iloc[-1] for alphas in best.values()}))})


@judges("dpgd/section-7-output-perturbation")
def output_perturbation(tables: Tables) -> Ruling:
    """Can output perturbation outperform the others where n is small? The harmonic schedule has it as a limit."""
    found: list[Number] = []
    wins, until = [], []
    for name in (ISOTROPIC, UNIFORM):
        table = wide(tables["figure-7"], name)
        best = polynomial(table).idxmin(axis=1) == OUTPUT
        until.append(best[best.cummin()].index.max())
        own, others = table[OUTPUT].iloc[0], table.drop(columns=OUTPUT).iloc[0]
        named = {
            "best other risk over that of output perturbation": (others.min() / own, 1.0),
            "best decaying power over output perturbation": (others.drop(HARMONIC).min() / own, 1.0),
        }
        found += numbers("figure-7", named, _at(name, table.index[0]))
        wins.append(worse(others.drop(HARMONIC).min(), own) and not worse(own, others[HARMONIC]))
    share = wide(tables["figure-7"], ISOTROPIC)[OUTPUT].iloc[0] / INITIAL_RISK
    quoted = {"factor": found[1].value, "share": share, "until": min(until)}  # isotropic data
    return Ruling(reads(printed=all(wins)), tuple(found), quoted)


@judges("dpgd/section-7-non-isotropic")
def non_isotropic(tables: Tables) -> Ruling:
    """Does a larger α pay more where the covariance is not isotropic, at large n? And from which n on?"""
    both = {name: polynomial(wide(tables["figure-7"], name)) for name in (ISOTROPIC, UNIFORM)}
    gains = pd.DataFrame({name: table[OUTPUT] / table.min(axis=1) for name, table in both.items()})
    ahead = (gains[UNIFORM] > gains[ISOTROPIC])[::-1].cummin()
    last, n = gains.iloc[-1], gains.index[-1]
    rows = {_at(name, n): last[name] for name in both}
    found, quoted = by_row("output perturbation over the best power", "figure-7", rows), {**last}
    verdict = reads(printed=worse(last[UNIFORM], last[ISOTROPIC]))
    return Ruling(verdict, found, quoted | {"since": ahead[ahead].index.min()})


@judges("dpgd/section-7-harmonic-isotropic")
def harmonic_isotropic(tables: Tables) -> Ruling:
    """Does the harmonic schedule pay on isotropic data: over the decaying powers at small n, over all at large n?"""
    table = wide(tables["figure-7"], ISOTROPIC)
    over, risk, start = 1 + excess(table), table[HARMONIC].iloc[0], _at(ISOTROPIC, table.index[0])
    first, last, decaying = over.iloc[0], over.iloc[-1], polynomial(table).drop(columns=OUTPUT).iloc[0].min()
    named = {
        "harmonic over the best polynomial risk, smallest n": (first, WORSE, start),
        "best decaying polynomial over the harmonic risk, smallest n": (decaying / risk, WORSE, start),
        "harmonic over the best polynomial risk, largest n": (last, 1 / ON_A_PAR, _at(ISOTROPIC, over.index[-1])),
        "harmonic over the best polynomial risk, at worst": (over.max(), 1.0, _at(ISOTROPIC, over.idxmax())),
    }
    early = worse(decaying, risk) and not worse(first, 1.0)
    verdict = reads(printed=early and last * ON_A_PAR < 1, decided=several(over.index))
    return Ruling(verdict, numbers("figure-7", named), {"below": 1 - last})


@judges("dpgd/section-7-harmonic-uniform")
def harmonic_uniform(tables: Tables) -> Ruling:
    """Is it optimal at small n on the uniform spectrum, and on a par with the powers at n = 10⁴ d?"""
    table = wide(tables["figure-7"], UNIFORM)
    over, powers, risk = 1 + excess(table), polynomial(table).iloc[-1], table[HARMONIC].iloc[-1]
    near = [name for name, other in powers.items() if 1 / ON_A_PAR <= risk / other <= ON_A_PAR]
    first, last = (_at(UNIFORM, n) for n in over.index[[0, -1]])
    named = {
        "harmonic over the best polynomial risk, smallest n": (over.iloc[0], WORSE, first),
        "harmonic over the best polynomial risk, largest n": (over.iloc[-1], ON_A_PAR, last),
    }
    named |= {f"harmonic over alpha = {name}, largest n": (risk / powers[name], 1.0, last) for name in powers.index}
    starts, late = not worse(over.iloc[0], 1.0), over.iloc[-1] <= ON_A_PAR
    verdict = reads(printed=starts and late, narrower=starts and bool(near), decided=several(over.index))
    quoted = {"factor": over.iloc[-1], "par": next(iter(near), ""), "best": powers.idxmin()}
    return Ruling(verdict, numbers("figure-7", named), quoted)


class _Exponents(NamedTuple):
    """What one path to small γ shows of the exponents of decaying powers.

    Args:
        place: its end, in words. share: the best exponent there over ln ln(1/γ). largest: the largest one tried.
        cost: the risk of the largest exponent over the best. rises: whether the best one rose all along.
    """

    place: str
    share: float
    largest: float
    cost: float
    rises: bool


def _exponents(path: str, rows: pd.DataFrame) -> _Exponents:
    best = rows.loc[rows.groupby("inverse")["risk"].idxmin()].sort_values("inverse")
    first, last = best["alpha"].iloc[0], best.iloc[-1]
    end = rows[rows["inverse"] == last["inverse"]]
    largest = end.loc[end["alpha"].idxmax()]
    return _Exponents(
        place=f"path = {path}, gamma = {last['gamma']:g}",
        share=last["alpha"] / math.log(math.log(last["inverse"])),
        largest=largest["alpha"],
        cost=largest["risk"] / last["risk"],
        rises=bool(best["alpha"].is_monotonic_increasing and last["alpha"] > first),
    )


def _told(path: _Exponents) -> tuple[Number, ...]:
    named = {
        "best exponent over ln ln(1/gamma)": (path.share, 1.0),
        "risk at the largest exponent over the least risk": (path.cost, ON_A_PAR),
    }
    return numbers("rates", named, path.place)


@judges("dpgd/section-5.1-larger-alpha")
def larger_alpha(tables: Tables) -> Ruling:
    """Does the best α grow as γ falls, like ln ln(1/γ), and does a much larger one hurt?"""
    rates = tables["rates"]
    rows = rates[~rates["schedule"].isin([HARMONIC, OPTIMUM])].assign(alpha=lambda r: r["schedule"].astype(float))
    paths = [_exponents(str(path), part) for path, part in rows.groupby("path", sort=False)]
    found = tuple(number for path in paths for number in _told(path))
    good = all(path.rises and 1 / WITHIN <= path.share <= WITHIN and path.cost > ON_A_PAR for path in paths)
    largest, cost = max(path.largest for path in paths), min(path.cost for path in paths)
    decided = all(several(part["inverse"]) for _, part in rows.groupby("path"))
    return Ruling(reads(printed=good, decided=decided), found, {"largest": largest, "cost": cost})


def _lost(table: pd.DataFrame, side: str, axes: Iterable[str]) -> dict[str, float]:
    """The power of the size that a risk loses against the conjectured order, along some axes."""
    return {f"axis = {axis}": power(select(table, axis=axis), "size", side, "order") for axis in axes}


@judges("dpgd/section-8-fixed-clip")
def fixed_clip(tables: Tables) -> Ruling:
    """Where ζ = o(γ), does a constant c = O(ζ) miss the order, and any constant c?"""
    table = tables["small-noise"]
    small, near, moderate = "zeta = gamma^2", "zeta = gamma^1.25", "zeta = gamma^0.5"
    proportional = _lost(table, "proportional", [small, moderate])
    fixed = _lost(table, "fixed", [small, ALONG_NOISE])
    row = f"axis = {small}"
    last, other = (select(table, axis=axis).nlargest(1, "size").iloc[0] for axis in (small, near))
    left, attained = last["proportional"], other["fixed"] / other["order"]
    found = (
        *by_row("power by which the risk outgrows the order, c = O(zeta)", "small-noise", proportional, LOST_POWER),
        *by_row("power by which the risk outgrows the order, best constant c", "small-noise", fixed, LOST_POWER),
        *numbers("small-noise", {"risk left with c = O(zeta)": (left, INITIAL_RISK)}, row),
        *numbers("small-noise", {"risk over the order, best constant c": (attained, 1.0)}, f"axis = {near}"),
    )
    verdict = reads(printed=proportional[row] > LOST_POWER, decided=not math.isnan(proportional[row]))
    grounds = "" if fixed[row] > LOST_POWER else "a larger constant"
    return Ruling(verdict, found, {"left": left, "near": attained}, grounds)


# ---- Precision ----
# Verdict on what Section 5 of arXiv:2505.16329v2 says of Section 4: that it is precise enough.

NOTICED = 0.5  # relative gap between a simulated and the predicted risk that has to be noticed


@judges("dpgd/section-5-precise")
def section_5_precise(tables: Tables) -> Ruling:
    """Does the predicted risk agree with the simulated one, in proportion, at every size and for every schedule?

    The relative standard error is pooled over all points, because each has few trials.
    """
    rows = pd.concat([tables["figure-7"], tables["optimum"]]).dropna(subset="risk_mean")
    gap = (rows["risk_mean"] / rows["ode_risk"] - 1).abs().max(skipna=False)
    error = ((rows["risk_sd"] / rows["ode_risk"]) ** 2 / rows["trials"]).mean(skipna=False) ** 0.5
    span = rows["ode_risk"].max() / rows["ode_risk"].min()
    largest = "largest relative gap of simulated and predicted risk"
    found = {largest: {"value": gap, "error": error, "against": 0.0}, "largest predicted risk over the least": (span,)}
    verdict = reads(printed=gap <= CONSISTENT * error, decided=CONSISTENT * error <= NOTICED)
    return Ruling(verdict, numbers("figure-7", found, "all sizes and schedules"), {"gap": gap, "span": span})


# ---- Proofs ----
# Verdicts on Proposition 5.2, Theorem 2 and what their proofs rest on, in arXiv:2505.16329v2.

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


def _proofs_told(powers: dict[str, float], table: str, along: str = "axis") -> tuple[Number, ...]:
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
    found = _proofs_told(powers, "decay")
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
    return Ruling(verdict, _proofs_told(powers, "decay"), {"paths": len(powers)})


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
    found = _proofs_told(powers, "rates", "path") + by_row(
        "risk over its limit at the smallest gamma", "rates", limits, 1.0
    )
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
    return Ruling(verdict, (found, *_proofs_told(powers, "rates", "path")), {"over": worst["over"]})


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
