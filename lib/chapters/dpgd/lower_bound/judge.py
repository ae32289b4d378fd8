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
    FROM_DATA,
    FROM_TWIN,
    ISOTROPIC,
    PATHS,
    SECOND,
)
from companion.judging.findings import Number, Verdict
from companion.judging.growth import LOST_POWER, power, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, describe, select
from companion.judging.vocabulary import CONSISTENT, ROUNDING

# ---- Judges ----

CONVERTED = 0.25  # how far from 1 the power of log n may be for one logarithm
VERDICTS_SECOND = 2.0  # the order α that the proof uses
LOSES = "largest power of a size by which the printed rate outgrows the bound"
PAPER_NOISE = 0.3  # ζ of the paper's figures, for the numbers of a card


def place(row: pd.Series, *names: str) -> str:
    """Which row of its table it is, by the columns that single it out."""
    return describe({name: row[name] for name in names})


def steepest(powers: Mapping[str, float]) -> tuple[str, float]:
    """The largest of some powers, and in which rows it is: in the last of those that are equal up to rounding."""
    return max(reversed([*powers.items()]), key=lambda item: round(item[1], 12))


def lost(rows: pd.DataFrame, size: str, left: str, right: str) -> float:
    """The power of 1/size that left/right grows with towards small sizes."""
    return power(rows.assign(inverse=1 / rows[size]), "inverse", left, right)


def lost_far(far: pd.DataFrame, axes: Iterable[str], left: str, right: str) -> dict[str, float]:
    """The power lost towards small γ, or along ρ in either direction, on each axis and at each label noise."""
    found = {}
    for axis in axes:
        for noise, rows in select(far, axis=axis).groupby("label_noise"):
            along = [lost(rows, "gamma", left, right)]
            if axis == ALONG_RHO:
                along = [lost(rows, "rho", left, right), power(rows, "rho", left, right)]
            found[f"axis = {axis}, label_noise = {noise:g}"] = max(along)
    return found


def under_privacy(attack: pd.DataFrame) -> pd.DataFrame:
    """The rows of algorithms that are private."""
    return attack[attack["rho"] < math.inf]


@judges("dpgd/theorem-3")
def theorem_3(tables: Tables) -> Ruling:
    """Does the proven bound keep the powers of γ + γ²/ρ² wherever γ²/ρ² is bounded, and does nothing fall below it?"""
    axes = [*FAR_POWERS, ALONG_RHO]
    row, worst = steepest(lost_far(tables["far"], axes, "rate", "lower"))
    paper = select(tables["far"], label_noise=PAPER_NOISE)
    shares = (paper["lower"] / paper["rate"])[paper["axis"].isin(axes)]
    bounds = tables["bounds"]
    nearest = (bounds[["harmonic", "two_stage"]].min(axis=1) / bounds["lower"]).min()
    far = {
        LOSES: (worst, LOST_POWER, row),
        "least of the bound over the printed rate": (shares.min(), None, f"label_noise = {PAPER_NOISE:g}"),
    }
    reached = {"least risk of a private algorithm over the bound": (nearest, 1.0)}
    verdict = reads(printed=worst <= LOST_POWER and nearest >= 1)
    return Ruling(
        verdict, numbers("far", far) + numbers("bounds", reached, "DP-GD, and a pilot with one averaged step")
    )


@judges("dpgd/equation-5.26")
def equation_526(tables: Tables) -> Ruling:
    """Do the moments of L stay below the bound, the output drawn from the neighbour as in (D.122)?"""
    table = tables["likelihood"].assign(share=lambda t: t["value"] / t["bound"])
    drawn = select(table, law=FROM_TWIN)
    worst = drawn.loc[drawn["share"].idxmax()]
    other = select(table, law=FROM_DATA, order=VERDICTS_SECOND, mechanism=worst["mechanism"]).sort_values("rho").iloc[0]
    own = "second moment over the bound, drawn from the data's own release"
    named = {
        "largest moment over the bound": (worst["share"], 1.0, place(worst, "mechanism", "rho", "order")),
        own: (other["share"], 1.0, place(other, "law", "order", "rho")),
    }
    quoted = {"tried": drawn["mechanism"].nunique(), "closest": worst["mechanism"], "share": worst["share"]}
    return Ruling(reads(printed=worst["share"] <= 1 + ROUNDING), numbers("likelihood", named), quoted)


