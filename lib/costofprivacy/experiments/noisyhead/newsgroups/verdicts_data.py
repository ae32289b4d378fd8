"""Verdicts on what section 7 of arXiv:2504.16000v2 says of its data, of what is learnt, and of what is protected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from costofprivacy.experiments.noisyhead.newsgroups import judging
from costofprivacy.experiments.noisyhead.newsgroups.runs import BEST_HEAD, LINEAR, PRIVATE
from costofprivacy.experiments.noisyhead.newsgroups.shapes import BEST
from costofprivacy.judging.judges import Ruling, judges, numbers, reads
from costofprivacy.judging.tables import Tables, describe
from costofprivacy.judging.vocabulary import ABOUT, CONSISTENT

CLAIMED = 50_000  # articles, as the paper has it
ENOUGH = 0.01  # share of a length's variance from which something is said of it
KEYS = ["prompts", "length", "features", "clip", "recipe"]


@judges("noisyhead/section-7-data")
@judging.on_newsgroups
def data(tables: Tables) -> Ruling:
    """Are there about 50,000 articles, and enough of them for the prompts of the paper?"""
    own, held = tables["data"].iloc[0], tables["occurrences"].iloc[0]
    have, needed = int(own["available"]), int(own["wanted"] * (own["L"] + 1))
    articles = {"articles": (have, CLAIMED), "articles that prompts without a common one need": (needed, have)}
    shared = {
        "training prompts that an article stands in, at most": (held["most_prompts"], 1.0),
        "places in test prompts whose article is in training too": (held["test_seen"], 0.0),
    }
    found = (*numbers("data", articles, ""), *numbers("occurrences", shared, f"prompts = {held['prompts']}"))
    right, enough = abs(have / CLAIMED - 1) <= ABOUT, needed <= have
    verdict = reads(printed=right and enough, corrected=True)
    return Ruling(verdict, found, {"have": have, "needed": needed}, "enough articles" if enough else "")


@judges("noisyhead/section-7-guarantee")
@judging.on_newsgroups
def guarantee(tables: Tables) -> Ruling:
    """Does the noise keep the budget for a prompt, and for an article that stands in several?"""
    most = int(tables["occurrences"].iloc[0]["most_prompts"])
    prompt, article = (_costliest(tables["guarantee"], held) for held in (1, most))
    named = {
        f"exact budget spent on {what}": (row["last_iterate"], row["claimed"], describe(row[["T", "prompts_held"]]))
        for what, row in (("a prompt", prompt), ("an article of the most prompts", article))
    }
    kept = not prompt["last_iterate"] > prompt["claimed"]
    verdict = reads(printed=kept and article["last_iterate"] <= prompt["claimed"], narrower=kept)
    return Ruling(verdict, numbers("guarantee", named), {"most": most, "spent": article["last_iterate"]})


def _costliest(spent: pd.DataFrame, held: int) -> pd.Series:
    """The number of steps that spends the most on an article that stands in so many prompts."""
    rows = spent[spent["prompts_held"] == held]
    return rows.loc[rows["last_iterate"].idxmax()]


@judges("noisyhead/section-7-learning")
@judging.on_newsgroups
def learning(tables: Tables) -> Ruling:
    """In any reading, does a private head foretell lengths better than their mean does, at its best number of steps?"""
    table = tables["test-error"]
    table = table[np.isfinite(table["gain"]) & np.isfinite(table["gain_error"])]
    private = table[table["method"] == f"{PRIVATE}, {BEST}"]
    figure, best = private.iloc[0], _best(private)
    head, linear = (_best(table[table["method"] == method]) for method in (BEST_HEAD, LINEAR))
    named = {
        "share of the variance that the private head explains, the figure's": _gained(figure),
        "the same, best of all readings": _gained(best),
        "best head without privacy, best of all readings": _gained(head),
        "a linear model of the query's scores, best of all readings": _gained(linear),
    }
    sure = best["gain"] > CONSISTENT * best["gain_error"]
    some = sure and best["gain"] > ENOUGH
    verdict = reads(printed=some and figure["gain"] > ENOUGH, narrower=some)
    return Ruling(verdict, numbers("test-error", named), grounds="next to nothing" if sure else "")


def _best(rows: pd.DataFrame) -> pd.Series:
    return rows.loc[rows["gain"].idxmax()]


def _gained(row: pd.Series) -> dict[str, Any]:
    """What a row of the test errors gains over the mean, as the fields of a number."""
    return {"value": row["gain"], "error": row["gain_error"], "against": 0.0, "row": describe(row[[*KEYS, "method"]])}


@judges("noisyhead/section-7-features")
@judging.on_newsgroups
def features(tables: Tables) -> Ruling:
    """Do the largest scores alone, whichever words they belong to, say something of the length?"""
    groups = tables["scores"].groupby("features", sort=False)
    best = {name: rows.loc[rows["explained"].idxmax()] for name, rows in groups}
    top = max(best.values(), key=lambda row: row["explained"])
    named = {f"share of the variance explained, scores {name}": _explained(row) for name, row in best.items()}
    printed = top["explained"] > ENOUGH and top["explained"] > CONSISTENT * top["standard_error"]
    return Ruling(reads(printed), numbers("scores", named), {"share": top["explained"], "length": top["length"]})


def _explained(row: pd.Series) -> dict[str, Any]:
    """The share of the variance in a row of the scores, as the fields of a number."""
    where = describe(row[["features", "length", "model"]])
    return {"value": row["explained"], "error": row["standard_error"], "against": ENOUGH, "row": where}
