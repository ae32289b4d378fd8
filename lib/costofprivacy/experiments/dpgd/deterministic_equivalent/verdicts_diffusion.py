"""Verdicts on the diffusion (4.14), Theorem 5, (C.45) and Lemmas C.2 to C.4 of arXiv:2505.16329v2."""

from __future__ import annotations

import math

import pandas as pd

from costofprivacy.experiments.dpgd.deterministic_equivalent import trends
from costofprivacy.experiments.dpgd.deterministic_equivalent.homogenised import SCALE, TAIL
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import several
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, pick, select
from costofprivacy.judging.vocabulary import CONSISTENT

LEVEL = 1.2  # what stays below this multiple of its first value has not grown
NOTHING = 0.01  # growth of a logarithm that is none
HEAVIEST = math.log(1 - TAIL) / math.log(1 - SCALE)  # the tail of (C.17) and (C.26) over their value at y = 1
DRIFT = r"$d\Theta_t = -\bar\eta\mu_c\nabla\mathcal P\,dt + \dots$, without the 2 in the drift."
PATHS = "Paths along which the printed drift tracks the algorithm, or the derived one does not."


@judges("dpgd/equation-4.14")
def equation_414(tables: Tables) -> Finding:
    """Which drift has the risk of Algorithm 1?"""
    return _tracking(tables["homogenised"], "risk")


@judges("dpgd/definition-c.1")
def definition_c1(tables: Tables) -> Finding:
    """The same drift."""
    return _tracking(tables["homogenised"], "risk")


@judges("dpgd/remark-4.3")
def remark_43(tables: Tables) -> Finding:
    """Does the risk of the diffusion track that of Algorithm 1?"""
    return _tracking(tables["homogenised"], "risk")


@judges("dpgd/theorem-5")
def theorem_5(tables: Tables) -> Finding:
    """Do all quadratics of (C.2)?"""
    return _tracking(tables["homogenised"], "resolvents")


def _tracking(table: pd.DataFrame, quantity: str) -> Finding:
    """Whether sup |q(Θ) − q(θ)| falls like log²n/√n, with the drift printed and the drift derived."""
    names = [f"{quantity}, {drift} drift" for drift in ("printed", "derived")]
    falls = [trends.fall(name, "homogenised", select(table, quantity=name)) for name in names]
    headlines = (
        "The printed diffusion tracks the algorithm: their distance goes like {printed}.",
        "Half its drift makes the diffusion track the algorithm; as printed their distance goes like {printed} only.",
        "With neither drift does the diffusion track the algorithm; with half of it the distance goes like {mended}.",
    )
    return _two_readings(table, falls, headlines, Consequence.NUMBERS, DRIFT)


@judges("dpgd/equation-c.45")
def equation_c45(tables: Tables) -> Finding:
    """Is R the contour integral with i/4π, along the printed diffusion, or with i/2π along the derived one?"""
    table = tables["diffusion"]
    readings = {"printed": "i/4π", "derived": "i/2π"}
    falls = [
        trends.fall(f"{drift} drift, {integral}", "diffusion", select(table, drift=drift, integral=integral))
        for drift, integral in readings.items()
    ]
    headlines = (
        "The risk of the printed diffusion approaches the printed integral like {printed}.",
        "With drift and integral mended their distance goes like {mended}; as printed it goes like {printed} only.",
        "Even with drift and integral mended their distance goes like {mended} only.",
    )
    correction = rf"$R(t) = \frac{{i}}{{2\pi}}\oint z\hat q\,dz$; and {DRIFT}"
    return _two_readings(table, falls, headlines, Consequence.NUMBERS, correction)


def _two_readings(
    table: pd.DataFrame, falls: list[trends.Fall], headlines: tuple[str, str, str], weight: Consequence, correction: str
) -> Finding:
    """Whether a distance falls like log²n/√n as printed, once it is mended, or neither way."""
    if trends.too_small(table):
        return trends.SMALL
    printed, mended = falls
    numbers = tuple(fall.number for fall in falls)
    holds, corrected, fails = (
        text.format(printed=trends.power(printed.exponent), mended=trends.power(mended.exponent)) for text in headlines
    )
    if not printed.resolved or (printed.contradicted and not mended.resolved):
        headline = "Too few trials to tell how the distance falls."
        return Finding(Verdict.UNTESTABLE, headline, numbers, would_change=PATHS)
    if not printed.contradicted:
        return Finding(Verdict.HOLDS, holds, numbers, would_change=PATHS)
    if not mended.contradicted:
        return Finding(Verdict.CORRECTED, corrected, numbers, weight, correction, PATHS)
    return Finding(Verdict.FAILS, fails, numbers, Consequence.CONCLUSION, would_change=PATHS)


# ---------------------------------------------------------------------------------------------------- martingales


