"""Cases for the judges of Definition 4.2, of single steps, and of displays in Section 4 and Appendix C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, Tables, change

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
D42, C7, C8 = "dpgd/definition-4.2", "dpgd/equation-c.7", "dpgd/equation-c.8"
E411 = "dpgd/equation-4.11"
E417, C42, E420, C43 = (f"dpgd/equation-{k}" for k in ("4.17", "c.42", "4.20", "c.43"))
E421, C46, C9, C27 = (f"dpgd/equation-{k}" for k in ("4.21", "c.46", "c.9", "c.27"))
C29, CAP = "dpgd/equation-c.29", "dpgd/equation-c.5"
DISPLAYS = {
    E421: "(4.21), (C.46)",
    C46: "(4.21), (C.46)",
    C9: "(C.9), (C.27)",
    C27: "(C.9), (C.27)",
    C29: "(C.29), (C.30)",
}


def steps(t: Tables, value: Callable[[pd.DataFrame], Any], where: Any = slice(None)) -> Tables:
    return {"one-step": change(t["one-step"], "value", value, where)}


def term(t: Tables, name: str, d: int = 0) -> Any:
    return (t["one-step"]["term"] == name) & ((t["one-step"]["d"] == d) | (d == 0))


def nudged(share: float, errors: float) -> Callable[[pd.DataFrame], Any]:
    """A value this share of 2/d and this many errors away from the derived one."""
    return lambda r: r["derived"].abs() * (1 + share * 2 / r["d"]) + errors * r["standard_error"]


def apart(t: Tables, name: str, value: float) -> Tables:
    """Two sides of an identity this far apart."""
    table = t["identities"]
    return {"identities": change(table, "relative_difference", lambda r: value, table["identity"] == name)}


def shown(t: Tables, display: str, reading: str, ratio: float, where: str = "") -> dict[str, pd.DataFrame]:
    """A display that says this multiple of what it should, in one term or all."""
    table = t["displays"]
    rows = (table["display"] == display) & (table["reading"] == reading) & table["term"].str.startswith(where)
    return {"displays": change(table, "value", lambda r: ratio * r["derived"], rows)}


def deviating(t: Tables, error: float, errors: float, reading: str) -> Tables:
    """Steps in dimensions that are powers of two, this many errors from a reading beyond what d allows, exactly."""
    table = t["one-step"].replace({"d": {10: 8, 100: 64, 300: 256}})
    printed = np.where(table["term"] == "sampling", 0.5, 1.0)
    shown = 1.0 if reading == "derived" else printed
    value = shown + np.sign(errors) * 2 / table["d"] * shown + errors * error
    return {"one-step": table.assign(derived=1.0, printed=printed, standard_error=error, value=value)}


SOLVERS, SINGLE = "(4.7), exponential integrator and LSODA", "(4.11), d equations and one"
ONE_Z, TWO_Z = "(4.17), drift with z q", "(4.17), drift with 2 z q"
STEP_CASES = [
    *(
        Case(D42, f"{name} off at d = {d}", lambda t, n=name, d=d: steps(t, nudged(6.0, 8.0), term(t, n, d)), FAILS)
        for name in ("descent", "sampling", "private noise")
        for d in (10, 100, 300)
    ),
    Case(D42, "five errors beyond", lambda t: steps(t, nudged(1.0, 5.0), term(t, "sampling")), FAILS),
    Case(D42, "three errors beyond", lambda t: steps(t, nudged(1.0, 3.0), term(t, "sampling")), HOLDS, says="1.01"),
    *(
        Case(c, "no number", lambda t: steps(t, lambda r: np.nan, term(t, "sampling", 300)), UNTESTABLE)
        for c in (D42, C7)
    ),
    Case(D42, "no difference", lambda t: apart(t, SOLVERS, np.nan), UNTESTABLE),
    Case(E411, "no difference", lambda t: apart(t, SINGLE, np.nan), UNTESTABLE),
    Case(D42, "solvers apart", lambda t: apart(t, SOLVERS, 1e-3), FAILS),
    Case(D42, "solvers near", lambda t: apart(t, SOLVERS, 9e-6), HOLDS),
    Case(C7, "the printed term", lambda t: steps(t, lambda r: r["printed"]), HOLDS),
    Case(C7, "thrice the printed", lambda t: steps(t, lambda r: 3 * r["printed"]), FAILS),
    *(
        Case(
            C7,
            f"the printed term at d = {d} alone",
            lambda t, d=d: steps(t, lambda r: r["printed"], term(t, "sampling", d)),
            FAILS,
        )
        for d in (10, 100, 300)
    ),
    Case(C7, "noise", lambda t: {"one-step": t["one-step"].assign(standard_error=1.0)}, UNTESTABLE),
    Case(C8, "noise", lambda t: {"one-step": t["one-step"].assign(standard_error=1.0)}, UNTESTABLE),
    Case(C8, "as printed", lambda t: steps(t, lambda r: r["printed"]) | shown(t, "(C.8)", "printed", 1.0), HOLDS),
    Case(
        C8,
        "product as printed",
        lambda t: shown(t, "(C.8)", "printed", 1.0),
        CORRECTED,
        says="in the Hessian's error.$",
    ),
    Case(
        C8,
        "Hessian as printed",
        lambda t: steps(t, lambda r: r["printed"]),
        CORRECTED,
        says="in the product",
        silent="Hessian",
    ),
    Case(C8, "product not corrected", lambda t: shown(t, "(C.8)", "corrected", 1.01), FAILS),
    Case(C8, "Hessian not corrected", lambda t: steps(t, lambda r: 3 * r["printed"]), FAILS),
]
IDENTITY_CASES = [
    Case(D42, "just four errors", lambda t: deviating(t, 0.25, 4.0, "derived"), HOLDS),
    Case(C7, "derived just four errors", lambda t: deviating(t, 0.25, 4.0, "derived"), CORRECTED),
    Case(C8, "derived just four errors", lambda t: deviating(t, 0.25, 4.0, "derived"), CORRECTED, says="Hessian"),
    Case(C7, "printed just four errors", lambda t: deviating(t, 0.25, -4.0, "printed"), HOLDS),
    *(Case(c, "both within four", lambda t: deviating(t, 0.125, 4.0, "printed"), UNTESTABLE) for c in (C7, C8)),
    Case(D42, "solvers just near enough", lambda t: apart(t, SOLVERS, 1e-5), HOLDS),
    Case(E411, "just near enough", lambda t: apart(t, SINGLE, 1e-5), HOLDS),
    *(
        case
        for claim in (E417, C42)
        for case in (
            Case(claim, "one z just near enough", lambda t: apart(t, ONE_Z, 1e-6), HOLDS),
            Case(claim, "two z just near enough", lambda t: apart(t, TWO_Z, 1e-6), CORRECTED),
        )
    ),
    *(
        Case(
            CAP,
            f"no stretch, {reading}",
            lambda t, r=reading: {
                "caps": change(t["caps"], "stretch", lambda rows: 1 + 1e-6, t["caps"]["reading"] == r)
            },
            verdict,
        )
        for reading, verdict in (("printed", HOLDS), ("corrected", CORRECTED))
    ),
    *(
        Case(
            claim,
            "descent off by another factor",
            lambda t: shown(t, "(C.9), (C.27)", "printed", 0.7, "descent"),
            CORRECTED,
            says="is 0.70 times",
        )
        for claim in (C9, C27)
    ),
    Case(E420, "too large", lambda t: shown(t, "(4.20), (C.43)", "printed", 1.5, "risk"), FAILS),
    Case(E411, "apart", lambda t: apart(t, SINGLE, 1e-2), FAILS),
    Case(E411, "near", lambda t: apart(t, SINGLE, 9e-6), HOLDS),
    *(
        case
        for claim in (E417, C42)
        for case in (
            Case(claim, "one z is right", lambda t: apart(t, ONE_Z, 1e-12), HOLDS),
            Case(
                claim,
                "one z is nearly right",
                lambda t: apart(t, ONE_Z, 2e-6),
                CORRECTED,
                says=r"0\.00020 %",
            ),
            Case(claim, "two z is wrong", lambda t: apart(t, TWO_Z, 2e-6), FAILS),
        )
    ),
    *(
        Case(claim, f"{name} off", lambda t, n=name: shown(t, "(4.20), (C.43)", "printed", 0.5, n), FAILS)
        for claim in (E420, C43)
        for name in ("squared norm", "risk")
    ),
    *(
        case
        for claim, name in DISPLAYS.items()
        for case in (
            Case(claim, "as printed", lambda t, n=name: shown(t, n, "printed", 1.0), HOLDS),
            Case(claim, "neither", lambda t, n=name: shown(t, n, "corrected", 1.01), FAILS),
            Case(claim, "nearly as printed", lambda t, n=name: shown(t, n, "printed", 1 + 2e-6), CORRECTED),
        )
    ),
    *(
        Case(C29, f"corrected {name} off", lambda t, n=name: shown(t, "(C.29), (C.30)", "corrected", 0.99, n), FAILS)
        for name in ("descent", "sampling", "private noise", "gradient")
    ),
    Case(
        C29,
        "one term as printed",
        lambda t: shown(t, "(C.29), (C.30)", "printed", 1.0, "sampling"),
        CORRECTED,
        says="3 of 4",
    ),
    Case(C9, "sampling off", lambda t: shown(t, "(C.9), (C.27)", "corrected", 2.0, "sampling"), FAILS),
    Case(CAP, "no stretch", lambda t: {"caps": t["caps"].assign(stretch=1.0)}, HOLDS),
    Case(CAP, "a stretch with the square", lambda t: {"caps": t["caps"].assign(stretch=1.5)}, FAILS),
    Case(
        CAP,
        "a stretch at one d",
        lambda t: {
            "caps": change(
                t["caps"].assign(stretch=1.0),
                "stretch",
                lambda r: 3.0,
                (t["caps"]["d"] == 100) & (t["caps"]["reading"] == "printed"),
            )
        },
        CORRECTED,
        says="distances by 3",
    ),
]
CASES = [*STEP_CASES, *IDENTITY_CASES]
