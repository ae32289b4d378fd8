"""Verdicts on (6.2), Assumption 3, Proposition E.1, Lemmas E.2 to E.5 and Figures 10 to 13 of arXiv:2505.16329v2."""

from __future__ import annotations

import pandas as pd

from costofprivacy.experiments.dpgd.scaling_laws.curves import PLACE
from costofprivacy.experiments.dpgd.scaling_laws.trends import (
    LOG_POWER,
    ROUNDING,
    decide,
    number,
    powers,
    untestable,
)
from costofprivacy.experiments.dpgd.scaling_laws.verdicts_theorem import BOUNDARY, boundary, optimum
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select

SOLVED = 1e-4  # relative, between a path's two sides on the finer grid
ROUNDED = 1e-4  # of a mass, a mean
CURVE = [*PLACE, "a"]
GRID = 0.02  # of a on a drawn line, more than a step of it


@judges("dpgd/equation-6.2")
def equation_62(tables: Tables) -> Finding:
    """(6.2): do its two sides agree along solved paths, the better the finer the grid of times?"""
    rows = tables["parts"].assign(apart=lambda t: (t["side"] / t["risk"] - 1).abs())
    fine, coarse = select(rows, grid="fine"), select(rows, grid="coarse")
    worst, first = fine.loc[fine["apart"].idxmax()], coarse.loc[coarse["apart"].idxmax()]
    numbers = (
        number("largest relative difference, fine grid", worst, "apart", SOLVED, "parts", *PLACE),
        number("largest relative difference, coarse grid", first, "apart", None, "parts", *PLACE),
    )
    change = "A solved path whose risk is not the sum on the right."
    headlines = (
        f"Along solved paths both sides agree within a share of {compact(worst['apart'])}, and better on finer grids.",
        f"Along solved paths the two sides are a share of {compact(worst['apart'])} apart.",
    )
    return decide(bool(worst["apart"] <= SOLVED and worst["apart"] < first["apart"]), headlines, numbers, change)


@judges("dpgd/assumption-3")
def assumption_3(tables: Tables) -> Finding:
    """Is p a density with mean 1, and does a target of finite norm need ψ < 1 − φ?"""
    spectra = tables["spectra"]
    mass, mean = (spectra[name] - 1 for name in ("mass", "mean"))
    norms = spectra[[name for name in spectra if name.startswith("norm_")]]
    grows = bool((norms.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)) and float(norms.iloc[:, -1].min()) > 100
    numbers = (
        Number("largest error of the mass", mass.abs().max(), None, ROUNDED, "spectra", "all"),
        Number("largest error of the mean", mean.abs().max(), None, ROUNDED, "spectra", "all"),
        Number("least squared norm of the target near the end", norms.iloc[:, -1].min(), None, None, "spectra", "all"),
    )
    change = "A $\\phi<1$ for which $p$ has another mass or mean, or a target of finite norm with $\\psi\\ge1-\\phi$."
    headlines = (
        "The density has mass one and mean one for every exponent tried, and the target's norm grows without bound at "
        "its limit.",
        "The density has another mass or mean than one, or the target's norm stays bounded at its limit.",
    )
    true = max(mass.abs().max(), mean.abs().max()) <= ROUNDED and grows
    return decide(bool(true), headlines, numbers, change)


@judges("dpgd/proposition-e.1")
def proposition_e1(tables: Tables) -> Finding:
    """Are the kernels x^−κ up to constants for x ≥ 1, and constants below, over fifteen decades?"""
    kernels = tables["kernels"].assign(inverse_gamma=tables["kernels"]["x"])
    groups = ["phi", "psi", "kernel"]
    far = powers(kernels[kernels["x"] >= 1], groups, "ratio")
    worst = far.loc[far["power"].abs().idxmax()]
    spread = kernels.groupby(groups)["ratio"].agg(lambda r: r.max() / r.min())
    numbers = (
        number("largest power of x left over", worst, "power", LOST_POWER, "kernels", *groups),
        Number(
            "largest ratio of two of a kernel's quotients", spread.max(), None, None, "kernels", str(spread.idxmax())
        ),
    )
    change = "A spectrum for which a kernel over its power of $x$ grows or falls like a power."
    headlines = (
        "Over all decades each kernel follows its power up to a constant that does not drift.",
        f"A kernel leaves its power of the clock by another power, {compact(worst['power'])}.",
    )
    return decide(bool(abs(worst["power"]) <= LOST_POWER and spread.max() < float("inf")), headlines, numbers, change)


