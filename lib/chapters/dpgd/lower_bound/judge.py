"""Verdicts on Theorem 3, on what it is said to show, and on the displays that lead to it; arXiv:2505.16329v2."""

import math
from collections.abc import Iterable, Mapping

import pandas as pd

from chapters.dpgd.lower_bound.measure import (
    ALONG_NOISE,
    ALONG_RHO,
    BALL,
    FAR_POWERS,
    FIRST,
    FROM_TWIN,
    ISOTROPIC,
    PATHS,
    SECOND,
)
from companion.judging.growth import LOST_POWER, power, several
from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import describe, select
from companion.judging.tolerances import SEARCHED, Declared
from companion.judging.vocabulary import CONSISTENT, ROUNDING

CONVERTED = 0.25  # how far from 1 the power of log n may be for one logarithm
LOSES = "largest power of a size by which the printed rate outgrows the bound"
PAPER_NOISE = 0.3  # ζ of the paper's figures, for the numbers of a card


def place(row: pd.Series, *names: str) -> str:
    """Which row of its table it is, by the columns that single it out."""
    return describe({name: row[name] for name in names})


def keeps(found: Record, name: str, powers: Mapping[str, float], table: str) -> bool:
    """Is the largest power lost nothing? It is cited at the last of the rows that are equal up to rounding."""
    row, worst = max(reversed([*powers.items()]), key=lambda item: round(item[1], 12))
    return found.at_most(name, worst, LOST_POWER, table=table, row=row)


def lost(rows: pd.DataFrame, size: str, left: str, right: str) -> float:
    """The power of 1/size that left/right grows with towards small sizes."""
    return power(rows.assign(inverse=1 / rows[size]), "inverse", left, right)


def lost_far(far: pd.DataFrame, axes: Iterable[str], left: str, right: str) -> dict[str, float]:
    """The power lost towards small γ, or along ρ in either direction, on each axis and at each label noise."""
    powers = {}
    for axis in axes:
        for noise, rows in select(far, axis=axis).groupby("label_noise"):
            along = [lost(rows, "gamma", left, right)]
            if axis == ALONG_RHO:
                along = [lost(rows, "rho", left, right), power(rows, "rho", left, right)]
            powers[f"axis = {axis}, label_noise = {noise:g}"] = max(along)
    return powers


# ---- The theorem, and what it is said to show ----


@judges("dpgd/theorem-3")
def theorem_3(found: Record) -> Ruling:
    """Does the proven bound keep the powers of γ + γ²/ρ² wherever γ²/ρ² is bounded, and does nothing fall below it?"""
    axes, bounds = [*FAR_POWERS, ALONG_RHO], found["bounds"]
    kept = keeps(found, LOSES, lost_far(found["far"], axes, "rate", "lower"), "far")
    paper = select(found["far"], label_noise=PAPER_NOISE)
    share = (paper["lower"] / paper["rate"])[paper["axis"].isin(axes)].min()
    found.number("least of the bound over the printed rate", share, table="far", row=f"label_noise = {PAPER_NOISE:g}")
    nearest = (bounds[["harmonic", "two_stage"]].min(axis=1) / bounds["lower"]).min()
    name, row = "least risk of a private algorithm over the bound", "DP-GD, and a pilot with one averaged step"
    above = found.at_least(name, nearest, 1.0, table="bounds", row=row)
    return found.ruling(kept and above)


@judges("dpgd/equation-5.26")
def equation_526(found: Record) -> Ruling:
    """Do the moments of L stay below the bound, the output drawn from the neighbour as in (D.122)?"""
    table = found["likelihood"].assign(share=lambda t: t["value"] / t["bound"])
    drawn = select(table, law=FROM_TWIN)
    worst = drawn.loc[drawn["share"].idxmax()]
    row = place(worst, "mechanism", "rho", "order")
    below = found.at_most(
        "largest moment over the bound", worst["share"], 1.0, table="likelihood", row=row, slack=ROUNDING
    )
    tried = drawn["mechanism"].nunique()
    return found.ruling(below, tried=tried, closest=worst["mechanism"], share=worst["share"])


def error_limit(attack: pd.DataFrame) -> float:
    """C = min(ζ²/2, 1/40) of the proof of Lemma D.6."""
    return min(float(attack["label_noise"].iloc[0]) ** 2 / 2, 1 / 40)


