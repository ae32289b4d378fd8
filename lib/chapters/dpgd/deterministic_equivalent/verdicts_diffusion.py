"""Verdicts on the diffusion (4.14), Theorem 5, (C.45) and Lemmas C.2 to C.4 of arXiv:2505.16329v2."""

import math

import pandas as pd

from chapters.dpgd.deterministic_equivalent import trends
from chapters.dpgd.deterministic_equivalent.homogenised import SCALE, TAIL
from chapters.dpgd.deterministic_equivalent.trends import LEVEL
from companion.judging.findings import Number
from companion.judging.growth import several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, pick, select
from companion.judging.vocabulary import CONSISTENT

NOTHING = 0.01  # growth of a logarithm that is none
HEAVIEST = math.log(1 - TAIL) / math.log(1 - SCALE)  # the tail of (C.17) and (C.26) over their value at y = 1
LAST_LINE = 2.0  # the last line of the proof of Lemma C.2 over the sharper bound that `sums` derives


@judges("dpgd/equation-4.14")
def equation_414(tables: Tables) -> Ruling:
    """Which drift has the risk of Algorithm 1?"""
    return _tracking(tables["homogenised"], "risk")


@judges("dpgd/definition-c.1")
def definition_c1(tables: Tables) -> Ruling:
    """The same drift."""
    return _tracking(tables["homogenised"], "risk")


@judges("dpgd/remark-4.3")
def remark_43(tables: Tables) -> Ruling:
    """Does the risk of the diffusion track that of Algorithm 1?"""
    return _tracking(tables["homogenised"], "risk")


@judges("dpgd/theorem-5")
def theorem_5(tables: Tables) -> Ruling:
    """Do all quadratics of (C.2)?"""
    return _tracking(tables["homogenised"], "resolvents")


def _tracking(table: pd.DataFrame, quantity: str) -> Ruling:
    """Whether sup |q(Θ) − q(θ)| falls like log²n/√n, with the drift printed and the drift derived."""
    if trends.too_small(table):
        return trends.SMALL
    names = [f"{quantity}, {drift} drift" for drift in ("printed", "derived")]
    printed, derived = (
        trends.fall(f"distance in the {name}", "homogenised", select(table, quantity=name)) for name in names
    )
    verdict = trends.as_printed_or_corrected(printed, derived)
    return Ruling(verdict, (printed.number, derived.number), {"printed": printed.exponent})


@judges("dpgd/equation-c.45")
def equation_c45(tables: Tables) -> Ruling:
    """Is R the contour integral with i/4π, along the printed diffusion, or with i/2π along the derived one?"""
    table = tables["diffusion"]
    if trends.too_small(table):
        return trends.SMALL
    printed, corrected = (
        trends.fall(f"distance, {drift} drift, {integral}", "diffusion", select(table, drift=drift, integral=integral))
        for drift, integral in {"printed": "i/4π", "derived": "i/2π"}.items()
    )
    verdict = trends.as_printed_or_corrected(printed, corrected)
    powers = {"printed": printed.exponent, "corrected": corrected.exponent}
    return Ruling(verdict, (printed.number, corrected.number), powers)


# ---------------------------------------------------------------------------------------------------- martingales


@judges("dpgd/lemma-c.2")
def lemma_c2(tables: Tables) -> Ruling:
    """The discretisation error against (C.16), the martingale against (C.17)."""
    sums, table, name = tables["sums"], tables["homogenised"], "martingale of the private noise"
    if not (several(sums["n"]) and several(table["n"])):
        return trends.SMALL
    rows = sums[sums["quantity"].str.startswith("(C.16)")]
    proved = LAST_LINE * rows["derived"]
    worst, within = (float((rows["value"] / bound).max(skipna=False)) for bound in (rows["printed"], proved))
    named = {
        "discretisation error over the printed bound": (worst, 1.0),
        "discretisation error over the bound of the proof's last line": (within, 1.0),
    }
    found = (*numbers("sums", named, "quantity = (C.16)"), *_martingale(table, name))
    small, known = _stays_small(table, name), not (math.isnan(worst + within) or _unknown(table, name))
    verdict = reads(printed=small and worst <= 1, corrected=small and min(worst, within) <= 1, decided=known)
    return Ruling(verdict, found, {"worst": worst})


