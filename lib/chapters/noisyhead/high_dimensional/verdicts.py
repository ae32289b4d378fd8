"""Verdicts on Figure 2, on Theorem 1.1 (high dimension) and on what section 1.1 says of both of its halves."""

import numpy as np
import pandas as pd

from chapters.noisyhead import agreement
from chapters.noisyhead.high_dimensional import asymptotics, axes
from chapters.noisyhead.high_dimensional.verdicts_bounds import Growing, grows_fastest, lost
from companion import _fits
from companion.judging.findings import Number, Verdict
from companion.judging.growth import LOST_POWER, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, cite, pick, select
from companion.judging.vocabulary import CONSISTENT
from costofprivacy.noisyhead import population
from costofprivacy.noisyhead.prompts import PromptModel

POWER = 0.05  # within which an exponent at the largest N is that power
HALF = 0.5  # the power of N that section 1.1 speaks of
START_DOMINATES = 0.5  # share of the excess risk above which it is that of Γ⁰


@judges("noisyhead/figure-2")
def figure_2(tables: Tables) -> Ruling:
    """Does the risk fall with N and ε, more slowly than in low dimension, and what is it that falls?"""
    own = select(tables["figure-2"], setting="published")
    private, found = select(own, method="noisyhead"), agreement.agreements(tables["comparison"])
    told = (*_start_numbers(tables), _least(own), *agreement.numbers(found))
    rising = _rising(private)
    if not rising and _hidden(private):
        return Ruling(Verdict.UNTESTABLE, told)
    missed = {setting for setting, agreed in found.items() if not agreed.complete}
    slow = not rising and "published" not in missed and _falls_slower(tables, "random")
    share = start_share(tables["starts"])
    of_the_start = slow and share > START_DOMINATES and not _falls_slower(tables, "zero")
    own_slow = slow and not of_the_start
    verdict = reads(printed=own_slow and "printed" not in missed, corrected=own_slow, narrower=of_the_start)
    return Ruling(verdict, told, {"percent": 100 * share})


def _rising(private: pd.DataFrame) -> bool:
    """Whether the risk rises beyond the allowed error: between neighbouring N at some ε, or the ends in ε at some N."""
    scores = [agreement.trend(rows) for _, rows in private.groupby("N")]
    return not agreement.rises(private).empty or bool((np.concatenate(scores) > CONSISTENT).any())


def _hidden(private: pd.DataFrame) -> bool:
    """Whether there are too few trials, sizes or budgets to show a trend."""
    return not several(private["N"]) or bool((agreement.trend(private) > -CONSISTENT).any())


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


def _start_numbers(tables: Tables) -> tuple[Number, ...]:
    starts = tables["starts"]
    low, largest = low_exponent(tables["powers"], starts["N"].max()), f"epsilon = {starts['epsilon'].max():g}"
    slopes = {
        f"power of N in the excess risk from the {r.start} start": {
            "value": r.exponent,
            "error": r.standard_error,
            "against": low,
            "row": f"start = {r.start}, {largest}",
        }
        for r in start_slopes(starts).itertuples()
    }
    share = (start_share(starts), START_DOMINATES, f"N = {starts['N'].max()}, {largest}")
    return numbers("starts", {"share of the excess risk that the random start makes": share} | slopes)


def _least(own: pd.DataFrame) -> Number:
    trivial = select(own, method="zero").set_index("N")["excess_risk"]
    private = select(own, method="noisyhead")
    least = (private["excess_risk"] / private["N"].map(trivial)).min()
    name = "least excess risk over that of always predicting 0"
    return Number(name, least, None, 1.0, "figure-2", "setting = published")


def at_largest(tables: Tables, regime: str, quantity: str, name: str, against: float | None = None) -> Number:
    """A quantity's local exponent at the largest N of the closed form."""
    where = {"regime": regime, "quantity": quantity, "N": tables["powers"]["N"].max()}
    return cite(name, tables, "powers", "exponent", against=against, **where)