@judges("dpgd/equation-5.28")
def equation_528(tables: Tables) -> Ruling:
    """Is the summed attack of order d for every private algorithm, also for one that knows nothing?"""
    attack = tables["attack"]
    error, limit = CONSISTENT * attack["score_error"], error_limit(attack)
    silent = attack[(attack["score"] - error <= 0) & (attack["score"] + error < attack["whole"] / 2)]
    if silent.empty:
        share = (attack["score"] / attack["whole"]).min()
        return Ruling(Verdict.HOLDS, numbers("attack", {"least score over its largest": (share, 0.0)}))
    worst = silent.loc[silent["risk"].idxmax()]
    named = {
        "summed attack on the algorithm": {"value": worst["score"], "error": worst["score_error"], "against": 0.0},
        "its mean squared error": {"value": 2 * worst["risk"], "error": 2 * worst["risk_error"], "against": limit},
    }
    useful = 2 * (silent["risk"] + CONSISTENT * silent["risk_error"]) <= limit
    found = numbers("attack", named, place(worst, "algorithm", "n", "rho"))
    return Ruling(reads(printed=False, narrower=not useful.any()), found, {"algorithm": worst["algorithm"]})


def error_limit(attack: pd.DataFrame) -> float:
    """C = min(ζ²/2, 1/40) of the proof of Lemma D.6."""
    return min(float(attack["label_noise"].iloc[0]) ** 2 / 2, 1 / 40)


@judges("dpgd/equation-5.29")
def equation_529(tables: Tables) -> Ruling:
    """Does the Bayes risk's bound keep the powers of d²/{n²(e^{ρ²} − 1)}, and does no algorithm fall below?"""
    ruling, private = private_powers(tables, (*FAR_POWERS, ALONG_RHO)), under_privacy(tables["attack"])
    below = (private["risk"] + CONSISTENT * private["risk_error"] < private["lower"]).any()
    nearest = {
        "least simulated risk of a private algorithm over the bound": ((private["risk"] / private["lower"]).min(), 1.0)
    }
    found = ruling.numbers + numbers("attack", nearest, "rho finite")
    return Ruling(reads(printed=ruling.verdict == Verdict.HOLDS and not below), found)


def private_powers(tables: Tables, axes: Iterable[str]) -> Ruling:
    """The bound that the two sides of the attack leave against its printed order, along each axis."""
    far = tables["far"]
    row, worst = steepest(lost_far(far, axes, "private_rate", "private"))
    weaker = (far["private"] / far["lemma"]).min()
    named = {
        LOSES: (worst, LOST_POWER, row),
        "least of the bound over the one with the proof's constants": (weaker, 1.0),
    }
    return Ruling(reads(printed=worst <= LOST_POWER and not weaker < 1 - ROUNDING), numbers("far", named))


@judges("dpgd/section-5.2-zcdp")
def section_52_zcdp(tables: Tables) -> Ruling:
    """Does a bound for (ε, δ) lose one logarithm of n when it is applied to zCDP?"""
    table = tables["conversion"].sort_values("n")
    grows, last = power(table, "log_n", "lost", ""), table.iloc[-1]
    logarithms = last["lost"] / last["log_n"]
    named = {
        "power of log n in the loss": (grows, 1.0, "the largest n"),
        "loss over log n": (logarithms, 2.0, place(last, "n")),
    }
    verdict = reads(printed=not abs(grows - 1) > CONVERTED, decided=several(table["n"]))
    return Ruling(verdict, numbers("conversion", named), {"logarithms": logarithms})


