"""What the tables say: the gap and what closes it, where pretraining is worth anything, what one prompt can do."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy.experiments.noisyhead.a_head_that_works import ladder
from costofprivacy.experiments.noisyhead.a_head_that_works.curves import PRIVATE
from costofprivacy.experiments.noisyhead.a_head_that_works.problems import BEST, ISOTROPIC, NO_DATA, NON_PRIVATE
from costofprivacy.findings import CONSISTENT, Tables, pick, select

TARGETS = {ISOTROPIC: 0.15, "unknown-10": 0.25}  # over the best non-private head, at the largest N and ε


def plain_and_ill(tables: Tables) -> tuple[str, str]:
    """The covariance that the page begins with and one to hold against it, the same where there is one alone.

    Isotropic, where it was asked for, and the first that is not.
    """
    names = list(dict.fromkeys(tables["test-error"]["covariance"]))
    first = ISOTROPIC if ISOTROPIC in names else names[0]
    return first, next((name for name in names if name != first), first)


def aims(tables: Tables) -> dict[str, float]:
    """`TARGETS`, of the covariances that were asked for."""
    asked = set(tables["test-error"]["covariance"])
    return {name: share for name, share in TARGETS.items() if name in asked}


def corner(tables: Tables, covariance: str) -> pd.Series:
    """Test errors by method at the largest N and ε."""
    rows = select(tables["test-error"], covariance=covariance)
    rows = rows[(rows["N"] == rows["N"].max()) & (rows["epsilon"] == rows["epsilon"].max())]
    return rows.set_index("method")["test_error"]


def over_non_private(tables: Tables, covariance: str) -> float:
    """By what share the private head's test error exceeds the best non-private one's there."""
    row = corner(tables, covariance)
    return float(row[PRIVATE] / row[NON_PRIVATE] - 1)


def steps(tables: Tables, covariance: str) -> pd.DataFrame:
    """The ladder at the largest ε, in order, with the rung's share of the gap that is left.

    The gap is from answering 0 to the best head.
    """
    rows = select(tables["ladder"], covariance=covariance)
    rows = rows[rows["epsilon"] == rows["epsilon"].max()].set_index("rung")
    best = rows.loc[BEST, "test_error"]
    left = (rows["test_error"] - best) / (1.0 - best)
    return rows.assign(left=left)


def closer(tables: Tables, covariance: str) -> str:
    """The rung that closes most of the gap, of those that are one change after the other."""
    rows = steps(tables, covariance).loc[list(ladder.RUNGS)]
    chain = rows.loc[[*ladder.FIXED, ladder.CLIPPED], "left"]
    return str(chain.diff().idxmin())


def worth(area: pd.DataFrame, method: str = PRIVATE) -> pd.DataFrame:
    """The cells of the area with whether the method beats the head without data, beyond doubt, or loses to it."""
    rows = select(area, method=method)
    margin = CONSISTENT * rows["standard_error"]
    wins = rows["test_error"] + margin < rows["no_data"]
    return rows.assign(wins=wins, loses=rows["test_error"] - margin > rows["no_data"])


def won(area: pd.DataFrame, unknown: bool = True) -> pd.Series:
    """Whether the private head wins, in the cells with an unknown covariance, or in the isotropic ones."""
    rows = worth(area)
    return rows.loc[(rows["condition"] > 1) == unknown, "wins"]


def threshold(area: pd.DataFrame, method: str = PRIVATE) -> pd.DataFrame:
    """For each (κ, N) the least ε of the grid from which on the method wins; NaN where it never does."""
    rows = worth(area, method).sort_values("epsilon")
    found = []
    for (condition, N), cell in rows.groupby(["condition", "N"]):
        lost = cell.loc[~cell["wins"], "epsilon"]
        later = cell.loc[cell["epsilon"] > (lost.max() if len(lost) else 0.0), "epsilon"]
        found.append({"condition": condition, "N": N, "epsilon": later.min() if len(later) else np.nan})
    return pd.DataFrame(found)


def rate_miss(rate: pd.DataFrame, method: str, covariance: str) -> float:
    """The largest factor between the fitted aγ + bγ²/ρ² and the excess."""
    rows = select(rate, method=method, covariance=covariance)
    ratio = rows["fitted"] / rows["excess"]
    return float(np.maximum(ratio, 1 / ratio).max())


def no_data_is_best(tables: Tables, covariance: str = ISOTROPIC) -> bool:
    """Whether the head without data is the best head."""
    row = corner(tables, covariance)
    return bool(abs(row[NO_DATA] - row[BEST]) <= 1e-9)


def rung(tables: Tables, covariance: str, name: str) -> float:
    """The test error of a rung at the largest ε."""
    return float(pick(steps(tables, covariance).reset_index(), rung=name)["test_error"])