@judges("dpgd/lemma-c.3")
def lemma_c3(tables: Tables) -> Ruling:
    """The martingale of the diffusion, which its drift does not touch."""
    table, name = tables["homogenised"], "martingale of the diffusion"
    if not several(table["n"]):
        return trends.SMALL
    found = _martingale(table, name)
    verdict = reads(printed=_stays_small(table, name), decided=not _unknown(table, name))
    return Ruling(verdict, found, {"power": found[0].value})


def _martingale(table: pd.DataFrame, name: str) -> tuple[Number, ...]:
    """The power of n from the first to the last size, and the heaviest tail."""
    rows = select(table, quantity=name).sort_values("n")
    fall = trends.fall(name, "homogenised", rows.iloc[[0, -1]])
    named = {
        "power of n of the supremum, over all sizes": {"value": fall.exponent, "error": fall.error, "against": -0.5},
        "90 % quantile of the supremum over its 63 % quantile, largest": (
            (rows["tail"] / rows["scale"]).max(),
            HEAVIEST,
        ),
    }
    return numbers("homogenised", named, f"quantity = {name}")


def _stays_small(table: pd.DataFrame, name: str) -> bool:
    """Whether a martingale stays below Cn^(−1/2)y except with probability e^(−y), which its tail shows."""
    rows = select(table, quantity=name).sort_values("n")
    scaled, error = (rows[column] * rows["n"] ** 0.5 for column in ("value", "standard_error"))
    growth = scaled.iloc[-1] - LEVEL * scaled.iloc[0]
    grown = growth > CONSISTENT * math.hypot(error.iloc[-1], LEVEL * error.iloc[0])
    heavy = (rows["tail"] / rows["scale"]).max() > HEAVIEST
    return not (grown or heavy)


def _unknown(table: pd.DataFrame, name: str) -> bool:
    """Whether a size of a martingale, or its tail, is no number."""
    rows = select(table, quantity=name)
    return bool((rows["value"] + rows["standard_error"] + rows["tail"] / rows["scale"]).isna().any())


@judges("dpgd/lemma-c.4")
def lemma_c4(tables: Tables) -> Ruling:
    """Do the errors of both processes grow by no more as n grows, at ‖θ*‖ = 1?"""
    table = tables["homogenised"]
    if not several(table["n"]):
        return trends.SMALL
    ends = {name: _ends(table, name) for name in ("algorithm", "diffusion")}
    named = {
        f"{what}, {name}, {place} n": (size, None, f"quantity = growth of the {name}")
        for name, pair in ends.items()
        for place, row in zip(("first", "last"), pair)
        for what, size in _growths(row).items()
    }
    shown = max(ends.values(), key=lambda pair: float(pair[0]["tail"]))
    first, last = (float(row["tail"]) for row in shown)
    known = not any(math.isnan(size) for size, *_ in named.values())
    verdict = reads(printed=not any(_grows(*pair) for pair in ends.values()), decided=known)
    return Ruling(verdict, numbers("homogenised", named), {"first": first, "last": last})


def _ends(table: pd.DataFrame, name: str) -> tuple[pd.Series, pd.Series]:
    """The growth of a process at the first and the last n."""
    rows = select(table, quantity=f"growth of the {name}")
    return pick(rows.nsmallest(1, "n")), pick(rows.nlargest(1, "n"))


def _grows(first: pd.Series, last: pd.Series) -> bool:
    """Whether any of `_growths` is larger at the last n than at the first."""
    before, after = _growths(first), _growths(last)
    return any(after[what] > LEVEL * before[what] + NOTHING for what in before)


def _growths(row: pd.Series) -> dict[str, float]:
    """Mean and tail of log sup ‖v‖²/‖v_0‖², and its spread in units of n^(−1/2)."""
    scaled = row["standard_deviation"] * row["n"] ** 0.5
    return {"mean log growth": row["value"], "90 % quantile of the log growth": row["tail"], "spread times √n": scaled}
