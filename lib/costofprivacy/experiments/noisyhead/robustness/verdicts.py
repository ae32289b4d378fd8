"""Verdicts on Figure 4, Theorem 5.1, Remark 5.1 and (A.20)-(A.24): pure functions of the tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy.claims import Judgement, Verdict
from costofprivacy.experiments.noisyhead.robustness.theorem import RESPONSES, SMALL, UPPER

CONSISTENT = 4.0  # combined standard errors within which two estimates agree
GROWS = 0.01  # relative change of a displacement from the least to the largest p that counts as growth
DIVERGES = 0.5  # power of L from which on a ratio is taken to grow without limit
CERTAIN = 0.99  # share of the trials in which an event of high probability has to occur
LOGARITHMS = 1e-9  # relative change of a ratio that is no change
SMALLEST_SAMPLE = 3  # trials below which nothing is decided

LEFT, SHIFTED = RESPONSES


def _along(table: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Rows of the axis of L with these values, in order of L."""
    chosen = table["axis"] == "L"
    for name, value in values.items():
        chosen &= table[name] == value
    return table[chosen].sort_values("L")


def _power(x: pd.Series, y: pd.Series) -> float:
    """Exponent of y in x between the first and the last row; NaN for a single one."""
    if len(x) < 2 or x.iloc[0] == x.iloc[-1]:
        return float("nan")
    return float(np.log(y.iloc[-1] / y.iloc[0]) / np.log(x.iloc[-1] / x.iloc[0]))


def judge_figure_4(
    table: pd.DataFrame,
    comparison: pd.DataFrame,
    arithmetic: pd.DataFrame,
    test_error: pd.DataFrame,
    conditions: pd.DataFrame,
) -> Judgement:
    """Figure 4: is NoisyHead's displacement below ridge's throughout, and does ridge's grow with p?"""
    trials = table.loc[table["method"] == "noisyhead", "trials"].min()
    if table["p"].nunique() < 2 or trials < SMALLEST_SAMPLE:
        return Judgement(Verdict.UNTESTABLE, "a single p or too few trials show no growth")
    ridge, textbook = (_growth(table, m) for m in ("ridge", "ridge-normal-equations"))
    condition = arithmetic.loc[arithmetic["alpha"].isin(table["alpha"]), "condition"]
    below = {s: _noisyhead_is_below(table, s) for s in ("printed", "published")}
    evidence = "; ".join(
        text
        for text in (
            _agreement(comparison),
            f"from the least to the largest p ridge's displacement changes by the factor {_factor(ridge)}, the normal "
            f"equations' by up to {textbook.max():.1f}, at condition numbers of {condition.min():.0e} and more",
            f"NoisyHead's is {'below' if below['published'] else 'not below'} ridge's in the published settings, "
            f"{'below' if below['printed'] else 'not below'} in the printed ones ({_ratio(table, 'printed'):.0e} "
            "times it)",
            _how_good(test_error),
            _outside(conditions),
        )
        if text
    )
    grows = (ridge > 1 + GROWS).all()
    if not grows or not _published_match(comparison):
        return Judgement(Verdict.FAILS, evidence)
    if not below["published"]:
        return Judgement(Verdict.FAILS, evidence)
    return Judgement(Verdict.HOLDS if below["printed"] else Verdict.AMENDED, evidence)


def _growth(table: pd.DataFrame, method: str) -> pd.Series:
    """Displacement at the largest p over that at the least, by setting and c."""
    rows = table[table["method"] == method].sort_values("p").groupby(["setting", "c"])["displacement"]
    return rows.last() / rows.first()


def _factor(ratios: pd.Series) -> str:
    """The ratio that differs most from 1, in words."""
    most = float(ratios.iloc[(ratios - 1).abs().argmax()])
    return f"1 {'+' if most >= 1 else '−'} {abs(most - 1):.0e}"


def _noisyhead_is_below(table: pd.DataFrame, setting: str) -> bool:
    rows = table[table["setting"] == setting].set_index(["c", "p"])
    noisy, ridge = rows[rows["method"] == "noisyhead"], rows[rows["method"] == "ridge"]
    error = np.hypot(noisy["standard_error"], ridge["standard_error"])
    return bool((ridge["displacement"] - noisy["displacement"] > CONSISTENT * error).all())


