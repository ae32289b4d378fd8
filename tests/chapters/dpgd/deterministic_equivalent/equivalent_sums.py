"""Cases for the judges of (4.22), Lemma C.5 and the last step, (C.60) and (C.61)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from companion.judging.findings import Verdict
from tests.chapters.dpgd.deterministic_equivalent.equivalent_tables import sized
from tests.chapters.machinery import Case, Tables, change

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
C5, E422, C60, C61 = "dpgd/lemma-c.5", "dpgd/equation-4.22", "dpgd/equation-c.60", "dpgd/equation-c.61"


def summed(t: Tables, quantity: str, value: Callable[[pd.DataFrame], Any]) -> Tables:
    return {"sums": change(t["sums"], "value", value, t["sums"]["quantity"] == quantity)}


CAPS = [f"(C.32), {place} the cap{line}" for place in ("below", "at", "above") for line in ("", ", squares")]
JUMP = "last over the one before, harmonic"


def remainder(t: Tables, factor: Callable[[pd.DataFrame], Any], column: str = "upper") -> Tables:
    return {"last-step": change(t["last-step"], column, lambda r: factor(r) * r[column])}


def at_d(t: Tables, d: int, factor: float, column: str = "upper") -> Tables:
    return remainder(t, lambda r: np.where(r["d"] == d, factor, 1.0), column)


def just(t: Tables, last: float, middle: float) -> Tables:
    """A remainder that is one everywhere but in the largest d."""
    table = t["last-step"]
    return {"last-step": table.assign(scale=1.0, middle=middle, upper=np.where(table["d"] == 1000, last, 1.0))}


CASES = [
    Case(C60, "just level enough", lambda t: just(t, 1.2, 0.5), HOLDS, says="1.2 in"),
    Case(C60, "just light enough", lambda t: just(t, 1.0, 1 / 4.5), HOLDS, says="below 1 in"),
    Case(
        C61,
        "exactly the bound",
        lambda t: {"last-step": t["last-step"].assign(upper=t["last-step"]["bound"], upper_error=0.0)},
        HOLDS,
    ),
    Case(E422, "just exact", lambda t: summed(t, "(4.22), square root", lambda r: 1e-5), HOLDS),
    *(
        case
        for name in CAPS
        for case in (
            Case(C5, f"{name}: level", lambda t, q=name: summed(t, q, lambda r: 0.5), FAILS),
            Case(C5, f"{name}: a tenth", lambda t, q=name: summed(t, q, lambda r: r["n"] ** -0.1), FAILS),
            Case(C5, f"{name}: the bound", lambda t, q=name: summed(t, q, lambda r: 2 * r["printed"]), HOLDS),
        )
    ),
    Case(C5, "no number", lambda t: summed(t, CAPS[2], lambda r: np.nan), UNTESTABLE),
    Case(C5, "nothing is left", lambda t: {"sums": t["sums"].assign(value=0.0)}, UNTESTABLE),
    *(
        Case(E422, f"no number, {name}", lambda t, q=name: summed(t, q, lambda r: np.nan), UNTESTABLE)
        for name in (JUMP, "(4.22), harmonic", "(4.22), square root", "last over the one before, square root")
    ),
    *(Case(c, "no number", lambda t: remainder(t, lambda r: np.nan), UNTESTABLE) for c in (C60, C61)),
    Case(C60, "no middle", lambda t: at_d(t, 30, np.nan, "middle"), UNTESTABLE),
    Case(C61, "no error", lambda t: remainder(t, lambda r: np.nan, "upper_error"), UNTESTABLE),
    Case(C5, "small sizes", lambda t: sized(t, "sums", lambda n: n < 500), UNTESTABLE),
    Case(E422, "two sizes", lambda t: sized(t, "sums", lambda n: n < 1000), HOLDS, says="287 times"),
    Case(
        E422,
        "noise is left at one n",
        lambda t: summed(t, "last over the one before, square root", lambda r: np.where(r["n"] == 480, 1e-9, 0)),
        FAILS,
    ),
    Case(
        E422,
        "not exact at one n",
        lambda t: summed(t, "(4.22), square root", lambda r: np.where(r["n"] == 480, 1e-4, 0)),
        FAILS,
    ),
    Case(E422, "no jump", lambda t: summed(t, JUMP, lambda r: 1.0), FAILS),
    Case(E422, "the jump is level", lambda t: summed(t, JUMP, lambda r: 2600.0), FAILS),
    Case(E422, "a jump off by a fifth", lambda t: summed(t, JUMP, lambda r: 1.2 * r["printed"]), FAILS),
    Case(E422, "a jump off by little", lambda t: summed(t, JUMP, lambda r: 1.05 * r["printed"]), HOLDS, says="2,722"),
    Case(
        E422,
        "noise is left where the rate ends at zero",
        lambda t: summed(t, "last over the one before, square root", lambda r: 1e-9),
        FAILS,
    ),
    Case(E422, "the error is level", lambda t: summed(t, "(4.22), harmonic", lambda r: 0.01), FAILS),
    Case(E422, "the error falls slowly", lambda t: summed(t, "(4.22), harmonic", lambda r: r["n"] ** -0.8), FAILS),
    Case(E422, "the error falls fast", lambda t: summed(t, "(4.22), harmonic", lambda r: r["n"] ** -2.0), HOLDS),
    Case(E422, "not exact", lambda t: summed(t, "(4.22), square root", lambda r: 2e-5), FAILS),
    Case(E422, "nearly exact", lambda t: summed(t, "(4.22), square root", lambda r: 5e-6), HOLDS),
    Case(E422, "one n", lambda t: sized(t, "sums", lambda n: n == 160), UNTESTABLE),
    Case(C60, "too slow in d", lambda t: remainder(t, lambda r: r["d"] ** 0.25), FAILS),
    Case(C60, "the largest d is off", lambda t: at_d(t, 1000, 1.3), FAILS),
    Case(C60, "a middle d is off", lambda t: at_d(t, 100, 1.3), HOLDS, says=r"stays below 3\.3 in"),
    Case(C60, "the last two are off", lambda t: remainder(t, lambda r: 1 + 0.3 * (r["d"] >= 300)), HOLDS),
    Case(C60, "two d", lambda t: {"last-step": t["last-step"].query("d < 50")}, HOLDS),
    Case(C60, "two risks", lambda t: {"last-step": t["last-step"].query("squared_norm > 10")}, HOLDS),
    Case(C61, "two d", lambda t: {"last-step": t["last-step"].query("d < 50")}, HOLDS),
    Case(C60, "linear in the risk", lambda t: remainder(t, lambda r: r["risk"] ** 0.5), FAILS),
    Case(C60, "heavy tails", lambda t: remainder(t, lambda r: 0.5, "middle"), FAILS),
    Case(C60, "a heavy tail at one d", lambda t: at_d(t, 30, 0.5, "middle"), FAILS),
    Case(C60, "lighter tails", lambda t: remainder(t, lambda r: 1.5, "middle"), HOLDS),
    Case(C60, "one risk", lambda t: {"last-step": t["last-step"].query("squared_norm == 1")}, UNTESTABLE),
    Case(C60, "one d", lambda t: {"last-step": t["last-step"].query("d == 10")}, UNTESTABLE),
    Case(C61, "level", lambda t: remainder(t, lambda r: r["d"] ** 0.5), FAILS),
    Case(C61, "like the bound", lambda t: remainder(t, lambda r: r["bound"] / r["upper"]), HOLDS),
    Case(C61, "one d", lambda t: {"last-step": t["last-step"].query("d == 10")}, UNTESTABLE),
]
