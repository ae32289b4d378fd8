"""Verdicts on Figure 3, Proposition 4.1 and what sections 3, 4 and 6.2 say on early stopping."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.experiments.noisyhead import agreement
from costofprivacy.experiments.noisyhead.early_stopping.closed_forms import (
    ALONG_BOTH,
    ALONG_EPSILON,
    ALONG_T,
    FROM_R,
    FROM_ZERO,
)
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER, power
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, cite, select
from costofprivacy.judging.vocabulary import CONSISTENT
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM

FIRST, LAST = 1, 480  # the paper's T, over which Figure 3 falls and rises
POWER = 0.3  # within which a local exponent in T is that power
STEADY = 2.0  # factor within which a ratio over many N counts as bounded
ENOUGH = 3  # values of N at which there is something to stop for
ASYMPTOTIC = 1e4  # N from which a ratio is followed
MUCH_SMALLER = 0.1  # share up to which one error is much smaller than another
NEGLIGIBLE = 2.0  # (4.5) over (4.6) up to which the noise term of (4.5) is none
THREE_LOGS = 3.0  # log³ N adds 3/log N to a local exponent

PUBLISHED = (
    "The published numbers belong to the $G$ of the proof, a random $\\Gamma^0$ with entries $N(0, 0.1^2)$, and "
    "$T = 1, 21, \\dots, 481$, as in the authors' code."
)
NUMBERS, CONCLUSION = Consequence.NUMBERS, Consequence.CONCLUSION


@judges("noisyhead/figure-3")
def figure_3(tables: Tables) -> Finding:
    """Does the risk fall and rise again, do the numbers come out again, and is there a fall from Γ⁰ = 0 too?"""
    own = select(tables["figure-3"], setting="published", method="noisyhead")
    fall, rise = turn(own)
    found = agreement.agreements(tables["comparison"])
    zero = _account(tables["accounts"], "zero", ALGORITHM)
    numbers = (*_figure_numbers(tables, fall, rise), *agreement.numbers(found))
    change = "A fall of the risk from $\\Gamma^0 = 0$, and published numbers that the printed settings give."
    if never_turns(own):
        headline = "The risk does not first fall and then rise with more steps."
        return Finding(Verdict.FAILS, headline, numbers, CONCLUSION, would_change=change)
    if fall <= CONSISTENT or rise <= CONSISTENT:
        headline = "Too few trials, or too few steps, to show both a fall and a rise."
        return Finding(Verdict.UNTESTABLE, headline, numbers, would_change=change)
    if found and not found["published"].complete:
        near, total = found["published"].near, found["published"].numbers
        headline = f"Of {total} published excess risks, the settings behind them give {near} again."
        return Finding(Verdict.FAILS, headline, numbers, NUMBERS, would_change=change)
    if turn(zero)[0] <= CONSISTENT:
        best = least_step(zero)
        headline = f"Figure 3's fall needs a random start: from zero the risk is least after {_steps(best)}."
        condition = (
            f"A start far from $\\Gamma^*$, which excludes $\\Gamma^0 = 0$: there $T = {best}$ is best. {PUBLISHED}"
        )
        return Finding(Verdict.NARROWER, headline, numbers, CONCLUSION, condition, change)
    if found and not found["printed"].complete:
        near, total = found["printed"].near, found["printed"].numbers
        headline = f"The figure comes out again, but the printed settings give only {near} of {total} numbers."
        return Finding(Verdict.CORRECTED, headline, numbers, NUMBERS, PUBLISHED, change)
    headline = "Figure 3 comes out again: the risk first falls, then rises with more steps."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


def _account(accounts: pd.DataFrame, start: str, account: str) -> pd.DataFrame:
    return select(accounts, start=start, account=account).sort_values("T")


def _figure_numbers(tables: Tables, fall: float, rise: float) -> list[Number]:
    """The turn of the published curve, and the best T by start and account."""
    row = "setting = published, method = noisyhead"
    return [
        Number("fall to the least, in standard errors", fall, None, CONSISTENT, "figure-3", row),
        Number("rise from the least, in standard errors", rise, None, CONSISTENT, "figure-3", row),
        *(_best_step(tables, start, account) for start in ("random", "zero") for account in ACCOUNTS),
    ]


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


@judges("noisyhead/section-6.2-monotone")
def section_62_monotone(tables: Tables) -> Finding:
    """Over the figure's T, does descent without noise approach Γ* at every step, in the mean and in each data set?"""
    own = select(tables["descent"], setting="published", start="random").sort_values("T")
    figure, last = own[own["in_figure"]], own.iloc[-1]
    risk, scores, risen = figure["excess_risk"].to_numpy(), agreement.change(figure), figure["risen"].max()
    row = "setting = published, start = random"
    numbers = (
        Number("excess risk at the first T", risk[0], figure["standard_error"].iloc[0], None, "descent", row),
        Number("excess risk at the last T", risk[-1], figure["standard_error"].iloc[-1], risk[0], "descent", row),
        Number("largest rise at a step, in standard errors", scores.max(), None, CONSISTENT, "descent", row),
        Number("largest share of data sets with a rise", risen, None, 0.0, "descent", f"{row}, in_figure = True"),
        Number("the same, far beyond the figure", own["risen"].max(), None, None, "descent", row),
        Number("where descent rests, closed form", last["rest"], None, last["excess_risk"], "descent", row),
    )
    change = "A step of the figure at which the noiseless risk rises."
    if (scores > CONSISTENT).any():
        step = int(figure["T"].iloc[int((scores > CONSISTENT).argmax()) + 1])
        headline = f"Without privacy the risk rises on the way to {_steps(step)}."
        return Finding(Verdict.FAILS, headline, numbers, NUMBERS, would_change=change)
    if not (np.diff(risk) < 0).all():
        headline = "Too few trials to tell at every step whether the risk falls."
        return Finding(Verdict.UNTESTABLE, headline, numbers, would_change=change)
    if risen > 0:
        headline = "Without privacy the risk falls with every step in the mean, not in each data set."
        condition = "In the mean over the data sets."
        return Finding(Verdict.NARROWER, headline, numbers, correction=condition, would_change=change)
    headline = "Without privacy the risk falls at every step that the figure shows, in the mean and in each data set."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


