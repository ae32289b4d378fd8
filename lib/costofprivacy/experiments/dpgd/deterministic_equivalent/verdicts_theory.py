"""Verdicts on the equations of Section 4 and on Appendix C of arXiv:2505.16329v2: pure functions of the tables."""

from __future__ import annotations

import math

import pandas as pd

from costofprivacy.claims import Judgement, Verdict
from costofprivacy.experiments.dpgd.deterministic_equivalent.homogenised import ANGLES, SCALE, TAIL, TIMES

CONSISTENT = 4.0  # standard errors
FINITE = 2.0  # over d: half the variance of ‖x‖²/d, tr Σ²/d² ≤ λ_max/d, which second order may cost a step's mean
SOLVED = 1e-5  # relative difference of two solutions of one equation
CLEARED = -0.01  # a bound with a smaller margin, in parts of the risk, fails
APART = 0.1  # relative difference that is no rounding
LEVEL = 1.2  # a ratio to a bound that stays below this multiple of its first value has not grown
FLAT = 0.5  # growth of a logarithm, over the range of ‖θ*‖², that is none
ALLOWED = math.log(1 - TAIL) / math.log(1 - SCALE)  # the tail of (C.17) and (C.26) over their value at y = 1
GRIDS = {"risk": f"{len(TIMES)} times", "resolvents": f"{len(TIMES)} times and {len(ANGLES)} angles of z"}
TOO_FEW = Judgement(Verdict.UNTESTABLE, "fewer than two sizes, or too few trials to tell the two readings apart")


def judge_definition_42(one_step: pd.DataFrame, identities: pd.DataFrame) -> Judgement:
    """Definition 4.2: the drift of D_i, term by term, and a solution that two solvers share."""
    rows = _largest(one_step, "d")
    d, ratio = rows["d"].iloc[0], rows["value"] / rows["derived"]
    off = _deviation(rows, "derived")
    gap = _identity(identities, "(4.7), exponential integrator and LSODA")
    if off > CONSISTENT or gap > SOLVED:
        return Judgement(
            Verdict.FAILS,
            f"a step's mean is {off:.1f} standard errors from (4.7), and two solvers differ by {gap:.0e} of R",
        )
    return Judgement(
        Verdict.HOLDS,
        f"all three terms are the mean of a step of Algorithm 1: at d = {d} each is {ratio.min():.3f} to "
        f"{ratio.max():.3f} times that of (4.7), within {FINITE:g}/d = {FINITE / d:.4f} and "
        f"{CONSISTENT:g} standard errors; two independent solvers find the same R(t) to {gap:.0e}, and there is no "
        "other: μ_c and ν_c𝒫 are Lipschitz in R where ζ > 0, so the theorem of Picard and Lindelöf applies",
    )


def judge_equation_c7(one_step: pd.DataFrame) -> Judgement:
    """(C.7): is the sampling term halved?"""
    rows = _largest(one_step, "d")
    rows = rows[rows["term"] == "sampling"]
    ratio = float((rows["value"] / rows["printed"]).mean())
    derived, printed = _deviation(rows, "derived"), _deviation(rows, "printed")
    if min(derived, printed) > CONSISTENT:
        return Judgement(Verdict.FAILS, f"the sampling term is {ratio:.2f} times the printed one")
    if max(derived, printed) <= CONSISTENT:
        return TOO_FEW
    if printed <= CONSISTENT:
        return Judgement(Verdict.HOLDS, f"the sampling term is {ratio:.2f} times the printed one")
    return Judgement(
        Verdict.AMENDED,
        f"measured over steps at d = {rows['d'].iloc[0]} the sampling term is {ratio:.2f} times the printed one: "
        "without its ½, as in (C.9) and (4.7), it is right; the same ½ stands in (C.8) and (C.33)",
    )


def judge_equation_411(identities: pd.DataFrame) -> Judgement:
    """(4.11): d equations with Σ = I and one."""
    gap = _identity(identities, "(4.11), d equations and one")
    fine = gap <= SOLVED
    text = f"for Σ = I the d equations with unequal D_i(0) and the single one differ by {gap:.0e} of R"
    return Judgement(Verdict.HOLDS if fine else Verdict.FAILS, text)