@judges("noisyhead/theorem-1.1-high")
def theorem_11_high(tables: Tables) -> Ruling:
    """Is the cost of privacy below D²(NL)⁻² log(1/δ)/ε², for N ≲ D², L ≲ D and ε up to the largest private one?

    It is vacuous if the head that always predicts 0 meets this rate, too, by the same criterion.
    """
    a = asymptotics
    claimed = at_largest(tables, a.HIGH, a.RATE_11, "power of N that is claimed")
    bare = at_largest(tables, a.HIGH, a.BARE, "power of N in the noise, its logarithms divided out", claimed.value)
    whole = at_largest(tables, a.HIGH, a.AT_T, "power of N in the excess risk over the claim, at ε = T", 0.0)
    fixed, largest = (_along_paths(tables["regime-axes"], budget) for budget in (axes.FIXED, axes.LARGEST))
    found = (
        *(bare, whole),
        lost("power of the cost over the claim at fixed ε, at most", fixed, "regime-axes"),
        lost("power of the cost over the claim at ε = T, at most", largest, "regime-axes"),
    )
    bounded = bare.value <= claimed.value + POWER and fixed.power <= LOST_POWER
    to_the_end = whole.value <= POWER and largest.power <= LOST_POWER
    trivial = [_along_paths(with_zero(tables["regime-axes"]), b, "zero_gap") for b in (axes.FIXED, axes.LARGEST)]
    worst = max(trivial, key=lambda found: found.power)
    zero = lost("the same for always predicting 0, at most", worst, "regime-axes")
    verdict = reads(printed=bounded and to_the_end, narrower=bounded)
    return Ruling(verdict, (*found, zero), {}, vacuous=verdict != Verdict.FAILS and worst.power <= LOST_POWER)


def _along_paths(regimes: pd.DataFrame, budget: str, left: str = "error_gap", right: str = "rate_11") -> Growing:
    """Where a side outgrows another fastest of all paths on which N ≲ D² and L ≲ D."""
    paths = regimes[regimes["axis"].isin(list(axes.PATHS))]
    return grows_fastest(select(paths, budget=budget), left, right)


def with_zero(regimes: pd.DataFrame) -> pd.DataFrame:
    """The rows with what always predicting 0 has: its excess risk and its excess in prediction error over Γ*."""
    places = [(PromptModel(int(r.D), int(r.L)), r.penalty) for r in regimes.itertuples()]
    risk = np.array([population.zero_excess_risk(*place) for place in places])
    first_order = np.array([2 * population.ridge_scale(*place) / place[0].D for place in places])
    return regimes.assign(zero_risk=risk, zero_gap=first_order - risk)


@judges("noisyhead/section-1.1-formal")
def section_11_formal(tables: Tables) -> Ruling:
    """Does (4.4), which bounds a squared difference of predictions, give Theorem 1.1's rate, and for which cost?

    Always predicting 0 shows the difference: its excess prediction error is of first order, its excess risk of second.
    """
    regimes = with_zero(tables["regime-axes"])
    paths = [_along_paths(regimes, budget, "bound_44") for budget in (axes.FIXED, axes.LARGEST)]
    worst = max(paths, key=lambda found: found.power)
    apart = _along_paths(regimes, axes.FIXED, "zero_gap", "zero_risk")
    found = (
        lost("power of (4.4) over the rate of Theorem 1.1, at most", worst, "regime-axes"),
        lost("power of the difference of errors over the squared difference, at most", apart, "regime-axes"),
    )
    follows, same = worst.power <= LOST_POWER, apart.power <= LOST_POWER
    return Ruling(reads(printed=follows and same, narrower=follows), found)


@judges("noisyhead/section-1.1-regimes")
def section_11(tables: Tables) -> Ruling:
    """Do the two rates of Theorem 1.1 differ by √N at L = √N, and D = √N in high dimension, and in which direction?"""
    a = asymptotics
    low = at_largest(tables, a.LOW, a.RATE_11, "power of N in the low-dimensional bound")
    high = at_largest(tables, a.HIGH, a.RATE_11, "power of N in the high-dimensional bound", low.value)
    factor = high.value - low.value
    divides, multiplies = (abs(factor - power) <= POWER for power in (-HALF, HALF))
    return Ruling(reads(printed=divides, corrected=multiplies), (low, high), {"low": low.value, "high": high.value})
