"""Verdicts on Figure 6 and on what section 7 of arXiv:2504.16000v2 concludes of early stopping."""

import math
from collections.abc import Callable
from functools import wraps

import numpy as np
import pandas as pd

from chapters.noisyhead.newsgroups.measure import ALONG, BEST, BEST_HEAD, LINEAR, PRIVATE
from companion.judging.judges import Record, Ruling, judges
from companion.judging.prose import compact
from companion.judging.tables import describe, select
from companion.judging.vocabulary import ABOUT, CONSISTENT, ON_A_PAR
from costofprivacy.noisyhead.accounts import ALGORITHM, EVERY, LAST

# ---- The figure's own row, and when a curve has Figure 6's shape ----

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


def on_newsgroups(judge: Callable[[Record], Ruling]) -> Callable[[Record], Ruling]:
    """A judge that says nothing of 20 Newsgroups where the tables are of the set that stands in for it."""

    @wraps(judge)
    def asked(found: Record) -> Ruling:
        instead_of = found["data"].iloc[0]["instead_of"]
        return judge(found) if pd.isna(instead_of) or not instead_of else found.ruling(decided=False)

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
    harmless = (rows["best_T"] > rows["first_T"]) | (rows["second"] <= ON_A_PAR * rows["first"])  # at first
    return harmless & worsens(rows) & settles(rows)


def worsens(rows: pd.DataFrame) -> pd.Series:
    """Whether the risk ends beyond doubt above its least."""
    return (rows["last"] > ON_A_PAR * rows["least"]) & (rows["rise"] > CONSISTENT)


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


# ---- Figure 6 and early stopping ----

HALF = 0.5  # part of the growth from which on something is its cause


@judges("noisyhead/figure-6")
@on_newsgroups
def figure_6(found: Record) -> Ruling:
    """With the settings of Section 6.2, does the risk hold or fall and then rise, while descent settles?"""
    table, shapes = "shapes", as_printed(found["shapes"])
    seen, first = has_shape(shapes), base(shapes)
    row = row_of(first)
    name, settings = "settings with the figure's shape", len(seen)
    found.number(name, seen.sum(), against=settings, table=table, row=f"account = {ALGORITHM}")
    found.number("excess risk at the first T", first["first"], table=table, row=row)
    found.number("least excess risk", first["least"], against=first["first"], table=table, row=row)
    found.number("excess risk at the last T", first["last"], against=first["least"], table=table, row=row)
    found.number("rise from the least, in standard errors", first["rise"], against=CONSISTENT, table=table, row=row)
    found.number("excess risk of answering 0", first["zero"], against=first["least"], table=table, row=row)
    return found.ruling(seen.iloc[0], narrower=seen.any(), seen=seen.sum(), settings=settings)


@judges("noisyhead/section-7-early-stopping")
@on_newsgroups
def early_stopping(found: Record) -> Ruling:
    """Is stopping early needed in the figure, and is it still where the same budget is counted exactly?"""
    shapes = found["shapes"]
    rows = own(shapes, "account").set_index("account")
    cost, needed, still = rows["last"] / rows["least"], worsens(rows), worsens(shapes[shapes["account"] == EVERY])
    for account in (ALGORITHM, EVERY, LAST, ALONG):
        name, row = f"risk at the last T over the least, {account}", f"account = {account}"
        found.number(name, cost[account], against=ON_A_PAR, table="shapes", row=row)
    name, row = "settings with which it still rises, counted exactly", f"account = {EVERY}"
    found.number(name, still.sum(), against=len(still), table="shapes", row=row)
    return found.ruling(
        needed[[ALGORITHM, EVERY, LAST]].all(),
        narrower=needed[ALGORITHM],
        grounds="best before the last step" if cost[EVERY] > 1 else "",
        going_on=cost[ALGORITHM],
        best=rows["best_T"][EVERY],
        epsilon=rows["epsilon"][EVERY],
        still=int(still.sum()),
        settings=len(still),
    )


@judges("noisyhead/section-7-descent")
@on_newsgroups
def descent(found: Record) -> Ruling:
    """Does descent without noise come ever nearer to the ridge solution, with the settings of Section 6.2?"""
    table, shapes = "shapes", as_printed(found["shapes"])
    each = shapes.drop_duplicates([name for name in CHOICES if name != "epsilon"])
    seen, first = settles(each), base(shapes)
    name, settings, row = "settings with which descent settles", len(seen), row_of(first)
    found.number(name, seen.sum(), against=settings, table=table, row=f"account = {ALGORITHM}")
    begins = found.number("its risk at the first T", first["descent_first"], table=table, row=row)
    found.number("its risk at the last T", first["descent_last"], against=begins, table=table, row=row)
    return found.ruling(seen.iloc[0], narrower=seen.any(), seen=seen.sum(), settings=settings)