@judges("dpgd/equation-5.28")
def equation_528(found: Record) -> Ruling:
    """Is the summed attack of order d for every private algorithm, also for one that knows nothing?"""
    attack = found["attack"]
    error, limit = CONSISTENT * attack["score_error"], error_limit(attack)
    silent = attack[(attack["score"] - error <= 0) & (attack["score"] + error < attack["whole"] / 2)]
    if silent.empty:
        share = (attack["score"] / attack["whole"]).min()
        found.number("least score over its largest", share, table="attack", against=0.0)
        return found.ruling(True)
    worst = silent.loc[silent["risk"].idxmax()]
    row, name, error = place(worst, "algorithm", "n", "rho"), "summed attack on the algorithm", worst["score_error"]
    found.number(name, worst["score"], table="attack", row=row, against=0.0, error=error)
    name, error = "its mean squared error", 2 * worst["risk_error"]
    found.number(name, 2 * worst["risk"], table="attack", row=row, against=limit, error=error)
    useful = 2 * (silent["risk"] + CONSISTENT * silent["risk_error"]) <= limit
    return found.ruling(narrower=not useful.any(), algorithm=worst["algorithm"])


def private_powers(found: Record, *more: str) -> bool:
    """Does the bound that the two sides of the attack leave keep its printed order along each axis, and constants?"""
    far = found["far"]
    kept = keeps(found, LOSES, lost_far(far, (*FAR_POWERS, ALONG_RHO, *more), "private_rate", "private"), "far")
    name, weaker = "least of the bound over the one with the proof's constants", (far["private"] / far["lemma"]).min()
    return not found.number(name, weaker, table="far", against=1.0) < 1 - ROUNDING and kept


@judges("dpgd/equation-5.29")
def equation_529(found: Record) -> Ruling:
    """Does the Bayes risk's bound keep the powers of d²/{n²(e^{ρ²} − 1)}, and does no algorithm fall below?"""
    kept, private = private_powers(found), found["attack"].query("rho < inf")
    below = (private["risk"] + CONSISTENT * private["risk_error"] < private["lower"]).any()
    name, nearest = "least simulated risk of a private algorithm over the bound", private["risk"] / private["lower"]
    found.number(name, nearest.min(), table="attack", row="rho finite", against=1.0)
    return found.ruling(kept and not below)


@judges("dpgd/section-5.2-zcdp")
def section_52_zcdp(found: Record) -> Ruling:
    """Does a bound for (ε, δ) lose one logarithm of n when it is applied to zCDP?"""
    table = found["conversion"]
    last, grown = table.iloc[-1], power(table, "log_n", "lost", "")
    grows = found.number("power of log n in the loss", grown, table="conversion", row="the largest n", against=1.0)
    loss, limit = last["lost"] / last["log_n"], -2 * math.log(last["delta"]) / last["log_n"]
    found.number("loss over log n", loss, table="conversion", row=place(last, "n"), against=limit)
    return found.ruling(not abs(grows - 1) > CONVERTED, decided=several(table["n"]))


def show_trend(powers: Mapping[str, float]) -> bool:
    """Whether there are powers, each fitted to two sizes at least."""
    return bool(powers) and not any(map(math.isnan, powers.values()))


@judges("dpgd/section-8-optimality")
def section_8_optimality(found: Record) -> Ruling:
    """Does DP-GD stay within a constant of the lower bound on every path to small γ, and along ρ?"""
    bounds = select(found["bounds"], start=BALL)
    paths = bounds[bounds["path"].isin(list(PATHS))].groupby(["path", "spectrum"], sort=False)
    powers = {
        f"path = {path}, spectrum = {spectrum}": lost(rows, "gamma", "harmonic", "lower")
        for (path, spectrum), rows in paths
    }
    found.needs(show_trend(powers))
    kept = keeps(found, "largest power of 1/γ in the ratio of risk and bound", powers, "bounds")
    slow = select(bounds, path=next(iter(PATHS)), spectrum=ISOTROPIC).nsmallest(1, "gamma").iloc[0]
    name, row = "risk over bound at constant ρ and the smallest γ", place(slow, "path", "gamma")
    found.number(name, slow["factor"], table="bounds", row=row, against=1.0)
    largest, row = bounds[bounds["path"] != ALONG_NOISE]["factor"].max(), "all but along the label noise"
    found.number("largest risk over bound", largest, table="bounds", row=row, against=1.0)
    return found.ruling(kept, largest=largest, slow=slow["factor"])


