"""Verdicts on Algorithm 1, Proposition 4.1, the noise schedule and Appendix A of arXiv:2505.16329v2."""

import math

import numpy as np

from chapters.dpgd.algorithm.measure import ALGORITHMS, BOUNDS, ISOTROPIC, PLACEMENTS
from companion import _fits
from companion.judging.growth import LOST_POWER, power, several
from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import select
from companion.judging.tolerances import Cases, Declared, Relative, Rounding
from companion.judging.vocabulary import CONSISTENT, ROUNDING, WORSE

# ---- Privacy and noise ----

GRID = 1e-3  # relative error of divergences of densities on a grid
DIFFERENCES = 1e-6  # relative error of a distance after a step, and of its growth
REPLACED = "replace one record"


@judges("dpgd/definition-3.1")
@judges("dpgd/algorithm-1")
@judges("dpgd/definition-a.1")
@judges("dpgd/definition-a.2")
def definition(found: Record) -> Ruling:
    """What defines a word claims nothing that a table could contradict."""
    return found.ruling(decided=False)


@judges("dpgd/equation-1.1")
def equation_11(found: Record) -> Ruling:
    """Half the mean squared error less ζ²/2 is ‖Σ^½(θ − θ*)‖²/2, for every law of the features."""
    rows = found["identity"]
    for law in rows["law"]:
        name = "left side of (1.1) over its right side"
        found.cite(name, "ratio", table="identity", error="standard_error", against=1.0, law=law)
    worst = ((rows["ratio"] - 1).abs() / rows["standard_error"]).max()
    return found.ruling(worst <= CONSISTENT, errors=worst)


@judges("dpgd/proposition-4.1")
def proposition_41(found: Record) -> Ruling:
    """The last iterate is ρ²/2-zCDP; in fact ρ-Gaussian DP, which the paper does not claim."""
    outputs, moves = found["outputs"], select(found["sensitivity"], relation=REPLACED)
    renyi, delta = outputs["renyi_share"].max(), outputs["delta_share"].max()
    moved = (moves[["largest_found", "constructed"]].max(axis=1) / moves["bound"]).max()
    row = "all pairs of neighbours"
    name = "largest divergence over the one claimed, on a grid"
    private = found.at_most(name, renyi, 1 + GRID, table="outputs", row=row)
    found.number("largest δ over that of ρ-Gaussian DP, on a grid", delta, table="outputs", row=row, against=1.0)
    name = "largest move by one record over the bound"
    private &= found.at_most(name, moved, 1.0, table="sensitivity", row=REPLACED, slack=ROUNDING)
    return found.ruling(private, share=renyi)


@judges("dpgd/equation-4.1")
def equation_41(found: Record) -> Ruling:
    """Is ρ = max_k η_k/√(Σ_{j≥k} σ_j²) the privacy parameter? 0/0, where the last step has no length, is 0.

    Proposition 4.1 proves that no neighbours reach more, wherever the noise is added. Where all other records are 0,
    the outputs of data sets that differ in the first one are Gaussians of variance 4C²Σσ_j² at a distance of up to
    2Cη₁: they reach ρ if its maximum is at k = 1. To insert (4.2) into (4.1) would test neither.
    """
    rows = found["tightness"]
    share = rows[["reached_silent", "reached_found"]].max(axis=1) * rows["rho"] / rows["rho_recomputed"]
    least = share.groupby(rows["schedule"]).max().min()
    name, same = "privacy parameter that neighbours reach, over (4.1), largest", "the same, with the schedule where its"
    safe = found.at_most(name, share.max(), 1 + GRID, table="tightness")
    attained = found.at_least(f"{same} largest is least", least, 1 - GRID, table="tightness")
    zero = (found["schedules"]["last_rate"] == 0).sum()
    found.number("schedules whose last quotient is 0/0", zero, table="schedules", row="last_rate = 0")
    return found.ruling(safe and attained)


@judges("dpgd/equation-4.2")
def equation_42(found: Record) -> Ruling:
    """The least total noise for given ρ, which protects every record equally."""
    rows = found["schedules"]
    spent = rows[["spent_least", "spent_most"]].div(rows["rho"], axis=0)
    least, low, high = rows[["least_total", "least_tail"]].min(axis=None), spent.min(axis=None), spent.max(axis=None)
    name, every = "least noise of another schedule over that of (4.2)", "all schedules"
    found.number(name, least, table="schedules", row="any step on", against=1.0)
    found.number("least that a record spends, over ρ", low, table="schedules", row=every, against=1.0)
    found.number("most that a record spends, over ρ", high, table="schedules", row=every, against=1.0)
    found.number("random schedules tried", rows["others"].sum(), table="schedules", row=every)
    return found.ruling(not (least < 1 - ROUNDING or max(1 - low, high - 1) > ROUNDING))


