"""Whether the time of a fit depends on the data, told as yes or no: the times themselves are the machine's."""

from __future__ import annotations

import math
import time

import numpy as np
import pandas as pd

from chapters.privacy.what_this_does_not_protect.pair import CLIP, RATE, Pair
from costofprivacy.dpgd.update import BLOCK, advance

SHOWS = 0.2  # by more than this share the least times differ where a difference is told
ROUNDS = 25
ORDINARY, ONE, UNCLIPPED, TINY = "ordinary", "one record replaced", "residuals all small", "features all tiny"
SMALL, SMALLEST = 1e-9, 1e-160  # squares of the latter are below the least normal double


def table(pair: Pair) -> pd.DataFrame:
    """Of each data set: the share of records that are clipped at the start, and whether the time of a pass shows it.

    The steps themselves are timed, without noise. The least of many passes is taken, in turns, so that what else the
    machine does spoils no comparison.
    """
    X, y, other = pair.data
    small, tiny = SMALL * X[:, 0], SMALLEST * X
    data = {ORDINARY: (X, y), ONE: (X, other), UNCLIPPED: (X, small), TINY: (tiny, tiny[:, 0])}
    least = dict.fromkeys(data, math.inf)
    for _ in range(ROUNDS):
        for name, (x, response) in data.items():
            least[name] = min(least[name], _seconds(x, response))
    bound = CLIP * math.sqrt(pair.d)
    rows = []
    for name, (x, response) in data.items():
        clipped = float(np.mean(np.abs(response) * np.linalg.norm(x, axis=1) > bound))
        shows = abs(math.log(least[name] / least[ORDINARY])) > math.log1p(SHOWS)
        rows.append({"data": name, "clipped": clipped, "shows": shows})
    return pd.DataFrame(rows).assign(share=SHOWS, n=pair.n)


def _seconds(x: np.ndarray, y: np.ndarray) -> float:
    """Of the steps of one pass."""
    n, d = x.shape
    theta, noise, bound = np.zeros((d, 1)), np.zeros((BLOCK, d)), np.array([CLIP * math.sqrt(d)])
    rates, std = np.full((BLOCK, 1), RATE / n), np.zeros((BLOCK, 1))
    with np.errstate(all="ignore"):
        start = time.perf_counter()
        for first in range(0, n - BLOCK + 1, BLOCK):
            rows = slice(first, first + BLOCK)
            advance(theta, x[rows], y[rows], noise, rates, std, bound)
        return time.perf_counter() - start
