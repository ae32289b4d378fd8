"""Verdicts on Algorithm 1 and Theorem 3.2 of arXiv:2504.16000v2: pure functions of the tables."""

from __future__ import annotations

import pandas as pd

from costofprivacy.claims import Judgement, Verdict
from costofprivacy.experiments.noisyhead.mechanism.experiment import MINIMISER_CHECKS

ROUNDING = 1e-9


DEFINITION_31 = Judgement(
    Verdict.UNTESTABLE,
    "a definition; the book follows it: neighbours differ in the replacement of one prompt, everywhere",
)


def judge_equation_a1(sensitivity: pd.DataFrame) -> Judgement:
    """(A.1): 2η₀G(C + RG)/N bounds the change of one update."""
    share = sensitivity[["largest_found", "constructed"]].max(axis=1) / sensitivity["bound"]
    search, built = (sensitivity[name] / sensitivity["exact"] for name in ("largest_found", "constructed"))
    evidence = (
        f"the largest change found is {share.min():.2f} to {share.max():.2f} of the bound; a random search reaches "
        f"{search.min():.3f} to {search.max():.3f} and a constructed pair {built.min():.4f} of the exact sensitivity "
        "derived here: the bound is loose by up to a factor 2 where RG ≫ C"
    )
    return Judgement(Verdict.HOLDS if share.max() <= 1 + ROUNDING else Verdict.FAILS, evidence)


def judge_theorem_32(single: pd.DataFrame, sensitivity: pd.DataFrame, composition: pd.DataFrame) -> Judgement:
    """Theorem 3.2: (ε, δ)-DP for any ε; the classical calibration wants ε ≤ T."""
    spent = composition[composition["accounting"] == "every iterate, exactly"].set_index("T")["epsilon"]
    claimed = composition[composition["accounting"].str.startswith("claimed")].set_index("T")["epsilon"]
    broken = single[single["delta_spent"] > single["delta"]]
    found = sensitivity[["largest_found", "constructed"]].max(axis=1)
    if (found > sensitivity["bound"] * (1 + ROUNDING)).any():
        return Judgement(Verdict.FAILS, "one update moves by more than η₀σ/N")
    over = (spent > claimed * (1 + ROUNDING)) & (claimed <= spent.index)
    if over.any() or (broken["epsilon_per_step"] <= 1).any():
        return Judgement(Verdict.FAILS, "the budget is overspent at some ε ≤ T")
    slack = f"at T = {spent.index[-1]} the iterates together spend ε = {spent.iloc[-1]:.2g} of {claimed.iloc[-1]:g}"
    if broken.empty:
        return Judgement(Verdict.HOLDS, slack)
    first = broken.loc[broken["epsilon"].idxmin()]
    return Judgement(
        Verdict.AMENDED,
        f"true for ε ≤ T, a condition that it does not state; beyond, it can fail: at T = {first['T']:.0f}, "
        f"ε = {first['epsilon']:g} the δ spent is {first['delta_spent'] / first['delta']:.1f} times the δ "
        "claimed; within, "
        f"it is far from tight: {slack}",
    )


def judge_algorithm_1(noise: pd.DataFrame) -> Judgement:
    """Algorithm 1: its printed variance is that of the Gaussian mechanism it stands for."""
    gap = (noise["printed_std"] / noise["calibrated_std"] - 1).abs().max()
    ratio = noise["printed_std"] / noise["exact_std"]
    evidence = (
        f"a definition; its variance is the classical Gaussian mechanism's at (ε/T, δ/T) on sensitivity η₀σ/N "
        f"(to {gap:.0e}), {ratio.min():.1f} to {ratio.max():.1f} times the standard deviation of exact "
        "composition; Γ⁰ is left open"
    )
    return Judgement(Verdict.HOLDS if gap < ROUNDING else Verdict.FAILS, evidence)


def _check(minimisers: pd.DataFrame, name: str) -> pd.Series:
    return minimisers.loc[minimisers["check"] == name, "value"]


def judge_equation_27(minimisers: pd.DataFrame) -> Judgement:
    """(2.7) minimises (2.6)."""
    worst = _check(minimisers, MINIMISER_CHECKS[0]).max()
    evidence = f"the gradient of (2.6), summed prompt by prompt, is {worst:.0e} of its value at 0"
    return Judgement(Verdict.HOLDS if worst < ROUNDING else Verdict.FAILS, evidence)


def judge_section_3_update(minimisers: pd.DataFrame) -> Judgement:
    """The update of section 3 comes to rest at the minimiser of (2.6)."""
    single, double, half = (_check(minimisers, MINIMISER_CHECKS[i]).max() for i in (1, 2, 3))
    if single < ROUNDING:
        return Judgement(Verdict.HOLDS, f"it rests at ridge(λ), to {single:.0e}")
    norm = _check(minimisers, MINIMISER_CHECKS[4]).mean()
    evidence = (
        f"it rests at ridge(2λ) (to {double:.0e}), {norm:.2f} of the norm of Γ* and {single:.2f} of it away; with "
        f"λ/2 in the update it rests at Γ* (to {half:.0e})"
    )
    return Judgement(Verdict.AMENDED if half < ROUNDING else Verdict.FAILS, evidence)
