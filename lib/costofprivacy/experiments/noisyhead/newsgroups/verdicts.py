"""Verdicts on Figure 6 and on what section 7 of arXiv:2504.16000v2 concludes of early stopping."""

from __future__ import annotations

import math

from costofprivacy.experiments.noisyhead.newsgroups import judging
from costofprivacy.experiments.noisyhead.newsgroups.runs import ALONG
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact, times
from costofprivacy.judging.tables import Tables, select
from costofprivacy.judging.vocabulary import CONSISTENT
from costofprivacy.noisyhead.accounts import ALGORITHM, EVERY, LAST

NEAR = 3.0  # a factor within which two numbers of steps are one prediction
NUMBERS, CONCLUSION = Consequence.NUMBERS, Consequence.CONCLUSION


@judges("noisyhead/figure-6")
@judging.on_newsgroups
def figure_6(tables: Tables) -> Finding:
    """Does NoisyHead's risk first hold or fall and then rise while descent settles, in every reading of the text?"""
    shapes = judging.as_printed(tables["shapes"])
    seen = judging.has_shape(shapes)
    first, row = judging.base(shapes), judging.row_of(judging.base(shapes))
    numbers = (
        Number("readings with the figure's shape", seen.sum(), None, len(seen), "shapes", f"account = {ALGORITHM}"),
        Number("excess risk at the first T", first["first"], None, None, "shapes", row),
        Number("least excess risk", first["least"], None, first["first"], "shapes", row),
        Number("excess risk at the last T", first["last"], None, first["least"], "shapes", row),
        Number("rise from the least, in standard errors", first["rise"], None, CONSISTENT, "shapes", row),
        Number("excess risk of answering 0", first["zero"], None, first["least"], "shapes", row),
    )
    change = "The authors' settings, if under them the risk rises at once, or a reading in which the shape is gone."
    if seen.all():
        headline = f"All {len(seen)} readings of the settings that the text leaves open give the figure's shape."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if not seen.any():
        headline = f"None of {len(seen)} readings of the settings that the text leaves open gives the figure's shape."
        return Finding(Verdict.FAILS, headline, numbers, CONCLUSION, would_change=change)
    headline = f"The figure's shape comes out in {seen.sum()} of {len(seen)} readings of the settings left open."
    condition = (
        f"It is seen, one choice at a time from the first reading, as follows. {judging.by_choice(shapes, seen)}"
    )
    return Finding(Verdict.NARROWER, headline, numbers, CONCLUSION, condition, change)


