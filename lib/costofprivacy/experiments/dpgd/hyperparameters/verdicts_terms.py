"""Verdicts on the sketch's equations, (5.1), and the first paragraph of Section 5 of arXiv:2505.16329v2."""

from __future__ import annotations

import math

import pandas as pd

from costofprivacy.dpgd.rates import OUTPUT
from costofprivacy.experiments.dpgd.hyperparameters import steps
from costofprivacy.experiments.dpgd.hyperparameters.limit import FIXED, GROWING
from costofprivacy.experiments.dpgd.hyperparameters.terms import CHOSEN
from costofprivacy.judging import growth
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, cite, pick, select
from costofprivacy.judging.vocabulary import CONSISTENT

BOUNDED_CLIPS = ("c = 0.1", "c = 1")  # those with c = O(1)
LARGE_CLIPS = ("c = 1", "c = γ^−¼", "c = γ^−½")  # those with c = Ω(1)
EXACT = 1e-9
SMALL = 1e-3  # relative distance that counts as none at the largest n
LINEAR = -0.8  # a distance that falls at least like this power of n
NEAR = 0.05  # of a power of 1 − t
GAMMAS = "Factors that leave every bound as $\\gamma$ falls, with $c$ and $\\tilde\\eta(0)$ as the claim allows them."


@judges("dpgd/equation-5.6")
def equation_56(tables: Tables) -> Finding:
    """(5.6): do μ/c and ν𝒫/c² keep their order along the whole path, for c ≤ 1 and every η̃(0) ≤ 2/γ?"""
    columns = ("min_mu_over_clip", "max_mu_over_clip", "min_second_over_square", "max_second_over_square")
    table = tables["factors"][tables["factors"]["axis"].isin(BOUNDED_CLIPS)]
    powers = _powers(table, columns)
    numbers = (*_ends(table, columns), Number("largest power of 1/γ", max(map(abs, powers.values())), table="factors"))
    if max(map(abs, powers.values())) > growth.LOST_POWER:
        headline = "A factor leaves its order as the aspect ratio falls, though the clipping constant is bounded."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=GAMMAS)
    low, high = table["min_mu_over_clip"].min(), table["max_mu_over_clip"].max()
    headline = (
        f"With bounded clipping constants both factors keep their order: the first stays between {compact(low)} and "
        f"{compact(high)}."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=GAMMAS)


@judges("dpgd/equation-5.9")
def equation_59(tables: Tables) -> Finding:
    """(5.9): does μ keep its order, and ν𝒫 stay above one, for c ≥ 1, growing or not?"""
    table = tables["factors"][tables["factors"]["axis"].isin(LARGE_CLIPS)]
    both, low = _powers(table, ("min_mu", "max_mu")), _powers(table, ("min_second",))
    columns = ("min_mu", "max_mu", "min_second", "max_second")
    worst = max(*map(abs, both.values()), *(-power for power in low.values()))
    numbers = (*_ends(table, columns), Number("largest power of 1/γ against the claim", worst, table="factors"))
    if worst > growth.LOST_POWER:
        headline = "A factor falls out of its order as the aspect ratio falls, with large clipping constants."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=GAMMAS)
    headline = (
        f"With large clipping constants the first factor stays above {compact(table['min_mu'].min())}, the second "
        f"above {compact(table['min_second'].min())}."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=GAMMAS)


def _powers(table: pd.DataFrame, columns: tuple[str, ...]) -> dict[tuple[str, float, str], float]:
    return {
        (str(axis), float(share), column): growth.power(rows, "inverse", column, "")
        for (axis, share), rows in table.groupby(["axis", "share"])
        for column in columns
    }


def _ends(table: pd.DataFrame, columns: tuple[str, ...]) -> tuple[Number, ...]:
    """The extreme of each column over the table."""
    found = []
    for column in columns:
        side, name = column.split("_", 1)
        value = getattr(table[column], side)()
        found.append(Number(f"{'least' if side == 'min' else 'largest'} {name}", value, table="factors"))
    return tuple(found)


@judges("dpgd/equation-5.8")
def equation_58(tables: Tables) -> Finding:
    """(5.8): is the risk of output perturbation the printed function up to one constant, for all cη̃(0) and c ≤ 1?"""
    table = tables["reduced"]
    rows = table[(table["alpha"] == OUTPUT) & table["clip_rule"].isin(BOUNDED_CLIPS)]
    powers = stretch_powers(rows)
    numbers = _stretches(rows, powers)
    change = "A constant that grows as $\\gamma$ falls, with $c$ bounded."
    if not max(powers.values()) <= growth.LOST_POWER:
        headline = "No constant makes the printed function enclose the risk as the aspect ratio falls."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        f"The printed function encloses the risk with the constant {compact(rows['stretch'].max())} in each term, for "
        "every learning rate."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/equation-5.13")
