"""Tables of the page on 20 Newsgroups."""

import numpy as np
import pandas as pd

from chapters.noisyhead.newsgroups import judging
from chapters.noisyhead.newsgroups.runs import BEST_HEAD, DESCENT, NO_DATA, NOUGHT, PRIVATE, RIDGE
from chapters.noisyhead.newsgroups.shapes import BEST, LAST_STEP
from companion.judging.prose import compact, percent, with_errors

PREDICTORS = {
    NOUGHT: "predicting 0",
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
    long = counts["piece"] + " of " + counts["least_words"].astype(str) + " words and more"
    numbers = {
        "pieces": "number",
        "disjoint": "prompts that share none",
        "windows": "windows at the nearest stride",
        "wanted": "wanted",
    }
    articles = counts["piece"].where(counts["least_words"] == 1, long).rename("articles")
    shown = counts[list(numbers)].rename(columns=numbers).map(_whole)
    return shown.set_index([counts["removed"].rename("cut out"), articles])


def show_shapes(shapes: pd.DataFrame) -> pd.DataFrame:
    """Each open choice, one at a time from the figure's: where the risk is least, what going on costs, the shape."""
    printed = judging.as_printed(shapes)
    parts = []
    for name, words in judging.CHOICES.items():
        own = judging.own(printed, name)
        parts.append(own.assign(choice=words, value=own[name].map(judging.told)))
    rows = pd.concat(parts, ignore_index=True)
    shown = {
        "choice": rows["choice"],
        "value": rows["value"],
        "best $T$": rows["best_T"],
        "second risk over the first": (rows["second"] / rows["first"]).map(compact),
        "last over the least": (rows["last"] / rows["least"]).map(compact),
        "least over predicting 0": (rows["least"] / rows["zero"]).map(compact),
        "descent": np.where(judging.settles(rows), "settles", "does not settle"),
        "shape of Figure 6": np.where(judging.has_shape(rows), "yes", "no"),
    }
    return pd.DataFrame(shown).set_index(["choice", "value"])


def show_accounts(shapes: pd.DataFrame) -> pd.DataFrame:
    """The figure's run and budget, counted in each way."""
    names = {
        "account": "account",
        "best_T": "best $T$",
        "first": "risk at the first $T$",
        "least": "least",
        "last": "risk at the last $T$",
        "rise": "rise from the least, in standard errors",
    }
    return _short(judging.own(shapes, "account"), names).set_index("account")


def show_ends(errors: pd.DataFrame) -> pd.DataFrame:
    """Test errors in the figure's own reading, over that of the mean of the training lengths."""
    rows = pd.DataFrame(judging.figure_errors(errors).values())
    shown = {
        "predictor": rows["method"].map(lambda method: PREDICTORS.get(method, method)),
        "$T$": rows["T"].map(lambda T: str(T) if T else "–"),
        "test error": with_errors(rows, "test_error", "standard_error"),
        "share explained beyond the mean": with_errors(rows, "gain", "gain_error"),
    }
    return pd.DataFrame(shown).set_index("predictor")


def show_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """The share of the length's variance that the scores explain, without heads and prompts."""
    shown = scores.assign(share=with_errors(scores, "explained", "standard_error")).pivot_table(
        index=["features", "length"], columns="model", values="share", aggfunc="first", sort=False
    )
    return shown.rename_axis(index=["scores", "length"], columns=None)


def show_occurrences(occurrences: pd.DataFrame) -> pd.DataFrame:
    """How often an article stands in training prompts, and how many test articles were trained on."""
    names = {
        "prompts": "prompts of",
        "N": "training prompts",
        "test_prompts": "test prompts",
        "prompts_per_article": "prompts an article stands in, mean",
        "most_prompts": "at most",
        "test_seen": "test places seen in training",
    }
    seen = occurrences["test_seen"].map(percent)
    return _short(occurrences.assign(test_seen=seen), names).set_index("prompts of")


def show_bound(bound: pd.DataFrame) -> pd.DataFrame:
    """The risk beside the two terms of (4.2)."""
    names = {
        "T": "$T$",
        "excess_risk": "excess risk",
        "standard_error": "its standard error",
        "descent_42": "first term of (4.2)",
        "noise_42": "second term of (4.2)",
        "bound_best_T": "best $T$ of the bound",
    }
    return _short(bound, names).set_index("$T$")


def _short(rows: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """Columns under the names that a reader sees, those of broken numbers with three digits."""
    shown = rows[list(names)].rename(columns=names)
    return shown.apply(lambda column: column.map(compact) if column.dtype == float else column)


def _whole(value: float) -> str:
    """A whole number with its thousands apart."""
    return f"{value:,.0f}"
