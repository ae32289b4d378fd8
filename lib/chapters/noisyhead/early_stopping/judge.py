"""Verdicts on Figure 3, Proposition 4.1 and what sections 1.1, 3, 4, 6.2 and 8 say on early stopping."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from chapters.noisyhead import agreement
from chapters.noisyhead.early_stopping.measure import ALONG_BOTH, ALONG_EPSILON, ALONG_T, FROM_R, FROM_ZERO, LONGEST
from companion import _fits
from companion.judging.growth import LOST_POWER, power
from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import select
from companion.judging.vocabulary import CONSISTENT, MUCH_SMALLER, ON_A_PAR, WORSE
from costofprivacy.noisyhead import dynamics, hyperparameters, population, recipes
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM

FIRST, LAST = 1, 480  # the paper's T, over which Figure 3 falls and rises
REMOVED = 0.5  # of the error of its start: what descent has to remove before its noise is compared
POWER = 0.3  # within which a local exponent in T is that power
STEADY = 2.0  # factor within which a ratio over many N counts as bounded
ENOUGH = 3  # values of N at which there is something to stop for
ASYMPTOTIC = 1e4  # N from which a ratio is followed
TWO_LOGS, THREE_LOGS = 2.0, 3.0  # log³ N adds 3/log N to a local exponent; C_Noise has log³ N/log(NL), two of them


def turn(ordered: pd.DataFrame) -> tuple[float, float]:
    """Fall from the first T to the least risk and rise from there to the last, in combined standard errors."""
    low = ordered.loc[ordered["excess_risk"].idxmin()]
    ends = ordered.iloc[[0, -1]]
    gap = ends["excess_risk"] - low["excess_risk"]
    error = np.hypot(ends["standard_error"], low["standard_error"])
    return float(gap.iloc[0] / error.iloc[0]), float(gap.iloc[1] / error.iloc[1])


@judges("noisyhead/figure-3")
def figure_3(found: Record) -> Ruling:
    """Does the risk fall and rise again, do the numbers come out again, and is there a fall from Γ⁰ = 0 too?

    It does not turn if beyond doubt it rises before its least or falls after it, or does one alone over the paper's T.
    """
    own = select(found["figure-3"], setting="published", method="noisyhead").sort_values("T")
    zero = select(found["accounts"], start="zero", account=ALGORITHM).sort_values("T")
    (fall, rise), row = turn(own), "setting = published, method = noisyhead"
    found.number("fall to the least, in standard errors", fall, against=CONSISTENT, table="figure-3", row=row)
    found.number("rise from the least, in standard errors", rise, against=CONSISTENT, table="figure-3", row=row)
    for start, account in product(("random", "zero"), ACCOUNTS):
        where: dict[str, Any] = {"source": "simulation", "start": start, "account": account}
        found.cite(f"best T, {start} start, {account}", "best_T", table="best-steps", **where)
    again = agreement.agreements(found["comparison"])
    found.numbers += agreement.numbers(again)
    published, printed = (name not in again or again[name].complete for name in ("published", "printed"))
    low, scores = int(own["excess_risk"].to_numpy().argmin()), agreement.change(own)
    only_rises = fall == 0 and rise > CONSISTENT and own["T"].min() <= FIRST
    only_falls = rise == 0 and fall > CONSISTENT and own["T"].max() >= LAST
    turns_back = (scores[:low] > CONSISTENT).any() or (scores[low:] < -CONSISTENT).any()
    never = bool(only_rises or only_falls or turns_back)
    best = int(zero.loc[zero["excess_risk"].idxmin(), "T"])
    narrower = published and not never
    from_zero = narrower and not turn(zero)[0] <= CONSISTENT
    return found.ruling(
        from_zero and printed,
        corrected=from_zero,
        narrower=narrower,
        decided=never or not (fall <= CONSISTENT or rise <= CONSISTENT),
        steps=f"{best} step" if best == 1 else f"{best} steps",
    )


@judges("noisyhead/section-1.1-phase-transition")
def section_11_phase_transition(found: Record) -> Ruling:
    """Does the expected test error fall and rise again with T, and from a start at zero, too?

    The random start and the noise have mean zero. So the test error exceeds that of the ridge solution by the excess
    risk and by a term linear in the mean of Γ, which from zero shrinks like the root of the descent error.
    """
    rows, row, turns = select(found["closed-form"], account=ALGORITHM).set_index("T"), f"T ≤ {LAST}", {}
    fallen: dict[str, Any] = {}
    error = select(found["test-error"], setting="published", T=FIRST).set_index("method")["test_error"]
    shrunk = np.sqrt(select(rows, start="zero").sort_index().loc[:LAST, "descent"])
    for start in ("random", "zero"):
        total, turns[start] = select(rows, start=start).sort_index().loc[:LAST, "total"], True
        extra = total + (error["zero"] - error["ridge"]) * shrunk / shrunk.iloc[0]
        for place, at in (("first", 0), ("last", -1)):
            name = f"extra test error at the {place} T over the least, start {start}"
            over = found.number(name, extra.iloc[at] / extra.min(), against=ON_A_PAR, table="closed-form", row=row)
            turns[start] &= over > ON_A_PAR
        share = (extra.iloc[0] - extra.min()) / found["test-error"]["response_variance"].max()
        name = f"fall of the test error, {start} start, as a fraction of Var(y)"
        fallen[start] = found.number(name, share, table="closed-form", row=row)
    far = rows.index.min() <= FIRST and rows.index.max() >= LAST
    return found.ruling(all(turns.values()), narrower=turns["random"], decided=far, **fallen)


@judges("noisyhead/section-8-necessity")
def section_8_necessity(found: Record) -> Ruling:
    """Is the longest training worse than the best T, from every start and in every account of the same budget?"""
    least, needed = found["stopping"].groupby("account")["risk_at_longest_over_best"].min(), {}
    for account in ACCOUNTS:
        name, row = f"least risk after {LONGEST} steps over the least risk, {account}", f"account = {account}"
        needed[account] = found.number(name, least[account], against=WORSE, table="stopping", row=row) > WORSE
    return found.ruling(all(needed.values()), narrower=needed[ALGORITHM])


@judges("noisyhead/section-6.2-monotone")
def section_62_monotone(found: Record) -> Ruling:
    """Over the figure's T, does descent without noise approach Γ* at every step, in the mean and in each data set?"""
    own = select(found["descent"], setting="published", start="random").sort_values("T")
    figure = own[own["in_figure"]]
    risk, error, scores = figure["excess_risk"].to_numpy(), figure["standard_error"], agreement.change(figure)
    table, row = "descent", "setting = published, start = random"
    found.number("excess risk at the first T", risk[0], error=error.iloc[0], table=table, row=row)
    name = "excess risk at the last T"
    found.number(name, risk[-1], error=error.iloc[-1], against=risk[0], table=table, row=row)
    found.number("largest rise at a step, in standard errors", scores.max(), against=CONSISTENT, table=table, row=row)
    name, where = "largest fraction of data sets in which the risk rises", f"{row}, in_figure = True"
    risen = found.number(name, figure["risen"].max(), against=0.0, table=table, row=where)
    found.number("the same with far more steps than the figure shows", own["risen"].max(), table=table, row=row)
    name, end = "excess risk at which descent comes to rest", own.iloc[-1]
    found.number(name, end["rest"], against=end["excess_risk"], table=table, row=row)
    rises, falls = bool((scores > CONSISTENT).any()), bool((np.diff(risk) < 0).all())
    return found.ruling(not (rises or risen > 0), narrower=not rises, decided=rises or falls)


