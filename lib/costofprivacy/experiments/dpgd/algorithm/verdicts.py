"""Verdicts on Algorithm 1, Proposition 4.1 and Appendix A of arXiv:2505.16329v2."""

from __future__ import annotations

import math

from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import Judge, judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables
from costofprivacy.judging.vocabulary import CONSISTENT

ROUNDING = 1e-9
GRID = 1e-3  # relative error of divergences of densities on a grid
DIFFERENCES = 1e-6  # relative error of a distance after a step, and of its growth


def _definition(claim: str, headline: str, change: str) -> Judge:
    @judges(claim)
    def found(_: Tables) -> Finding:
        """What defines a word claims nothing that a table could contradict."""
        return Finding(Verdict.UNTESTABLE, headline, would_change=change)

    return found


definition_31 = _definition(
    "dpgd/definition-3.1",
    "A definition: data sets are neighbours if one record is replaced.",
    "Nothing measured; a text that means the removal of a record, for which half of the noise is enough.",
)
algorithm_1 = _definition(
    "dpgd/algorithm-1",
    "A definition; what a reproducer must settle is listed on the page.",
    "Nothing measured; a text that settles those points otherwise.",
)
definition_a1 = _definition(
    "dpgd/definition-a.1",
    "A definition; data sets are neighbours if one record is replaced.",
    "Nothing measured; a text that means the removal of a record.",
)
definition_a2 = _definition(
    "dpgd/definition-a.2",
    "A definition, which the divergence of shifted Gaussians, computed exactly, fits.",
    "Nothing measured; a text with another order or another scale.",
)


@judges("dpgd/equation-1.1")
def equation_11(tables: Tables) -> Finding:
    """Half the mean squared error less ζ²/2 is ‖Σ^½(θ − θ*)‖²/2, for every law of the features."""
    rows = tables["identity"]
    scores = (rows["ratio"] - 1).abs() / rows["standard_error"]
    numbers = tuple(
        Number("two sides of (1.1), ratio", r.ratio, r.standard_error, 1.0, "identity", f"law = {r.law}")
        for r in rows.itertuples()
    )
    change = "A law of the features, with the same covariance, for which the two sides differ."
    if scores.max() <= CONSISTENT:
        headline = (
            "The simulated prediction error exceeds the label noise by twice the excess risk, within "
            f"{compact(scores.max())} standard errors, for every law of the features."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    worst = rows.loc[scores.idxmax()]
    headline = f"For {worst['law'].split()[0]} features the excess risk is off by a factor {compact(worst['ratio'])}."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)


@judges("dpgd/proposition-4.1")
def proposition_41(tables: Tables) -> Finding:
    """The last iterate is ρ²/2-zCDP; in fact ρ-Gaussian DP."""
    outputs, sensitivity, schedules = (tables[name] for name in ("outputs", "sensitivity", "schedules"))
    renyi, delta = outputs["renyi_share"].max(), outputs["delta_share"].max()
    moved = (sensitivity[["largest_found", "constructed"]].max(axis=1) / sensitivity["bound"]).max()
    every = schedules["rho_every"] / schedules["rho"]
    numbers = (
        Number("largest divergence over the one claimed", renyi, None, 1.0, "outputs", "all pairs of neighbours"),
        Number("largest δ over that of ρ-Gaussian DP", delta, None, 1.0, "outputs", "all pairs of neighbours"),
        Number("largest move by one record over the bound", moved, None, 1.0, "sensitivity", "both relations"),
        Number("ρ if every iterate is released, over ρ, least", every.min(), None, 1.0, "schedules", "all schedules"),
        Number("ρ if every iterate is released, over ρ, most", every.max(), None, 1.0, "schedules", "all schedules"),
    )
    change = "A pair of neighbouring data sets whose outputs have a divergence beyond the one claimed."
    if renyi <= 1 + GRID and delta <= 1 + GRID and moved <= 1 + ROUNDING:
        headline = f"On all pairs of neighbours tried the release spends at most {renyi:.3f} of the claimed divergence."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if moved > 1 + ROUNDING:
        headline = f"One record moves a step by {compact(moved)} times what the noise is made for."
    else:
        worst = compact(max(renyi, delta))
        headline = f"Some pair of neighbouring data sets spends {worst} times what is claimed."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


