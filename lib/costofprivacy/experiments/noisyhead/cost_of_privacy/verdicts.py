"""Verdicts on section 4 of arXiv:2504.16000v2: the split of the test error, Theorem 4.1 and Remarks 4.1-4.3."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.experiments.noisyhead.cost_of_privacy.trends import Trend, trend
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER, LOST_POWER_SIMULATED, several
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select
from costofprivacy.judging.vocabulary import CONSISTENT

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
NONE, NUMBERS, CONCLUSION = Consequence
IDLE = 0.2  # Π_R plays no part where the noise is below this share of what R allows
ROUNDING = 1e-9
DOMINATED = 0.1  # of the other part, at most
DECAYS = -1.0  # power of T beyond which an exponential has fallen
AXES = ("T", "N", "L", "D")
BIAS, NOISE = "rest at ridge(2λ)", "noise of mean zero"
HALVED = r"$\tilde\Gamma^{t+1} = (1 - \lambda\eta_0)\Gamma^t - \dots$ for $(1 - 2\lambda\eta_0)\Gamma^t - \dots$"
AMENDED = (
    r"With $\lambda/2$ in the update and a $G \ge \|Z_k\|$ at every $L$: "
    r"$\mathbb{E}\langle\hat\Gamma - \Gamma^*, Z\rangle^2 \le \mathbb{E}\|Z\|^2\{a^{2T}R^2/D^2 + "
    r"s^2(1 - a^{2T})/(1 - a^2)\}$, $a = 1 - \eta_0\lambda$, $s$ the noise's standard deviation."
)


def failure_probability(events: pd.DataFrame) -> float:
    """κ, the same in all rows."""
    return float(events["kappa"].max())


def short(rows: pd.DataFrame, failure: float) -> pd.Series:
    """L ≤ D log(NL/κ): the prompts in which ‖Z‖ does not outgrow C/√L."""
    return rows["D"] * np.log(rows["N"] * rows["L"] / failure) >= rows["L"]


def idle(sides: pd.DataFrame) -> pd.DataFrame:
    """Rows of cells in which Π_R plays no part: the noise is far below what R allows."""
    noise = select(sides, quantity="noise")
    calm = noise[noise["value"] < IDLE * noise["limit_of_R"]]
    return sides.merge(calm[["axis", "setting", "N", "L", "D", "T"]])


def quantity(sides: pd.DataFrame, setting: str, axis: str, name: str) -> pd.DataFrame:
    """The rows of one quantity along one axis, in order."""
    return select(sides, setting=setting, axis=axis, quantity=name).sort_values(["N", "L", "D", "T"])


def lost(trends: Iterable[Trend | None]) -> list[Trend]:
    """Those that have lost a power, the worst first."""
    return sorted((g for g in trends if g is not None and g.lost), key=lambda g: -g.power)


def _along(rows: pd.DataFrame, axis: str, right: pd.Series | float) -> Trend | None:
    """How a measured quantity goes against ``right`` along an axis."""
    return trend(rows, axis, rows["value"] / right, rows["standard_error"] / right, LOST_POWER_SIMULATED)


@judges("noisyhead/theorem-4.1")
def theorem_41(tables: Tables) -> Finding:
    """(4.2): left over right along each size, its descent part, and the amended bound in the corrected setting."""
    sides = tables["both-sides"]
    totals = {axis: quantity(idle(sides), "printed", axis, "total") for axis in AXES}
    trends = {axis: _along(rows, axis, rows["bound_descent"] + rows["bound_noise"]) for axis, rows in totals.items()}
    descent = quantity(sides, "printed", "T", "descent")
    rests = _along(descent, "T", descent["bound_descent"])
    worst, inside, exceeded = lost(trends.values()), _short_ratio(tables), _amended_score(sides)
    numbers = [g.number("measured over claimed", "both-sides", f"axis = {a}, printed") for a, g in trends.items() if g]
    numbers += [rests.number("descent over its part", "both-sides", "axis = T, printed")] if rests else []
    numbers += [
        Number("largest measured over claimed, short prompts", inside, None, 1.0, "both-sides", "axis = L, printed"),
        Number("largest excess over the amended bound, in errors", exceeded, None, CONSISTENT, "both-sides"),
    ]
    change = "Measured over claimed that stays bounded as prompts grow longer at fixed $N$ and $D$."
    found = partial(Finding, numbers=tuple(numbers), would_change=change)
    if not worst and (rests is None or None in trends.values()):
        return found(UNTESTABLE, "Fewer than two sizes without capped noise show no rate.")
    if not worst and not lost([rests]):
        return found(HOLDS, "The main bound on the cost of privacy exceeds the measured cost along every size.")
    if exceeded > CONSISTENT:
        headline = f"The main bound fails, and so does its amended form, by {compact(exceeded)} standard errors."
        return found(FAILS, headline, consequence=CONCLUSION)
    if not worst:
        headline = "The main bound on the cost of privacy holds once the update's penalty is halved."
        return found(CORRECTED, headline, consequence=NUMBERS, correction=AMENDED)
    power = compact(worst[0].power)
    if [g.size for g in worst] == ["L"] and inside <= 1:
        headline = (
            f"The main bound loses to longer prompts: measured over claimed grows like the power {power} of length."
        )
        condition = (
            r"Add $L \lesssim D\log(NL/\kappa)$, which excludes all longer prompts: those of section 6.1, "
            r"$L = \sqrt N$ at fixed $D$, and the $L^{-3}$ of Theorem 4.2(i). "
        )
        return found(NARROWER, headline, consequence=CONCLUSION, correction=condition + AMENDED)
    headline = f"The main bound is exceeded by the power {power} of the {worst[0].words}."
    return found(FAILS, headline, consequence=CONCLUSION)


def _amended_score(sides: pd.DataFrame) -> float:
    """By how many standard errors the corrected algorithm exceeds the amended bound where it does so most."""
    rows = select(sides, setting="corrected", quantity="total")
    return float(((rows["value"] - rows["bound_amended"]) / rows["standard_error"]).max())


def _short_ratio(tables: Tables) -> float:
    """The largest left over right of (4.2) among short prompts; ∞ where there are none."""
    rows = quantity(tables["both-sides"], "printed", "L", "total")
    rows = rows[short(rows, failure_probability(tables["events"]))]
    ratio = rows["value"] / (rows["bound_descent"] + rows["bound_noise"])
    return float(ratio.max()) if len(ratio) else np.inf


@judges("noisyhead/remark-4.1")
def remark_41(tables: Tables) -> Finding:
    """The noise grows with T as its bound does, descent decays as its bound does, and some finite T is best."""
    sides = tables["both-sides"]
    noise = quantity(idle(sides), "printed", "T", "noise")
    late = noise[noise["T"] >= noise["T"].median()]
    change = "Descent that decays as printed, or noise that grows with another power of the number of steps."
    total, descent = (quantity(sides, "printed", "T", name) for name in ("total", "descent"))
    mended = quantity(sides, "corrected", "T", "descent")
    rests, decays = _along(descent, "T", descent["bound_descent"]), _along(mended, "T", mended["zero_risk"])
    if not several(late["T"]) or rests is None or decays is None:
        return Finding(UNTESTABLE, "Too few step counts without capped noise show no power.", would_change=change)
    power, error = _fits.power_law(late["T"], late["value"], late["standard_error"])
    claimed, _ = _fits.power_law(late["T"], late["bound_noise"], late["standard_error"])
    best, row, p = total.loc[total["value"].idxmin()], "axis = T, printed", compact(power)
    numbers = (
        Number("power of T in the noise", power, error, claimed, "both-sides", row),
        rests.number("descent over its part", "both-sides", row),
        decays.number("descent with half the penalty", "both-sides", "axis = T, corrected"),
        Number("best T", best["T"], None, total["T"].max(), "both-sides", row),
        Number(
            "excess risk at the best T", best["value"], best["standard_error"], best["zero_risk"], "both-sides", row
        ),
    )
    found = partial(Finding, numbers=numbers, would_change=change)
    if abs(power - claimed) > CONSISTENT * error:
        headline = f"Noise grows like the power {p} of the number of steps, not {compact(claimed)}."
    elif best["T"] == total["T"].max():
        headline = "The largest number of steps tried is the best: no finite one is seen to be."
    elif not rests.lost:
        return found(HOLDS, f"The cost splits as claimed: descent decays, noise grows like the power {p} of the steps.")
    elif decays.power < DECAYS:
        headline = (
            f"Noise grows like the power {p} of the steps, as claimed; descent decays only with a halved penalty."
        )
        return found(CORRECTED, headline, consequence=NUMBERS, correction=HALVED + ".")
    else:
        headline = "Descent does not decay as claimed, not even with a halved penalty."
    return found(FAILS, headline, consequence=CONCLUSION)


@judges("noisyhead/remark-4.2")
def remark_42(tables: Tables) -> Finding:
    """At the T of Theorem 4.2(i) noise is far above what is left without it, and does not grow with D."""
    table = tables["dominance"]
    few, measured = select(table, axis="D"), quantity(idle(tables["both-sides"]), "printed", "D", "noise")
    fall, seen = trend(few, "D", few["noise"], 0.0, LOST_POWER), _along(measured, "D", 1.0)
    change = "Noise that stays above what descent and the projection leave as prompts grow with their number."
    if fall is None or seen is None:
        return Finding(UNTESTABLE, "Too few dimensions without capped noise.", would_change=change)
    printed, halved = ((table[f"descent_{p}"] + table["projection"]) / table["noise"] for p in ("printed", "halved"))
    inside, grown = halved[table["inside"]].max(), lost([fall, seen])
    numbers = (
        Number("largest that is left over noise, printed", printed.max(), None, DOMINATED, "dominance", "all"),
        Number("the same with half the penalty", halved.max(), None, DOMINATED, "dominance", "all"),
        Number("the same, short prompts alone", inside, None, DOMINATED, "dominance", "inside"),
        fall.number("the noise", "dominance", "axis = D"),
        seen.number("the measured noise", "both-sides", "axis = D, printed, noise"),
    )
    found = partial(Finding, numbers=numbers, would_change=change)
    if grown:
        headline = f"In low dimension the noise grows like the power {compact(grown[0].power)} of the dimension."
    elif printed.max() < DOMINATED:
        return found(
            HOLDS, "In low dimension noise dominates descent at every size, and more features do not raise it."
        )
    elif halved.max() < DOMINATED:
        headline = "In low dimension noise dominates descent once the update's penalty is halved."
        return found(CORRECTED, headline, consequence=NUMBERS, correction=HALVED + ".")
    elif inside < DOMINATED:
        helps = "; more features make it smaller" if fall.power < 0 and seen.power + 2 * seen.error < 0 else ""
        headline = f"In low dimension noise dominates only while prompts are as short as $\\log(N/\\kappa)${helps}."
        excluded = r"Add $L \lesssim \log(N/\kappa)$, which excludes every $L$ that grows like a power of $N$; put "
        return found(NARROWER, headline, consequence=NUMBERS, correction=f"{excluded}{HALVED}.")
    else:
        first = table[(halved >= DOMINATED) & table["inside"]].iloc[0]
        headline = f"Noise falls to what descent leaves even for short prompts, at {compact(first['N'])} of them."
    return found(FAILS, headline, consequence=CONCLUSION)


@judges("noisyhead/remark-4.3")
def remark_43(tables: Tables) -> Finding:
    """A comparison in words."""
    headline = "A comparison in words, “qualitatively different”: nothing measurable follows."
    return Finding(UNTESTABLE, headline, would_change="A stated power to compare.")


@judges("noisyhead/section-4-split")
def section_4_split(tables: Tables) -> Finding:
    """L_test(Γ̂) ≤ 2L_test(Γ*) + 2(difference of the predictions)², prompt by prompt."""
    worst = tables["split"]["split_worst"].max()
    numbers = (Number("largest left over right of any prompt", worst, None, 1.0, "split", "all"),)
    found = partial(Finding, numbers=numbers, would_change="A prompt on which the left side exceeds the right.")
    if worst <= 1 + ROUNDING:
        return found(HOLDS, "The test error never exceeds twice the non-private one plus twice the squared difference.")
    headline = f"On some prompt the test error exceeds what the split allows, by the factor {compact(worst)}."
    return found(FAILS, headline, consequence=CONCLUSION)


@judges("noisyhead/section-4-extra-error")
def section_4_extra_error(tables: Tables) -> Finding:
    """Is E L_test(Γ̂) − E L_test(Γ*) the squared difference of predictions, up to one constant for all penalties?"""
    table = tables["split"]
    table = table.assign(
        ratio=table["error_gap"] / table["excess_risk"], error=table["gap_error"] / table["excess_risk"]
    )
    noise, bias = select(table, difference=NOISE), select(table, difference=BIAS)
    change = "An extra error that is one multiple of the squared difference at every penalty, for a bias too."
    trends = [trend(part, "penalty", part["ratio"], part["error"], LOST_POWER_SIMULATED) for part in (noise, bias)]
    if None in trends:
        return Finding(UNTESTABLE, "A single penalty shows no proportion.", would_change=change)
    away, largest = ((noise["ratio"] - 1) / noise["error"]).abs().max(), bias["ratio"].max()
    numbers = (
        Number("extra error over squared difference, noise, from 1 in errors", away, None, CONSISTENT, "split", NOISE),
        Number("extra error over squared difference, bias, largest", largest, None, 1.0, "split", BIAS),
        *(g.number("that ratio", "split", name) for name, g in zip((NOISE, BIAS), trends) if g),
    )
    found = partial(Finding, numbers=numbers, would_change=change)
    if not lost(trends):
        return found(HOLDS, "The extra test error is of the order of the squared difference of predictions.")
    if lost(trends[:1]) or away > CONSISTENT:
        headline = "The extra test error is not of the order of the squared difference of predictions."
        return found(FAILS, headline, consequence=CONCLUSION)
    headline = (
        f"The extra test error is that squared difference for noise, for a bias up to {compact(largest)} times it."
    )
    correction = (
        r"True for a difference of mean zero given the data, which excludes every bias: "
        r"$\mathbb{E}\mathcal{L}(\hat\Gamma) - \mathbb{E}\mathcal{L}(\Gamma^*) = "
        r"\mathbb{E}\langle\hat\Gamma - \Gamma^*, Z\rangle^2 "
        r"- 2\mathbb{E}(y - \langle\Gamma^*, Z\rangle)\langle\hat\Gamma - \Gamma^*, Z\rangle$."
    )
    return found(NARROWER, headline, consequence=NUMBERS, correction=correction)