def noise_exponents(curves: pd.DataFrame, account: str) -> pd.Series:
    """Local exponent in T of the noise part in closed form, by T."""
    rows = select(curves, start="zero", account=account).sort_values("T")
    return pd.Series(_fits.local_exponents(rows["T"].to_numpy(), rows["noise"].to_numpy()), index=rows["T"])


@judges("noisyhead/section-4-optimal-stopping")
def section_4_optimal_stopping(found: Record) -> Ruling:
    """Does the noise part rise like T³, and is the best T of the order of log N, from every start?"""
    powers, account = noise_exponents(found["closed-form"], ALGORITHM), f"account = {ALGORITHM}"
    for T, value in powers.iloc[[0, -1]].items():
        row = f"start = zero, {account}, T = {T}"
        found.number("local power of T in the noise", value, against=3.0, table="closed-form", row=row)
    own = select(found["stopping"], account=ALGORITHM).sort_values("N")
    own = own[own["N"] >= ASYMPTOTIC]
    far, zero = select(own, start=FROM_R), select(own, start=FROM_ZERO)
    for (start, rows), which in product(((FROM_R, far), (FROM_ZERO, zero)), ("min", "max")):
        value, row = rows["best_T_over_log_N"].agg(which), f"start = {start}, {account}"
        found.number(f"best T over log N, {which}", value, table="stopping", row=row)
    name = "steps up to which the noise grows like a cube"
    found.number(name, own["transient"].max(), table="stopping", row=account)
    last = powers.iloc[-1]
    narrower, cubic = logarithmic(far) and not last > 3 + POWER, bool(last > 3 - POWER)
    either = narrower and logarithmic(zero)
    return found.ruling(
        either and cubic,
        corrected=either,
        narrower=narrower,
        decided=(far["best_T"] > 1).sum() >= ENOUGH,
        grounds="cubic noise" if cubic else "",
        most=zero["best_T"].max(),
    )


