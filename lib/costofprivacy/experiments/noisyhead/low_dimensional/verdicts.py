"""Verdicts on Figure 1, Theorem 1.1 (low dimension) and Theorem 4.2(i): pure functions of the tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.claims import Judgement, Verdict
from costofprivacy.experiments.noisyhead import _published
from costofprivacy.experiments.noisyhead._published import CONSISTENT
from costofprivacy.experiments.noisyhead.low_dimensional import limits

IDLE = 0.2  # Π_R is idle where the closed form of the noise is below this share of what R allows
POWER = 0.05  # within which an exponent at N = 1e30 is that power


def judge_figure_1(table: pd.DataFrame, comparison: pd.DataFrame, conditions: pd.DataFrame) -> Judgement:
    """Figure 1: does the risk fall with N and with ε, and do the printed settings give the published numbers?"""
    published_rows = table[table["setting"] == "published"]
    private = published_rows[published_rows["method"] == "noisyhead"]
    trivial = published_rows[published_rows["method"] == "zero"].set_index("N")["excess_risk"]
    least = (private["excess_risk"] / private["N"].map(trivial)).min()
    beside = f"the least excess risk is {least:.2g} times that of always answering 0"
    scores, theirs = _published.trend(private), comparison[comparison["method"] == "noisyhead"]
    if (scores > CONSISTENT).any():
        return Judgement(Verdict.FAILS, f"the excess risk rises with N at some ε or with ε at some N; {beside}")
    if (scores > -CONSISTENT).any() or (theirs.empty and scores.size == 0):
        return Judgement(Verdict.UNTESTABLE, f"too few trials, N or ε to show a trend; {beside}")
    rises = _published.rises(private)
    agreement, matched, printed = _published.agreement(comparison)
    rises = f"it rises, where Π_R holds the noise back, at {rises}" if rises else ""
    evidence = "; ".join(text for text in (agreement, rises, beside, _outside(conditions)) if text)
    if not matched:
        return Judgement(Verdict.FAILS, evidence)
    return Judgement(Verdict.HOLDS if printed and not rises else Verdict.AMENDED, evidence)


def _outside(conditions: pd.DataFrame) -> str:
    """How far the experiment is outside Theorems 4.1 and 4.2, in words; empty if it is inside."""
    probability, eta0 = conditions["probability"].min(), conditions["eta0_over_limit"]
    if probability > 0 and eta0.max() <= 1:
        return ""
    return (
        f"Theorems 4.1 and 4.2 promise it nothing (probability {probability:g}; η₀ is {eta0.min():.2f} to "
        f"{eta0.max():.2f} times their limit)"
    )


def idle_rows(noise: pd.DataFrame) -> pd.DataFrame:
    """The rows in which Π_R plays no part."""
    return noise[noise["closed_form"] < IDLE * noise["limit_of_R"]]


def slopes(noise: pd.DataFrame) -> pd.DataFrame:
    """Fitted exponent of the noise part in N by setting and ε, rows with an idle Π_R; empty for a single N.

    ``without_logs`` is the exponent that is left once the factor log¹⁰(NL) of (4.3) is divided out.
    """
    rows = []
    for (setting, epsilon), g in idle_rows(noise).groupby(["setting", "epsilon"], sort=False):
        if g["N"].nunique() > 1:
            exponent, error = _fits.power_law(g["N"], g["noise_risk"], g["standard_error"])
            logs = np.log(g["N"] * np.sqrt(g["N"]).astype(int)) ** 10
            bare, _ = _fits.power_law(g["N"], g["noise_risk"] / logs, g["standard_error"] / logs)
            rows.append((setting, epsilon, exponent, bare, error, len(g)))
    return pd.DataFrame(rows, columns=["setting", "epsilon", "exponent", "without_logs", "standard_error", "sizes"])


def _slope_text(noise: pd.DataFrame) -> str:
    fitted = slopes(noise)
    fitted = fitted[fitted["setting"] == "published"]
    if fitted.empty:
        return "a single N gives the noise part no slope here"
    best = fitted.loc[fitted["sizes"].idxmax()]
    return f"the noise part falls like N^({best['exponent']:.2f} ± {best['standard_error']:.2f}) here"


def judge_theorem_11_low(noise: pd.DataFrame, floors: pd.DataFrame, exponents: pd.DataFrame) -> Judgement:
    """Theorem 1.1, low dimension: N^{-3/2}L^{-2} up to logarithms, for the difference in prediction error."""
    last = exponents.groupby("algorithm", sort=False)["exponent"].last()
    claimed, bare, fixed = last[limits.CLAIMED], last[limits.OWN_LOGS], last[limits.FIXED]
    rate = (
        f"{_slope_text(noise)}; with its logarithms divided out it falls like N^{bare:.2f} at N = "
        f"{exponents['N'].max():.0e} in closed form, as claimed (N^{claimed:.1f})"
    )
    if abs(bare - claimed) > POWER:
        return Judgement(Verdict.FAILS, f"even the noise part alone falls like N^{bare:.2f}, not N^{claimed:.1f}")
    if not _projection_stays(floors):
        return Judgement(Verdict.HOLDS, rate)
    far = floors[floors["part"] == "projection"].sort_values("N").iloc[-1]
    return Judgement(
        Verdict.FAILS,
        f"{rate}; but that speed is bought by a G that falls to 0 while ‖Z‖ does not: Π_G costs "
        f"{far['test_error_gap']:.1e} ± {far['gap_error']:.0e} in prediction error at L = {far['L']:.0f}, "
        "growing with N; "
        f"with a G that leaves Z alone the noise part has the power {fixed:.2f}, logarithms included",
    )


def _projection_stays(floors: pd.DataFrame) -> bool:
    """Whether the bias of Π_G is beyond doubt at the largest N and has grown against the bound (4.3)."""
    rows = floors[floors["part"] == "projection"].sort_values("N")
    seen = rows[rows["floor"] > CONSISTENT * rows["standard_error"]]
    if seen.empty or seen["N"].iloc[-1] != rows["N"].iloc[-1]:
        return False
    return bool((seen["floor"] / seen["bound"]).is_monotonic_increasing)


def judge_theorem_42i(table: pd.DataFrame, floors: pd.DataFrame) -> Judgement:
    """Theorem 4.2(i): at ε = ∞ the bound (4.3) tends to 0 with N, for any constant; does the left side?"""
    plain = table[(table["setting"] == "published") & (table["method"] == "gradient-descent")].sort_values("N").iloc[-1]
    minimiser = floors[floors["part"] == "minimiser"].sort_values("N").iloc[-1]
    rests = plain["excess_risk"] > max(CONSISTENT * plain["standard_error"], 0.5 * minimiser["floor"])
    first = (
        f"without noise the excess risk rests at {plain['excess_risk']:.2e} (N = {plain['N']}; in closed form "
        f"{minimiser['floor']:.2e} as N → ∞), which λ/2 in the update cures, or Γ* read as the minimiser of the loss "
        "with 1/(2N)"
    )
    if _projection_stays(floors):
        far = floors[floors["part"] == "projection"].sort_values("N").iloc[-1]
        return Judgement(
            Verdict.FAILS,
            f"{first}; what stays is the bias of Π_G, {far['floor']:.2e} ± {far['standard_error']:.0e} at "
            f"L = {far['L']:.0f}, {far['floor'] / far['bound']:.2g} times (4.3) at ε = ∞ with constant one, "
            "growing towards "
            f"{far['zero_risk']:.2e}, the excess risk of answering 0, while (4.3) falls to 0",
        )
    if rests:
        return Judgement(Verdict.AMENDED, first)
    return Judgement(Verdict.HOLDS, "without noise the excess risk falls with the bound (4.3)")
