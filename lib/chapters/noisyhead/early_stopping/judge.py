"""Verdicts on Figure 3, Proposition 4.1 and what sections 1.1, 3, 4, 6.2 and 8 say on early stopping."""

import numpy as np
import pandas as pd

from chapters.noisyhead import agreement
from chapters.noisyhead.early_stopping.measure import ALONG_BOTH, ALONG_EPSILON, ALONG_T, FROM_R, FROM_ZERO, LONGEST
from companion import _fits
from companion.judging.findings import Number
from companion.judging.growth import LOST_POWER, power
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, cite, select
from companion.judging.vocabulary import CONSISTENT, MUCH_SMALLER, ON_A_PAR, WORSE
from costofprivacy.noisyhead import population, recipes
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM

FIRST, LAST = 1, 480  # the paper's T, over which Figure 3 falls and rises
REMOVED = 0.5  # of the error of its start: what descent has to remove before its noise is compared
POWER = 0.3  # within which a local exponent in T is that power
STEADY = 2.0  # factor within which a ratio over many N counts as bounded
ENOUGH = 3  # values of N at which there is something to stop for
ASYMPTOTIC = 1e4  # N from which a ratio is followed
NEGLIGIBLE = 2.0  # (4.5) over (4.6) up to which the noise term of (4.5) is none
TWO_LOGS, THREE_LOGS = 2.0, 3.0  # log³ N adds 3/log N to a local exponent; C_Noise has log³ N/log(NL), two of them


@judges("noisyhead/figure-3")
def figure_3(tables: Tables) -> Ruling:
    """Does the risk fall and rise again, do the numbers come out again, and is there a fall from Γ⁰ = 0 too?"""
    own = select(tables["figure-3"], setting="published", method="noisyhead")
    zero = _account(tables["accounts"], "zero", ALGORITHM)
    found = agreement.agreements(tables["comparison"])
    published, printed = (name not in found or found[name].complete for name in ("published", "printed"))
    (fall, rise), never, best = turn(own), never_turns(own), least_step(zero)
    again = published and not never
    from_zero = again and not turn(zero)[0] <= CONSISTENT
    decided = never or not (fall <= CONSISTENT or rise <= CONSISTENT)
    verdict = reads(printed=from_zero and printed, corrected=from_zero, narrower=again, decided=decided)
    every = (*_figure_numbers(tables, fall, rise), *agreement.numbers(found))
    return Ruling(verdict, every, {"best": best, "steps": _steps(best)})


def _account(accounts: pd.DataFrame, start: str, account: str) -> pd.DataFrame:
    return select(accounts, start=start, account=account).sort_values("T")


def _figure_numbers(tables: Tables, fall: float, rise: float) -> tuple[Number, ...]:
    """The turn of the published curve, and the best T by start and account."""
    turns = {
        "fall to the least, in standard errors": (fall, CONSISTENT),
        "rise from the least, in standard errors": (rise, CONSISTENT),
    }
    return (
        *numbers("figure-3", turns, "setting = published, method = noisyhead"),
        *(_best_step(tables, start, account) for start in ("random", "zero") for account in ACCOUNTS),
    )


def _best_step(tables: Tables, start: str, account: str) -> Number:
    name = f"best T, {start} start, {account}"
    return cite(name, tables, "best-steps", "best_T", source="simulation", start=start, account=account)


def _steps(count: int) -> str:
    return f"{count} step" if count == 1 else f"{count} steps"


def least_step(rows: pd.DataFrame) -> int:
    """The T with the least excess risk."""
    return int(rows.loc[rows["excess_risk"].idxmin(), "T"])


def turn(rows: pd.DataFrame) -> tuple[float, float]:
    """Fall from the first T to the least and rise from there to the last, in combined standard errors."""
    ordered = rows.sort_values("T")
    low = ordered.loc[ordered["excess_risk"].idxmin()]
    ends = ordered.iloc[[0, -1]]
    gap = ends["excess_risk"] - low["excess_risk"]
    error = np.hypot(ends["standard_error"], low["standard_error"])
    return float(gap.iloc[0] / error.iloc[0]), float(gap.iloc[1] / error.iloc[1])