def _extremes(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Powers of 1/γ in the least and the largest R(t) over the explicit side, and in that side's largest value."""
    keys = [*CURVE, "inverse_gamma"]
    table = tables["paths"].groupby(keys, as_index=False, sort=False).agg(
        low=("ratio", "min"), high=("ratio", "max"), side=("explicit", "max")
    )  # fmt: skip
    return tuple(powers(table, CURVE, name) for name in ("low", "high", "side"))


@judges("dpgd/lemma-e.2")
def lemma_e2(tables: Tables) -> Finding:
    """(E.5), (E.6): is the explicit side a lower bound always, and the risk's order where the risk stays bounded?"""
    low, high, _ = _extremes(tables)
    risk = tables["paths"].groupby([*CURVE, "inverse_gamma"], as_index=False, sort=False)["risk"].max()
    grows = powers(risk, CURVE, "risk").rename(columns={"power": "risk_power"})
    bounded = high.merge(grows, on=CURVE).query(f"risk_power <= {LOST_POWER}")
    change = "A path whose risk falls below the explicit side by a power, or exceeds it by one while it stays bounded."
    if bounded.empty:
        return untestable("No bounded path was tried.", change)
    least, most = low.iloc[0], bounded.loc[bounded["power"].idxmax()]
    numbers = (
        number("least power of 1/γ in risk over explicit side", least, "power", -LOST_POWER, "paths", *CURVE),
        number("largest one, risk bounded", most, "power", LOST_POWER, "paths", *CURVE),
        Number("least ratio", tables["paths"]["ratio"].min(), None, None, "paths", "all"),
    )
    headlines = (
        "The explicit side is never above the risk by a power, and where the risk stays bounded neither is below.",
        "The explicit side exceeds the risk by a power, or falls short of a bounded risk by one.",
    )
    true = least["power"] >= -LOST_POWER and most["power"] <= LOST_POWER
    return decide(bool(true), headlines, numbers, change)


@judges("dpgd/lemma-e.3")
def lemma_e3(tables: Tables) -> Finding:
    """Does a bounded explicit side alone make it the risk's order?"""
    low, high, side = _extremes(tables)
    sides = side.rename(columns={"power": "side_power"})
    chosen = high.merge(sides, on=CURVE).merge(low, on=CURVE, suffixes=("_high", "_low"))
    bounded, other = chosen[chosen["side_power"] <= LOST_POWER], chosen[chosen["side_power"] > LOST_POWER]
    change = "A path whose explicit side stays bounded while its risk grows beyond it by a power."
    if bounded.empty:
        return untestable("No path with a bounded explicit side was tried.", change)
    most, least = bounded.loc[bounded["power_high"].idxmax()], bounded.loc[bounded["power_low"].idxmin()]
    numbers = (
        number("largest power of 1/γ in risk over explicit side", most, "power_high", LOST_POWER, "paths", *CURVE),
        number("least power of 1/γ in it", least, "power_low", -LOST_POWER, "paths", *CURVE),
        *(number("the same where that side is unbounded", row, "power_high", None, "paths", *CURVE)
          for _, row in other.tail(1).iterrows()),
    )  # fmt: skip
    headlines = (
        f"On all {len(bounded)} kinds of path with a bounded explicit side the risk has its order.",
        "A risk leaves a bounded explicit side by a power.",
    )
    true = most["power_high"] <= LOST_POWER and least["power_low"] >= -LOST_POWER
    return decide(bool(true), headlines, numbers, change)


@judges("dpgd/lemma-e.4")
def lemma_e4(tables: Tables) -> Finding:
    """(E.16): a lower bound for every learning rate, and the risk's order under the lemma's conditions?"""
    rows = tables["orders"]
    found = powers(rows, [*CURVE, "tight"], "ratio")
    tight, least = found[found["tight"]], found.iloc[0]
    change = (
        "A learning rate at which the risk falls below the three terms by a power, or exceeds them under (i)–(iii)."
    )
    if tight.empty:
        return untestable("No learning rate that satisfies the conditions was tried.", change)
    most, loose = tight.iloc[-1], found[~found["tight"]]
    numbers = (
        number("least power of 1/γ in risk over the order", least, "power", -LOST_POWER, "orders", *CURVE),
        number("largest one under the conditions", most, "power", LOST_POWER, "orders", *CURVE),
        *(
            number("largest one outside them", row, "power", None, "orders", *CURVE)
            for _, row in loose.tail(1).iterrows()
        ),
    )
    headlines = (
        f"At {len(found)} kinds of learning rate the three terms bound the risk from below, and match it under the "
        "lemma's conditions.",
        "The risk falls below the three terms by a power, or exceeds them under the conditions.",
    )
    return decide(bool(least["power"] >= -LOST_POWER and most["power"] <= LOST_POWER), headlines, numbers, change)


@judges("dpgd/lemma-e.5")
def lemma_e5(tables: Tables) -> Finding:
    """(E.35) to (E.39): the exponents at all places; and (E.37) with both equalities."""
    apart, places = optimum(tables, (1, 2, 3, 4))
    found = powers(tables["powers"], PLACE, "ratio")
    lost, corner = found.loc[found["power"].abs().idxmax()], boundary(tables)
    numbers = (
        Number("largest distance of h from a numerical optimum", apart, None, ROUNDING, "exponents", "all"),
        number("largest power of 1/γ in risk over γ^h", lost, "power", LOST_POWER, "powers", *PLACE),
        *(number("power of ln(1/γ), both equalities", pd.Series({**row, "p": power}), "p", 0.0, "logarithm", *PLACE)
          for row, power, _ in corner),
    )  # fmt: skip
    change = "Admissible exponents at which the deterministic risk has another order."
    if apart > ROUNDING or abs(lost["power"]) > LOST_POWER:
        return decide(False, ("", "The deterministic risk has another power than the lemma's."), numbers, change)
    powers_of_log = [power for _, power, _ in corner]
    if max(powers_of_log, default=0.0) <= LOG_POWER:
        return decide(
            True, (f"The deterministic risk has the lemma's power at all {places} places.", ""), numbers, change
        )
    headline = (
        f"The exponents are the numerical optimum at all {places} places; at a double equality the risk has a "
        "logarithm "
        "more."
    )
    mended = BOUNDARY + f"$\\ln^{{{max(powers_of_log):.2f}}}(1/\\gamma)$."
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.NUMBERS, mended, change)


