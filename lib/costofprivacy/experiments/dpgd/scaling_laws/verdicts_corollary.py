"""Verdicts on Corollary 6.1 of arXiv:2505.16329v2, on what follows it, and on what Section 8 says of scaling laws."""

from __future__ import annotations

import math

import pandas as pd

from costofprivacy.experiments.dpgd.scaling_laws.curves import PLACE
from costofprivacy.experiments.dpgd.scaling_laws.trends import decide, number, powers, steps, untestable
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables

REACHED = 2e-3  # of a limit along α, which is approached like 1/K
TOUCHED = 0.05  # a critical b below it is close to 0
WON = 0.9  # a large constant wins if its risk falls below this share of that with a small one
SMALL, LARGE = 1.0, 10.0  # clipping constants up to and from which a constant is small or large


def approached(rows: pd.DataFrame, value: str, limit: str) -> tuple[float, float]:
    """How far a column is from its limit at the largest α at most, and by how much it exceeds it anywhere."""
    last = rows[rows["alpha"] == rows["alpha"].max()]
    return float((last[value] - last[limit]).abs().max()), float((rows[value] - rows[limit]).max())


def _limit(tables: Tables, sign: str, change: str) -> Finding:
    limits = tables["limits"]
    rows = limits[limits["phi"] <= 0] if sign == "flat" else limits[limits["phi"] > 0]
    if rows.empty:
        return untestable("No spectrum of this kind was drawn.", change)
    gap, above = approached(rows, "h", "h_limit")
    numbers = (
        Number(
            "distance of h from its limit, largest α", gap, None, REACHED, "limits", f"alpha = {rows['alpha'].max()}"
        ),
        Number("largest excess of h over the limit", above, None, 0.0, "limits", "all"),
    )
    headlines = (
        f"At {rows[['phi', 'psi', 'b']].drop_duplicates().shape[0]} random places the exponent rises to within "
        f"{compact(gap)} of the corollary's.",
        f"The exponent stays {compact(gap)} away from the corollary's as the schedule's exponent grows.",
    )
    return decide(gap <= REACHED, headlines, numbers, change)


@judges("dpgd/corollary-6.1-flat")
def corollary_flat(tables: Tables) -> Finding:
    """(6.7): does h go to min(1, 2(1 − b)) as α → ∞ for φ ≤ 0?"""
    return _limit(tables, "flat", "A spectrum with $\\phi\\le0$ whose exponent stays below $\\min(1,2(1-b))$.")


@judges("dpgd/corollary-6.1-steep")
def corollary_steep(tables: Tables) -> Finding:
    """(6.8): does h go to the lesser of 1 and 2(1 − b)κ₁/(2 − ψ) for φ > 0?"""
    return _limit(tables, "steep", "A spectrum with $\\phi>0$ whose exponent stays below that of (6.8).")


@judges("dpgd/equation-6.9")
def equation_69(tables: Tables) -> Finding:
    """(6.9): the limit of the critical b, below ½; and does it go to 0 as φ → 1, for every ψ?"""
    limits, critical = tables["limits"], tables["critical"]
    steep = limits[limits["phi"] > 0]
    gap, _ = approached(steep, "critical", "critical_limit")
    ends = critical[(critical["alpha"] == math.inf) & (critical["phi"] > 0)].sort_values("phi").groupby("psi").tail(1)
    ends = ends[ends["phi"] == ends["phi"].max()]
    worst = ends.loc[ends["critical"].idxmax()]
    nonnegative = ends[ends["psi"] >= 0]
    numbers = (
        Number("distance of the critical b from (6.9), largest α", gap, None, REACHED, "limits", "phi > 0"),
        Number("largest right side of (6.9), φ > 0", steep["critical_limit"].max(), None, 0.5, "limits", "phi > 0"),
        number("largest critical b at the largest φ", worst, "critical", 0.0, "critical", "phi", "psi"),
        *(Number("critical b at the largest φ, ψ = 0", value, None, 0.0, "critical", f"phi = {worst['phi']:g}")
          for value in nonnegative["critical"].head(1)),
    )  # fmt: skip
    change = "A target with negative $\\psi$ whose threshold goes to 0 as $\\phi\\to1$."
    if gap > REACHED or steep["critical_limit"].max() >= 0.5:
        return decide(False, ("", "The critical exponent does not go to the printed threshold."), numbers, change)
    negative = ends[(ends["psi"] < 0) & (ends["critical"] > TOUCHED)]
    if negative.empty:
        said = "The threshold is right and, for every target tried, goes to zero at the steepest spectra."
        return decide(True, (said, ""), numbers, change)
    row = negative.iloc[0]
    headline = (
        "The threshold is right, but it falls to zero only for a target with non-negative exponent; another keeps "
        f"{compact(row['critical'])}."
    )
    mended = (
        "For $\\psi\\ge0$, which $\\psi<1-\\phi$ then drives to 0; for fixed $\\psi<0$ the threshold tends to "
        "$-\\psi/(2(1-\\psi))$."
    )
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, mended, change)


