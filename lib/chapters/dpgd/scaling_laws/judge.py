"""Verdicts on Figures 2 and 3 of arXiv:2505.16329v2 and what its text says of them."""

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import pandas as pd

from chapters.dpgd.scaling_laws.measure import PLACE, WITHIN
from companion.judging import growth
from companion.judging.findings import Number, Verdict
from companion.judging.growth import LOST_POWER, power, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, describe, select
from companion.judging.vocabulary import ON_A_PAR, ROUNDING, WORSE, worse

# ---- Trends ----
# What the judges of this chapter share: powers of 1/γ and of ln(1/γ), extreme rows, and numbers from one row.

LOG_POWER = 0.25  # a power of ln(1/γ) from which on a logarithm is there


def powers(table: pd.DataFrame, by: list[str], left: str) -> pd.DataFrame:
    """The power of 1/γ in a column for each group with several γ, with the group's columns, ascending."""
    found = [(*place, growth.power(rows, "inverse_gamma", left, "")) for place, rows in table.groupby(by, sort=False)]
    table = pd.DataFrame(found, columns=[*by, "power"]).dropna(subset="power")
    return table.sort_values("power", ignore_index=True)


def log_power(rows: pd.DataFrame, column: str) -> float:
    """The power of ln(1/γ) in a column between its last two depths."""
    end = rows.sort_values("log").tail(2)
    (first, last), (low, high) = end[column], end["log"]
    return math.log(last / first) / math.log(high / low)


def most(rows: pd.DataFrame, column: str) -> pd.Series:
    """The row with the largest value in a column."""
    return rows.loc[rows[column].idxmax()]


def least(rows: pd.DataFrame, column: str) -> pd.Series:
    """The row with the least value in a column."""
    return rows.loc[rows[column].idxmin()]


def furthest(rows: pd.DataFrame, column: str = "distance") -> pd.Series:
    """The row whose value in a column, by default its distance from h, is furthest from 0."""
    return rows.loc[rows[column].abs().idxmax()]


