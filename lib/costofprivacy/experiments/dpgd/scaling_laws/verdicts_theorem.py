"""Verdicts on Theorem 4 of arXiv:2505.16329v2 and the text between it and Corollary 6.1."""

from __future__ import annotations

import math

import pandas as pd

from costofprivacy.experiments.dpgd.scaling_laws.curves import PLACE
from costofprivacy.experiments.dpgd.scaling_laws.trends import (
    LOG_POWER,
    ROUNDING,
    decide,
    log_power,
    number,
    powers,
    untestable,
)
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables

CLOSE = 1e-9  # of b to the critical one
BOUNDARY = "For $b$ below its bound, or $\\phi(\\alpha+1) \\ne 2$; at both equalities the risk has a factor "


def optimum(tables: Tables, cases: tuple[int, ...]) -> tuple[float, int]:
    """The largest distance of h from the numerical optimum of (E.41) in some cases, and how many places."""
    rows = tables["exponents"]
    rows = rows[rows["case"].isin(cases)]
    return float((rows["best_h"] - rows["h"]).abs().max()), len(rows)


def risks(tables: Tables, case: int) -> pd.DataFrame:
    """The power of 1/γ in the risk at v = γ^a over γ^h, by curve."""
    rows = tables["powers"]
    return powers(rows[rows["case"] == case], PLACE, "ratio")


def equal(tables: Tables) -> list[tuple[pd.Series, float, float]]:
    """Each curve with φ(α+1) = 2: its place, and the powers of ln(1/γ) in its risk, at v = γ^a and at the best v."""
    groups = [rows for _, rows in tables["logarithm"].groupby(PLACE, sort=False)]
    return [(rows.iloc[-1], log_power(rows, "power"), log_power(rows, "best")) for rows in groups]


def critical_at(row: pd.Series) -> float:
    """K/(2(K + 1)), the critical b at φ(α + 1) = 2."""
    K = (2 - row["phi"] - row["psi"]) * (row["alpha"] + 1)
    return K / (2 * (K + 1))


def boundary(tables: Tables) -> list[tuple[pd.Series, float, float]]:
    """Those at both equalities, φ(α+1) = 2 and the critical b."""
    return [found for found in equal(tables) if abs(found[0]["b"] - critical_at(found[0])) < CLOSE]


def _case(tables: Tables, case: int, extra: tuple[Number, ...] = ()) -> tuple[bool, tuple[Number, ...], str]:
    """Whether a case of the theorem holds off φ(α + 1) = 2, with numbers and a headline."""
    apart, places = optimum(tables, (case,))
    found = risks(tables, case)
    lost = found.loc[found["power"].abs().idxmax()]
    numbers = (
        Number("largest distance of h from a numerical optimum", apart, None, ROUNDING, "exponents", f"case = {case}"),
        number("largest power of 1/γ in risk over γ^h", lost, "power", LOST_POWER, "powers", *PLACE),
        *extra,
    )
    headline = (
        f"The exponent is the numerical optimum at all {places} places tried, and solved risks follow it "
        "within a power "
        f"of {compact(abs(lost['power']))}."
    )
    return bool(apart <= ROUNDING and abs(lost["power"]) <= LOST_POWER), numbers, headline


@judges("dpgd/theorem-4i")
def theorem_4i(tables: Tables) -> Finding:
    """(6.4): is γ^h the order of the risk at v = γ^a, and h the numerical optimum?"""
    return _plain(tables, 1)


@judges("dpgd/theorem-4ii")
def theorem_4ii(tables: Tables) -> Finding:
    """(6.5): the same."""
    return _plain(tables, 2)


def _plain(tables: Tables, case: int) -> Finding:
    change = "Admissible exponents at which the optimised risk has another power of the aspect ratio."
    true, numbers, headline = _case(tables, case)
    no = "The exponent is not the numerical optimum, or solved risks have another power."
    return decide(true, (headline, no), numbers, change)