def noise_exponents(curves: pd.DataFrame, account: str) -> pd.Series:
    """Local exponent in T of the noise part in closed form, by T."""
    rows = select(curves, start="zero", account=account).sort_values("T")
    return pd.Series(_fits.local_exponents(rows["T"].to_numpy(), rows["noise"].to_numpy()), index=rows["T"])


@judges("noisyhead/section-4-optimal-stopping")
def section_4_optimal_stopping(tables: Tables) -> Finding:
    """Does the noise part rise like T³, and is the best T of the order of log N, from every start?"""
    powers = noise_exponents(tables["closed-form"], ALGORITHM)
    own = select(tables["stopping"], account=ALGORITHM).sort_values("N")
    own = own[own["N"] >= ASYMPTOTIC]
    far, zero = select(own, start=FROM_R), select(own, start=FROM_ZERO)
    final, where = powers.iloc[-1], f"account = {ALGORITHM}"
    numbers = (
        *(_exponent(powers, i) for i in (0, -1)),
        *(_over_log(rows, which) for rows in (far, zero) for which in ("min", "max")),
        Number("transient in steps, 1/(4λη₀)", own["transient"].max(), None, None, "stopping", where),
    )
    change = "A best $T$ that grows like $\\log N$ from $\\Gamma^0 = 0$ too, and noise that grows like $T^3$."
    if (far["best_T"] > 1).sum() < ENOUGH:
        headline = "At almost every size the first step already adds more noise than it forgets."
        return Finding(Verdict.UNTESTABLE, headline, numbers, would_change=change)
    if not logarithmic(far):
        headline = "The best number of steps is not of the order of $\\log N$, even from a far start."
        return Finding(Verdict.FAILS, headline, numbers, CONCLUSION, would_change=change)
    if final > 3 + POWER:
        headline = f"The noise grows like the power {final:.2f} of the number of steps, faster than the cube."
        return Finding(Verdict.FAILS, headline, numbers, NUMBERS, would_change=change)
    cubic = final > 3 - POWER
    slip = "" if cubic else " The noise grows like $T^2\\log T$ once $T \\geq 1/(4\\lambda\\eta_0)$, not like $T^3$."
    if not logarithmic(zero):
        headline = (
            "The best number of steps grows like $\\log N$ only from a far start; from zero it is at most "
            f"{zero['best_T'].max()}."
        )
        condition = f"A start whose distance from $\\Gamma^*$ is a power of $N$; this excludes $\\Gamma^0 = 0$.{slip}"
        return Finding(Verdict.NARROWER, headline, numbers, CONCLUSION, condition, change)
    if not cubic:
        headline = (
            f"The best number of steps grows like $\\log N$; the noise grows like its power {final:.2f}, not its cube."
        )
        return Finding(Verdict.CORRECTED, headline, numbers, NUMBERS, slip.strip(), change)
    headline = "The best number of steps grows like the logarithm of the number of prompts, from either start."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


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
def section_62_c_noise(tables: Tables) -> Finding:
    """Is section 6.2's C_Noise the second term of (4.5) up to logarithms, and below C_Descent at r = N?"""
    section = tables["section-62"].sort_values("N")
    last, ahead = section.iloc[-1], section["noise_printed"] > section["descent"]
    printed, right = last["exponent_noise_printed"], last["exponent_noise_45"]
    factor = last["noise_printed"] / last["noise_45"]
    row = f"N = {last['N']:g}"
    numbers = (
        Number("power of N in the printed noise cost", printed, None, right, "section-62", row),
        Number("printed noise cost over that of (4.5)", factor, None, 1.0, "section-62", row),
        Number("sizes at which it exceeds descent", ahead.sum(), None, 0.0, "section-62"),
    )
    change = "A reading in which the printed noise cost has the powers of the second term of (4.5)."
    correction = r"$C_{\mathrm{Noise}} = \frac{D^3\log^3r}{N^4L^2}\cdot\frac{\log(1/\delta)}{\varepsilon^2}$."
    if abs(printed - right) > LOST_POWER + THREE_LOGS / np.log(last["N"]):
        headline = (
            f"The printed noise cost goes like the power {compact(printed)} of the number of prompts, the theorem's "
            f"like {compact(right)}."
        )
        return Finding(Verdict.FAILS, headline, numbers, NUMBERS, correction, change)
    if ahead.any():
        headline = f"The printed noise cost is the theorem's only up to the factor {compact(factor)}."
        return Finding(Verdict.CORRECTED, headline, numbers, NUMBERS, correction, change)
    headline = "The printed noise cost is that of the theorem up to logarithms, and descent dominates it."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


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


