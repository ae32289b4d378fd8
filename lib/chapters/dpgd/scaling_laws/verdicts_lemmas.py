"""Verdicts on (6.2), Assumption 3, Proposition E.1, Lemmas E.2 to E.5 and Figures 10 to 13 of arXiv:2505.16329v2."""

import math

import pandas as pd

from chapters.dpgd.scaling_laws.curves import PLACE
from chapters.dpgd.scaling_laws.trends import LOG_POWER, furthest, least, most, number, powers
from chapters.dpgd.scaling_laws.verdicts_theorem import boundary, optimum
from companion.judging.findings import Verdict
from companion.judging.growth import LOST_POWER
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import ROUNDING

SOLVED = 1e-4  # relative, between a path's two sides on the finer grid
ROUNDED = 1e-4  # of a mass, a mean
UNBOUNDED = 100  # a squared norm that grows beyond it is taken to do so without bound
CURVE = [*PLACE, "a"]
GRID = 0.02  # of a on a drawn line, more than a step of it


@judges("dpgd/equation-6.2")
def equation_62(tables: Tables) -> Ruling:
    """(6.2): do its two sides agree along solved paths, the better the finer the grid of times?"""
    rows = tables["parts"].assign(apart=lambda t: (t["side"] / t["risk"] - 1).abs())
    worst, first = (most(select(rows, grid=grid), "apart") for grid in ("fine", "coarse"))
    found = (
        number("largest relative difference, fine grid", worst, "apart", SOLVED, "parts", *PLACE),
        number("largest relative difference, coarse grid", first, "apart", None, "parts", *PLACE),
    )
    verdict = reads(printed=worst["apart"] <= SOLVED and worst["apart"] < first["apart"])
    return Ruling(verdict, found, {"apart": worst["apart"]})


