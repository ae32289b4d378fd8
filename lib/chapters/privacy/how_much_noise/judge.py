"""Verdicts on what the papers say of their calibrations: NoisyHead's steps and noise, DP-GD's output and orders."""

import pandas as pd

from companion.judging.findings import Number
from companion.judging.growth import LOST_POWER, power, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import ROUNDING

SEARCHED = 1e-6  # relative error of a calibration that is found by a search


@judges("noisyhead/appendix-a.2-steps")
def appendix_a2_steps(tables: Tables) -> Ruling:
    """Each step is (ε/T, δ/T)-DP by the classical formula, whatever ε/T."""
    steps, least = tables["single-steps"], tables["limits"]["epsilon_limit"].min()
    over = steps[steps["spent_over_asked"] > 1 + ROUNDING].sort_values(["epsilon", "delta"])
    inside = steps.loc[steps["epsilon"] <= least, "spent_over_asked"].max()
    asked = {"largest ratio of the δ spent to the δ claimed, up to there": (inside, 1.0)}
    found = (
        *numbers("limits", {"largest ε of a step up to which it is private, over all δ": (least, 1.0)}),
        *numbers("single-steps", asked, f"epsilon ≤ {least:.3g}"),
        *_first(over),
    )
    verdict = reads(printed=over.empty, narrower=over["epsilon"].min() > 1)
    return Ruling(verdict, found, {"least": least})


def _first(over: pd.DataFrame) -> tuple[Number, ...]:
    """What the first of the steps that overspend spends; nothing where none does."""
    if over.empty:
        return ()
    first = over.iloc[0]
    at = f"epsilon = {first['epsilon']:g}, delta = {first['delta']:g}"
    return numbers(
        "single-steps", {"ratio of the δ spent to the δ claimed, just beyond": (first["spent_over_asked"], 1.0)}, at
    )


@judges("noisyhead/appendix-a.2-composition")
def appendix_a2_composition(tables: Tables) -> Ruling:
    """T steps at (ε/T, δ/T) are together (ε, δ)-DP."""
    table = tables["composition"]
    share = table["delta_together"] / table["delta"]
    worst, several_steps = table.loc[share.idxmax()], share[table["T"] > 1].max()
    at = f"epsilon = {worst['epsilon']:g}, T = {worst['T']:.0f}"
    named = {
        "largest ratio of the δ of all steps to the δ claimed": (share.max(), 1.0, at),
        "the same with more than one step": (several_steps, 1.0, "T > 1"),
    }
    return Ruling(reads(share.max() <= 1 + SEARCHED), numbers("composition", named), {"several": several_steps})


@judges("noisyhead/section-3-inclusion")
def section_3_inclusion(tables: Tables) -> Ruling:
    """Does noise made for a replaced prompt hide whether one was there at all?"""
    table = tables["inclusion"]
    share = (table[["left_out", "found"]].max(axis=1) / table["bound"]).max()
    named = {
        "how far leaving out a prompt moves a step, over the sensitivity that the noise is made for": (share, 1.0),
        "largest ratio of the moves by replacing and by leaving out": (table["replaced"] / table["left_out"]).max(),
    }
    return Ruling(reads(printed=share <= 1 + ROUNDING), numbers("inclusion", named), {"part": share})


@judges("dpgd/section-4-last-iterate")
def section_4_last_iterate(tables: Tables) -> Ruling:
    """Only the final parameter has the guarantee: every iterate released spends more.

    With the noise of (4.2) it spends max_k (1 − η²_{k+1}/η²_k)^{−½} times ρ. This grows with n for smooth schedules
    and tends to 1 for those that fall ever faster: only at given n and schedules is there a least ratio.
    """
    table = tables["outputs"]
    ratio, kept = table["every_mu"] / table["last_mu"], (table["last_mu"] / table["rho"]).max()
    least = table.loc[ratio.idxmin()]
    named = {
        "least ratio of the ρ of every iterate to that of the last": (
            ratio.min(),
            1.0,
            f"{least['schedule']}, n = {least['n']}",
        ),
        "largest ratio of the ρ of the last iterate to the ρ claimed": (kept, 1.0),
    }
    verdict = reads(printed=kept <= 1 + ROUNDING < ratio.min())
    return Ruling(verdict, numbers("outputs", named), {"least": ratio.min(), "n": int(least["n"])})


@judges("dpgd/section-2-constant-order")
def section_2_constant_order(tables: Tables) -> Ruling:
    """ε/√ln(1/δ) and ρ are of constant order together, as δ falls."""
    table, least, largest = tables["orders"], tables["orders"]["ratio"].min(), tables["orders"]["ratio"].max()
    by_given = table.groupby("given", sort=False)
    powers = {given: power(rows, "log", "ratio", "") for given, rows in by_given}
    named = {f"power of ln(1/δ), {given}": (found, 0.0, f"given = {given}") for given, found in powers.items()}
    ends = {"largest ratio of the two": largest, "least ratio of the two": least}
    decided = all(several(rows["log"]) for _, rows in by_given)
    verdict = reads(printed=max(map(abs, powers.values())) <= LOST_POWER, decided=decided)
    return Ruling(verdict, numbers("orders", named | ends), {"least": least, "largest": largest})


def waste(budgets: pd.DataFrame, route: str) -> pd.Series:
    """How many times the least noise a route to a budget asks for, over all budgets."""
    return select(budgets, route=route)["noise_over_exact"]
