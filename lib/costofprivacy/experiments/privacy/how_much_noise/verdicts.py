"""Verdicts on what the papers say of their calibrations: NoisyHead's steps and noise, DP-GD's output and orders."""

from __future__ import annotations

import math
from functools import partial

import pandas as pd

from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER, power, several
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
NONE, NUMBERS, CONCLUSION = Consequence
ROUNDING = 1e-9


@judges("noisyhead/appendix-a.2-steps")
def appendix_a2_steps(tables: Tables) -> Finding:
    """Each step is (ε/T, δ/T)-DP by the classical formula, whatever ε/T."""
    steps, ends = tables["single-steps"], tables["limits"]
    over = steps[steps["spent_over_asked"] > 1 + ROUNDING].sort_values(["epsilon", "delta"])
    inside = steps[steps["epsilon"] <= ends["epsilon_limit"].min()]
    least = ends["epsilon_limit"].min()
    numbers = [
        Number("ε of a step up to which it is private, least", least, None, 1.0, "limits", "all"),
        Number(
            "δ spent over δ asked, largest up to there",
            inside["spent_over_asked"].max(),
            None,
            1.0,
            "single-steps",
            f"epsilon ≤ {least:.3g}",
        ),
    ]
    found = partial(Finding, would_change=r"A step whose $\delta$ is spent at another $\varepsilon$.")
    if over.empty:
        headline = "Every single step is as private as the proof says, at every budget tried."
        return found(HOLDS, headline, tuple(numbers))
    first = over.iloc[0]
    at = f"epsilon = {first['epsilon']:g}, delta = {first['delta']:g}"
    numbers.append(Number("δ spent over δ asked", first["spent_over_asked"], None, 1.0, "single-steps", at))
    if first["epsilon"] <= min(1.0, least):
        headline = rf"A single step spends more than its share already at $\varepsilon = {first['epsilon']:g}$."
        return found(FAILS, headline, tuple(numbers), CONCLUSION)
    share = rf"its share of $\varepsilon$ is at most {least:.3g}"
    headline = f"A single step is as private as claimed while {share}; beyond, it overspends."
    end = math.floor(10 * least) / 10
    condition = rf"Add $\varepsilon/T\le{end:g}$, for the values of $\delta$ tried; larger budgets a step drop out."
    return found(NARROWER, headline, tuple(numbers), CONCLUSION, correction=condition)


@judges("noisyhead/appendix-a.2-composition")
def appendix_a2_composition(tables: Tables) -> Finding:
    """T steps at (ε/T, δ/T) are together (ε, δ)-DP."""
    table = tables["composition"]
    share = table["delta_together"] / table["delta"]
    worst = table.loc[share.idxmax()]
    at = f"epsilon = {worst['epsilon']:g}, T = {worst['T']:.0f}"
    several_steps = share[table["T"] > 1].max()
    numbers = (
        Number("δ of all steps over δ asked, largest", share.max(), None, 1.0, "composition", at),
        Number("the same with more than one step", several_steps, None, 1.0, "composition", "T > 1"),
    )
    found = partial(Finding, numbers=numbers, would_change="Steps that together spend more than the sum of theirs.")
    if share.max() <= 1 + 1e-6:  # a calibration is found by a search
        headline = f"Steps that keep their shares keep the budget; with several, at most {compact(several_steps)} of δ."
        return found(HOLDS, headline.replace("δ", r"$\delta$"))
    headline = f"Steps that keep their shares spend {compact(share.max())} times the budget's probability together."
    return found(FAILS, headline, consequence=CONCLUSION)


@judges("noisyhead/section-3-minimum-noise")
def section_3_minimum_noise(tables: Tables) -> Finding:
    """Is the noise of Theorem 3.2 the least that is private?"""
    table = tables["composition"].assign(ratio=lambda t: t["printed"] / t["least"])
    proven = table[table["epsilon"] <= table["T"]]
    by_steps = proven.groupby("T")["ratio"].min()
    least, most = proven["ratio"].min(), proven["ratio"].max()
    grown = by_steps.iloc[-1] / by_steps.iloc[0]
    numbers = (
        Number("printed noise over the least, least", least, None, 1.0, "composition", "epsilon ≤ T"),
        Number("printed noise over the least, largest", most, None, 1.0, "composition", "epsilon ≤ T"),
        Number("the least, most over fewest steps", grown, None, 1.0, "composition", "epsilon ≤ T"),
    )
    change = "An account in which all iterates are released and less noise is not private."
    found = partial(Finding, numbers=numbers, would_change=change)
    if most <= 1 + ROUNDING:
        return found(HOLDS, "No less noise than the theorem's is private at any budget and number of steps tried.")
    if most / least <= 1 + ROUNDING:
        headline = f"A {compact(most)} times smaller noise is private, at every budget and number of steps tried."
        return found(CORRECTED, headline, consequence=NUMBERS, correction=f"The noise over ${most:.3g}$.")
    headline = (
        f"Less noise is private: {compact(least)} to {compact(most)} times less, even if all iterates are released."
    )
    return found(FAILS, headline, consequence=NUMBERS)