@judges("noisyhead/proposition-4.1-any-t")
def proposition_41_any_t(tables: Tables) -> Finding:
    """(4.5) in closed form along N, T and ε, where descent comes to rest, and the simulation beside it."""
    stopped, any_steps = tables["stopped"], tables["any-steps"]
    powers, rest = lost_powers(stopped, any_steps), power(stopped.drop_duplicates("N"), "N", "rest", "least_45")
    lost = {axis: value for axis, value in powers.items() if value > LOST_POWER}
    here = both_sides(tables["accounts"], tables["bounds"])["over_45"].max()
    largest = (any_steps["excess_risk"] / any_steps["bound_45"]).max()
    share = (stopped["rest"] / stopped["least_45"]).max()
    numbers = (
        *(
            Number(f"power of {size} in the cost over (4.5)", powers[axis], None, LOST_POWER,
                   "stopped" if axis == "N" else "any-steps", f"axis = {axis}")
            for axis, size in SIZES_OF_45.items()
        ),
        Number("largest cost over (4.5) at one size", largest, None, None, "any-steps"),
        Number("largest excess risk simulated over (4.5)", here, None, None, "accounts", "start = random"),
        Number("rest of descent over the least of (4.5)", share, None, None, "stopped"),
        Number("power of N in the rest over the least of (4.5)", rest, None, LOST_POWER, "stopped"),
    )  # fmt: skip
    change = "A size along which the cost of privacy grows against (4.5)."
    if lost:
        axis = max(lost, key=lambda name: lost[name])
        headline = f"The bound is exceeded by a factor growing like the power {lost[axis]:.2f} of {SIZES_OF_45[axis]}."
        return Finding(Verdict.FAILS, headline, numbers, CONCLUSION, would_change=change)
    if rest > LOST_POWER:
        headline = "Up to a constant the bound exceeds the cost of privacy once the update's penalty is halved."
        return Finding(Verdict.CORRECTED, headline, numbers, NUMBERS, "$\\lambda/2$ in the update.", change)
    headline = "Up to a constant the bound exceeds the cost of privacy along prompts, steps and budget."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("noisyhead/proposition-4.1-stopped")