def judge_equation_412(enclosure: pd.DataFrame) -> Judgement:
    """(4.12): for Σ = I its two equations are (4.11), which has η̄."""
    rows = enclosure[enclosure["spectrum"] == "isotropic"]
    difference = (rows[["lower", "upper"]].sub(rows["risk"], axis=0).abs().max(axis=1) / rows["risk"]).groupby(
        [rows["reading"], rows["share_of_cap"] > 1]
    )
    worst = difference.max()
    inside = worst.drop(("printed", True), errors="ignore").max()
    beyond = worst.get(("printed", True), math.nan)
    if inside > APART:
        return Judgement(Verdict.FAILS, f"for Σ = I they differ from (4.11) by {inside:.2g} of R")
    if not beyond > APART:
        return Judgement(Verdict.HOLDS, "for Σ = I both equations are (4.11) in all cases tried")
    return Judgement(
        Verdict.AMENDED,
        f"for Σ = I both are (4.11) while η̃ ≤ 2/γ; beyond, with η̃ where (4.11) has η̄, they are off by up to "
        f"{beyond:.2g} times R; with η̄ they agree throughout",
    )


def judge_equation_413(enclosure: pd.DataFrame) -> Judgement:
    """(4.13): do R̲ and R̄ enclose R?"""
    return _enclosure(
        enclosure,
        "η̃ ≤ 2/γ is missing, or η̄ for η̃: with η̄ both sides hold in all {cases} cases",
    )


def judge_proposition_d1(enclosure: pd.DataFrame) -> Judgement:
    """Proposition D.1: the same, with its proof's step on tr Σ²."""
    return _enclosure(
        enclosure,
        "with η̄, and with tr Σ² ≤ λ_max tr Σ in the proof, which has it from the wrong side, it holds in all {cases} "
        "cases; neither monotonicity of μ nor of ν𝒫 is needed",
    )


def _enclosure(enclosure: pd.DataFrame, cure: str) -> Judgement:
    margins = enclosure[["lower_margin", "upper_margin"]].min(axis=1)
    broken = margins < CLEARED
    corrected = enclosure["reading"] == "corrected"
    if (broken & corrected).any():
        return Judgement(Verdict.FAILS, f"with η̄ a bound fails by {-margins[corrected].min():.2g} of R")
    if not broken.any():
        return Judgement(Verdict.HOLDS, f"R lies between the two in all {corrected.sum()} cases tried")
    inside = enclosure[broken & (enclosure["share_of_cap"] <= 1)]
    if len(inside):
        return Judgement(Verdict.FAILS, f"a bound fails by {-margins[inside.index].min():.2g} of R with η̃ ≤ 2/γ")
    low, high = (-enclosure.loc[broken, name].min() for name in ("lower_margin", "upper_margin"))
    return Judgement(
        Verdict.AMENDED,
        f"as printed, with η̃ beyond 2/γ, R̲ exceeds R by up to {max(low, 0):.2g} R and R̄ falls below it by up to "
        f"{max(high, 0):.2g} R; " + cure.format(cases=int(corrected.sum())),
    )


def judge_equation_414(homogenised: pd.DataFrame) -> Judgement:
    """(4.14): which drift has the risk of Algorithm 1?"""
    return _tracking(homogenised, "risk", "the drift −2η̄μ∇𝒫 is twice that of Algorithm 1 and of (4.7)")


def judge_definition_c1(homogenised: pd.DataFrame) -> Judgement:
    """Definition C.1: the same drift; (C.9) and (C.27), which follow from it, have the right one."""
    return _tracking(homogenised, "risk", "Itô's formula on (C.1) gives (C.9) and (C.27) for half of its drift only")


def judge_remark_43(homogenised: pd.DataFrame) -> Judgement:
    """Remark 4.3: does the risk of the diffusion track that of Algorithm 1?"""
    return _tracking(homogenised, "risk", "the diffusion tracks Algorithm 1 once the 2 of its drift is dropped")


def judge_theorem_5(homogenised: pd.DataFrame) -> Judgement:
    """Theorem 5: do all quadratics of (C.2)?"""
    return _tracking(homogenised, "resolvents", "the diffusion tracks Algorithm 1 once the 2 of its drift is dropped")


def _tracking(table: pd.DataFrame, quantity: str, finding: str) -> Judgement:
    """Whether sup |q(Θ) − q(θ)| stays within a multiple of log²n/√n, with the drift derived and the drift printed."""
    if table["n"].nunique() < 2:
        return TOO_FEW
    derived, printed = (_by_size(table, f"{quantity}, {drift} drift") for drift in ("derived", "printed"))
    if _rises(derived):
        return Judgement(
            Verdict.FAILS, f"with the derived drift the distance outgrows log²n/√n, n up to {_size(table)}"
        )
    last, other = derived.iloc[-1], printed.iloc[-1]
    apart = (other["value"] - last["value"]) / math.hypot(other["standard_error"], last["standard_error"])
    powers = [_power(rows) for rows in (derived, printed)]
    if apart < -CONSISTENT:
        return Judgement(Verdict.HOLDS, f"the printed drift is nearer, {other['value']:.2g} at n = {_size(table)}")
    if apart < CONSISTENT:
        return TOO_FEW
    return Judgement(
        Verdict.AMENDED,
        f"{finding}: at n = {_size(table)} the mean of the largest distance at {GRIDS[quantity]} is "
        f"{last['value']:.4f} ± {last['standard_error']:.4f}, falling like n^{powers[0]:.2f}; as "
        f"printed it is {other['value']:.4f} ± {other['standard_error']:.4f}, falling like n^{powers[1]:.2f}",
    )


