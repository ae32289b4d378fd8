"""Verdicts on (4.22), Lemma C.5 and the last step, (C.60) and (C.61), of arXiv:2505.16329v2."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from costofprivacy.experiments.dpgd.deterministic_equivalent import trends
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import several
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, cite, select
from costofprivacy.judging.vocabulary import CONSISTENT

SOLVED = 1e-5  # relative difference that is rounding
APART = 0.1  # relative difference, or difference of powers, that is no rounding
LEVEL = 1.2  # what stays below this multiple of what it was has not grown
NOTHING = 1e-6  # of the bound
HEAVIEST = 4.5  # 99 % over 63 % quantile: 2.9 for a Gaussian's size, 4.6 for an exponential tail


@judges("dpgd/equation-4.22")
def equation_422(tables: Tables) -> Finding:
    """The noise before the last step, and by how much the last one is larger."""
    sums = tables["sums"]
    if not several(sums["n"]):
        return trends.SMALL
    harmonic, root = (_sum(sums, f"(4.22), {name}") for name in ("harmonic", "square root"))
    jump = _sum(sums, "last over the one before, harmonic")
    size, last = int(sums["n"].max()), "last over the one before, square root"
    none = _sum(sums, last)["value"].abs().max()
    ratio = float((jump["value"] / jump["printed"]).iloc[-1])
    falls, rises = _power(harmonic), _power(jump)
    numbers = (
        cite("last noise over the one before", tables, "sums", "value", against=float(jump["printed"].iloc[-1]),
             n=size, quantity="last over the one before, harmonic"),
        cite("the same where the rate ends at zero", tables, "sums", "value", against=0.0, n=size, quantity=last),
        Number("power of n of the noise's relative error", falls, None, -1.0, "sums", "quantity = (4.22), harmonic"),
        Number("power of n of the last over the one before", rises, None, 1.0, "sums"),
        Number("relative error, square root", root["value"].max(), None, SOLVED, "sums"),
    )  # fmt: skip
    change = "A schedule with two bounded derivatives whose noise has another size."
    failures = {
        "The last step's noise does not vanish with the learning rate.": none > 0,
        f"The last step's noise is {ratio:.2f} times what is printed.": abs(ratio - 1) > APART,
        f"The last step's noise over the one before goes like {trends.power(rises)}.": abs(rises - 1) > APART,
        f"The relative error of the approximate noise goes like {trends.power(falls)}.": falls > -1 + APART,
        "The approximate noise is not exact for the square-root schedule.": root["value"].max() > SOLVED,
    }
    for headline, broken in failures.items():
        if broken:
            return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        f"At the largest size the last step's noise is {jump['value'].iloc[-1]:,.0f} times that of the step before, "
        "unless the learning rate ends at zero."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/lemma-c.5")
def lemma_c5(tables: Tables) -> Finding:
    """The random cap in the place of 2/d, in the mean over the features, both lines of (C.33)."""
    sums = tables["sums"]
    rows = sums[sums["quantity"].str.startswith("(C.32)")].assign(bound=lambda r: r["printed"])
    if trends.too_small(rows):
        return trends.SMALL
    falls = [trends.fall(str(name), "sums", part) for name, part in rows.groupby("quantity", sort=False)]
    return trends.judge([fall for fall in falls if fall.share > NOTHING], "the shift from the random cap")


def _sum(sums: pd.DataFrame, quantity: str) -> pd.DataFrame:
    return select(sums, quantity=quantity).sort_values("n")


def _power(rows: pd.DataFrame, size: str = "n", column: str = "value") -> float:
    """The exponent between the last two sizes."""
    ends = np.log(rows.sort_values(size)[[size, column]].tail(2).to_numpy(dtype=float))
    return float((ends[1, 1] - ends[0, 1]) / (ends[1, 0] - ends[0, 0]))


# ------------------------------------------------------------------------------------------------------- last step


@judges("dpgd/equation-c.60")
def equation_c60(tables: Tables) -> Finding:
    """The remainder over (1 + √R)/√d, along d at every R and along R at every d; and how heavy its tail is."""
    table = tables["last-step"].assign(scaled=lambda r: r["upper"] / r["scale"])
    if not (several(table["d"]) and several(table["squared_norm"])):
        return trends.SMALL
    along_d = table.sort_values("d").groupby("squared_norm")["scaled"]
    growth = (along_d.last() / along_d.apply(lambda scaled: scaled.iloc[:-1].max())).max()
    power = max(_power(rows, "risk", "scaled") for _, rows in table.groupby("d"))
    tail, worst = (table["upper"] / table["middle"]).max(), table["scaled"].max()
    numbers = (
        Number("scaled remainder at the largest d over the largest before", growth, None, LEVEL, "last-step"),
        Number("power of the risk that is left between the last two", power, None, APART, "last-step"),
        Number("upper over middle quantile", tail, None, HEAVIEST, "last-step"),
        Number("largest upper quantile of the scaled remainder", worst, None, None, "last-step"),
    )
    change = "A remainder that grows faster in the dimension or the risk, or with a heavier tail."
    failures = {
        f"Scaled as claimed, the remainder is {compact(growth)} times larger in the largest dimension.": growth > LEVEL,
        f"Scaled as claimed, the remainder still grows like {trends.power(power, 'R')} with the risk.": power > APART,
        f"The remainder's upper percentile is {compact(tail)} times its typical size.": tail > HEAVIEST,
    }
    for headline, broken in failures.items():
        if broken:
            return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        f"Scaled as claimed, the remainder's upper percentile stays below {math.ceil(10 * worst) / 10:g} in all "
        "dimensions and at all risks."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/equation-c.61")
def equation_c61(tables: Tables) -> Finding:
    """The same beside log d/√d, at risks of order one."""
    table = tables["last-step"]
    one = min(table["squared_norm"], key=lambda square: abs(math.log(square)))
    rows = select(table, squared_norm=one).sort_values("d")
    if not several(rows["d"]):
        return trends.SMALL
    power, bound = _power(rows, "d", "upper"), _power(rows, "d", "bound")
    relative = (rows["upper_error"] / rows["upper"]).tail(2)
    error = float(np.hypot(*relative) / np.log(rows["d"].iloc[-1] / rows["d"].iloc[-2]))
    number = Number(
        "power of d of the upper quantile", power, error, bound, "last-step", "last two d, risk of order one"
    )
    change = "A remainder that falls more slowly than the bound, at larger dimensions."
    sentence = "The remainder's upper percentile goes like {power}{only}, the bound like {bound}."
    shown = {"power": trends.power(power, "d"), "bound": trends.power(bound, "d")}
    if power > bound + CONSISTENT * error:
        headline = sentence.format(only=" only", **shown)
        return Finding(Verdict.FAILS, headline, (number,), Consequence.CONCLUSION, would_change=change)
    return Finding(Verdict.HOLDS, sentence.format(only="", **shown), (number,), would_change=change)
