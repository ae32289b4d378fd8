"""Verdicts on Algorithm 1, Proposition 4.1, the noise schedule and Appendix A of arXiv:2505.16329v2."""

import math

import numpy as np
import pandas as pd

from chapters.dpgd.algorithm.measure import ALGORITHMS, BOUNDS, ISOTROPIC, PLACEMENTS
from companion import _fits
from companion.judging.findings import Number, Verdict
from companion.judging.growth import LOST_POWER, power, several
from companion.judging.judges import Judge, Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT, ROUNDING, WORSE

# ---- Judges ----

GRID = 1e-3  # relative error of divergences of densities on a grid
DIFFERENCES = 1e-6  # relative error of a distance after a step, and of its growth


def _definition(claim: str) -> Judge:
    @judges(claim)
    def found(_: Tables) -> Ruling:
        """What defines a word claims nothing that a table could contradict."""
        return Ruling(Verdict.UNTESTABLE)

    return found


definition_31 = _definition("dpgd/definition-3.1")
algorithm_1 = _definition("dpgd/algorithm-1")
definition_a1 = _definition("dpgd/definition-a.1")
definition_a2 = _definition("dpgd/definition-a.2")


@judges("dpgd/equation-1.1")
def equation_11(tables: Tables) -> Ruling:
    """Half the mean squared error less ζ²/2 is ‖Σ^½(θ − θ*)‖²/2, for every law of the features."""
    rows = tables["identity"]
    worst = ((rows["ratio"] - 1).abs() / rows["standard_error"]).max()
    found = tuple(
        Number("left side of (1.1) over its right side", r.ratio, r.standard_error, 1.0, "identity", f"law = {r.law}")
        for r in rows.itertuples()
    )
    return Ruling(reads(printed=worst <= CONSISTENT), found, {"errors": worst})


@judges("dpgd/proposition-4.1")
def proposition_41(tables: Tables) -> Ruling:
    """The last iterate is ρ²/2-zCDP; in fact ρ-Gaussian DP."""
    outputs, sensitivity, schedules = (tables[name] for name in ("outputs", "sensitivity", "schedules"))
    renyi, delta = outputs["renyi_share"].max(), outputs["delta_share"].max()
    moved = (sensitivity[["largest_found", "constructed"]].max(axis=1) / sensitivity["bound"]).max()
    every = schedules["rho_every"] / schedules["rho"]
    spent = {
        "largest divergence over the one claimed, on a grid": (renyi, 1 + GRID),
        "largest δ over that of ρ-Gaussian DP, on a grid": (delta, 1 + GRID),
    }
    released = {
        "privacy parameter if every iterate is released, over ρ, least": (every.min(), 1.0),
        "privacy parameter if every iterate is released, over ρ, most": (every.max(), 1.0),
    }
    found = (
        *numbers("outputs", spent, "all pairs of neighbours"),
        *numbers("sensitivity", {"largest move by one record over the bound": (moved, 1.0)}, "both relations"),
        *numbers("schedules", released, "all schedules"),
    )
    verdict = reads(printed=renyi <= 1 + GRID and delta <= 1 + GRID and moved <= 1 + ROUNDING)
    return Ruling(verdict, found, {"share": renyi})


@judges("dpgd/equation-4.1")
def equation_41(tables: Tables) -> Ruling:
    """Is ρ = max_k η_k/√(Σ_{j≥k} σ_j²) the privacy parameter? 0/0, where the last step has no length, is 0.

    Proposition 4.1 proves that no neighbours reach more, wherever the noise is added. Where all other records are 0,
    the outputs of data sets that differ in the first one are Gaussians of variance 4C²Σσ_j² at a distance of up to
    2Cη₁: they reach ρ if its maximum is at k = 1. To insert (4.2) into (4.1) would test neither.
    """
    rows = tables["tightness"]
    share = rows[["reached_silent", "reached_found"]].max(axis=1) * rows["rho"] / rows["rho_recomputed"]
    attained, last = share.groupby(rows["schedule"]).max(), tables["schedules"]["last_rate"]
    named = {
        "privacy parameter that neighbours reach, over (4.1), largest": (share.max(), 1 + GRID),
        "the same, with the schedule where its largest is least": (attained.min(), 1 - GRID),
    }
    zero = {"schedules whose last quotient is 0/0": ((last == 0).sum(), None, "last_rate = 0")}
    verdict = reads(printed=share.max() <= 1 + GRID and attained.min() >= 1 - GRID)
    return Ruling(verdict, (*numbers("tightness", named), *numbers("schedules", zero)))


