"""Verdicts on section 3 and Appendix A.2 of arXiv:2504.16000v2: Algorithm 1, its privacy, and where descent rests."""

from __future__ import annotations

from functools import partial

import pandas as pd

from costofprivacy.experiments.noisyhead.mechanism import accounting, minimisers
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import several
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
NONE, NUMBERS, CONCLUSION = Consequence
ROUNDING = 1e-9


def _constant(ratio: pd.Series) -> bool:
    """Whether a ratio is the same in all rows, to rounding."""
    return bool(ratio.max() <= ratio.min() * (1 + ROUNDING))


def _reached(sensitivity: pd.DataFrame, of: str) -> pd.Series:
    """The largest change of an update that was found, searched or built, over a column."""
    return sensitivity[["largest_found", "constructed"]].max(axis=1) / sensitivity[of]


@judges("noisyhead/definition-3.1")
def definition_31(tables: Tables) -> Finding:
    """A definition."""
    headline = "A definition: neighbours differ in one whole prompt, and the book follows it."
    return Finding(UNTESTABLE, headline, would_change="Another unit of privacy, such as a single token.")


@judges("noisyhead/algorithm-1")
def algorithm_1(tables: Tables) -> Finding:
    """Its printed variance is that of the Gaussian mechanism it stands for."""
    noise = tables["noise"]
    ratio, exact = noise["printed_std"] / noise["calibrated_std"], noise["printed_std"] / noise["exact_std"]
    numbers = (
        Number("printed over calibrated, least", ratio.min(), None, 1.0, "noise", "all"),
        Number("printed over calibrated, largest", ratio.max(), None, 1.0, "noise", "all"),
        Number("printed over exact composition, least", exact.min(), None, 1.0, "noise", "all"),
        Number("printed over exact composition, largest", exact.max(), None, 1.0, "noise", "all"),
    )
    change = "A printed variance that differs from the mechanism's at some size or setting."
    found = partial(Finding, numbers=numbers, would_change=change)
    if _constant(ratio) and abs(ratio.iloc[0] - 1) <= ROUNDING:
        return found(HOLDS, "The algorithm's noise is that of the classical Gaussian mechanism, step by step.")
    if _constant(ratio):
        headline = f"The algorithm's noise is {compact(ratio.iloc[0])} times that of the classical Gaussian mechanism."
        mended = r"The variance times $" + f"{ratio.iloc[0] ** -2:.3g}$."
        return found(CORRECTED, headline, consequence=NUMBERS, correction=mended)
    least, largest = compact(ratio.min()), compact(ratio.max())
    headline = f"The algorithm's noise is no multiple of the Gaussian mechanism's, but {least} to {largest} times it."
    return found(FAILS, headline, consequence=CONCLUSION)


@judges("noisyhead/equation-a.1")
def equation_a1(tables: Tables) -> Finding:
    """(A.1): 2η₀G(C + RG)/N bounds the change of one update."""
    table = tables["sensitivity"]
    share, exact = _reached(table, "bound"), _reached(table, "exact")
    loose, most = (table["bound"] / table["exact"]).max(), compact(share.max())
    numbers = (
        Number("largest change found over the bound", share.max(), None, 1.0, "sensitivity", "all"),
        Number("least change found over the exact sensitivity", exact.min(), None, 1.0, "sensitivity", "all"),
        Number("bound over the exact sensitivity, largest", loose, None, 1.0, "sensitivity", "all"),
    )
    change = "A pair of neighbours that moves a step further than the bound."
    found = partial(Finding, numbers=numbers, would_change=change)
    if share.max() <= 1 + ROUNDING:
        headline = f"No replaced prompt moves a step further than claimed; the worst found reaches {most} of it."
        return found(HOLDS, headline)
    if _constant(share):
        headline = f"A replaced prompt moves a step by up to {most} times the claim, at every size."
        mended = rf"The bound times ${share.max():.3g}$."
        return found(CORRECTED, headline, consequence=CONCLUSION, correction=mended)
    headline = f"A replaced prompt moves a step by up to {most} times the claim, by no constant factor."
    return found(FAILS, headline, consequence=CONCLUSION)