@judges("dpgd/section-6-well-conditioned")
def section_6_well_conditioned(tables: Tables) -> Finding:
    """For φ < 0: does the risk's exponent go to that of γ + γ²/ρ², and the covariance to the identity as φ → −∞?"""
    limits, spectra = tables["limits"], tables["spectra"].sort_values("phi", ascending=False)
    rows = limits[limits["phi"] < 0].assign(rate=lambda t: (2 * (1 - t["b"])).clip(upper=1.0))
    gap, _ = approached(rows, "h", "rate")
    falls = bool((steps(spectra["variance"]) < 0).all())
    last = spectra.iloc[-1]
    numbers = (
        Number("distance of h from that of γ + γ²/ρ²", gap, None, REACHED, "limits", "phi < 0, largest alpha"),
        number("variance of the eigenvalues at the least φ", last, "variance", 0.0, "spectra", "phi"),
    )
    change = "A spectrum with $\\phi<0$ whose exponent stays below that of the well-conditioned case."
    headlines = (
        f"Below zero the exponent rises to within {compact(gap)} of the well-conditioned one, and the spectrum "
        "shrinks to "
        "one point.",
        "Below zero the exponent stays away from the well-conditioned one, or the spectrum does not shrink.",
    )
    return decide(gap <= REACHED and falls, headlines, numbers, change)


@judges("dpgd/section-6-half")
def section_6_half(tables: Tables) -> Finding:
    """For φ ≤ 0: does privacy cost at b = ½ at every α?"""
    rows = tables["limits"][tables["limits"]["phi"] <= 0]
    loss = (rows["h_free"] - rows["h_half"]).groupby(rows["alpha"]).agg(["min", "max"])
    numbers = (
        Number("least loss of exponent at b = ½", loss["min"].min(), None, 0.0, "limits", "phi <= 0"),
        Number("largest loss at the least α", loss["max"].iloc[0], None, 0.0, "limits", f"alpha = {loss.index[0]:g}"),
        Number(
            "largest loss at the largest α", loss["max"].iloc[-1], None, 0.0, "limits", f"alpha = {loss.index[-1]:g}"
        ),
    )
    change = "A spectrum with $\\phi\\le0$ and a schedule for which privacy is free at $b=1/2$."
    headlines = (
        f"Privacy costs an exponent there with every schedule: up to {compact(loss['max'].iloc[0])} with the constant "
        f"one, {compact(loss['max'].iloc[-1])} with the fastest decay.",
        "There is a schedule with which privacy costs no exponent there.",
    )
    return decide(bool(loss["min"].min() > 0), headlines, numbers, change)