def never_turns(rows: pd.DataFrame) -> bool:
    """Whether beyond doubt the risk rises before its least or falls after it, or does one alone over the paper's T."""
    ordered = rows.sort_values("T")
    fall, rise = turn(ordered)
    low, scores = int(ordered["excess_risk"].to_numpy().argmin()), agreement.change(ordered)
    only_rises = fall == 0 and rise > CONSISTENT and ordered["T"].min() <= FIRST
    only_falls = rise == 0 and fall > CONSISTENT and ordered["T"].max() >= LAST
    return bool(only_rises or only_falls or (scores[:low] > CONSISTENT).any() or (scores[low:] < -CONSISTENT).any())


def ends(rows: pd.DataFrame) -> tuple[float, float, float]:
    """The expected extra test error at the first T and at the last, over the least, and its fall to the least."""
    errors = rows[rows["T"] <= LAST].sort_values("T")["total"]
    least = errors.min()
    return float(errors.iloc[0] / least), float(errors.iloc[-1] / least), float(errors.iloc[0] - least)


@judges("noisyhead/section-1.1-phase-transition")
def section_11_phase_transition(tables: Tables) -> Ruling:
    """Does the expected test error fall and rise again with T, and from a start at zero, too?

    The start and the noise have mean zero and are independent of the data, so the test error exceeds that of the ridge
    solution by the excess risk, whose closed form is summed here.
    """
    rows = select(tables["closed-form"], account=ALGORITHM)
    found = {start: ends(select(rows, start=start)) for start in ("random", "zero")}
    named, turns = {}, {}
    for start, (first, last, _) in found.items():
        named[f"extra test error at the first T over the least, start {start}"] = (first, ON_A_PAR)
        named[f"extra test error at the last T over the least, start {start}"] = (last, ON_A_PAR)
        turns[start] = min(first, last) > ON_A_PAR
    depth = found["random"][2] / tables["test-error"]["response_variance"].max()
    named["fall of the test error, random start, as a fraction of Var(y)"] = depth
    far = rows["T"].min() <= FIRST and rows["T"].max() >= LAST
    verdict = reads(printed=all(turns.values()), narrower=turns["random"], decided=far)
    return Ruling(verdict, numbers("closed-form", named, f"T ≤ {LAST}"), {"depth": depth})


@judges("noisyhead/section-8-necessity")
def section_8_necessity(tables: Tables) -> Ruling:
    """Is the longest training worse than the best T, from every start and in every account of the same budget?"""
    least = tables["stopping"].groupby("account")["risk_at_longest_over_best"].min()
    rows = {account: (least[account], WORSE, f"account = {account}") for account in ACCOUNTS}
    named = {f"least risk after {LONGEST} steps over the least risk, {account}": row for account, row in rows.items()}
    needed = {account: value > WORSE for account, (value, *_) in rows.items()}
    verdict = reads(printed=all(needed.values()), narrower=needed[ALGORITHM])
    return Ruling(verdict, numbers("stopping", named))


@judges("noisyhead/section-6.2-monotone")
def section_62_monotone(tables: Tables) -> Ruling:
    """Over the figure's T, does descent without noise approach Γ* at every step, in the mean and in each data set?"""
    own = select(tables["descent"], setting="published", start="random").sort_values("T")
    figure = own[own["in_figure"]]
    risk, error, scores = figure["excess_risk"].to_numpy(), figure["standard_error"], agreement.change(figure)
    row, risen = "setting = published, start = random", figure["risen"].max()
    named = {
        "excess risk at the first T": {"value": risk[0], "error": error.iloc[0]},
        "excess risk at the last T": {"value": risk[-1], "error": error.iloc[-1], "against": risk[0]},
        "largest rise at a step, in standard errors": (scores.max(), CONSISTENT),
        "largest fraction of data sets in which the risk rises": (risen, 0.0, f"{row}, in_figure = True"),
        "the same with far more steps than the figure shows": own["risen"].max(),
        "excess risk at which descent comes to rest": (own["rest"].iloc[-1], own["excess_risk"].iloc[-1]),
    }
    rises, falls = bool((scores > CONSISTENT).any()), bool((np.diff(risk) < 0).all())
    verdict = reads(printed=not (rises or risen > 0), narrower=not rises, decided=rises or falls)
    return Ruling(verdict, numbers("descent", named, row))


