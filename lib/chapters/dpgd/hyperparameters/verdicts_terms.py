"""Verdicts on the sketch's equations, (5.1), and the first paragraph of Section 5 of arXiv:2505.16329v2."""

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from chapters.dpgd.hyperparameters import steps
from chapters.dpgd.hyperparameters.limit import FIXED, GROWING
from chapters.dpgd.hyperparameters.terms import CHOSEN
from companion.judging import growth
from companion.judging.findings import Number
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, cite, describe, pick, select
from companion.judging.vocabulary import CONSISTENT, ROUNDING
from costofprivacy.dpgd.rates import OUTPUT

BOUNDED_CLIPS = ("c = 0.1", "c = 1")  # those with c = O(1)
LARGE_CLIPS = ("c = 1", "c = γ^−¼", "c = γ^−½")  # those with c = Ω(1)
SMALL = 1e-3  # relative distance that counts as none at the largest n
LINEAR = -0.8  # a distance that falls at least like this power of n
NEAR = 0.05  # of a power of 1 − t
FACTORS = {"mu": "μ_c", "mu_over_clip": "μ_c/c", "second": "ν_c(R + ζ²/2)", "second_over_square": "ν_c(R + ζ²/2)/c²"}


@judges("dpgd/equation-5.6")
def equation_56(tables: Tables) -> Ruling:
    """(5.6): do μ/c and ν𝒫/c² keep their order along the whole path, for c ≤ 1 and every η̃(0) ≤ 2/γ?"""
    columns = ("min_mu_over_clip", "max_mu_over_clip", "min_second_over_square", "max_second_over_square")
    table = tables["factors"][tables["factors"]["axis"].isin(BOUNDED_CLIPS)]
    powers = _powers(table, columns)
    largest, told = max(map(abs, powers)), "largest power of 1/γ"
    found = (*_ends(table, columns), *numbers("factors", {told: (largest, growth.LOST_POWER)}, ""))
    quoted = {"low": table["min_mu_over_clip"].min(), "high": table["max_mu_over_clip"].max()}
    return Ruling(reads(printed=largest <= growth.LOST_POWER, decided=_known(powers)), found, quoted)


@judges("dpgd/equation-5.9")
def equation_59(tables: Tables) -> Ruling:
    """(5.9): does μ keep its order, and ν𝒫 stay above one, for c ≥ 1, growing or not?"""
    table = tables["factors"][tables["factors"]["axis"].isin(LARGE_CLIPS)]
    both, low = _powers(table, ("min_mu", "max_mu")), _powers(table, ("min_second",))
    worst = max(*map(abs, both), *(-power for power in low))
    ends = _ends(table, ("min_mu", "max_mu", "min_second", "max_second"))
    told = "largest power of 1/γ against the claim"
    found = (*ends, *numbers("factors", {told: (worst, growth.LOST_POWER)}, ""))
    quoted = {"first": table["min_mu"].min(), "second": table["min_second"].min()}
    return Ruling(reads(printed=worst <= growth.LOST_POWER, decided=_known([*both, *low])), found, quoted)


def _known(powers: Iterable[float]) -> bool:
    """Whether every power could be told: a table with a single γ shows none."""
    return not any(math.isnan(power) for power in powers)


def _powers(table: pd.DataFrame, columns: tuple[str, ...]) -> list[float]:
    groups = [rows for _, rows in table.groupby(["axis", "share"])]
    return [growth.power(rows, "inverse", column, "") for rows in groups for column in columns]


def _ends(table: pd.DataFrame, columns: tuple[str, ...]) -> tuple[Number, ...]:
    """The extreme of each column over the table."""
    named = {}
    for column in columns:
        side, name = column.split("_", 1)
        named[f"{'least' if side == 'min' else 'largest'} {FACTORS[name]}"] = getattr(table[column], side)()
    return numbers("factors", named, "")


@judges("dpgd/equation-5.8")
def equation_58(tables: Tables) -> Ruling:
    """(5.8): is the risk of output perturbation the printed function up to one constant, for all cη̃(0) and c ≤ 1?"""
    table = tables["reduced"]
    rows = table[(table["alpha"] == OUTPUT) & table["clip_rule"].isin(BOUNDED_CLIPS)]
    powers = stretch_powers(rows)
    verdict = reads(printed=max(powers.values()) <= growth.LOST_POWER, decided=_known(powers.values()))
    return Ruling(verdict, _stretches(rows, powers), {"most": rows["stretch"].max()})


@judges("dpgd/equation-5.13")
def equation_513(tables: Tables) -> Ruling:
    """(5.13): the same for both schedules, every clipping regime, every ρ and every η̃(0) ≤ 2/γ."""
    table = tables["reduced"]
    powers = stretch_powers(table)
    chosen = table[table["reach"] == CHOSEN]
    found = (*_stretches(table, powers), *_stretches(chosen, stretch_powers(chosen), " at the paper's choice"))
    lost = {key for key, power in powers.items() if not power <= growth.LOST_POWER}
    chosen_only = all(reach != CHOSEN for *_, reach in lost)
    verdict = reads(printed=not lost, narrower=chosen_only, decided=_known(powers.values()))
    return Ruling(verdict, found, {"most": chosen["stretch"].max()})