def logarithmic(rows: pd.DataFrame) -> bool:
    """Whether the best T is of the order of log N, N ascending: T/log N is steady, or its slope as in α log N − β."""
    moved = rows[rows["best_T"] > 1]
    slope = moved["best_T"].diff().dropna() / np.log(moved["N"]).diff().dropna()
    steady = [bool(v.min() > 0 and v.max() <= STEADY * v.min()) for v in (moved["best_T_over_log_N"], slope)]
    return len(moved) >= ENOUGH and any(steady)


@judges("noisyhead/section-6.2-c-noise")
def section_62_c_noise(found: Record) -> Ruling:
    """Is section 6.2's C_Noise the second term of (4.5) up to logarithms, and does descent exceed either at r = N?"""
    table, section = "section-62", found["section-62"].sort_values("N")
    last, ahead = section.iloc[-1], section["noise_printed"] > section["descent"]
    printed, right = last["exponent_noise_printed"], last["exponent_noise_45"]
    row = f"N = {last['N']:g}"
    found.number("power of N in the printed noise cost", printed, against=right, table=table, row=row)
    ratio = last["noise_printed"] / last["noise_45"]
    found.number("printed noise cost over that of (4.5)", ratio, against=1.0, table=table, row=row)
    name = "sizes at which the printed noise cost exceeds descent"
    none = found.number(name, ahead.sum(), against=0.0, table=table, row="") == 0
    alike = not abs(printed - right) > LOST_POWER + THREE_LOGS / np.log(last["N"])
    below = not (section["noise_45"] > section["descent"]).any()
    logs = np.log(section["N"].tail(2)).mean()  # log^k N adds k/log N to an exponent between the last two N
    quoted = {"printed": printed - TWO_LOGS / logs, "right": right - THREE_LOGS / logs}
    return found.ruling(alike and none, corrected=below)._replace(quoted=quoted)


@judges("noisyhead/proposition-4.1-any-t")
def proposition_41_any_t(found: Record) -> Ruling:
    """(4.5) in closed form along N, T and ε, where descent comes to rest, and the simulation beside it.

    Along N the cost is followed at r = N and the worst ε.
    """
    stopped, any_steps, kept = found["stopped"], found["any-steps"], True
    over = stopped["excess_risk"] / stopped["bound_45"]
    weak = any_steps.assign(inverse=1 / any_steps["epsilon"])
    sizes = {
        "N": ("the number of prompts", "stopped", "N", stopped.loc[over.groupby(stopped["N"]).idxmax()]),
        ALONG_T: ("the number of steps", "any-steps", "T", select(weak, axis=ALONG_T)),
        ALONG_EPSILON: ("the inverse budget", "any-steps", "inverse", select(weak, axis=ALONG_EPSILON)),
        ALONG_BOTH: ("steps and budget together", "any-steps", "T", select(weak, axis=ALONG_BOTH)),
    }
    for axis, (called, table, size, rows) in sizes.items():
        name, grown = f"power of {called} in the cost over (4.5)", power(rows, size, "excess_risk", "bound_45")
        kept &= found.at_most(name, grown, LOST_POWER, table=table, row=f"axis = {axis}")
    largest = (any_steps["excess_risk"] / any_steps["bound_45"]).max()
    found.number("largest cost over (4.5) along steps and budget", largest, table="any-steps", row="")
    both = select(found["accounts"], start="random", account=ALGORITHM).merge(found["bounds"], on="T")
    simulated = (both["excess_risk"] / (both["descent_45"] + both["noise_45"])).max()
    found.number("largest excess risk simulated over (4.5)", simulated, table="accounts", row="start = random")
    name, farthest = (
        "where descent comes to rest, over the least of (4.5)",
        (stopped["rest"] / stopped["least_45"]).max(),
    )
    found.number(name, farthest, table="stopped", row="")
    rest = power(stopped.drop_duplicates("N"), "N", "rest", "least_45")
    rests = found.at_most("power of N in this ratio", rest, LOST_POWER, table="stopped", row="")
    name, zero = "largest excess risk of always predicting 0 over (4.5)", trivial(stopped, "least_45")
    found.number(name, zero, against=1.0, table="stopped", row="")
    return found.ruling(kept and rests, corrected=kept, vacuous=max(zero, trivial(any_steps, "bound_45")) <= 1)


