"""Verdicts on Figure 2, on Theorem 1.1 (high dimension) and on section 1.1's comparison of the two regimes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.experiments.noisyhead import agreement
from costofprivacy.experiments.noisyhead.high_dimensional import asymptotics, axes
from costofprivacy.experiments.noisyhead.high_dimensional.verdicts_bounds import Growing, grows_fastest, lost
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER, several
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, cite, pick, select
from costofprivacy.judging.vocabulary import CONSISTENT

POWER = 0.05  # within which an exponent at the largest N is that power
HALF = 0.5  # the power of N that section 1.1 speaks of
START_DOMINATES = 0.5  # share of the excess risk above which it is that of Γ⁰
SETTINGS = (
    r"The numbers belong to $\delta = 10^{-2}$, the $G$ of the proof and $\eta_0 = 0.2\lambda/\{3(\lambda + G^2)^2\}$"
)


@judges("noisyhead/figure-2")
def figure_2(tables: Tables) -> Finding:
    """Does the risk fall with N and ε, more slowly than in low dimension, and what is it that falls?"""
    starts = tables["starts"]
    own = select(tables["figure-2"], setting="published")
    private, found = select(own, method="noisyhead"), agreement.agreements(tables["comparison"])
    numbers = (*_start_numbers(tables), _least(own), *agreement.numbers(found))
    change = r"Published numbers from $\Gamma^0 = 0$, or after enough steps to forget $\Gamma^0$."
    rising = _rising(private)
    if rising:
        headline = f"The excess risk of Figure 2 rises with {rising}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    scores = agreement.trend(private)
    if not several(private["N"]) or (scores > -CONSISTENT).any():
        headline = "Too few trials, sizes or budgets to show a trend."
        return Finding(Verdict.UNTESTABLE, headline, numbers, would_change=change)
    if found and not found["published"].complete:
        headline = f"The settings behind Figure 2 give {_share(found['published'])} published numbers again."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)
    slower = {start: _falls_slower(tables, start) for start in ("random", "zero")}
    if not slower["random"]:
        headline = "The excess risk of Figure 2 does not fall more slowly than in low dimension."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    share = start_share(starts)
    if share > START_DOMINATES and not slower["zero"]:
        headline = (
            f"What falls slowly in Figure 2 is its random start: it makes {100 * share:.2f} % of the excess risk."
        )
        correction = (
            r"For $\Gamma^0$ of random entries $N(0, 0.1^2)$ and few steps, which excludes small starts: from "
            rf"$\Gamma^0 = 0$ the risk falls faster than in low dimension. {SETTINGS}."
        )
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, correction, change)
    if found and not found["printed"].complete:
        headline = f"Figure 2 falls as stated, but the printed settings give {_share(found['printed'])} numbers."
        return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, f"{SETTINGS}.", change)
    headline = "The excess risk of Figure 2 falls with prompts and budget, more slowly than in low dimension."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


def _share(found: agreement.Agreement) -> str:
    return f"{found.near} of {found.numbers}"


def _rising(private: pd.DataFrame) -> str:
    """What the risk rises with, beyond the allowed error: neighbouring N at some ε, or the ends in ε at some N."""
    if not agreement.rises(private).empty:
        return "the number of prompts"
    scores = [agreement.trend(rows) for _, rows in private.groupby("N")]
    return "the privacy budget" if (np.concatenate(scores) > CONSISTENT).any() else ""


def start_share(starts: pd.DataFrame) -> float:
    """Share of the excess risk, at the largest N and ε, that is gone when Γ⁰ = 0."""
    last = select(starts, method="noisyhead", N=starts["N"].max(), epsilon=starts["epsilon"].max())
    risk = last.set_index("start")["excess_risk"]
    return float(1 - risk["zero"] / risk["random"])


def start_slopes(starts: pd.DataFrame) -> pd.DataFrame:
    """Fitted exponent in N of the excess risk at the largest ε, from each start; none for a single N."""
    largest = select(starts, method="noisyhead", epsilon=starts["epsilon"].max())
    rows = []
    for start, own in largest.groupby("start"):
        if several(own["N"]):
            exponent, error = _fits.power_law(own["N"], own["excess_risk"], own["standard_error"])
            rows.append({"start": start, "exponent": exponent, "standard_error": error})
    return pd.DataFrame(rows, columns=["start", "exponent", "standard_error"])


def low_exponent(powers: pd.DataFrame, N: float) -> float:
    """The power of N with which the noise falls in low dimension at the first size of the closed form from N on."""
    noise = select(powers, regime=asymptotics.LOW, quantity=asymptotics.NOISE).sort_values("N")
    return float(noise.loc[noise["N"] >= N, "exponent"].iloc[0])


def _falls_slower(tables: Tables, start: str) -> bool:
    """Whether the risk from this start falls more slowly than the noise in low dimension, beyond doubt."""
    slope = pick(start_slopes(tables["starts"]), start=start)
    low = low_exponent(tables["powers"], tables["starts"]["N"].max())
    return bool(slope["exponent"] - CONSISTENT * slope["standard_error"] > low)


def _start_numbers(tables: Tables) -> list[Number]:
    starts = tables["starts"]
    low, largest = low_exponent(tables["powers"], starts["N"].max()), f"epsilon = {starts['epsilon'].max():g}"
    share = Number(
        "share of the excess risk that the random start makes", start_share(starts), None, START_DOMINATES, "starts",
        f"N = {starts['N'].max()}, {largest}",
    )  # fmt: skip
    slopes = [
        Number(f"power of N from the {r.start} start, beside low dimension", r.exponent, r.standard_error, low,
               "starts", f"start = {r.start}, {largest}")
        for r in start_slopes(starts).itertuples()
    ]  # fmt: skip
    return [share, *slopes]


def _least(own: pd.DataFrame) -> Number:
    trivial = select(own, method="zero").set_index("N")["excess_risk"]
    private = select(own, method="noisyhead")
    least = (private["excess_risk"] / private["N"].map(trivial)).min()
    return Number("least excess risk over that of answering 0", least, None, 1.0, "figure-2", "setting = published")


def at_largest(tables: Tables, regime: str, quantity: str, name: str, against: float | None = None) -> Number:
    """A quantity's local exponent at the largest N of the closed form."""
    where = {"regime": regime, "quantity": quantity, "N": tables["powers"]["N"].max()}
    return cite(name, tables, "powers", "exponent", against=against, **where)


