"""Verdicts on section 3 and Appendix A.2 of arXiv:2504.16000v2: Algorithm 1, its privacy, and where descent rests."""

from __future__ import annotations

import pandas as pd

from costofprivacy.experiments.noisyhead.mechanism import accounting, minimisers
from costofprivacy.judging.findings import Verdict
from costofprivacy.judging.growth import several
from costofprivacy.judging.judges import Ruling, judges, numbers, reads
from costofprivacy.judging.tables import Tables, select

ROUNDING = 1e-9


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
        "printed over calibrated, least": (ratio.min(), 1.0),
        "printed over calibrated, largest": (ratio.max(), 1.0),
        "printed over exact composition, least": (exact.min(), 1.0),
        "printed over exact composition, largest": (exact.max(), 1.0),
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
        "largest change found over the bound": (share.max(), 1.0),
        "least change found over the exact sensitivity": (_reached(table, "exact").min(), 1.0),
        "bound over the exact sensitivity, largest": ((table["bound"] / table["exact"]).max(), 1.0),
    }
    verdict = reads(printed=share.max() <= 1 + ROUNDING, corrected=_constant(share))
    return Ruling(verdict, numbers("sensitivity", named), {"most": share.max()})


@judges("noisyhead/theorem-3.2")
def theorem_32(tables: Tables) -> Ruling:
    """(ε, δ)-DP for any ε; the classical calibration wants ε ≤ T."""
    single, composition = tables["single-steps"], tables["composition"]
    views = (accounting.EVERY, accounting.CLAIMED)
    spent, claimed = (select(composition, accounting=view).set_index("T")["epsilon"] for view in views)
    share, delta = _reached(tables["sensitivity"], "bound").max(), single["delta_spent"] / single["delta"]
    over = spent[(spent > claimed * (1 + ROUNDING)) & (claimed <= spent.index)]
    broken = single[delta > 1].sort_values(["epsilon_per_step", "T"])
    inside, longest = delta[single["epsilon_per_step"] <= 1].max(), spent.index.max()
    first = broken.iloc[0] if len(broken) else single.iloc[-1]
    at = f"T = {first['T']:.0f}, epsilon = {first['epsilon']:g}"
    found = (
        *numbers("single-steps", {"δ spent over δ claimed, largest for ε ≤ T": (inside, 1.0)}, "epsilon_per_step ≤ 1"),
        *numbers("sensitivity", {"largest change of an update over its bound": (share, 1.0)}),
        *numbers("composition", {"ε spent by all iterates": (spent[longest], claimed[longest])}, f"T = {longest}"),
        *numbers("single-steps", {"δ spent over δ claimed": (delta[first.name], 1.0)}, at),
    )
    kept = share <= 1 + ROUNDING and over.empty
    verdict = reads(printed=kept and broken.empty, narrower=kept and first["epsilon_per_step"] > 1)
    return Ruling(verdict, found, {"epsilon": first["epsilon"]})


@judges("noisyhead/equation-2.7")
def equation_27(tables: Tables) -> Ruling:
    """(2.7) minimises (2.6)."""
    worst = _check(tables, minimisers.GRADIENT).max()
    named = {"slope over its value at 0, largest": (worst, ROUNDING)}
    return Ruling(reads(printed=worst <= ROUNDING), numbers("minimisers", named, minimisers.GRADIENT))


@judges("noisyhead/section-3-update")
def section_3_update(tables: Tables) -> Ruling:
    """The update of section 3 comes to rest at the minimiser of (2.6)."""
    single, half = (_check(tables, name).max() for name in (minimisers.SINGLE, minimisers.HALVED))
    named = {
        "distance at rest to the minimiser, over its norm": (single, 0.0, minimisers.SINGLE),
        "the same to ridge at 2λ": (_check(tables, minimisers.DOUBLE).max(), 0.0, minimisers.DOUBLE),
        "the same with half the penalty": (half, 0.0, minimisers.HALVED),
        "norm at rest over that of the minimiser": (_check(tables, minimisers.NORM).mean(), 1.0, minimisers.NORM),
    }
    verdict = reads(printed=single <= ROUNDING, corrected=half <= ROUNDING)
    return Ruling(verdict, numbers("minimisers", named), {"distance": single})


@judges("noisyhead/section-3-noise-variance")
def section_3_noise_variance(tables: Tables) -> Ruling:
    """Is the noise's variance, or its standard deviation, proportional to the sensitivity of an update?"""
    table = tables["noise-law"]
    plain, square = table["variance_over_sensitivity"], table["variance_over_square"]
    named = {
        "variance over sensitivity, largest over least": (plain.max() / plain.min(), 1.0),
        "variance over its square, largest over least": (square.max() / square.min(), 1.0),
    }
    decided = several(table["sensitivity"])
    return Ruling(reads(_constant(plain), corrected=_constant(square), decided=decided), numbers("noise-law", named))


@judges("noisyhead/section-1.2-accounting")
def section_12_accounting(tables: Tables) -> Ruling:
    """Would exact accounting, that of Gaussian differential privacy, need less noise at the same budget?"""
    saved = tables["noise"]["printed_std"] / tables["noise"]["exact_std"]
    named = {
        "printed over exact standard deviation, least": (saved.min(), 1.0),
        "printed over exact standard deviation, largest": (saved.max(), 1.0),
    }
    return Ruling(reads(printed=saved.min() > 1 + ROUNDING), numbers("noise", named), {"saved": saved.min()})


@judges("noisyhead/section-2-any-noise")
def section_2_any_noise(tables: Tables) -> Ruling:
    """The sensitivity bound is tried on prompts that no Gaussian law gives: responses at a million, tokens alike."""
    share = _reached(tables["sensitivity"], "bound").max()
    named = {"change under built prompts over the bound": (share, 1.0)}
    return Ruling(reads(printed=share <= 1 + ROUNDING), numbers("sensitivity", named), {"share": share})