@judges("dpgd/theorem-4iii")
def theorem_4iii(tables: Tables) -> Finding:
    """The third case, its two equalities together among it: there e₃ has a logarithm and is as large as the others."""
    corner = boundary(tables)
    change = "A risk without logarithm where $\\phi(\\alpha+1)=2$ and $b$ is at its bound."
    if not corner:
        return untestable("The boundary of the third case was not tried.", change)
    row, power, best = max(corner, key=lambda found: found[2])
    extra = (
        number("power of ln(1/γ) at v = γ^a, both equalities", pd.Series({**row, "log_power": power}), "log_power", 0.0,
               "logarithm", *PLACE),
        number("power of ln(1/γ) at the best v, both equalities", pd.Series({**row, "log_power": best}), "log_power",
               0.0, "logarithm", *PLACE),
    )  # fmt: skip
    true, numbers, headline = _case(tables, 3, extra)
    if not true:
        no = "The exponent is not the numerical optimum, or solved risks have another power."
        return decide(False, ("", no), numbers, change)
    if power <= LOG_POWER:
        return decide(True, (headline, ""), numbers, change)
    said = "The exponents are right, but where both conditions are equalities the risk carries a power of a logarithm."
    mended = BOUNDARY + f"$\\ln^{{{power:.2f}}}(1/\\gamma)$ at $v=\\gamma^a$."
    return Finding(Verdict.NARROWER, said, numbers, Consequence.NUMBERS, mended, change)


@judges("dpgd/theorem-4iv")
def theorem_4iv(tables: Tables) -> Finding:
    """(6.6), with its logarithm where φ(α + 1) = 2: is it the first power of ln(1/γ) at v = γ^a?"""
    costly = [found for found in equal(tables) if found[0]["b"] > critical_at(found[0]) + CLOSE]
    change = "A risk at $v=\\gamma^a$ whose power or logarithm is another one."
    if not costly:
        return untestable("No curve with the logarithm was tried.", change)
    row, power, _ = max(costly, key=lambda found: abs(found[1] - 1))
    told = pd.Series({**row, "log_power": power})
    extra = (number("power of ln(1/γ) at v = γ^a", told, "log_power", 1.0, "logarithm", *PLACE),)
    true, numbers, headline = _case(tables, 4, extra)
    no = "The exponent, or the logarithm that comes with it at equality, is not as printed."
    return decide(true and abs(power - 1) <= LOST_POWER, (headline, no), numbers, change)


@judges("dpgd/theorem-4-lower")
def theorem_4_lower(tables: Tables) -> Finding:
    """Does no c, and no fixed a, bring the risk below γ^h? Best rates at many c, and the numerical optimum."""
    clips = tables["clips"]
    best = clips.groupby([*PLACE, "gamma", "inverse_gamma"], sort=False, as_index=False)["ratio"].min()
    falls = powers(best, PLACE, "ratio")
    lowest = falls.iloc[-1].copy()
    lowest["power"] = falls["power"].min()
    lowest = falls.loc[falls["power"].idxmin()]
    rows = tables["exponents"]
    gain = float((rows["best_h"] - rows["h"]).max())
    logs = [found for found in equal(tables) if found[0]["b"] > critical_at(found[0]) + CLOSE]
    extra = tuple(
        number("power of ln(1/γ) at the best rate, none fixed", pd.Series({**row, "log_power": best_log}), "log_power",
               1.0, "logarithm", *PLACE)
        for row, _, best_log in logs
    )  # fmt: skip
    numbers = (
        number("least power of 1/γ in the best risk over γ^h", lowest, "power", -LOST_POWER, "clips", *PLACE),
        Number("largest gain of another fixed a", gain, None, 0.0, "exponents", "all"),
        *extra,
    )
    change = "A clipping constant and a fixed exponent whose risk falls below $\\gamma^h$ by more than a constant."
    headlines = (
        f"Over {clips['clip'].nunique()} clipping constants and all learning rates no risk falls below the theorem's "
        "power, and no fixed exponent does better.",
        "A clipping constant or a fixed exponent does better than the theorem's power.",
    )
    return decide(lowest["power"] >= -LOST_POWER and gain <= ROUNDING, headlines, numbers, change)