@judges("dpgd/equation-4.2")
def equation_42(tables: Tables) -> Ruling:
    """The least total noise for given ρ, which protects every record equally."""
    rows = tables["schedules"]
    least = rows[["least_total", "least_tail"]].min(axis=None)
    spent = rows[["spent_least", "spent_most"]].div(rows["rho"], axis=0)
    low, high = spent.min(axis=None), spent.max(axis=None)
    named = {
        "least noise of another schedule over that of (4.2)": (least, 1.0, "any step on"),
        "least that a record spends, over ρ": (low, 1.0),
        "most that a record spends, over ρ": (high, 1.0),
        "random schedules tried": rows["others"].sum(),
    }
    fails = least < 1 - ROUNDING or max(1 - low, high - 1) > ROUNDING
    return Ruling(reads(printed=not fails), numbers("schedules", named, "all schedules"))


@judges("dpgd/section-4-performance")
def section_4_performance(tables: Tables) -> Ruling:
    """Has (4.2) the least released risk of all placements of the noise, for every covariance?"""
    rows, alike = tables["placement-by-covariance"], tables["placement"]
    own = select(rows, placement=PLACEMENTS[0]).set_index("covariance")["predicted"]
    shares = rows.assign(share=rows["predicted"] / rows["covariance"].map(own))
    least = shares.loc[shares.groupby("covariance", sort=False)["share"].idxmin()]
    better = set(shares.loc[shares["share"] * WORSE < 1, "covariance"])
    if (alike["above"] < -CONSISTENT * alike["above_error"] - ROUNDING).any():
        better |= {ISOTROPIC}
    worst = least.loc[least["share"].idxmin()]
    named = {
        f"least predicted risk of a placement over that with (4.2), {r.covariance}": (r.share, 1.0, r.placement)
        for r in least.itertuples()
    }
    above = {"value": worst["above"], "error": worst["above_error"], "against": 0.0, "row": worst["placement"]}
    found = numbers("placement-by-covariance", named | {"simulated risk above that with (4.2), there": above})
    verdict = reads(printed=not better, narrower=ISOTROPIC not in better)
    return Ruling(verdict, found, {"gain": 1 - worst["share"]})


@judges("dpgd/proposition-a.3")
def proposition_a3(tables: Tables) -> Ruling:
    """ρ²/2-zCDP implies (ρ²/2 + ρ√(2 ln(1/δ)), δ)-DP."""
    rows = tables["conversions"]
    exact, renyi, claimed = (rows[name] for name in ("exact", "renyi", "proposition_a3"))
    safe = (exact <= renyi * (1 + ROUNDING)) & (renyi <= claimed * (1 + ROUNDING))
    some = exact > 0
    simple, best = (claimed / exact)[some], (renyi / exact)[some]
    named = {
        "claimed ε over the exact one, least": (simple.min(), 1.0),
        "claimed ε over the exact one, most": (simple.max(), 1.0),
        "best ε by Rényi divergences over the exact one, least": (best.min(), 1.0),
        "best ε by Rényi divergences over the exact one, most": (best.max(), 1.0),
    }
    found = (
        *numbers("conversions", {"pairs of ρ and δ beyond the claimed ε": ((~safe).sum(), 0.0)}, "all rows"),
        *numbers("conversions", named, f"{some.sum()} pairs of ρ and δ that spend something"),
    )
    return Ruling(reads(printed=safe.all()), found, {"least": simple.min()})


@judges("dpgd/equation-a.3")
def equation_a3(tables: Tables) -> Ruling:
    """That ε is at most 2ρ√ln(1/δ) if ρ ≤ √ln(1/δ).

    Over that bound it is x/4 + 1/√2 with x = ρ/√ln(1/δ), which rises with x: the most is at x = 1, and 1 at 4 − 2√2.
    """
    rows = tables["conversions"]
    share, inside = rows["proposition_a3"] / rows["equation_a3"], rows["condition"]
    worst, exceeded = share[inside].max(), (share[~inside] > 1).sum()
    most = max(worst, 1 / 4 + 1 / math.sqrt(2))
    named = {
        "ε of Proposition A.3 over the simpler bound": (worst, 1.0, "condition = True"),
        "pairs beyond the condition where it is exceeded": (exceeded, (~inside).sum(), "condition = False"),
    }
    exact = {
        "ε of Proposition A.3 over the simpler bound, supremum under the condition": (most, 1.0),
        "largest ρ/√ln(1/δ) for which it is true": (2 * (2 - math.sqrt(2)), 1.0),
    }
    verdict = reads(printed=not worst > 1 + ROUNDING, decided=inside.any())
    return Ruling(verdict, numbers("conversions", named) + numbers("", exact, "exact"), {"share": most})


