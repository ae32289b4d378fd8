"""Verdicts on Figures 2 and 3 of arXiv:2505.16329v2 and what its text says of them."""

from __future__ import annotations

import pandas as pd

from costofprivacy.experiments.dpgd.scaling_laws.curves import PLACE, WITHIN
from costofprivacy.experiments.dpgd.scaling_laws.trends import decide, number, steps, untestable
from costofprivacy.judging.findings import Finding, Number
from costofprivacy.judging.growth import LOST_POWER
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables

NEAR = 0.2  # |φ(α + 1) − 2| up to which two of the private noise's terms are all but one
SAME = 0.02  # between the risk with and without privacy, relative, where privacy is free
FIRST = 0  # the window of the largest γ


def of(table: pd.DataFrame, figure: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table that belong to the curves of a figure."""
    return table.merge(figure[PLACE].drop_duplicates(), on=PLACE)


def is_near(rows: pd.DataFrame) -> pd.Series:
    """Where φ(α + 1) is near 2."""
    return (rows["phi"] * (rows["alpha"] + 1) - 2).abs() < NEAR


def furthest(rows: pd.DataFrame) -> pd.Series:
    """The row with the largest distance from h."""
    return rows.loc[rows["distance"].abs().idxmax()]


def last_slopes(tables: Tables, figure: str) -> pd.DataFrame:
    """The local slopes of a figure's curves at the least γ."""
    rows = of(tables["slopes"], tables[figure])
    return rows[rows["gamma"] == rows["gamma"].min()]


def windows(tables: Tables, figure: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The fits of a figure's curves at the largest and at the least γ."""
    rows = of(tables["fits"], tables[figure])
    return rows[rows["window"] == FIRST], rows[rows["window"] == rows["window"].max()]


@judges("dpgd/figure-2")
def figure_2(tables: Tables) -> Finding:
    """Do the slopes of the optimised risk agree with h? The local one at the least γ, and fits nearing h."""
    last, (early, late) = last_slopes(tables, "figure-2"), windows(tables, "figure-2")
    worst, first, end = furthest(last), furthest(early), furthest(late)
    numbers = (
        number("furthest local slope from h at the least γ", worst, "distance", WITHIN, "slopes", *PLACE, "gamma"),
        number("furthest fit from h at the largest γ", first, "distance", 0.0, "fits", *PLACE, "to_gamma"),
        number("furthest fit from h at the least γ", end, "distance", 0.0, "fits", *PLACE, "to_gamma"),
        Number("points at the cap", tables["figure-2"]["at_cap"].sum(), None, 0.0, "figure-2", "at_cap"),
    )
    change = "A curve of Figure 2 whose local slope stays away from $h$ as the aspect ratio falls."
    settled = abs(worst["distance"]) <= WITHIN and abs(end["distance"]) <= abs(first["distance"])
    headlines = (
        f"At small aspect ratios every slope is within {compact(abs(worst['distance']))} of theory; fits at large ones "
        f"miss by up to {compact(abs(first['distance']))}.",
        f"At the least aspect ratio a slope is still {compact(abs(worst['distance']))} from theory.",
    )
    return decide(settled, headlines, numbers, change)


@judges("dpgd/figure-3")
def figure_3(tables: Tables) -> Finding:
    """Do the slopes agree with h once α is large, and does h stop growing?"""
    last, (early, late) = last_slopes(tables, "figure-3"), windows(tables, "figure-3")
    apart, near = last[~is_near(last)], last[is_near(last)]
    if apart.empty:
        return untestable("No curve away from the boundary was computed.", "Curves with larger $\\alpha$.")
    worst, first, end = furthest(apart), furthest(early), furthest(late[~is_near(late)])
    flat = last.sort_values("alpha").groupby(["phi", "psi"])["h"].agg(lambda h: abs(h.iloc[-1] - h.iloc[-2]))
    numbers = (
        number("furthest local slope from h, equality not near", worst, "distance", WITHIN, "slopes", *PLACE),
        *(number("furthest local slope from h, near equality", furthest(near), "distance", WITHIN, "slopes", *PLACE)
          for _ in range(min(1, len(near)))),
        number("furthest fit from h at the largest γ", first, "distance", 0.0, "fits", *PLACE, "to_gamma"),
        number("furthest fit from h at the least γ", end, "distance", 0.0, "fits", *PLACE, "to_gamma"),
        Number("growth of h between the last two schedules", flat.max(), None, 0.0, "slopes", "h, by φ and ψ"),
    )  # fmt: skip
    change = "A curve of Figure 3 with large $\\alpha$ whose local slope stays away from $h$, or an $h$ that grows on."
    true = abs(worst["distance"]) <= WITHIN and flat.max() < WITHIN and abs(end["distance"]) <= abs(first["distance"])
    headlines = (
        f"Away from the boundary every slope ends within {compact(abs(worst['distance']))} of theory, which no longer "
        "grows for the largest schedule exponents.",
        f"Away from the boundary a slope is still {compact(abs(worst['distance']))} from theory, or theory grows on.",
    )
    return decide(true, headlines, numbers, change)


@judges("dpgd/section-6-larger-data")
def section_6_larger_data(tables: Tables) -> Finding:
    """Are the fits of Figure 3 better for large α, and those for small α better at larger 1/γ?"""
    early, late = windows(tables, "figure-3")
    middle = (early["alpha"].min() + early["alpha"].max()) / 2
    ends = {name: {side: furthest(rows[(rows["alpha"] > middle) == (side == "large")]) for side in ("small", "large")}
            for name, rows in (("largest", early), ("least", late))}  # fmt: skip
    far = of(tables["approach"], tables["figure-3"])
    far = furthest(far[far["gamma"] == far["gamma"].min()])
    small, large = ends["least"]["small"], ends["least"]["large"]
    numbers = (
        *(number(f"furthest fit for {side} α at the {name} γ", row, "distance", 0.0, "fits", *PLACE, "to_gamma")
          for name, sides in ends.items() for side, row in sides.items()),
        number("furthest slope of the closed form", far, "distance", WITHIN, "approach", *PLACE, "gamma"),
    )  # fmt: skip
    change = "Fits at small aspect ratios that are worse for large $\\alpha$, or do not improve for small $\\alpha$."
    better = abs(small["distance"]) >= abs(large["distance"]) and abs(far["distance"]) <= WITHIN
    improves = abs(far["distance"]) < abs(small["distance"])
    reversed_ = abs(ends["largest"]["large"]["distance"]) > abs(ends["largest"]["small"]["distance"])
    tail = "large aspect ratios reverse it" if reversed_ else "so it is at large ones"
    headlines = (
        f"At small aspect ratios large schedule exponents fit best, and small ones improve with more data; {tail}.",
        "At small aspect ratios large schedule exponents do not fit better, or small ones do not improve.",
    )
    return decide(better and improves, headlines, numbers, change)


@judges("dpgd/section-6-growth")
def section_6_growth(tables: Tables) -> Finding:
    """Does the slope grow with α and with 2 − φ − ψ, in theory and as measured at the least γ?"""
    last = last_slopes(tables, "figure-2").assign(kappa=lambda t: 2 - t["phi"] - t["psi"])
    least = {}
    for size, fixed in (("alpha", ["phi", "psi", "b"]), ("kappa", ["alpha", "b"])):
        for column in ("h", "slope"):
            rises = [steps(rows.sort_values(size)[column]) for _, rows in last.groupby(fixed)]
            least[size, column] = min(float(rise.min()) for rise in rises if len(rise))
    words = {"alpha": "α", "kappa": "2 − φ − ψ", "h": "h", "slope": "the slope"}
    numbers = tuple(
        Number(f"least rise of {words[column]} in {words[size]}", value, None, 0.0, "slopes", "least γ")
        for (size, column), value in least.items()
    )
    change = (
        "Two curves of Figure 2 of which the one with the larger $\\alpha$ or $2-\\phi-\\psi$ has the lesser slope."
    )
    headlines = (
        "In Figure 2 every larger $\\alpha$ and every larger $2-\\phi-\\psi$ has the larger slope.",
        "In Figure 2 a larger $\\alpha$ or a larger $2-\\phi-\\psi$ does not have the larger slope.",
    )
    return decide(min(least.values()) > 0, headlines, numbers, change)


@judges("dpgd/section-6-free")
def section_6_free(tables: Tables) -> Finding:
    """Below the critical b, is the optimised risk that without privacy as γ → 0, and above it larger by a power?"""
    cost = tables["cost"]
    free, costly = cost[cost["b"] <= cost["critical"]], cost[cost["b"] > cost["critical"]]
    change = "A privacy parameter below the critical exponent whose cost stays as the aspect ratio falls."
    if free.empty or costly.empty:
        return untestable("Privacy is free everywhere that was tried, or nowhere.", change)
    end, start = free[free["gamma"] == free["gamma"].min()], free[free["gamma"] == free["gamma"].max()]
    last, first = end.loc[end["ratio"].idxmax()], start.loc[start["ratio"].idxmax()]
    dear = costly[costly["gamma"] == costly["gamma"].min()]
    least = dear.loc[dear["ratio"].idxmin()]
    numbers = (
        number("largest ratio where privacy is free, least γ", last, "ratio", 1.0, "cost", *PLACE, "gamma"),
        number("largest ratio where privacy is free, largest γ", first, "ratio", 1.0, "cost", *PLACE, "gamma"),
        number("least ratio where privacy costs, least γ", least, "ratio", 1.0, "cost", *PLACE, "gamma"),
    )
    headlines = (
        f"Where privacy is free the risk exceeds that without it by a share of {compact(last['ratio'] - 1)}; "
        f"elsewhere it is at least {compact(least['ratio'])} times that.",
        f"Where privacy should be free the risk is still {compact(last['ratio'])} times that without it.",
    )
    return decide(last["ratio"] - 1 <= SAME and least["ratio"] > 1 + LOST_POWER, headlines, numbers, change)


@judges("dpgd/section-6-cap")
def section_6_cap(tables: Tables) -> Finding:
    """Is a > −1 in all cases, so that a bounded c with η̃(0) ≤ 2/γ exists, and are optima below the cap at small γ?"""
    least = tables["exponents"].loc[tables["exponents"]["a"].idxmin()]
    points = pd.concat([tables["figure-2"], tables["figure-3"]])
    capped = points[points["at_cap"]]
    at_end = int((capped["gamma"] == points["gamma"].min()).sum())
    numbers = (
        number("least a", least, "a", -1.0, "exponents", "phi", "psi", "alpha", "b"),
        *(
            Number("optima at the cap", tables[name]["at_cap"].sum(), None, 0.0, name, "at_cap")
            for name in ("figure-2", "figure-3")
        ),
        Number("slopes at the least γ that touch the cap", at_end, None, 0.0, "slopes", "at_cap"),
    )
    change = "Exponents within the assumptions for which $a$ is $-1$ or less."
    headlines = (
        f"The exponent of the learning rate stays above minus one; {len(capped)} of {len(points)} optima sit "
        "at the cap, "
        "none at the least aspect ratio.",
        "The exponent of the learning rate reaches minus one, or optima sit at the cap at the least aspect ratio.",
    )
    return decide(least["a"] > -1 and at_end == 0, headlines, numbers, change)
