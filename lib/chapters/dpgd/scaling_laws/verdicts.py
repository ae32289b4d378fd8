"""Verdicts on Figures 2 and 3 of arXiv:2505.16329v2 and what its text says of them."""

import pandas as pd

from chapters.dpgd.scaling_laws.curves import PLACE, WITHIN
from chapters.dpgd.scaling_laws.trends import furthest, least, most, number, powers, rises, smallest
from companion.judging.findings import Number, Verdict
from companion.judging.growth import LOST_POWER, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables
from companion.judging.vocabulary import ON_A_PAR, WORSE, worse

NEAR = 0.2  # |φ(α + 1) − 2| up to which two terms of the private noise have nearly the same power
FIRST = 0  # the window of the largest γ
SIZES = {"alpha": "α", "kappa": "2 − φ − ψ"}  # which the slopes of Figure 2 grow with
FIXED = {"alpha": ["phi", "psi", "b"], "kappa": ["alpha", "b"]}  # while they do
SLOPES = {"h": "h", "slope": "the slope"}


def of(table: pd.DataFrame, figure: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table that belong to the curves of a figure."""
    return table.merge(figure[PLACE].drop_duplicates(), on=PLACE)


def is_near(rows: pd.DataFrame) -> pd.Series:
    """Where φ(α + 1) is near 2."""
    return (rows["phi"] * (rows["alpha"] + 1) - 2).abs() < NEAR


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
    last, (early, late) = last_slopes(tables, "figure-3"), windows(tables, "figure-3")
    apart, near = last[~is_near(last)], last[is_near(last)]
    if apart.empty or not several(last["alpha"]):
        return Ruling(Verdict.UNTESTABLE)
    worst, first, end = furthest(apart), furthest(early), furthest(late[~is_near(late)])
    flat = last.sort_values("alpha").groupby(["phi", "psi"])["h"].agg(lambda h: abs(h.iloc[-1] - h.iloc[-2])).max()
    doubtful, name = ([furthest(near)] if len(near) else []), "furthest local slope from h"
    found = (
        number(f"{name}, φ(α+1) not near 2", worst, "distance", WITHIN, "slopes", *PLACE),
        *(number(f"{name}, φ(α+1) near 2", row, "distance", None, "slopes", *PLACE) for row in doubtful),
        *fitted(first, end),
        *numbers("slopes", {"growth of h between the last two schedules": (flat, WITHIN)}, "h, by φ and ψ"),
    )
    verdict = reads(printed=settles(worst, first, end) and flat < WITHIN)
    return Ruling(verdict, found, {"slope_off": abs(worst["distance"])})


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
