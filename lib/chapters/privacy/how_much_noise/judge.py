"""Verdicts on what the papers say of their calibrations: NoisyHead's steps and noise, DP-GD's output and orders."""

from companion.judging.growth import LOST_POWER, power, several
from companion.judging.judges import Record, Ruling, judges
from companion.judging.vocabulary import ROUNDING

SEARCHED = 1e-6  # relative error of a calibration that is found by a search


@judges("noisyhead/appendix-a.2-steps")
def appendix_a2_steps(found: Record) -> Ruling:
    """Each step is (ε/T, δ/T)-DP by the classical formula, whatever ε/T."""
    steps, name = found["single-steps"], "largest ε of a step up to which it is private at every tested δ"
    least = found.number(name, found["limits"]["epsilon_limit"].min(), table="limits", against=1.0)
    inside, name = steps[steps["epsilon"] <= least], "largest ratio of the δ spent to the δ claimed, up to there"
    row = f"epsilon ≤ {least:.3g}"
    found.number(name, inside["spent_over_asked"].max(), table="single-steps", row=row, against=1.0)
    over = steps[steps["spent_over_asked"] > 1 + ROUNDING].sort_values(["epsilon", "delta"])
    if not over.empty:
        first, name = over.iloc[0], "ratio of the δ spent to the δ claimed, just beyond"
        row = f"epsilon = {first['epsilon']:g}, delta = {first['delta']:g}"
        found.number(name, first["spent_over_asked"], table="single-steps", row=row, against=1.0)
    return found.ruling(over.empty, narrower=over["epsilon"].min() > 1, least=least)


@judges("noisyhead/appendix-a.2-composition")
def appendix_a2_composition(found: Record) -> Ruling:
    """T steps at (ε/T, δ/T) are together (ε, δ)-DP."""
    table = found["composition"]
    share = table["delta_together"] / table["delta"]
    worst, name = table.loc[share.idxmax()], "largest ratio of the δ of all steps to the δ claimed"
    row = f"epsilon = {worst['epsilon']:g}, T = {worst['T']:.0f}"
    private = found.at_most(name, share.max(), 1.0, table="composition", row=row, slack=SEARCHED)
    several_steps = share[table["T"] > 1].max()
    found.number("the same with more than one step", several_steps, table="composition", row="T > 1", against=1.0)
    return found.ruling(private, several=several_steps)


@judges("noisyhead/section-3-inclusion")
def section_3_inclusion(found: Record) -> Ruling:
    """Does noise made for a replaced prompt hide whether one was there at all?"""
    table = found["inclusion"]
    share = (table[["left_out", "found"]].max(axis=1) / table["bound"]).max()
    name = "how far leaving out a prompt moves a step, over the sensitivity that the noise is made for"
    hidden = found.at_most(name, share, 1.0, table="inclusion", slack=ROUNDING)
    name = "largest ratio of the moves by replacing and by leaving out"
    found.number(name, (table["replaced"] / table["left_out"]).max(), table="inclusion")
    return found.ruling(hidden, part=share)


@judges("dpgd/section-4-last-iterate")
def section_4_last_iterate(found: Record) -> Ruling:
    """Only the final parameter has the guarantee: every iterate released spends more.

    With the noise of (4.2) it spends max_k (1 − η²_{k+1}/η²_k)^{−½} times ρ. This grows with n for smooth schedules
    and tends to 1 for those that fall ever faster: only at given n and schedules is there a least ratio.
    """
    table = found["outputs"]
    ratio, kept = table["every_mu"] / table["last_mu"], (table["last_mu"] / table["rho"]).max()
    least, name = table.loc[ratio.idxmin()], "least ratio of the ρ of every iterate to that of the last"
    row = f"{least['schedule']}, n = {least['n']}"
    more = found.number(name, ratio.min(), table="outputs", row=row, against=1.0) > 1 + ROUNDING
    name = "largest ratio of the ρ of the last iterate to the ρ claimed"
    private = found.at_most(name, kept, 1.0, table="outputs", slack=ROUNDING)
    return found.ruling(private and more, least=ratio.min(), n=int(least["n"]))


@judges("dpgd/section-2-constant-order")
def section_2_constant_order(found: Record) -> Ruling:
    """ε/√ln(1/δ) and ρ are of constant order together, as δ falls."""
    table, level, decided = found["orders"], True, True
    for given, rows in table.groupby("given", sort=False):
        name, slope = f"power of ln(1/δ), {given}", power(rows, "log", "ratio", "")
        level &= abs(found.number(name, slope, table="orders", row=f"given = {given}", against=0.0)) <= LOST_POWER
        decided &= several(rows["log"])
    largest = found.number("largest ratio of the two", table["ratio"].max(), table="orders")
    least = found.number("least ratio of the two", table["ratio"].min(), table="orders")
    return found.ruling(level, decided=decided, least=least, largest=largest)
