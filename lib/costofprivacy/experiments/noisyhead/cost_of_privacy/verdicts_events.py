"""Verdicts on the events of Appendix A.3 of arXiv:2504.16000v2 and their probabilities: (A.10)-(A.14)."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from costofprivacy.experiments.noisyhead.cost_of_privacy.trends import Trend, trend
from costofprivacy.experiments.noisyhead.cost_of_privacy.verdicts import (
    CONCLUSION,
    CORRECTED,
    FAILS,
    HOLDS,
    NARROWER,
    NONE,
    NUMBERS,
    UNTESTABLE,
    failure_probability,
    lost,
    short,
)
from costofprivacy.judging.findings import Finding, Number
from costofprivacy.judging.growth import LOST_POWER, LOST_POWER_SIMULATED
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select

CONFIDENCE = 1e-3  # of the binomial statements
LEMMA = math.sqrt(2)  # the constant that serves in Lemma A.2
SHARE = "share above G0, proof"
SHORT = r"Add $L \lesssim D\log(NL/\kappa)$, which excludes all longer prompts"


def _count(events: pd.DataFrame, column: str) -> tuple[int, int, bool]:
    """Failures, data sets, and whether a failure probability of at most κ is compatible with them."""
    failures, data_sets = int(events[column].sum()), int(events["data_sets"].sum())
    return failures, data_sets, bool(stats.binom.sf(failures - 1, data_sets, failure_probability(events)) > CONFIDENCE)


@judges("noisyhead/equation-a.10")
def equation_a10(tables: Tables) -> Finding:
    """(A.10): 𝒟₃ fails with probability at most κ."""
    events = tables["events"]
    failures, data_sets, compatible = _count(events, "D3_fails")
    union, kappa = events["D3_union_bound"].max(), failure_probability(events)
    numbers = (
        Number("data sets with a larger response", failures, None, kappa * data_sets, "events", f"of {data_sets}"),
        Number("union bound", union, None, kappa, "events", "its largest"),
    )
    found = partial(Finding, numbers=numbers, would_change="More data sets with a response beyond the clipping level.")
    if not compatible:
        headline = f"Responses exceed the clipping level in {failures} of {data_sets} data sets."
        return found(FAILS, headline, consequence=CONCLUSION)
    if union > kappa:
        return found(UNTESTABLE, "The count agrees with the claim, but the union bound allows more failures.")
    return found(HOLDS, "All responses stay within the clipping level as often as claimed.")


@judges("noisyhead/equation-a.11")
def equation_a11(tables: Tables) -> Finding:
    """(A.11): 𝒟₂ fails with probability at most κ, for the fourth root in G up to a constant."""
    sizes, dimensions = tables["constants"], tables["constants-by-dimension"]
    failures, data_sets, compatible = _count(tables["events"], "D2_lemma_fails")
    logs = trend(sizes, "log_odds", sizes["constant_proof"], 0.0, LOST_POWER)
    across = trend(dimensions, "D", dimensions["constant_proof"], 0.0, LOST_POWER)
    change = "A constant that serves the printed radius at every number of prompts."
    if logs is None or across is None:
        return Finding(UNTESTABLE, "A single size tells no growth.", would_change=change)
    lemma = max(sizes["constant_lemma"].max(), dimensions["constant_lemma"].max())
    numbers = (
        logs.number("the constant needed", "constants", "last two N"),
        across.number("the constant needed", "constants-by-dimension", "last two D"),
        Number("constant needed with Lemma A.2's radius", lemma, None, LEMMA, "constants", "its largest"),
        Number("data sets that exceed Lemma A.2's radius", failures, None, None, "events", f"of {data_sets}"),
    )
    found = partial(Finding, numbers=numbers, would_change=change)
    if across.lost:
        headline = f"The stated radius falls short by the power {compact(across.power)} of the dimension."
    elif not compatible:
        headline = f"Even the lemma's radius is exceeded, in {failures} of {data_sets} data sets."
    elif not logs.lost:
        return found(HOLDS, "The sums of features stay within the stated radius, with one constant for all sizes.")
    elif lemma > LEMMA:
        headline = f"Even the lemma's radius needs the constant {compact(lemma)}."
    else:
        headline = "The sums of features need a larger radius: the stated one falls short by a power of the logarithm."
        mended = r"$G \asymp \mathcal{C}L^{-1/2}\{1 + (\log(N/\kappa)/D)^{1/2}\}$."
        return found(CORRECTED, headline, consequence=NUMBERS, correction=mended)
    return found(FAILS, headline, consequence=CONCLUSION)


def _closed(norms: pd.DataFrame, norm: str, bound: str) -> list[Trend | None]:
    """How a norm over its bound goes along N, L and D in closed form."""
    parts = {axis: select(norms, axis=axis) for axis in ("N", "L", "D")}
    return [trend(rows, axis, rows[norm] / rows[bound], 0.0, LOST_POWER) for axis, rows in parts.items()]


@judges("noisyhead/equation-a.12")
def equation_a12(tables: Tables) -> Finding:
    """(A.12): ‖Γ*‖ ≤ R, on data along N, and in closed form along N, L and D."""
    norms, radius = tables["norms"], tables["radius"]
    trends = _closed(norms, "ridge_norm", "weight_bound")
    ratio, worst = norms["ridge_norm"] / norms["weight_bound"], lost(trends)
    measured, sure = (radius["norm_max"] / radius["R_printed"]).max(), ratio[norms["sure"]].max()
    numbers = (
        *(g.number("‖Γ*‖/R", "norms", f"axis = {g.size}") for g in trends if g),
        Number("largest ‖Γ*‖/R", ratio.max(), None, 1.0, "norms", "all"),
        Number("largest ‖Γ*‖/R inside the condition", sure, None, 1.0, "norms", "sure"),
        Number("largest ‖Γ*‖/R in data", measured, None, 1.0, "radius", "all"),
        Number("noise variance that the right R saves", radius["variance_saved"].max(), None, 1.0, "radius", "largest"),
    )
    change = "A radius that does not shrink as prompts grow longer at a fixed number of them."
    found = partial(Finding, numbers=numbers, would_change=change)
    if measured > 1:
        headline = f"The ridge solution leaves the stated radius in data, by the factor {compact(measured)}."
        return found(FAILS, headline, consequence=CONCLUSION)
    if not worst and None in trends:
        return found(UNTESTABLE, "A single value of some size tells no growth.")
    if not worst:
        return found(HOLDS, "The ridge solution lies within the stated radius along every size.")
    power = compact(worst[0].power)
    if [g.size for g in worst] == ["L"] and sure <= 1:
        longer = "With prompts far longer than they are many, the ridge solution outgrows its radius"
        headline = f"{longer} like the power {power} of length."
        condition = (
            r"Add $L \lesssim N\log(NL/\kappa)/\lambda$, which excludes prompts far longer than they are many; or "
            r"take $R = \mathcal{C}/(2\sqrt\lambda)$, true for every data set with $|y| \le \mathcal{C}$."
        )
        return found(NARROWER, headline, consequence=NONE, correction=condition)
    headline = f"The ridge solution outgrows the stated radius like the power {power} of the {worst[0].words}."
    return found(FAILS, headline, consequence=CONCLUSION)


def _statistic(tables: Tables) -> list[Trend | None]:
    """How ‖Z‖/G₀ goes: in data along L, in closed form along N, L and D."""
    events = tables["events"]
    ratio, error = (events[name] / events["G0, proof"] for name in ("mean_norm", "standard_error"))
    return [
        trend(events, "L", ratio, error, LOST_POWER_SIMULATED),
        *_closed(tables["norms"], "statistic_norm", "query_bound"),
    ]


@judges("noisyhead/equation-a.13")
def equation_a13(tables: Tables) -> Finding:
    """(A.13): ‖Z‖ ≤ G₀ with probability 1 − κ, for G₀ of order C/√L."""
    events, trends = tables["events"], _statistic(tables)
    kappa = failure_probability(events)
    few = short(events, kappa)
    inside, worst = events[SHARE][few].max() if few.any() else np.inf, lost(trends)
    sources = zip(trends, ("events", "norms", "norms", "norms"))
    numbers = (
        *(g.number("‖Z‖/G₀", table, f"axis = {g.size}") for g, table in sources if g),
        Number("share of prompts above G₀, short prompts", inside, None, kappa, "events", "L ≤ D log(NL/κ)"),
        Number("share of prompts above G₀, all", events[SHARE].max(), None, kappa, "events", "its largest"),
    )
    found = partial(Finding, numbers=numbers, would_change="A statistic that shrinks with the prompt length.")
    if not worst and None in trends:
        return found(UNTESTABLE, "A single value of some size shows no growth.")
    if not worst:
        return found(HOLDS, "A fresh prompt's statistic stays within the stated radius, up to one constant.")
    power, size = compact(worst[0].power), worst[0].words
    if {g.size for g in worst} == {"L"} and inside <= kappa:
        headline = (
            f"Short prompts apart, a prompt's statistic outgrows its radius like the power {power} of the {size}."
        )
        uniform = r"$G_0 \asymp \mathcal{C}\{L^{-1/2} + D^{-1/2}\}$"
        condition = f"{SHORT} and with them the $L^{{-3}}$ of (4.3); or take {uniform}."
        return found(NARROWER, headline, consequence=CONCLUSION, correction=condition)
    even = ", even for short prompts" if inside > kappa else ""
    headline = f"A fresh prompt's statistic outgrows its radius like the power {power} of the {size}{even}."
    return found(FAILS, headline, consequence=CONCLUSION)


@judges("noisyhead/equation-a.14")
def equation_a14(tables: Tables) -> Finding:
    """(A.14): all events together with probability 1 − 4κ; where ‖Z‖ outgrows G₀ no constant gives that."""
    events = tables["events"]
    at_most, claimed = 1 - events[SHARE], 1 - 4 * failure_probability(events)  # the other events can only cost more
    few, last = short(events, failure_probability(events)), events.loc[at_most.idxmin()]
    least, inside = at_most.min(), at_most[few].min() if few.any() else -np.inf
    parts = {name: _count(events, column) for name, column in (("sums", "D2_lemma_fails"), ("responses", "D3_fails"))}
    numbers = (
        Number("largest probability possible", least, None, claimed, "events", f"L = {last['L']:.0f}"),
        Number("the same, short prompts", inside, None, claimed, "events", "L ≤ D log(NL/κ)"),
        *(
            Number(f"data sets with larger {name}", k, None, None, "events", f"of {n}")
            for name, (k, n, _) in parts.items()
        ),
    )
    found = partial(Finding, numbers=numbers, would_change="A statistic that shrinks with the prompt length.")
    for name, (failures, data_sets, compatible) in parts.items():
        if not compatible:
            headline = f"The event on the {name} fails in {failures} of {data_sets} data sets."
            return found(FAILS, headline, consequence=CONCLUSION)
    if least >= claimed or not lost(_statistic(tables)):
        return found(HOLDS, "All events of the proof occur together as often as claimed.")
    if inside >= claimed:
        headline = (
            "All events of the proof occur together as claimed for short prompts; "
            f"at length {last['L']:.0f} with probability at most {compact(least)}."
        )
        condition = f"{SHORT}; the exponent $1/2$ in (A.11); and (A.10)–(A.13) for (A.10)–(A.12)."
        return found(NARROWER, headline, consequence=CONCLUSION, correction=condition)
    headline = f"The proof's events occur together with probability at most {compact(inside)}, even for short prompts."
    return found(FAILS, headline, consequence=CONCLUSION)