def _ratio(table: pd.DataFrame, setting: str) -> float:
    mean = table[table["setting"] == setting].groupby("method")["displacement"].mean()
    return float(mean["noisyhead"] / mean["ridge"])


def _agreement(comparison: pd.DataFrame) -> str:
    theirs = comparison[comparison["method"] == "noisyhead"]
    if theirs.empty:
        return "no published number belongs to these parameters"
    size = theirs["deviation"].abs()
    worst = size.groupby(theirs["setting"]).max()
    near = int((size[theirs["setting"] == "published"] <= CONSISTENT).sum())
    numbers = int((theirs["setting"] == "published").sum())
    return (
        f"{near} of {numbers} published numbers of NoisyHead lie within {CONSISTENT:g} standard errors under the "
        f"settings behind them (worst {worst['published']:.1f}; under the printed ones {worst['printed']:.0f})"
    )


def _published_match(comparison: pd.DataFrame) -> bool:
    theirs = comparison[(comparison["method"] == "noisyhead") & (comparison["setting"] == "published")]
    return bool((theirs["deviation"].abs() <= CONSISTENT).all())


def _how_good(test_error: pd.DataFrame) -> str:
    rows = test_error.set_index(["setting", "method", "prompts"])["test_error"]
    variance = test_error["response_variance"].iloc[0]

    def pair(setting: str, method: str) -> str:
        return f"{rows[setting, method, 'clean']:.3f} and {rows[setting, method, 'attacked']:.3f}"

    return (
        f"test error before and after the attack: NoisyHead {pair('published', 'noisyhead')}, given time to learn "
        f"{pair('corrected', 'noisyhead')}, ridge {pair('published', 'ridge')}, answering 0 {variance:g}"
    )


def _outside(conditions: pd.DataFrame) -> str:
    """How far the experiment is outside Theorem 5.1, in words; empty if it is inside."""
    least, beyond = conditions["penalty_over_least"].min(), conditions["over_upper_end"].max()
    if least > 1 and beyond <= 1 and conditions["probability"].min() > 0:
        return ""
    return (
        f"Theorem 5.1 promises it nothing (λ is {least:.2g} of C²/L, α²μ⁴ up to {beyond:.0e} times the upper end "
        "of (5.2), "
        f"the probability 1 − 5κ = {conditions['probability'].min():g})"
    )


def judge_theorem_51_noisyhead(heads: pd.DataFrame) -> Judgement:
    """Theorem 5.1, first inequality: NoisyHead moves by at most the order of N L⁻² log²(NL/κ), whatever T and ε."""
    rows = _along(heads, noise="independent", T=heads["T"].max())
    ratio = rows["displacement"] / rows["bound_theorem"]
    power = _power(rows["L"], ratio)
    if not np.isfinite(power):
        return Judgement(Verdict.UNTESTABLE, "a single L shows no rate")
    first, last = rows.iloc[0], rows.iloc[-1]
    evidence = (
        f"at T = {first['T']} left over right, constants one, goes from {ratio.iloc[0]:.2g} at L = {first['L']} to "
        f"{ratio.iloc[-1]:.2g} at L = {last['L']}, like L^{power:.2f}, since ‖Z‖ does not shrink like C/√L"
    )
    if power < DIVERGES:
        return Judgement(Verdict.HOLDS, evidence)
    kept = (heads["displacement"] <= heads["bound_amended"]).all()
    common = heads[heads["noise"] == "common"]
    share = (common["displacement"] / common["bound_amended"]).max()
    return Judgement(
        Verdict.AMENDED if kept else Verdict.FAILS,
        f"{evidence}; 4R²E‖Z‖²/D², of the order λ⁻²C⁴N/L at fixed D, bounds the mean for every T and ε; and what the "
        f"attack itself does, on common noise, {common['displacement'].max():.0e} at most here, is at most "
        f"{share:.2g} of "
        "(η₀σ/N)²(Σ aᵗ)² E‖Z‖²/D²",
    )