@judges("dpgd/section-4-performance")
def noise_placement(found: Record) -> Ruling:
    """Has (4.2) the least released risk of all placements of the noise, for every covariance?"""
    table = "placement-by-covariance"
    rows, alike = found[table], found["placement"]
    own = select(rows, placement=PLACEMENTS[0]).set_index("covariance")["predicted"]
    rows = rows.assign(share=rows["predicted"] / rows["covariance"].map(own))
    least = rows.loc[rows.groupby("covariance", sort=False)["share"].idxmin()]
    for r in least.itertuples():
        name = f"least predicted risk of a placement over that with (4.2), {r.covariance}"
        found.number(name, r.share, table=table, row=r.placement, against=1.0)
    worst = least.loc[least["share"].idxmin()]
    above, error, name = worst["above"], worst["above_error"], "simulated risk above that with (4.2), there"
    found.number(name, above, error=error, against=0.0, table=table, row=worst["placement"])
    better = set(rows.loc[rows["share"] * WORSE < 1, "covariance"])
    if (alike["above"] < -CONSISTENT * alike["above_error"] - ROUNDING).any():
        better |= {ISOTROPIC}
    return found.ruling(not better, narrower=ISOTROPIC not in better, gain=1 - worst["share"])


@judges("dpgd/proposition-a.3")
def proposition_a3(found: Record) -> Ruling:
    """ρ²/2-zCDP implies (ρ²/2 + ρ√(2 ln(1/δ)), δ)-DP."""
    rows = found["conversions"]
    exact, renyi, claimed = (rows[name] for name in ("exact", "renyi", "proposition_a3"))
    safe = (exact <= renyi * (1 + ROUNDING)) & (renyi <= claimed * (1 + ROUNDING))
    beyond = (~safe).sum()
    found.number("pairs of ρ and δ beyond the claimed ε", beyond, table="conversions", row="all rows", against=0.0)
    some = exact > 0
    row, over = f"{some.sum()} pairs of ρ and δ that spend something", "over the exact one"
    for name, epsilon in (("claimed ε", claimed), ("best ε by Rényi divergences", renyi)):
        share = (epsilon / exact)[some]
        found.number(f"{name} {over}, least", share.min(), table="conversions", row=row, against=1.0)
        found.number(f"{name} {over}, most", share.max(), table="conversions", row=row, against=1.0)
    return found.ruling(safe.all(), least=(claimed / exact)[some].min())


@judges("dpgd/equation-a.3")
def equation_a3(found: Record) -> Ruling:
    """That ε is at most 2ρ√ln(1/δ) if ρ ≤ √ln(1/δ).

    Over that bound it is x/4 + 1/√2 with x = ρ/√ln(1/δ), which rises with x: the most is at x = 1, and 1 at 4 − 2√2.
    """
    rows = found["conversions"]
    share, inside = rows["proposition_a3"] / rows["equation_a3"], rows["condition"]
    worst, exceeded = share[inside].max(), (share[~inside] > 1).sum()
    most, name = max(worst, 1 / 4 + 1 / math.sqrt(2)), "ε of Proposition A.3 over the simpler bound"
    found.number(name, worst, table="conversions", row="condition = True", against=1.0)
    beyond, row = "pairs beyond the condition where it is exceeded", "condition = False"
    found.number(beyond, exceeded, table="conversions", row=row, against=(~inside).sum())
    found.number(f"{name}, supremum under the condition", most, table="", row="exact", against=1.0)
    root = 2 * (2 - math.sqrt(2))
    found.number("largest ρ/√ln(1/δ) for which it is true", root, table="", row="exact", against=1.0)
    return found.ruling(not worst > 1 + ROUNDING, decided=inside.any(), share=most)