@judges("dpgd/section-6-optimal")
def section_6_optimal(tables: Tables) -> Finding:
    """Is Theorem 4's risk the optimum over (c, η̃(0)), also over η̃(0) that are no pure powers of γ?"""
    costly = [found for found in equal(tables) if found[0]["b"] > critical_at(found[0]) + CLOSE]
    change = "A learning rate at $\\phi(\\alpha+1)=2$ that does no better than the best pure power of $\\gamma$."
    if not costly:
        return untestable("No curve at equality where privacy costs was tried.", change)
    apart, _ = optimum(tables, (1, 2, 3, 4))
    row, power, best = max(costly, key=lambda found: found[1] - found[2])
    kappa = 2 - row["phi"] - row["psi"]
    theory = kappa / (kappa + row["phi"])
    numbers = (
        number("power of ln(1/γ) at v = γ^a", pd.Series({**row, "p": power}), "p", 1.0, "logarithm", *PLACE),
        number("power of ln(1/γ) at the best v", pd.Series({**row, "p": best}), "p", theory, "logarithm", *PLACE),
        Number("largest distance of h from a numerical optimum", apart, None, ROUNDING, "exponents", "all"),
    )
    if apart > ROUNDING:
        return decide(False, ("", "The theorem's exponent is not the numerical optimum."), numbers, change)
    if power - best <= LOST_POWER:
        return decide(
            True, ("No learning rate does better than the theorem's, even by a logarithm.", ""), numbers, change
        )
    headline = (
        f"At equality a learning rate that is no pure power lowers the logarithm's power from {compact(power)} to "
        f"{compact(best)}."
    )
    mended = (
        "For $\\phi(\\alpha+1)\\ne2$. At equality, where privacy costs, the optimum is "
        "$\\gamma^{2\\kappa_1(1-b)/(\\kappa_1+\\phi)}\\ln^{\\kappa_1/(\\kappa_1+\\phi)}(1/\\gamma)$."
    )
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.NUMBERS, mended, change)


@judges("dpgd/section-6-critical-b")
def section_6_critical_b(tables: Tables) -> Finding:
    """Does the critical b lie in (¼, ½) or (0, ½), and a in (−1, 0)?"""
    rows = tables["exponents"]
    flat = rows["phi"] * (rows["alpha"] + 1) < 2
    low, high = rows.loc[flat, "critical"].min(), rows.loc[flat, "critical"].max()
    steep_low, steep_high = rows.loc[~flat, "critical"].min(), rows.loc[~flat, "critical"].max()
    numbers = (
        Number("least critical b, φ(α+1) < 2", low, None, 0.25, "exponents", "critical"),
        Number("largest critical b, φ(α+1) < 2", high, None, 0.5, "exponents", "critical"),
        Number("least critical b, φ(α+1) ≥ 2", steep_low, None, 0.0, "exponents", "critical"),
        Number("largest critical b, φ(α+1) ≥ 2", steep_high, None, 0.5, "exponents", "critical"),
        Number("least a", rows["a"].min(), None, -1.0, "exponents", "a"),
        Number("largest a", rows["a"].max(), None, 0.0, "exponents", "a"),
    )
    change = "Admissible exponents with a critical $b$ or an $a$ outside these intervals."
    inside = 0.25 < low <= high < 0.5 and 0 < steep_low <= steep_high < 0.5
    inside = inside and rows["a"].min() > -1 and rows["a"].max() < 0
    headlines = (
        f"At {len(rows)} random places every critical exponent and every learning-rate exponent lies in its interval.",
        "A critical exponent or a learning-rate exponent lies outside its interval.",
    )
    return decide(bool(inside), headlines, numbers, change)


@judges("dpgd/section-6-monotone")
def section_6_monotone(tables: Tables) -> Finding:
    """Is h non-decreasing in α? Its limit everywhere, and (6.6) with its logarithm at a given γ, which dips."""
    rows = tables["exponents"]
    fall = float((rows["h"] - rows["h_more"]).max())
    dips = {}
    for depth, line in tables["printed_exponent"].groupby("depth"):
        line = line.sort_values("alpha")
        dips[int(depth)] = float((line["printed_h"].cummax() - line["printed_h"]).max())
    first, last = dips[min(dips)], dips[max(dips)]
    numbers = (
        Number("largest fall of h when α grows", fall, None, 0.0, "exponents", "h and h_more"),
        Number("dip of the printed h across equality", first, None, 0.0, "printed_exponent", f"depth = {min(dips)}"),
        Number("the same at the least γ", last, None, 0.0, "printed_exponent", f"depth = {max(dips)}"),
    )
    change = "Two exponents $\\alpha$ of which the larger has the lesser $h$ as $\\gamma\\to0$."
    headlines = (
        "The limit of the exponent never falls as the schedule's exponent grows"
        + (f"; at a finite aspect ratio the printed one dips by up to {compact(first)}." if first > ROUNDING else "."),
        f"The exponent falls by {compact(max(fall, last))} where the schedule's exponent grows.",
    )
    vanishes = last < first or first <= ROUNDING
    return decide(fall <= ROUNDING and vanishes and math.isfinite(last), headlines, numbers, change)
