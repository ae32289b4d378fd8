"""Verdicts on Corollary 6.1 of arXiv:2505.16329v2, on what follows it, and on what Section 8 says of scaling laws."""

import math
from statistics import NormalDist

import numpy as np
import pandas as pd

from chapters.dpgd.scaling_laws.curves import PLACE
from chapters.dpgd.scaling_laws.trends import least, most, number, powers, rises
from companion.judging.findings import Verdict
from companion.judging.growth import LOST_POWER, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables
from companion.judging.vocabulary import ON_A_PAR

REACHED = 2e-3  # of a limit along α, which is approached like 1/K
TOUCHED = 0.05  # a critical b below it is close to 0
RARE = 0.01  # share of the samples
SMALL, LARGE = 1.0, 10.0  # clipping constants up to and from which a constant is small or large
FREE, COSTLY = (1, 3), (2, 4)  # the theorem's cases


def approached(rows: pd.DataFrame, value: str, limit: str) -> tuple[float, float]:
    """How far a column is from its limit at the largest α at most, and by how much it exceeds it anywhere."""
    last = rows[rows["alpha"] == rows["alpha"].max()]
    return float((last[value] - last[limit]).abs().max()), float((rows[value] - rows[limit]).max())


def rising(rows: pd.DataFrame) -> Ruling:
    """Whether h goes to the corollary's exponent for the spectra of these rows."""
    if rows.empty:
        return Ruling(Verdict.UNTESTABLE)
    gap, above = approached(rows, "h", "h_limit")
    named = {
        "distance of h from its limit, largest α": (gap, REACHED, f"alpha = {rows['alpha'].max()}"),
        "largest excess of h over the limit": (above, 0.0),
    }
    places = len(rows[["phi", "psi", "b"]].drop_duplicates())
    return Ruling(reads(printed=gap <= REACHED), numbers("limits", named), {"places": places, "gap": gap})


@judges("dpgd/corollary-6.1-flat")
def corollary_flat(tables: Tables) -> Ruling:
    """(6.7): does h go to min(1, 2(1 − b)) as α → ∞ for φ ≤ 0?"""
    return rising(tables["limits"].query("phi <= 0"))


@judges("dpgd/corollary-6.1-steep")
def corollary_steep(tables: Tables) -> Ruling:
    """(6.8): does h go to the lesser of 1 and 2(1 − b)κ₁/(2 − ψ) for φ > 0?"""
    return rising(tables["limits"].query("phi > 0"))


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
    return Ruling(reads(printed=gap <= REACHED and vanishes), found, {"gap": gap})


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