def judge_equation_422(sums: pd.DataFrame) -> Judgement:
    """(4.22): the noise before the last step, and by how much the last one is larger."""
    if sums["n"].nunique() < 2:
        return TOO_FEW
    error = [_sum(sums, f"(4.22), {name}") for name in ("harmonic", "square root")]
    jump = _sum(sums, "last over the one before, harmonic")
    none = _sum(sums, "last over the one before, square root")["value"].abs().max()
    steady = (error[0]["value"] * error[0]["n"]).iloc[[0, -1]]
    fine = steady.iloc[1] <= LEVEL * steady.iloc[0] and error[1]["value"].max() < SOLVED and none == 0
    ratio = float((jump["value"] / jump["printed"]).iloc[-1])
    text = (
        f"n³σ_k² is σ̃²(k/n) up to {error[0]['value'].iloc[-1]:.1e} of it at n = {_size(sums)} (like 1/n; exactly for "
        f"α = ½), and σ_n² is {jump['value'].iloc[-1]:.0f} times the noise before it where η̃(1) > 0, which is "
        f"{ratio:.2f} times n η̃²/|dη̃²/dt|, and 0 for η̃(1) = 0"
    )
    return Judgement(Verdict.HOLDS if fine and abs(ratio - 1) < APART else Verdict.FAILS, text)


def judge_lemma_c2(sums: pd.DataFrame, homogenised: pd.DataFrame) -> Judgement:
    """Lemma C.2: the discretisation error against (C.16), the martingale against (C.17)."""
    if min(sums["n"].nunique(), homogenised["n"].nunique()) < 2:
        return TOO_FEW
    rows = sums[sums["quantity"].str.startswith("(C.16)")]
    if (rows["value"] > rows["derived"]).any():
        return Judgement(Verdict.FAILS, "the error exceeds γ_n²c²C_(η,2)/(ρ²n)")
    if not _light(homogenised, "private noise"):
        return Judgement(Verdict.FAILS, f"the martingale has {_tail(homogenised, 'private noise')}")
    worst, within = (float((rows["value"] / rows[bound]).max()) for bound in ("printed", "derived"))
    tail = _tail(homogenised, "private noise")
    if worst <= 1:
        return Judgement(Verdict.HOLDS, f"the error is at most {worst:.2g} of (C.16), and the martingale's {tail}")
    return Judgement(
        Verdict.AMENDED,
        f"the error reaches {worst:.2g} times (C.16), which has lost a factor γ_nc², and {within:.2f} times "
        "γ_n²c²C_(η,2)/(ρ²n): γ_n = d/n is of order one where d grows like n, and the power 1/n stays; "
        "the martingale, with −2c√d σ_kη̄_k⟨b, ∇²q ḡ⟩ in the place of half of that with the other sign in (C.8), has "
        f"{tail}",
    )


def judge_lemma_c3(homogenised: pd.DataFrame) -> Judgement:
    """Lemma C.3: the martingale of the diffusion."""
    if homogenised["n"].nunique() < 2:
        return TOO_FEW
    light = _light(homogenised, "diffusion")
    return Judgement(
        Verdict.HOLDS if light else Verdict.FAILS,
        f"on the diffusion with the derived drift its supremum has {_tail(homogenised, 'diffusion')}",
    )


def judge_lemma_c4(growth: pd.DataFrame) -> Judgement:
    """Lemma C.4: does one constant C serve for every θ*?"""
    plain, shifted = (growth[growth["quantity"] == name].sort_values("squared_norm") for name in ("‖v‖²", "1 + ‖v‖²"))
    if len(plain) < 2:
        return TOO_FEW
    rise, other = (float(rows["value"].iloc[0] - rows["value"].iloc[-1]) for rows in (plain, shifted))
    if other > FLAT:
        return Judgement(Verdict.FAILS, f"log sup (1 + ‖v‖²)/(1 + ‖v_0‖²) grows by {other:.1f} as ‖θ*‖² falls")
    if rise <= FLAT:
        return Judgement(Verdict.HOLDS, f"log sup ‖v‖²/‖v_0‖² changes by {rise:.1f} over the ‖θ*‖² tried")
    return Judgement(
        Verdict.AMENDED,
        f"as ‖θ*‖² falls from {plain['squared_norm'].iloc[-1]:g} to {plain['squared_norm'].iloc[0]:g}, "
        f"log sup ‖v‖²/‖v_0‖² rises by {rise:.1f}, so C depends on ‖θ*‖ too; the proof's own log(1 + ‖v‖²) gives "
        f"1 + ‖·‖² on both sides, for which it changes by {other:.1f}",
    )


