"""Verdicts on Figure 6 and on what section 7 of arXiv:2504.16000v2 concludes of early stopping."""

import math

from chapters.noisyhead.newsgroups import judging
from chapters.noisyhead.newsgroups.runs import ALONG
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT, ON_A_PAR
from costofprivacy.noisyhead.accounts import ALGORITHM, EVERY, LAST

HALF = 0.5  # part of the growth from which on something is its cause


@judges("noisyhead/figure-6")
@judging.on_newsgroups
def figure_6(tables: Tables) -> Ruling:
    """With the settings of Section 6.2, does the risk hold or fall and then rise, while descent settles?"""
    shapes = judging.as_printed(tables["shapes"])
    seen, first = judging.has_shape(shapes), judging.base(shapes)
    named = {
        "settings with the figure's shape": (seen.sum(), len(seen), f"account = {ALGORITHM}"),
        "excess risk at the first T": first["first"],
        "least excess risk": (first["least"], first["first"]),
        "excess risk at the last T": (first["last"], first["least"]),
        "rise from the least, in standard errors": (first["rise"], CONSISTENT),
        "excess risk of answering 0": (first["zero"], first["least"]),
    }
    verdict = reads(printed=seen.iloc[0], narrower=seen.any())
    quoted = {"seen": seen.sum(), "settings": len(seen)}
    return Ruling(verdict, numbers("shapes", named, judging.row_of(first)), quoted)


@judges("noisyhead/section-7-early-stopping")
@judging.on_newsgroups
def early_stopping(tables: Tables) -> Ruling:
    """Is stopping early needed in the figure, and is it still where the same budget is counted exactly?"""
    rows = judging.own(tables["shapes"], "account").set_index("account")
    cost, needed = rows["last"] / rows["least"], judging.worsens(rows)
    every = tables["shapes"][tables["shapes"]["account"] == EVERY]
    named = {
        f"risk at the last T over the least, {account}": (cost[account], ON_A_PAR, f"account = {account}")
        for account in (ALGORITHM, EVERY, LAST, ALONG)
    }
    worse = {"settings with which it still rises, counted exactly": (judging.worsens(every).sum(), len(every))}
    found = (*numbers("shapes", named), *numbers("shapes", worse, f"account = {EVERY}"))
    verdict = reads(printed=needed[[ALGORITHM, EVERY, LAST]].all(), narrower=needed[ALGORITHM])
    quoted = {"going_on": cost[ALGORITHM], "best": rows["best_T"][EVERY], "epsilon": rows["epsilon"][EVERY]}
    quoted |= {"still": int(judging.worsens(every).sum()), "settings": len(every)}
    return Ruling(verdict, found, quoted, "best before the last step" if cost[EVERY] > 1 else "")


@judges("noisyhead/section-7-descent")
@judging.on_newsgroups
def descent(tables: Tables) -> Ruling:
    """Does descent without noise come ever nearer to the ridge solution, with the settings of Section 6.2?"""
    shapes = judging.as_printed(tables["shapes"])
    each = shapes.drop_duplicates([name for name in judging.CHOICES if name != "epsilon"])
    seen, first = judging.settles(each), judging.base(shapes)
    named = {
        "settings with which descent settles": (seen.sum(), len(seen), f"account = {ALGORITHM}"),
        "its risk at the first T": first["descent_first"],
        "its risk at the last T": (first["descent_last"], first["descent_first"]),
    }
    verdict = reads(printed=seen.iloc[0], narrower=seen.any())
    quoted = {"seen": seen.sum(), "settings": len(seen)}
    return Ruling(verdict, numbers("shapes", named, judging.row_of(first)), quoted)


@judges("noisyhead/section-7-accumulation")
@judging.on_newsgroups
def accumulation(tables: Tables) -> Ruling:
    """Of the growth of the noise's part, which share is the adding up of steps, and which the growing noise of each?"""
    rows = select(tables["noise-parts"], account=ALGORITHM).sort_values("T")
    grown = {name: float(rows[name].iloc[-1] / rows[name].iloc[0]) for name in ("step_variance", "accumulated")}
    share = math.log(grown["accumulated"]) / sum(math.log(value) for value in grown.values())
    along = judging.own(tables["shapes"], "account").set_index("account").loc[ALONG]
    named = {
        "growth of a step's variance": (grown["step_variance"], grown["accumulated"]),
        "growth by adding steps up": (grown["accumulated"], grown["step_variance"]),
        "part of adding up in the logarithm of the growth": (share, HALF),
    }
    steady = {"risk at the last T over the least, same noise in every step": (along["last"] / along["least"], ON_A_PAR)}
    found = (
        *numbers("noise-parts", named, f"T = {rows['T'].iloc[0]}, {rows['T'].iloc[-1]}"),
        *numbers("shapes", steady, f"account = {ALONG}"),
    )
    return Ruling(reads(printed=share >= HALF, corrected=not grown["accumulated"] <= 1), found)


@judges("noisyhead/section-7-agreement")
@judging.on_newsgroups
def agreement(tables: Tables) -> Ruling:
    """Is (4.2) a bound here, and does the risk first fall and then rise, as the bound does?"""
    bound = tables["bound"].sort_values("T")
    right = bound["descent_42"] + bound["noise_42"]
    best, said = int(bound.loc[bound["excess_risk"].idxmin(), "T"]), int(bound["bound_best_T"].iloc[0])
    most = (bound["excess_risk"] / right).max()
    named = {
        "largest ratio of the risk to the right side of (4.2)": (most, 1.0),
        "best T of the right side": said,
        "best T of the measured risk": best,
        "right side at the first T over that at the last": right.iloc[0] / right.iloc[-1],
    }
    kept = not (bound["excess_risk"] - CONSISTENT * bound["standard_error"] > right).any()
    shapes = judging.as_printed(tables["shapes"])
    verdict = reads(printed=kept and judging.has_shape(shapes).iloc[0], narrower=kept)
    vacuous = bool(judging.base(shapes)["zero"] <= right.min())
    return Ruling(verdict, numbers("bound", named, ""), {"said": said, "best": best}, vacuous=vacuous)
