"""Verdicts on section 3 and Appendix A.2 of arXiv:2504.16000v2: Algorithm 1, its privacy, and where descent rests."""

import pandas as pd

from chapters.noisyhead.mechanism import measure
from chapters.noisyhead.mechanism.measure import FAR
from companion.judging.findings import Verdict
from companion.judging.growth import several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import ROUNDING


def _constant(ratio: pd.Series) -> bool:
    """Whether a ratio is the same in all rows, to rounding."""
    return bool(ratio.max() <= ratio.min() * (1 + ROUNDING))


def _reached(sensitivity: pd.DataFrame, of: str) -> pd.Series:
    """The largest change of an update that was found, searched or built, over a column."""
    return sensitivity[["largest_found", "constructed"]].max(axis=1) / sensitivity[of]


def _check(tables: Tables, name: str) -> pd.Series:
    return select(tables["minimisers"], check=name)["value"]


@judges("noisyhead/definition-3.1")
def definition_31(tables: Tables) -> Ruling:
    """A definition."""
    return Ruling(Verdict.UNTESTABLE)


@judges("noisyhead/algorithm-1")
def algorithm_1(tables: Tables) -> Ruling:
    """Its printed variance is that of the Gaussian mechanism it stands for."""
    noise = tables["noise"]
    ratio, exact = noise["printed_std"] / noise["calibrated_std"], noise["printed_std"] / noise["exact_std"]
    named = {
        "printed noise over the Gaussian mechanism's, least": (ratio.min(), 1.0),
        "printed noise over the Gaussian mechanism's, largest": (ratio.max(), 1.0),
        "printed noise over what exact composition needs, largest": exact.max(),
    }
    steady = _constant(ratio)
    verdict = reads(printed=steady and abs(ratio.iloc[0] - 1) <= ROUNDING, corrected=steady)
    return Ruling(verdict, numbers("noise", named))


@judges("noisyhead/equation-a.1")
def equation_a1(tables: Tables) -> Ruling:
    """(A.1): 2η₀G(C + RG)/N bounds the change of one update."""
    table = tables["sensitivity"]
    share = _reached(table, "bound")
    named = {
        "change found over the bound, largest": (share.max(), 1.0),
        "change found over the exact sensitivity, least": (_reached(table, "exact").min(), 1.0),
        "the bound over the exact sensitivity, largest": (table["bound"] / table["exact"]).max(),
    }
    verdict = reads(printed=share.max() <= 1 + ROUNDING, corrected=_constant(share))
    return Ruling(verdict, numbers("sensitivity", named), {"most": share.max()})


@judges("noisyhead/theorem-3.2")
def theorem_32(tables: Tables) -> Ruling:
    """(ε, δ)-DP for any ε; the classical calibration wants ε ≤ T.

    What is spent belongs to updates that move by (A.1). Radii with RG far below C come as near to that as one likes:
    two query responses ±C at one statistic, from Γ⁰ = 0, move the first update by the part C/(C + RG) of it.
    """
    single, composition = tables["single-steps"], tables["composition"]
    views = (measure.EVERY, measure.CLAIMED)
    spent, claimed = (select(composition, accounting=view).set_index("T")["epsilon"] for view in views)
    share, delta = _reached(tables["sensitivity"], "bound").max(), single["delta_spent"] / single["delta"]
    over = spent[(spent > claimed * (1 + ROUNDING)) & (claimed <= spent.index)]
    broken = single[delta > 1].sort_values(["epsilon_per_step", "T"])
    inside, longest = delta[single["epsilon_per_step"] <= 1].max(), spent.index.max()
    first = broken.iloc[0] if len(broken) else single.iloc[-1]
    at = f"T = {first['T']:.0f}, epsilon = {first['epsilon']:g}"
    found = (
        *numbers("single-steps", {"δ spent over δ claimed, largest for ε ≤ T": (inside, 1.0)}, "epsilon_per_step ≤ 1"),
        *numbers("sensitivity", {"change of an update over (A.1), largest": (share, 1.0)}),
        *numbers(
            "composition",
            {"ε spent by all iterates, beside ε claimed": (spent[longest], claimed[longest])},
            f"T = {longest}",
        ),
        *numbers("single-steps", {"δ spent over δ claimed, first to exceed 1": (delta[first.name], 1.0)}, at),
    )
    kept = share <= 1 + ROUNDING and over.empty
    verdict = reads(printed=kept and broken.empty, narrower=kept and first["epsilon_per_step"] > 1)
    return Ruling(verdict, found, {"epsilon": first["epsilon"]})


