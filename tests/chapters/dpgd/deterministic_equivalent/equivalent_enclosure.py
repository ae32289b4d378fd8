"""Cases for the judges of (4.12), (4.13) and Proposition D.1."""

from __future__ import annotations

from typing import Any

import numpy as np

from companion.judging.findings import Verdict
from tests.chapters.dpgd.deterministic_equivalent.equivalent_displays import shown
from tests.chapters.machinery import Case, Tables, change, only

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
E412, E413, D1 = "dpgd/equation-4.12", "dpgd/equation-4.13", "dpgd/proposition-d.1"


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


def at_the_cap(t: Tables, column: str, value: float) -> Tables:
    """A column of the enclosure as printed, at rates just below the cap, which are moved to it."""
    table = t["enclosure"]
    where = (table["reading"] == "printed") & (table["share_of_cap"] == 0.9)
    return {"enclosure": change(table, column, lambda r: value, where).replace({"share_of_cap": 0.9}, 1.0)}


def no_margins(t: Tables) -> Tables:
    return {"enclosure": t["enclosure"].assign(lower_margin=0.0, upper_margin=0.0)}


SIDES = ("lower", "upper")
CASES = [
    *(
        Case(
            claim,
            "both sides fail as much",
            lambda t: margins(margins(no_margins(t), "printed", "lower", -0.2, True), "printed", "upper", -0.2, True),
            CORRECTED,
            says="upper bound is once",
        )
        for claim in (E413, D1)
    ),
    Case(
        E412,
        "a tenth off everywhere",
        lambda t: {"enclosure": t["enclosure"].assign(risk=10.0, lower=11.0, upper=10.0)},
        HOLDS,
    ),
    *(
        Case(
            E412,
            f"no number, {reading}, {above}",
            lambda t, r=reading, a=above: exact(t, r, "lower", np.nan, a),
            UNTESTABLE,
        )
        for reading in ("printed", "corrected")
        for above in (False, True)
    ),
    Case(E412, "no rates above the cap", only("enclosure", "share_of_cap < 1"), UNTESTABLE),
    Case(
        E412, "off just at the cap", lambda t: at_the_cap(exact(t, "printed", "lower", 1.0, False), "lower", 1e9), FAILS
    ),
    *(
        case
        for claim in (E413, D1)
        for case in (
            Case(
                claim,
                "fails just at the cap",
                lambda t: at_the_cap(no_margins(t), "lower_margin", -0.1),
                FAILS,
            ),
            Case(
                claim,
                "just cleared with the cap",
                lambda t: margins(no_margins(t), "corrected", "lower", -0.01, True),
                HOLDS,
            ),
            Case(
                claim,
                "just cleared as printed",
                lambda t: margins(no_margins(t), "printed", "lower", -0.01, True),
                HOLDS,
            ),
        )
    ),
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
            Case(E412, f"{side} exact beyond", lambda t, s=side: exact(t, "printed", s, 1.05, True), HOLDS),
            Case(
                E412,
                f"{side} off beyond",
                lambda t, s=side: exact(t, "printed", s, 1.5, True),
                CORRECTED,
                says="only for",
            ),
            Case(E412, f"{side} off inside", lambda t, s=side: exact(t, "printed", s, 1.5, False), FAILS),
            *(
                Case(
                    E412,
                    f"{side} off with the cap, {above}",
                    lambda t, s=side, a=above: exact(t, "corrected", s, 0.5, a),
                    FAILS,
                )
                for above in (False, True)
            ),
            Case(
                E412,
                f"{side} is another equation",
                lambda t, s=side: shown(t, "(4.12)", "corrected", 1.01, s),
                UNTESTABLE,
            ),
        )
    ),
    *(
        case
        for claim in (E413, D1)
        for case in (
            Case(claim, "all cleared", no_margins, HOLDS),
            *(
                Case(
                    claim,
                    f"{side} fails, {reading}, {'above' if above else 'below'}",
                    lambda t, s=side, r=reading, a=above: margins(no_margins(t), r, s, -0.1, a),
                    FAILS,
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
                    says="lower bound is once 1.2 times" if side == "lower" else "upper bound is once 0.8 times",
                )
                for side in SIDES
            ),
            *(
                Case(
                    claim,
                    f"no number, {reading}",
                    lambda t, r=reading: margins(t, r, "upper", np.nan, True),
                    UNTESTABLE,
                )
                for reading in ("printed", "corrected")
            ),
            Case(claim, "no rates above the cap", only("enclosure", "share_of_cap < 1"), UNTESTABLE),
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
