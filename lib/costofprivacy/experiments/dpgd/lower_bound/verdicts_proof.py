"""Verdicts on Lemmas D.6 to D.8 and on the displays of Appendix D.4 of arXiv:2505.16329v2."""

from __future__ import annotations

import math

import pandas as pd

from costofprivacy.experiments.dpgd.lower_bound.optimality import ALONG_RHO, FAR_POWERS
from costofprivacy.experiments.dpgd.lower_bound.steps import FIRST, SECOND
from costofprivacy.experiments.dpgd.lower_bound.verdicts import ROUNDING, error_limit, private_powers
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import LOST_POWER, power
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, describe, select
from costofprivacy.judging.vocabulary import CONSISTENT


@judges("dpgd/lemma-d.6")
def lemma_d6(tables: Tables) -> Finding:
    """(D.140) and (D.126) for every algorithm, and the prior on which they rest."""
    attack, prior = tables["attack"], tables["prior"]
    limit = error_limit(attack)
    error = CONSISTENT * attack["score_error"]
    scores = (attack["score"] - attack["least_score"]) / attack["score_error"]
    wrong = (prior["value"].abs() - prior["printed"].abs()).abs().max()
    escapes = (attack["score"] + error < limit * attack["d"]) & (2 * attack["risk"] <= limit)
    worst = attack.loc[scores.idxmin()]
    row = describe({name: worst[name] for name in ("algorithm", "n", "rho")})
    numbers = (
        Number("least excess of a score over (D.140), in standard errors", scores.min(), None, -CONSISTENT, "attack",
               row),
        Number("algorithms that escape both alternatives", escapes.sum(), None, 0.0, "attack", "all"),
        Number("largest error of a moment of the prior", wrong, None, ROUNDING, "prior", "sign aside"),
    )  # fmt: skip
    change = "An algorithm of small squared error whose summed attack is small as well."
    if wrong > ROUNDING:
        headline = f"A moment of the prior is off by {compact(wrong)}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)
    if scores.min() < -CONSISTENT or escapes.any():
        headline = f"The algorithm {worst['algorithm']} is traced less than the lemma says."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        f"All {attack['algorithm'].nunique()} algorithms tried either err by more than the lemma's constant or are "
        "traced at least as well as it says."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/lemma-d.7")
def lemma_d7(tables: Tables) -> Finding:
    """As (5.29), and with a least eigenvalue as small as its condition allows."""
    axes = (*FAR_POWERS, ALONG_RHO, "along the smallest eigenvalue")
    return private_powers(tables, axes, "a least eigenvalue down to what the condition allows")


@judges("dpgd/lemma-d.8")
def lemma_d8(tables: Tables) -> Finding:
    """Does a bound with every constant keep d/n, at constant n/d, at n = d² and as n grows alone?"""
    least = (tables["lemma"]["lower"] / tables["lemma"]["rate"]).min()
    powers = {
        f"axis = {axis}, label_noise = {noise:g}": power(rows, "n", "rate", "lower") if least > 0 else math.inf
        for (axis, noise), rows in tables["lemma"].groupby(["axis", "label_noise"], sort=False)
    }
    row, worst = max(powers.items(), key=lambda item: item[1])
    numbers = (
        Number("largest power of n that the bound loses", worst, None, 0.0, "lemma", row),
        Number("least of the bound over d/n", least, None, None, "lemma", "all"),
    )
    change = "Sizes along which the bound falls faster than $d/n$."
    if least <= 0:
        headline = "Somewhere the bound is not positive and says nothing."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if not worst <= LOST_POWER:
        headline = f"The bound loses the power {worst:.2f} of the number of records against $d/n$."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = "By another proof the bound holds with every constant, and for any number of records."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/equation-d.122")
