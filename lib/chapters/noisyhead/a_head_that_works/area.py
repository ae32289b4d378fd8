"""Where is private pretraining worth anything? Against the head that uses no data, over N, ε and κ."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from chapters.noisyhead.a_head_that_works import curves
from chapters.noisyhead.a_head_that_works.problems import BEST, NO_DATA, NON_PRIVATE
from companion.streams import Runner

STREAM = 1
AT = ["condition", "N", "epsilon"]


def table(
    runner: Runner, conditions: Sequence[float], N: Sequence[int], D: int, epsilon: tuple[float, ...],
    delta: float, trials: int, seed: int,
) -> pd.DataFrame:  # fmt: skip
    """For each (κ, N, ε) and private method: its test error, and those of the ends that are not 1."""
    cells = [curves.Cell(k, n, math.isqrt(n), D, epsilon, delta, STREAM) for k in conditions for n in N]
    found = curves.table(runner, cells, trials, seed)
    names = {curves.name_of(k): k for k in conditions}
    found = found.assign(condition=found["covariance"].map(names))
    wide = found.pivot(index=AT, columns="method", values="test_error")
    parts = []
    for method in curves.METHODS:
        error = found[found["method"] == method].set_index(AT)["standard_error"]
        part = pd.DataFrame({"test_error": wide[method], "standard_error": error})
        ends = {"no_data": wide[NO_DATA], "non_private": wide[NON_PRIVATE], "best": wide[BEST]}
        parts.append(part.assign(method=method, **ends).reset_index())
    return pd.concat(parts, ignore_index=True).assign(trials=trials)
