"""Verdicts on Algorithm 1, Proposition 4.1, Appendix A and (1.1) to (1.4) of arXiv:2505.16329v2."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from costofprivacy.claims import Judgement, Verdict
from costofprivacy.experiments.dpgd.algorithm.noise import PLACEMENTS
from costofprivacy.experiments.dpgd.algorithm.rates import ALGORITHMS, ISOTROPIC

CONSISTENT = 4.5  # standard errors, the largest of a dozen comparisons
ROUNDING = 1e-9
GRID = 1e-3  # relative error of divergences of densities on a grid
TRANSLATED = 2.0  # factor within which ε²/(ρ² log n) is a constant
FLAT = 0.2  # relative change over all n that counts as none

DEFINITION_31 = Judgement(
    Verdict.UNTESTABLE,
    "a definition; the book follows it: neighbours differ in the replacement of one record, and the noise 2C_clip σ_k "
    "is made for that; a record removed would need half of it",
)
ALGORITHM_1 = Judgement(
    Verdict.UNTESTABLE,
    "a definition; what a reproducer must settle: the learning rates may not increase, η̄_k has ‖x_k‖² (where (C.5) "
    "prints ‖x_k‖), and a last step with η_n = 0 uses no record",
)
DEFINITION_A1 = Judgement(Verdict.UNTESTABLE, "a definition; neighbours differ in the replacement of one record")
DEFINITION_A2 = Judgement(
    Verdict.UNTESTABLE, "a definition; D_α of two Gaussians μ standard deviations apart is exactly αμ²/2 (a test)"
)


def judge_equation_11(identity: pd.DataFrame) -> Judgement:
    """(1.1): half the mean squared error less ζ²/2 is ‖Σ^½(θ − θ*)‖²/2."""
    score = ((identity["ratio"] - 1).abs() / identity["standard_error"]).max()
    evidence = (
        f"the simulated error is {identity['ratio'].iloc[0]:.4f} ± {identity['standard_error'].iloc[0]:.4f} of the "
        f"right side with {identity['law'].iloc[0]} features, within {score:.1f} standard errors for all "
        f"{len(identity)} laws: second moments are all it uses"
    )
    return Judgement(Verdict.HOLDS if score <= CONSISTENT else Verdict.FAILS, evidence)


def _along_n(rates: pd.DataFrame, algorithm: str) -> pd.DataFrame:
    chosen = (rates["axis"] == "n") & (rates["algorithm"] == algorithm) & (rates["spectrum"] == ISOTROPIC)
    return rates[chosen].sort_values("n")


def judge_equation_12(rates: pd.DataFrame, translation: pd.DataFrame) -> Judgement:
    """(1.2): a lower bound of earlier work; its log n, and its second term where d ≍ n."""
    rows = _along_n(rates, ALGORITHMS[0])
    if rows["n"].nunique() < 2:
        return Judgement(Verdict.UNTESTABLE, "fewer than two values of n")
    share = (rows["rate_1.2"] / rows["gamma"] - 1).to_numpy()
    spread = translation["ratio"].max() / translation["ratio"].min()
    if not (np.diff(share) < 0).all() or spread > TRANSLATED:
        return Judgement(
            Verdict.UNTESTABLE,
            "a theorem of earlier work with a hidden constant; what can be checked disagrees: its second term does not "
            f"fall against the first as n grows, or ε² over ρ² log n varies by {spread:.2f}, more than {TRANSLATED:g}",
        )
    return Judgement(
        Verdict.UNTESTABLE,
        "a theorem of earlier work with a hidden constant; what can be checked agrees: at δ = 1/n² the exact ε² of "
        f"ρ-Gaussian DP is {translation['ratio'].min():.2f} to {translation['ratio'].max():.2f} times ρ² log n for n "
        f"up to {translation['n'].max():.0e}, and at fixed γ and ρ the second term falls, like 1/log n, from "
        f"{share[0]:.3f} to {share[-1]:.3f} of the first as n goes from {rows['n'].iloc[0]} to {rows['n'].iloc[-1]}",
    )


def judge_equation_13(rates: pd.DataFrame) -> Judgement:
    """(1.3): an upper bound of earlier work, void where d ≍ n; and what rarely active clipping does."""
    rare, constant = (_along_n(rates, name) for name in reversed(ALGORITHMS))
    if rare["n"].nunique() < 2:
        return Judgement(Verdict.UNTESTABLE, "fewer than two values of n")
    growth = {k: r["excess_risk"].iloc[-1] / r["excess_risk"].iloc[0] for k, r in (("rare", rare), ("c", constant))}
    logs = math.log(rare["n"].iloc[-1]) / math.log(rare["n"].iloc[0])
    bound = rare["rate_1.3"].to_numpy()
    if not (np.diff(bound) > 0).all() or not 1 < growth["rare"] <= logs**2:
        return Judgement(
            Verdict.UNTESTABLE,
            "a theorem of earlier work on another algorithm; what can be checked disagrees: its bound does not grow "
            f"with n, or with clipping rarely active the risk changes by the factor {growth['rare']:.2f} where log n "
            f"changes by {logs:.2f}",
        )
    return Judgement(
        Verdict.UNTESTABLE,
        "a theorem of earlier work on another algorithm, with an unstated power of log n; what can be checked agrees: "
        f"at fixed γ and ρ one-pass DP-GD whose clipping is rarely active gets worse by the factor "
        f"{growth['rare']:.2f} from n = {rare['n'].iloc[0]} to {rare['n'].iloc[-1]} (log n by {logs:.2f}), with c "
        f"constant by {growth['c']:.2f}; the bound grows without limit",
    )


def judge_equation_14(rates: pd.DataFrame) -> Judgement:
    """(1.4): R = O(γ + γ²/ρ²) for a harmonic learning rate and a constant c."""
    rows = rates[rates["algorithm"] == ALGORITHMS[0]]
    grid, sizes = (rows[rows["axis"] == axis] for axis in ("gamma", "n"))
    if grid["gamma"].nunique() < 2 or sizes["n"].nunique() < 2 or not np.isfinite(rows["limit"]).all():
        return Judgement(Verdict.UNTESTABLE, "too few values of γ or n, or a schedule that falls too fast")
    over = ((rows["excess_risk"] - rows["limit"]) / rows["standard_error"]).max()
    along = sizes.groupby("spectrum")["excess_risk"]
    steady = (along.max() / along.min()).max() - 1
    told = "; ".join(_share_of_limit(name, part) for name, part in rows.groupby("spectrum", sort=False))
    evidence = (
        f"with a learning rate that scales like 1/λ_min, γ from {grid['gamma'].max():g} to {grid['gamma'].min():g} and "
        f"ρ from {grid['rho'].min():g} to {grid['rho'].max():g}, the mean risk against Aγ + Bγ²/ρ² with the constants "
        f"derived here: {told}; other covariances are not judged here; single runs reach "
        f"{(rows['largest'] / rows['excess_risk']).max():.2f} times their mean; at fixed γ the risk is the same to "
        f"{steady:.2f} from n = {sizes['n'].min()} to {sizes['n'].max()}"
    )
    return Judgement(Verdict.HOLDS if over <= CONSISTENT and steady < FLAT else Verdict.FAILS, evidence)


def _share_of_limit(name: str, rows: pd.DataFrame) -> str:
    """How much of the limit the risks of one covariance reach."""
    ratio = rows["excess_risk"] / rows["limit"]
    grid = ratio[rows["axis"] == "gamma"]
    near = grid[rows["gamma"] == rows.loc[grid.index, "gamma"].min()]
    constant = (rows["limit"] / rows["rate_1.4"]).max()
    return (
        f"for {name} (λ_min = {rows['smallest'].min():.3g}) at most {ratio.max():.2f} of it, {near.min():.2f} to "
        f"{near.max():.2f} at the least γ, and that limit at most {constant:.1f}(γ + γ²/ρ²)"
    )


def judge_proposition_41(outputs: pd.DataFrame, sensitivity: pd.DataFrame, schedules: pd.DataFrame) -> Judgement:
    """Proposition 4.1: the last iterate is ρ²/2-zCDP; in fact ρ-Gaussian DP."""
    worst = outputs[["renyi_share", "delta_share"]].max()
    moved = (sensitivity[["largest_found", "constructed"]].max(axis=1) / sensitivity["bound"]).max()
    if worst.max() > 1 + GRID or moved > 1 + ROUNDING:
        return Judgement(Verdict.FAILS, f"some pair of neighbours spends {worst.max():.3f} of what is allowed")
    first = outputs.loc[outputs["k"] == 1, "renyi_share"]
    reached = f"; replacing the first record reaches {first.max():.3f}" if len(first) else ""
    return Judgement(
        Verdict.HOLDS,
        f"on {len(outputs)} pairs of neighbouring data sets, densities propagated on a grid, the divergences are at "
        f"most {worst['renyi_share']:.3f} of αρ²/2 and {worst['delta_share']:.3f} of the profile of ρ-Gaussian DP, "
        f"which is proved here and implies the proposition{reached}; {_if_all_were_released(schedules)}",
    )


def _if_all_were_released(schedules: pd.DataFrame) -> str:
    """What the same noise spends if every iterate is released, by schedule."""
    finite = np.isfinite(schedules["rho_every"])
    share = (schedules["rho_every"] / schedules["rho"])[finite]
    told = [f"{share.min():.1f} to {share.max():.1f} ρ over {schedules['n'].max()} steps"] if finite.any() else []
    without = ", ".join(schedules.loc[~finite, "schedule"])
    told += [f"everything with the schedules that leave a step without noise ({without})"] if without else []
    return f"if every iterate were released, the same noise would spend {', and '.join(told)}"


def judge_equation_41(schedules: pd.DataFrame) -> Judgement:
    """(4.1): ρ is the largest of η_k over the noise from step k on."""
    gap = (schedules["rho_recomputed"] / schedules["rho"] - 1).abs().max()
    void = schedules["last_rate"] == 0
    evidence = f"ρ recomputed from the schedules (4.2) equals the ρ asked for to {gap:.0e}"
    if gap > ROUNDING:
        return Judgement(Verdict.FAILS, f"ρ recomputed from (4.2) is off by {gap:.0e}")
    if not void.any():
        return Judgement(Verdict.HOLDS, evidence)
    return Judgement(
        Verdict.AMENDED,
        f"with η̃(1) = 0, as in {int(void.sum())} of the {len(schedules)} schedules, its last quotient is 0/0; the "
        "right reading is the least ρ with η_k² ≤ ρ²(σ_k² + … + σ_n²) for all k, and a step of length 0 spends "
        f"nothing; {evidence}",
    )


def judge_equation_42(schedules: pd.DataFrame, placement: pd.DataFrame) -> Judgement:
    """(4.2): the least total noise for given ρ, which protects every record equally."""
    least = schedules[["least_total", "least_tail"]].min()
    equal = (schedules[["spent_least", "spent_most"]].div(schedules["rho"], axis=0) - 1).abs().max(axis=None)
    above = placement[placement["placement"] != PLACEMENTS[0]]
    worse = above[above["above"] > ROUNDING]
    score = (above["above"] / above["above_error"].clip(lower=ROUNDING)).min()
    if least.min() < 1 - ROUNDING or equal > ROUNDING or score < -CONSISTENT:
        return Judgement(Verdict.FAILS, "another noise schedule of the same ρ is smaller, or a better one is found")
    last = worse[worse["placement"] == PLACEMENTS[2]]
    last_risk = f"; with it there the risk is up to {last['above'].max():.3f} higher" if len(last) else ""
    return Judgement(
        Verdict.HOLDS,
        f"none of {schedules['others'].sum()} random schedules of the same ρ has less noise in total or from any step "
        f"on, and every record used spends ρ (to {equal:.0e}); the total alone does not single (4.2) out, all noise "
        "in the last step has the same: what does is that it is least from every step on, which also makes the final "
        f"risk of the deterministic equivalent least for Σ = I{last_risk}",
    )


def judge_proposition_a3(conversions: pd.DataFrame) -> Judgement:
    """Proposition A.3: ρ²/2-zCDP implies (ρ²/2 + ρ√(2 ln(1/δ)), δ)-DP."""
    ordered = (conversions["exact"] <= conversions["renyi"] * (1 + ROUNDING)) & (
        conversions["renyi"] <= conversions["proposition_a3"] * (1 + ROUNDING)
    )
    if not ordered.all():
        return Judgement(Verdict.FAILS, f"exceeded in {int((~ordered).sum())} of {len(conversions)} cases")
    some = conversions[conversions["exact"] > 0]
    loss = some["proposition_a3"] / some["exact"]
    better = some["renyi"] / some["exact"]
    return Judgement(
        Verdict.HOLDS,
        f"its ε is {loss.min():.2f} to {loss.max():.2f} times what the release spends, which is ρ-Gaussian DP, over "
        f"{len(some)} pairs of ρ and δ; by way of Rényi divergences it is {better.min():.2f} to "
        f"{better.max():.2f} times",
    )


def judge_equation_a3(conversions: pd.DataFrame) -> Judgement:
    """(A.3): that ε is at most 2ρ√ln(1/δ) if ρ ≤ √ln(1/δ)."""
    share = conversions["proposition_a3"] / conversions["equation_a3"]
    inside = conversions["condition"]
    if not inside.any():
        return Judgement(Verdict.UNTESTABLE, "no pair of ρ and δ meets the condition")
    beyond = conversions[~inside & (share > 1)]
    found = f"; beyond, it fails in {len(beyond)} of {int((~inside).sum())} pairs" if (~inside).any() else ""
    return Judgement(
        Verdict.HOLDS if share[inside].max() <= 1 else Verdict.FAILS,
        f"the left side is at most {share[inside].max():.3f} of the right in the {int(inside.sum())} pairs of ρ and δ "
        "that meet the condition; it is equivalent to ρ ≤ 2(2 − √2)√ln(1/δ), with "
        f"{2 * (2 - math.sqrt(2)):.3f} for 1{found}",
    )


def judge_equation_a9(steps: pd.DataFrame, expansion: pd.DataFrame) -> Judgement:
    """(A.9), with (A.5) to (A.8): a step is a gradient step on a Lipschitz and smooth loss, and expands nothing."""
    broken = steps[steps["worst"] > steps["bound"] * (1 + 1e-6)]
    stretched = expansion["shortened"].max()
    if len(broken) or stretched > 1 + 1e-6:
        return Judgement(Verdict.FAILS, f"a step stretches a distance by {max(stretched, steps['worst'].max()):.3f}")
    bare = expansion[expansion["bare"] > 1 + 1e-6]
    start, end, most = bare["product"].min(), bare["product"].max(), bare["bare"].max()
    first = f"from η‖x‖² = {start:g} on it expands, by {most:.1f} at {end:g}"
    return Judgement(
        Verdict.HOLDS,
        f"on {steps['pairs'].max()} random records and pairs of parameters ‖∇‖ reaches {steps['worst'].iloc[1]:.4f} "
        f"of C_clip, the smoothness {steps['worst'].iloc[3]:.4f} of 2/η, and no distance grows"
        f"{f'; without the shortened rate {first}' if len(bare) else ''}",
    )