def equation_d122(tables: Tables) -> Finding:
    """Can the densities of (D.122) be averaged over the data? Both data sets have one law, so that L = 1 then."""
    attack = tables["attack"]
    private = attack[attack["rho"] < math.inf]
    scores = private["score"] / private["score_error"]
    worst = private.loc[scores.idxmax()]
    row = describe({name: worst[name] for name in ("algorithm", "n", "rho")})
    numbers = (
        Number("mean attack, summed", worst["score"], worst["score_error"], 0.0, "attack", row),
        Number("the same on fresh records", worst["fresh"], worst["fresh_error"], 0.0, "attack", row),
    )
    change = "A reading of the definition under which (D.142) and (D.123) hold with densities averaged over the data."
    if scores.max() <= CONSISTENT:
        headline = "No private algorithm's summed attack differs from zero, as densities averaged over the data imply."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = (
        "Averaged over the data, both densities are equal and every attack would have mean zero; measured, one has "
        f"{compact(worst['score'])}."
    )
    correction = (
        r"Densities of $\mathcal{M}(D)$ and $\mathcal{M}(D'_i)$ given $D$ and $D'_i$, with the randomness of "
        r"$\mathcal{M}$ alone; expectations over the data come after."
    )
    return Finding(Verdict.CORRECTED, headline, numbers, correction=correction, would_change=change)


@judges("dpgd/equation-d.134")
def equation_d134(tables: Tables) -> Finding:
    """The two moments of π'/π, by quadrature."""
    prior = tables["prior"]
    first, second = select(prior, quantity=FIRST), select(prior, quantity=SECOND)
    numbers = (
        Number("minus the mean of z times π'/π", first["value"].iloc[-1], None, first["printed"].iloc[-1], "prior",
               f"quantity = {FIRST}"),
        Number("mean square of π'/π over d", second["value"].iloc[-1], None, second["printed"].iloc[-1], "prior",
               f"quantity = {SECOND}"),
    )  # fmt: skip
    change = "Another value of one of the moments."
    same = (first["value"] - first["printed"]).abs().max() <= ROUNDING
    turned = (first["value"] + first["printed"]).abs().max() <= ROUNDING
    if (second["value"] - second["printed"]).abs().max() > ROUNDING or not (same or turned):
        headline = f"A moment differs from the printed one: {compact(first['value'].iloc[-1])} for the first."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.NUMBERS, would_change=change)
    if same:
        headline = "Both moments are as printed, at every dimension tried."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = "Both moments have the printed size, and the first has one minus sign too many."
    correction = r"$-\mathbb{E}[z\,\pi_j'(z)/\pi_j(z)] = 1$, as (D.138) uses it."
    return Finding(Verdict.CORRECTED, headline, numbers, correction=correction, would_change=change)


@judges("dpgd/equation-d.144")
def equation_d144(tables: Tables) -> Finding:
    """Is the score below what the first record alone would allow? And below what all records allow?"""
    chain = tables["chain"]
    error = CONSISTENT * chain["score_error"]
    excess = (chain["score"] - error) / (chain["first"] + CONSISTENT * chain["first_error"])
    beyond = (chain["score"] - error) / chain[["each", "most"]].min(axis=1)
    worst = chain.loc[(chain["score"] / chain["first"]).idxmax()]
    row = describe({name: worst[name] for name in ("n", "rho", "multiple")})
    numbers = (
        Number("mean score", worst["score"], worst["score_error"], worst["first"], "chain", row),
        Number("what the first record's likelihood ratio allows", worst["first"], worst["first_error"], None, "chain",
               row),
        Number("what each record's own allows", worst["each"], None, worst["score"], "chain", row),
    )  # fmt: skip
    change = "An argument that records which an algorithm treats unequally have likelihood ratios of one size."
    if beyond.max() > 1:
        headline = "A mean score exceeds what the inequality of Cauchy and Schwarz allows record by record."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if excess.max() <= 1:
        headline = "The mean score never exceeds what the first record's likelihood ratio allows."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    times = compact(worst["score"] / worst["first"])
    headline = (
        f"DP-GD at {compact(worst['multiple'])} times its best learning rate has {times} "
        "times the score that the first record's likelihood ratio allows."
    )
    correction = (
        r"$\sqrt{e^{\rho^2} - 1}$ in the place of $\sqrt{\mathbb{E}[(L_1 - 1)^2]}$: (D.145) bounds the likelihood "
        "ratio of every record, also of those that an algorithm treats unequally."
    )
    return Finding(Verdict.CORRECTED, headline, numbers, correction=correction, would_change=change)


