"""Verdicts on Theorem 5.1 and Remark 5.1 of arXiv:2504.16000v2."""

import math
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from chapters.noisyhead.robustness import limits, rates
from chapters.noisyhead.robustness.theorem import RESPONSES, SMALL
from companion.judging.findings import Number, Verdict
from companion.judging.growth import LOST_POWER, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT

OF_ORDER = math.e  # T and log N are of one order if their ratio is at most this
HIDDEN = 10.0  # what a hidden constant may be where a claim is asked at sizes of its condition
LEFT, SHIFTED = RESPONSES


def few_steps(heads: pd.DataFrame) -> pd.DataFrame:
    """Rows of runs with noise of their own at the T nearest to log N, if one is of its order."""
    rows = select(heads, noise="independent")
    off = np.log(rows["T"] / np.log(rows["N"])).abs()
    return rows[(off == off.min()) & (off <= np.log(OF_ORDER))]


def many_steps(heads: pd.DataFrame) -> pd.DataFrame:
    """Rows of runs with noise of their own at the largest T."""
    return select(heads, noise="independent", T=heads["T"].max())


@judges("noisyhead/theorem-5.1-noisyhead")
def theorem_51_noisyhead(tables: Tables) -> Ruling:
    """NoisyHead moves by at most the order of N L⁻² log²(NL/κ), whatever T, ε and λ; Algorithm 1 has λ ≥ c > 0."""
    heads, sizes = tables["heads"], select(tables["sizes"], claim=limits.FEW_STEPS)
    few, many = few_steps(heads), many_steps(heads)
    short, long = (rates.fitted(rows, "displacement", "standard_error", "bound_theorem") for rows in (few, many))
    if "L" not in set(short["axis"]) or few["T"].iloc[0] == many["T"].iloc[0]:
        return Ruling(Verdict.UNTESTABLE)
    free = sizes[sizes["axis"] != limits.LEAST_AXIS]
    kept, grown = _keeps(short, free), rates.grows(long)
    everywhere = kept and grown.empty and not rates.far_lost(free)
    alone = select(heads, noise="common")["displacement"].max()
    found = (
        *rates.as_numbers(short, f"measured over claimed, T = {few['T'].iloc[0]}", "heads"),
        *rates.as_numbers(long, f"measured over claimed, T = {many['T'].iloc[0]}", "heads"),
        *numbers("heads", {"the attack's own part, at most": alone}, "noise = common"),
    )
    verdict, grounds = reads(everywhere, narrower=kept), "" if grown.empty else "many steps"
    return Ruling(verdict, found, {"worst": rates.worded(grown)}, grounds)


def _keeps(short: pd.DataFrame, free: pd.DataFrame) -> bool:
    """Whether runs of few steps keep to the claim: as measured, and in closed form on all but very long prompts."""
    beyond = (free.loc[free["length_over"] <= 1, "ratio"] > HIDDEN).any()
    return rates.grows(short).empty and not beyond and rates.far_lost(free) <= {"L"}


@judges("noisyhead/theorem-5.1-gap")
def theorem_51_gap(tables: Tables) -> Ruling:
    """At the lower end of (5.2), constant one, α²μ²/(Nλ) lies above N L⁻² log²(NL/κ)."""
    windows, sizes = tables["windows"], select(tables["sizes"], claim=limits.GAP)
    rows = windows[windows["penalty_over_least"] > 1]
    if not any(several(penalties) for _, penalties in rows.groupby("L")["penalty"]):
        return Ruling(Verdict.UNTESTABLE)
    power = float(np.mean([rates.far(group, "penalty", "gap") for _, group in rows.groupby("L")]))
    log = rows["penalty"] / rows["penalty_over_least"] * rows["L"] / 2  # log(NL/κ), as C² = 2 log(NL/κ)
    small, every = rows[rows["penalty"] ** 2 <= log]["gap"].min(), rows["gap"].min()
    named = {
        "power of the penalty in right over left": (power, 0.0),
        "least right over left": (every, 1.0),
        "least right over left at small penalties": (small, 1.0),
    }
    along = numbers("sizes", {"largest left over right along N, L and D": (sizes["ratio"].max(), 1.0)}, "")
    kept = not (small < 1 or sizes["ratio"].max() > 1)
    verdict = reads(printed=kept and every >= 1, narrower=kept)
    return Ruling(verdict, numbers("windows", named, "") + along, {"least": every})


@judges("noisyhead/theorem-5.1-ridge")
def theorem_51_ridge(tables: Tables) -> Ruling:
    """An admissible perturbation moves ridge by α²μ²/(Nλ) at least."""
    rows = tables["perturbations"].assign(ratio=lambda r: r["displacement"] / r["claimed"])
    rows["error"] = rows["standard_error"] / rows["claimed"]
    return at_least(rows)