def noise_exponents(curves: pd.DataFrame, account: str) -> pd.Series:
    """Local exponent in T of the noise part in closed form, by T."""
    rows = select(curves, start="zero", account=account).sort_values("T")
    return pd.Series(_fits.local_exponents(rows["T"].to_numpy(), rows["noise"].to_numpy()), index=rows["T"])


@judges("noisyhead/section-4-optimal-stopping")
def section_4_optimal_stopping(tables: Tables) -> Ruling:
    """Does the noise part rise like T³, and is the best T of the order of log N, from every start?"""
    powers = noise_exponents(tables["closed-form"], ALGORITHM)
    own = select(tables["stopping"], account=ALGORITHM).sort_values("N")
    own = own[own["N"] >= ASYMPTOTIC]
    far, zero, transient = select(own, start=FROM_R), select(own, start=FROM_ZERO), own["transient"].max()
    found = (
        *(_exponent(powers, i) for i in (0, -1)),
        *(_over_log(rows, which) for rows in (far, zero) for which in ("min", "max")),
        *numbers("stopping", {"steps up to which the noise grows like a cube": transient}, f"account = {ALGORITHM}"),
    )
    last, decided = powers.iloc[-1], bool((far["best_T"] > 1).sum() >= ENOUGH)
    narrower, cubic = logarithmic(far) and not last > 3 + POWER, bool(last > 3 - POWER)
    either = narrower and logarithmic(zero)
    verdict = reads(printed=either and cubic, corrected=either, narrower=narrower, decided=decided)
    return Ruling(verdict, found, {"most": zero["best_T"].max()}, "cubic noise" if cubic else "")


def _exponent(powers: pd.Series, index: int) -> Number:
    row = f"start = zero, account = {ALGORITHM}, T = {powers.index[index]}"
    return Number("local power of T in the noise", powers.iloc[index], None, 3.0, "closed-form", row)


def _over_log(rows: pd.DataFrame, which: str) -> Number:
    value, row = rows["best_T_over_log_N"].agg(which), f"start = {rows['start'].iloc[0]}, account = {ALGORITHM}"
    return Number(f"best T over log N, {which}", value, None, None, "stopping", row)


def logarithmic(rows: pd.DataFrame) -> bool:
    """Whether the best T is of the order of log N, N ascending: T/log N is steady, or its slope as in α log N − β."""
    moved = rows[rows["best_T"] > 1]
    if len(moved) < ENOUGH:
        return False
    slope = moved["best_T"].diff().dropna() / np.log(moved["N"]).diff().dropna()
    return _steady(moved["best_T_over_log_N"]) or _steady(slope)


def _steady(values: pd.Series) -> bool:
    return bool(values.min() > 0 and values.max() <= STEADY * values.min())


@judges("noisyhead/section-6.2-c-noise")
def section_62_c_noise(tables: Tables) -> Ruling:
    """Is section 6.2's C_Noise the second term of (4.5) up to logarithms, and does descent exceed either at r = N?"""
    section = tables["section-62"].sort_values("N")
    last, ahead = section.iloc[-1], section["noise_printed"] > section["descent"]
    printed, right = last["exponent_noise_printed"], last["exponent_noise_45"]
    named = {
        "power of N in the printed noise cost": (printed, right),
        "printed noise cost over that of (4.5)": (last["noise_printed"] / last["noise_45"], 1.0),
        "sizes at which the printed noise cost exceeds descent": (ahead.sum(), 0.0, ""),
    }
    alike = not abs(printed - right) > LOST_POWER + THREE_LOGS / np.log(last["N"])
    below = not (section["noise_45"] > section["descent"]).any()
    verdict = reads(printed=alike and not ahead.any(), corrected=below)
    logs = np.log(section["N"].tail(2)).mean()  # log^k N adds k/log N to an exponent between the last two N
    quoted = {"printed": printed - TWO_LOGS / logs, "right": right - THREE_LOGS / logs}
    return Ruling(verdict, numbers("section-62", named, f"N = {last['N']:g}"), quoted)