def show_trend(powers: Mapping[str, float]) -> bool:
    """Whether there are powers, each fitted to two sizes at least."""
    return bool(powers) and not any(map(math.isnan, powers.values()))


@judges("dpgd/section-8-optimality")
def section_8_optimality(tables: Tables) -> Ruling:
    """Does DP-GD stay within a constant of the lower bound on every path to small γ, and along ρ?"""
    bounds = select(tables["bounds"], start=BALL)
    paths = bounds[bounds["path"].isin(list(PATHS))].groupby(["path", "spectrum"], sort=False)
    powers = {
        f"path = {path}, spectrum = {spectrum}": lost(rows, "gamma", "harmonic", "lower")
        for (path, spectrum), rows in paths
    }
    if not show_trend(powers):
        return Ruling(Verdict.UNTESTABLE)
    row, worst = steepest(powers)
    slow = select(bounds, path=next(iter(PATHS)), spectrum=ISOTROPIC).sort_values("gamma").iloc[0]
    largest = bounds[bounds["path"] != ALONG_NOISE]["factor"].max()
    named = {
        "largest power of 1/γ in the ratio of risk and bound": (worst, LOST_POWER, row),
        "risk over bound at constant ρ and the smallest γ": (slow["factor"], 1.0, place(slow, "path", "gamma")),
        "largest risk over bound": (largest, 1.0, "all but along the label noise"),
    }
    quoted = {"largest": largest, "slow": slow["factor"]}
    return Ruling(reads(printed=worst <= LOST_POWER), numbers("bounds", named), quoted)


@judges("dpgd/section-8-label-noise")
def section_8_label_noise(tables: Tables) -> Ruling:
    """At each constant ζ, are both bounds of the printed order; and what becomes of them as ζ falls?"""
    rows = select(tables["bounds"], path=ALONG_NOISE)
    sides = {"harmonic": ("harmonic", "rate"), "lower": ("rate", "lower")}
    powers = {
        f"{name}, label_noise = {noise:g}": lost(part, "gamma", *columns)
        for noise, part in rows.groupby("label_noise")
        for name, columns in sides.items()
    }
    if not show_trend(powers):
        return Ruling(Verdict.UNTESTABLE)
    row, worst = steepest(powers)
    end = select(rows, gamma=rows["gamma"].min())
    reached, proven = (power(end, "label_noise", name, "rate", last=len(end)) for name in sides)
    named = {
        "largest power of 1/γ by which a bound leaves the order": (worst, LOST_POWER, row),
        "power of the label noise in what DP-GD reaches": (reached, 2.0, "the smallest gamma"),
        "power of the label noise in the lower bound": (proven, 2.0, "the smallest gamma"),
    }
    return Ruling(reads(printed=worst <= LOST_POWER), numbers("bounds", named), {"power": proven})


# ---- Proof ----
# Verdicts on Lemmas D.6 to D.8 and on the displays of Appendix D.4 of arXiv:2505.16329v2.


@judges("dpgd/lemma-d.6")
def lemma_d6(tables: Tables) -> Ruling:
    """(D.140) and (D.126) for every algorithm, and the prior on which they rest."""
    attack, prior = tables["attack"], tables["prior"]
    limit, error = error_limit(attack), CONSISTENT * attack["score_error"]
    scores = (attack["score"] - attack["least_score"]) / attack["score_error"]
    wrong = (prior["value"].abs() - prior["printed"].abs()).abs().max()
    escapes = (attack["score"] + error < limit * attack["d"]) & (2 * attack["risk"] <= limit)
    row = place(attack.loc[scores.idxmin()], "algorithm", "n", "rho")
    attacked = {
        "least excess of a score over (D.140), in standard errors": (scores.min(), -CONSISTENT, row),
        "algorithms that escape both alternatives": (escapes.sum(), 0.0),
    }
    moments = {"largest error of a moment of the prior": (wrong, ROUNDING, "sign aside")}
    found = numbers("attack", attacked) + numbers("prior", moments)
    fails = wrong > ROUNDING or scores.min() < -CONSISTENT or escapes.any()
    return Ruling(reads(printed=not fails), found, {"tried": attack["algorithm"].nunique()})


