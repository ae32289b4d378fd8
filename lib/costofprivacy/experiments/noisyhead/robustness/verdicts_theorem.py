"""Verdicts on Theorem 5.1 and Remark 5.1 of arXiv:2504.16000v2."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from costofprivacy.experiments.noisyhead.robustness import limits, rates
from costofprivacy.experiments.noisyhead.robustness.theorem import RESPONSES, SMALL
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER, several
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select
from costofprivacy.judging.vocabulary import CONSISTENT

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
NONE, NUMBERS, CONCLUSION = Consequence
OF_ORDER = math.e  # T and log N are of one order if their ratio is at most this
HIDDEN = 10.0  # what a hidden constant may be where a claim is asked at sizes of its condition
LEFT, SHIFTED = RESPONSES
NOT_ADMITTED = "None of the attacks tried is admitted at several sizes."
WITH_QUERY = r"$y'_{i,\ell} = y_{i,\ell} + \alpha$ in (5.1) for every $\ell \in [L+1]$, the query's response included."
SHORT_RUNS = r"$LT^2\log(T/\delta) \lesssim \varepsilon^2N^3$, as after $T \asymp \log N$ steps"
RANK_ONE = r"$A^{-1}z'(y' - \langle\Gamma_0, z'\rangle)/(1 + z'^\top A^{-1}z')$"


def few_steps(heads: pd.DataFrame) -> pd.DataFrame:
    """Rows of runs with noise of their own at the T nearest to log N, if one is of its order."""
    rows = select(heads, noise="independent")
    off = np.log(rows["T"] / np.log(rows["N"])).abs()
    return rows[(off == off.min()) & (off <= np.log(OF_ORDER))]


def many_steps(heads: pd.DataFrame) -> pd.DataFrame:
    """Rows of runs with noise of their own at the largest T."""
    return select(heads, noise="independent", T=heads["T"].max())


@judges("noisyhead/theorem-5.1-noisyhead")
def theorem_51_noisyhead(tables: Tables) -> Finding:
    """NoisyHead moves by at most the order of N L⁻² log²(NL/κ), whatever T, λ > C²/L and ε."""
    few, many = few_steps(tables["heads"]), many_steps(tables["heads"])
    sizes = select(tables["sizes"], claim=limits.FEW_STEPS)
    free, least = sizes[sizes["axis"] != limits.LEAST_AXIS], select(sizes, axis=limits.LEAST_AXIS)
    short, long = (rates.fitted(rows, "displacement", "standard_error", "bound_theorem") for rows in (few, many))
    change = "A displacement after many steps, and at the least penalty, that keeps to the claim along every size."
    if "L" not in set(short["axis"]) or few["T"].iloc[0] == many["T"].iloc[0]:
        headline = "Without several prompt lengths, a short and a long run there is no rate."
        return rates.ruling(change)(UNTESTABLE, headline)
    least_power = rates.far(least, "N", "ratio")
    alone = select(tables["heads"], noise="common")["displacement"].max()
    numbers = (
        *rates.as_numbers(short, f"measured over claimed, T = {few['T'].iloc[0]}", "heads"),
        *rates.as_numbers(long, f"measured over claimed, T = {many['T'].iloc[0]}", "heads"),
        Number("power at the least penalty", least_power, None, LOST_POWER, "sizes", limits.LEAST_AXIS),
        Number("the attack's own part, at most", alone, None, None, "heads", "noise = common"),
    )
    rule = rates.ruling(change, numbers)
    beyond = free.loc[free["length_over"] <= 1, "ratio"] > HIDDEN
    if len(rates.grows(short)) or beyond.any() or rates.far_lost(free) - {"L"}:
        headline = "NoisyHead's displacement outgrows what is claimed even after few steps."
        return rule(FAILS, headline, CONCLUSION)
    headline = _excluded(rates.grows(long), least_power > LOST_POWER, rates.far_lost(free))
    if not headline:
        return rule(HOLDS, "An attack moves NoisyHead's predictions no further than claimed, at any size.")
    return rule(NARROWER, headline, CONCLUSION, _SHORT_RUNS_ONLY)


_SHORT_RUNS_ONLY = (
    rf"Add $\lambda \gtrsim 1$ and {SHORT_RUNS}. This excludes long runs, whose noise fills the ball, far longer "
    r"prompts, and penalties near $\mathcal C^2/L$. For every $T$ the ball gives "
    r"$\lambda^{-2}\frac NL(\frac1L + \frac1D)\frac{\log^2(NL/\kappa)}{D^2}$ in the mean."
)


def _excluded(long: pd.DataFrame, least: bool, lengths: set[str]) -> str:
    """What breaks the claim beyond short runs, in a sentence; empty where nothing does."""
    if len(long):
        worst = rates.worded(long)
        return f"NoisyHead moves as little as claimed in few steps; in many, measured over claimed grows like {worst}."
    if least:
        return "NoisyHead moves as little as claimed, but not at the least penalty that the theorem admits."
    if lengths:
        return "NoisyHead moves as little as claimed, but not on prompts far longer than they are many."
    return ""


@judges("noisyhead/theorem-5.1-gap")
def theorem_51_gap(tables: Tables) -> Finding:
    """At the lower end of (5.2), constant one, α²μ²/(Nλ) lies above N L⁻² log²(NL/κ)."""
    windows, sizes = tables["windows"], select(tables["sizes"], claim=limits.GAP)
    rows = windows[windows["penalty_over_least"] > 1]
    change = "A gap that stays open at every penalty."
    if not any(several(penalties) for _, penalties in rows.groupby("L")["penalty"]):
        return rates.ruling(change)(UNTESTABLE, "A single penalty shows no dependence on it.")
    power = float(np.mean([rates.far(group, "penalty", "gap") for _, group in rows.groupby("L")]))
    log = rows["penalty"] / rows["penalty_over_least"] * rows["L"] / 2  # log(NL/κ), as C² = 2 log(NL/κ)
    small, every = rows[rows["penalty"] ** 2 <= log]["gap"].min(), rows["gap"].min()
    numbers = (
        Number("power of the penalty in right over left", power, None, 0.0, "windows"),
        Number("least right over left", every, None, 1.0, "windows"),
        Number("least right over left at small penalties", small, None, 1.0, "windows"),
        Number("largest left over right along N, L and D", sizes["ratio"].max(), None, 1.0, "sizes"),
    )
    rule = rates.ruling(change, numbers)
    if small < 1 or sizes["ratio"].max() > 1:
        headline = "Already at small penalties the bound on NoisyHead lies above that on ridge."
        return rule(FAILS, headline, CONCLUSION)
    if every >= 1:
        return rule(HOLDS, "The bounds on NoisyHead and on ridge are ordered as claimed at every penalty.")
    headline = (
        f"The bounds are ordered as claimed at small penalties; their ratio goes like its power {compact(power)}."
    )
    condition = (
        r"Add $\lambda^2 \lesssim \log(NL/\kappa)$, and a $c_\ell$ that is fixed; this excludes large penalties, as "
        r"$N/D$ of Proposition 4.1. Or keep on the left what $R^2$ brings, $\lambda^{-2}NL^{-2}\log^3(NL/\kappa)$."
    )
    return rule(NARROWER, headline, NUMBERS, condition)


@judges("noisyhead/theorem-5.1-ridge")
def theorem_51_ridge(tables: Tables) -> Finding:
    """An admissible perturbation moves ridge by α²μ²/(Nλ) at least."""
    rows = tables["perturbations"].assign(ratio=lambda r: r["displacement"] / r["claimed"])
    rows["error"] = rows["standard_error"] / rows["claimed"]
    return at_least(
        rows, "Ridge's predictions move", rf"A step of {RANK_ONE} with $A$, $\Gamma_0$ of the other prompts."
    )


def at_least(every: pd.DataFrame, subject: str, instead: str) -> Finding:
    """Is ``ratio``, measured over claimed, at least 1 for every admissible perturbation, or for those of the query?"""
    rows, amended = every[every["admissible"]], every[every["admissible_amended"]]
    powers = rates.fitted(rows, "ratio", "error", by=["perturbation", "response"])
    change = "Admissible perturbations, the query's response shifted, that all move ridge as far as claimed."
    if powers.empty:
        return rates.ruling(change)(UNTESTABLE, NOT_ADMITTED)
    short, kept = (part[part["ratio"] + CONSISTENT * part["error"] < 1] for part in (rows, amended))
    least, fall = compact(rows["ratio"].min()), rates.falls(powers)
    numbers = (
        Number("admissible attacks that fall short", len(short), None, 0.0, "perturbations"),
        Number("least measured over claimed", rows["ratio"].min(), None, 1.0, "perturbations"),
        Number("attacks of the amended (5.2) that fall short", len(kept), None, 0.0, "perturbations"),
        Number("least measured over claimed there", amended["ratio"].min(), None, 1.0, "perturbations"),
        *rates.as_numbers(powers if fall.empty else fall, "measured over claimed", "perturbations"),
    )
    rule = rates.ruling(change, numbers)
    if short.empty:
        return rule(HOLDS, f"{subject} at least as far as claimed under every admissible attack tried.")
    if SHIFTED not in set(short["response"]):
        headline = f"{subject} as far as claimed once the attack also shifts the response of the query."
        return rule(CORRECTED, headline, NUMBERS, WITH_QUERY)
    if fall.empty:
        return rule(CORRECTED, f"{subject} at least {least} times as far as claimed.", NUMBERS,
                    f"A constant of at most {least} before the claimed lower bound.")  # fmt: skip
    headline = f"{subject} less than claimed under {len(short)} of {len(rows)} admissible attacks."
    return rule(FAILS, headline, CONCLUSION, instead)


@judges("noisyhead/remark-5.1-window")
def remark_51_window(tables: Tables) -> Finding:
    """For λ ≍ 1, (5.2) reduces to N²/L² ≲ α²μ² ≤ α²μ⁴ ≲ NL."""
    simplified, windows, every = tables["simplified"], tables["windows"], tables["perturbations"]
    change = "A lower end of (5.2) of the order $N^2/L^2$ at every length, and no admissible shift below 1."
    if not several(simplified["N"]):
        return rates.ruling(change)(UNTESTABLE, "A single number of prompts shows no rate.")
    grown = {float(str(q)): rates.far(rows, "N", "ratio") for q, rows in simplified.groupby("power")}
    lost = {q: power for q, power in grown.items() if power > LOST_POWER}
    below = every[every["admissible"] & (every["mu"] < 1)]
    shut = (~windows.loc[windows["penalty_over_least"] > 1, "open_at_mu_1"]).sum()
    numbers = [
        Number("power of N in the lower end over $N^2/L^2$", power, None, LOST_POWER, "simplified", f"power = {q:g}")
        for q, power in grown.items()
    ]
    numbers.append(Number("admissible attacks with a shift below 1", len(below), None, 0.0, "perturbations"))
    numbers.append(Number("windows that are empty at a shift of 1", shut, None, None, "windows"))
    rule = rates.ruling(change, numbers)
    if len(lost) == len(grown):
        headline = f"At every prompt length the lower end is off by the power {compact(min(lost.values()))} of $N$."
        return rule(FAILS, headline, NUMBERS)
    if not lost and below.empty:
        return rule(HOLDS, "The window of admissible attacks simplifies as stated, up to logarithms.")
    headline, condition = "The simplified window leaves out admissible attacks with shifts of the features below 1.", ""
    if lost:
        headline = f"The simplified window is too wide for long prompts, such as those of length $N^{{{min(lost):g}}}$."
        condition = r"Add $L \lesssim N^{4/3}$, which excludes longer prompts. "
    if len(below):
        condition += r"Add $\mu \ge 1$, as $\alpha^2\mu^2 \le \alpha^2\mu^4$ asks; this excludes smaller shifts. "
    condition += r"The lower end has $\log^3(NL/\kappa)$ besides."
    return rule(NARROWER, headline, NUMBERS, condition)


@judges("noisyhead/remark-5.1-divergence")
def remark_51_divergence(tables: Tables) -> Finding:
    """Some admissible perturbation sends ridge's displacement to infinity, while NoisyHead's tends to zero."""
    every, path = tables["perturbations"], tables["path"]
    ridge = {r: _along_L(select(every, perturbation=SMALL, response=r, admissible=True)) for r in RESPONSES}
    private = _along_L(few_steps(tables["heads"]))
    change = "Ridge that diverges with the query's response left alone, and NoisyHead standing still for every $T$."
    if private.empty or any(rows.empty for rows in ridge.values()) or not several(path["N"]):
        headline = "Too few prompt lengths, or no run of about as many steps as the remark has, show no limit."
        return rates.ruling(change)(UNTESTABLE, headline)
    few, many = (rates.far(path, "N", name) for name in ("bound_few_steps", "limit_many_steps"))
    left = select(every, response=LEFT)[["displacement", "bound"]].max()
    numbers = (
        *rates.as_numbers(ridge[LEFT], f"ridge's displacement, y {LEFT}", "perturbations"),
        *rates.as_numbers(ridge[SHIFTED], f"ridge's displacement, y {SHIFTED}", "perturbations"),
        Number(f"ridge at most, y {LEFT}", left["displacement"], None, left["bound"], "perturbations"),
        *rates.as_numbers(private, "NoisyHead's displacement after few steps", "heads"),
        Number("power of N in NoisyHead's bound after few steps", few, None, -LOST_POWER, "path"),
        Number("power of N in NoisyHead's limit of many steps", many, None, -LOST_POWER, "path"),
    )
    rule = rates.ruling(change, numbers)
    if rates.falls(private).empty or few > -LOST_POWER:
        headline = "NoisyHead's displacement does not vanish, even after few steps."
        return rule(FAILS, headline, CONCLUSION)
    diverges = {response for response, rows in ridge.items() if len(rates.grows(rows))}
    if not diverges:
        headline = "No admissible attack tried makes the displacement of ridge diverge."
        return rule(FAILS, headline, CONCLUSION)
    also, needs = ("", "") if LEFT in diverges else (" if it shifts the query's response too", WITH_QUERY)
    if many > -LOST_POWER:
        headline = f"An admissible attack makes ridge diverge{also}; NoisyHead stands still only after few steps."
        condition = f"Add {SHORT_RUNS}; this excludes long runs. {needs}".strip()
        return rule(NARROWER, headline, CONCLUSION, condition)
    headline = f"An admissible attack makes ridge diverge{also}, while NoisyHead's displacement vanishes."
    if needs:
        return rule(CORRECTED, headline, NUMBERS, needs)
    return rule(HOLDS, headline)


def _along_L(rows: pd.DataFrame) -> pd.DataFrame:
    """The fitted power of the displacement along L; empty for a single L."""
    return rates.fitted(select(rows, axis="L"), "displacement", "standard_error")
