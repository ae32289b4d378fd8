"""Verdicts on Figure 3, Proposition 4.1 and section 6.2: pure functions of the tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.claims import Judgement, Verdict
from costofprivacy.experiments.noisyhead import authors
from costofprivacy.findings import CONSISTENT
from costofprivacy.experiments.noisyhead.early_stopping import closed_forms
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM

POWER = 0.3  # within which a local exponent in T is that power
FORM = 0.5  # difference of two exponents in N beyond which two expressions are not the same up to logarithms
STEADY = 2.0  # factor within which a ratio over many N counts as bounded
FEW = 1e-3  # share of data sets below which a rise is none
FIRST, LAST = 1, 480  # the paper's T, over which Figure 3 falls and rises
ENOUGH = 3  # values of N at which there is something to stop for
ASYMPTOTIC = 1e4  # N from which a ratio is followed


def judge_figure_3(figure: pd.DataFrame, comparison: pd.DataFrame, accounts: pd.DataFrame) -> Judgement:
    """Figure 3: does the risk fall and rise again, are the published numbers matched, and what does it take?"""
    own = figure[(figure["setting"] == "published") & (figure["method"] == "noisyhead")]
    fall, rise = turn(own)
    if (fall == 0 and rise > CONSISTENT and own["T"].min() <= FIRST) or (
        rise == 0 and fall > CONSISTENT and own["T"].max() >= LAST
    ):
        return Judgement(Verdict.FAILS, "the excess risk does not first fall and then rise over these T")
    if fall <= CONSISTENT or rise <= CONSISTENT:
        return Judgement(Verdict.UNTESTABLE, "too few trials or T to show a fall and a rise")
    agreement, matched, printed = authors.agreement(comparison)
    evidence = f"{agreement}; least at T = {best(own)} of these; {_starts(accounts)}"
    if not matched:
        return Judgement(Verdict.FAILS, evidence)
    same = turn(_account(accounts, "zero", ALGORITHM))[0] > CONSISTENT
    return Judgement(Verdict.HOLDS if printed and same else Verdict.AMENDED, evidence)


def _account(accounts: pd.DataFrame, start: str, account: str) -> pd.DataFrame:
    return accounts[(accounts["start"] == start) & (accounts["account"] == account)].sort_values("T")


def best(rows: pd.DataFrame) -> int:
    """The T with the least excess risk."""
    return int(rows.loc[rows["excess_risk"].idxmin(), "T"])


def turn(rows: pd.DataFrame) -> tuple[float, float]:
    """Fall from the first T to the best and rise from there to the last, in combined standard errors."""
    ordered = rows.sort_values("T").reset_index(drop=True)
    low = ordered.loc[ordered["excess_risk"].idxmin()]
    ends = ordered.iloc[[0, -1]]
    gap = ends["excess_risk"] - low["excess_risk"]
    error = np.hypot(ends["standard_error"], low["standard_error"])
    return float(gap.iloc[0] / error.iloc[0]), float(gap.iloc[1] / error.iloc[1])


def _starts(accounts: pd.DataFrame) -> str:
    zero = best(_account(accounts, "zero", ALGORITHM))
    later = [f"{best(_account(accounts, 'random', account))} ({account})" for account in ACCOUNTS[1:]]
    return f"from Γ⁰ = 0 it is least at T = {zero}; from the random Γ⁰ with exact accounting at T = {', '.join(later)}"


def judge_monotone(descent: pd.DataFrame) -> Judgement:
    """Section 6.2: does descent without noise approach Γ* monotonically over the figure's T, and beyond?"""
    own = descent[(descent["setting"] == "published") & (descent["start"] == "random")].sort_values("T")
    risk, error = own["excess_risk"].to_numpy(), own["standard_error"].to_numpy()
    if (np.diff(risk) > CONSISTENT * np.hypot(error[1:], error[:-1])).any():
        return Judgement(Verdict.FAILS, "the mean excess risk of descent rises with T")
    figure, last = own[own["in_figure"]], own.iloc[-1]
    evidence = (
        f"over the figure the mean falls from {figure['excess_risk'].iloc[0]:.1e} to "
        f"{figure['excess_risk'].iloc[-1]:.1e} and rises in {100 * figure['risen'].max():.0f} % of the data sets; far "
        f"beyond, it comes to rest at {last['rest']:.1e} in closed form, at ridge(2λ) instead of Γ*, unless λ/2 stands "
        "in the update"
    )
    return Judgement(Verdict.HOLDS if figure["risen"].max() <= FEW else Verdict.AMENDED, evidence)


def noise_exponents(curves: pd.DataFrame, account: str) -> pd.Series:
    """Local exponent in T of the noise part in closed form, by T."""
    rows = curves[(curves["start"] == "zero") & (curves["account"] == account)].sort_values("T")
    return pd.Series(_fits.local_exponents(rows["T"].to_numpy(), rows["noise"].to_numpy()), index=rows["T"])


