"""Verdicts on Figure 1, Theorem 1.1 (low dimension) and Theorem 4.2(i) of arXiv:2504.16000v2."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.experiments.noisyhead import agreement
from costofprivacy.experiments.noisyhead.low_dimensional import limits
from costofprivacy.findings import (
    CONSISTENT,
    Consequence,
    Finding,
    Number,
    Tables,
    Verdict,
    compact,
    judges,
    pick,
    select,
)

IDLE = 0.2  # Π_R is idle where the closed form of the noise is below this share of what R allows
POWER = 0.05  # within which an exponent at N = 1e30 is that power


@judges("noisyhead/figure-1")
def figure_1(tables: Tables) -> Finding:
    """Does the risk fall with N and with ε, and which settings give the published numbers?"""
    rows = select(tables["figure-1"], setting="published")
    private, trivial = select(rows, method="noisyhead"), select(rows, method="zero").set_index("N")["excess_risk"]
    least = (private["excess_risk"] / private["N"].map(trivial)).min()
    scores, rises = agreement.trend(private), agreement.rises(private)
    found = agreement.agreements(select(tables["comparison"], method="noisyhead"))
    everything = agreement.agreements(tables["comparison"])
    numbers = (
        Number("least excess risk over that of answering 0", least, None, 1.0, "figure-1", "setting = published"),
        Number("weakest fall, in standard errors", -scores.max() if scores.size else 0.0, None, CONSISTENT, "figure-1"),
        Number("steps in N at which the risk rises", len(rises), None, 0.0, "figure-1", "setting = published"),
        *agreement.numbers(everything),
    )
    more = "More trials at adjacent sizes, or published numbers that the printed settings give."
    if (scores > CONSISTENT).any():
        headline = "The excess risk grows with the number of prompts or with the privacy budget."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=more)
    if scores.size == 0 or (scores > -CONSISTENT).any():
        return Finding(
            Verdict.UNTESTABLE, "Too few trials, sizes or budgets to show a trend.", numbers, would_change=more
        )
    if found and not everything["published"].complete:
        near, total = everything["published"].near, everything["published"].numbers
        headline = f"Of {total} published excess risks, the settings behind them give {near} again."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=more)
    if not rises.empty:
        worst = rises.loc[rises["score"].idxmax()]
        factor, tightest = compact(worst["last"] / worst["first"]), worst["epsilon"] == private["epsilon"].min()
        where = "at the tightest budget" if tightest else "at one budget"
        headline = f"The risk falls from the first to the last size, but in between rises by a factor {factor} {where}."
        kept = ", ".join(f"$\\varepsilon = {epsilon:g}$" for epsilon in sorted(set(rises["epsilon"])))
        condition = (
            f"The fall with $N$ is not monotone at {kept}; the published numbers belong to the $G$ of the proof, "
            r"$\eta_0 = 0.95\cdot2\lambda/(3(\lambda + G^2)^2)$ and a random $\Gamma^0$."
        )
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.NUMBERS, condition, more)
    if found and not everything["printed"].complete:
        near, total = everything["printed"].near, everything["printed"].numbers
        headline = f"The fall comes out again, but the printed settings give only {near} of {total} published numbers."
        correction = r"$G$ of the proof, $\eta_0 = 0.95\cdot2\lambda/(3(\lambda + G^2)^2)$ and a random $\Gamma^0$."
        return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, correction, more)
    headline = "The excess risk falls with more prompts and with a larger privacy budget, as shown."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=more)


@judges("noisyhead/theorem-1.1-low")
def theorem_11_low(tables: Tables) -> Finding:
    """The cost of privacy N^{-3/2}L^{-2} up to logarithms: the noise part's power, and what is left without noise."""
    noise, floors, exponents = tables["noise-part"], tables["floors"], tables["exponents"]
    last = exponents.sort_values("N").groupby("algorithm", sort=False)["exponent"].last()
    claimed, bare = last[limits.CLAIMED], last[limits.OWN_LOGS]
    largest = exponents["N"].max()
    far = _last_projection(floors)
    numbers = (
        Number("power of N, own logarithms out", bare, None, claimed, "exponents", f"N = {largest:.0e}"),
        Number("power of N, projection idle", last[limits.FIXED], None, claimed, "exponents", f"N = {largest:.0e}"),
        Number("prediction error that the projection costs", far["test_error_gap"], far["gap_error"], 0.0, "floors",
               f"part = projection, L = {far['L']:.0f}"),
        *_fitted(noise),
    )  # fmt: skip
    change = "A projection that bounds every statistic at every length and yet shrinks with the length."
    if bare > claimed + POWER:
        headline = f"Even the noise part alone falls only like ${{N}}^{{{bare:.2f}}}$, slower than claimed."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if not projection_stays(floors):
        headline = "The cost of privacy falls with the number of prompts at least as fast as claimed, up to logarithms."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = (
        "The noise shrinks as fast as claimed, but the projection that makes it small leaves an error of "
        f"{compact(far['test_error_gap'])} that more prompts do not remove."
    )
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


