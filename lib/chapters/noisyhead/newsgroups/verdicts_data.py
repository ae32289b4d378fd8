"""Verdicts on what arXiv:2504.16000v2 says of its data set, and of what is learnt from it."""

from typing import Any

import numpy as np
import pandas as pd

from chapters.noisyhead.newsgroups import judging
from chapters.noisyhead.newsgroups.runs import BEST_HEAD, LINEAR, PRIVATE
from chapters.noisyhead.newsgroups.shapes import BEST
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, describe
from companion.judging.vocabulary import ABOUT, CONSISTENT

CLAIMED = 50_000  # articles, as the paper has it
ENOUGH = 0.01  # fraction of a length's variance from which on a prediction is of use
KEYS = ["prompts", "length", "features", "clip", "recipe"]


@judges("noisyhead/section-7-data")
@judging.on_newsgroups
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
@judging.on_newsgroups
def utility(tables: Tables) -> Ruling:
    """Under any settings, does a private head predict lengths better than their mean, at its best number of steps?"""
    table = tables["test-error"]
    table = table[np.isfinite(table["gain"]) & np.isfinite(table["gain_error"])]
    private = table[table["method"] == f"{PRIVATE}, {BEST}"]
    figure, best = private.iloc[0], _best(private)
    head, linear = (_best(table[table["method"] == method]) for method in (BEST_HEAD, LINEAR))
    named = {
        "explained by the private head, settings of Figure 6": _gained(figure),
        "explained by the private head, best of all settings": _gained(best),
        "explained by the best head without privacy, best of all settings": _gained(head),
        "explained by a linear model of the query's scores, best of all settings": _gained(linear),
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