@judges("dpgd/equation-a.9")
def equation_a9(found: Record) -> Ruling:
    """With (A.5) to (A.8): a step is a gradient step on a Lipschitz and smooth loss, and expands nothing."""
    steps, expansion = found["steps"], found["expansion"]
    for r in steps.itertuples():
        found.number(r.check, r.worst, table="steps", row=f"{r.pairs} random pairs", against=r.bound)
    stretched, row = expansion["shortened"].max(), "shortened rate"
    found.number("largest growth of a distance", stretched, table="expansion", row=row, against=1.0)
    for r in expansion[expansion["bare"] > 1 + DIFFERENCES].nsmallest(1, "product").itertuples():
        row = f"rate not shortened, product = {r.product:g}"
        found.number("growth where it begins", r.bare, table="expansion", row=row, against=1.0)
    larger = (steps["worst"] > steps["bound"] * (1 + DIFFERENCES)).any()
    return found.ruling(not (stretched > 1 + DIFFERENCES or larger))


# ---- Rates: (1.2) to (1.5), and what the abstract calls non-asymptotic ----

BOUNDED = 1.0  # a privacy term that ends below it stays bounded along its axis
SINGLE = 4.0  # a run above this multiple of the mean of its runs contradicts "with high probability"
LEVEL = 0.03  # a power of n that is none: the least sizes are small
ALONG = {"gamma": "γ at constant ρ", "both": "γ = ρ²", "n": "n", "rho": "ρ at constant γ"}


@judges("dpgd/equation-1.2", bound=BOUNDS[0])
@judges("dpgd/equation-1.5", bound=BOUNDS[1])
def lower_bound(found: Record, bound: str) -> Ruling:
    """Ω(d/n + d²/(ρ²n² log n)) of earlier work, or the paper's own, Ω(γ + γ²/ρ²).

    Does a private predictor fall below every multiple of the bound, where the privacy term stays bounded? It does for
    every ρ of constant order, which Section 1 assumes. The second term of (1.2) is to be negligible where d ≍ n.
    """
    rows, ends = select(found["lower-bounds"], claim=bound), []
    for axis, part in rows.groupby("axis", sort=False):
        size = "gamma" if axis == "both" else str(axis)
        part = part.assign(size=part[size] if size == "n" else 1 / part[size]).sort_values("size")
        far = part.iloc[-1]
        row = f"axis = {axis}, {size} = {far[size]:.2g}"
        ends.append((far["second"] <= BOUNDED, str(axis), power(part, "size", "bound", "risk"), row))
    name = "power of the size by which the bound outgrows the smaller risk"
    falls = [
        found.at_most(f"{name}, along {ALONG[axis]}", fall, LOST_POWER, table="lower-bounds", row=row)
        for inside, axis, fall, row in ends
        if inside
    ]
    for inside, _, fall, row in ends:
        if not inside:
            found.number(f"{name}, where its privacy term is unbounded", fall, table="lower-bounds", row=row)
    negligible = True
    if bound == BOUNDS[0]:
        along = select(rows, axis="n").sort_values("n")
        share = along["second"] / along["gamma"]
        name = "privacy term over d/n at the largest n, beside that at the least"
        found.number(name, share.iloc[-1], table="lower-bounds", row="axis = n", against=share.iloc[0])
        negligible = (share.diff().dropna() < 0).all()
    return found.ruling(negligible and all(falls), decided=bool(falls) or not negligible)


@judges("dpgd/equation-1.3")
def equation_13(found: Record) -> Ruling:
    """Does the bound, at d = γn and constant ρ, grow without limit where (1.4) does not?"""
    rows = select(found["rates"], axis="n", spectrum=ISOTROPIC, algorithm=ALGORITHMS[0])
    rows = rows.assign(log_n=np.log(rows["n"]), term=rows["rate_1.3"] - rows["gamma"])
    grows, stays = power(rows, "log_n", "term", ""), power(rows, "log_n", "rate_1.4", "")
    name = "power of log n in the privacy term of (1.3)"
    found.number(name, grows, table="rates", row="axis = n", against=LOST_POWER)
    level = found.at_most("power of log n in (1.4)", stays, LOST_POWER, table="rates", row="axis = n")
    return found.ruling(grows > LOST_POWER and level, decided=several(rows["n"]))