@judges("noisyhead/section-3-inclusion")
def section_3_inclusion(tables: Tables) -> Finding:
    """Does noise made for a replaced prompt hide whether one was there at all?"""
    table = tables["inclusion"]
    share = table[["left_out", "found"]].max(axis=1) / table["bound"]
    cost = (table["replaced"] / table["left_out"]).max()
    numbers = (
        Number("move of a prompt left out over the noise's sensitivity", share.max(), None, 1.0, "inclusion", "all"),
        Number("replaced over left out, exact, largest", cost, None, None, "inclusion", "all"),
    )
    found = partial(Finding, numbers=numbers, would_change="A prompt whose absence moves a step beyond the bound.")
    if share.max() <= 1 + ROUNDING:
        part = compact(share.max())
        headline = f"The noise hides whether a prompt was there: its absence moves a step by {part} of the bound."
        return found(HOLDS, headline)
    headline = f"Leaving a prompt out moves a step by {compact(share.max())} times what the noise is made for."
    return found(FAILS, headline, consequence=CONCLUSION)


@judges("dpgd/section-4-last-iterate")
def section_4_last_iterate(tables: Tables) -> Finding:
    """Only the final parameter has the guarantee: every iterate released spends more."""
    table = tables["outputs"]
    ratio = table["every_mu"] / table["last_mu"]
    kept = (table["last_mu"] / table["rho"]).max()
    least = table.loc[ratio.idxmin()]
    numbers = (
        Number("ρ of every iterate over that of the last, least", ratio.min(), None, 1.0, "outputs", least["schedule"]),
        Number("ρ of the last iterate over ρ, largest", kept, None, 1.0, "outputs", "all"),
    )
    change = "A schedule whose iterates can all be released at the same guarantee."
    found = partial(Finding, numbers=numbers, would_change=change)
    if kept > 1 + ROUNDING:
        headline = f"Even the final parameter alone spends {compact(kept)} times the guarantee."
        return found(FAILS, headline, consequence=CONCLUSION)
    if ratio.min() > 1 + ROUNDING:
        headline = (
            f"The guarantee is for the final parameter: releasing every iterate weakens it at least "
            f"{compact(ratio.min())} times."
        )
        return found(HOLDS, headline)
    free = table.loc[ratio <= 1 + ROUNDING, "schedule"].nunique()
    headline = f"With {free} of {table['schedule'].nunique()} schedules every iterate could be released as well."
    return found(FAILS, headline, consequence=NUMBERS)


@judges("dpgd/section-2-constant-order")
def section_2_constant_order(tables: Tables) -> Finding:
    """ε/√ln(1/δ) and ρ are of constant order together, as δ falls."""
    table, powers = tables["orders"], {}
    for given, rows in table.groupby("given", sort=False):
        powers[given] = power(rows, "log", "ratio", "")
    change = r"A power of $\ln(1/\delta)$ between the two as $\delta$ falls."
    if not all(several(rows["log"]) for _, rows in table.groupby("given")):
        return Finding(UNTESTABLE, "At a single probability no order shows.", would_change=change)
    numbers = (
        *(Number(f"power of ln(1/δ), {k}", v, None, 0.0, "orders", f"given = {k}") for k, v in powers.items()),
        Number("largest ratio of the two", table["ratio"].max(), None, None, "orders", "all"),
        Number("least ratio of the two", table["ratio"].min(), None, None, "orders", "all"),
    )
    found = partial(Finding, numbers=numbers, would_change=change)
    if max(map(abs, powers.values())) <= LOST_POWER:
        headline = f"Both measures of a budget are of one order: their ratio stays between {_between(table['ratio'])}."
        return found(HOLDS, headline)
    worst = max(powers.values(), key=abs)
    headline = rf"The two measures of a budget part like the power {worst:.2g} of the logarithm of $\delta$."
    return found(FAILS, headline, consequence=CONCLUSION)


def _between(values: pd.Series) -> str:
    return f"{compact(values.min())} and {compact(values.max())}"


def waste(budgets: pd.DataFrame, route: str) -> pd.Series:
    """How many times the least noise a route to a budget asks for, over all budgets."""
    return select(budgets, route=route)["noise_over_exact"]
