"""Verdicts on (4.22), Lemma C.5 and the last step, (C.60) and (C.61), of arXiv:2505.16329v2."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from costofprivacy.experiments.dpgd.deterministic_equivalent import trends
from costofprivacy.judging.growth import several
from costofprivacy.judging.judges import Ruling, judges, numbers, reads
from costofprivacy.judging.tables import Tables, describe, select
from costofprivacy.judging.vocabulary import ABOUT, CONSISTENT

SOLVED = 1e-5  # relative difference that is rounding
LEFT = 0.1  # power of the risk up to which none is left
NOTHING = 1e-6  # of the bound
HEAVIEST = 4.5  # 99 % over 63 % quantile: 2.9 for a Gaussian's size, 4.6 for an exponential tail


@judges("dpgd/equation-4.22")
def equation_422(tables: Tables) -> Ruling:
    """The noise before the last step, and by how much the last one is larger."""
    sums = tables["sums"]
    if not several(sums["n"]):
        return trends.SMALL
    jump, none = (_sum(sums, f"last over the one before, {name}") for name in ("harmonic", "square root"))
    last, zero = jump.iloc[-1], none.iloc[-1]
    falls, rises = _power(_sum(sums, "(4.22), harmonic")), _power(jump)
    off = _sum(sums, "(4.22), square root")["value"].max()
    named = {
        "last noise over the one before": (last["value"], last["printed"], _place(last)),
        "the same where the rate ends at zero": (zero["value"], 0.0, _place(zero)),
        "power of n of the noise's relative error": (falls, -1.0, "quantity = (4.22), harmonic"),
        "power of n of the last over the one before": (rises, 1.0),
        "relative error, square root": (off, SOLVED),
    }
    unlike = [abs(ratio - 1) > ABOUT for ratio in (last["value"] / last["printed"], rises)]
    broken = [*unlike, none["value"].any(), falls > -1 + ABOUT, off > SOLVED]
    return Ruling(reads(printed=not any(broken)), numbers("sums", named, ""), {"jump": last["value"]})


def _place(row: pd.Series) -> str:
    return describe({name: row[name] for name in ("n", "quantity")})


@judges("dpgd/lemma-c.5")
def lemma_c5(tables: Tables) -> Ruling:
    """The random cap in the place of 2/d, in the mean over the features, both lines of (C.33)."""
    sums = tables["sums"]
    rows = sums[sums["quantity"].str.startswith("(C.32)")].assign(bound=lambda r: r["printed"])
    if trends.too_small(rows):
        return trends.SMALL
    falls = [trends.fall(str(name), "sums", part) for name, part in rows.groupby("quantity", sort=False)]
    return trends.judge([fall for fall in falls if fall.share > NOTHING])


def _sum(sums: pd.DataFrame, quantity: str) -> pd.DataFrame:
    return select(sums, quantity=quantity).sort_values("n")


def _power(rows: pd.DataFrame, size: str = "n", column: str = "value") -> float:
    """The exponent between the last two sizes."""
    ends = np.log(rows.sort_values(size)[[size, column]].tail(2).to_numpy(dtype=float))
    return float((ends[1, 1] - ends[0, 1]) / (ends[1, 0] - ends[0, 0]))


# ------------------------------------------------------------------------------------------------------- last step


@judges("dpgd/equation-c.60")
def equation_c60(tables: Tables) -> Ruling:
    """The remainder over (1 + √R)/√d, along d at every R and along R at every d; and how heavy its tail is."""
    table = tables["last-step"].assign(scaled=lambda r: r["upper"] / r["scale"])
    if not (several(table["d"]) and several(table["squared_norm"])):
        return trends.SMALL
    along_d = table.sort_values("d").groupby("squared_norm")["scaled"]
    growth = (along_d.last() / along_d.apply(lambda scaled: scaled.iloc[:-1].max())).max()
    power = max(_power(rows, "risk", "scaled") for _, rows in table.groupby("d"))
    tail, worst = (table["upper"] / table["middle"]).max(), table["scaled"].max()
    named = {
        "scaled remainder at the largest d over the largest before": (growth, trends.LEVEL),
        "power of the risk that is left between the last two": (power, LEFT),
        "upper over middle quantile": (tail, HEAVIEST),
        "largest upper quantile of the scaled remainder": (worst,),
    }
    broken = growth > trends.LEVEL or power > LEFT or tail > HEAVIEST
    return Ruling(reads(printed=not broken), numbers("last-step", named, ""), {"most": math.ceil(10 * worst) / 10})


@judges("dpgd/equation-c.61")
def equation_c61(tables: Tables) -> Ruling:
    """The same beside log d/√d, at risks of order one."""
    table = tables["last-step"]
    one = min(table["squared_norm"], key=lambda square: abs(math.log(square)))
    rows = select(table, squared_norm=one).sort_values("d")
    if not several(rows["d"]):
        return trends.SMALL
    power, bound = _power(rows, "d", "upper"), _power(rows, "d", "bound")
    relative = (rows["upper_error"] / rows["upper"]).tail(2)
    error = float(np.hypot(*relative) / np.log(rows["d"].iloc[-1] / rows["d"].iloc[-2]))
    named = {"power of d of the upper quantile": {"value": power, "error": error, "against": bound}}
    found = numbers("last-step", named, "last two d, risk of order one")
    slower = power > bound + CONSISTENT * error
    return Ruling(reads(printed=not slower), found, {"power": power, "bound": bound})
