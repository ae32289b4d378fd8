"""Verdicts on Figure 2, Theorems 1.1 (high dimension) and 4.2(ii), and Lemmas A.1-A.3: pure functions of the tables."""

from __future__ import annotations

import pandas as pd
from scipy import stats

from costofprivacy import _fits
from costofprivacy.claims import Judgement, Verdict
from costofprivacy.experiments.noisyhead import authors
from costofprivacy.findings import CONSISTENT
from costofprivacy.experiments.noisyhead.high_dimensional import asymptotics
from costofprivacy.experiments.noisyhead.high_dimensional.sides import PRINTED

POWER = 0.05  # within which an exponent at the largest N is that power
START_DOMINATES = 0.5  # share of the excess risk above which it is that of Γ⁰
IMPROBABLE = 1e-4  # probability under the lemma below which its failures contradict it
GROWTH = 2.0  # factor from the first to the last size above which a constant is none


def judge_figure_2(table: pd.DataFrame, comparison: pd.DataFrame, starts: pd.DataFrame) -> Judgement:
    """Figure 2: does the risk fall with N and ε, are the published numbers matched, and what is it that falls?"""
    own = table[table["setting"] == "published"]
    private = own[own["method"] == "noisyhead"]
    scores = authors.trend(private)
    if (scores > CONSISTENT).any():
        return Judgement(Verdict.FAILS, "the excess risk rises with N at some ε or with ε at some N")
    if scores.size == 0 or private["N"].nunique() < 2 or (scores > -CONSISTENT).any():
        return Judgement(Verdict.UNTESTABLE, "too few trials, N or ε to show a trend")
    agreement, matched, printed = authors.agreement(comparison)
    share, cause = start_share(starts), _cause(starts)
    evidence = f"{agreement}; {cause}; {_trivial(own)}"
    if not matched:
        return Judgement(Verdict.FAILS, evidence)
    return Judgement(Verdict.HOLDS if printed and share < START_DOMINATES else Verdict.AMENDED, evidence)


def start_share(starts: pd.DataFrame) -> float:
    """Share of the excess risk, at the largest N and ε, that is gone when Γ⁰ = 0."""
    last = _private(starts, starts["N"].max(), starts["epsilon"].max())
    return float(1 - last["zero"] / last["random"])


def _private(starts: pd.DataFrame, N: int, epsilon: float) -> pd.Series:
    rows = starts[(starts["method"] == "noisyhead") & (starts["N"] == N) & (starts["epsilon"] == epsilon)]
    return rows.set_index("start")["excess_risk"]


def start_slopes(starts: pd.DataFrame) -> pd.DataFrame:
    """Fitted exponent in N of the excess risk at the largest ε, from each start."""
    largest = starts[(starts["method"] == "noisyhead") & (starts["epsilon"] == starts["epsilon"].max())]
    rows = []
    for start, g in largest.groupby("start"):
        rows.append((start, *_fits.power_law(g["N"], g["excess_risk"], g["standard_error"])))
    return pd.DataFrame(rows, columns=["start", "exponent", "standard_error"])


def _cause(starts: pd.DataFrame) -> str:
    slope = start_slopes(starts).set_index("start")["exponent"]
    return (
        "what falls is the random Γ⁰ after the few steps: at the largest N and ε it makes "
        f"{100 * start_share(starts):.2f} % of the excess risk, which falls like N^{slope['random']:.2f}; from Γ⁰ = 0 "
        f"it falls like N^{slope['zero']:.1f}, faster than in low dimension"
    )


def _trivial(own: pd.DataFrame) -> str:
    trivial = own[own["method"] == "zero"].set_index("N")["excess_risk"]
    private = own[own["method"] == "noisyhead"]
    least = (private["excess_risk"] / private["N"].map(trivial)).min()
    return f"the least excess risk is {least:.1e} times that of always answering 0"


def last(powers: pd.DataFrame, regime: str, quantity: str, column: str = "exponent") -> float:
    """A quantity's local exponent (or another column) at the largest N."""
    rows = powers[(powers["regime"] == regime) & (powers["quantity"] == quantity)]
    return float(rows.sort_values("N")[column].iloc[-1])


def judge_theorem_11_high(powers: pd.DataFrame) -> Judgement:
    """Theorem 1.1, high dimension: is the cost at r = N below D²(NL)⁻² log(1/δ)/ε², up to the largest private ε?"""
    a = asymptotics
    claimed, bare = (last(powers, a.HIGH, q) for q in (a.RATE_11, a.BARE))
    if bare > claimed + POWER:
        return Judgement(Verdict.FAILS, f"the noise part alone falls like N^{bare:.2f}, not N^{claimed:.0f}")
    at_T, value = last(powers, a.HIGH, a.AT_T), last(powers, a.HIGH, a.AT_T, "value")
    evidence = (
        f"at fixed ε it holds with room: the noise part falls like N^{bare:.2f} (logarithms out; the claim: "
        f"N^{claimed:.2f}), the power of the whole that is at stake, the excess risk of answering 0 "
        f"(N^{last(powers, a.HIGH, a.TRIVIAL):.2f}); at ε = T, the largest that Theorem 3.2 covers, the whole risk "
        f"from ‖Γ⁰‖ = R over the rate goes like N^{at_T:.2f}, to {value:.0e} at N = {powers['N'].max():.0e}"
    )
    if at_T > POWER:
        return Judgement(Verdict.FAILS, f"{evidence}: the factor log(1/δ)/ε² cannot multiply the descent part")
    return Judgement(Verdict.HOLDS, f"{evidence}; as ε → ∞ it could not: descent remains, and (4.6) has no such factor")