def _panel(tables: Tables, name: str) -> tuple[pd.Series, pd.Series, pd.Series]:
    """The rows of a figure's line where min(e₁, e₂, e₃), min(e₁, e₂) and min(e₁, e₃) are largest."""
    rows = select(tables["panels"], figure=name)
    sets = (["e1", "e2", "e3"], ["e1", "e2"], ["e1", "e3"])
    return tuple(rows.loc[rows[names].min(axis=1).idxmax()] for names in sets)


def _drawn(tables: Tables, name: str, free: bool) -> Finding:
    whole, without, costly = _panel(tables, name)
    other = select(tables["other_spectra"], figure=name)
    spectra = other[other["free"] == free]
    numbers = (
        number("a where the smallest exponent peaks", whole, "a", without["a"] if free else costly["a"], "panels",
               "kappa1", "alpha", "b"),
        number("a without the private term", without, "a", None, "panels", "kappa1", "alpha", "b"),
        number("φ up to which (E.42) is the case drawn", whole, "largest_phi", None, "panels", "alpha"),
        Number("share of other spectra with this conclusion", len(spectra) / len(other), None, 1.0, "other_spectra",
               f"figure = {name}"),
    )  # fmt: skip
    change = "Other exponents along the drawn line."
    is_free, is_costly = abs(whole["a"] - without["a"]) < GRID, abs(whole["a"] - costly["a"]) < GRID
    true = is_free if free else is_costly and not is_free
    end = f"as drawn, at {compact(whole['a'])}"
    if whole["largest_phi"] < 1 and len(spectra) < len(other):
        end += ", for spectra with an exponent below two over that of the schedule plus one"
    yes = (
        f"The smallest exponent peaks {end}."
        if free
        else f"The smallest exponent peaks later than without privacy, {end}."
    )
    return decide(bool(true), (yes, "The smallest exponent does not peak where the caption has it."), numbers, change)


@judges("dpgd/figure-10")
def figure_10(tables: Tables) -> Finding:
    """Is privacy free: does min(e₁, e₂, e₃) peak where min(e₁, e₂) does?"""
    return _drawn(tables, "figure-10", True)


@judges("dpgd/figure-11")
def figure_11(tables: Tables) -> Finding:
    """Does privacy cost: is the peak that of min(e₁, e₃), and not that of min(e₁, e₂)?"""
    return _drawn(tables, "figure-11", False)


@judges("dpgd/figure-12")
def figure_12(tables: Tables) -> Finding:
    """As Figure 10, with κ₁ = 30."""
    return _drawn(tables, "figure-12", True)


@judges("dpgd/figure-13")
def figure_13(tables: Tables) -> Finding:
    """As Figure 10, with α = 10: for φ < 2/11 alone, as (E.42) asks."""
    return _drawn(tables, "figure-13", True)