def proposition_41_stopped(tables: Tables) -> Finding:
    """(4.6) at r = N from ‖Γ⁰‖ = R: along N at each ε, and whether one constant serves at every ε."""
    stopped = tables["stopped"]
    ratio = stopped["excess_risk"] / stopped["bound_46"]
    inside = stopped["bound_45"] <= NEGLIGIBLE * stopped["bound_46"]
    constant = max(1.0, ratio[inside].max())
    grows = max(power(rows, "N", "excess_risk", "bound_46") for _, rows in stopped.groupby("epsilon"))
    worst, steps = stopped.loc[ratio.idxmax()], stopped["T_over_log_N"]
    row = f"N = {worst['N']:g}, epsilon = {worst['epsilon']:g}"
    numbers = (
        Number("largest power of N in the cost over (4.6)", grows, None, LOST_POWER, "stopped"),
        Number("largest cost over (4.6)", ratio.max(), None, constant, "stopped", row),
        Number("largest where noise is negligible in (4.5)", ratio[inside].max(), None, 1.0, "stopped"),
        Number("least number of steps over log N at r = N", steps.min(), None, 1.0, "stopped"),
    )
    change = "A cost that stays below (4.6) as the budget shrinks at fixed $N$."
    if grows > LOST_POWER:
        headline = f"Stopped as proposed, the cost exceeds the bound by the power {grows:.2f} of the number of prompts."
        return Finding(Verdict.FAILS, headline, numbers, CONCLUSION, would_change=change)
    if ratio.max() > constant:
        where = "small" if only_small_budgets(stopped, ratio > constant) else "some"
        headline = (
            f"Stopped as proposed, the cost exceeds the bound at {where} budgets, by a factor of up to "
            f"{compact(ratio.max())}."
        )
        condition = (
            r"$r\log^3r\cdot\frac D{N^3}\cdot\frac{\log(1/\delta)}{\varepsilon^2}\lesssim1$, at $r\asymp N$ "
            r"$\varepsilon^2\gtrsim N^{-3/2}\log^3N\log(1/\delta)$, which excludes small budgets; and $T\asymp\log N$ "
            r"gives $r=N^{\Theta(1)}$, not $r\asymp N$."
        )
        return Finding(Verdict.NARROWER, headline, numbers, NUMBERS, condition, change)
    headline = "Stopped as proposed, the cost stays below the bound at every budget and size tried, up to a constant."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


def only_small_budgets(stopped: pd.DataFrame, above: pd.Series) -> bool:
    """Whether at each N every ε at which the cost is above is smaller than every one at which it is not."""
    largest_above = stopped[above].groupby("N")["epsilon"].max()
    least_below = stopped[~above].groupby("N")["epsilon"].min().reindex(largest_above.index)
    return bool((largest_above < least_below.fillna(np.inf)).all())


def hardest(parts: pd.DataFrame) -> pd.Series:
    """The least noise over descent that tuning reaches at the N at which it reaches least, by start."""
    return parts.groupby(["start", "N"])["noise_over_descent"].min().groupby("start").max()


@judges("noisyhead/section-3-noise-below-descent")
def section_3_noise_below_descent(tables: Tables) -> Finding:
    """At each N, is there a number of steps and a learning rate at which noise is far below what descent leaves?"""
    parts = tables["parts-at-stop"]
    least, untuned = hardest(parts), hardest(select(parts, rate_share=1.0))[FROM_ZERO]
    tuned = parts[(parts["start"] == FROM_ZERO) & (parts["noise_over_descent"] <= MUCH_SMALLER)]
    removed = 1 - tuned["descent_over_zero"].min() if len(tuned) else 0.0
    zero, name = f"start = {FROM_ZERO}", "least noise over descent, at the hardest N"
    numbers = (
        Number(name, least[FROM_R], None, MUCH_SMALLER, "parts-at-stop", f"start = {FROM_R}"),
        Number(name, least[FROM_ZERO], None, MUCH_SMALLER, "parts-at-stop", zero),
        Number(f"{name}, no learning rate tuned", untuned, None, MUCH_SMALLER, "parts-at-stop", zero),
        Number("largest share of the error that descent then removes", removed, None, None, "parts-at-stop", zero),
    )
    change = "A size at which no number of steps and no learning rate keeps the noise below what descent leaves."
    if least[FROM_R] > MUCH_SMALLER:
        headline = (
            f"However tuned, noise is at least {compact(least[FROM_R])} times what descent leaves of a far start."
        )
        return Finding(Verdict.FAILS, headline, numbers, CONCLUSION, would_change=change)
    if least[FROM_ZERO] > MUCH_SMALLER:
        headline = (
            "Noise can be made small beside descent's error only from a far start; from zero it is at least "
            f"{compact(least[FROM_ZERO])} times as large."
        )
        condition = "A start whose distance from $\\Gamma^*$ is of the order of $R$; this excludes $\\Gamma^0 = 0$."
        return Finding(Verdict.NARROWER, headline, numbers, CONCLUSION, condition, change)
    if untuned > MUCH_SMALLER:
        headline = (
            "Noise can be made small beside what descent leaves; from zero, only while descent removes a share "
            f"{compact(removed)} of the error at most."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = "Noise can be made small beside what descent leaves, from either start."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