def judge_section_11(powers: pd.DataFrame) -> Judgement:
    """Section 1.1: is the price in high dimension √N times that in low dimension?"""
    a = asymptotics
    low, high = (last(powers, regime, a.BARE) for regime in (a.LOW, a.HIGH))
    low_claim, high_claim = (last(powers, regime, a.RATE_11) for regime in (a.LOW, a.HIGH))
    evidence = (
        f"Theorem 1.1's own rates are N^{low_claim:.1f} and N^{high_claim:.1f} at L = √N, so its √N stands in the "
        f"numerator; the algorithm's noise part falls like N^{low:.2f} in low and N^{high:.2f} in high dimension "
        "(logarithms out), since λ = N/D shrinks every head"
    )
    if high > low + POWER:
        return Judgement(Verdict.AMENDED, evidence)
    return Judgement(Verdict.FAILS, evidence)


def judge_theorem_42ii(sides: pd.DataFrame, progress: pd.DataFrame, narrow: pd.DataFrame) -> Judgement:
    """Theorem 4.2(ii): the bound with constants one at D = L = √N; what stays where D² is only of the order log(NL)."""
    ratio = (sides["excess_risk"] / sides["bound"]).groupby(sides["N"]).max()
    if len(ratio) < 2:
        return Judgement(Verdict.UNTESTABLE, "a single N cannot show whether the hidden constant is one")
    room = (
        f"at D = L = √N the left side is, with constants one, at most {ratio.iloc[0]:.2g} times (4.4) at N = "
        f"{ratio.index[0]} and {ratio.iloc[-1]:.2g} times at N = {ratio.index[-1]}"
    )
    if ratio.iloc[-1] > GROWTH * max(ratio.iloc[0], 1):
        return Judgement(Verdict.FAILS, f"{room}: no constant serves")
    stays = {part: _stays(rows) for part, rows in narrow.groupby("part")}
    if stays["projection"]:
        kept = f"{stays['projection']} of Π_G, and {stays['minimiser']} of ridge(2λ)"
        return Judgement(Verdict.FAILS, f"{room}; but where D² is of the order of log(NL) there stay {kept}")
    rests = progress[(progress["excess_risk"] > progress["bound"]) & (progress["update"] == PRINTED)]
    if stays["minimiser"] or not rests.empty:
        return Judgement(Verdict.AMENDED, f"{room}; with λ in the update it rests above (4.4), with λ/2 it does not")
    return Judgement(Verdict.HOLDS, room)


def _stays(floors: pd.DataFrame) -> str:
    """What no step removes at the largest N, over (4.4), if it is beyond doubt and has grown with N; else empty."""
    rows = floors[floors["floor"] > CONSISTENT * floors["standard_error"]].sort_values("N")
    ratio = rows["floor"] / rows["bound_44"]
    if len(rows) < 2 or ratio.iloc[-1] < GROWTH * max(ratio.iloc[0], 1):
        return ""
    end = rows.iloc[-1]
    return f"{ratio.iloc[-1]:.1e} times (4.4) (D = {end['D']}, λ = 1, N = {end['N']:.0e}, L = √N), the bias"


def _lemma(lemmas: pd.DataFrame, name: str) -> tuple[bool, str]:
    """Whether √2 serves the lemma's form in these cells, and the evidence."""
    rows = lemmas[lemmas["lemma"] == name]
    chance = stats.binom.sf(rows["fails_at_root_2"] - 1, rows["data_sets"], rows["kappa"])
    text = (
        f"with the constant √2 it fails in {rows['fails_at_root_2'].sum()} of {rows['data_sets'].sum()} data sets at "
        f"κ = {rows['kappa'].iloc[0]:g}; their quantiles ask for {rows['constant'].min():.2f} to "
        f"{rows['constant'].max():.2f}"
    )
    return bool((chance >= IMPROBABLE).all()), text


def judge_lemma_a1(lemmas: pd.DataFrame) -> Judgement:
    """Lemma A.1 with the constant √2, which a union bound gives."""
    holds, text = _lemma(lemmas, "A.1")
    return Judgement(Verdict.HOLDS if holds else Verdict.FAILS, text)


def judge_lemma_a2(lemmas: pd.DataFrame) -> Judgement:
    """Lemma A.2 with the constant √2, which its moment generating function gives."""
    holds, text = _lemma(lemmas, "A.2")
    return Judgement(Verdict.HOLDS if holds else Verdict.FAILS, text)


def judge_lemma_a3(lemmas: pd.DataFrame, tail: pd.DataFrame) -> Judgement:
    """Lemma A.3 where N is at least D², and its constant at N = 1 far in the tail."""
    holds, text = _lemma(lemmas[lemmas["N"] >= lemmas["D"] ** 2], "A.3")
    if not holds:
        return Judgement(Verdict.FAILS, f"for N ≥ D²: {text}")
    constants = tail.sort_values("D")["constant_A3"]
    if constants.iloc[-1] < GROWTH * constants.iloc[0]:
        return Judgement(Verdict.HOLDS, text)
    return Judgement(
        Verdict.AMENDED,
        f"where N ≥ D² {text}; for few prompts no constant serves: at N = 1 and κ = exp(-D²) it grows from "
        f"{constants.iloc[0]:.2f} at D = {tail['D'].min()} to {constants.iloc[-1]:.2f} at D = {tail['D'].max()}, so "
        "N ≳ D² + log(1/κ) has to be asked for, as in Proposition 4.1's regime",
    )