@judges("dpgd/equation-a.9")
def equation_a9(tables: Tables) -> Ruling:
    """With (A.5) to (A.8): a step is a gradient step on a Lipschitz and smooth loss, and expands nothing."""
    steps, expansion = tables["steps"], tables["expansion"]
    stretched = expansion["shortened"].max()
    checks = {r.check: (r.worst, r.bound, f"{r.pairs} random pairs") for r in steps.itertuples()}
    bare = expansion[expansion["bare"] > 1 + DIFFERENCES].nsmallest(1, "product")
    begins = tuple(
        Number("growth where it begins", r.bare, None, 1.0, "expansion", f"rate not shortened, product = {r.product:g}")
        for r in bare.itertuples()
    )
    grows = {"largest growth of a distance": (stretched, 1.0, "shortened rate")}
    fails = stretched > 1 + DIFFERENCES or (steps["worst"] > steps["bound"] * (1 + DIFFERENCES)).any()
    verdict = reads(printed=not fails)
    return Ruling(verdict, numbers("steps", checks) + numbers("expansion", grows) + begins)


# ---- Rates ----
# Verdicts on the rates of the introduction, (1.2) to (1.5) of arXiv:2505.16329v2.

BOUNDED = 1.0  # a privacy term that ends below it stays bounded along its axis
SINGLE = 4.0  # a run above this multiple of the mean of its runs contradicts "with high probability"
LEVEL = 0.03  # a power of n that is none: the least sizes are small
ALONG = {"gamma": "γ at constant ρ", "both": "γ = ρ²", "n": "n", "rho": "ρ at constant γ"}


@judges("dpgd/equation-1.2")
def equation_12(tables: Tables) -> Ruling:
    """A lower bound of earlier work, Ω(d/n + d²/(ρ²n² log n)); its second term is negligible where d ≍ n."""
    rows = select(tables["lower-bounds"], claim=BOUNDS[0])
    along = select(rows, axis="n").sort_values("n")
    share = along["second"] / along["gamma"]
    verdict, found, *_ = _lower_bound(rows)
    last = {"privacy term over d/n at the largest n, beside that at the least": (share.iloc[-1], share.iloc[0])}
    found += numbers("lower-bounds", last, "axis = n")
    return Ruling(verdict if (share.diff().dropna() < 0).all() else Verdict.FAILS, found)


@judges("dpgd/equation-1.5")
def equation_15(tables: Tables) -> Ruling:
    """The paper's own lower bound as the introduction prints it, Ω(γ + γ²/ρ²)."""
    return _lower_bound(select(tables["lower-bounds"], claim=BOUNDS[1]))


def _lower_bound(rows: pd.DataFrame) -> Ruling:
    """Does a private predictor fall below every multiple of the bound, where the privacy term stays bounded?

    It does for every ρ of constant order, which Section 1 assumes.
    """
    ends = pd.DataFrame([_far_end(str(axis), part) for axis, part in rows.groupby("axis", sort=False)])
    inside = ends["second"] <= BOUNDED
    name = "power of the size by which the bound outgrows the least known risk"
    falls = {f"{name}, along {ALONG[r.axis]}": (r.fall, LOST_POWER, r.row) for r in ends[inside].itertuples()}
    beyond = {f"{name}, where its privacy term is unbounded": (r.fall, None, r.row) for r in ends[~inside].itertuples()}
    verdict = reads(printed=(ends["fall"][inside] <= LOST_POWER).all(), decided=inside.any())
    return Ruling(verdict, numbers("lower-bounds", falls | beyond))


def _far_end(axis: str, rows: pd.DataFrame) -> dict[str, object]:
    """By which power the risk falls below the bound towards the far end of an axis, and the row that stands there."""
    name = {"both": "gamma"}.get(axis, axis)
    rows = rows.assign(size=rows[name] if name == "n" else 1 / rows[name]).sort_values("size")
    far = rows.iloc[-1]
    where = f"axis = {axis}, {name} = {far[name]:.2g}"
    fall = power(rows, "size", "bound", "risk")
    return {"axis": axis, "fall": fall, "row": where, "second": far["second"]}


@judges("dpgd/equation-1.3")
def equation_13(tables: Tables) -> Ruling:
    """Does the bound, at d = γn and constant ρ, grow without limit where (1.4) does not?"""
    rows = select(tables["rates"], axis="n", spectrum=ISOTROPIC, algorithm=ALGORITHMS[0])
    rows = rows.assign(log_n=np.log(rows["n"]), term=rows["rate_1.3"] - rows["gamma"])
    grows, stays = power(rows, "log_n", "term", ""), power(rows, "log_n", "rate_1.4", "")
    named = {
        "power of log n in the privacy term of (1.3)": (grows, LOST_POWER),
        "power of log n in (1.4)": (stays, LOST_POWER),
    }
    verdict = reads(printed=grows > LOST_POWER >= stays, decided=several(rows["n"]))
    return Ruling(verdict, numbers("rates", named, "axis = n"))


