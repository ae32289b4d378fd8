"""Verdicts on Theorem 4 of arXiv:2505.16329v2 and the text between it and Corollary 6.1."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from chapters.dpgd.scaling_laws.curves import PLACE
from chapters.dpgd.scaling_laws.trends import LOG_POWER, furthest, log_power, most, number, powers
from companion.judging.findings import Number, Verdict
from companion.judging.growth import LOST_POWER, power
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables
from companion.judging.vocabulary import ROUNDING


def optimum(tables: Tables, cases: tuple[int, ...]) -> tuple[float, int]:
    """The largest distance of h from the numerical optimum of (E.41) in some cases, and how many places."""
    rows = tables["exponents"]
    rows = rows[rows["case"].isin(cases)]
    return float((rows["best_h"] - rows["h"]).abs().max()), len(rows)


def equal(tables: Tables) -> pd.DataFrame:
    """The curves with φ(α+1) = 2: a row each.

    Returns:
        the last row of each curve, with the powers of ln(1/γ) in its risk at v = γ^a and at the best v, and the power
        of γ by which the second falls faster.
    """
    table = tables["logarithm"]
    found = [
        rows.iloc[-1].to_dict() | {
            "at_power": log_power(rows, "power"), "at_best": log_power(rows, "best"),
            "power_gained": power(rows.assign(inverse=np.exp(rows["log"])), "inverse", "power", "best"),
        }
        for _, rows in table.groupby(PLACE, sort=False)
    ]  # fmt: skip
    return pd.DataFrame(found, columns=[*table, "at_power", "at_best", "power_gained"])


def critical_at(rows: pd.DataFrame) -> pd.Series:
    """K/(2(K + 1)), the critical b at φ(α + 1) = 2."""
    K = (2 - rows["phi"] - rows["psi"]) * (rows["alpha"] + 1)
    return K / (2 * (K + 1))


def boundary(tables: Tables) -> pd.DataFrame:
    """Those at both equalities, φ(α+1) = 2 and the critical b."""
    rows = equal(tables)
    return rows[(rows["b"] - critical_at(rows)).abs() < ROUNDING]


def costly(tables: Tables) -> pd.DataFrame:
    """Those with φ(α+1) = 2 where privacy costs."""
    rows = equal(tables)
    return rows[rows["b"] > critical_at(rows) + ROUNDING]


class _Case(NamedTuple):
    """A case of the theorem: whether it is right off φ(α + 1) = 2, and what tells it.

    Args:
        right: whether it is. places: at how many places h is compared with a numerical optimum.
        numbers: those behind it.
    """

    right: bool
    places: int
    numbers: tuple[Number, ...]


def solved(tables: Tables, case: int) -> _Case | None:
    """A case of the theorem: is h the numerical optimum, and γ^h the order of the risk at v = γ^a? None if untried."""
    (apart, places), rows = optimum(tables, (case,)), tables["powers"]
    left = powers(rows[rows["case"] == case], PLACE, "ratio")
    if left.empty or not places:
        return None
    lost = furthest(left, "power")
    found = (
        *numbers("exponents", {"largest distance of h from a numerical optimum": (apart, ROUNDING)}, f"case = {case}"),
        number("largest power of 1/γ in risk over γ^h", lost, "power", LOST_POWER, "powers", *PLACE),
    )
    return _Case(bool(apart <= ROUNDING and abs(lost["power"]) <= LOST_POWER), places, found)


def without_logarithm(tables: Tables, case: int) -> Ruling:
    """A case without a logarithm."""
    found = solved(tables, case)
    if found is None:
        return Ruling(Verdict.UNTESTABLE)
    return Ruling(reads(printed=found.right), found.numbers, {"places": found.places})


@judges("dpgd/theorem-4i")
def theorem_4i(tables: Tables) -> Ruling:
    """(6.4): is γ^h the order of the risk at v = γ^a, and h the numerical optimum?"""
    return without_logarithm(tables, 1)


@judges("dpgd/theorem-4ii")
def theorem_4ii(tables: Tables) -> Ruling:
    """(6.5): the same."""
    return without_logarithm(tables, 2)


@judges("dpgd/theorem-4iii")
def theorem_4iii(tables: Tables) -> Ruling:
    """The third case, its two equalities together among it: there e₃ has a logarithm and is as large as the others."""
    corner, found, at = boundary(tables), solved(tables, 3), ("logarithm", *PLACE)
    if corner.empty or found is None:
        return Ruling(Verdict.UNTESTABLE)
    row = most(corner, "at_power")
    extra = (
        number("power of ln(1/γ) at v = γ^a, both equalities", row, "at_power", LOG_POWER, *at),
        number("power of ln(1/γ) at the best v, both equalities", row, "at_best", None, *at),
    )
    verdict = reads(printed=found.right and row["at_power"] <= LOG_POWER, narrower=found.right)
    return Ruling(verdict, found.numbers + extra)


@judges("dpgd/theorem-4iv")
def theorem_4iv(tables: Tables) -> Ruling:
    """(6.6), with its logarithm where φ(α + 1) = 2: is it the first power of ln(1/γ) at v = γ^a?"""
    rows, found = costly(tables), solved(tables, 4)
    if rows.empty or found is None:
        return Ruling(Verdict.UNTESTABLE)
    row = furthest(rows.assign(off=rows["at_power"] - 1), "off")
    extra = number("power of ln(1/γ) at v = γ^a", row, "at_power", 1.0, "logarithm", *PLACE)
    verdict = reads(printed=found.right and abs(row["off"]) <= LOST_POWER)
    return Ruling(verdict, (*found.numbers, extra), {"places": found.places})


@judges("dpgd/theorem-4-lower")
def theorem_4_lower(tables: Tables) -> Ruling:
    """Does no c, and no fixed a, bring the risk below γ^h? Best rates at many c, and the numerical optimum."""
    clips, rows = tables["clips"], tables["exponents"]
    best = clips.groupby([*PLACE, "gamma", "inverse_gamma"], sort=False, as_index=False)["ratio"].min()
    left, gain = powers(best, PLACE, "ratio"), (rows["best_h"] - rows["h"]).max()
    if left.empty:
        return Ruling(Verdict.UNTESTABLE)
    lowest = left.iloc[0]
    found = (
        number("least power of 1/γ in the best risk over γ^h", lowest, "power", -LOST_POWER, "clips", *PLACE),
        *numbers("exponents", {"largest gain of another fixed a": (gain, 0.0)}),
    )
    verdict = reads(printed=lowest["power"] >= -LOST_POWER and gain <= ROUNDING)
    return Ruling(verdict, found, {"constants": clips["clip"].nunique()})


@judges("dpgd/section-6-optimal")
def section_6_optimal(tables: Tables) -> Ruling:
    """Is γ^h the least power of the risk, also over η̃(0) that are no power of γ, which may gain logarithms?"""
    rows = costly(tables)
    if rows.empty:
        return Ruling(Verdict.UNTESTABLE)
    apart, _ = optimum(tables, (1, 2, 3, 4))
    row, most_gained = most(rows.assign(gain=rows["at_power"] - rows["at_best"]), "gain"), most(rows, "power_gained")
    kappa, at = 2 - row["phi"] - row["psi"], ("logarithm", *PLACE)
    found = (
        *numbers("exponents", {"largest distance of h from a numerical optimum": (apart, ROUNDING)}),
        number("largest power of γ gained at the best v", most_gained, "power_gained", LOST_POWER, *at),
        number("power of ln(1/γ) at v = γ^a", row, "at_power", 1.0, *at),
        number("power of ln(1/γ) at the best v", row, "at_best", kappa / (kappa + row["phi"]), *at),
    )
    verdict = reads(printed=apart <= ROUNDING and most_gained["power_gained"] <= LOST_POWER)
    return Ruling(verdict, found)


@judges("dpgd/section-6-critical-b")
def section_6_critical_b(tables: Tables) -> Ruling:
    """Does the critical b lie in (¼, ½) or (0, ½), and a in (−1, 0)?"""
    rows = tables["exponents"]
    is_flat = rows["phi"] * (rows["alpha"] + 1) < 2
    if is_flat.all() or not is_flat.any():
        return Ruling(Verdict.UNTESTABLE)
    columns = {
        "critical b, φ(α+1) < 2": (rows.loc[is_flat, "critical"], 0.25, 0.5),
        "critical b, φ(α+1) ≥ 2": (rows.loc[~is_flat, "critical"], 0.0, 0.5),
        "a": (rows["a"], -1.0, 0.0),
    }
    named: dict[str, tuple[float, float, str]] = {}
    for name, (values, low, high) in columns.items():
        named |= {
            f"least {name}": (values.min(), low, values.name),
            f"largest {name}": (values.max(), high, values.name),
        }
    inside = all(low < values.min() <= values.max() < high for values, low, high in columns.values())
    return Ruling(reads(printed=inside), numbers("exponents", named), {"places": len(rows)})


def dips(printed: pd.DataFrame) -> pd.Series:
    """By how much the printed exponent falls along α at most, by the depth of γ, ascending."""
    lines = printed.sort_values("alpha").groupby("depth")["printed_h"]
    return lines.agg(lambda h: (h.cummax() - h).max())


@judges("dpgd/section-6-monotone")
def section_6_monotone(tables: Tables) -> Ruling:
    """Is h non-decreasing in α? Its limit everywhere, and (6.6) with its logarithm at a given γ, which dips."""
    fall = (tables["exponents"]["h"] - tables["exponents"]["h_more"]).max()
    dip = dips(tables["printed_exponent"])
    first, last = dip.iloc[0], dip.iloc[-1]
    found = (
        *numbers("exponents", {"largest fall of h when α grows": (fall, 0.0)}, "h and h_more"),
        *numbers("printed_exponent", {
            "dip of the printed h across equality": {"value": first, "row": f"depth = {dip.index[0]:.0f}"},
            "dip of the printed h, least γ": (last, first, f"depth = {dip.index[-1]:.0f}"),
        }),
    )  # fmt: skip
    vanishes = math.isfinite(last) and (last < first or first <= ROUNDING)
    verdict = reads(printed=fall <= ROUNDING and vanishes)
    return Ruling(verdict, found, {"dip": first}, "" if first > ROUNDING else "no dip")