def at_least(every: pd.DataFrame) -> Ruling:
    """Is ``ratio``, measured over claimed, at least 1 for every admissible perturbation, or for those of the query?"""
    rows, amended = every[every["admissible"]], every[every["admissible_amended"]]
    powers = rates.fitted(rows, "ratio", "error", by=["perturbation", "response"])
    if powers.empty:
        return Ruling(Verdict.UNTESTABLE)
    short, kept = (part[part["ratio"] + CONSISTENT * part["error"] < 1] for part in (rows, amended))
    fall = rates.falls(powers)
    named = {
        "admissible attacks that fall short": (len(short), 0.0),
        "least measured over claimed": (rows["ratio"].min(), 1.0),
        "attacks of the amended (5.2) that fall short": (len(kept), 0.0),
        "least measured over claimed there": (amended["ratio"].min(), 1.0),
    }
    fitted = rates.as_numbers(powers if fall.empty else fall, "measured over claimed", "perturbations")
    corrected = SHIFTED not in set(short["response"]) or fall.empty
    found = (*numbers("perturbations", named, ""), *fitted)
    return Ruling(reads(short.empty, corrected=corrected), found, {"short": len(short), "admissible": len(rows)})


@judges("noisyhead/remark-5.1-window")
def remark_51_window(tables: Tables) -> Ruling:
    """For λ ≍ 1, (5.2) reduces to N²/L² ≲ α²μ² ≤ α²μ⁴ ≲ NL."""
    simplified, windows, every = tables["simplified"], tables["windows"], tables["perturbations"]
    grown = {float(str(q)): rates.far(rows, "N", "ratio") for q, rows in simplified.groupby("power")}
    lost = [q for q, power in grown.items() if power > LOST_POWER]
    below = every[every["admissible"] & (every["mu"] < 1)]
    shut = (~windows.loc[windows["penalty_over_least"] > 1, "open_at_mu_1"]).sum()
    found = (
        *_lower_ends(grown),
        *numbers("perturbations", {"admissible attacks with a shift below 1": (len(below), 0.0)}, ""),
        *numbers("windows", {"windows that are empty at a shift of 1": shut}, ""),
    )
    printed, decided = not lost and below.empty, several(simplified["N"])
    verdict = reads(printed, narrower=len(lost) < len(grown), decided=decided)
    grounds = " and ".join(ground for ground, there in (("long prompts", lost), ("small shifts", len(below))) if there)
    return Ruling(verdict, found, {"least": min(lost, default=None)}, grounds)


def _lower_ends(grown: Mapping[float, float]) -> Iterator[Number]:
    """The power of N that each power of the prompt length loses."""
    for q, power in grown.items():
        named = {"power of N in the lower end over $N^2/L^2$": (power, LOST_POWER)}
        yield from numbers("simplified", named, f"power = {q:g}")


@judges("noisyhead/remark-5.1-divergence")
def remark_51_divergence(tables: Tables) -> Ruling:
    """Some admissible perturbation sends ridge's displacement to infinity, while NoisyHead's tends to zero."""
    every, path = tables["perturbations"], tables["path"]
    ridge = {r: _along_L(select(every, perturbation=SMALL, response=r, admissible=True)) for r in RESPONSES}
    private = _along_L(few_steps(tables["heads"]))
    if private.empty or any(rows.empty for rows in ridge.values()) or not several(path["N"]):
        return Ruling(Verdict.UNTESTABLE)
    few, many = (rates.far(path, "N", name) for name in ("bound_few_steps", "limit_many_steps"))
    left = select(every, response=LEFT)[["displacement", "bound"]].max()
    ends = {
        "power of N in NoisyHead's bound after few steps": (few, -LOST_POWER),
        "power of N in NoisyHead's limit of many steps": (many, -LOST_POWER),
    }
    found = (
        *rates.as_numbers(ridge[LEFT], f"ridge's displacement, y {LEFT}", "perturbations"),
        *rates.as_numbers(ridge[SHIFTED], f"ridge's displacement, y {SHIFTED}", "perturbations"),
        *numbers("perturbations", {f"ridge at most, y {LEFT}": (left["displacement"], left["bound"])}, ""),
        *rates.as_numbers(private, "NoisyHead's displacement after few steps", "heads"),
        *numbers("path", ends, ""),
    )
    diverges = {response for response, rows in ridge.items() if len(rates.grows(rows))}
    apart = bool(diverges) and not (rates.falls(private).empty or few > -LOST_POWER)
    always = apart and not many > -LOST_POWER
    verdict = reads(printed=always and LEFT in diverges, corrected=always, narrower=apart)
    return Ruling(verdict, found, {}, "" if LEFT in diverges else "shifted response")


def _along_L(rows: pd.DataFrame) -> pd.DataFrame:
    """The fitted power of the displacement along L; empty for a single L."""
    return rates.fitted(select(rows, axis="L"), "displacement", "standard_error")