def equation_513(tables: Tables) -> Finding:
    """(5.13): the same for both schedules, every clipping regime, every ρ and every η̃(0) ≤ 2/γ."""
    table = tables["reduced"]
    powers = stretch_powers(table)
    lost = {key for key, power in powers.items() if not power <= growth.LOST_POWER}
    chosen = table[table["reach"] == CHOSEN]
    numbers = (*_stretches(table, powers), *_stretches(chosen, stretch_powers(chosen), " at the paper's choice"))
    change = "A constant that grows, or does not, as $\\gamma$ falls, at other learning rates."
    if not lost:
        largest = compact(table["stretch"].max())
        headline = f"One linear equation encloses the risk in both regimes, with the constant {largest}."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if any(reach == CHOSEN for *_, reach in lost):
        headline = "The linear equation does not follow the risk, even at the paper's own learning rates."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        f"One linear equation follows the risk at the paper's learning rates, with the constant "
        f"{compact(chosen['stretch'].max())}; near the cap it need not."
    )
    correction = (
        r"For $v = O(\ln(1/\gamma))$, as (5.2) has it. Excluded are learning rates near $2/\gamma$ with large $c$ and "
        r"little noise, and those at which $v\gamma/\rho$ is unbounded: the risk leaves the range where the factors "
        "have their order."
    )
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.NONE, correction, change)


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
    return (
        Number(f"largest constant{where}", worst["stretch"], table="reduced", row=row),
        Number(f"largest power of 1/γ in it{where}", max(powers.values()), table="reduced"),
    )


@judges("dpgd/equation-5.1")
def equation_51(tables: Tables) -> Finding:
    """After (5.1): where does (4.2) put the noise for α = 0, ½ and α ≥ 1?"""
    table = tables["noise"]
    largest = int(table["n"].max())

    def value(quantity: str, alpha: float) -> float:
        return float(pick(table, n=largest, alpha=alpha, quantity=quantity)["value"])

    first = select(table, alpha=0.5, quantity=steps.FIRST_LEVEL)
    decays = select(table, n=largest, quantity=steps.DECAY)
    told = {steps.LAST_SHARE: 0.0, steps.SPREAD: 0.5, steps.PRINTED_LEVEL: 0.5, steps.FIRST_LEVEL: 0.5}
    numbers = tuple(
        cite(name, tables, "noise", "value", n=largest, alpha=alpha, quantity=name) for name, alpha in told.items()
    )
    numbers += tuple(
        cite(
            f"power of 1 − t, α = {a:g}",
            tables,
            "noise",
            "value",
            against=2 * a - 1,
            n=largest,
            alpha=a,
            quantity=steps.DECAY,
        )
        for a in decays["alpha"]
    )
    change = "Another noise schedule than (4.2)."
    exact = (
        abs(value(steps.LAST_SHARE, 0.0) - 1) < EXACT
        and max(abs(value(name, 0.5)) for name in (steps.SPREAD, steps.PRINTED_LEVEL)) < EXACT
    )
    tends = (
        abs(first["value"].iloc[-1]) < SMALL
        and growth.power(first.assign(value=first["value"].abs()), "n", "value", "") < LINEAR
    )
    falls = bool(
        ((decays["value"] - (2 * decays["alpha"] - 1)).abs() < NEAR).all() and (decays["value"] > 1 - NEAR).all()
    )
    if not (exact and tends and falls):
        headline = "The noise of a schedule is not where the text after (5.1) puts it."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = "The noise is where the text puts it: all in the last step, level, or falling at least linearly."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/section-5-limit")
def section_5_limit(tables: Tables) -> Finding:
    """Does the risk settle on the ODE's as d grows with γ fixed, and not where c grows with n?"""
    fixed, growing = (select(tables["limit"], rule=rule) for rule in (FIXED, GROWING))
    last = fixed[fixed["d"] == fixed["d"].max()]
    scores = ((last["risk_mean"] - last["ode_risk"]) / last["standard_error"]).abs()
    rises = growing.groupby("alpha")["ode_risk"].agg(lambda risks: risks.iloc[-1] / risks.iloc[0])
    numbers = tuple(
        cite(
            f"risk at the largest d, α = {row['alpha']:g}",
            tables, "limit", "risk_mean", error="standard_error", against=row["ode_risk"],
            alpha=row["alpha"], rule=FIXED, d=row["d"],
        )
        for _, row in last.iterrows()
    )  # fmt: skip
    numbers += (Number("growth of the risk where c grows like ln n", rises.min(), table="limit", row=GROWING),)
    change = "A risk that keeps moving with the dimension at a fixed aspect ratio."
    if scores.max() > CONSISTENT or not rises.min() > 1:
        headline = "At a fixed aspect ratio the risk does not settle on a value free of the dimension."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        f"At a fixed aspect ratio the risk settles, within {compact(scores.max())} standard errors of the equivalent; "
        "with growing clipping it rises."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/section-5-earlier-bounds")
def section_5_earlier_bounds(tables: Tables) -> Finding:
    """That earlier bounds diverge is a reading of three other papers."""
    clip = tables["limit"]["clip"].max()
    headline = "Whether earlier bounds diverge is a matter of reading three other papers; nothing here measures it."
    change = "Statements of those bounds with their constants, to be evaluated in the proportional limit."
    return Finding(Verdict.UNTESTABLE, headline, (Number("largest c tried", clip, table="limit"),), would_change=change)