def both_sides(accounts: pd.DataFrame, limits: pd.DataFrame) -> pd.DataFrame:
    """The simulation behind Figure 3 beside (4.2) and (4.5), by T."""
    merged = _account(accounts, "random", ALGORITHM).merge(limits, on="T")
    return merged.assign(
        over_42=merged["excess_risk"] / (merged["descent_42"] + merged["noise_42"]),
        over_45=merged["excess_risk"] / (merged["descent_45"] + merged["noise_45"]),
    )


SIZES_OF_45 = {
    "N": "the number of prompts",
    ALONG_T: "the number of steps",
    ALONG_EPSILON: "the inverse budget",
    ALONG_BOTH: "steps and budget together",
}


def lost_powers(stopped: pd.DataFrame, any_steps: pd.DataFrame) -> dict[str, float]:
    """The power of each size in the cost over (4.5): of N at r = N and the worst ε, of T, of 1/ε, and of T = ε."""
    sides = ("excess_risk", "bound_45")
    worst = stopped.loc[(stopped["excess_risk"] / stopped["bound_45"]).groupby(stopped["N"]).idxmax()]
    weak = any_steps.assign(inverse=1 / any_steps["epsilon"])
    sizes = {ALONG_T: "T", ALONG_EPSILON: "inverse", ALONG_BOTH: "T"}
    return {"N": power(worst, "N", *sides)} | {a: power(select(weak, axis=a), s, *sides) for a, s in sizes.items()}


def _lost(powers: dict[str, float]) -> dict[str, dict[str, object]]:
    """These powers as numbers, by name."""
    return {
        f"power of {SIZES_OF_45[axis]} in the cost over (4.5)": {
            "value": value,
            "against": LOST_POWER,
            "table": "stopped" if axis == "N" else "any-steps",
            "row": f"axis = {axis}",
        }
        for axis, value in powers.items()
    }


@judges("noisyhead/proposition-4.1-any-t")
def proposition_41_any_t(tables: Tables) -> Ruling:
    """(4.5) in closed form along N, T and ε, where descent comes to rest, and the simulation beside it."""
    stopped, any_steps = tables["stopped"], tables["any-steps"]
    powers, rest = lost_powers(stopped, any_steps), power(stopped.drop_duplicates("N"), "N", "rest", "least_45")
    largest = (any_steps["excess_risk"] / any_steps["bound_45"]).max()
    simulated = both_sides(tables["accounts"], tables["bounds"])["over_45"].max()
    named = _lost(powers) | {
        "largest cost over (4.5) along steps and budget": {"value": largest, "table": "any-steps"},
        "largest excess risk simulated over (4.5)": {"value": simulated, "table": "accounts", "row": "start = random"},
        "where descent comes to rest, over the least of (4.5)": (stopped["rest"] / stopped["least_45"]).max(),
        "power of N in this ratio": (rest, LOST_POWER),
    }
    named["largest excess risk of always predicting 0 over (4.5)"] = (trivial(stopped, "least_45"), 1.0)
    kept = all(value <= LOST_POWER for value in powers.values())
    verdict = reads(printed=kept and rest <= LOST_POWER, corrected=kept)
    vacuous = kept and max(trivial(stopped, "least_45"), trivial(any_steps, "bound_45")) <= 1
    return Ruling(verdict, numbers("stopped", named, ""), vacuous=vacuous)


def trivial(rows: pd.DataFrame, bound: str) -> float:
    """The largest excess risk of always predicting 0 over a bound, at D = L = √N, λ = N/D and without label noise."""
    risks = [
        population.zero_excess_risk(recipes.overparametrised_model(int(N), 0.0), recipes.high_dimension_penalty(int(N)))
        for N in rows["N"]
    ]
    return float((np.array(risks) / rows[bound]).max())