@judges("dpgd/section-8-label-noise")
def section_8_label_noise(found: Record) -> Ruling:
    """At each constant ζ, are both bounds of the printed order?"""
    rows = select(found["bounds"], path=ALONG_NOISE)
    powers = {
        f"{name}, label_noise = {noise:g}": lost(part, "gamma", *columns)
        for noise, part in rows.groupby("label_noise")
        for name, columns in {"harmonic": ("harmonic", "rate"), "lower": ("rate", "lower")}.items()
    }
    found.needs(show_trend(powers))
    kept = keeps(found, "largest power of 1/γ by which a bound leaves the order", powers, "bounds")
    return found.ruling(kept)


# ---- Lemmas D.6 to D.8 and the displays of Appendix D.4 ----


@judges("dpgd/lemma-d.6")
def lemma_d6(found: Record) -> Ruling:
    """(D.140) and (D.126) for every algorithm, and the prior on which they rest."""
    attack, prior = found["attack"], found["prior"]
    limit, error = error_limit(attack), CONSISTENT * attack["score_error"]
    scores = (attack["score"] - attack["least_score"]) / attack["score_error"]
    name, row = "least excess of a score over (D.140), in standard errors", attack.loc[scores.idxmin()]
    row = place(row, "algorithm", "n", "rho")
    short = found.number(name, scores.min(), table="attack", row=row, against=-CONSISTENT) < -CONSISTENT
    escapes = (attack["score"] + error < limit * attack["d"]) & (2 * attack["risk"] <= limit)
    escaped = found.number("algorithms that escape both alternatives", escapes.sum(), table="attack", against=0.0) > 0
    wrong, name = (prior["value"].abs() - prior["printed"].abs()).abs().max(), "largest error of a moment of the prior"
    off = found.number(name, wrong, table="prior", row="sign aside", against=ROUNDING) > ROUNDING
    return found.ruling(not (off or short or escaped), tried=attack["algorithm"].nunique())


@judges("dpgd/lemma-d.7")
def lemma_d7(found: Record) -> Ruling:
    """As (5.29), and with a least eigenvalue as small as its condition allows."""
    return found.ruling(private_powers(found, "along the smallest eigenvalue"))


@judges("dpgd/lemma-d.8")
def lemma_d8(found: Record) -> Ruling:
    """Does a bound with every constant keep d/n, at constant n/d, at n = d² and as n grows alone?"""
    lemma = found["lemma"]
    least = (lemma["lower"] / lemma["rate"]).min()
    powers = {
        f"axis = {axis}, label_noise = {noise:g}": power(rows, "n", "rate", "lower") if least > 0 else math.inf
        for (axis, noise), rows in lemma.groupby(["axis", "label_noise"], sort=False)
    }
    kept = keeps(found, "largest power of n by which d/n outgrows the bound", powers, "lemma")
    found.number("least of the bound over d/n", least, table="lemma")
    return found.ruling(kept)


@judges("dpgd/equation-d.122")
def equation_d122(found: Record) -> Ruling:
    """Can the densities of (D.122) be averaged over the data, so that L = 1? Does (D.123) hold given the data?"""
    attack, drawn = found["attack"], select(found["likelihood"], law=FROM_TWIN)
    private = attack[attack["rho"] < math.inf]
    scores = private["score"] / private["score_error"]
    worst = private.loc[scores.idxmax()]
    row = place(worst, "algorithm", "n", "rho")
    for name, column in {"mean attack, summed": "score", "the same on fresh records": "fresh"}.items():
        found.number(name, worst[column], table="attack", row=row, against=0.0, error=worst[f"{column}_error"])
    name, unseen = "largest on fresh records, in standard errors", (attack["fresh"] / attack["fresh_error"]).abs().max()
    fresh = found.at_most(name, unseen, CONSISTENT, table="attack")
    name, moment = "largest moment given the data over the bound of (D.123)", (drawn["value"] / drawn["bound"]).max()
    given = found.at_most(name, moment, 1.0, table="likelihood", slack=ROUNDING)
    return found.ruling(scores.max() <= CONSISTENT, corrected=fresh and given, score=worst["score"], rho=worst["rho"])


@judges("dpgd/equation-d.134")
def equation_d134(found: Record) -> Ruling:
    """The two moments of π'/π, by quadrature."""
    first, second = (select(found["prior"], quantity=name) for name in (FIRST, SECOND))
    for name, rows in (("minus the mean of z times π'/π", first), ("mean square of π'/π over d", second)):
        last = rows.iloc[-1]
        found.number(name, last["value"], table="prior", row=place(last, "quantity"), against=last["printed"])
    wrong = (second["value"] - second["printed"]).abs().max() > ROUNDING
    same = (first["value"] - first["printed"]).abs().max() <= ROUNDING
    turned = (first["value"] + first["printed"]).abs().max() <= ROUNDING
    return found.ruling(same and not wrong, corrected=turned and not wrong)


