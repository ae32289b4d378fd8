"""Verdicts on Figure 4, Theorem 5.1, Remark 5.1 and (A.20)-(A.24): pure functions of the tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy.claims import Judgement, Verdict
from costofprivacy.experiments.noisyhead.authors import CONSISTENT, agreement
from costofprivacy.experiments.noisyhead.robustness.theorem import (
    AMENDED_SMALL,
    AMENDED_SMALL_LOWER,
    LEAST_CONSTANT,
    RESPONSES,
    SMALL,
    UPPER,
)

GROWS = 0.01  # relative change of a displacement from the least to the largest p that counts as growth
DIVERGES = 0.5  # power of L from which on a ratio is taken to grow without limit
CERTAIN = 0.99  # share of the trials in which an event of high probability has to occur
OF_ORDER = np.e  # T and log N are of one order if their ratio is at most this
POWER_OF_N = 0.1  # power of N, far out, from which on a ratio grows faster than logarithms
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
    words = {s: "below" if below[s] else "not below" for s in below}
    theirs, matched, _ = agreement(comparison[comparison["method"] == "noisyhead"])
    parts = (
        theirs,
        f"from the least to the largest p ridge's displacement changes by the factor {_factor(ridge)}, the normal "
        f"equations' by up to {textbook.max():.1f}, at condition numbers of {condition.min():.0e} and more",
        f"NoisyHead's is {words['published']} ridge's in the published settings, {words['printed']} in the printed "
        f"ones ({_ratio(table, 'printed'):.0e} times it)",
        _how_good(test_error),
        _outside(conditions),
    )
    evidence = "; ".join(part for part in parts if part)
    if not (ridge > 1 + GROWS).all() or not matched or not below["published"]:
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


def _how_good(test_error: pd.DataFrame) -> str:
    rows = test_error.set_index(["setting", "method", "prompts"])["test_error"]
    variance = test_error["response_variance"].iloc[0]

    def pair(setting: str, method: str) -> str:
        return f"{rows[setting, method, 'clean']:.3f} and {rows[setting, method, 'attacked']:.3f}"

    return (
        f"test error before and after the attack: NoisyHead {pair('published', 'noisyhead')}, given time to learn "
        f"{pair('corrected', 'noisyhead')}, ridge {pair('published', 'ridge')}, answering 0 {variance:g}: attacked "
        f"ridge {_against(rows['published', 'ridge', 'attacked'], rows['corrected', 'noisyhead', 'clean'])} than "
        "NoisyHead without an attack"
    )


def _against(ours: float, other: float) -> str:
    return "still predicts better" if ours < other else "predicts no better"


def _outside(conditions: pd.DataFrame) -> str:
    """How far the experiment is outside Theorem 5.1, in words; empty if it is inside."""
    least, beyond = conditions["penalty_over_least"].min(), conditions["over_upper_end"].max()
    if least > 1 and beyond <= 1 and conditions["probability"].min() > 0:
        return ""
    return (
        f"Theorem 5.1 promises it nothing (λ is {least:.2g} of C²/L, α²μ⁴ up to {beyond:.0e} times the upper end of "
        f"(5.2), the probability 1 − 5κ = {conditions['probability'].min():g})"
    )


def _few_steps(heads: pd.DataFrame) -> pd.DataFrame:
    """Rows along L of runs with noise of their own at the T nearest to log N, if one is of its order."""
    rows = _along(heads, noise="independent")
    off = np.log(rows["T"] / np.log(rows["N"])).abs()
    return rows[(off == off.min()) & (off <= np.log(OF_ORDER))]


def _many_steps(heads: pd.DataFrame) -> pd.DataFrame:
    """Rows along L of runs with noise of their own at the largest T."""
    return _along(heads, noise="independent", T=heads["T"].max())


def judge_theorem_51_noisyhead(heads: pd.DataFrame, path: pd.DataFrame) -> Judgement:
    """Theorem 5.1, first inequality: NoisyHead moves by at most the order of N L⁻² log²(NL/κ), whatever T and ε."""
    few, many = _few_steps(heads), _many_steps(heads)
    if few.empty or min(few["L"].nunique(), many["L"].nunique(), len(path)) < 2:
        return Judgement(Verdict.UNTESTABLE, "no T of the order of log N, or a single L, shows no rate")
    texts, powers = zip(*(_ratio_along(rows) for rows in (many, few)), strict=True)
    far, small = (path[name] / path["bound_theorem"] for name in ("bound_few_steps", "bound_small_penalty"))
    evidence = f"{texts[0]}, since ‖Z‖ does not shrink like C/√L; {texts[1]}"
    if max(powers) < DIVERGES:
        return Judgement(Verdict.HOLDS, evidence)
    if powers[1] >= DIVERGES or far.iloc[-1] > max(1.0, far.iloc[0]):
        return Judgement(Verdict.FAILS, evidence)
    return Judgement(
        Verdict.AMENDED,
        f"{evidence}; for T of order log N and λ of order one, which the theorem does not ask for, it holds: along "
        f"L = N^(3/4) its proven bound at T = ⌈log N⌉ is {far.iloc[0]:.2g} of the right side at N = "
        f"{path['N'].iloc[0]:.0e} and {far.iloc[-1]:.0e} of it at {path['N'].iloc[-1]:.0e}, while T → ∞ gives "
        "2R²E‖Z‖²/D², of the order λ⁻²C⁴N/L, and at a λ just above C²/L the proven bound is "
        f"{small.iloc[0]:.2g} to {small.iloc[-1]:.0e} times the right side; "
        f"{_attack_alone(heads)}",
    )


def _ratio_along(rows: pd.DataFrame) -> tuple[str, float]:
    """Left over right of (5.3)'s first inequality along L, in words, and its power of L."""
    ratio = rows["displacement"] / rows["bound_theorem"]
    power = _power(rows["L"], ratio)
    first, last = rows.iloc[0], rows.iloc[-1]
    text = (
        f"at T = {first['T']} left over right, constants one, goes from {ratio.iloc[0]:.2g} at L = {first['L']} to "
        f"{ratio.iloc[-1]:.2g} at L = {last['L']}, like L^{power:.2f}"
    )
    return text, power


