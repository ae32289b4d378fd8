"""Cases for the judges of the diffusion (4.14), Theorem 5, (C.45) and Lemmas C.2 to C.4."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from chapters.dpgd.deterministic_equivalent import judge
from companion.judging.findings import Verdict
from tests.chapters.dpgd.deterministic_equivalent.equivalent_tables import of, power, sized
from tests.chapters.machinery import Case, Tables, change, put

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
E414, C1, R43 = "dpgd/equation-4.14", "dpgd/definition-c.1", "dpgd/remark-4.3"
T5, C45 = "dpgd/theorem-5", "dpgd/equation-c.45"
C2, C3, C4 = (f"dpgd/lemma-c.{k}" for k in (2, 3, 4))
TRACKING = {E414: "risk", C1: "risk", R43: "risk", T5: "resolvents"}


def distance(t: Tables, claim: str, drift: str, exponent: float, error: float = 0.005) -> pd.DataFrame:
    if claim == C45:
        return power(t["diffusion"], exponent, t["diffusion"]["drift"] == drift, error=error)
    where = t["homogenised"]["quantity"] == f"{TRACKING[claim]}, {drift} drift"
    return power(t["homogenised"], exponent, where, error=error)


def both(t: Tables, claim: str, printed: float, derived: float) -> Tables:
    name = "diffusion" if claim == C45 else "homogenised"
    return {name: distance({name: distance(t, claim, "printed", printed)}, claim, "derived", derived)}


def one(t: Tables, claim: str, drift: str, exponent: float, error: float = 0.005) -> Tables:
    return {"diffusion" if claim == C45 else "homogenised": distance(t, claim, drift, exponent, error)}


DIFFUSION_CASES = [
    case
    for claim in (*TRACKING, C45)
    for case in (
        Case(claim, "printed tracks", lambda t, c=claim: one(t, c, "printed", -0.5), HOLDS),
        Case(claim, "both track", lambda t, c=claim: both(t, c, -0.45, -0.5), HOLDS),
        Case(claim, "printed alone tracks", lambda t, c=claim: both(t, c, -0.5, 0.0), HOLDS),
        Case(claim, "printed is a little slow", lambda t, c=claim: both(t, c, -0.2, -0.5), CORRECTED, says="-0.20"),
        Case(claim, "neither tracks", lambda t, c=claim: both(t, c, 0.0, -0.1), FAILS),
        Case(claim, "printed is noise", lambda t, c=claim: one(t, c, "printed", 0.0, 0.3), UNTESTABLE),
        Case(claim, "derived is noise", lambda t, c=claim: one(t, c, "derived", 0.0, 0.3), UNTESTABLE),
        Case(
            claim,
            "small sizes",
            lambda t, c=claim: sized(t, "diffusion" if c == C45 else "homogenised", lambda n: n < 500),
            UNTESTABLE,
        ),
    )
]


# ------------------------------------------------------------------------------------------------------- lemmas

PRIVATE, ITO = "martingale of the private noise", "martingale of the diffusion"


def martingale(t: Tables, name: str, exponent: float, error: float = 0.01) -> Tables:
    return {"homogenised": power(t["homogenised"], exponent, of(t, "homogenised", name), error=error)}


def scaled(t: Tables, name: str, n: int, factor: float, column: str = "value") -> Tables:
    """A martingale of which one n has this multiple of what it had."""
    where = of(t, "homogenised", name) & (t["homogenised"]["n"] == n)
    return {"homogenised": change(t["homogenised"], column, lambda r: factor * r[column], where)}


def at_480(n: pd.Series) -> Any:
    return n == 480


def tail(t: Tables, name: str, factor: float, keep: Callable[[pd.Series], Any] = lambda n: n > 0) -> Tables:
    where = of(t, "homogenised", name) & keep(t["homogenised"]["n"])
    return {"homogenised": change(t["homogenised"], "tail", lambda r: factor * r["scale"], where)}


def discretised(t: Tables, factor: float, bound: str) -> Tables:
    return {"sums": change(t["sums"], "value", lambda r: factor * r[bound], of(t, "sums", "(C.16)"))}


def growth(t: Tables, name: str, column: str, values: tuple[float, ...]) -> Tables:
    """A column of the growth of a process along n."""
    where = of(t, "homogenised", f"growth of the {name}")
    return {"homogenised": change(t["homogenised"], column, lambda r: np.array(values), where)}


HEAVIEST = math.log(0.1) / -1
LEMMA_CASES = [
    Case(C4, "just no growth", lambda t: growth(t, "diffusion", "tail", (0.0, 0.0, 0.0, 0.01)), HOLDS),
    Case(
        C3,
        "just light enough",
        lambda t: {"homogenised": t["homogenised"].assign(scale=1.0, tail=judge.HEAVIEST)},
        HOLDS,
    ),
    *(
        Case(C2, f"at {f:g} of the printed", lambda t, f=f: discretised(t, f, "printed"), v)
        for f, v in ((1, HOLDS), (2, FAILS))
    ),
    *(
        Case(C2, f"at {f:g} of the derived", lambda t, f=f: discretised(t, f, "derived"), v)
        for f, v in ((1, CORRECTED), (2, CORRECTED), (2.5, FAILS))
    ),
    *(
        Case(claim, "two sizes", lambda t: sized(t, "homogenised", lambda n: n > 1000), v)
        for claim, v in ((C2, CORRECTED), (C3, HOLDS), (C4, HOLDS))
    ),
    Case(
        C2,
        "two sizes of the sums",
        lambda t: sized(discretised(t, 0.99, "derived"), "sums", lambda n: n > 1000),
        CORRECTED,
    ),
    Case(C3, "its power", lambda t: martingale(t, ITO, -0.51), HOLDS, says="-0.51.* over all sizes"),
    Case(
        C4,
        "a growth that dies out",
        lambda t: growth(t, "diffusion", "tail", (0.3, 0.2, 0.1, 0.0)),
        HOLDS,
        says="0.3 at .* 0 at",
    ),
    Case(C2, "inside the printed bound", lambda t: discretised(t, 0.5, "printed"), HOLDS),
    Case(C2, "beyond both bounds", lambda t: discretised(t, 30.0, "derived"), FAILS),
    Case(
        C2, "just inside the derived", lambda t: discretised(t, 0.99, "derived"), CORRECTED, says="reaches 4.95 times"
    ),
    *(
        case
        for claim, name, fine in ((C2, PRIVATE, CORRECTED), (C3, ITO, HOLDS))
        for case in (
            Case(claim, "a quarter", lambda t, m=name: martingale(t, m, -0.25), FAILS),
            Case(claim, "a half", lambda t, m=name: martingale(t, m, -0.5), fine),
            Case(claim, "nearly a half", lambda t, m=name: martingale(t, m, -0.45), fine),
            Case(claim, "noise", lambda t, m=name: martingale(t, m, -0.25, 0.9), fine),
            Case(claim, "large in between", lambda t, m=name: scaled(tail(t, m, 2.0, at_480), m, 480, 2.0), fine),
            Case(claim, "small at first", lambda t, m=name: scaled(t, m, 160, 0.4), FAILS),
            Case(
                claim,
                "a quarter, with noise in between",
                lambda t, m=name: scaled(martingale(t, m, -0.25), m, 480, 90, "standard_error"),
                FAILS,
            ),
            *(
                Case(
                    claim,
                    f"a quarter, with noise at {n}",
                    lambda t, m=name, n=n: scaled(martingale(t, m, -0.25), m, n, 90, "standard_error"),
                    fine,
                )
                for n in (160, 4320)
            ),
            Case(claim, "a heavy tail", lambda t, m=name: tail(t, m, HEAVIEST + 0.01), FAILS),
            Case(claim, "heavy at one n", lambda t, m=name: tail(t, m, 4.0, at_480), FAILS),
            Case(claim, "a light tail", lambda t, m=name: tail(t, m, HEAVIEST - 0.01), fine),
            Case(claim, "one n", lambda t: sized(t, "homogenised", at_480), UNTESTABLE),
            *(
                Case(claim, f"no {column}", put("homogenised", column, np.nan, "n == 480", quantity=name), UNTESTABLE)
                for column in ("value", "standard_error", "tail", "scale")
            ),
        )
    ),
    Case(C2, "no sum", put("sums", "value", np.nan, "n == 4320 and quantity.str.startswith('(C.16)')"), UNTESTABLE),
    *(
        Case(
            C4,
            f"{name}: no number",
            put("homogenised", "tail", np.nan, "n == 4320", quantity=f"growth of the {name}"),
            UNTESTABLE,
        )
        for name in ("algorithm", "diffusion")
    ),
    Case(C2, "one n of the sums", lambda t: sized(t, "sums", at_480), UNTESTABLE),
    *(
        case
        for name in ("algorithm", "diffusion")
        for case in (
            Case(C4, f"{name}: tail grows", lambda t, m=name: growth(t, m, "tail", (0.05, 0.2, 0.5, 1.0)), FAILS),
            Case(C4, f"{name}: mean grows", lambda t, m=name: growth(t, m, "value", (0.05, 0.1, 0.1, 0.1)), FAILS),
            Case(C4, f"{name}: spread stays", lambda t, m=name: growth(t, m, "standard_deviation", (0.1,) * 4), FAILS),
            Case(
                C4,
                f"{name}: spread falls",
                lambda t, m=name: growth(t, m, "standard_deviation", (0.2, 0.1, 0.06, 0.03)),
                HOLDS,
            ),
            Case(
                C4,
                f"{name}: level",
                lambda t, m=name: growth(t, m, "tail", (0.3, 0.5, 0.3, 0.36)),
                HOLDS,
                says="0.3 at .* 0.36 at",
            ),
            Case(C4, f"{name}: up a little", lambda t, m=name: growth(t, m, "tail", (0.3, 0.3, 0.3, 0.38)), FAILS),
        )
    ),
    Case(C4, "one n", lambda t: sized(t, "homogenised", at_480), UNTESTABLE),
]

CASES = [*DIFFUSION_CASES, *LEMMA_CASES]