@judges("noisyhead/section-7-accumulation")
@on_newsgroups
def accumulation(found: Record) -> Ruling:
    """Of the growth of the noise's part, which share is the adding up of steps, and which the growing noise of each?"""
    rows = select(found["noise-parts"], account=ALGORITHM).sort_values("T")
    step, added = (float(rows[name].iloc[-1] / rows[name].iloc[0]) for name in ("step_variance", "accumulated"))
    table, row, share = "noise-parts", f"T = {rows['T'].iloc[0]}, {rows['T'].iloc[-1]}", math.log(added)
    share /= math.log(step) + math.log(added)
    found.number("growth of a step's variance", step, against=added, table=table, row=row)
    found.number("growth by adding steps up", added, against=step, table=table, row=row)
    printed = found.at_least("part of adding up in the logarithm of the growth", share, HALF, table=table, row=row)
    along = own(found["shapes"], "account").set_index("account").loc[ALONG]
    name, ratio = "risk at the last T over the least, same noise in every step", along["last"] / along["least"]
    found.number(name, ratio, against=ON_A_PAR, table="shapes", row=f"account = {ALONG}")
    return found.ruling(printed, corrected=not added <= 1)


@judges("noisyhead/section-7-agreement")
@on_newsgroups
def agreement(found: Record) -> Ruling:
    """Is (4.2) a bound here, and does the risk first fall and then rise, as the bound does?"""
    table, bound, shapes = "bound", found["bound"].sort_values("T"), as_printed(found["shapes"])
    right = bound["descent_42"] + bound["noise_42"]
    best, said = int(bound.loc[bound["excess_risk"].idxmin(), "T"]), int(bound["bound_best_T"].iloc[0])
    name, most = "largest ratio of the risk to the right side of (4.2)", (bound["excess_risk"] / right).max()
    found.number(name, most, against=1.0, table=table, row="")
    found.number("best T of the right side", said, table=table, row="")
    found.number("best T of the measured risk", best, table=table, row="")
    name = "right side at the first T over that at the last"
    found.number(name, right.iloc[0] / right.iloc[-1], table=table, row="")
    kept = not (bound["excess_risk"] - CONSISTENT * bound["standard_error"] > right).any()
    vacuous = base(shapes)["zero"] <= right.min()
    printed = kept and has_shape(shapes).iloc[0]
    return found.ruling(printed, narrower=kept, vacuous=vacuous, said=said, best=best)


# ---- The data, and what is learnt from it ----

CLAIMED = 50_000  # articles, as the paper has it
ENOUGH = 0.01  # fraction of a length's variance from which on a prediction is of use


@judges("noisyhead/section-7-data")
@on_newsgroups
def data(found: Record) -> Ruling:
    """Are there about 50,000 articles, and enough of them for the prompts of the paper?"""
    own, held = found["data"].iloc[0], found["occurrences"].iloc[0]
    have, needed = int(own["available"]), int(own["wanted"] * (own["L"] + 1))
    found.number("articles", have, against=CLAIMED, table="data", row="")
    name = "articles that prompts without a common article need"
    enough = found.at_most(name, needed, have, table="data", row="")
    table, row = "occurrences", f"prompts = {held['prompts']}"
    name = "training prompts that contain one article, at most"
    found.number(name, held["most_prompts"], against=1.0, table=table, row=row)
    name = "fraction of the places in test prompts whose article is in training, too"
    found.number(name, held["test_seen"], against=0.0, table=table, row=row)
    grounds, right = "enough articles" if enough else "", abs(have / CLAIMED - 1) <= ABOUT
    return found.ruling(right and enough, corrected=True, grounds=grounds, have=have, needed=needed)


@judges("noisyhead/section-1.1-utility")
@on_newsgroups
def utility(found: Record) -> Ruling:
    """Does a private head predict lengths better than their mean: with the paper's hyperparameters, with our radii?"""
    table, radii = found["test-error"], found["own-radii"]
    table = table[np.isfinite(table["gain"]) & np.isfinite(table["gain_error"])]
    private = table[table["method"] == f"{PRIVATE}, {BEST}"]

    def gained(what: str, rows: pd.DataFrame, best: bool = True) -> pd.Series:
        row = rows.loc[rows["gain"].idxmax()] if best else rows.iloc[0]
        own = "epsilon" in rows
        where = f"epsilon = {row['epsilon']:g}" if own else describe(row[[*READING, "method"]])
        name, source = f"explained by {what}", "own-radii" if own else "test-error"
        found.number(name, row["gain"], error=row["gain_error"], against=0.0, table=source, row=where)
        return row

    def of_use(row: pd.Series) -> bool:  # whether a head explains enough, beyond doubt
        return bool(row["gain"] > max(ENOUGH, CONSISTENT * row["gain_error"]))

    figure = gained("the private head, settings of Figure 6", private, best=False)
    some = of_use(gained("the private head, best of all settings", private))
    ours = gained("one private step with radii of our own", radii, best=False)  # the figure's budget
    for what, method in (
        ("the best head without privacy", BEST_HEAD),
        ("a linear model of the query's scores", LINEAR),
    ):
        gained(f"{what}, best of all settings", table[table["method"] == method])
    return found.ruling(
        some and figure["gain"] > ENOUGH,
        narrower=some or of_use(ours),
        grounds="with (4.1) too" if some else "",
        **{"own": ours["gain"], "from": radii[radii.apply(of_use, axis=1)]["epsilon"].min()},
    )