@judges("noisyhead/theorem-1.1-high")
def theorem_11_high(tables: Tables) -> Finding:
    """Is the cost of privacy below D²(NL)⁻² log(1/δ)/ε², for N ≲ D², L ≲ D and ε up to the largest private one?"""
    a = asymptotics
    claimed = at_largest(tables, a.HIGH, a.RATE_11, "power of N that is claimed")
    bare = at_largest(tables, a.HIGH, a.BARE, "power of N of the noise, own logarithms out", claimed.value)
    whole = at_largest(tables, a.HIGH, a.AT_T, "power of N of the whole risk over the claim, at ε = T", 0.0)
    fixed, largest = (_along_paths(tables["regime-axes"], budget) for budget in (axes.FIXED, axes.LARGEST))
    numbers = (
        *(bare, whole),
        lost("power of the cost over the claim at fixed ε, at most", fixed, "regime-axes"),
        lost("power of the cost over the claim at ε = T, at most", largest, "regime-axes"),
    )
    change = "Sizes along which the cost over the claimed rate grows like a power."
    if bare.value > claimed.value + POWER:
        headline = f"The noise alone falls more slowly than claimed, like $N^{{{bare.value:.2f}}}$."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if fixed.power > LOST_POWER:
        power = compact(fixed.power)
        headline = f"The high-dimensional cost of privacy exceeds its rate by the power {power} of the dimension."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if whole.value > POWER or largest.power > LOST_POWER:
        headline = "The high-dimensional rate holds for bounded budgets, and is exceeded at the largest private ones."
        correction = r"For bounded $\varepsilon$: $\log(1/\delta)/\varepsilon^2$ cannot multiply the descent part."
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.NUMBERS, correction, change)
    headline = (
        "The high-dimensional cost of privacy stays below the claimed rate, up to logarithms, at all sizes allowed."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


def _along_paths(regimes: pd.DataFrame, budget: str) -> Growing:
    """Where the cost over Theorem 1.1's rate grows fastest of all paths on which N ≲ D² and L ≲ D."""
    paths = regimes[regimes["axis"].isin(list(axes.PATHS))]
    return grows_fastest(select(paths, budget=budget), "error_gap", "rate_11")


@judges("noisyhead/section-1.1-regimes")
def section_11(tables: Tables) -> Finding:
    """Does high dimension change the cost by the factor √N, and in which direction?"""
    a = asymptotics
    claimed = at_largest(tables, a.LOW, a.RATE_11, "power of N of the low-dimensional rate")
    high_rate = at_largest(tables, a.HIGH, a.RATE_11, "power of N of the high-dimensional rate", claimed.value)
    low = at_largest(tables, a.LOW, a.BARE, "power of N of the noise in low dimension", claimed.value)
    high = at_largest(tables, a.HIGH, a.BARE, "power of N of the noise in high dimension", low.value)
    numbers, change = (low, high, claimed, high_rate), "Noise that falls with another power of the number of prompts."
    factor, printed = high.value - low.value, high_rate.value - claimed.value
    if low.value <= claimed.value + POWER and abs(factor + HALF) <= POWER:
        headline = "High dimension divides the cost of privacy by the square root of the number of prompts, as printed."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    correction = "The factor $\\sqrt N$ in the numerator." if abs(printed - HALF) <= POWER else ""
    if low.value <= claimed.value + POWER and abs(factor - HALF) <= POWER:
        headline = (
            "High dimension multiplies the cost by the square root of the number of prompts, where the text divides."
        )
        correction = "The factor $\\sqrt N$ in the numerator."
        return Finding(Verdict.CORRECTED, headline, numbers, Consequence.CONCLUSION, correction, change)
    order = "faster" if factor < -POWER else "more slowly" if factor > POWER else "just as fast"
    headline = (
        f"The noise falls {order} in high dimension: like $N^{{{high.value:.2f}}}$, in low dimension like "
        f"$N^{{{low.value:.2f}}}$."
    )
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, correction, change)