@judges("dpgd/equation-d.144")
def equation_d144(found: Record) -> Ruling:
    """Is the score below what the first record alone would allow? And below what all records allow?"""
    chain = found["chain"]
    sure = chain["score"] - CONSISTENT * chain["score_error"]
    excess = sure / (chain["first"] + CONSISTENT * chain["first_error"])
    beyond = (sure / chain[["each", "most"]].min(axis=1)).max() > 1
    worst = chain.loc[(chain["score"] / chain["first"]).idxmax()]
    score, first, row = worst["score"], worst["first"], place(worst, "n", "rho", "multiple")
    found.number("summed attack, mean", score, table="chain", row=row, against=first, error=worst["score_error"])
    name = "what the first record's likelihood ratio allows"
    found.number(name, first, table="chain", row=row, error=worst["first_error"])
    found.number("what each record's own allows", worst["each"], table="chain", row=row, against=score)
    below = excess.max() <= 1 and not beyond
    return found.ruling(below, corrected=not beyond, multiple=worst["multiple"], times=score / first)


@judges("dpgd/equation-d.156")
def equation_d156(found: Record) -> Ruling:
    """Does leaving the ball cost a constant so little, and does it get rarer with d, for every label noise?"""
    table = found["outside"]
    costs = table["cost"] / table["printed"].where(table["printed"] > 0, math.inf)
    leaves = table.sort_values("d").groupby(["label_noise", "ratio"])["leaves"]
    first, last = leaves.transform("first"), leaves.transform("last")
    fails = (costs > 1 + ROUNDING) | ((first > 0) & (last >= first)).reindex(table.index)
    worst = table.loc[table["leaves"].idxmax()]
    row, name = place(worst, "label_noise", "ratio", "d"), "what leaving costs a constant, over the printed bound"
    found.number("probability of leaving the ball", worst["leaves"], table="outside", row=row, against=0.0)
    found.number(name, costs.max(), table="outside", against=1.0)
    found.number("mean squared norm of the target there", worst["spread"], table="outside", row=row, against=1.0)
    inside = fails[table["spread"] < 1]
    return found.ruling(not fails.any(), narrower=not inside.any())


@judges("dpgd/equation-d.157")
def equation_d157(found: Record) -> Ruling:
    """Is the measured Bayes risk the printed trace and not below the last line, or so with the half of both?"""
    bayes, name = found["bayes"], "Bayes risk over the printed trace"
    shares, errors = bayes["risk"] / bayes["trace"], bayes["standard_error"] / bayes["trace"]
    for (_, row), share, error in zip(bayes.iterrows(), shares, errors):
        found.number(name, share, table="bayes", row=place(row, "spectrum", "n"), against=0.5, error=error)
    last = (bayes["last"] / bayes["risk"]).max()
    found.number("last line over the Bayes risk, largest", last, table="bayes", against=1.0)
    risk, slack = bayes["risk"], CONSISTENT * bayes["standard_error"]
    whole, half = (
        bool(((risk - f * bayes["trace"]).abs() <= slack).all() and (f * bayes["last"] <= risk + slack).all())
        for f in (1.0, 0.5)
    )
    return found.ruling(whole, corrected=half)


@judges("dpgd/equation-d.160")
def equation_d160(found: Record) -> Ruling:
    """Below ρ = 1 the two privacy terms are of one order, above it both are below d/n."""
    orders, factor = found["orders"], math.e - 1
    small, large = orders[orders["rho"] < 1]["quotient"], orders[orders["rho"] > 1]
    least = found.number("least quotient below one", small.min(), table="orders", row="rho < 1", against=1.0)
    most = found.number("largest quotient below one", small.max(), table="orders", row="rho < 1", against=factor)
    name, term = "largest privacy term over d/n above one, for n = d", large[["first", "second"]].max(axis=None)
    above = found.number(name, term, table="orders", row="rho > 1", against=1.0)
    parted = least < 1 - ROUNDING or most > factor * (1 + ROUNDING) or above > 1 + ROUNDING
    return found.ruling(not parted, factor=factor)


# ---- How near numbers come on another machine ----

TOLERANCES: Declared = {"bounds": {"initial": SEARCHED, "offset": SEARCHED}}
