"""The comparison case by case: who has the least error, who cannot be told from it, and how far DP-GD is behind."""

import math

import pandas as pd

from chapters.privacy.rivals import methods, problems
from chapters.privacy.rivals.joined import CELL, METHODS
from companion.judging.tables import pick, select
from companion.judging.vocabulary import CONSISTENT
from costofprivacy import datasets

SHORT = {
    problems.UNEVEN: "power-law",
    datasets.HOUSING: "housing",
    datasets.MNIST: "MNIST 1, 7",
    datasets.DIGITS: "digits 1, 7",
}


def short(problem: str) -> str:
    """A data set's name in a title."""
    return SHORT.get(problem, problem)


def public(errors: pd.DataFrame) -> pd.DataFrame:
    """The rows of the comparison: every method at its public setting."""
    return errors[(errors["setting"] == 0) & errors["method"].isin(METHODS)]


def least_epsilon(errors: pd.DataFrame, **where: object) -> pd.DataFrame:
    """The rows at the least ε in which each named column has the given value."""
    return select(errors, epsilon=errors["epsilon"].min(), **where)


def best_settings(errors: pd.DataFrame) -> pd.DataFrame:
    """Every method at the best of its settings in each cell, which no private choice can know."""
    own = errors[errors["method"].isin(METHODS)]
    return own.loc[own.groupby([*CELL, "method"], sort=False)["lost"].idxmin()]


def least(rows: pd.DataFrame) -> pd.Series:
    """The row that loses least."""
    return rows.loc[rows["lost"].idxmin()]


def not_told_from_least(cell: pd.DataFrame) -> pd.Series:
    """Which methods of a cell cannot be told from the least; one that fails in some trial can."""
    return (cell["behind"] <= CONSISTENT * cell["behind_error"]) & (cell["failed"] == 0)


def over(row: pd.Series, front: pd.Series) -> tuple[float, float]:
    """What one method loses over what the least of its cell does, and its standard error.

    Both were run on the same records: their covariance follows from the errors of each and of the difference, which
    is ``behind``.
    """
    ratio = row["lost"] / front["lost"]
    shared = (row["lost_error"] ** 2 + front["lost_error"] ** 2 - row["behind_error"] ** 2) / 2
    parts = (row["lost_error"] / row["lost"]) ** 2 + (front["lost_error"] / front["lost"]) ** 2
    return ratio, abs(ratio) * max(0.0, parts - 2 * shared / (row["lost"] * front["lost"])) ** 0.5


def winners(errors: pd.DataFrame) -> pd.DataFrame:
    """For each cell: the least public method, those that cannot be told from it, and the best of DP-GD."""
    rows = []
    for _, cell in public(errors).groupby(CELL, sort=False):
        front, own = least(cell), least(cell[cell["method"].isin(methods.OURS)])
        tied = cell.loc[not_told_from_least(cell), "method"]
        ratio, error = over(own, front)
        rows.append(
            front[[*CELL, "d", "lost", "lost_error"]].to_dict()
            | {"least": front["method"], "tied": [name for name in tied if name != front["method"]]}
            | {"ours": own["method"], "ours_lost": own["lost"], "ours_error": own["lost_error"]}
            | {"beaten": own["behind"] > CONSISTENT * own["behind_error"], "over": ratio, "over_error": error}
        )
    return pd.DataFrame(rows)


def mean_gain(errors: pd.DataFrame) -> tuple[float, float]:
    """How many times less harmonic DP-GD loses on the most uneven Gaussian data once it is told the second moment.

    With its standard error, as if the two errors were independent.
    """
    rows = least_epsilon(errors, problem=problems.UNEVEN, setting=0)
    told = [pick(rows, n=rows["n"].max(), method=name) for name in (methods.HARMONIC, methods.WHITENED)]
    gain = float(told[0]["lost"] / told[1]["lost"])
    return gain, gain * math.hypot(*(row["lost_error"] / row["lost"] for row in told))