@judges("dpgd/assumption-3")
def assumption_3(tables: Tables) -> Ruling:
    """Is p a density with mean 1, and does a target of finite norm need ψ < 1 − φ?"""
    spectra = tables["spectra"]
    mass, mean = ((spectra[name] - 1).abs().max() for name in ("mass", "mean"))
    norms = spectra.filter(regex="^norm_")
    end = norms.iloc[:, -1].min()
    named = {
        "largest error of the mass": (mass, ROUNDED),
        "largest error of the mean": (mean, ROUNDED),
        "squared norm of the target near ψ = 1 − φ, least": (end, UNBOUNDED),
    }
    grows = end > UNBOUNDED and (norms.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
    return Ruling(reads(printed=grows and max(mass, mean) <= ROUNDED), numbers("spectra", named))


@judges("dpgd/proposition-e.1")
def proposition_e1(tables: Tables) -> Ruling:
    """Are the kernels x^−κ up to constants for x ≥ 1, and constants below, over fifteen decades?"""
    kernels, groups = tables["kernels"].assign(inverse_gamma=tables["kernels"]["x"]), ["phi", "psi", "kernel"]
    worst = furthest(powers(kernels[kernels["x"] >= 1], groups, "ratio"), "power")
    spread = kernels.groupby(groups, as_index=False)["ratio"].agg(lambda r: r.max() / r.min())
    widest = most(spread, "ratio")
    found = (
        number("largest power of x in kernel over its order", worst, "power", LOST_POWER, "kernels", *groups),
        number("kernel over its order, largest over least", widest, "ratio", None, "kernels", *groups),
    )
    return Ruling(reads(printed=abs(worst["power"]) <= LOST_POWER and math.isfinite(widest["ratio"])), found)


def path_powers(tables: Tables) -> pd.DataFrame:
    """The powers of 1/γ in what a kind of path reaches.

    Returns:
        the columns of `CURVE`, and the powers: low and high, in the least and the largest R(t) over the explicit side;
        side and risk, in the largest value of either.
    """
    table = tables["paths"].groupby([*CURVE, "inverse_gamma"], as_index=False, sort=False).agg(
        low=("ratio", "min"), high=("ratio", "max"), side=("explicit", "max"), risk=("risk", "max")
    )  # fmt: skip
    each = {name: powers(table, CURVE, name).set_index(CURVE)["power"] for name in ("low", "high", "side", "risk")}
    return pd.concat(each, axis=1).reset_index()


@judges("dpgd/lemma-e.2")
def lemma_e2(tables: Tables) -> Ruling:
    """(E.5), (E.6): is the explicit side a lower bound always, and the risk's order where the risk stays bounded?"""
    kinds = path_powers(tables)
    bounded = kinds[kinds["risk"] <= LOST_POWER]
    if bounded.empty:
        return Ruling(Verdict.UNTESTABLE)
    low, high = least(kinds, "low"), most(bounded, "high")
    found = (
        number("least power of 1/γ in risk over explicit side", low, "low", -LOST_POWER, "paths", *CURVE),
        number("largest power, risk bounded", high, "high", LOST_POWER, "paths", *CURVE),
        *numbers("paths", {"least risk over explicit side": tables["paths"]["ratio"].min()}),
    )
    return Ruling(reads(printed=low["low"] >= -LOST_POWER and high["high"] <= LOST_POWER), found)


@judges("dpgd/lemma-e.3")
def lemma_e3(tables: Tables) -> Ruling:
    """Does a bounded explicit side alone make it the risk's order?"""
    kinds = path_powers(tables)
    bounded, other = kinds[kinds["side"] <= LOST_POWER], kinds[kinds["side"] > LOST_POWER]
    if bounded.empty:
        return Ruling(Verdict.UNTESTABLE)
    high, low = most(bounded, "high"), least(bounded, "low")
    found = (
        number("largest power of 1/γ in risk over explicit side", high, "high", LOST_POWER, "paths", *CURVE),
        number("least power of 1/γ in risk over explicit side", low, "low", -LOST_POWER, "paths", *CURVE),
        *(number("largest power where that side is unbounded", row, "high", None, "paths", *CURVE)
          for _, row in other.sort_values("high").tail(1).iterrows()),
    )  # fmt: skip
    verdict = reads(printed=high["high"] <= LOST_POWER and low["low"] >= -LOST_POWER)
    return Ruling(verdict, found, {"kinds": len(bounded)})


@judges("dpgd/lemma-e.4")
def lemma_e4(tables: Tables) -> Ruling:
    """(E.16): a lower bound for every learning rate, and the risk's order under the lemma's conditions?"""
    kinds = powers(tables["orders"], [*CURVE, "tight"], "ratio")
    tight, loose = kinds[kinds["tight"]], kinds[~kinds["tight"]]
    if tight.empty:
        return Ruling(Verdict.UNTESTABLE)
    low, high = kinds.iloc[0], tight.iloc[-1]
    found = (
        number("least power of 1/γ in risk over the order", low, "power", -LOST_POWER, "orders", *CURVE),
        number("largest power under the lemma's conditions", high, "power", LOST_POWER, "orders", *CURVE),
        *(number("largest power outside them", row, "power", None, "orders", *CURVE)
          for _, row in loose.tail(1).iterrows()),
    )  # fmt: skip
    verdict = reads(printed=low["power"] >= -LOST_POWER and high["power"] <= LOST_POWER)
    return Ruling(verdict, found, {"kinds": len(kinds)})


@judges("dpgd/lemma-e.5")
def lemma_e5(tables: Tables) -> Ruling:
    """(E.35) to (E.39): the exponents at all places; and (E.37) with both equalities."""
    apart, places = optimum(tables, (1, 2, 3, 4))
    left, corner = powers(tables["powers"], PLACE, "ratio"), boundary(tables)
    if left.empty or corner.empty:
        return Ruling(Verdict.UNTESTABLE)
    lost = furthest(left, "power")
    found = (
        *numbers("exponents", {"largest distance of h from a numerical optimum": (apart, ROUNDING)}),
        number("largest power of 1/γ in risk over γ^h", lost, "power", LOST_POWER, "powers", *PLACE),
        *(number("power of ln(1/γ), both equalities", row, "at_power", LOG_POWER, "logarithm", *PLACE)
          for _, row in corner.iterrows()),
    )  # fmt: skip
    right = apart <= ROUNDING and abs(lost["power"]) <= LOST_POWER
    verdict = reads(printed=right and (corner["at_power"] <= LOG_POWER).all(), narrower=right)
    return Ruling(verdict, found, {"places": places})


def peaks(tables: Tables, name: str) -> tuple[pd.Series, ...]:
    """The rows of a figure's line where min(e₁, e₂, e₃), min(e₁, e₂) and min(e₁, e₃) are largest."""
    rows = select(tables["panels"], figure=name)
    sets = (["e1", "e2", "e3"], ["e1", "e2"], ["e1", "e3"])
    return tuple(rows.loc[rows[names].min(axis=1).idxmax()] for names in sets)


def drawn(tables: Tables, name: str, free: bool) -> Ruling:
    """Whether a figure's smallest exponent peaks as it does where privacy is free, or as where it costs."""
    whole, without, costly = peaks(tables, name)
    share = (select(tables["other_spectra"], figure=name)["free"] == free).mean()
    expected, line = without["a"] if free else costly["a"], ("panels", "kappa1", "alpha", "b")
    found = (
        number("a where the smallest exponent is largest", whole, "a", expected, *line),
        number("a without the private term", without, "a", None, *line),
        number("largest φ to which (E.42) applies", whole, "largest_phi", None, "panels", "alpha"),
        *numbers("other_spectra", {"share of other φ with the same conclusion": share}, f"figure = {name}"),
    )
    is_free, is_costly = abs(whole["a"] - without["a"]) < GRID, abs(whole["a"] - costly["a"]) < GRID
    verdict = reads(printed=is_free if free else is_costly and not is_free)
    some = whole["largest_phi"] < 1 and share < 1
    return Ruling(verdict, found, {"a": whole["a"]}, "some spectra" if some else "")


@judges("dpgd/figure-10")
def figure_10(tables: Tables) -> Ruling:
    """Is privacy free: does min(e₁, e₂, e₃) peak where min(e₁, e₂) does?"""
    return drawn(tables, "figure-10", True)


@judges("dpgd/figure-11")
def figure_11(tables: Tables) -> Ruling:
    """Does privacy cost: is the peak that of min(e₁, e₃), and not that of min(e₁, e₂)?"""
    return drawn(tables, "figure-11", False)


@judges("dpgd/figure-12")
def figure_12(tables: Tables) -> Ruling:
    """As Figure 10, with κ₁ = 30."""
    return drawn(tables, "figure-12", True)


@judges("dpgd/figure-13")
def figure_13(tables: Tables) -> Ruling:
    """As Figure 10, with α = 10: for φ < 2/11 alone, as (E.42) asks."""
    return drawn(tables, "figure-13", True)