@judges("dpgd/equation-d.156")
def equation_d156(tables: Tables) -> Finding:
    """Does leaving the ball cost so little, and is it so rare, for every constant label noise?"""
    table = tables["outside"].assign(share=lambda t: t["cost"] / t["printed"].where(t["printed"] > 0, math.inf))
    broken = table["share"] > 1 + ROUNDING
    for _, rows in table.sort_values("d").groupby(["label_noise", "ratio"]):
        first, last = rows["leaves"].iloc[[0, -1]]
        if last >= first > 0:
            broken.loc[rows.index] = True
    change = "A bound on what leaving the ball costs that holds whatever the label noise."
    inside = table["spread"] < 1
    worst = table.loc[table["leaves"].idxmax()]
    row = describe({name: worst[name] for name in ("label_noise", "ratio", "d")})
    numbers = (
        Number("probability of leaving the ball", worst["leaves"], None, 0.0, "outside", row),
        Number("what leaving costs a constant, over the printed bound", table["share"].max(), None, 1.0, "outside",
               "all"),
        Number("mean squared norm of the target there", worst["spread"], None, 1.0, "outside", row),
    )  # fmt: skip
    if not broken.any():
        headline = "Leaving the ball is exponentially rare and costs no more than printed."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if broken[inside].any():
        headline = "Even with a prior well inside the ball, leaving it is not rare or costs more than printed."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        "With strong label noise the Gaussian prior leaves the unit ball: with probability "
        f"{compact(worst['leaves'])} at the strongest noise tried."
    )
    correction = (
        r"For $\zeta^2 < 2\lambda_{\max}\,n/d$, with a constant below it; excluded is stronger label noise. A prior of "
        r"variance $\min\{\zeta^2/(\lambda n), 1/(4d)\}$ needs no such condition."
    )
    return Finding(Verdict.NARROWER, headline, numbers, correction=correction, would_change=change)


@judges("dpgd/equation-d.157")
def equation_d157(tables: Tables) -> Finding:
    """The measured Bayes risk over the printed trace: 1, or the half that belongs to the risk?"""
    bayes = tables["bayes"].assign(
        share=lambda t: t["risk"] / t["trace"], error=lambda t: t["standard_error"] / t["trace"]
    )
    numbers = [
        Number("Bayes risk over the printed trace", row["share"], row["error"], 0.5, "bayes",
               describe({name: row[name] for name in ("spectrum", "n")}))
        for _, row in bayes.iterrows()
    ]  # fmt: skip
    numbers.append(
        Number(
            "last line over the Bayes risk, largest", (bayes["last"] / bayes["risk"]).max(), None, 1.0, "bayes", "all"
        )
    )
    change = "A Bayes risk of another size than half the printed trace."

    def fits(value: float) -> bool:
        return bool(((bayes["share"] - value).abs() <= CONSISTENT * bayes["error"]).all())

    if fits(1.0):
        headline = "The Bayes risk is the printed trace, within its error."
        return Finding(Verdict.HOLDS, headline, tuple(numbers), would_change=change)
    if fits(0.5):
        headline = "The Bayes risk is half the printed trace: the factor in the definition of the risk was left out."
        correction = (
            r"$\zeta^2/(2n)$ in the place of $\zeta^2/n$ from the second line on, and "
            r"$\zeta^2 d/(8\lambda_{\max}n)$ at the end."
        )
        return Finding(Verdict.CORRECTED, headline, tuple(numbers), Consequence.NUMBERS, correction, change)
    headline = f"The Bayes risk is {compact(bayes['share'].mean())} times the printed trace."
    return Finding(Verdict.FAILS, headline, tuple(numbers), Consequence.NUMBERS, would_change=change)


@judges("dpgd/equation-d.160")
def equation_d160(tables: Tables) -> Finding:
    """Below ρ = 1 the two privacy terms are of one order, above it both are below d/n."""
    orders: pd.DataFrame = tables["orders"]
    small, large = orders[orders["rho"] < 1], orders[orders["rho"] > 1]
    most = large[["first", "second"]].max(axis=None)
    numbers = (
        Number("least quotient below one", small["quotient"].min(), None, 1.0, "orders", "rho < 1"),
        Number("largest quotient below one", small["quotient"].max(), None, math.e - 1, "orders", "rho < 1"),
        Number("largest privacy term over d/n above one, for n = d", most, None, 1.0, "orders", "rho > 1"),
    )
    change = "A value of $\\rho$ at which the terms compare otherwise."
    if small["quotient"].min() < 1 - ROUNDING or small["quotient"].max() > math.e or most > 1 + ROUNDING:
        headline = "A comparison of the two privacy terms is broken at some privacy parameter."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        "Where privacy counts, the two forms of its term differ by a factor of at most "
        f"{compact(small['quotient'].max())}."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