def judge_theorem_51_gap(windows: pd.DataFrame) -> Judgement:
    """Theorem 5.1, second inequality: the lower end of (5.2) puts α²μ²/(Nλ) above N L⁻² log²(NL/κ)."""
    inside = windows[windows["penalty_over_least"] > 1].sort_values(["L", "penalty"])
    if inside["penalty"].nunique() < 2:
        return Judgement(Verdict.UNTESTABLE, "a single λ shows no dependence")
    powers = [_power(rows["penalty"], rows["gap"]) for _, rows in inside.groupby("L") if len(rows) > 1]
    power = float(np.mean(powers))
    crossing = inside[inside["gap"] < 1]
    evidence = (
        f"with c_ℓ = 1 the right side over the left is {inside['gap'].max():.0e} to {inside['gap'].min():.0e} and goes "
        f"like λ^{power:.2f} at fixed N, L, as the left side has lost the λ⁻² of R²"
    )
    if power > -DIVERGES and crossing.empty:
        return Judgement(Verdict.HOLDS, evidence)
    near_one = inside[inside["penalty"] <= 1]
    if (near_one["gap"] < 1).any():
        return Judgement(Verdict.FAILS, f"{evidence}; it is below one already at λ ≤ 1")
    return Judgement(
        Verdict.AMENDED,
        f"{evidence}: true for λ of order one and a c_ℓ that is not small, false with a c_ℓ as small as one likes or "
        "with a large λ, such as Proposition 4.1's N/D",
    )


def judge_theorem_51_ridge(perturbations: pd.DataFrame) -> Judgement:
    """Theorem 5.1, third inequality: an admissible perturbation moves ridge by α²μ²/(Nλ) at least."""
    admissible = perturbations[perturbations["admissible"]]
    if admissible.empty:
        return Judgement(Verdict.UNTESTABLE, "(5.2) with constants one admits none of the perturbations tried")
    ratio = admissible["displacement"] / admissible["claimed"]
    short = ratio + 2 * admissible["standard_error"] / admissible["claimed"] < 1
    upper = [_along(admissible, perturbation=UPPER, response=r) for r in RESPONSES]
    powers = [_power(rows["L"], rows["displacement"] / rows["claimed"]) for rows in upper]
    evidence = (
        f"the mean displacement is below α²μ²/(Nλ) for {int(short.sum())} of {len(admissible)} admissible "
        f"perturbations, down to {ratio.min():.0e} of it"
    )
    if not short.any():
        return Judgement(Verdict.HOLDS, evidence)
    if not all(np.isfinite(p) for p in powers):
        return Judgement(Verdict.UNTESTABLE, f"{evidence}; a single L shows no rate")
    if max(powers) > -DIVERGES:
        return Judgement(Verdict.AMENDED, f"{evidence}, a constant factor at the upper end of (5.2)")
    good = admissible[~short]
    exception = (
        f"; it holds for {len(good)}, with y_{{L+1}} shifted too"
        if len(good) and (good["response"] == SHIFTED).all()
        else ""
    )
    return Judgement(
        Verdict.FAILS,
        f"{evidence}; at the upper end of (5.2) and μ = 1 the ratio goes like L^{powers[0]:.2f} with y_{{L+1}} "
        "left as it "
        f"is, L^{powers[1]:.2f} with it shifted; at L = {upper[1]['L'].max()} it is "
        f"{ratio[upper[1].index[-1]]:.0e} even "
        f"then, which by Markov bounds the probability of the inequality{exception}",
    )


def judge_remark_51_window(simplified: pd.DataFrame, windows: pd.DataFrame) -> Judgement:
    """Remark 5.1: for λ ≍ 1, (5.2) reduces to N²/L² ≲ α²μ² ≤ α²μ⁴ ≲ NL."""
    if len(simplified) < 2:
        return Judgement(Verdict.UNTESTABLE, "a single N shows no rate")
    bare, ratio = simplified["without_logs"], simplified["ratio"]
    shut = windows[~windows["open_at_mu_1"] & (windows["penalty_over_least"] > 1)]
    spread = bare.max() / bare.min() - 1
    evidence = (
        f"the lower end of (5.2) over N²/L² grows from {ratio.iloc[0]:.0e} at N = {simplified['N'].iloc[0]:.0e} to "
        f"{ratio.iloc[-1]:.0e} at {simplified['N'].iloc[-1]:.0e}"
    )
    if ratio.max() / ratio.min() - 1 < LOGARITHMS:
        return Judgement(Verdict.HOLDS, "the lower end of (5.2) is N²/L² up to a constant")
    if spread > GROWS:
        return Judgement(Verdict.FAILS, f"{evidence}, not a power of log(NL)")
    return Judgement(
        Verdict.AMENDED,
        f"{evidence}, like log³(NL/κ), which ≲ hides; α²μ² ≤ α²μ⁴ asks for μ ≥ 1, which (5.2) does not, and then the "
        f"window is empty at {len(shut)} of {len(windows)} pairs of L and λ > C²/L tried (for λ ≍ 1 up to L³ ≈ C⁶N)",
    )


