"""Verdicts on section 3 and Appendix A.2 of arXiv:2504.16000v2: Algorithm 1, its privacy, and where descent rests."""

import pandas as pd

from chapters.noisyhead.mechanism.measure import CLAIMED, DOUBLE, EVERY, FAR, GRADIENT, NORM, SINGLE
from companion.judging.growth import several
from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import select
from companion.judging.tolerances import Cases, Declared, Rounding
from companion.judging.vocabulary import ROUNDING


def constant(ratio: pd.Series) -> bool:
    """Whether a ratio is the same in all rows, to rounding."""
    return bool(ratio.max() <= ratio.min() * (1 + ROUNDING))


def reached(sensitivity: pd.DataFrame, of: str) -> pd.Series:
    """The largest change of an update that was found, searched or built, over a column."""
    return sensitivity[["largest_found", "constructed"]].max(axis=1) / sensitivity[of]


@judges("noisyhead/definition-3.1")
def definition_31(found: Record) -> Ruling:
    """A definition."""
    return found.ruling(decided=False)


@judges("noisyhead/algorithm-1")
def algorithm_1(found: Record) -> Ruling:
    """Its printed variance is that of the Gaussian mechanism it stands for."""
    noise = found["noise"]
    ratio, exact = noise["printed_std"] / noise["calibrated_std"], noise["printed_std"] / noise["exact_std"]
    found.number("printed noise over the Gaussian mechanism's, least", ratio.min(), against=1.0, table="noise")
    found.number("printed noise over the Gaussian mechanism's, largest", ratio.max(), against=1.0, table="noise")
    found.number("printed noise over what exact composition needs, largest", exact.max(), table="noise")
    steady = constant(ratio)
    return found.ruling(steady and abs(ratio.iloc[0] - 1) <= ROUNDING, corrected=steady)


@judges("noisyhead/equation-a.1")
def equation_a1(found: Record) -> Ruling:
    """(A.1): 2η₀G(C + RG)/N bounds the change of one update."""
    table = found["sensitivity"]
    share, exact, slack = reached(table, "bound"), reached(table, "exact"), table["bound"] / table["exact"]
    name = "change found over the bound, largest"
    bounded = found.at_most(name, share.max(), 1.0, slack=ROUNDING, table="sensitivity")
    found.number("change found over the exact sensitivity, least", exact.min(), against=1.0, table="sensitivity")
    found.number("the bound over the exact sensitivity, largest", slack.max(), table="sensitivity")
    return found.ruling(bounded, corrected=constant(share), most=share.max())


@judges("noisyhead/theorem-3.2")
def theorem_32(found: Record) -> Ruling:
    """(ε, δ)-DP for any ε; the classical calibration wants ε ≤ T.

    What is spent belongs to updates that move by (A.1). Radii with RG far below C come as near to that as one likes:
    two query responses ±C at one statistic, from Γ⁰ = 0, move the first update by the part C/(C + RG) of it.
    """
    single, composition = found["single-steps"], found["composition"]
    spent, claimed = (select(composition, accounting=view).set_index("T")["epsilon"] for view in (EVERY, CLAIMED))
    share, delta = reached(found["sensitivity"], "bound").max(), single["delta_spent"] / single["delta"]
    over = spent[(spent > claimed * (1 + ROUNDING)) & (claimed <= spent.index)]
    broken = single[delta > 1].sort_values(["epsilon_per_step", "T"])
    inside, longest = delta[single["epsilon_per_step"] <= 1].max(), spent.index.max()
    first = broken.iloc[0] if len(broken) else single.iloc[-1]
    name, row = "δ spent over δ claimed, largest for ε ≤ T", "epsilon_per_step ≤ 1"
    found.number(name, inside, against=1.0, table="single-steps", row=row)
    name = "change of an update over (A.1), largest"
    kept = found.at_most(name, share, 1.0, slack=ROUNDING, table="sensitivity") and over.empty
    name, row = "ε spent by all iterates, beside ε claimed", f"T = {longest}"
    found.number(name, spent[longest], against=claimed[longest], table="composition", row=row)
    name, row = "δ spent over δ claimed, first to exceed 1", f"T = {first['T']:.0f}, epsilon = {first['epsilon']:g}"
    found.number(name, delta[first.name], against=1.0, table="single-steps", row=row)
    narrower = kept and first["epsilon_per_step"] > 1
    return found.ruling(kept and broken.empty, narrower=narrower, epsilon=first["epsilon"])


@judges("noisyhead/equation-2.7")
def equation_27(found: Record) -> Ruling:
    """(2.7) minimises (2.6)."""
    worst = select(found["minimisers"], check=GRADIENT)["value"].max()
    name = "gradient of the loss at the formula, over that at 0, largest"
    return found.ruling(found.at_most(name, worst, ROUNDING, table="minimisers", row=GRADIENT))