def trivial(rows: pd.DataFrame, bound: str) -> float:
    """The largest excess risk of always predicting 0 over a bound, at D = L = √N, λ = N/D and without label noise."""
    risks = [
        population.zero_excess_risk(recipes.overparametrised_model(int(N), 0.0), recipes.high_dimension_penalty(int(N)))
        for N in rows["N"]
    ]
    return float((np.array(risks) / rows[bound]).max())


@judges("noisyhead/proposition-4.1-stopped")
def proposition_41_stopped(found: Record) -> Ruling:
    """(4.6) at r = N from ‖Γ⁰‖ = R along N at each ε, and beside what the ball of radius R admits at any ε and T."""
    stopped, table = found["stopped"], "stopped"
    ball = stopped.drop_duplicates("N").assign(ball=lambda rows: [admitted(int(N)) for N in rows["N"]])
    grows = max(power(rows, "N", "excess_risk", "bound_46") for _, rows in stopped.groupby("epsilon"))
    found.number("largest power of N in the cost over (4.6)", grows, against=LOST_POWER, table=table, row="")
    name = "power of N in what the ball admits over (4.6)"
    kept = found.at_most(name, power(ball, "N", "ball", "bound_46"), LOST_POWER, table=table, row="")
    largest = (ball["ball"] / ball["bound_46"]).max()
    found.number("largest risk that the ball admits over (4.6)", largest, table=table, row="")
    name, zero = "largest excess risk of always predicting 0 over (4.6)", trivial(stopped, "bound_46")
    vacuous = found.at_most(name, zero, 1.0, table=table, row="")
    return found.ruling(kept and not grows > LOST_POWER, vacuous=vacuous)


def admitted(N: int) -> float:
    """4R² E‖Z‖²/D²: the largest mean squared difference of two heads in the ball, R by (4.1) with κ = 1."""
    model = recipes.overparametrised_model(N, 0.0)
    R = hyperparameters.weight_bound_theorem(model, N, 1.0, recipes.high_dimension_penalty(N))
    return 4 * R**2 * dynamics.curvature(model)


def hardest(parts: pd.DataFrame) -> pd.Series:
    """The least noise over descent that tuning reaches at the N at which it reaches least, by start."""
    return parts.groupby(["start", "N"])["noise_over_descent"].min().groupby("start").max()


@judges("noisyhead/section-3-noise-below-descent")
def section_3_noise_below_descent(found: Record) -> Ruling:
    """At each N, is there a number of steps and a learning rate at which noise is far below what descent leaves?

    A learning rate near zero adds hardly any noise and learns nothing, so descent has to remove a part of the error.
    """
    table, name = "parts-at-stop", "least noise over descent, at the hardest N"
    parts, from_r, from_zero = found[table], f"start = {FROM_R}", f"start = {FROM_ZERO}"
    least, untuned = hardest(parts), hardest(select(parts, rate_share=1.0))[FROM_ZERO]
    found.number(name, least[FROM_R], against=MUCH_SMALLER, table=table, row=from_r)
    found.number(name, least[FROM_ZERO], against=MUCH_SMALLER, table=table, row=from_zero)
    found.number(f"{name}, no learning rate tuned", untuned, against=MUCH_SMALLER, table=table, row=from_zero)
    quiet = parts[(parts["start"] == FROM_ZERO) & (parts["noise_over_descent"] <= MUCH_SMALLER)]
    removed = float(1 - quiet["descent_over_zero"].min()) if len(quiet) else 0.0
    found.number("largest fraction of the error that descent then removes", removed, table=table, row=from_zero)
    learned = parts["descent"] <= REMOVED * parts.groupby(["start", "N"])["descent"].transform("max")
    tuned = hardest(parts.assign(noise_over_descent=parts["noise_over_descent"].where(learned, np.inf)))
    name += f", where descent removes a fraction of at least {REMOVED:g}"
    far = found.at_most(name, tuned[FROM_R], MUCH_SMALLER, table=table, row=from_r)
    zero = found.at_most(name, tuned[FROM_ZERO], MUCH_SMALLER, table=table, row=from_zero)
    grounds = "" if untuned > MUCH_SMALLER else "untuned too"
    return found.ruling(far and zero, narrower=far, grounds=grounds)