@judges("dpgd/section-6-small-directions")
def section_6_small_directions(tables: Tables) -> Finding:
    """Does privacy cost sooner for φ > 0 than for φ < 0, and sooner still for larger ψ?"""
    limit = tables["critical"][tables["critical"]["alpha"] == math.inf]
    steep, flat = limit[limit["phi"] > 0], limit[limit["phi"] < 0]
    if steep.empty or flat.empty:
        return untestable("One sign of the spectrum's exponent was not tried.", "Spectra of both kinds.")
    rises = [steps(rows.sort_values("psi")["critical"]) for _, rows in steep.groupby("phi")]
    worst = max(float(rise.max()) for rise in rises if len(rise))
    numbers = (
        Number("largest critical b for φ > 0", steep["critical"].max(), None, 0.5, "critical", "alpha = inf"),
        Number("least critical b for φ < 0", flat["critical"].min(), None, 0.5, "critical", "alpha = inf"),
        Number("largest rise of the critical b in ψ", worst, None, 0.0, "critical", "alpha = inf, phi > 0"),
    )
    change = "A larger weight of the target on weak directions that makes privacy cheaper."
    headlines = (
        "Weak directions make privacy cost sooner, and sooner still when more of the target lies along them.",
        "Weak directions do not make privacy cost sooner, or more of the target along them does not.",
    )
    return decide(bool(steep["critical"].max() < flat["critical"].min() and worst < 0), headlines, numbers, change)


@judges("dpgd/section-8-scaling")
def section_8_scaling(tables: Tables) -> Finding:
    """Do decaying schedules and small clipping constants help in the ill-conditioned case?"""
    clips, rows = tables["clips"], tables["exponents"]
    last = clips[(clips["gamma"] == clips["gamma"].min()) & (clips["clip"] != "growing")]
    best = last.groupby([*PLACE, "case"])["ratio"].transform("min")
    large = last.assign(excess=last["ratio"] / best)[last["value"] >= LARGE]
    dear, free = large[large["case"].isin((2, 4))], large[large["case"].isin((1, 3))]
    growing = powers(clips[(clips["clip"] == "growing") & clips["case"].isin((2, 4))], PLACE, "ratio")
    gain = (rows["h_more"] - rows["h"])[rows["case"] == 1]
    numbers = (
        number("least excess with a large c where privacy costs", dear.loc[dear["excess"].idxmin()], "excess", 1.0,
               "clips", *PLACE, "clip"),
        number("least excess with a large c where it is free", free.loc[free["excess"].idxmin()], "excess", 1.0,
               "clips", *PLACE, "clip"),
        number("power lost with a growing c where privacy costs", growing.iloc[0], "power", 0.0, "clips", *PLACE),
        Number("least gain of h from a faster decay, privacy free", gain.min(), None, 0.0, "exponents", "case = 1"),
    )  # fmt: skip
    change = "A case in which privacy costs and a large clipping constant does no harm."
    headlines = (
        f"Where privacy costs, large clipping constants multiply the risk at least {compact(dear['excess'].min())} "
        "times, and faster decay gains an exponent.",
        "Large clipping constants do no harm where privacy costs, or faster decay gains nothing.",
    )
    true = dear["excess"].min() > 1 and growing["power"].min() > LOST_POWER and gain.min() >= 0
    return decide(bool(true), headlines, numbers, change)


@judges("dpgd/equation-e.40")
def equation_e40(tables: Tables) -> Finding:
    """Do large clipping constants, also growing ones, ever win a power against c ≤ 1?"""
    clips = tables["clips"]
    keys = [*PLACE, "gamma", "inverse_gamma"]
    small = clips[clips["value"] <= SMALL].groupby(keys, as_index=False)["ratio"].min()
    large = clips[clips["value"] >= LARGE].groupby(keys, as_index=False)["ratio"].min()
    both = large.merge(small, on=keys, suffixes=("_large", "_small"))
    change = "A growing clipping constant whose best risk falls below that at $c\\le1$ by a power."
    if both.empty:
        return untestable("No large clipping constant was tried.", change)
    falls = powers(both, PLACE, "ratio_large", "ratio_small")
    both["quotient"] = both["ratio_large"] / both["ratio_small"]
    least, worst = both.loc[both["quotient"].idxmin()], falls.iloc[0]
    numbers = (
        number("least risk with a large c over that with a small", least, "quotient", 1.0, "clips", *PLACE, "gamma"),
        number("least power of 1/γ in it", worst, "power", -LOST_POWER, "clips", *PLACE),
    )
    headlines = (
        f"The best risk with a large clipping constant is never below {compact(least['quotient'])} times that with a "
        "small one.",
        "A large clipping constant gains a power against a small one.",
    )
    return decide(bool(worst["power"] >= -LOST_POWER or least["quotient"] >= WON), headlines, numbers, change)