@judges("dpgd/equation-4.1")
def equation_41(tables: Tables) -> Finding:
    """ρ is the largest of η_k over the noise from step k on; 0/0, where the last step has no length, is 0."""
    rows = tables["schedules"]
    ratio = rows["rho_recomputed"] / rows["rho"]
    worst = (ratio - 1).abs().idxmax()
    name = rows.loc[worst, "schedule"]
    void = int((rows["last_rate"] == 0).sum())
    numbers = (
        Number("ρ recomputed over ρ, farthest from 1", ratio[worst], None, 1.0, "schedules", f"schedule = {name}"),
        Number("schedules whose last quotient is 0/0", void, None, None, "schedules", "last_rate = 0"),
    )
    change = "A learning rate that does not increase for which the recomputed privacy parameter is another."
    if abs(ratio[worst] - 1) <= ROUNDING:
        headline = (
            "Recomputed from the noise, the privacy parameter is the one asked for, for each of "
            f"{len(rows)} learning-rate schedules."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = f"Recomputed from the noise, the privacy parameter is {compact(ratio[worst])} times the one asked for."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


@judges("dpgd/equation-4.2")
def equation_42(tables: Tables) -> Finding:
    """The least total noise for given ρ, which protects every record equally."""
    rows = tables["schedules"]
    least = rows[["least_total", "least_tail"]].min(axis=None)
    spent = rows[["spent_least", "spent_most"]].div(rows["rho"], axis=0)
    low, high = spent.min(axis=None), spent.max(axis=None)
    numbers = (
        Number("least noise of another schedule over that of (4.2)", least, None, 1.0, "schedules", "any step on"),
        Number("least that a record spends, over ρ", low, None, 1.0, "schedules", "all schedules"),
        Number("most that a record spends, over ρ", high, None, 1.0, "schedules", "all schedules"),
        Number("random schedules tried", rows["others"].sum(), None, None, "schedules", "all schedules"),
    )
    change = "A noise schedule of the same privacy with less noise in total."
    if least < 1 - ROUNDING:
        headline = f"A noise schedule with the same privacy has only {compact(least)} of the noise."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if max(1 - low, high - 1) > ROUNDING:
        headline = f"Records are protected unequally: they spend {compact(low)} to {compact(high)} of what is allowed."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        "No random noise schedule with the same privacy adds less noise, and every record used is protected equally."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/proposition-a.3")
def proposition_a3(tables: Tables) -> Finding:
    """ρ²/2-zCDP implies (ρ²/2 + ρ√(2 ln(1/δ)), δ)-DP."""
    rows = tables["conversions"]
    safe = (rows["exact"] <= rows["renyi"] * (1 + ROUNDING)) & (
        rows["renyi"] <= rows["proposition_a3"] * (1 + ROUNDING)
    )
    some = rows[rows["exact"] > 0]
    simple, best = (some[column] / some["exact"] for column in ("proposition_a3", "renyi"))
    where = f"{len(some)} pairs of ρ and δ that spend something"
    numbers = (
        Number("pairs of ρ and δ beyond the claimed ε", int((~safe).sum()), None, 0.0, "conversions", "all rows"),
        Number("claimed ε over the exact one, least", simple.min(), None, 1.0, "conversions", where),
        Number("claimed ε over the exact one, most", simple.max(), None, 1.0, "conversions", where),
        Number("best ε from zCDP over the exact one, least", best.min(), None, 1.0, "conversions", where),
        Number("best ε from zCDP over the exact one, most", best.max(), None, 1.0, "conversions", where),
    )
    change = (
        r"A pair of $\rho$ and $\delta$ at which a release that is zCDP spends more than the claimed $\varepsilon$."
    )
    if not safe.all():
        headline = f"At {int((~safe).sum())} of {len(rows)} pairs of privacy parameters more is spent than claimed."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        "The conversion is safe wherever it was tried; it overstates what the release spends by a factor of at least "
        f"{compact(simple.min())}."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/equation-a.3")
def equation_a3(tables: Tables) -> Finding:
    """That ε is at most 2ρ√ln(1/δ) if ρ ≤ √ln(1/δ)."""
    rows = tables["conversions"]
    share, inside = rows["proposition_a3"] / rows["equation_a3"], rows["condition"]
    change = r"A pair of $\rho$ and $\delta$ that meets the condition and exceeds the simpler bound."
    if not inside.any():
        return Finding(Verdict.UNTESTABLE, "No pair of privacy parameters meets the condition.", would_change=change)
    worst = share[inside].max()
    numbers = (
        Number("ε of Proposition A.3 over the simpler bound", worst, None, 1.0, "conversions", "condition = True"),
        Number("pairs beyond the condition where it is exceeded", int((share[~inside] > 1).sum()), None,
               int((~inside).sum()), "conversions", "condition = False"),
        Number("largest ρ/√ln(1/δ) for which it is true", 2 * (2 - math.sqrt(2)), None, 1.0, "", "exact"),
    )  # fmt: skip
    if worst > 1 + ROUNDING:
        headline = f"Under its condition the simpler bound is exceeded by a factor {compact(worst)}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)
    headline = f"Wherever its condition is met, the simpler bound is safe; the other is at most {compact(worst)} of it."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/equation-a.9")
def equation_a9(tables: Tables) -> Finding:
    """With (A.5) to (A.8): a step is a gradient step on a Lipschitz and smooth loss, and expands nothing."""
    steps, expansion = tables["steps"], tables["expansion"]
    broken = steps[steps["worst"] > steps["bound"] * (1 + DIFFERENCES)]
    stretched = expansion["shortened"].max()
    bare = expansion[expansion["bare"] > 1 + DIFFERENCES]
    numbers = (
        *(Number(r.check, r.worst, None, r.bound, "steps", f"{r.pairs} random pairs") for r in steps.itertuples()),
        Number("largest growth of a distance", stretched, None, 1.0, "expansion", "shortened rate"),
        *(
            Number("growth where it begins", first["bare"], None, 1.0, "expansion",
                   f"rate not shortened, product = {first['product']:g}")
            for _, first in bare.nsmallest(1, "product").iterrows()
        ),
    )  # fmt: skip
    change = "A record and two coefficient vectors that a clipped, shortened step moves apart."
    if stretched > 1 + DIFFERENCES:
        headline = f"A clipped, shortened step stretches a distance by a factor {compact(stretched)}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if len(broken):
        exceeded = (broken["worst"] / broken["bound"]).max()
        headline = f"A property of the loss or of its step is exceeded by a factor {compact(exceeded)}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        "No clipped, shortened step stretches a distance, for any record tried, and its loss keeps to all bounds."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