def judge_lemma_c5(sums: pd.DataFrame) -> Judgement:
    """Lemma C.5: the random cap in the place of 2/d, in the mean over the features, both lines of (C.33)."""
    rows = sums[sums["quantity"].str.startswith("(C.32)")].assign(ratio=lambda r: r["value"] / r["printed"])
    if rows["n"].nunique() < 2:
        return TOO_FEW
    ends = rows.sort_values("n").groupby("quantity")["ratio"].agg(["first", "last"])
    fine = (ends["last"] <= LEVEL * ends["first"]).all()
    at, squares = (_sum(sums, f"(C.32), at the cap{line}") for line in ("", ", squares"))
    below = _sum(sums, "(C.32), below the cap")["value"].iloc[-1]
    return Judgement(
        Verdict.HOLDS if fine else Verdict.FAILS,
        f"in the mean over the features it shifts the sum of the learning rates, the first line of (C.33), by "
        f"{at['value'].iloc[-1]:.2g} at η̃ = 2/γ and n = {_size(sums)}, falling like n^{_power(at):.2f}, and d/2 times "
        f"the sum of their squares, the second, by {squares['value'].iloc[-1]:.2g}, like n^{_power(squares):.2f}; the "
        f"first by {below:.0e} at η̃ = 1/γ; the deviations from the mean are not measured",
    )


def _largest(table: pd.DataFrame, column: str) -> pd.DataFrame:
    return table[table[column] == table[column].max()]


def _deviation(rows: pd.DataFrame, reading: str) -> float:
    """The largest distance from a reading in standard errors, less what a finite d may do."""
    allowed = FINITE / rows["d"] * rows[reading].abs()
    beyond = ((rows["value"] - rows[reading]).abs() - allowed).clip(lower=0)
    return float((beyond / rows["standard_error"]).max())


def _identity(identities: pd.DataFrame, name: str) -> float:
    return float(identities.set_index("identity").loc[name, "relative_difference"])


def _by_size(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    return table[table["quantity"] == quantity].sort_values("n")


def _sum(sums: pd.DataFrame, quantity: str) -> pd.DataFrame:
    return _by_size(sums, quantity)


def _size(table: pd.DataFrame) -> int:
    return int(table["n"].max())


def _rises(rows: pd.DataFrame) -> bool:
    """Whether the ratio to the bound at the last n is beyond doubt above that at the first."""
    ratio, error = rows["value"] / rows["bound"], rows["standard_error"] / rows["bound"]
    return bool(ratio.iloc[-1] - LEVEL * ratio.iloc[0] > CONSISTENT * math.hypot(error.iloc[-1], error.iloc[0]))


def _power(rows: pd.DataFrame) -> float:
    """The exponent of n from the first to the last size."""
    ends = rows.sort_values("n").iloc[[0, -1]]
    value, n = ends["value"].to_numpy(), ends["n"].to_numpy()
    return math.log(value[1] / value[0]) / math.log(n[1] / n[0])


def _martingale_grows(table: pd.DataFrame, which: str) -> bool:
    """Whether √n times the mean supremum is beyond doubt larger at the last n than at the first."""
    rows = _by_size(table, f"martingale of the {which}")
    return _rises(rows.assign(bound=rows["n"] ** -0.5))


def _light(table: pd.DataFrame, which: str) -> bool:
    """Whether √n times the mean supremum does not grow, and at no n the tail is above e^(−y), C taken from y = 1."""
    rows = _by_size(table, f"martingale of the {which}")
    return not _martingale_grows(table, which) and bool((rows["tail"] <= ALLOWED * rows["scale"]).all())


def _tail(table: pd.DataFrame, which: str) -> str:
    rows = _by_size(table, f"martingale of the {which}")
    last = rows.iloc[-1]
    return (
        f"a mean that goes like n^{_power(rows):.2f} to {last['value']:.3f} at n = {last['n']:.0f}, and a "
        f"{100 * TAIL:.0f} % quantile at most {(rows['tail'] / rows['scale']).max():.2f} times that of "
        f"{100 * SCALE:.0f} % (y = 1), where e^(−y) allows {ALLOWED:.1f}; the {last['trials']:.0f} paths at each n "
        "bear no quantile much higher"
    )
