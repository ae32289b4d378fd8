"""Verdicts on Figure 6 and on what section 7 of arXiv:2504.16000v2 concludes of early stopping."""

import math
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd

from chapters.noisyhead.newsgroups.measure import ALONG, BEST, BEST_HEAD, LINEAR, PRIVATE
from companion.judging.findings import Verdict
from companion.judging.judges import Judge, Ruling, judges, numbers, reads
from companion.judging.prose import compact
from companion.judging.tables import Tables, describe, select
from companion.judging.vocabulary import ABOUT, CONSISTENT, ON_A_PAR
from costofprivacy.noisyhead.accounts import ALGORITHM, EVERY, LAST

# ---- Judging ----
# What the judges of section 7 share: the data's name, the figure's own row, and when a curve has Figure 6's shape.

CHOICES = {  # the columns of an open choice, and what a reader calls it
    "prompts": "prompts",
    "length": "length",
    "features": "scores",
    "recipe": "hyperparameters",
    "clip": r"$C$ over that of (4.1)",
    "start": r"$\Gamma^0$",
    "epsilon": r"$\varepsilon$",
}
READING = ("prompts", "length", "features", "clip", "recipe")


def on_newsgroups(judge: Judge) -> Judge:
    """A judge that says nothing of 20 Newsgroups where the tables are of the set that stands in for it."""

    @wraps(judge)
    def asked(tables: Tables) -> Ruling:
        instead_of = tables["data"].iloc[0]["instead_of"]
        return judge(tables) if pd.isna(instead_of) or not instead_of else Ruling(Verdict.UNTESTABLE)

    return asked


def base(shapes: pd.DataFrame) -> pd.Series:
    """The figure's own row: the first."""
    return shapes.iloc[0]


def own(shapes: pd.DataFrame, *but: str) -> pd.DataFrame:
    """The rows that agree with the figure's own in every choice and the account, but for some columns."""
    first = base(shapes)
    return select(shapes, **{name: first[name] for name in (*CHOICES, "account") if name not in but})


def as_printed(shapes: pd.DataFrame) -> pd.DataFrame:
    """The rows of Algorithm 1's own account."""
    return select(shapes, account=ALGORITHM)


def has_shape(rows: pd.DataFrame) -> pd.Series:
    """Whether a run has Figure 6's shape: more steps do no harm at first and much in the end, and descent settles."""
    return begins_well(rows) & worsens(rows) & settles(rows)


def worsens(rows: pd.DataFrame) -> pd.Series:
    """Whether the risk ends beyond doubt above its least."""
    return (rows["last"] > ON_A_PAR * rows["least"]) & (rows["rise"] > CONSISTENT)


def begins_well(rows: pd.DataFrame) -> pd.Series:
    """Whether more steps than the fewest do no harm at first: the next risk, or the least, is no higher."""
    return (rows["best_T"] > rows["first_T"]) | (rows["second"] <= ON_A_PAR * rows["first"])


def settles(rows: pd.DataFrame) -> pd.Series:
    """Whether descent ends no higher than it begins, and rises beyond doubt at no step."""
    finite = np.isfinite(rows["descent_first"]) & np.isfinite(rows["descent_last"])
    return finite & (rows["descent_last"] <= rows["descent_first"]) & (rows["descent_rise"] <= CONSISTENT)


def told(value: object) -> str:
    """A value of a choice in words."""
    return compact(value) if isinstance(value, float) else {"zero": "0"}.get(str(value), str(value))


def row_of(row: pd.Series) -> str:
    """A row of the shapes in words."""
    return describe({name: row[name] for name in (*CHOICES, "account")})


def figure_errors(errors: pd.DataFrame) -> dict[str, pd.Series]:
    """The rows of the figure's own reading and recipe by method."""
    own = select(errors, **{name: errors.iloc[0][name] for name in READING})
    return {row["method"]: row for _, row in own.iterrows()}


# ---- Judges ----

HALF = 0.5  # part of the growth from which on something is its cause


@judges("noisyhead/figure-6")
@on_newsgroups
def figure_6(tables: Tables) -> Ruling:
    """With the settings of Section 6.2, does the risk hold or fall and then rise, while descent settles?"""
    shapes = as_printed(tables["shapes"])
    seen, first = has_shape(shapes), base(shapes)
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
    return Ruling(verdict, numbers("shapes", named, row_of(first)), quoted)


@judges("noisyhead/section-7-early-stopping")
@on_newsgroups
def early_stopping(tables: Tables) -> Ruling:
    """Is stopping early needed in the figure, and is it still where the same budget is counted exactly?"""
    rows = own(tables["shapes"], "account").set_index("account")
    cost, needed = rows["last"] / rows["least"], worsens(rows)
    every = tables["shapes"][tables["shapes"]["account"] == EVERY]
    named = {
        f"risk at the last T over the least, {account}": (cost[account], ON_A_PAR, f"account = {account}")
        for account in (ALGORITHM, EVERY, LAST, ALONG)
    }
    worse = {"settings with which it still rises, counted exactly": (worsens(every).sum(), len(every))}
    found = (*numbers("shapes", named), *numbers("shapes", worse, f"account = {EVERY}"))
    verdict = reads(printed=needed[[ALGORITHM, EVERY, LAST]].all(), narrower=needed[ALGORITHM])
    quoted = {"going_on": cost[ALGORITHM], "best": rows["best_T"][EVERY], "epsilon": rows["epsilon"][EVERY]}
    quoted |= {"still": int(worsens(every).sum()), "settings": len(every)}
    return Ruling(verdict, found, quoted, "best before the last step" if cost[EVERY] > 1 else "")