@judges("noisyhead/theorem-3.2")
def theorem_32(tables: Tables) -> Finding:
    """(ε, δ)-DP for any ε; the classical calibration wants ε ≤ T."""
    single, composition = tables["single-steps"], tables["composition"]
    views = (accounting.EVERY, accounting.CLAIMED)
    spent, claimed = (select(composition, accounting=view).set_index("T")["epsilon"] for view in views)
    share, delta = _reached(tables["sensitivity"], "bound").max(), single["delta_spent"] / single["delta"]
    over = spent[(spent > claimed * (1 + ROUNDING)) & (claimed <= spent.index)]
    broken = single[delta > 1].sort_values(["epsilon_per_step", "T"])
    inside, longest = delta[single["epsilon_per_step"] <= 1].max(), spent.index.max()
    numbers = [
        Number("δ spent over δ claimed, largest for ε ≤ T", inside, None, 1.0, "single-steps", "epsilon_per_step ≤ 1"),
        Number("largest change of an update over its bound", share, None, 1.0, "sensitivity", "all"),
        Number("ε spent by all iterates", spent[longest], None, claimed[longest], "composition", f"T = {longest}"),
    ]
    first = broken.iloc[0] if len(broken) else single.iloc[-1]
    at = f"T = {first['T']:.0f}, epsilon = {first['epsilon']:g}"
    numbers.append(Number("δ spent over δ claimed", delta[first.name], None, 1.0, "single-steps", at))
    change = r"A calibration that keeps the budget beyond $\varepsilon = T$."
    found = partial(Finding, numbers=tuple(numbers), would_change=change)
    if share > 1 + ROUNDING:
        headline = f"One update moves by {compact(share)} times the distance that the noise is made for."
    elif len(over):
        headline = f"All iterates together spend more than the budget, at {over.index[0]} steps."
    elif broken.empty:
        return found(HOLDS, "The algorithm is as private as claimed, for every budget and number of steps tried.")
    elif first["epsilon_per_step"] > 1:
        true = r"The algorithm is as private as claimed while $\varepsilon$ is at most the number of steps"
        headline = rf"{true}; at $\varepsilon = {first['epsilon']:g}$ it overspends $\delta$."
        condition = r"Add $\varepsilon \le T$, the range of the classical calibration, which excludes larger budgets."
        return found(NARROWER, headline, consequence=CONCLUSION, correction=condition)
    else:
        headline = rf"The budget is overspent at $\varepsilon = {first['epsilon']:g}$ and {first['T']:.0f} steps."
    return found(FAILS, headline, consequence=CONCLUSION)


@judges("noisyhead/equation-2.7")
def equation_27(tables: Tables) -> Finding:
    """(2.7) minimises (2.6)."""
    worst = _check(tables, minimisers.GRADIENT).max()
    numbers = (Number("slope over its value at 0, largest", worst, None, ROUNDING, "minimisers", minimisers.GRADIENT),)
    found = partial(Finding, numbers=numbers, would_change="A data set on which the loss has a slope at the formula.")
    if worst <= ROUNDING:
        return found(HOLDS, "The printed formula minimises the regularised loss.")
    headline = f"At the printed formula the loss still has a slope, {compact(worst)} of its value at the origin."
    return found(FAILS, headline, consequence=CONCLUSION)


def _check(tables: Tables, name: str) -> pd.Series:
    return select(tables["minimisers"], check=name)["value"]


