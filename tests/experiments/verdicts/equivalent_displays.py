"""Cases for the judges of the equations of Section 4 and of displays in Appendix C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from costofprivacy.findings import Verdict
from tests.experiments.verdicts.machinery import Case, Tables, change

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
D42, C7, C8 = "dpgd/definition-4.2", "dpgd/equation-c.7", "dpgd/equation-c.8"
E411, E412, E413, D1 = "dpgd/equation-4.11", "dpgd/equation-4.12", "dpgd/equation-4.13", "dpgd/proposition-d.1"
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


def margins(t: Tables, reading: str, side: str, margin: float, above: bool, case: Any = True) -> Tables:
    """A bound that is cleared by this margin, in one reading, below or above the cap, in some of its cases."""
    table = t["enclosure"]
    where = (table["reading"] == reading) & ((table["share_of_cap"] > 1) == above) & case
    return {"enclosure": change(table, f"{side}_margin", lambda r: margin, where)}


def exact(t: Tables, reading: str, side: str, factor: float, above: bool, clip: float = 0.0) -> Tables:
    """A bound that is this multiple of the risk for equal eigenvalues, all others being exact."""
    table = t["enclosure"].assign(lower=t["enclosure"]["risk"], upper=t["enclosure"]["risk"])
    where = (table["reading"] == reading) & ((table["share_of_cap"] > 1) == above) & (table["spectrum"] == "isotropic")
    where &= (table["clip"] == clip) | (clip == 0)
    return {"enclosure": change(table, side, lambda r: factor * r["risk"], where)}


def no_margins(t: Tables) -> Tables:
    return {"enclosure": t["enclosure"].assign(lower_margin=0.0, upper_margin=0.0)}


SOLVERS, SINGLE = "(4.7), exponential integrator and LSODA", "(4.11), d equations and one"
ONE_Z, TWO_Z = "(4.17), drift with z q", "(4.17), drift with 2 z q"
STEP_CASES = [
    *(
        Case(
            D42,
            f"{name} off at d = {d}",
            lambda t, n=name, d=d: steps(t, nudged(6.0, 8.0), term(t, n, d)),
            FAILS,
            says="from a step's mean",
        )
        for name in ("descent", "sampling", "private noise")
        for d in (10, 100, 300)
    ),
    Case(
        D42,
        "five errors beyond",
        lambda t: steps(t, nudged(1.0, 5.0), term(t, "sampling")),
        FAILS,
        says="is 5 standard",
    ),
    Case(D42, "three errors beyond", lambda t: steps(t, nudged(1.0, 3.0), term(t, "sampling")), HOLDS, says="1.01"),
    Case(D42, "solvers apart", lambda t: apart(t, SOLVERS, 1e-3), FAILS, says="Solvers .* by 0.001"),
    Case(D42, "solvers near", lambda t: apart(t, SOLVERS, 9e-6), HOLDS),
    Case(C7, "the printed term", lambda t: steps(t, lambda r: r["printed"]), HOLDS, says="1.00 times the printed"),
    Case(C7, "thrice the printed", lambda t: steps(t, lambda r: 3 * r["printed"]), FAILS, says="3.00 times"),
    *(
        Case(
            C7,
            f"the printed term at d = {d} alone",
            lambda t, d=d: steps(t, lambda r: r["printed"], term(t, "sampling", d)),
            FAILS,
        )
        for d in (10, 100, 300)
    ),
    Case(C7, "noise", lambda t: {"one-step": t["one-step"].assign(standard_error=1.0)}, UNTESTABLE, says="Too few"),
    Case(C8, "noise", lambda t: {"one-step": t["one-step"].assign(standard_error=1.0)}, UNTESTABLE, says="Too few"),
    Case(
        C8,
        "as printed",
        lambda t: steps(t, lambda r: r["printed"]) | shown(t, "(C.8)", "printed", 1.0),
        HOLDS,
        says="as printed",
    ),
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
    Case(C8, "product not mended", lambda t: shown(t, "(C.8)", "corrected", 1.01), FAILS, says="what mends"),
    Case(C8, "Hessian not mended", lambda t: steps(t, lambda r: 3 * r["printed"]), FAILS, says="what mends"),
]
IDENTITY_CASES = [
    *(
        Case(
            claim,
            "descent off by another factor",
            lambda t: shown(t, "(C.9), (C.27)", "printed", 0.7, "descent"),
            CORRECTED,
            says="descent is 0.70 of",
        )
        for claim in (C9, C27)
    ),
    Case(E420, "too large", lambda t: shown(t, "(4.20), (C.43)", "printed", 1.5, "risk"), FAILS, says="1.5 times"),
    Case(E411, "apart", lambda t: apart(t, SINGLE, 1e-2), FAILS, says="differ by 0.01 of"),
    Case(E411, "near", lambda t: apart(t, SINGLE, 9e-6), HOLDS, says="same solution"),
    *(
        case
        for claim in (E417, C42)
        for case in (
            Case(claim, "one z is right", lambda t: apart(t, ONE_Z, 1e-12), HOLDS, says="is that of", silent="lacks"),
            Case(claim, "one z is nearly right", lambda t: apart(t, ONE_Z, 2e-6), CORRECTED, says="lacks a factor"),
            Case(claim, "two z is wrong", lambda t: apart(t, TWO_Z, 2e-6), FAILS, says="does not mend"),
        )
    ),
    *(
        Case(
            claim,
            f"{name} off",
            lambda t, n=name: shown(t, "(4.20), (C.43)", "printed", 0.5, n),
            FAILS,
            says="0.5 times",
        )
        for claim in (E420, C43)
        for name in ("squared norm", "risk")
    ),
    *(
        case
        for claim, name in DISPLAYS.items()
        for case in (
            Case(claim, "as printed", lambda t, n=name: shown(t, n, "printed", 1.0), HOLDS, silent="half|neither|not"),
            Case(claim, "neither", lambda t, n=name: shown(t, n, "corrected", 1.01), FAILS, silent="once"),
            Case(
                claim,
                "nearly as printed",
                lambda t, n=name: shown(t, n, "printed", 1 + 2e-6),
                CORRECTED,
                silent="every",
            ),
        )
    ),
    *(
        Case(
            C29,
            f"mended {name} off",
            lambda t, n=name: shown(t, "(C.29), (C.30)", "corrected", 0.99, n),
            FAILS,
            says="even when",
        )
        for name in ("descent", "sampling", "private noise", "gradient")
    ),
    Case(
        C29,
        "one term as printed",
        lambda t: shown(t, "(C.29), (C.30)", "printed", 1.0, "sampling"),
        CORRECTED,
        says="3 of 4",
    ),
    Case(C9, "sampling off", lambda t: shown(t, "(C.9), (C.27)", "corrected", 2.0, "sampling"), FAILS, says="neither"),
    Case(CAP, "no stretch", lambda t: {"caps": t["caps"].assign(stretch=1.0)}, HOLDS, says="no step stretches"),
    Case(CAP, "a stretch with the square", lambda t: {"caps": t["caps"].assign(stretch=1.5)}, FAILS, says="1.5-fold"),
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
        says="3-fold",
    ),
]
SIDES = ("lower", "upper")
ENCLOSURE_CASES = [
    *(
        Case(
            E412,
            f"off once, {reading}, {above}",
            lambda t, r=reading, a=above: exact(t, r, "lower", 1.5, a, 1.0),
            verdict,
        )
        for reading, above, verdict in (
            *(("printed", True, CORRECTED), ("printed", False, FAILS)),
            *(("corrected", True, FAILS), ("corrected", False, FAILS)),
        )
    ),
    *(
        case
        for side in SIDES
        for case in (
            Case(
                E412,
                f"{side} exact beyond",
                lambda t, s=side: exact(t, "printed", s, 1.05, True),
                HOLDS,
                says="are the exact",
            ),
            Case(
                E412,
                f"{side} off beyond",
                lambda t, s=side: exact(t, "printed", s, 1.5, True),
                CORRECTED,
                says="0.5-fold",
            ),
            Case(
                E412,
                f"{side} off inside",
                lambda t, s=side: exact(t, "printed", s, 1.5, False),
                FAILS,
                says="0.5 of the risk",
            ),
            *(
                Case(
                    E412,
                    f"{side} off with the cap, {above}",
                    lambda t, s=side, a=above: exact(t, "corrected", s, 0.5, a),
                    FAILS,
                    says="0.5 of the risk",
                )
                for above in (False, True)
            ),
            Case(
                E412,
                f"{side} is another equation",
                lambda t, s=side: shown(t, "(4.12)", "corrected", 1.01, s),
                UNTESTABLE,
                says="not those",
            ),
        )
    ),
    *(
        case
        for claim in (E413, D1)
        for case in (
            Case(claim, "all cleared", no_margins, HOLDS, says="all 81 cases", silent="printed"),
            *(
                Case(
                    claim,
                    f"{side} fails, {reading}, {'above' if above else 'below'}",
                    lambda t, s=side, r=reading, a=above: margins(no_margins(t), r, s, -0.1, a),
                    FAILS,
                    says="by 0.1 of the risk",
                )
                for side in SIDES
                for reading, above in (("printed", False), ("corrected", False), ("corrected", True))
            ),
            *(
                Case(
                    claim,
                    f"{side} fails as printed",
                    lambda t, s=side: margins(no_margins(t), "printed", s, -0.2, True),
                    CORRECTED,
                    says=f"the {side} bound .* 0.2-fold",
                )
                for side in SIDES
            ),
            Case(claim, "a hair", lambda t: margins(no_margins(t), "corrected", "lower", -0.005, True), HOLDS),
            *(
                Case(
                    claim,
                    f"one {column}",
                    lambda t, c=column, v=value: margins(t, "corrected", "lower", -0.05, True, t["enclosure"][c] == v),
                    FAILS,
                )
                for column, value in (("spectrum", "two levels"), ("schedule", "harmonic"), ("clip", 20.0))
            ),
        )
    ),
]

CASES = [*STEP_CASES, *IDENTITY_CASES, *ENCLOSURE_CASES]
FOUND = {
    **dict.fromkeys((D42, E411, E420, C43), HOLDS),
    **dict.fromkeys((C7, C8, E412, E413, D1, E417, C42, *DISPLAYS, CAP), CORRECTED),
}
