"""What the page on 20 Newsgroups answers."""

import numpy as np
import pandas as pd

from chapters.noisyhead.newsgroups import judging
from chapters.noisyhead.newsgroups.runs import PRIVATE
from chapters.noisyhead.newsgroups.shapes import BEST
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT
from costofprivacy.noisyhead.accounts import EVERY


def answer(tables: Tables) -> list[str]:
    """What was found, and what the page does."""
    shapes, data = tables["shapes"], tables["data"].iloc[0]
    printed = judging.as_printed(shapes)
    seen = judging.has_shape(printed)
    exact = judging.own(shapes, "account").set_index("account").loc[EVERY]
    turn = "also rises in the end" if judging.worsens(exact) else f"falls until $T = {exact['best_T']}$"
    ahead = beyond_the_mean(tables["test-error"])
    better = f"In {ahead.sum()} of {len(ahead)} settings a private head is" if ahead.any() else "No private head is"
    return [
        f"{better} significantly better than always predicting the mean length.",
        f"On {data['name']} the shape of Figure 6 appears with the settings of Section 6.2 and with {seen.sum()} of "
        f"{len(seen)} settings in all: the risk falls first and rises then.",
        f"If the same budget is counted exactly, the risk {turn}.",
        "You will see derived how the noise of all steps adds up, and run NoisyHead by hand with both ways of counting "
        "its budget.",
        "At the end: what the head learns, and what is protected if an article is in several prompts.",
    ]


def beyond_the_mean(errors: pd.DataFrame) -> pd.Series:
    """With each of the settings: is the private head significantly better than the mean?"""
    rows = select(errors, method=f"{PRIVATE}, {BEST}")
    rows = rows[np.isfinite(rows["gain"]) & np.isfinite(rows["gain_error"])]
    return rows["gain"] > CONSISTENT * rows["gain_error"]