def judge_optimal_stopping(curves: pd.DataFrame, stopping: pd.DataFrame) -> Judgement:
    """Section 4: does the noise part rise like T³, and is the best T of the order of log N?"""
    powers = noise_exponents(curves, ALGORITHM)
    own = stopping[(stopping["account"] == ALGORITHM) & (stopping["N"] >= ASYMPTOTIC)]
    from_R = own[(own["start"] == closed_forms.FROM_R) & (own["best_T"] > 1)].sort_values("N")
    if len(from_R) < ENOUGH:
        return Judgement(Verdict.UNTESTABLE, "at almost every N the first step already adds more noise than it forgets")
    in_logs = from_R["best_T_over_log_N"]
    from_zero = own[own["start"] == closed_forms.FROM_ZERO]["best_T"]
    evidence = (
        f"the noise part goes like T^{powers.iloc[0]:.2f} at T = {powers.index[0]} and T^{powers.iloc[-1]:.2f} at T = "
        f"{powers.index[-1]}: T³ until 1/(4λη₀) steps are made, "
        f"then T², logarithms apart, and with Theorem 4.1's η₀ these are {own['transient'].max():.1f} steps; from "
        f"‖Γ⁰‖ = R the best T is {in_logs.min():.2f} to {in_logs.max():.2f} log N, from Γ⁰ = 0 it is at most "
        f"{from_zero.max()} at any N"
    )
    if not (_steady(in_logs) or _steady(from_R["best_T"].diff().dropna() / np.log(from_R["N"]).diff().dropna())):
        return Judgement(Verdict.FAILS, evidence)
    cubic = abs(powers.iloc[-1] - 3) < POWER
    return Judgement(Verdict.HOLDS if cubic and from_zero.min() > 1 else Verdict.AMENDED, evidence)


def _steady(values: pd.Series) -> bool:
    """Whether all are positive and within the factor ``STEADY``: T/log N, or its slope where T = α log N − β."""
    return bool(values.min() > 0 and values.max() <= STEADY * values.min())


def judge_c_noise(section: pd.DataFrame) -> Judgement:
    """Section 6.2: is its C_Noise the second term of (4.5), up to logarithms?"""
    last = section.sort_values("N").iloc[-1]
    ahead = int((section["noise_printed"] > section["descent"]).sum())
    evidence = (
        f"at r = N the second term of (4.5) falls like N^{last['exponent_noise_45']:.2f}, the printed C_Noise like "
        f"N^{last['exponent_noise_printed']:.2f}; with it noise would dominate descent at {ahead} of {len(section)} N, "
        "against the text; (4.5) gives D³log³r/(N⁴L²)·log(1/δ)/ε²"
    )
    if abs(last["exponent_noise_printed"] - last["exponent_noise_45"]) > FORM:
        return Judgement(Verdict.FAILS, evidence)
    return Judgement(Verdict.HOLDS, "the printed C_Noise goes like the second term of (4.5)")


def both_sides(accounts: pd.DataFrame, limits: pd.DataFrame) -> pd.DataFrame:
    """The simulation behind Figure 3 beside (4.2) and (4.5), by T."""
    merged = _account(accounts, "random", ALGORITHM).merge(limits, on="T")
    return merged.assign(
        over_42=merged["excess_risk"] / (merged["descent_42"] + merged["noise_42"]),
        over_45=merged["excess_risk"] / (merged["descent_45"] + merged["noise_45"]),
    )


def judge_any_steps(accounts: pd.DataFrame, limits: pd.DataFrame, stopped: pd.DataFrame) -> Judgement:
    """Proposition 4.1, (4.5): the simulation, the closed form as N grows, and where descent comes to rest."""
    here = both_sides(accounts, limits)["over_45"].max()
    growing = (stopped["excess_risk"] / stopped["bound_45"]).groupby(stopped["N"]).max()
    evidence = (
        f"with constants one the simulation is at most {here:.2g} times (4.5), the closed form at r = N from ‖Γ⁰‖ = R "
        f"{growing.iloc[0]:.2g} times at N = {growing.index[0]:.0e} and {growing.iloc[-1]:.1e} times at N = "
        f"{growing.index[-1]:.0e}"
    )
    if growing.iloc[-1] > STEADY * growing.iloc[0]:
        return Judgement(Verdict.FAILS, f"{evidence}: no constant serves")
    rests = stopped["rest"] > stopped["least_45"]
    if rests.any():
        return Judgement(
            Verdict.AMENDED,
            f"{evidence}; at N = {stopped[rests]['N'].iloc[0]:.0e} the left side rests above (4.5), unless λ/2 stands "
            "in the update",
        )
    share = (stopped["rest"] / stopped["least_45"]).max()
    return Judgement(
        Verdict.HOLDS,
        f"{evidence}; where descent comes to rest, at ridge(2λ) instead of Γ*, is at most {share:.1e} of the least of "
        "(4.5) over r at the largest ε that Theorem 3.2 covers, ε = T",
    )


def judge_stopped(stopped: pd.DataFrame) -> Judgement:
    """Proposition 4.1, (4.6): the closed form at r = N from ‖Γ⁰‖ = R, for every ε."""
    ratio = stopped["excess_risk"] / stopped["bound_46"]
    at_last = ratio[stopped["N"] == stopped["N"].max()].max()
    over = stopped[ratio > 1]
    steps = stopped["T_over_log_N"]
    evidence = (
        f"at r = N, which is T = {steps.min():.1f} to {steps.max():.1f} log N, the risk is {at_last:.1e} times (4.6) "
        f"at N = {stopped['N'].max():.0e} for every ε tried"
    )
    if at_last > 1:
        return Judgement(Verdict.FAILS, f"at the largest N the risk is still {at_last:.1e} times (4.6)")
    if over.empty:
        return Judgement(Verdict.HOLDS, evidence)
    worst = over.loc[ratio[over.index].idxmax()]
    return Judgement(
        Verdict.AMENDED,
        f"{evidence}; it is not free of ε: {ratio.max():.1e} times (4.6) at N = {worst['N']:.0e}, ε = "
        f"{worst['epsilon']:g}, for (4.6) asks that r log³r·D/N³·log(1/δ)/ε² ≲ 1; and T ≍ log N means r = N^Θ(1), not "
        "r ≍ N",
    )