@judges("noisyhead/section-7-early-stopping")
@judging.on_newsgroups
def early_stopping(tables: Tables) -> Finding:
    """Is stopping early needed in the figure, and is it still where the same budget is counted exactly?"""
    rows = judging.own(tables["shapes"], "account").set_index("account")
    cost = rows["last"] / rows["least"]
    needed = judging.worsens(rows)
    every = tables["shapes"][tables["shapes"]["account"] == EVERY]
    numbers = (
        *(Number(f"risk at the last T over the least, {account}", cost[account], None, judging.HELD, "shapes",
                 f"account = {account}") for account in (ALGORITHM, EVERY, LAST, ALONG)),
        Number("readings that still worsen, counted exactly", judging.worsens(every).sum(), None, len(every), "shapes",
               f"account = {EVERY}"),
    )  # fmt: skip
    change = "An exact account of the figure's budget under which its risk rises, too."
    if not needed[ALGORITHM]:
        headline = "The risk does not end beyond doubt above its least: nothing is gained by stopping early."
        return Finding(Verdict.FAILS, headline, numbers, CONCLUSION, would_change=change)
    if needed[[EVERY, LAST]].all():
        headline = (
            f"Going on ends at {times(cost[ALGORITHM])} the least risk, and at {times(cost[EVERY])} where privacy is "
            "counted exactly."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    best = f"it ends at {times(cost[EVERY])}" if cost[EVERY] > 1 else "the last step is best"
    going_on = times(cost[ALGORITHM])
    headline = f"As Algorithm 1 counts privacy, going on ends at {going_on} the least risk; counted exactly, {best}."
    condition = (
        "Under Algorithm 1's own account, where a step's noise grows with $T$. This excludes exact composition of the "
        f"same $(\\varepsilon, \\delta)$, where $T = {rows['best_T'][EVERY]}$ is best of the figure's."
    )
    return Finding(Verdict.NARROWER, headline, numbers, CONCLUSION, condition, change)


@judges("noisyhead/section-7-descent")
@judging.on_newsgroups
def descent(tables: Tables) -> Finding:
    """Does descent without noise come ever nearer to the ridge solution, in every reading?"""
    shapes = judging.as_printed(tables["shapes"])
    each = shapes.drop_duplicates([name for name in judging.CHOICES if name != "epsilon"])
    seen, first = judging.settles(each), judging.base(shapes)
    numbers = (
        Number("readings in which descent settles", seen.sum(), None, len(seen), "shapes", f"account = {ALGORITHM}"),
        Number("its risk at the first T", first["descent_first"], None, None, "shapes", judging.row_of(first)),
        Number("its risk at the last T", first["descent_last"], None, first["descent_first"], "shapes",
               judging.row_of(first)),
    )  # fmt: skip
    change = "A reading in which descent does not settle, or settings of the authors under which it does."
    if seen.all():
        headline = f"Descent without noise settles in all {len(seen)} readings of the settings left open."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if not seen.iloc[0]:
        headline = "Descent without noise does not come nearer to the ridge solution, even in the figure's own reading."
        return Finding(Verdict.FAILS, headline, numbers, CONCLUSION, would_change=change)
    headline = f"Descent without noise settles in {seen.sum()} of {len(seen)} readings of the settings left open."
    condition = (
        r"A learning rate below $2/(2\lambda + h)$, $h$ the largest eigenvalue of $N^{-1}\sum_k ZZ^\top$, and steps "
        f"enough to settle. {judging.by_choice(each, seen)}"
    )
    return Finding(Verdict.NARROWER, headline, numbers, NUMBERS, condition, change)


@judges("noisyhead/section-7-accumulation")
@judging.on_newsgroups
def accumulation(tables: Tables) -> Finding:
    """Of the growth of the noise's part, which share is the adding up of steps, and which the growing noise of each?"""
    rows = select(tables["noise-parts"], account=ALGORITHM).sort_values("T")
    grown = {name: float(rows[name].iloc[-1] / rows[name].iloc[0]) for name in ("step_variance", "accumulated")}
    share = math.log(grown["accumulated"]) / sum(math.log(value) for value in grown.values())
    along = judging.own(tables["shapes"], "account").set_index("account").loc[ALONG]
    ends = f"T = {rows['T'].iloc[0]}, {rows['T'].iloc[-1]}"
    numbers = (
        Number("growth of a step's variance", grown["step_variance"], None, grown["accumulated"], "noise-parts", ends),
        Number("growth by adding steps up", grown["accumulated"], None, grown["step_variance"], "noise-parts", ends),
        Number("share of adding up in the growth's logarithm", share, None, 0.5, "noise-parts", ends),
        Number("risk at the last T over the least, same noise in every step", along["last"] / along["least"], None,
               judging.HELD, "shapes", f"account = {ALONG}"),
    )  # fmt: skip
    change = "Noise of one size at every $T$ that adds up to most of the growth."
    if share >= 0.5:
        headline = (
            f"Adding up steps multiplies the noise's variance by {compact(grown['accumulated'])}: most of its growth."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if grown["accumulated"] <= 1:
        headline = "Noise does not add up over the steps; it grows because each step is given more of it."
        return Finding(Verdict.FAILS, headline, numbers, NUMBERS, would_change=change)
    headline = (
        f"Adding up multiplies the noise by {compact(grown['accumulated'])}; giving each step more of it, by "
        f"{compact(grown['step_variance'])}."
    )
    correction = (
        "The degradation stems mostly from the noise of each step, whose standard deviation Algorithm 1 makes "
        "proportional to $T$, and then from its accumulation."
    )
    return Finding(Verdict.CORRECTED, headline, numbers, NUMBERS, correction, change)


@judges("noisyhead/section-7-agreement")
@judging.on_newsgroups
def agreement(tables: Tables) -> Finding:
    """Is (4.2) a bound here, and does it put the best number of steps where it is?"""
    bound = tables["bound"].sort_values("T")
    right = bound["descent_42"] + bound["noise_42"]
    ratio = bound["excess_risk"] / right
    best, said = int(bound.loc[bound["excess_risk"].idxmin(), "T"]), int(bound["bound_best_T"].iloc[0])
    numbers = (
        Number("risk over the right side of (4.2), at most", ratio.max(), None, 1.0, "bound"),
        Number("best T of the right side", said, None, best, "bound"),
        Number("best T of the figure's", best, None, said, "bound"),
        Number("fall of the right side over the figure", right.iloc[0] / right.iloc[-1], None, 1.0, "bound"),
    )
    change = "Constants in (4.2) that put its least value where the risk has it."
    if (ratio > 1).any() and (bound["excess_risk"] - CONSISTENT * bound["standard_error"] > right).any():
        headline = f"The risk is above the theorem's bound, by {times(ratio.max())} at worst."
        return Finding(Verdict.FAILS, headline, numbers, CONCLUSION, would_change=change)
    if 1 / NEAR <= said / best <= NEAR:
        headline = f"The bound is kept, and is least at {said} steps; the risk is least at {best}."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = f"The theorem's bound is kept, but it puts the best number of steps at {said}; measured it is {best}."
    condition = (
        f"As an upper bound alone: the risk is at most {compact(ratio.max())} of it, and where it turns is not where "
        "the risk does. The trade-off has the theorem's two parts, not their sizes."
    )
    return Finding(Verdict.NARROWER, headline, numbers, CONCLUSION, condition, change)