@judges("dpgd/lemma-d.7")
def lemma_d7(tables: Tables) -> Ruling:
    """As (5.29), and with a least eigenvalue as small as its condition allows."""
    return private_powers(tables, (*FAR_POWERS, ALONG_RHO, "along the smallest eigenvalue"))


@judges("dpgd/lemma-d.8")
def lemma_d8(tables: Tables) -> Ruling:
    """Does a bound with every constant keep d/n, at constant n/d, at n = d² and as n grows alone?"""
    least = (tables["lemma"]["lower"] / tables["lemma"]["rate"]).min()
    powers = {
        f"axis = {axis}, label_noise = {noise:g}": power(rows, "n", "rate", "lower") if least > 0 else math.inf
        for (axis, noise), rows in tables["lemma"].groupby(["axis", "label_noise"], sort=False)
    }
    row, worst = steepest(powers)
    named = {
        "largest power of n by which d/n outgrows the bound": (worst, LOST_POWER, row),
        "least of the bound over d/n": least,
    }
    return Ruling(reads(printed=worst <= LOST_POWER), numbers("lemma", named))


@judges("dpgd/equation-d.122")
def equation_d122(tables: Tables) -> Ruling:
    """Can the densities of (D.122) be averaged over the data, so that L = 1? Does (D.123) hold given the data?"""
    private = under_privacy(tables["attack"])
    scores = private["score"] / private["score_error"]
    worst = private.loc[scores.idxmax()]
    unseen = (tables["attack"]["fresh"] / tables["attack"]["fresh_error"]).abs().max()
    drawn = select(tables["likelihood"], law=FROM_TWIN)
    moment = (drawn["value"] / drawn["bound"]).max()
    named = {
        "mean attack, summed": {"value": worst["score"], "error": worst["score_error"], "against": 0.0},
        "the same on fresh records": {"value": worst["fresh"], "error": worst["fresh_error"], "against": 0.0},
    }
    found = numbers("attack", named, place(worst, "algorithm", "n", "rho"))
    found += numbers("attack", {"largest on fresh records, in standard errors": (unseen, CONSISTENT)})
    found += numbers("likelihood", {"largest moment given the data over the bound of (D.123)": (moment, 1.0)})
    given = unseen <= CONSISTENT and moment <= 1 + ROUNDING
    return Ruling(reads(printed=scores.max() <= CONSISTENT, corrected=given), found, {"measured": worst["score"]})


@judges("dpgd/equation-d.134")
def equation_d134(tables: Tables) -> Ruling:
    """The two moments of π'/π, by quadrature."""
    first, second = (select(tables["prior"], quantity=name) for name in (FIRST, SECOND))
    named = {
        "minus the mean of z times π'/π": (first["value"].iloc[-1], first["printed"].iloc[-1], f"quantity = {FIRST}"),
        "mean square of π'/π over d": (second["value"].iloc[-1], second["printed"].iloc[-1], f"quantity = {SECOND}"),
    }
    wrong = (second["value"] - second["printed"]).abs().max() > ROUNDING
    same = (first["value"] - first["printed"]).abs().max() <= ROUNDING
    turned = (first["value"] + first["printed"]).abs().max() <= ROUNDING
    return Ruling(reads(printed=same and not wrong, corrected=turned and not wrong), numbers("prior", named))


