"""Verdicts on what section 7 of arXiv:2504.16000v2 says of its data, of what is learnt, and of what is protected."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy.experiments.noisyhead.newsgroups import judging
from costofprivacy.experiments.noisyhead.newsgroups.runs import BEST_HEAD, LINEAR, PRIVATE
from costofprivacy.experiments.noisyhead.newsgroups.shapes import BEST
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact, percent
from costofprivacy.judging.tables import Tables, describe
from costofprivacy.judging.vocabulary import CONSISTENT

CLAIMED = 50_000  # articles, as the paper has it
ABOUT = 0.1  # share within which a number is about another
ENOUGH = 0.01  # share of a length's variance from which something is said of it
NUMBERS, CONCLUSION = Consequence.NUMBERS, Consequence.CONCLUSION
KEYS = ["prompts", "length", "features", "clip", "recipe"]


@judges("noisyhead/section-7-data")
@judging.on_newsgroups
def data(tables: Tables) -> Finding:
    """Are there about 50,000 articles, and enough of them for the prompts of the paper?"""
    own, held = tables["data"].iloc[0], tables["occurrences"].iloc[0]
    have, needed = int(own["available"]), int(own["wanted"] * (own["L"] + 1))
    numbers = (
        Number("articles", have, None, CLAIMED, "data"),
        Number("articles that prompts without a common one need", needed, None, have, "data"),
        Number("training prompts that an article stands in, at most", held["most_prompts"], None, 1.0, "occurrences",
               f"prompts = {held['prompts']}"),
        Number("places in test prompts whose article is in training too", held["test_seen"], None, 0.0, "occurrences",
               f"prompts = {held['prompts']}"),
    )  # fmt: skip
    change = "An edition of the data set with about as many articles as the paper says, or the authors' construction."
    right = abs(have / CLAIMED - 1) <= ABOUT
    if right and needed <= have:
        headline = f"The data set holds {have:,} articles, enough for prompts that share none."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    enough = "enough" if needed <= have else "too few"
    headline = (
        f"The data set holds {have:,} articles, {enough} for these prompts: without repetition they need {needed:,}."
    )
    if needed <= have:
        correction = f"20 Newsgroups holds {have:,} articles."
        return Finding(Verdict.CORRECTED, headline, numbers, NUMBERS, correction, change)
    correction = (
        f"20 Newsgroups holds {have:,} articles. So many prompts repeat articles, which then stand in training and "
        "test prompts at once, or are made of pieces of articles."
    )
    return Finding(Verdict.CORRECTED, headline, numbers, CONCLUSION, correction, change)


@judges("noisyhead/section-7-guarantee")
@judging.on_newsgroups
def guarantee(tables: Tables) -> Finding:
    """Does the noise keep the budget for a prompt, and for an article that stands in several?"""
    spent, most = tables["guarantee"], int(tables["occurrences"].iloc[0]["most_prompts"])
    prompt = spent[spent["prompts_held"] == 1]
    article = spent[spent["prompts_held"] == most]
    worst = {name: rows.loc[rows["last_iterate"].idxmax()] for name, rows in (("prompt", prompt), ("article", article))}
    numbers = tuple(
        Number(f"exact budget spent on {'a prompt' if name == 'prompt' else 'an article of the most prompts'}",
               row["last_iterate"], None, row["claimed"], "guarantee",
               describe({"T": row["T"], "prompts_held": row["prompts_held"]}))
        for name, row in worst.items()
    )  # fmt: skip
    change = "Prompts that share no article, and scores and scales that depend on no other article."
    claimed = float(worst["prompt"]["claimed"])
    if worst["prompt"]["last_iterate"] > claimed:
        headline = f"The noise spends {compact(worst['prompt']['last_iterate'])} on a prompt, above {compact(claimed)}."
        return Finding(Verdict.FAILS, headline, numbers, CONCLUSION, would_change=change)
    if worst["article"]["last_iterate"] <= claimed:
        headline = f"Counted exactly, no prompt and no article that recurs costs more than {compact(claimed)}."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = (
        f"Private for a prompt; for an article that stands in {most} of them the budget spent rises to "
        f"{compact(worst['article']['last_iterate'])}."
    )
    condition = (
        "For the replacement of a prompt, its scores and scales given. This excludes an article that stands in several "
        "prompts, and what the inverse frequencies and the scale of the lengths tell of every article."
    )
    return Finding(Verdict.NARROWER, headline, numbers, CONCLUSION, condition, change)


@judges("noisyhead/section-7-learning")
@judging.on_newsgroups
def learning(tables: Tables) -> Finding:
    """In any reading, does a private head foretell lengths better than their mean does, at its best number of steps?"""
    table = tables["test-error"]
    table = table[np.isfinite(table["gain"]) & np.isfinite(table["gain_error"])]
    private = table[table["method"] == f"{PRIVATE}, {BEST}"]
    best = _best(private)
    figure = private.iloc[0]
    numbers = (
        _gain("share of the variance that the private head explains, the figure's", figure),
        _gain("the same, best of all readings", best),
        _gain("best head without privacy, best of all readings", _best(table[table["method"] == BEST_HEAD])),
        _gain("a linear model of the query's scores, best of all readings", _best(table[table["method"] == LINEAR])),
    )
    change = "A reading in which a private head foretells lengths better than their mean."
    sure = best["gain"] > CONSISTENT * best["gain_error"]
    if sure and best["gain"] > ENOUGH and figure["gain"] > ENOUGH:
        headline = f"The private head foretells {percent(figure['gain'])} of the lengths' variance."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if sure and best["gain"] > ENOUGH:
        headline = (
            f"A private head foretells lengths in some readings only, at best {percent(best['gain'])} of the variance."
        )
        condition = f"With prompts of {best['prompts']}, the length {best['length']}, scores {best['features']}."
        return Finding(Verdict.NARROWER, headline, numbers, CONCLUSION, condition, change)
    headline = (
        "In no reading does a private head foretell lengths better, beyond the errors, than always answering their "
        "mean."
    )
    if sure:
        headline = (
            f"A private head foretells at best {percent(best['gain'])} of the lengths' variance beyond their mean."
        )
    return Finding(Verdict.FAILS, headline, numbers, CONCLUSION, would_change=change)


def _best(rows: pd.DataFrame) -> pd.Series:
    return rows.loc[rows["gain"].idxmax()]


def _gain(name: str, row: pd.Series) -> Number:
    where = describe({key: row[key] for key in (*KEYS, "method")})
    return Number(name, row["gain"], row["gain_error"], 0.0, "test-error", where)


@judges("noisyhead/section-7-features")
@judging.on_newsgroups
def features(tables: Tables) -> Finding:
    """Do the largest scores alone, whichever words they belong to, say something of the length?"""
    table = tables["scores"]
    best = {name: rows.loc[rows["explained"].idxmax()] for name, rows in table.groupby("features", sort=False)}
    top = max(best.values(), key=lambda row: row["explained"])
    numbers = tuple(
        Number(f"share of the variance explained, scores {name}", row["explained"], row["standard_error"], ENOUGH,
               "scores", describe({key: row[key] for key in ("features", "length", "model")}))
        for name, row in best.items()
    )  # fmt: skip
    change = "Held-out articles whose lengths nothing in the scores foretells."
    if top["explained"] > ENOUGH and top["explained"] > CONSISTENT * top["standard_error"]:
        share = percent(top["explained"])
        headline = f"Without any head the scores foretell up to {share} of the variance (length: {top['length']})."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = "Nothing is seen that the largest scores of an article say of its length."
    return Finding(Verdict.FAILS, headline, numbers, CONCLUSION, would_change=change)