def judge_remark_51_divergence(perturbations: pd.DataFrame, heads: pd.DataFrame) -> Judgement:
    """Remark 5.1: some admissible perturbation sends ridge's displacement to infinity, NoisyHead's tends to zero."""
    left, shifted = (_along(perturbations, perturbation=SMALL, response=r, admissible=True) for r in RESPONSES)
    private = _along(heads, noise="independent", T=heads["T"].min())
    powers = [_power(rows["L"], rows["displacement"]) for rows in (left, shifted, private)]
    if not all(np.isfinite(p) for p in powers):
        return Judgement(Verdict.UNTESTABLE, "fewer than two L at which the perturbation is admissible")
    ours = perturbations[perturbations["response"] == LEFT]
    evidence = (
        f"with y_{{L+1}} left as it is, as (5.1) has it, ridge's displacement is below {ours['bound'].max():.1e} here "
        f"for every α and μ (measured: at most {ours['displacement'].max():.1e})"
    )
    if not powers[2] < -DIVERGES:
        return Judgement(
            Verdict.FAILS, f"NoisyHead's displacement goes like L^{powers[2]:.2f}, not to zero; {evidence}"
        )
    if powers[0] > DIVERGES:
        return Judgement(Verdict.HOLDS, f"ridge's displacement grows like L^{powers[0]:.2f}, NoisyHead's falls")
    if powers[1] <= DIVERGES:
        return Judgement(Verdict.FAILS, f"{evidence}; shifted by α as well it goes like L^{powers[1]:.2f}")
    return Judgement(
        Verdict.AMENDED,
        f"{evidence}; with y_{{L+1}} shifted by α as well and μ = (LD)^(-1/2) at the upper end of (5.2), it does "
        "diverge, "
        f"like L^{powers[1]:.2f} up to {shifted['displacement'].iloc[-1]:.2g} at L = {shifted['L'].iloc[-1]}, while "
        f"NoisyHead's falls like L^{powers[2]:.2f} at T = {private['T'].iloc[0]}",
    )


def judge_equation_a20(heads: pd.DataFrame) -> Judgement:
    """(A.20): two heads in the ball of radius R differ by at most C²R²/L on a clean prompt."""
    rows = _along(heads, noise="independent", T=heads["T"].max())
    measured, apart = rows["displacement"] / rows["bound_ball"], rows["bound_amended"] / rows["bound_ball"]
    last = rows.iloc[-1]
    evidence = (
        f"two runs at T = {last['T']} differ by {measured.iloc[-1]:.2g} times the bound at L = {last['L']}, two heads "
        f"at opposite ends of the ball by {apart.iloc[-1]:.2g} times, growing like L^{_power(rows['L'], apart):.2f}"
    )
    over = measured - 2 * rows["standard_error"] / rows["bound_ball"] > 1
    if not over.any():
        return Judgement(Verdict.HOLDS, evidence)
    kept = (rows["displacement"] <= rows["bound_amended"]).all()
    return Judgement(
        Verdict.AMENDED if kept else Verdict.FAILS,
        f"{evidence}; 4R²‖Z‖², in the mean 4R²E‖Z‖²/D², is what holds",
    )


def judge_equation_a21(gram: pd.DataFrame) -> Judgement:
    """(A.21): the clean prompts' Gram matrix has norm at most C²N/L, below Nλ."""
    rows = _along(gram)
    over = rows["norm"] - 2 * rows["standard_error"] > rows["bound"]
    last = rows.iloc[-1]
    evidence = (
        f"‖Σ vec(Z)vec(Z)ᵀ‖_F/N is {last['norm']:.4f} ± {last['standard_error']:.0e} at L = {last['L']}, where "
        f"C²/L is {last['bound']:.4f}"
    )
    if not over.any():
        return Judgement(Verdict.HOLDS, evidence)
    near = (rows["norm"] / rows["closed_form"] - 1).abs().max()
    return Judgement(
        Verdict.AMENDED if near < 0.1 and (rows["norm"] < rows["penalty"]).all() else Verdict.FAILS,
        f"{evidence}: it tends to E‖Z‖²/D → 1/D² (all within {100 * near:.0f} %), not to 0, so that λ > E‖Z‖²/D "
        "is what "
        "the proof needs in place of λ > C²/L",
    )