@judges("dpgd/equation-d.144")
def equation_d144(tables: Tables) -> Ruling:
    """Is the score below what the first record alone would allow? And below what all records allow?"""
    chain = tables["chain"]
    sure = chain["score"] - CONSISTENT * chain["score_error"]
    excess = sure / (chain["first"] + CONSISTENT * chain["first_error"])
    beyond = (sure / chain[["each", "most"]].min(axis=1)).max() > 1
    worst = chain.loc[(chain["score"] / chain["first"]).idxmax()]
    first = "what the first record's likelihood ratio allows"
    named = {
        "summed attack, mean": {"value": worst["score"], "error": worst["score_error"], "against": worst["first"]},
        first: {"value": worst["first"], "error": worst["first_error"]},
        "what each record's own allows": (worst["each"], worst["score"]),
    }
    quoted = {"multiple": worst["multiple"], "times": worst["score"] / worst["first"]}
    verdict = reads(printed=excess.max() <= 1 and not beyond, corrected=not beyond)
    return Ruling(verdict, numbers("chain", named, place(worst, "n", "rho", "multiple")), quoted)


def _broken(outside: pd.DataFrame) -> pd.Series:
    """Whether leaving the ball costs more than printed, or does not become rarer with d."""
    leaves = outside.sort_values("d").groupby(["label_noise", "ratio"])["leaves"]
    first, last = leaves.transform("first"), leaves.transform("last")
    stays = ((first > 0) & (last >= first)).reindex(outside.index)
    return (_costs(outside) > 1 + ROUNDING) | stays


def _costs(outside: pd.DataFrame) -> pd.Series:
    """What leaving the ball costs a constant, over the printed bound."""
    return outside["cost"] / outside["printed"].where(outside["printed"] > 0, math.inf)


@judges("dpgd/equation-d.156")
def equation_d156(tables: Tables) -> Ruling:
    """Does leaving the ball cost so little, and is it so rare, for every constant label noise?"""
    table = tables["outside"]
    fails, inside = _broken(table), table["spread"] < 1
    worst = table.loc[table["leaves"].idxmax()]
    row = place(worst, "label_noise", "ratio", "d")
    named = {
        "probability of leaving the ball": (worst["leaves"], 0.0, row),
        "what leaving costs a constant, over the printed bound": (_costs(table).max(), 1.0),
        "mean squared norm of the target there": (worst["spread"], 1.0, row),
    }
    verdict = reads(printed=not fails.any(), narrower=not fails[inside].any())
    return Ruling(verdict, numbers("outside", named), {"leaves": worst["leaves"]})


@judges("dpgd/equation-d.157")
def equation_d157(tables: Tables) -> Ruling:
    """Is the measured Bayes risk the printed trace and not below the last line, or so with the half of both?"""
    bayes = tables["bayes"]
    shares, errors = bayes["risk"] / bayes["trace"], bayes["standard_error"] / bayes["trace"]
    rows = [place(row, "spectrum", "n") for _, row in bayes.iterrows()]
    found = tuple(
        Number("Bayes risk over the printed trace", share, error, 0.5, "bayes", row)
        for share, error, row in zip(shares, errors, rows)
    )
    last = {"last line over the Bayes risk, largest": ((bayes["last"] / bayes["risk"]).max(), 1.0)}
    risk, slack = bayes["risk"], CONSISTENT * bayes["standard_error"]
    whole, half = (
        bool(((risk - f * bayes["trace"]).abs() <= slack).all() and (f * bayes["last"] <= risk + slack).all())
        for f in (1.0, 0.5)
    )
    return Ruling(reads(printed=whole, corrected=half), found + numbers("bayes", last))


@judges("dpgd/equation-d.160")
def equation_d160(tables: Tables) -> Ruling:
    """Below ρ = 1 the two privacy terms are of one order, above it both are below d/n."""
    orders = tables["orders"]
    small, large = orders[orders["rho"] < 1]["quotient"], orders[orders["rho"] > 1]
    most = large[["first", "second"]].max(axis=None)
    named = {
        "least quotient below one": (small.min(), 1.0, "rho < 1"),
        "largest quotient below one": (small.max(), math.e - 1, "rho < 1"),
        "largest privacy term over d/n above one, for n = d": (most, 1.0, "rho > 1"),
    }
    parted = small.min() < 1 - ROUNDING or small.max() > (math.e - 1) * (1 + ROUNDING) or most > 1 + ROUNDING
    return Ruling(reads(printed=not parted), numbers("orders", named), {"factor": math.e - 1})