def smallest(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows at the least γ."""
    return rows[rows["gamma"] == rows["gamma"].min()]


def rises(rows: pd.DataFrame, along: str, column: str, by: list[str]) -> np.ndarray:
    """By how much a column rises from one place to the next along another, within all groups."""
    return np.concatenate([np.diff(group.sort_values(along)[column]) for _, group in rows.groupby(by)])


def number(name: str, row: pd.Series, column: str, against: float | None, table: str, *named: str) -> Number:
    """A number that stands in, or was made from, one row."""
    return Number(name, row[column], None, against, table, describe({key: row[key] for key in named}))


# ---- Judges ----

FIRST = 0  # the window of the largest γ
SIZES = {"alpha": "α", "kappa": "2 − φ − ψ"}  # which the slopes of Figure 2 grow with
FIXED = {"alpha": ["phi", "psi", "b"], "kappa": ["alpha", "b"]}  # while they do
SLOPES = {"h": "h", "slope": "the slope"}


def of(table: pd.DataFrame, figure: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table that belong to the curves of a figure."""
    return table.merge(figure[PLACE].drop_duplicates(), on=PLACE)


def large(rows: pd.DataFrame) -> pd.DataFrame:
    """Those with an α in the upper half of the range that was tried."""
    return rows[rows["alpha"] > (rows["alpha"].min() + rows["alpha"].max()) / 2]


def last_slopes(tables: Tables, figure: str) -> pd.DataFrame:
    """The local slopes of a figure's curves at the least γ."""
    return smallest(of(tables["slopes"], tables[figure]))


def windows(tables: Tables, figure: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The fits of a figure's curves at the largest and at the least γ."""
    rows = of(tables["fits"], tables[figure])
    return rows[rows["window"] == FIRST], rows[rows["window"] == rows["window"].max()]


def settles(slope: pd.Series, first: pd.Series, end: pd.Series) -> bool:
    """Whether a local slope ends near h, and fits at the least γ are no further from it than at the largest."""
    return bool(abs(slope["distance"]) <= WITHIN and abs(end["distance"]) <= abs(first["distance"]))


def fitted(first: pd.Series, end: pd.Series) -> tuple[Number, ...]:
    """The worst fits at the largest and at the least γ; the second must not be worse than the first."""
    at = ("fits", *PLACE, "to_gamma")
    return (
        number("furthest fit from h at the largest γ", first, "distance", None, *at),
        number("furthest fit from h at the least γ", end, "distance", abs(first["distance"]), *at),
    )


@judges("dpgd/figure-2")
def figure_2(tables: Tables) -> Ruling:
    """Do the slopes of the optimised risk agree with h? The local one at the least γ, and fits nearing h."""
    worst = furthest(last_slopes(tables, "figure-2"))
    first, end = map(furthest, windows(tables, "figure-2"))
    found = (
        number("furthest local slope from h at the least γ", worst, "distance", WITHIN, "slopes", *PLACE, "gamma"),
        *fitted(first, end),
        *numbers("figure-2", {"points at the cap": tables["figure-2"]["at_cap"].sum()}, "at_cap"),
    )
    quoted = {"slope_off": abs(worst["distance"]), "fit_off": abs(first["distance"])}
    return Ruling(reads(printed=settles(worst, first, end)), found, quoted)


@judges("dpgd/figure-3")
def figure_3(tables: Tables) -> Ruling:
    """Do the slopes agree with h once α is large, and does h stop growing?"""
    last, ends = last_slopes(tables, "figure-3"), windows(tables, "figure-3")
    if not several(last["alpha"]):
        return Ruling(Verdict.UNTESTABLE)
    worst, first, end = (furthest(large(rows)) for rows in (last, *ends))
    flat = last.sort_values("alpha").groupby(["phi", "psi"])["h"].agg(lambda h: abs(h.iloc[-1] - h.iloc[-2])).max()
    found = (
        number("furthest local slope from h at the least γ, large α", worst, "distance", WITHIN, "slopes", *PLACE),
        number("the same, every α", furthest(last), "distance", None, "slopes", *PLACE),
        *fitted(first, end),
        *numbers("slopes", {"growth of h between the last two schedules": (flat, WITHIN)}, "h, by φ and ψ"),
    )
    verdict = reads(printed=settles(worst, first, end) and flat < WITHIN)
    return Ruling(verdict, found, {"slope_off": abs(worst["distance"]), "fit_off": abs(first["distance"])})


def fits_by_side(tables: Tables) -> dict[tuple[str, str], pd.Series]:
    """The furthest fits of Figure 3 from h, by γ and by α: the largest and the least one, small and large ones."""
    early, late = windows(tables, "figure-3")
    middle = (early["alpha"].min() + early["alpha"].max()) / 2
    return {
        (gamma, alpha): furthest(rows[(rows["alpha"] > middle) == (alpha == "large")])
        for gamma, rows in (("largest", early), ("least", late))
        for alpha in ("small", "large")
    }


@judges("dpgd/section-6-larger-data")
def section_6_larger_data(tables: Tables) -> Ruling:
    """Are the fits of Figure 3 better for large α, and those for small α better at larger 1/γ?"""
    if not several(tables["figure-3"]["alpha"]):
        return Ruling(Verdict.UNTESTABLE)
    fits = fits_by_side(tables)
    far = furthest(smallest(of(tables["approach"], tables["figure-3"])))
    found = (
        *(number(f"furthest fit for {alpha} α at the {gamma} γ", row, "distance", None, "fits", *PLACE, "to_gamma")
          for (gamma, alpha), row in fits.items()),
        number("furthest slope of the closed form", far, "distance", WITHIN, "approach", *PLACE, "gamma"),
    )  # fmt: skip
    away = {place: abs(row["distance"]) for place, row in fits.items()}
    better = away["least", "small"] >= away["least", "large"] and abs(far["distance"]) <= WITHIN
    improves = abs(far["distance"]) < away["least", "small"]
    reverses = away["largest", "large"] > away["largest", "small"]
    return Ruling(reads(printed=better and improves), found, grounds="" if reverses else "at every ratio")


@judges("dpgd/section-6-growth")
def section_6_growth(tables: Tables) -> Ruling:
    """Does the slope grow with α and with 2 − φ − ψ, in theory and as measured at the least γ?"""
    last = last_slopes(tables, "figure-2").assign(kappa=lambda t: 2 - t["phi"] - t["psi"])
    if not (several(last["alpha"]) and several(last["kappa"])):
        return Ruling(Verdict.UNTESTABLE)
    rise = {
        f"least rise of {slope} in {word}": rises(last, size, column, FIXED[size]).min()
        for size, word in SIZES.items()
        for column, slope in SLOPES.items()
    }
    named = {name: (value, 0.0) for name, value in rise.items()}
    return Ruling(reads(printed=min(rise.values()) > 0), numbers("slopes", named, "least γ"))


@judges("dpgd/section-6-not-tight")
def section_6_not_tight(tables: Tables) -> Ruling:
    """Does the upper side of (4.12) outgrow the risk? As λ_min → 0 it has no descent, so it stays at R(0) at least."""
    starts = tables["starts"]
    rows = starts.assign(quotient=starts["initial_risk"] / starts["risk"], inverse_gamma=1 / starts["gamma"])
    grows = powers(rows, [*PLACE, "initial_risk"], "quotient")
    if grows.empty:
        return Ruling(Verdict.UNTESTABLE)
    slowest, low = grows.iloc[0], least(smallest(rows), "quotient")
    at = ("starts", *PLACE, "initial_risk")
    found = (
        number("least power of 1/γ in R(0) over the risk", slowest, "power", LOST_POWER, *at),
        number("least R(0) over the risk, least γ", low, "quotient", ON_A_PAR, *at, "gamma"),
    )
    return Ruling(reads(printed=slowest["power"] > LOST_POWER), found, {"quotient": low["quotient"]})


@judges("dpgd/section-6-free")
def section_6_free(tables: Tables) -> Ruling:
    """Below the critical b, is the optimised risk that without privacy as γ → 0, and above it larger by a power?"""
    cost = tables["cost"]
    free, costly = cost[cost["b"] <= cost["critical"]], cost[cost["b"] > cost["critical"]]
    if free.empty or costly.empty:
        return Ruling(Verdict.UNTESTABLE)
    last, first = most(smallest(free), "ratio"), most(free[free["gamma"] == free["gamma"].max()], "ratio")
    dear = least(smallest(costly), "ratio")
    found = (
        number("largest ratio where privacy is free, least γ", last, "ratio", WORSE, "cost", *PLACE, "gamma"),
        number("largest ratio where privacy is free, largest γ", first, "ratio", None, "cost", *PLACE, "gamma"),
        number("least ratio where privacy costs, least γ", dear, "ratio", ON_A_PAR, "cost", *PLACE, "gamma"),
    )
    verdict = reads(printed=not worse(last["ratio"], 1.0) and dear["ratio"] > ON_A_PAR)
    return Ruling(verdict, found, {"share": last["ratio"] - 1, "dear": dear["ratio"]})


@judges("dpgd/section-6-cap")
def section_6_cap(tables: Tables) -> Ruling:
    """Is a > −1 in all cases, so that a bounded c with η̃(0) ≤ 2/γ exists, and are optima below the cap at small γ?"""
    lowest = least(tables["exponents"], "a")
    points = pd.concat([tables["figure-2"], tables["figure-3"]])
    at_end = int(smallest(points)["at_cap"].sum())
    found = (
        number("least a", lowest, "a", -1.0, "exponents", "phi", "psi", "alpha", "b"),
        *(Number(f"optima at the cap, Figure {name[-1]}", tables[name]["at_cap"].sum(), None, None, name, "at_cap")
          for name in ("figure-2", "figure-3")),
        *numbers("figure-2", {"optima at the cap, least γ": (at_end, 0.0)}, "at_cap, with those of figure-3"),
    )  # fmt: skip
    verdict = reads(printed=lowest["a"] > -1 and at_end == 0)
    return Ruling(verdict, found)


# ---- Theorem ----
# Verdicts on Theorem 4 of arXiv:2505.16329v2 and the text between it and Corollary 6.1.


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


# ---- Lemmas ----
# Verdicts on (6.2), Assumption 3, Proposition E.1, Lemmas E.2 to E.5 and Figures 10 to 13 of arXiv:2505.16329v2.

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


# ---- Proof ----
# Verdicts on printed steps and constants of Appendix E of arXiv:2505.16329v2.

QUADRATURE = 1e-6  # relative error of the integrals behind (E.12)
COMPARED = 1e-3  # relative error of the path behind (E.14)
PRINTED_BOUND = 1.5  # of (E.48)


@judges("dpgd/equation-e.12")
def equation_e12(tables: Tables) -> Ruling:
    """Is R' of (E.12) equal to the left side of (E.10)?"""
    rows = tables["linear"]
    ratio = rows[["as_printed", "half_clock"]].rdiv(rows["solved"], axis=0)
    printed, half = (ratio - 1).abs().max()
    named = {
        "(E.12) against (E.10), largest relative difference": (printed, QUADRATURE, "as_printed"),
        "the same with the missing 2": (half, QUADRATURE, "half_clock"),
    }
    verdict = reads(printed=printed <= QUADRATURE, corrected=half <= QUADRATURE)
    return Ruling(verdict, numbers("linear", named), {"ratio": ratio["as_printed"].max()})


@judges("dpgd/equation-e.14")
def equation_e14(tables: Tables) -> Ruling:
    """(E.14): does the comparison hold with a C₂ for which μ_c C₂ ≥ c/√(2R + ζ²), or only with a larger one?"""
    ratio = tables["comparison"].groupby("constant")["ratio"].min()
    named = {
        f"left over right side of (E.14), {name} constant": (ratio[name], 1.0, f"constant = {name}")
        for name in ("least", "larger")
    }
    suffices = ratio >= 1 - COMPARED
    verdict = reads(printed=suffices["least"], corrected=suffices["larger"])
    return Ruling(verdict, numbers("comparison", named), {"least": ratio["least"]})


@judges("dpgd/equation-e.27")
def equation_e27(tables: Tables) -> Ruling:
    """(E.27): is N₂(t) at most of the order of γv, at all times?"""
    rows = tables["paths"].assign(quotient=lambda t: t["sampling"] / (t["gamma"] * t["v"]))
    ends = rows.groupby([*CURVE, "inverse_gamma"], as_index=False, sort=False)["quotient"].max()
    kinds = powers(ends, CURVE, "quotient")
    if kinds.empty:
        return Ruling(Verdict.UNTESTABLE)
    worst, largest = kinds.iloc[-1], most(rows, "quotient")
    product = (rows["gamma"] * rows["v"]).max()
    found = (
        number("largest power of 1/γ in sampling noise over γv", worst, "power", LOST_POWER, "paths", *CURVE),
        number("largest sampling noise over γv", largest, "quotient", None, "paths", *CURVE, "gamma", "time"),
        *numbers("paths", {"largest γv": (product, 2.0)}),
    )
    verdict = reads(printed=worst["power"] <= LOST_POWER and product <= 2)
    return Ruling(verdict, found, {"quotient": largest["quotient"]})


@judges("dpgd/equation-e.45")
def equation_e45(tables: Tables) -> Ruling:
    """(E.45), (E.48), (E.51), (E.54): is the private noise along the run bounded at the chosen a, in every case?"""
    rows = tables["exponents"].dropna(subset="tight")
    low = least(rows, "tight")
    found = number(
        "least exponent of the private noise along the run", low, "tight", 0.0, "exponents", "phi", "alpha", "b"
    )
    return Ruling(reads(printed=low["tight"] >= 0), (found,), {"places": len(rows)})


@judges("dpgd/equation-e.46")
def equation_e46(tables: Tables) -> Ruling:
    """(E.46): is a in [−1, 0] in the case that the sentence treats, b > K/(2(K + 1))?

    It is. From b ≤ 1 follows a ≤ 0. The case's b gives 2(1 − b) < (K + 2)/(K + 1), hence −a < (α + 1)/(K + 1), and this
    is below 1 because κ₁ > 1 makes K = κ₁(α + 1) larger than α.
    """
    rows = tables["reasons"]
    case, outside = rows[rows["b"] > rows["bound"]]["a"], least(rows, "a")
    found = (
        *numbers("reasons", {"least a, b above its bound": (case.min(), -1.0)}, "b > bound"),
        *numbers("reasons", {"largest a, b above its bound": (case.max(), 0.0)}, "b > bound"),
        number("least a, any b ≤ 1", outside, "a", None, "reasons", "phi", "psi", "alpha", "b"),
    )
    verdict = reads(printed=bool(case.between(-1, 0).all()), decided=not case.empty)
    return Ruling(verdict, found, {"places": len(case)})


@judges("dpgd/equation-e.48")
def equation_e48(tables: Tables) -> Ruling:
    """After (E.48): 2 − 2b + 4a/3 > 0 at α = ½, "since 3κ₁/2 + 2 > 3/2": which number must it exceed?"""
    rows = tables["reasons"].dropna(subset="threshold")
    if rows.empty:
        return Ruling(Verdict.UNTESTABLE)
    low, high, left = rows["threshold"].min(), rows["threshold"].max(), rows["left"].min()
    named = {
        "number that K + 2 must exceed, least": (low, PRINTED_BOUND),
        "number that K + 2 must exceed, largest": (high, PRINTED_BOUND),
        "least 2 − 2b + 4a/3, over 2(1 − b)": (left, 0.0),
    }
    as_printed = (rows["threshold"] - PRINTED_BOUND).abs().max() <= ROUNDING
    verdict = reads(printed=left > 0 and as_printed, corrected=left > 0)
    return Ruling(verdict, numbers("reasons", named, "alpha = 0.5"), {"number": high})


def tested(tables: Tables) -> pd.DataFrame:
    """The risks that were computed a second time, with both relative differences."""
    rows = tables["check"]
    return rows.assign(apart=(rows["lsoda"] / rows["risk"] - 1).abs(), better=rows["risk"] / rows["lsoda_least"] - 1)


# ---- Corollary ----
# Verdicts on Corollary 6.1 of arXiv:2505.16329v2, on what follows it, and on what Section 8 says of scaling laws.

REACHED = 2e-3  # of a limit along α, which is approached like 1/K
TOUCHED = 0.05  # a critical b below it is close to 0
RARE = 0.01  # share of the samples
SMALL, LARGE = 1.0, 10.0  # clipping constants up to and from which a constant is small or large
FREE, COSTLY = (1, 3), (2, 4)  # the theorem's cases


def approached(rows: pd.DataFrame, value: str, limit: str) -> tuple[float, float]:
    """How far a column is from its limit at the largest α at most, and by how much it exceeds it anywhere."""
    last = rows[rows["alpha"] == rows["alpha"].max()]
    return float((last[value] - last[limit]).abs().max()), float((rows[value] - rows[limit]).max())


@judges("dpgd/corollary-6.1-flat")
def corollary_flat(tables: Tables) -> Ruling:
    """(6.7): is h short of min(1, 2(1 − b)) by less than 2/(α + 3) at every α, for φ ≤ 0? K > α + 1 gives it."""
    rows = tables["limits"].query("phi <= 0")
    if rows.empty:
        return Ruling(Verdict.UNTESTABLE)
    short = (rows["h_limit"] - rows["h"]) * (rows["alpha"] + 3) / 2
    named = {
        "shortfall of h from its limit over 2/(α + 3), largest": (short.max(), 1.0),
        "the same, least": (short.min(), 0.0),
        "largest α": rows["alpha"].max(),
    }
    return Ruling(reads(printed=short.min() >= 0 and short.max() <= 1), numbers("limits", named, "phi <= 0"))


@judges("dpgd/corollary-6.1-steep")
def corollary_steep(tables: Tables) -> Ruling:
    """(6.8): does h go to the lesser of 1 and 2(1 − b)κ₁/(2 − ψ) for φ > 0?"""
    rows = tables["limits"].query("phi > 0")
    if rows.empty:
        return Ruling(Verdict.UNTESTABLE)
    gap, above = approached(rows, "h", "h_limit")
    named = {
        "distance of h from its limit, largest α": (gap, REACHED, f"alpha = {rows['alpha'].max()}"),
        "largest excess of h over the limit": (above, 0.0),
    }
    places = len(rows[["phi", "psi", "b"]].drop_duplicates())
    return Ruling(reads(printed=gap <= REACHED), numbers("limits", named), {"places": places, "gap": gap})


def steepest(critical: pd.DataFrame) -> pd.DataFrame:
    """The critical b as α → ∞ at the largest φ > 0, by ψ."""
    limit = critical[(critical["alpha"] == math.inf) & (critical["phi"] > 0)]
    ends = limit.sort_values("phi").groupby("psi").tail(1)
    return ends[ends["phi"] == ends["phi"].max()]


@judges("dpgd/equation-6.9")
def equation_69(tables: Tables) -> Ruling:
    """(6.9): the limit of the critical b, below ½; and does it go to 0 as φ → 1, for every ψ?"""
    steep, ends = tables["limits"].query("phi > 0"), steepest(tables["critical"])
    if steep.empty:
        return Ruling(Verdict.UNTESTABLE)
    (gap, _), bound = approached(steep, "critical", "critical_limit"), steep["critical_limit"].max()
    limits = {
        "distance of the critical b from (6.9), largest α": (gap, REACHED),
        "largest right side of (6.9), φ > 0": (bound, 0.5),
    }
    worst, nonnegative = most(ends, "critical"), ends[ends["psi"] >= 0]
    found = (
        *numbers("limits", limits, "phi > 0"),
        number("largest critical b at the largest φ, all ψ", worst, "critical", TOUCHED, "critical", "phi", "psi"),
        *(number("critical b at the largest φ, ψ = 0", row, "critical", TOUCHED, "critical", "phi")
          for _, row in nonnegative.head(1).iterrows()),
    )  # fmt: skip
    right, kept = gap <= REACHED and bound < 0.5, ends[(ends["psi"] < 0) & (ends["critical"] > TOUCHED)]
    verdict = reads(printed=right and kept.empty, narrower=right)
    return Ruling(verdict, found, {"kept": next(iter(kept["critical"]), math.nan)})


@judges("dpgd/section-6-well-conditioned")
def section_6_well_conditioned(tables: Tables) -> Ruling:
    """For φ < 0: does the risk's exponent go to that of γ + γ²/ρ², and the covariance to the identity as φ → −∞?"""
    limits, spectra = tables["limits"].query("phi < 0"), tables["spectra"].sort_values("phi", ascending=False)
    if limits.empty:
        return Ruling(Verdict.UNTESTABLE)
    gap, _ = approached(limits.assign(rate=(2 * (1 - limits["b"])).clip(upper=1.0)), "h", "rate")
    found = (
        *numbers("limits", {"distance of h from that of γ + γ²/ρ²": (gap, REACHED)}, "phi < 0, largest alpha"),
        number("variance of the eigenvalues at the least φ", spectra.iloc[-1], "variance", REACHED, "spectra", "phi"),
    )
    variance = spectra["variance"]  # (Σ − I)²'s mean eigenvalue; in operator norm Σ stays 1 from I, as p reaches to 0
    vanishes = bool((np.diff(variance) < 0).all()) and variance.iloc[-1] <= REACHED
    return Ruling(reads(printed=gap <= REACHED and vanishes), found)


@judges("dpgd/section-6-half")
def section_6_half(tables: Tables) -> Ruling:
    """For φ ≤ 0: does privacy cost at b = ½ at every α?"""
    rows = tables["limits"].query("phi <= 0")
    if rows.empty:
        return Ruling(Verdict.UNTESTABLE)
    loss = (rows["h_free"] - rows["h_half"]).groupby(rows["alpha"]).agg(["min", "max"])
    first, last = loss["max"].iloc[0], loss["max"].iloc[-1]
    named = {
        "least loss of exponent at b = ½": (loss["min"].min(), 0.0, "phi <= 0"),
        "largest loss of exponent at the least α": (first, 0.0, f"alpha = {loss.index[0]:g}"),
        "largest loss of exponent at the largest α": (last, 0.0, f"alpha = {loss.index[-1]:g}"),
    }
    verdict = reads(printed=loss["min"].min() > 0)
    return Ruling(verdict, numbers("limits", named), {"constant": first})


@judges("dpgd/section-6-small-directions")
def section_6_small_directions(tables: Tables) -> Ruling:
    """Does privacy cost sooner for φ > 0 than for φ < 0, and sooner still for larger ψ?"""
    limit = tables["critical"][tables["critical"]["alpha"] == math.inf]
    steep, flat = limit[limit["phi"] > 0], limit[limit["phi"] < 0]
    if steep.empty or flat.empty:
        return Ruling(Verdict.UNTESTABLE)
    largest, least_flat = steep["critical"].max(), flat["critical"].min()
    rise = rises(steep, "psi", "critical", ["phi"]).max()
    named = {
        "largest critical b for φ > 0": (largest, 0.5),
        "least critical b for φ < 0": (least_flat, 0.5),
        "largest rise of the critical b in ψ": (rise, 0.0, "alpha = inf, phi > 0"),
    }
    verdict = reads(printed=largest < least_flat and rise < 0)
    return Ruling(verdict, numbers("critical", named, "alpha = inf"))


@judges("dpgd/section-6-rare-samples")
def section_6_rare_samples(tables: Tables) -> Ruling:
    """An interpretation. In Gaussian data ω_i·x is √λ_i times one law: the share below is that of every direction."""
    law = NormalDist()
    far = law.inv_cdf(1 - RARE / 2)
    share = 2 * (far * law.pdf(far) + law.cdf(-far))  # E[g² ; |g| > far]
    named = {f"share of Σ(ω·x)² in the largest {RARE:.0%} of samples".replace("%", " %"): share}
    return Ruling(Verdict.UNTESTABLE, numbers("", named, "every direction ω"), {"share": share})


def excesses(clips: pd.DataFrame) -> pd.DataFrame:
    """Large clipping constants at the least γ, with their risk over that of the best constant."""
    last = clips[(clips["gamma"] == clips["gamma"].min()) & (clips["clip"] != "growing")]
    best = last.groupby([*PLACE, "case"])["ratio"].transform("min")
    return last.assign(excess=last["ratio"] / best)[last["value"] >= LARGE]


@judges("dpgd/section-8-scaling")
def section_8_scaling(tables: Tables) -> Ruling:
    """Do decaying schedules and small clipping constants help in the ill-conditioned case?"""
    clips, rows = tables["clips"], tables["exponents"]
    large = excesses(clips)
    dear, free = (least(large[large["case"].isin(cases)], "excess") for cases in (COSTLY, FREE))
    growing = clips[(clips["clip"] == "growing") & clips["case"].isin(COSTLY)]
    lost, gains = powers(growing, PLACE, "ratio"), (rows["h_more"] - rows["h"])[rows["case"] == 1]
    if lost.empty or gains.empty:
        return Ruling(Verdict.UNTESTABLE)
    found = (
        number("least risk at large c over best c, privacy costs", dear, "excess", ON_A_PAR, "clips", *PLACE, "clip"),
        number("least risk at large c over best c, privacy free", free, "excess", None, "clips", *PLACE, "clip"),
        number("least power of 1/γ lost if c grows", lost.iloc[0], "power", LOST_POWER, "clips", *PLACE),
        *numbers("exponents", {"least gain of h from a faster decay, privacy free": (gains.min(), 0.0)}, "case = 1"),
    )
    grows = lost["power"].iloc[0] > LOST_POWER
    verdict = reads(printed=dear["excess"] > ON_A_PAR and grows and gains.min() > 0)
    return Ruling(verdict, found, {"excess": dear["excess"]})


@judges("dpgd/equation-e.40")
def equation_e40(tables: Tables) -> Ruling:
    """Are large clipping constants, also growing ones, ever better than c ≤ 1 by more than a constant?"""
    keys, clips = [*PLACE, "gamma", "inverse_gamma"], tables["clips"]
    small = clips[clips["value"] <= SMALL].groupby(keys, as_index=False)["ratio"].min()
    large = clips[clips["value"] >= LARGE].groupby(keys, as_index=False)["ratio"].min()
    both = large.merge(small, on=keys, suffixes=("_large", "_small"))
    if not several(both["gamma"]):
        return Ruling(Verdict.UNTESTABLE)
    both["quotient"] = both["ratio_large"] / both["ratio_small"]
    low, at = least(both, "quotient"), ("clips", *PLACE, "gamma")
    found = number("least risk at large c over least at small c", low, "quotient", 1 / ON_A_PAR, *at)
    return Ruling(reads(printed=low["quotient"] >= 1 / ON_A_PAR), (found,), {"gain": max(0.0, 1 - low["quotient"])})