@judges("dpgd/equation-1.4")
def equation_14(tables: Tables) -> Ruling:
    """R = O(γ + γ²/ρ²) for a harmonic learning rate and a constant c: along γ, ρ and n, for each covariance."""
    rows = select(tables["rates"], algorithm=ALGORITHMS[0])
    sizes = select(rows, axis="n")
    seen = several(select(rows, axis="gamma")["gamma"]) and several(sizes["n"])
    if not (seen and np.isfinite(rows["limit"]).all()):
        return Ruling(Verdict.UNTESTABLE)
    share, error = rows["excess_risk"] / rows["limit"], rows["standard_error"] / rows["limit"]
    powers = {str(name): _power_of_n(part) for name, part in sizes.groupby("spectrum", sort=False)}
    above = (share - 1 > CONSISTENT * error).any()
    rises = any(value - CONSISTENT * uncertain > LEVEL for value, uncertain in powers.values())
    scattered = (rows["largest"] > SINGLE * rows["excess_risk"]).any()
    highest = ((share - 1) / error).idxmax()
    most = "mean risk over the derived multiple, the furthest above it in standard errors"
    found = (
        Number(most, share[highest], error[highest], 1.0, "rates", _place(rows.loc[highest])),
        *_sizes(powers),
        *_multiples(rows),
    )
    return Ruling(reads(printed=not (above or rises or scattered)), found)


def _sizes(powers: dict[str, tuple[float, float]]) -> tuple[Number, ...]:
    """The powers of n, by covariance."""
    name = "power of n in the risk at fixed γ and ρ"
    return tuple(
        Number(name, value, error, LEVEL, "rates", f"spectrum = {spectrum}, axis = n")
        for spectrum, (value, error) in powers.items()
    )


def _multiples(rows: pd.DataFrame) -> tuple[Number, ...]:
    """The largest mean risk over the rate, beside that of the limit, by covariance; and a single run over its mean.

    A risk below Aγ + Bγ²/ρ² is below max(A, B) times the rate.
    """
    single = (rows["largest"] / rows["excess_risk"]).max()
    over = rows[["excess_risk", "limit"]].div(rows["rate_1.4"], axis=0).groupby(rows["spectrum"], sort=False).max()
    name = "largest mean risk over γ + γ²/ρ², beside the largest derived multiple"
    return (
        *(Number(name, r.excess_risk, None, r.limit, "rates", f"spectrum = {r.Index}") for r in over.itertuples()),
        *numbers("rates", {"largest single run over its mean": (single, SINGLE)}, f"algorithm = {ALGORITHMS[0]}"),
    )


def _power_of_n(rows: pd.DataFrame) -> tuple[float, float]:
    """The fitted power of n in the risk, with its error, for one covariance."""
    return _fits.power_law(rows["n"], rows["excess_risk"], rows["standard_error"])


def _place(row: pd.Series) -> str:
    return ", ".join(f"{name} = {row[name]}" for name in ("spectrum", "axis", "gamma", "rho", "n"))


# ---- Abstract ----
# Verdict on the rate in the abstract of arXiv:2505.16329v2, which it calls non-asymptotic.


@judges("dpgd/abstract-non-asymptotic")
def abstract_non_asymptotic(tables: Tables) -> Ruling:
    """At fixed γ and ρ: does the risk stay a constant multiple of γ + γ²/ρ² from small n and d on?"""
    rows = select(tables["rates"], algorithm=ALGORITHMS[0], axis="n")
    fits = {
        f"power of n in the risk over γ + γ²/ρ², {name}": _fits.power_law(
            part["n"], part["excess_risk"] / part["rate_1.4"], part["standard_error"] / part["rate_1.4"]
        )
        for name, part in rows.groupby("spectrum", sort=False)
        if several(part["n"])
    }
    found = {name: {"value": power, "error": error, "against": LEVEL} for name, (power, error) in fits.items()}
    found["largest multiple of γ + γ²/ρ²"] = {"value": (rows["excess_risk"] / rows["rate_1.4"]).max()}
    decided = bool(fits) and not any(math.isnan(power + error) for power, error in fits.values())
    level = all(power <= LEVEL + CONSISTENT * error for power, error in fits.values())
    verdict = reads(printed=level, decided=decided)
    return Ruling(verdict, numbers("rates", found, "c constant, axis = n"), {"smallest": rows["d"].min()})