def _attack_alone(heads: pd.DataFrame) -> str:
    common = heads[heads["noise"] == "common"]
    share = (common["displacement"] / common["bound_amended"]).max()
    return (
        f"what the attack itself does, on common noise, {common['displacement'].max():.0e} at most here, is at most "
        f"{share:.2g} of (η₀σ/N)²(Σ aᵗ)² E‖Z‖²/D²"
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
    ratio, short = admissible["displacement"] / admissible["claimed"], _falls_short(admissible)
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
    amended, saved = _under_the_amended_condition(perturbations)
    larger = int((admissible["claimed"] >= 1).sum())
    return Judgement(
        Verdict.AMENDED if saved else Verdict.FAILS,
        f"{evidence}; at the upper end of (5.2) and μ = 1 the ratio goes like L^{powers[0]:.2f} with y_{{L+1}} left as "
        f"it is, L^{powers[1]:.2f} with it shifted, to {ratio[upper[1].index[-1]]:.0e} at L = {upper[1]['L'].max()}, "
        "which by Markov bounds the probability of the inequality; nor is it what the proof gives: (A.23), (A.24) "
        "bound a norm, and its square, (α²μ²/(Nλ))², is at least α²μ²/(Nλ) for α²μ² ≥ Nλ alone, here for "
        f"{larger} of {len(admissible)}; {amended}",
    )


def _falls_short(rows: pd.DataFrame) -> pd.Series:
    """Where the displacement, two standard errors added, is below what is claimed."""
    return rows["displacement"] + 2 * rows["standard_error"] < rows["claimed"]


def _under_the_amended_condition(perturbations: pd.DataFrame) -> tuple[str, bool]:
    """(5.3)'s third inequality where ‖Z_bad‖² ≲ Nλ and y_{L+1} is shifted, in words, and whether it holds there.

    The displacement and its claimed bound are compared as powers of α²μ² between the two ends, at the largest L.
    """
    rows = perturbations[perturbations["admissible_amended"] & (perturbations["response"] == SHIFTED)]
    ends = [_along(rows, perturbation=name).tail(1) for name in (AMENDED_SMALL_LOWER, AMENDED_SMALL)]
    condition = f"with the upper end that (A.22) needs, c_ℓ = {LEAST_CONSTANT:g} and y_{{L+1}} shifted"
    if any(end.empty for end in ends):
        return f"(5.2) {condition} admits no pair of perturbations to compare", False
    kept, pair = ~_falls_short(rows), pd.concat(ends)
    power = _power(pair["claimed"], pair["displacement"])
    text = (
        f"under (5.2) {condition} it holds for {int(kept.sum())} of {len(rows)}, and from its lower to its upper end "
        f"at L = {pair['L'].iloc[0]} the displacement goes like the power {power:.2f} of the claimed bound"
    )
    return text, bool(kept.all()) or power < 1 + DIVERGES


def judge_remark_51_window(simplified: pd.DataFrame, windows: pd.DataFrame) -> Judgement:
    """Remark 5.1: for λ ≍ 1, (5.2) reduces to N²/L² ≲ α²μ² ≤ α²μ⁴ ≲ NL."""
    if simplified["N"].nunique() < 2:
        return Judgement(Verdict.UNTESTABLE, "a single N shows no rate")
    grown = {q: _far_power(rows) for q, rows in simplified.groupby("power")}
    bounded = [q for q, power in grown.items() if power < POWER_OF_N]
    beyond = [q for q in grown if q not in bounded]
    inside = windows[windows["penalty_over_least"] > 1]
    shut = int((~inside["open_at_mu_1"]).sum())
    if not bounded:
        return Judgement(
            Verdict.FAILS, f"the lower end of (5.2) over N²/L² grows at least like N^{min(grown.values()):.2f}"
        )
    if not beyond and not shut:
        return Judgement(Verdict.HOLDS, "the lower end of (5.2) is N²/L² up to logarithms, and the window is open")
    known = simplified[simplified["power"] == bounded[-1]].sort_values("N")
    return Judgement(
        Verdict.AMENDED,
        f"the lower end of (5.2) over N²/L² goes like logarithms for L = N^{bounded[-1]:g} and below (from "
        f"{known['ratio'].iloc[0]:.0e} at N = {known['N'].iloc[0]:.0e} to {known['ratio'].iloc[-1]:.0e} at "
        f"{known['N'].iloc[-1]:.0e}), {_beyond(grown, beyond)}; α²μ² ≤ α²μ⁴ asks for μ ≥ 1, which (5.2) does not, and "
        f"then the window is empty at {shut} of {len(inside)} pairs of L and λ > C²/L tried",
    )


def _far_power(rows: pd.DataFrame) -> float:
    """Power of N in the ratio between the two largest N."""
    far = rows.sort_values("N").tail(2)
    return _power(far["N"], far["ratio"])


def _beyond(grown: dict[float, float], beyond: list[float]) -> str:
    if not beyond:
        return "and for no L tried like a power of N"
    return f"but like N^{grown[beyond[0]]:.2f} for L = N^{beyond[0]:g}: it needs L ≲ N^(4/3), up to logarithms"


def judge_remark_51_divergence(perturbations: pd.DataFrame, heads: pd.DataFrame, path: pd.DataFrame) -> Judgement:
    """Remark 5.1: some admissible perturbation sends ridge's displacement to infinity, NoisyHead's tends to zero."""
    left, shifted = (_along(perturbations, perturbation=SMALL, response=r, admissible=True) for r in RESPONSES)
    private = _few_steps(heads)
    powers = [_power(rows["L"], rows["displacement"]) for rows in (left, shifted, private)]
    if not all(np.isfinite(p) for p in powers) or len(path) < 2:
        return Judgement(
            Verdict.UNTESTABLE, "too few L at which the perturbation is admissible, or no T of order log N"
        )
    few, many = (_power(path["N"], path[name]) for name in ("bound_few_steps", "limit_many_steps"))
    ours = perturbations[perturbations["response"] == LEFT]
    evidence = (
        f"with y_{{L+1}} left as it is, as (5.1) has it, ridge's displacement is below {ours['bound'].max():.1e} here "
        f"for every α and μ (measured: at most {ours['displacement'].max():.1e})"
    )
    if not (powers[2] < -DIVERGES and few < -POWER_OF_N):
        return Judgement(
            Verdict.FAILS, f"NoisyHead's displacement goes like L^{powers[2]:.2f}, not to zero; {evidence}"
        )
    if powers[0] > DIVERGES and many < 0:
        return Judgement(Verdict.HOLDS, f"ridge's displacement grows like L^{powers[0]:.2f}, NoisyHead's falls")
    if powers[1] <= DIVERGES:
        return Judgement(Verdict.FAILS, f"{evidence}; shifted by α as well it goes like L^{powers[1]:.2f}")
    return Judgement(
        Verdict.AMENDED,
        f"{evidence}; with y_{{L+1}} shifted by α as well and μ = (LD)^(-1/2) at the upper end of (5.2), it does "
        f"diverge, like L^{powers[1]:.2f} up to {shifted['displacement'].iloc[-1]:.2g} at L = {shifted['L'].iloc[-1]}, "
        f"{_both_times(heads, path)}",
    )


def _both_times(heads: pd.DataFrame, path: pd.DataFrame) -> str:
    """NoisyHead's displacement for few and for many steps, measured along L and in closed form along N, in words."""
    few, many = (
        f"like L^{_power(rows['L'], rows['displacement']):.2f} at T = {rows['T'].iloc[0]}"
        for rows in (_few_steps(heads), _many_steps(heads))
    )
    least, limit = (path[name] for name in ("bound_few_steps", "limit_many_steps"))
    return (
        f"while NoisyHead's goes {few}, {many} at fixed N; along L = N^(3/4) from N = {path['N'].iloc[0]:.0e} to "
        f"{path['N'].iloc[-1]:.0e} its bound at T = ⌈log N⌉ falls from {least.iloc[0]:.1e} to {least.iloc[-1]:.1e}, "
        f"but its limit for T → ∞ goes from {limit.iloc[0]:.1e} to {limit.iloc[-1]:.1e}: T has to be of order log N"
    )


def judge_equation_a20(heads: pd.DataFrame) -> Judgement:
    """(A.20): two heads in the ball of radius R differ by at most C²R²/L on a clean prompt."""
    few, many = _few_steps(heads), _many_steps(heads)
    over = {name: _above(rows, "displacement", "bound_ball") for name, rows in (("few", few), ("many", many))}
    apart = many["bound_amended"] / many["bound_ball"]
    last = many.iloc[-1]
    evidence = (
        f"two runs at T = {last['T']} differ by {last['displacement'] / last['bound_ball']:.2g} times the bound at L = "
        f"{last['L']}, two heads at opposite ends of the ball by {apart.iloc[-1]:.2g} times, growing like "
        f"L^{_power(many['L'], apart):.2f}: the ball gives 4R²E‖Z‖²/D² in the mean"
    )
    if not over["many"].any():
        return Judgement(Verdict.HOLDS, evidence)
    if few.empty or over["few"].any() or few["T"].iloc[0] == last["T"]:
        return Judgement(Verdict.FAILS, evidence)
    share = (few["displacement"] / few["bound_ball"]).max()
    return Judgement(
        Verdict.AMENDED,
        f"{evidence}; for T of order log N the outputs keep (A.20), not by the ball but by their noise: at T = "
        f"{few['T'].iloc[0]} they differ by at most {share:.1g} of it",
    )


def _above(rows: pd.DataFrame, measured: str, bound: str) -> pd.Series:
    """Where the measured mean, two standard errors subtracted, is above the bound."""
    return rows[measured] - 2 * rows["standard_error"] > rows[bound]


def judge_equation_a21(gram: pd.DataFrame) -> Judgement:
    """(A.21): the clean prompts' Gram matrix has norm at most C²N/L, below Nλ."""
    rows = _along(gram)
    ratio, last = rows["norm"] / rows["bound"], rows.iloc[-1]
    evidence = (
        f"‖Σ vec(Z)vec(Z)ᵀ‖_F/N is {last['norm']:.4f} ± {last['standard_error']:.0e} at L = {last['L']}, where "
        f"C²/L is {last['bound']:.4f}"
    )
    if not _above(rows, "norm", "bound").any():
        return Judgement(Verdict.HOLDS, evidence)
    power = _power(rows["L"], ratio)
    if not np.isfinite(power):
        return Judgement(Verdict.UNTESTABLE, f"{evidence}; a single L shows no rate")
    if power < DIVERGES:
        return Judgement(Verdict.AMENDED, f"{evidence}, a constant factor")
    near = (gram["norm"] / gram["closed_form"] - 1).abs().max()
    return Judgement(
        Verdict.FAILS,
        f"{evidence}: left over right goes like L^{power:.2f}, as the left side is {{(1 − 1/N)(e/D)² + "
        f"E‖Z‖⁴/N}}^(1/2), e = E‖Z‖² → 1/D (all {len(gram)} rows within {100 * near:.1f} % of it); it stays "
        "below λ for λ > e/D and large N, which is what the proof needs in place of λ > C²/L",
    )


def judge_equation_a22(perturbations: pd.DataFrame) -> Judgement:
    """(A.22): ‖Z_bad‖² is at most of the order α²μ⁴/L, below Nλ."""
    ours = perturbations[perturbations["axis"] == "L"].sort_values("L")
    powers = {
        (name, response): _power(rows["L"], rows["energy"] / rows["energy_claimed"])
        for (name, response), rows in ours.groupby(["perturbation", "response"])
    }
    if not all(np.isfinite(power) for power in powers.values()):
        return Judgement(Verdict.UNTESTABLE, "a single L shows no rate")
    ratio = ours["energy"] / ours["energy_claimed"]
    steep = [key for key, power in powers.items() if power >= DIVERGES]
    last = ours[(ours["perturbation"] == UPPER) & (ours["response"] == LEFT)].iloc[-1]
    evidence = (
        f"‖Z_bad‖² over C²/L + α²μ⁴/L is {ratio.min():.1e} to {ratio.max():.1e} over {len(ours)} perturbations, at the "
        f"upper end of (5.2) like L^{powers[UPPER, LEFT]:.2f} for μ = 1 and L^{powers[SMALL, LEFT]:.2f} for μ = "
        f"(LD)^(-1/2); at L = {last['L']} and μ = 1 it is {last['energy_over_N_penalty']:.1e} times Nλ"
    )
    if not steep:
        return Judgement(Verdict.HOLDS, evidence)
    if not ours.loc[[(n, r) in steep for n, r in zip(ours["perturbation"], ours["response"])], "mu"].ge(1).any():
        return Judgement(Verdict.AMENDED, f"{evidence}: it needs a μ that does not fall with L")
    return Judgement(Verdict.FAILS, f"{evidence}; {_energy_in_closed_form(perturbations)}")


def _energy_in_closed_form(perturbations: pd.DataFrame) -> str:
    score = ((perturbations["energy"] - perturbations["energy_closed_form"]) / perturbations["energy_error"]).abs()
    admitted = perturbations[perturbations["admissible_amended"]]
    largest = admitted["energy_over_N_penalty"].max()
    below = (
        f"the {len(admitted)} perturbations that keep to it have at most {largest:.2g} Nλ"
        if len(admitted)
        else "none of those tried keeps to it"
    )
    return (
        "a common shift does not average out over the tokens: the order is (1 + Dμ²)α²{(1 + Dμ²)/L + Dμ²} (closed "
        f"form, median deviation {score.median():.1f} standard errors), which (5.2) has to ask to be ≲ Nλ; {below}"
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
        "prompt, and for a matrix that stays and is at least Nλ the inequality points the other way; what holds is the "
        "rank-one formula, whose step is divided by 1 + vec(Z')ᵀA⁻¹vec(Z')",
    )


def judge_equation_a24(perturbations: pd.DataFrame) -> Judgement:
    """(A.24): ‖y'Z' − yZ‖ is at least α²μ²."""
    at = perturbations[perturbations["admissible"]]
    left, shifted = (at.loc[at["response"] == r, "a24_frequency"] for r in RESPONSES)
    if left.empty or shifted.empty:
        return Judgement(Verdict.UNTESTABLE, "(5.2) with constants one admits none of the perturbations tried")
    evidence = (
        f"in {left.mean():.0%} of the data sets with y_{{L+1}} left as it is, as (5.1) has it; in "
        f"{shifted.mean():.0%} if it is shifted by α as well"
    )
    if left.min() >= CERTAIN:
        return Judgement(Verdict.HOLDS, evidence)
    return Judgement(Verdict.AMENDED if shifted.min() >= CERTAIN else Verdict.FAILS, evidence)
