"""What the page on 20 Newsgroups answers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy.experiments.noisyhead.newsgroups import judging
from costofprivacy.experiments.noisyhead.newsgroups.runs import PRIVATE
from costofprivacy.experiments.noisyhead.newsgroups.shapes import BEST
from costofprivacy.judging.prose import percent
from costofprivacy.judging.tables import Tables, select
from costofprivacy.judging.vocabulary import CONSISTENT
from costofprivacy.noisyhead.accounts import EVERY

VARIED = {"its standardised logarithm": "the logarithm of the length"}  # all other forms are multiples of the length


def answer(tables: Tables) -> str:
    """At most sixty words, computed."""
    shapes, data = tables["shapes"], tables["data"].iloc[0]
    printed = judging.as_printed(shapes)
    seen = judging.has_shape(printed)
    exact = judging.own(shapes, "account").set_index("account").loc[EVERY]
    turn = "rises in the end as well" if judging.worsens(exact) else f"falls until $T = {exact['best_T']}$"
    ahead = beyond_the_mean(tables["test-error"])
    better = f"In {ahead.sum()} of {len(ahead)} readings a private head is" if ahead.any() else "No private head is"
    top = tables["scores"].loc[tables["scores"]["explained"].idxmax()]
    return (
        f"On {data['name']} Figure 6's shape comes out in {seen.sum()} of {len(seen)} readings of section 7. With the "
        f"same budget counted exactly, the figure's risk {turn}. {better} better, beyond the errors, than always "
        f"answering the mean length. The scores alone foretell up to {percent(top['explained'])} of the variance of "
        f"{VARIED.get(top['length'], 'the length')}."
    )


def beyond_the_mean(errors: pd.DataFrame) -> pd.Series:
    """In each reading: is the private head, at its best number of steps, better than the mean, beyond the errors?"""
    rows = select(errors, method=f"{PRIVATE}, {BEST}")
    rows = rows[np.isfinite(rows["gain"]) & np.isfinite(rows["gain_error"])]
    return rows["gain"] > CONSISTENT * rows["gain_error"]
