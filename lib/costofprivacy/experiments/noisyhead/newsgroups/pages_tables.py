"""Tables of the page on 20 Newsgroups."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy.experiments.noisyhead.newsgroups import judging
from costofprivacy.experiments.noisyhead.newsgroups.pages import figure_errors
from costofprivacy.experiments.noisyhead.newsgroups.runs import BEST_HEAD, DESCENT, NO_DATA, NOUGHT, PRIVATE, RIDGE
from costofprivacy.experiments.noisyhead.newsgroups.shapes import BEST, LAST_STEP
from costofprivacy.judging.prose import compact, measured, percent

PREDICTORS = {
    NOUGHT: "answering 0",
    RIDGE: r"$\Gamma^*$",
    NO_DATA: "head without data",
    BEST_HEAD: "best ridge head",
    f"{PRIVATE}, {BEST}": "NoisyHead, best $T$",
    f"{PRIVATE}, {LAST_STEP}": "NoisyHead, last $T$",
    f"{DESCENT}, {BEST}": "descent, best $T$",
    f"{DESCENT}, {LAST_STEP}": "descent, last $T$",
}


def show_data(data: pd.DataFrame) -> pd.DataFrame:
    """The articles that the figure is made of."""
    row = data.iloc[0]
    facts = {
        "data set": row["name"],
        "articles in it": _whole(row["available"]),
        "articles used": _whole(row["used"]),
        "mean length": f"{compact(row['mean_length'])} words",
        "median length": f"{compact(row['median_length'])} words",
        "standard deviation of the length": f"{compact(row['length_spread'])} words",
        "longest": f"{_whole(row['longest'])} words",
        "with fewer distinct words than scores": percent(row["short_share"]),
        "mean norm of the kept scores": compact(row["mean_norm"]),
        "norm of their mean direction": compact(row["alignment"]),
        "lengths that $C$ clips": percent(row["clipped_share"]),
    }
    return pd.DataFrame({"value": facts})


def show_counts(counts: pd.DataFrame) -> pd.DataFrame:
    """How many prompts each way of cutting gives."""
    if counts.empty:
        return pd.DataFrame({"": {"pieces": "there is no text to cut"}})
    found = counts["piece"].where(
        counts["least_words"] == 1, counts["piece"] + " of " + counts["least_words"].astype(str) + " words and more"
    )
    shown = pd.DataFrame(
        {
            "cut out": counts["removed"],
            "articles": found,
            "number": counts["pieces"].map(_whole),
            "prompts that share none": counts["disjoint"].map(_whole),
            "windows at the nearest stride": counts["windows"].map(_whole),
            "wanted": counts["wanted"].map(_whole),
        }
    )
    return shown.set_index(["cut out", "articles"])


def show_shapes(shapes: pd.DataFrame) -> pd.DataFrame:
    """Each open choice, one at a time from the figure's: where the risk is least, what going on costs, the shape."""
    printed = judging.as_printed(shapes)
    parts = []
    for name, words in judging.CHOICES.items():
        rows = judging.own(printed, name)
        values = rows[name].map(judging.told)
        parts.append(
            pd.DataFrame(
                {
                    "choice": words,
                    "value": values,
                    "best $T$": rows["best_T"],
                    "second risk over the first": (rows["second"] / rows["first"]).map(compact),
                    "last over the least": (rows["last"] / rows["least"]).map(compact),
                    "least over answering 0": (rows["least"] / rows["zero"]).map(compact),
                    "descent": np.where(judging.settles(rows), "settles", "does not settle"),
                    "shape of Figure 6": np.where(judging.has_shape(rows), "yes", "no"),
                }
            )
        )
    return pd.concat(parts).set_index(["choice", "value"])


def show_accounts(shapes: pd.DataFrame) -> pd.DataFrame:
    """The figure's run and budget, counted in each way."""
    rows = judging.own(shapes, "account")
    shown = pd.DataFrame(
        {
            "account": rows["account"],
            "best $T$": rows["best_T"],
            "risk at the first $T$": rows["first"].map(compact),
            "least": rows["least"].map(compact),
            "risk at the last $T$": rows["last"].map(compact),
            "rise from the least, in standard errors": rows["rise"].map(compact),
        }
    )
    return shown.set_index("account")


def show_ends(errors: pd.DataFrame) -> pd.DataFrame:
    """Test errors in the figure's own reading, over that of the mean of the training lengths."""
    rows = pd.DataFrame(figure_errors(errors).values())
    shown = pd.DataFrame(
        {
            "predictor": rows["method"].map(lambda method: PREDICTORS.get(method, method)),
            "$T$": rows["T"].map(lambda T: str(T) if T else "–"),
            "test error": [measured(v, e) for v, e in zip(rows["test_error"], rows["standard_error"], strict=True)],
            "share foretold beyond the mean": [
                measured(v, e) for v, e in zip(rows["gain"], rows["gain_error"], strict=True)
            ],
        }
    )
    return shown.set_index("predictor")


def show_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """The share of the length's variance that the scores explain, without heads and prompts."""
    values = [measured(v, e) for v, e in zip(scores["explained"], scores["standard_error"], strict=True)]
    shown = scores.assign(share=values).pivot_table(
        index=["features", "length"], columns="model", values="share", aggfunc="first", sort=False
    )
    return shown.rename_axis(index=["scores", "length"], columns=None)


def show_occurrences(occurrences: pd.DataFrame) -> pd.DataFrame:
    """How often an article stands in training prompts, and how many test articles were trained on."""
    shown = pd.DataFrame(
        {
            "prompts of": occurrences["prompts"],
            "training prompts": occurrences["N"],
            "test prompts": occurrences["test_prompts"],
            "prompts an article stands in, mean": occurrences["prompts_per_article"].map(compact),
            "at most": occurrences["most_prompts"],
            "test places seen in training": occurrences["test_seen"].map(percent),
        }
    )
    return shown.set_index("prompts of")


def show_bound(bound: pd.DataFrame) -> pd.DataFrame:
    """The risk beside the two terms of (4.2)."""
    shown = pd.DataFrame(
        {
            "$T$": bound["T"],
            "excess risk": bound["excess_risk"].map(compact),
            "its standard error": bound["standard_error"].map(compact),
            "first term of (4.2)": bound["descent_42"].map(compact),
            "second term of (4.2)": bound["noise_42"].map(compact),
            "best $T$ of the bound": bound["bound_best_T"],
        }
    )
    return shown.set_index("$T$")


def _whole(value: float) -> str:
    """A whole number with its thousands apart."""
    return f"{value:,.0f}"
