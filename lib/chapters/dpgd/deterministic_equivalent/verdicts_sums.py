"""Verdicts on (4.22), Lemma C.5 and the last step, (C.60) and (C.61), of arXiv:2505.16329v2."""

import math
from typing import Any

import numpy as np
import pandas as pd

from chapters.dpgd.deterministic_equivalent import trends
from chapters.dpgd.deterministic_equivalent.trends import LEVEL
from companion.judging.growth import LOST_POWER, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, describe, select
from companion.judging.vocabulary import ABOUT, CONSISTENT

SOLVED = 1e-5  # relative difference that is rounding
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
    named: dict[str, tuple[Any, ...]] = {
        "variance of the last noise over the one before": (last["value"], last["printed"], _place(last)),
        "the same where the rate ends at zero": (zero["value"], 0.0, _place(zero)),
        "power of n in the relative error of (4.22)": (falls, -1.0, "quantity = (4.22), harmonic"),
        "power of n in the last variance over the one before": (rises, 1.0),
        "relative error of (4.22), square root": (off, SOLVED),
    }
    unlike = [abs(ratio - 1) > ABOUT for ratio in (last["value"] / last["printed"], rises)]
    broken = [*unlike, none["value"].any(), falls > -1 + ABOUT, off > SOLVED]
    decided = not any(math.isnan(value[0]) for value in named.values())
    quoted = {"jump": last["value"], "n": last["n"]}
    return Ruling(reads(printed=not any(broken), decided=decided), numbers("sums", named, ""), quoted)


def _place(row: pd.Series) -> str:
    return describe({name: row[name] for name in ("n", "quantity")})


@judges("dpgd/lemma-c.5")
def lemma_c5(tables: Tables) -> Ruling:
    """What the random cap changes compared with 2/d, in the mean over the features, in both lines of (C.33)."""
    sums = tables["sums"]
    rows = sums[sums["quantity"].str.startswith("(C.32)")].assign(bound=lambda r: r["printed"])
    if trends.too_small(rows):
        return trends.SMALL
    falls = [trends.fall(_line(str(name)), "sums", part) for name, part in rows.groupby("quantity", sort=False)]
    return trends.judge([fall for fall in falls if not fall.share <= NOTHING])


def _line(quantity: str) -> str:
    """Which line of (C.33) a sum is, and where its learning rate lies."""
    place, _, squares = quantity.removeprefix("(C.32), ").partition(", ")
    return f"{'second' if squares else 'first'} line of (C.33), learning rate {place}"


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
        "scaled remainder at the largest d over the largest before": (growth, LEVEL),
        "power of the risk in the scaled remainder, two largest risks": (power, LOST_POWER),
        "99 % quantile of the remainder over its 63 % quantile, largest": (tail, HEAVIEST),
        "largest 99 % quantile of the scaled remainder": (worst,),
    }
    known = not (table["scaled"] + table["middle"]).isna().any()
    verdict = reads(printed=growth <= LEVEL and power <= LOST_POWER and tail <= HEAVIEST, decided=known)
    return Ruling(verdict, numbers("last-step", named, ""), {"most": math.ceil(10 * worst) / 10 if known else worst})


@judges("dpgd/equation-c.61")
def equation_c61(tables: Tables) -> Ruling:
    """The same compared with log d/√d, at risks of order one."""
    table = tables["last-step"]
    one = min(table["squared_norm"], key=lambda square: abs(math.log(square)))
    rows = select(table, squared_norm=one).sort_values("d")
    if not several(rows["d"]):
        return trends.SMALL
    power, bound = _power(rows, "d", "upper"), _power(rows, "d", "bound")
    relative = (rows["upper_error"] / rows["upper"]).tail(2)
    error = float(np.hypot(*relative) / np.log(rows["d"].iloc[-1] / rows["d"].iloc[-2]))
    named = {"power of d in the 99 % quantile of the remainder": {"value": power, "error": error, "against": bound}}
    found = numbers("last-step", named, "last two d, risk of order one")
    verdict = reads(printed=power <= bound + CONSISTENT * error, decided=not math.isnan(power + bound + error))
    return Ruling(verdict, found, {"power": power, "bound": bound})