@judges("noisyhead/section-3-update")
def section_3_update(tables: Tables) -> Finding:
    """The update of section 3 comes to rest at the minimiser of (2.6)."""
    names = (minimisers.SINGLE, minimisers.DOUBLE, minimisers.HALVED)
    single, double, half = (_check(tables, name).max() for name in names)
    norm = _check(tables, minimisers.NORM).mean()
    numbers = (
        Number("distance at rest to the minimiser, over its norm", single, None, 0.0, "minimisers", minimisers.SINGLE),
        Number("the same to ridge at 2λ", double, None, 0.0, "minimisers", minimisers.DOUBLE),
        Number("the same with half the penalty", half, None, 0.0, "minimisers", minimisers.HALVED),
        Number("norm at rest over that of the minimiser", norm, None, 1.0, "minimisers", minimisers.NORM),
    )
    found = partial(Finding, numbers=numbers, would_change="An update that is a multiple of the loss's gradient.")
    if single <= ROUNDING:
        return found(HOLDS, "Gradient descent as printed comes to rest at the minimiser.")
    if half <= ROUNDING:
        away = f"{compact(single)} of the minimiser's norm away from it"
        headline = f"Gradient descent as printed rests {away}; with half the penalty, at it."
        mended = (
            r"$\Gamma^{t+1} = (1 - \lambda\eta_0)\Gamma^t - \dots$ for $(1 - 2\lambda\eta_0)\Gamma^t - \dots$, "
            r"or a loss with $1/(2N)$."
        )
        return found(CORRECTED, headline, consequence=NUMBERS, correction=mended)
    return found(FAILS, "Gradient descent misses the minimiser, even with half the penalty.", consequence=CONCLUSION)


@judges("noisyhead/section-3-noise-variance")
def section_3_noise_variance(tables: Tables) -> Finding:
    """Is the noise's variance, or its standard deviation, proportional to the sensitivity of an update?"""
    table = tables["noise-law"]
    change = "A variance that grows with the sensitivity, not with its square."
    if not several(table["sensitivity"]):
        return Finding(UNTESTABLE, "A single sensitivity shows no proportion.", would_change=change)
    plain, square = table["variance_over_sensitivity"], table["variance_over_square"]
    numbers = (
        Number(
            "variance over sensitivity, largest over least", plain.max() / plain.min(), None, 1.0, "noise-law", "all"
        ),
        Number(
            "variance over its square, largest over least", square.max() / square.min(), None, 1.0, "noise-law", "all"
        ),
    )
    found = partial(Finding, numbers=numbers, would_change=change)
    if _constant(plain):
        return found(HOLDS, "The noise's variance is proportional to the sensitivity.")
    if _constant(square):
        headline = "It is the noise's standard deviation, not its variance, that is proportional to the sensitivity."
        return found(CORRECTED, headline, consequence=NONE, correction="“Standard deviation” for “variance”.")
    headline = "Neither the noise's variance nor its standard deviation is proportional to the sensitivity."
    return found(FAILS, headline, consequence=CONCLUSION)


@judges("noisyhead/section-1.2-accounting")
def section_12_accounting(tables: Tables) -> Finding:
    """Would exact accounting, that of Gaussian differential privacy, need less noise at the same budget?"""
    saved = tables["noise"]["printed_std"] / tables["noise"]["exact_std"]
    numbers = (
        Number("printed over exact standard deviation, least", saved.min(), None, 1.0, "noise", "all"),
        Number("printed over exact standard deviation, largest", saved.max(), None, 1.0, "noise", "all"),
    )
    found = partial(Finding, numbers=numbers, would_change="A size at which exact accounting needs as much noise.")
    if saved.min() > 1 + ROUNDING:
        return found(
            HOLDS, f"Exact accounting needs at least {compact(saved.min())} times less noise for the same budget."
        )
    headline = f"Exact accounting saves nothing at some size: the printed noise is {compact(saved.min())} of it."
    return found(FAILS, headline, consequence=NUMBERS)


@judges("noisyhead/section-2-any-noise")
def section_2_any_noise(tables: Tables) -> Finding:
    """The sensitivity bound is tried on prompts that no Gaussian law gives: responses at a million, tokens alike."""
    share = _reached(tables["sensitivity"], "bound").max()
    numbers = (Number("change under built prompts over the bound", share, None, 1.0, "sensitivity", "all"),)
    found = partial(
        Finding, numbers=numbers, would_change="A prompt, however drawn, that moves a step beyond the bound."
    )
    if share <= 1 + ROUNDING:
        headline = (
            f"Privacy needs no assumption on the data: built prompts reach {compact(share)} of the bound at most."
        )
        return found(HOLDS, headline)
    headline = f"Prompts of another law move a step by {compact(share)} times the bound that privacy rests on."
    return found(FAILS, headline, consequence=CONCLUSION)
