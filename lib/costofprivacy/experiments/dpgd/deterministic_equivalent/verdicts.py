"""Verdicts on Theorem 1, Proposition 4.4 and Figure 1 of arXiv:2505.16329v2: pure functions of the tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.claims import Judgement, Verdict
from costofprivacy.experiments.dpgd.deterministic_equivalent.rates import KINK, TIMES

CONSISTENT = 4.0  # standard errors
NEARLY_EVERY = 0.9  # share of the times of all panels at which R(t) is to lie inside the band
FEWEST_SIZES = 3  # numbers of samples that show a trend
SHARPER = -0.8  # an exponent below this one is nearer to -1 than to -1/2

ASSUMPTION_1 = Judgement(
    Verdict.UNTESTABLE,
    "an assumption, and one that every run of this chapter but those on other laws of the features meets; it keeps "
    "ζ > 0, which the proof needs for Lipschitz factors, and ties the trace to d, which (4.23) uses",
)
ASSUMPTION_2 = Judgement(
    Verdict.UNTESTABLE,
    "an assumption; it leaves out that η̃ must not increase, without which (4.2) asks for σ_k² < 0, and the sentence "
    "after it equates the norm of a gradient, ‖x‖·|r|, with ‖x‖√(2𝒫), where √(2𝒫) is the root mean square of r",
)


def judge_figure_1(table: pd.DataFrame) -> Judgement:
    """Figure 1: at the largest d the curve R(t) lies inside the band, and runs close in on it as d grows."""
    if table["d"].nunique() < 2:
        return Judgement(Verdict.UNTESTABLE, "a single dimension shows no trend")
    later = table[table["t"] > 0]
    error = later["ode_risk"] - later["risk_mean"]
    marked = later.assign(inside=error.abs() <= later["risk_sd"], square=error**2 + later["risk_sd"] ** 2)
    panels = ["spectrum", "alpha"]
    at_largest = marked[marked["d"] == marked["d"].max()]
    share, worst = at_largest["inside"].mean(), at_largest.groupby(panels)["inside"].mean().min()
    distance = marked.groupby([*panels, "d"])["square"].mean().pow(0.5).unstack("d")
    first, last = distance.columns[0], distance.columns[-1]
    shrinks = distance[first] / distance[last]
    evidence = (
        f"at d = {last} R(t) lies inside the band of one standard deviation at {100 * share:.0f} % of the times, "
        f"{100 * worst:.0f} % in the worst of {len(shrinks)} panels, and a run's distance from it is "
        f"{shrinks.min():.1f} to {shrinks.max():.1f} times smaller than at d = {first}, √d being "
        f"{(last / first) ** 0.5:.1f} times larger"
    )
    fine = share >= NEARLY_EVERY and shrinks.min() > 1
    return Judgement(Verdict.HOLDS if fine else Verdict.FAILS, evidence)


TOO_FEW = Judgement(Verdict.UNTESTABLE, f"fewer than {FEWEST_SIZES} numbers of samples show no trend")


def _too_few(rates: pd.DataFrame) -> bool:
    return bool(rates["n"].nunique() < FEWEST_SIZES)


def _judge_rate(rates: pd.DataFrame, quantities: tuple[str, ...], what: str, also: str = "") -> Judgement:
    """Whether a deviation over log²n/√n has at the largest n not left the range that it has at the smaller ones."""
    chosen = rates[rates["quantity"].isin(quantities)]
    excess = [_above_the_past(rows) for _, rows in chosen.groupby(["spectrum", "schedule", "quantity"])]
    sizes = f"from n = {rates['n'].min()} to {rates['n'].max()}"
    if max(excess) > CONSISTENT:
        return Judgement(
            Verdict.FAILS,
            f"{what}, over log²n/√n, is at the largest n {max(excess):.1f} standard errors above all that it was at "
            f"smaller n, {sizes}",
        )
    return Judgement(Verdict.HOLDS, f"{what} falls {exponents(chosen)} {sizes}{also}")


def _above_the_past(rows: pd.DataFrame) -> float:
    """How many standard errors the last ratio to the bound lies above the largest ratio before it."""
    ordered = rows.sort_values("n")
    ratio, error = (ordered[c].abs() / ordered["bound"] for c in ("value", "standard_error"))
    before = ratio.iloc[:-1].to_numpy()
    at = before.argmax()
    return float((ratio.iloc[-1] - before[at]) / (error.iloc[-1] ** 2 + error.iloc[at] ** 2) ** 0.5)


def exponents(rows: pd.DataFrame) -> str:
    """The fitted powers of n in words, the least and the largest over spectra and schedules."""
    fitted = [
        _fits.power_law(part["n"], part["value"].abs(), part["standard_error"])[0]
        for _, part in rows.groupby(["spectrum", "schedule", "quantity"])
    ]
    low, high = (f"{value:.2f}".replace("-", "−") for value in (min(fitted), max(fitted)))
    return f"like n^({low})" if low == high else f"like n^({low}) to n^({high})"


def judge_theorem_1_path(rates: pd.DataFrame) -> Judgement:
    """(4.9): sup over t < 1 of |R(θ) − R(t)|, its mean and its 99 % quantile over the chains."""
    if _too_few(rates):
        return TOO_FEW
    rows = rates[rates["quantity"] == "path"]
    late = rows[rows["n"].isin(rows["n"].drop_duplicates().nlargest(2))]
    below, at = late[late["schedule"] != KINK], late[late["schedule"] == KINK]
    also = (
        f"; between the last two of these n its mean falls {exponents(below)} below 2/γ, the rate of a central limit "
        f"theorem without logarithms, and {exponents(at)} at η̃ = 2/γ"
    )
    what = "the supremum over all steps, its mean and its 99 % quantile,"
    return _judge_rate(rates, ("path", "path, 99 %"), what, _bound_exponent(rates) + also)


def _bound_exponent(rates: pd.DataFrame) -> str:
    """The power of n like which log²n/√n falls from the first to the last of the sizes, in words."""
    ends = rates.sort_values("n").iloc[[0, -1]]
    slope = np.diff(np.log(ends["bound"]))[0] / np.diff(np.log(ends["n"]))[0]
    return f" (log²n/√n itself like n^({slope:.2f}))".replace("-", "−")


def judge_theorem_1_mean(rates: pd.DataFrame) -> Judgement:
    """(4.10): the same for the mean risk; how much smaller it is, and where it is not."""
    if _too_few(rates):
        return TOO_FEW
    smooth = rates[(rates["quantity"] == "bias") & (rates["schedule"] != KINK)]
    kink, cured = (
        rates[(rates["quantity"] == q) & (rates["schedule"] == KINK)] for q in ("bias", "bias, cap smoothed")
    )
    also = (
        f"; below 2/γ it falls {exponents(smooth)}, so (4.10) is generous there; at η̃ = 2/γ, where min(η̃, 2/γ) has its "
        f"kink, {exponents(kink)}, so √n cannot be improved in general; with the cap replaced by its mean over ‖x‖² "
        f"{exponents(cured)}"
    )
    what = f"the supremum over {len(TIMES)} times of the bias of the mean"
    return _judge_rate(rates, ("bias",), what, _bound_exponent(rates) + also)


def judge_proposition_44_path(rates: pd.DataFrame) -> Judgement:
    """(4.23): |R(θ_n) − R(1) − 2c²η̃(1)²γ²/ρ²|, its mean."""
    if _too_few(rates):
        return TOO_FEW
    what = "the mean distance of the released risk from R(1) + 2c²η̃(1)²γ²/ρ²"
    return _judge_rate(rates, ("released",), what, _bound_exponent(rates))


def judge_proposition_44_mean(rates: pd.DataFrame) -> Judgement:
    """(4.24): the bias of the released risk."""
    if _too_few(rates):
        return TOO_FEW
    rows = rates[rates["quantity"] == "released bias"]
    last = rows[rows["n"] == rows["n"].max()]
    largest = last.loc[(last["value"].abs() / last["bound"]).idxmax()]
    judged = _judge_rate(rates, ("released bias",), "the bias of the released risk")
    if judged.verdict != Verdict.HOLDS:
        return judged
    return Judgement(
        Verdict.HOLDS,
        f"at n = {largest['n']} the bias of the released risk is at most "
        f"{abs(largest['value']) / largest['bound']:.0e} "
        f"of log²n/√n ({largest['value']:.1e} ± {largest['standard_error']:.0e} in the worst case)",
    )
