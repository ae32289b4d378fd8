"""Verdicts on Lemmas D.6 to D.8 and on the displays of Appendix D.4 of arXiv:2505.16329v2."""

import math

import pandas as pd

from chapters.dpgd.lower_bound.optimality import ALONG_RHO, FAR_POWERS
from chapters.dpgd.lower_bound.steps import FIRST, FROM_TWIN, SECOND
from chapters.dpgd.lower_bound.verdicts import error_limit, place, private_powers, steepest, under_privacy
from companion.judging.findings import Number
from companion.judging.growth import LOST_POWER, power
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT, ROUNDING


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
    """The measured Bayes risk over the printed trace: 1, or the half that belongs to the risk?"""
    bayes = tables["bayes"]
    shares, errors = bayes["risk"] / bayes["trace"], bayes["standard_error"] / bayes["trace"]
    rows = [place(row, "spectrum", "n") for _, row in bayes.iterrows()]
    found = tuple(
        Number("Bayes risk over the printed trace", share, error, 0.5, "bayes", row)
        for share, error, row in zip(shares, errors, rows)
    )
    last = {"last line over the Bayes risk, largest": ((bayes["last"] / bayes["risk"]).max(), 1.0)}
    whole, half = (((shares - size).abs() <= CONSISTENT * errors).all() for size in (1.0, 0.5))
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