@judges("noisyhead/equation-2.7")
def equation_27(tables: Tables) -> Ruling:
    """(2.7) minimises (2.6)."""
    worst = _check(tables, measure.GRADIENT).max()
    named = {"gradient of the loss at the formula, over that at 0, largest": (worst, ROUNDING)}
    return Ruling(reads(printed=worst <= ROUNDING), numbers("minimisers", named, measure.GRADIENT))


@judges("noisyhead/section-3-update")
def section_3_update(tables: Tables) -> Ruling:
    """The update of section 3 comes to rest at the minimiser of (2.6)."""
    single, double = (_check(tables, name).max() for name in (measure.SINGLE, measure.DOUBLE))
    named = {
        "distance at rest to (2.7), over its norm": (single, 0.0, measure.SINGLE),
        "distance at rest to (2.7) with 2λ, over its norm": (double, 0.0, measure.DOUBLE),
        "norm at rest over that of (2.7)": (_check(tables, measure.NORM).mean(), 1.0, measure.NORM),
    }
    verdict = reads(printed=single <= ROUNDING, corrected=double <= ROUNDING)
    return Ruling(verdict, numbers("minimisers", named), {"distance": single})


@judges("noisyhead/section-3-noise-variance")
def section_3_noise_variance(tables: Tables) -> Ruling:
    """Is the noise's variance, or its standard deviation, proportional to the sensitivity of an update?"""
    table = tables["noise-law"]
    plain, square = table["variance_over_sensitivity"], table["variance_over_square"]
    named = {
        "noise variance over sensitivity: largest over least": (plain.max() / plain.min(), 1.0),
        "noise variance over squared sensitivity: largest over least": (square.max() / square.min(), 1.0),
    }
    decided = several(table["sensitivity"])
    return Ruling(reads(_constant(plain), corrected=_constant(square), decided=decided), numbers("noise-law", named))


@judges("noisyhead/section-1.2-accounting")
def section_12_accounting(tables: Tables) -> Ruling:
    """Would exact accounting, that of Gaussian differential privacy, need less noise at the same budget?"""
    saved = tables["noise"]["printed_std"] / tables["noise"]["exact_std"]
    named = {
        "printed noise over what exact accounting needs, least": saved.min(),
        "printed noise over what exact accounting needs, largest": saved.max(),
    }
    return Ruling(
        reads(printed=saved.min() > 1 + ROUNDING), numbers("noise", named), {"saved": saved.min(), "most": saved.max()}
    )


@judges("noisyhead/section-2-any-noise")
def section_2_any_noise(tables: Tables) -> Ruling:
    """The sensitivity bound is tried on prompts that no Gaussian law gives: responses at a million, tokens alike.

    For every prompt ‖(⟨Γ, Z⟩ − y)Z‖ ≤ (C + RG)G once y is clipped at C and ‖Z‖ ≤ G, ‖Γ‖ ≤ R; two of them differ by at
    most twice that. The share that is reached depends on RG/C (`update_sensitivity_exact`): all of it as RG/C → 0.
    """
    table = tables["sensitivity"]
    share, printed = (_reached(rows, "bound").max() for rows in (table, select(table, setting="printed")))
    named = {
        "change of an update over (A.1), any prompts, largest": (share, 1.0),
        "the same, with the radii of Section 6.1": (printed, 1.0, "setting = printed"),
    }
    return Ruling(reads(printed=share <= 1 + ROUNDING), numbers("sensitivity", named), {"share": printed})


@judges("noisyhead/section-1.1-clipping")
def section_11_clipping(tables: Tables) -> Ruling:
    """Which clip (A.1) needs: that of the context's responses, where Π_G bounds the statistics, or the query's.

    Any statistic of the ball of radius G ≤ C is reached without clipping the context: the exact sensitivity is the
    same. Two query responses ±y at one statistic across Γ move a step by 2η₀Gy/N, y/(C + RG) times the bound.
    """
    table = tables["sensitivity"]
    context = (table["exact"] / table["bound"]).max()
    query = (FAR / (table["clip_norm"] + table["weight_bound"] * table["feature_bound"])).min()
    named = {
        "context's responses not clipped: change of an update over (A.1), largest": (context, 1.0),
        f"query's response of {FAR:g} not clipped: the same, least": (query, 1.0),
    }
    verdict = reads(
        printed=context > 1 + ROUNDING,
        narrower=query > 1 + ROUNDING,
        decided=bool((table["feature_bound"] <= table["clip_norm"]).all()),
    )
    return Ruling(verdict, numbers("sensitivity", named))