@judges("noisyhead/proposition-4.1-stopped")
def proposition_41_stopped(tables: Tables) -> Ruling:
    """(4.6) at r = N from ‖Γ⁰‖ = R: along N at each ε, and whether one constant serves at every ε."""
    stopped = tables["stopped"]
    ratio = stopped["excess_risk"] / stopped["bound_46"]
    inside = ratio[stopped["bound_45"] <= NEGLIGIBLE * stopped["bound_46"]].max()
    constant, worst = max(1.0, inside), stopped.loc[ratio.idxmax()]
    grows = max(power(rows, "N", "excess_risk", "bound_46") for _, rows in stopped.groupby("epsilon"))
    named = {
        "largest power of N in the cost over (4.6)": (grows, LOST_POWER),
        "largest cost over (4.6)": (ratio.max(), constant, f"N = {worst['N']:g}, epsilon = {worst['epsilon']:g}"),
        "largest cost over (4.6) where the noise is negligible in (4.5)": (inside, 1.0),
        "least number of steps over log N at r = N": (stopped["T_over_log_N"].min(), 1.0),
    }
    stays, above = not grows > LOST_POWER, ratio > constant
    verdict = reads(printed=stays and not above.any(), narrower=stays)
    zero = trivial(stopped, "bound_46")
    named["largest excess risk of always predicting 0 over (4.6)"] = (zero, 1.0)
    budgets = "small" if only_small_budgets(stopped, above) else "some"
    quoted = {"budgets": budgets, "factor": ratio.max(), "place": f"$N = {worst['N']:g}$"}
    return Ruling(verdict, numbers("stopped", named, ""), quoted, vacuous=stays and zero <= 1)


def only_small_budgets(stopped: pd.DataFrame, above: pd.Series) -> bool:
    """Whether at each N every ε at which the cost is above is smaller than every one at which it is not."""
    largest_above = stopped[above].groupby("N")["epsilon"].max()
    least_below = stopped[~above].groupby("N")["epsilon"].min().reindex(largest_above.index)
    return bool((largest_above < least_below.fillna(np.inf)).all())


def hardest(parts: pd.DataFrame) -> pd.Series:
    """The least noise over descent that tuning reaches at the N at which it reaches least, by start."""
    return parts.groupby(["start", "N"])["noise_over_descent"].min().groupby("start").max()


def removed(parts: pd.DataFrame) -> float:
    """The largest share of the error that descent from zero removes while noise is far below what it leaves."""
    quiet = parts[(parts["start"] == FROM_ZERO) & (parts["noise_over_descent"] <= MUCH_SMALLER)]
    return float(1 - quiet["descent_over_zero"].min()) if len(quiet) else 0.0


def learning(parts: pd.DataFrame) -> pd.DataFrame:
    """Rows in which descent removes at least `REMOVED` of the error of its start; others with infinite noise."""
    start = parts.groupby(["start", "N"])["descent"].transform("max")
    learned = parts["descent"] <= REMOVED * start
    return parts.assign(noise_over_descent=parts["noise_over_descent"].where(learned, np.inf))


@judges("noisyhead/section-3-noise-below-descent")
def section_3_noise_below_descent(tables: Tables) -> Ruling:
    """At each N, is there a number of steps and a learning rate at which noise is far below what descent leaves?

    A learning rate near zero adds hardly any noise and learns nothing, so descent has to remove a part of the error.
    """
    parts, name = tables["parts-at-stop"], "least noise over descent, at the hardest N"
    least, untuned = hardest(parts), hardest(select(parts, rate_share=1.0))[FROM_ZERO]
    zero = {
        name: (least[FROM_ZERO], MUCH_SMALLER),
        f"{name}, no learning rate tuned": (untuned, MUCH_SMALLER),
        "largest fraction of the error that descent then removes": removed(parts),
    }
    found = (
        *numbers("parts-at-stop", {name: (least[FROM_R], MUCH_SMALLER)}, f"start = {FROM_R}"),
        *numbers("parts-at-stop", zero, f"start = {FROM_ZERO}"),
    )
    tuned, name = hardest(learning(parts)), f"{name}, where descent removes a fraction of at least {REMOVED:g}"
    for start in (FROM_R, FROM_ZERO):
        found += numbers("parts-at-stop", {name: (tuned[start], MUCH_SMALLER)}, f"start = {start}")
    small = tuned[FROM_R] <= MUCH_SMALLER
    verdict = reads(printed=small and tuned[FROM_ZERO] <= MUCH_SMALLER, narrower=small)
    return Ruling(verdict, found, {"removed": removed(parts)}, "" if untuned > MUCH_SMALLER else "untuned too")