@judges("dpgd/lemma-c.2")
def lemma_c2(tables: Tables) -> Finding:
    """The discretisation error against (C.16), the martingale against (C.17)."""
    sums, table, name = tables["sums"], tables["homogenised"], "martingale of the private noise"
    if not (several(sums["n"]) and several(table["n"])):
        return trends.SMALL
    rows = sums[sums["quantity"].str.startswith("(C.16)")]
    worst, within = (float((rows["value"] / rows[bound]).max()) for bound in ("printed", "derived"))
    numbers = (
        Number("discretisation error over its bound", worst, None, 1.0, "sums", "quantity = (C.16)"),
        Number("discretisation error over the derived bound", within, None, 1.0, "sums", "quantity = (C.16)"),
        *_martingale_numbers(table, name),
    )
    change = "A schedule whose discretisation error exceeds the mended bound, or a martingale of heavier tail."
    if within > 1 and worst > 1:
        headline = f"The discretisation error is {compact(worst)} times its bound, and exceeds even the mended bound."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    heavy = _martingale_fails(table, name)
    if heavy:
        return Finding(Verdict.FAILS, heavy, numbers, Consequence.CONCLUSION, would_change=change)
    if worst <= 1:
        headline = (
            f"The discretisation error is at most {compact(worst)} of its bound; the martingale falls as claimed."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = (
        f"The discretisation error reaches {compact(worst)} times its bound, and {compact(within)} of the bound with "
        "its constant mended."
    )
    correction = r"$\gamma_n^2c^2C_{\eta,2}/(\rho^2n)$ for $2\gamma_nC_{\eta,2}/(\rho^2n)$."
    return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NONE, correction, change)


@judges("dpgd/lemma-c.3")
def lemma_c3(tables: Tables) -> Finding:
    """The martingale of the diffusion, which its drift does not touch."""
    table, name = tables["homogenised"], "martingale of the diffusion"
    if not several(table["n"]):
        return trends.SMALL
    numbers, change = _martingale_numbers(table, name), "A supremum that falls more slowly, or has a heavier tail."
    heavy = _martingale_fails(table, name)
    if heavy:
        return Finding(Verdict.FAILS, heavy, numbers, Consequence.CONCLUSION, would_change=change)
    power, tail = trends.power(numbers[0].value), compact(numbers[1].value)
    headline = f"The martingale goes like {power} over all sizes, and its upper decile is {tail} times its scale."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


def _martingale_numbers(table: pd.DataFrame, name: str) -> tuple[Number, Number]:
    """The power of n from the first to the last size, and the heaviest tail."""
    rows = select(table, quantity=name).sort_values("n")
    ends = rows.iloc[[0, -1]]
    fall = trends.fall(name, "homogenised", ends)
    tail = float((rows["tail"] / rows["scale"]).max())
    return (
        Number("power of n over all sizes", fall.exponent, fall.error, -0.5, "homogenised", f"quantity = {name}"),
        Number("upper decile over the scale, at worst", tail, None, HEAVIEST, "homogenised", f"quantity = {name}"),
    )


def _martingale_fails(table: pd.DataFrame, name: str) -> str:
    """What of a bound Cn^(−1/2)y with tail e^(−y) a martingale breaks, in words; empty where it breaks nothing."""
    rows = select(table, quantity=name).sort_values("n")
    power, tail = (number.value for number in _martingale_numbers(table, name))
    scaled, error = (rows[column] * rows["n"] ** 0.5 for column in ("value", "standard_error"))
    growth = scaled.iloc[-1] - LEVEL * scaled.iloc[0]
    if growth > CONSISTENT * math.hypot(error.iloc[-1], LEVEL * error.iloc[0]):
        return f"The martingale goes like {trends.power(power)} only, over all sizes."
    if tail > HEAVIEST:
        return f"The martingale's upper decile is {compact(tail)} times its scale."
    return ""


@judges("dpgd/lemma-c.4")
def lemma_c4(tables: Tables) -> Finding:
    """Do the errors of both processes grow by no more as n grows, at ‖θ*‖ = 1?"""
    table = tables["homogenised"]
    if not several(table["n"]):
        return trends.SMALL
    ends = {name: _growth(table, name) for name in ("algorithm", "diffusion")}
    numbers = tuple(
        Number(f"{what}, {name}, {place} n", size, None, None, "homogenised", f"quantity = growth of the {name}")
        for name, pair in ends.items()
        for place, row in zip(("first", "last"), pair)
        for what, size in _growths(row).items()
    )
    change = r"A growth of the squared error that rises with the dimension at $\|\theta^*\| = 1$."
    grown = [name for name, pair in ends.items() if _grows(*pair)]
    shown = grown[0] if grown else max(ends, key=lambda name: float(ends[name][0]["tail"]))
    first, last = (compact(row["tail"]) for row in ends[shown])
    headline = (
        f"The upper decile of the squared error's growth is {first} at the smallest size and {last} at the largest."
    )
    if grown:
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


def _growth(table: pd.DataFrame, name: str) -> tuple[pd.Series, pd.Series]:
    """The growth of a process at the first and the last n."""
    rows = select(table, quantity=f"growth of the {name}")
    return pick(rows.nsmallest(1, "n")), pick(rows.nlargest(1, "n"))


def _grows(first: pd.Series, last: pd.Series) -> bool:
    """Whether any of `_growths` is larger at the last n than at the first."""
    before, after = _growths(first), _growths(last)
    return any(after[what] > LEVEL * before[what] + NOTHING for what in before)


def _growths(row: pd.Series) -> dict[str, float]:
    """Mean and tail of log sup ‖v‖²/‖v_0‖², and its spread in units of n^(−1/2)."""
    scaled = row["standard_deviation"] * row["n"] ** 0.5
    return {"mean growth": row["value"], "upper decile of the growth": row["tail"], "spread times √n": scaled}