@judges("dpgd/equation-1.4")
def equation_14(found: Record) -> Ruling:
    """R = O(γ + γ²/ρ²) for a harmonic learning rate and a constant c: along γ, ρ and n, for each covariance."""
    rows = select(found["rates"], algorithm=ALGORITHMS[0])
    sizes = select(rows, axis="n")
    seen = several(select(rows, axis="gamma")["gamma"]) and several(sizes["n"])
    found.needs(seen, np.isfinite(rows["limit"]).all())
    share, error = rows["excess_risk"] / rows["limit"], rows["standard_error"] / rows["limit"]
    highest = ((share - 1) / error).idxmax()
    place = ", ".join(f"{name} = {rows[name][highest]}" for name in ("spectrum", "axis", "gamma", "rho", "n"))
    name = "mean risk over the derived limit, the furthest above it in standard errors"
    found.number(name, share[highest], error=error[highest], against=1.0, table="rates", row=place)
    rises, name = False, "power of n in the risk at fixed γ and ρ"
    for spectrum, part in sizes.groupby("spectrum", sort=False):
        value, spread = _fits.power_law(part["n"], part["excess_risk"], part["standard_error"])
        found.number(name, value, error=spread, against=LEVEL, table="rates", row=f"spectrum = {spectrum}, axis = n")
        rises |= value - CONSISTENT * spread > LEVEL
    over = rows[["excess_risk", "limit"]].div(rows["rate_1.4"], axis=0).groupby(rows["spectrum"], sort=False).max()
    name = "largest mean risk over γ + γ²/ρ², beside the largest derived multiple"
    for r in over.itertuples():
        found.number(name, r.excess_risk, table="rates", row=f"spectrum = {r.Index}", against=r.limit)
    single, row = (rows["largest"] / rows["excess_risk"]).max(), f"algorithm = {ALGORITHMS[0]}"
    found.number("largest single run over its mean", single, table="rates", row=row, against=SINGLE)
    above = (share - 1 > CONSISTENT * error).any()
    return found.ruling(not (above or rises or single > SINGLE))


@judges("dpgd/abstract-non-asymptotic")
def non_asymptotic(found: Record) -> Ruling:
    """Does the risk stay a constant multiple of γ + γ²/ρ²: at fixed γ and ρ from small n and d on, and as γ falls?

    Along n alone the rate is constant, so that the risk of always predicting 0 would pass.
    """
    every = select(found["rates"], algorithm=ALGORITHMS[0])
    falls = [
        power(part.assign(inverse=1 / part["gamma"]), "inverse", "excess_risk", "rate_1.4")
        for _, part in select(every, axis="gamma").groupby(["spectrum", "rho"])
    ]
    rows = select(every, axis="n")
    rows, fits, row = rows.assign(multiple=rows["excess_risk"] / rows["rate_1.4"]), [], "c constant, axis = n"
    for spectrum, part in rows.groupby("spectrum", sort=False):
        if several(part["n"]):
            value, error = _fits.power_law(part["n"], part["multiple"], part["standard_error"] / part["rate_1.4"])
            name = f"power of n in the risk over γ + γ²/ρ², {spectrum}"
            found.number(name, value, error=error, against=LEVEL, table="rates", row=row)
            fits.append((value, error))
    found.number("largest multiple of γ + γ²/ρ² along n", rows["multiple"].max(), table="rates", row=row)
    name, row = "largest power of 1/γ in the risk over γ + γ²/ρ², at fixed ρ", "c constant, axis = gamma"
    level = found.at_most(name, max(falls, default=math.nan), LOST_POWER, table="rates", row=row)
    decided = bool(fits) and not any(math.isnan(value + error) for value, error in [*fits, (sum(falls), 0.0)])
    level &= all(value <= LEVEL + CONSISTENT * error for value, error in fits)
    return found.ruling(level, decided=decided, smallest=rows["d"].min())


# ---- How near numbers come on another machine ----

GRADIENT = "∇ of (A.7) by differences against the step over η, median"

TOLERANCES: Declared = {
    "outputs": {"renyi_share": Relative(scale=1e-5)},  # 0 up to its quadrature where records are kept apart by a step
    "placement": {  # differences of risks, which are the same run where the noise is all in the last step anyway
        "above": Relative(1e-10, of="excess_risk"),
        "above_error": Relative(1e-10, of="excess_risk"),
    },
    "placement-by-covariance": {
        "above": Relative(1e-10, of="excess_risk"),
        "above_error": Relative(1e-10, of="excess_risk"),
    },
    "steps": {"worst": Cases("check", {GRADIENT: Rounding()})},  # divided differences, against exact gradients
    "verdicts": {
        f"dpgd/equation-a.9: {GRADIENT}": Rounding(),
    },
}