def stretch_powers(table: pd.DataFrame) -> dict[tuple[float, str, str, str], float]:
    """The power of 1/γ in the constant k of each regime; ∞ where no k was found."""
    found = {}
    for key, rows in table.groupby(["alpha", "clip_rule", "rho_rule", "reach"]):
        endless = bool((rows["stretch"] == math.inf).any())
        found[key] = math.inf if endless else growth.power(rows, "inverse", "stretch", "")
    return found


def _stretches(
    table: pd.DataFrame, powers: dict[tuple[float, str, str, str], float], where: str = ""
) -> tuple[Number, ...]:
    worst = table.loc[table["stretch"].idxmax()]
    row = f"alpha = {worst['alpha']:g}, {worst['clip_rule']}, {worst['rho_rule']}, gamma = {worst['gamma']:g}"
    named = {
        f"largest constant{where}": (worst["stretch"], None, row),
        f"largest power of 1/γ in it{where}": (max(powers.values()), growth.LOST_POWER),
    }
    return numbers("reduced", named, "")


@judges("dpgd/equation-5.1")
def equation_51(tables: Tables) -> Ruling:
    """After (5.1): where does (4.2) put the noise for α = 0, ½ and α ≥ 1?"""
    table, largest = tables["noise"], tables["noise"]["n"].max()
    decays = select(table, n=largest, quantity=steps.DECAY)
    told = {steps.LAST_SHARE: 0.0, steps.SPREAD: 0.5, steps.PRINTED_LEVEL: 0.5, steps.FIRST_LEVEL: 0.5}
    shares = (cite(name, tables, "noise", "value", n=largest, alpha=a, quantity=name) for name, a in told.items())
    named = {
        f"power of 1 − t, α = {a:g}": (value, 2 * a - 1, describe({"n": largest, "alpha": a, "quantity": steps.DECAY}))
        for a, value in zip(decays["alpha"], decays["value"])
    }
    placed = _all_in_the_last(table, largest) and _level(table, largest) and _falls(decays)
    verdict = reads(printed=placed, decided=growth.several(table["n"]) and bool(table["value"].notna().all()))
    return Ruling(verdict, (*shares, *numbers("noise", named)))


def _all_in_the_last(table: pd.DataFrame, n: int) -> bool:
    """Whether all noise of output perturbation is in the last step."""
    share = pick(table, n=n, alpha=0.0, quantity=steps.LAST_SHARE)["value"]
    return bool(abs(share - 1) < ROUNDING)


def _level(table: pd.DataFrame, n: int) -> bool:
    """Whether the noise at α = ½ is level, of the printed size, and the first step's tends there."""
    off = [pick(table, n=n, alpha=0.5, quantity=name)["value"] for name in (steps.SPREAD, steps.PRINTED_LEVEL)]
    first = select(table, alpha=0.5, quantity=steps.FIRST_LEVEL)
    power = growth.power(first.assign(value=first["value"].abs()), "n", "value", "")
    return bool(max(map(abs, off)) < ROUNDING and abs(first["value"].iloc[-1]) < SMALL and power < LINEAR)


def _falls(decays: pd.DataFrame) -> bool:
    """Whether the noise goes like (1 − t)^(2α − 1), which is at least linear."""
    as_told = (decays["value"] - (2 * decays["alpha"] - 1)).abs() < NEAR
    return bool((as_told & (decays["value"] > 1 - NEAR)).all())


@judges("dpgd/section-5-limit")
def section_5_limit(tables: Tables) -> Ruling:
    """Does the risk settle on the ODE's as d grows with γ fixed, and not where c grows with n?"""
    fixed, growing = (select(tables["limit"], rule=rule) for rule in (FIXED, GROWING))
    last = fixed[fixed["d"] == fixed["d"].max()]
    errors = ((last["risk_mean"] - last["ode_risk"]) / last["standard_error"]).abs()
    rises = growing.groupby("alpha")["ode_risk"].agg(lambda risks: risks.iloc[-1] / risks.iloc[0])
    settled = {
        f"risk at the largest d, α = {row['alpha']:g}": {
            "value": row["risk_mean"],
            "error": row["standard_error"],
            "against": row["ode_risk"],
            "row": describe({"alpha": row["alpha"], "rule": FIXED, "d": row["d"]}),
        }
        for _, row in last.iterrows()
    }
    grown = {"growth of the risk where c grows like ln n": (rises.min(), None, GROWING)}
    decided = growth.several(fixed["d"]) and bool(errors.notna().all())
    verdict = reads(printed=errors.max() <= CONSISTENT and rises.min() > 1, decided=decided)
    return Ruling(verdict, numbers("limit", settled | grown), {"errors": errors.max()})


@judges("dpgd/section-5-earlier-bounds")
def section_5_earlier_bounds(tables: Tables) -> Ruling:
    """Does (1.3) with d = γn grow with n? Here ρ = 1, and ln n has the power 1."""
    rows = select(tables["limit"], rule=FIXED).drop_duplicates("n").sort_values("n")
    gamma = rows["d"] / rows["n"]
    bound = gamma + gamma**2 * np.log(rows["n"])
    verdict = reads(printed=bool((np.diff(bound) > 0).all()), decided=growth.several(rows["n"]))
    name = "(1.3) with ρ = 1 and one power of ln n, at the largest n over the smallest"
    return Ruling(verdict, numbers("limit", {name: (bound.iloc[-1] / bound.iloc[0], 1.0)}, f"rule = {FIXED}"))