@judges("noisyhead/section-3-update")
def section_3_update(found: Record) -> Ruling:
    """The update of section 3 comes to rest at the minimiser of (2.6)."""
    single, double, norm = (select(found["minimisers"], check=name)["value"] for name in (SINGLE, DOUBLE, NORM))
    named = {  # by name the number, what it would be, and the row
        "distance at rest to (2.7), over its norm": (single.max(), 0.0, SINGLE),
        "distance at rest to (2.7) with 2λ, over its norm": (double.max(), 0.0, DOUBLE),
        "norm at rest over that of (2.7)": (norm.mean(), 1.0, NORM),
    }
    for name, (value, against, row) in named.items():
        found.number(name, value, against=against, table="minimisers", row=row)
    return found.ruling(single.max() <= ROUNDING, corrected=double.max() <= ROUNDING, distance=single.max())


@judges("noisyhead/section-3-noise-variance")
def section_3_noise_variance(found: Record) -> Ruling:
    """Is the noise's variance, or its standard deviation, proportional to the sensitivity of an update?"""
    table = found["noise-law"]
    plain, square = table["variance_over_sensitivity"], table["variance_over_square"]
    for name, ratio in {"sensitivity": plain, "squared sensitivity": square}.items():
        name = f"noise variance over {name}: largest over least"
        found.number(name, ratio.max() / ratio.min(), against=1.0, table="noise-law")
    return found.ruling(constant(plain), corrected=constant(square), decided=several(table["sensitivity"]))


@judges("noisyhead/section-1.2-accounting")
def section_12_accounting(found: Record) -> Ruling:
    """Would exact accounting, that of Gaussian differential privacy, need less noise at the same budget?"""
    saved = found["noise"]["printed_std"] / found["noise"]["exact_std"]
    found.number("printed noise over what exact accounting needs, least", saved.min(), table="noise")
    found.number("printed noise over what exact accounting needs, largest", saved.max(), table="noise")
    return found.ruling(saved.min() > 1 + ROUNDING, saved=saved.min(), most=saved.max())


@judges("noisyhead/section-2-any-noise")
def section_2_any_noise(found: Record) -> Ruling:
    """The sensitivity bound is tried on prompts that no Gaussian law gives: responses at a million, tokens alike.

    For every prompt ‖(⟨Γ, Z⟩ − y)Z‖ ≤ (C + RG)G once y is clipped at C and ‖Z‖ ≤ G, ‖Γ‖ ≤ R; two of them differ by at
    most twice that. The share that is reached depends on RG/C (`update_sensitivity_exact`): all of it as RG/C → 0.
    """
    table = found["sensitivity"]
    share, printed = (reached(rows, "bound").max() for rows in (table, select(table, setting="printed")))
    name = "change of an update over (A.1), any prompts, largest"
    bounded = found.at_most(name, share, 1.0, slack=ROUNDING, table="sensitivity")
    name = "the same, with the radii of Figure 1"
    found.number(name, printed, against=1.0, table="sensitivity", row="setting = printed")
    return found.ruling(bounded, share=printed)


@judges("noisyhead/section-1.1-clipping")
def section_11_clipping(found: Record) -> Ruling:
    """Which clip (A.1) needs: that of the context's responses, where Π_G bounds the statistics, or the query's.

    Any statistic of the ball of radius G ≤ C is reached without clipping the context: the exact sensitivity is the
    same. Two query responses ±y at one statistic across Γ move a step by 2η₀Gy/N, y/(C + RG) times the bound.
    """
    table = found["sensitivity"]
    context = (table["exact"] / table["bound"]).max()
    query = (FAR / (table["clip_norm"] + table["weight_bound"] * table["feature_bound"])).min()
    name = "context's responses not clipped: change of an update over (A.1), largest"
    found.number(name, context, against=1.0, table="sensitivity")
    name = f"query's response of {FAR:g} not clipped: the same, least"
    found.number(name, query, against=1.0, table="sensitivity")
    decided = (table["feature_bound"] <= table["clip_norm"]).all()
    return found.ruling(context > 1 + ROUNDING, narrower=query > 1 + ROUNDING, decided=decided)


# ---- How near this chapter's numbers come on another machine ----

# Where descent rests at a minimiser, or the gradient is 0 there, what is left is rounding.
AT_REST = (
    "gradient of (2.6) at (2.7), relative",
    "update at rest, distance to ridge(2λ)",
    "update with λ/2 at rest, distance to ridge(λ)",
)
RULE = Cases("check", dict.fromkeys(AT_REST, Rounding()))

TOLERANCES: Declared = {
    "minimisers": {"value": RULE, "standard_error": RULE},
    "verdicts": {
        "noisyhead/equation-2.7: gradient of the loss at the formula, over that at 0, largest": Rounding(),
        "noisyhead/section-3-update: distance at rest to (2.7) with 2λ, over its norm": Rounding(),
    },
}