@judges("noisyhead/theorem-4.2i")
def theorem_42i(tables: Tables) -> Finding:
    """At ε = ∞ the bound (4.3) tends to 0 with N, for any constant; does the left side?"""
    floors = tables["floors"]
    descent = select(tables["figure-1"], setting="published", method="gradient-descent").sort_values("N").iloc[-1]
    minimiser = select(floors, part="minimiser").sort_values("N").iloc[-1]
    far = _last_projection(floors)
    rests = descent["excess_risk"] > max(CONSISTENT * descent["standard_error"], 0.5 * minimiser["floor"])
    numbers = (
        Number("excess risk of descent without noise", descent["excess_risk"], descent["standard_error"],
               minimiser["floor"], "figure-1", f"setting = published, N = {descent['N']:.0f}"),
        Number("bias of the projection", far["floor"], far["standard_error"], far["bound"], "floors",
               f"part = projection, L = {far['L']:.0f}"),
        Number("excess risk of answering 0", far["zero_risk"], None, None, "floors",
               f"part = projection, L = {far['L']:.0f}"),
    )  # fmt: skip
    change = "A projection that bounds every statistic at every length and yet shrinks with the length."
    if projection_stays(floors):
        headline = (
            "With no privacy at all, the projection leaves an excess risk that grows with the number of prompts while "
            "the bound falls."
        )
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if rests:
        left = compact(descent["excess_risk"])
        headline = f"Without noise the excess risk stops at {left}, because descent rests beside its target."
        correction = r"$\lambda/2$ in the update, or $\Gamma^*$ as the minimiser of the loss with $1/(2N)$."
        return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, correction, change)
    headline = "Without noise the excess risk falls with the bound."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


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
            fit = {"exponent": exponent, "without_logs": bare, "standard_error": error, "sizes": len(g)}
            rows.append({"setting": setting, "epsilon": epsilon} | fit)
    return pd.DataFrame(rows, columns=["setting", "epsilon", "exponent", "without_logs", "standard_error", "sizes"])


def _fitted(noise: pd.DataFrame) -> list[Number]:
    """The slope that the simulation shows in the published setting, at the ε with most sizes; none for a single N."""
    fitted = select(slopes(noise), setting="published")
    if fitted.empty:
        return []
    best = fitted.loc[fitted["sizes"].idxmax()]
    row = f"setting = published, epsilon = {best['epsilon']:g}"
    return [
        Number("fitted power of N, logarithms in", best["exponent"], best["standard_error"], None, "noise-part", row)
    ]


def _last_projection(floors: pd.DataFrame) -> pd.Series:
    """The bias of Π_G at the largest N."""
    return pick(select(floors, part="projection").nlargest(1, "N"))


def projection_stays(floors: pd.DataFrame) -> bool:
    """Whether the bias of Π_G is beyond doubt at the largest N and has grown against the bound (4.3)."""
    rows = select(floors, part="projection").sort_values("N")
    seen = rows[rows["floor"] > CONSISTENT * rows["standard_error"]]
    if seen.empty or seen["N"].iloc[-1] != rows["N"].iloc[-1]:
        return False
    return bool((seen["floor"] / seen["bound"]).is_monotonic_increasing)