def judge_equation_a22(perturbations: pd.DataFrame) -> Judgement:
    """(A.22): ‖Z_bad‖² is at most of the order α²μ⁴/L, below Nλ."""
    rows = _along(perturbations, perturbation=UPPER, response=LEFT)
    ratio = rows["energy"] / rows["energy_claimed"]
    power = _power(rows["L"], ratio)
    if not np.isfinite(power):
        return Judgement(Verdict.UNTESTABLE, "a single L shows no rate")
    evidence = (
        f"at the upper end of (5.2), μ = 1, ‖Z_bad‖² over its bound goes like L^{power:.2f}, to {ratio.iloc[-1]:.1e} "
        f"at L = {rows['L'].iloc[-1]}, and it is {rows['energy_over_N_penalty'].iloc[-1]:.1e} times Nλ there"
    )
    if power < DIVERGES:
        return Judgement(Verdict.HOLDS, evidence)
    score = ((perturbations["energy"] - perturbations["energy_closed_form"]) / perturbations["energy_error"]).abs()
    return Judgement(
        Verdict.AMENDED if score.median() < CONSISTENT else Verdict.FAILS,
        f"{evidence}; a common shift does not average out: ‖Z_bad‖² is of the order D²α²μ⁴ without the 1/L (closed "
        f"form, median deviation {score.median():.1f} standard errors), and (5.2) has to ask D²α²μ⁴ ≲ Nλ",
    )


def judge_equation_a23(perturbations: pd.DataFrame) -> Judgement:
    """(A.23): ‖Γ*_bad − Γ*‖ is at least ‖y'Z' − yZ‖/(Nλ)."""
    admissible = perturbations[perturbations["admissible"]]
    if admissible.empty:
        return Judgement(Verdict.UNTESTABLE, "(5.2) with constants one admits none of the perturbations tried")
    ratio = admissible["a23_ratio"]
    evidence = (
        f"the median of left over right is {ratio.min():.0e} to {ratio.max():.2g} over the admissible perturbations"
    )
    if (ratio >= 1).all():
        return Judgement(Verdict.HOLDS, evidence)
    power = _power(*(_along(admissible, perturbation=UPPER, response=SHIFTED)[n] for n in ("L", "a23_ratio")))
    if not np.isfinite(power):
        return Judgement(Verdict.UNTESTABLE, f"{evidence}; a single L shows no rate")
    if power > -DIVERGES:
        return Judgement(Verdict.AMENDED, f"{evidence}, within a constant factor")
    return Judgement(
        Verdict.FAILS,
        f"{evidence}, falling like L^{power:.2f} at the upper end of (5.2): the matrix of (2.7) changes with the "
        "prompt, "
        "and for a matrix that stays and is at least Nλ the inequality points the other way; what holds is the "
        "rank-one "
        "formula, whose step is divided by 1 + vec(Z')ᵀA⁻¹vec(Z')",
    )


def judge_equation_a24(perturbations: pd.DataFrame) -> Judgement:
    """(A.24): ‖y'Z' − yZ‖ is at least α²μ²."""
    at = perturbations[perturbations["admissible"]]
    left, shifted = (at.loc[at["response"] == r, "a24_frequency"] for r in RESPONSES)
    if left.empty or shifted.empty:
        return Judgement(Verdict.UNTESTABLE, "(5.2) with constants one admits none of the perturbations tried")
    evidence = (
        f"in {left.mean():.0%} of the data sets with y_{{L+1}} left as it is, as (5.1) has it; in "
        f"{shifted.mean():.0%} if "
        "it is shifted by α as well"
    )
    if left.min() >= CERTAIN:
        return Judgement(Verdict.HOLDS, evidence)
    return Judgement(Verdict.AMENDED if shifted.min() >= CERTAIN else Verdict.FAILS, evidence)
