"""Verdicts on Theorem 3, on what it is said to show, and on the displays that lead to it; arXiv:2505.16329v2."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pandas as pd

from costofprivacy.experiments.dpgd.lower_bound.attacks import HARMONIC
from costofprivacy.experiments.dpgd.lower_bound.optimality import (
    ALONG_NOISE,
    ALONG_RHO,
    BALL,
    FAR_POWERS,
    ISOTROPIC,
    PATHS,
)
from costofprivacy.experiments.dpgd.lower_bound.steps import FROM_DATA, FROM_TWIN
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER, power, several
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, describe, select
from costofprivacy.judging.vocabulary import CONSISTENT

ROUNDING = 1e-9
CONVERTED = 0.25  # how far from 1 the power of log n may be for one logarithm
SECOND = 2.0  # the order α that the proof uses
PAPER_NOISE = 0.3  # ζ of the paper's figures, for the numbers of a card


def lost(rows: pd.DataFrame, size: str, left: str, right: str) -> float:
    """The power of 1/size that left/right grows with towards small sizes."""
    return power(rows.assign(inverse=1 / rows[size]), "inverse", left, right)


def lost_far(far: pd.DataFrame, axes: Iterable[str], left: str, right: str) -> dict[tuple[str, float], float]:
    """The power lost towards small γ, or along ρ in either direction, on each axis and at each label noise."""
    found = {}
    for axis in axes:
        for noise, rows in select(far, axis=axis).groupby("label_noise"):
            along = [lost(rows, "gamma", left, right)]
            if axis == ALONG_RHO:
                along = [lost(rows, "rho", left, right), power(rows, "rho", left, right)]
            found[axis, float(noise)] = max(along)
    return found


def below(tables: Tables) -> pd.DataFrame:
    """Algorithms whose risk is beyond doubt below what is proven of all of them: name, risk, bound."""
    attack, bounds = tables["attack"], tables["bounds"]
    private = attack[attack["rho"] < math.inf]
    sure = private[private["risk"] + CONSISTENT * private["risk_error"] < private["lower"]]
    found = [sure[["algorithm", "risk", "lower"]]]
    for name, column in ((HARMONIC, "harmonic"), ("pilot and one step", "two_stage")):
        rows = bounds[bounds[column] < bounds["lower"]].assign(algorithm=name)
        found.append(rows.rename(columns={column: "risk"})[["algorithm", "risk", "lower"]])
    return pd.concat(found, ignore_index=True)


@judges("dpgd/theorem-3")
def theorem_3(tables: Tables) -> Finding:
    """Does the proven bound keep the powers of γ + γ²/ρ² wherever γ²/ρ² is bounded, and does nothing fall below it?"""
    powers = lost_far(tables["far"], (*FAR_POWERS, ALONG_RHO), "rate", "lower")
    (axis, noise), worst = max(powers.items(), key=lambda item: item[1])
    paper = select(tables["far"], label_noise=PAPER_NOISE)
    least = paper[paper["axis"].isin([*FAR_POWERS, ALONG_RHO])].assign(share=lambda t: t["lower"] / t["rate"])["share"]
    attack = tables["attack"]
    private = attack[attack["rho"] < math.inf]
    numbers = (
        Number("largest power of the size that the bound loses", worst, None, 0.0, "far",
               f"axis = {axis}, label_noise = {noise:g}"),
        Number("least of the bound over the printed rate", least.min(), None, None, "far",
               f"label_noise = {PAPER_NOISE:g}"),
        Number("least risk of a private algorithm over the bound", (private["risk"] / private["lower"]).min(), None,
               1.0, "attack", "rho finite"),
    )  # fmt: skip
    change = "A private algorithm whose mean risk is below the bound at every target, or an error in its derivation."
    under = below(tables)
    if len(under):
        headline = f"The algorithm {under['algorithm'].iloc[0]} has a smaller risk than the bound allows."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if not worst <= LOST_POWER:
        headline = f"The proven bound loses the power {worst:.2f} of a size against the printed rate."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        "With every constant worked out, the bound keeps the powers of the printed rate, and no private algorithm "
        "tried falls below it."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/equation-5.26")
def equation_526(tables: Tables) -> Finding:
    """Do the moments of L stay below the bound, the output drawn from the neighbour as in (D.122)?"""
    table = tables["likelihood"].assign(share=lambda t: t["value"] / t["bound"])
    drawn = select(table, law=FROM_TWIN)
    worst = drawn.loc[drawn["share"].idxmax()]
    other = select(table, law=FROM_DATA, order=SECOND, mechanism=worst["mechanism"]).sort_values("rho")
    row = describe({name: worst[name] for name in ("mechanism", "rho", "order")})
    numbers = (
        Number("largest moment over the bound", worst["share"], None, 1.0, "likelihood", row),
        Number("second moment over the bound, drawn from the data's own release", other["share"].iloc[0], None, 1.0,
               "likelihood", describe({name: other[name].iloc[0] for name in ("law", "order", "rho")})),
    )  # fmt: skip
    change = "A mechanism under the privacy stated with a larger moment, the output drawn from the neighbour."
    if worst["share"] > 1 + ROUNDING:
        headline = f"For the {worst['mechanism']} mechanism a moment exceeds the bound {compact(worst['share'])} times."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        f"The bound holds for all {drawn['mechanism'].nunique()} mechanisms tried; the closest is the "
        f"{worst['mechanism']} one, at {compact(worst['share'])} of it."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/equation-5.28")
def equation_528(tables: Tables) -> Finding:
    """Is the summed attack of order d for every private algorithm, also for one that knows nothing?"""
    attack = tables["attack"]
    error = CONSISTENT * attack["score_error"]
    silent = attack[(attack["score"] - error <= 0) & (attack["score"] + error < attack["whole"] / 2)]
    limit = error_limit(attack)
    change = "A useful algorithm whose summed attack is not of the order of the dimension."
    if silent.empty:
        share = (attack["score"] / attack["whole"]).min()
        least = Number("least score over its largest", share, None, 0.0, "attack", "all")
        headline = f"Every algorithm tried has a summed attack of at least {compact(share)} of its largest value."
        return Finding(Verdict.HOLDS, headline, (least,), would_change=change)
    worst = silent.loc[silent["risk"].idxmax()]
    row = describe({name: worst[name] for name in ("algorithm", "n", "rho")})
    numbers = (
        Number("score of the algorithm", worst["score"], worst["score_error"], 0.0, "attack", row),
        Number("its squared error", 2 * worst["risk"], 2 * worst["risk_error"], limit, "attack", row),
    )
    useful = silent[2 * (silent["risk"] + CONSISTENT * silent["risk_error"]) <= limit]
    if len(useful):
        headline = f"A useful algorithm, {useful['algorithm'].iloc[0]}, is not traced by the attack."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        f"A private algorithm, for instance {worst['algorithm']}, may leave the attack nothing to find; the claim "
        "needs a useful algorithm."
    )
    correction = (
        r"For algorithms of squared error $\mathbb{E}\|\mathcal{M} - \theta^*\|^2 \le \min(\zeta^2/2, 1/40)$, as "
        "Lemma D.6 has it; excluded are those that err by more, such as a constant."
    )
    return Finding(Verdict.NARROWER, headline, numbers, correction=correction, would_change=change)


def error_limit(attack: pd.DataFrame) -> float:
    """C = min(ζ²/2, 1/40) of the proof of Lemma D.6."""
    return min(float(attack["label_noise"].iloc[0]) ** 2 / 2, 1 / 40)


@judges("dpgd/equation-5.29")
def equation_529(tables: Tables) -> Finding:
    """Does the Bayes risk's bound keep the powers of d²/{n²(e^{ρ²} − 1)} under Theorem 3's conditions?"""
    return private_powers(tables, (*FAR_POWERS, ALONG_RHO), "a constant least eigenvalue")


def private_powers(tables: Tables, axes: Iterable[str], where: str) -> Finding:
    """The bound that the two sides of the attack leave against its printed order, along each axis."""
    powers = lost_far(tables["far"], axes, "private_rate", "private")
    (axis, noise), worst = max(powers.items(), key=lambda item: item[1])
    far = tables["far"]
    weaker = (far["private"] / far["lemma"]).min()
    numbers = (
        Number("largest power of the size that the bound loses", worst, None, 0.0, "far",
               f"axis = {axis}, label_noise = {noise:g}"),
        Number("least of the bound over the one with the proof's constants", weaker, None, 1.0, "far", "all"),
    )  # fmt: skip
    change = "A path inside the conditions along which the bound loses a power of a size."
    if not worst <= LOST_POWER:
        headline = f"The bound loses the power {worst:.2f} of a size against its printed order."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if weaker < 1 - ROUNDING:
        headline = f"The proof's constants promise more than the bound gives, by a factor {compact(1 / weaker)}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)
    headline = f"With {where}, the bound with all its constants keeps the printed powers along every size."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/section-5.2-zcdp")
def section_52_zcdp(tables: Tables) -> Finding:
    """Does a bound for (ε, δ) lose one logarithm of n when it is applied to zCDP?"""
    table = tables["conversion"].sort_values("n")
    change = "A conversion from zero-concentrated privacy whose loss does not grow like the logarithm of $n$."
    if not several(table["n"]):
        return Finding(Verdict.UNTESTABLE, "A single number of records shows no logarithm.", would_change=change)
    grows = power(table, "log_n", "lost", "")
    last = table.iloc[-1]
    row = describe({"n": last["n"]})
    numbers = (
        Number("power of log n in the loss", grows, None, 1.0, "conversion", "the largest n"),
        Number("loss over log n", last["lost"] / last["log_n"], None, 2.0, "conversion", row),
    )
    if abs(grows - 1) > CONVERTED:
        headline = f"The loss goes like the power {grows:.2f} of the logarithm."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)
    headline = (
        "A bound for approximate privacy, converted exactly, is weaker by "
        f"{compact(last['lost'] / last['log_n'])} logarithms of the number of records."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/section-8-optimality")
def section_8_optimality(tables: Tables) -> Finding:
    """Does DP-GD stay within a constant of the lower bound on every path to small γ, and along ρ?"""
    bounds = select(tables["bounds"], start=BALL)
    powers = {}
    for (path, spectrum), rows in bounds[bounds["path"].isin(list(PATHS))].groupby(["path", "spectrum"], sort=False):
        powers[f"path = {path}, spectrum = {spectrum}"] = lost(rows, "gamma", "harmonic", "lower")
    change = "A path along which the tuned schedule's risk over the lower bound keeps growing."
    if not powers or any(map(math.isnan, powers.values())):
        return Finding(Verdict.UNTESTABLE, "A single aspect ratio shows no trend.", would_change=change)
    row, worst = max(powers.items(), key=lambda item: item[1])
    slow = select(bounds, path=next(iter(PATHS)), spectrum=ISOTROPIC).sort_values("gamma").iloc[0]
    largest = bounds[bounds["path"] != ALONG_NOISE]["factor"].max()
    numbers = (
        Number("largest power of 1/γ in the factor", worst, None, 0.0, "bounds", row),
        Number("factor at constant ρ and the smallest γ", slow["factor"], None, 1.0, "bounds",
               describe({name: slow[name] for name in ("path", "gamma")})),
        Number("largest factor", largest, None, 1.0, "bounds", "all but along the label noise"),
    )  # fmt: skip
    if worst > LOST_POWER:
        headline = f"The tuned schedule's risk over the lower bound grows like the power {worst:.2f} of $1/\\gamma$."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        f"DP-GD stays within a factor of {compact(largest)} of what no private algorithm beats, and of "
        f"{compact(slow['factor'])} at constant privacy."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/section-8-label-noise")
def section_8_label_noise(tables: Tables) -> Finding:
    """At each constant ζ, are both bounds of the printed order; and what becomes of them as ζ falls?"""
    rows = select(tables["bounds"], path=ALONG_NOISE)
    change = "A constant label noise at which one of the bounds leaves the printed order as $\\gamma$ falls."
    sides = {"harmonic": ("harmonic", "rate"), "lower": ("rate", "lower")}
    powers = {
        (name, float(noise)): lost(part, "gamma", *columns)
        for noise, part in rows.groupby("label_noise")
        for name, columns in sides.items()
    }
    if not powers or any(map(math.isnan, powers.values())):
        return Finding(Verdict.UNTESTABLE, "A single aspect ratio shows no trend.", would_change=change)
    (side, noise), worst = max(powers.items(), key=lambda item: item[1])
    end = select(rows, gamma=rows["gamma"].min())
    falls = {name: power(end, "label_noise", name, "rate", last=len(end)) for name in sides}
    numbers = (
        Number("largest power of 1/γ by which a bound leaves the order", worst, None, 0.0, "bounds",
               f"{side}, label_noise = {noise:g}"),
        Number("power of the label noise in what DP-GD reaches", falls["harmonic"], None, 2.0, "bounds",
               "the smallest gamma"),
        Number("power of the label noise in the lower bound", falls["lower"], None, 2.0, "bounds",
               "the smallest gamma"),
    )  # fmt: skip
    if worst > LOST_POWER:
        headline = f"At one label noise a bound leaves the printed order like the power {worst:.2f} of $1/\\gamma$."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        "At every constant label noise tried, both bounds have the printed order; the lower one falls like "
        f"$\\zeta^{{{falls['lower']:.2f}}}$ with it."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