@judges("noisyhead/section-7-descent")
@on_newsgroups
def descent(tables: Tables) -> Ruling:
    """Does descent without noise come ever nearer to the ridge solution, with the settings of Section 6.2?"""
    shapes = as_printed(tables["shapes"])
    each = shapes.drop_duplicates([name for name in CHOICES if name != "epsilon"])
    seen, first = settles(each), base(shapes)
    named = {
        "settings with which descent settles": (seen.sum(), len(seen), f"account = {ALGORITHM}"),
        "its risk at the first T": first["descent_first"],
        "its risk at the last T": (first["descent_last"], first["descent_first"]),
    }
    verdict = reads(printed=seen.iloc[0], narrower=seen.any())
    quoted = {"seen": seen.sum(), "settings": len(seen)}
    return Ruling(verdict, numbers("shapes", named, row_of(first)), quoted)


@judges("noisyhead/section-7-accumulation")
@on_newsgroups
def accumulation(tables: Tables) -> Ruling:
    """Of the growth of the noise's part, which share is the adding up of steps, and which the growing noise of each?"""
    rows = select(tables["noise-parts"], account=ALGORITHM).sort_values("T")
    grown = {name: float(rows[name].iloc[-1] / rows[name].iloc[0]) for name in ("step_variance", "accumulated")}
    share = math.log(grown["accumulated"]) / sum(math.log(value) for value in grown.values())
    along = own(tables["shapes"], "account").set_index("account").loc[ALONG]
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
@on_newsgroups
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
    shapes = as_printed(tables["shapes"])
    verdict = reads(printed=kept and has_shape(shapes).iloc[0], narrower=kept)
    vacuous = bool(base(shapes)["zero"] <= right.min())
    return Ruling(verdict, numbers("bound", named, ""), {"said": said, "best": best}, vacuous=vacuous)


# ---- Data ----
# Verdicts on what arXiv:2504.16000v2 says of its data set, and of what is learnt from it.

CLAIMED = 50_000  # articles, as the paper has it
ENOUGH = 0.01  # fraction of a length's variance from which on a prediction is of use
KEYS = ["prompts", "length", "features", "clip", "recipe"]


@judges("noisyhead/section-7-data")
@on_newsgroups
def data(tables: Tables) -> Ruling:
    """Are there about 50,000 articles, and enough of them for the prompts of the paper?"""
    own, held = tables["data"].iloc[0], tables["occurrences"].iloc[0]
    have, needed = int(own["available"]), int(own["wanted"] * (own["L"] + 1))
    articles = {"articles": (have, CLAIMED), "articles that prompts without a common article need": (needed, have)}
    shared = {
        "training prompts that contain one article, at most": (held["most_prompts"], 1.0),
        "fraction of the places in test prompts whose article is in training, too": (held["test_seen"], 0.0),
    }
    found = (*numbers("data", articles, ""), *numbers("occurrences", shared, f"prompts = {held['prompts']}"))
    right, enough = abs(have / CLAIMED - 1) <= ABOUT, needed <= have
    verdict = reads(printed=right and enough, corrected=True)
    return Ruling(verdict, found, {"have": have, "needed": needed}, "enough articles" if enough else "")


@judges("noisyhead/section-1.1-utility")
@on_newsgroups
def utility(tables: Tables) -> Ruling:
    """Does a private head predict lengths better than their mean: with the paper's hyperparameters, with our radii?"""
    table = tables["test-error"]
    table = table[np.isfinite(table["gain"]) & np.isfinite(table["gain_error"])]
    private = table[table["method"] == f"{PRIVATE}, {BEST}"]
    figure, best = private.iloc[0], _best(private)
    head, linear = (_best(table[table["method"] == method]) for method in (BEST_HEAD, LINEAR))
    ours = tables["own-radii"].iloc[0]  # the figure's budget
    radii = {"value": ours["gain"], "error": ours["gain_error"], "against": 0.0, "table": "own-radii"}
    named = {
        "explained by the private head, settings of Figure 6": _gained(figure),
        "explained by the private head, best of all settings": _gained(best),
        "explained by one private step with radii of our own": radii | {"row": f"epsilon = {ours['epsilon']:g}"},
        "explained by the best head without privacy, best of all settings": _gained(head),
        "explained by a linear model of the query's scores, best of all settings": _gained(linear),
    }
    enough, some = tables["own-radii"][tables["own-radii"].apply(_of_use, axis=1)], _of_use(best)
    verdict = reads(printed=some and figure["gain"] > ENOUGH, narrower=some or _of_use(ours))
    quoted = {"own": ours["gain"], "from": enough["epsilon"].min()}
    return Ruling(verdict, numbers("test-error", named), quoted, "with (4.1) too" if some else "")


def _of_use(row: pd.Series) -> bool:
    """Whether a head explains enough, beyond doubt."""
    return bool(row["gain"] > max(ENOUGH, CONSISTENT * row["gain_error"]))


def _best(rows: pd.DataFrame) -> pd.Series:
    return rows.loc[rows["gain"].idxmax()]


def _gained(row: pd.Series) -> dict[str, Any]:
    """What a row of the test errors gains over the mean, as the fields of a number."""
    return {"value": row["gain"], "error": row["gain_error"], "against": 0.0, "row": describe(row[[*KEYS, "method"]])}
