"""The tables of the page on rivals."""

from collections.abc import Callable, Iterable

import pandas as pd

from chapters.privacy.rivals import methods
from chapters.privacy.rivals.cells import (
    best_settings,
    least,
    least_epsilon,
    not_told_from_least,
    over,
    public,
    short,
    winners,
)
from chapters.privacy.rivals.joined import METHODS
from companion.judging.prose import compact, measured, plain
from companion.judging.tables import select

NARROW_SPACE = "\u202f"  # does not break
REMEDIES = (methods.HARMONIC, methods.PILOT, methods.FULL, *methods.TOLD)


def show_rivals(errors: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """What every method loses at its public setting, and the ends; a star where it is not told from the least."""

    def entry(row: pd.Series) -> str:
        return _entry(row) + (f"{NARROW_SPACE}*" if row["method"] in METHODS and row["star"] else "")

    rows = select(errors, setting=0, epsilon=epsilon)
    starred = rows.assign(star=not_told_from_least(rows))
    return _by_method(starred, (*METHODS, *methods.TOLD, *methods.ENDS), entry)


def show_best(errors: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """The same at the best of each method's settings."""
    return _by_method(best_settings(select(errors, epsilon=epsilon)), METHODS, _entry)


def _by_method(rows: pd.DataFrame, names: Iterable[str], entry: Callable[[pd.Series], str]) -> pd.DataFrame:
    """Methods by data set and size; a dash where a method was not run."""
    columns = {
        f"{short(problem)}, {n}": pd.Series({row["method"]: entry(row) for _, row in cell.iterrows()})
        for (problem, n), cell in rows.groupby(["problem", "n"], sort=False)
    }
    return pd.DataFrame(columns, index=pd.Index(names, name="method")).fillna("–")


def _entry(row: pd.Series) -> str:
    """What is lost, or in how many trials there is no answer."""
    if row["failed"]:
        return f"fails in {round(row['failed'] * row['trials'])} of {row['trials']}".replace(" ", NARROW_SPACE)
    return in_percent(row["lost"], row["lost_error"])


def in_percent(lost: float, error: float) -> str:
    """A share with its error, both in per cent, on one line."""
    return measured(100 * lost, 100 * error).replace(" ", NARROW_SPACE)


def show_winners(errors: pd.DataFrame) -> pd.DataFrame:
    """Who is best, case by case, and how far the best form of DP-GD is behind."""
    rows = [
        {
            "data": short(row.problem),
            "ε": f"{row.epsilon:g}",
            "n": row.n,
            "n/d": plain(row.n / row.d),
            "least error": row.least,
            "lost, %": in_percent(row.lost, row.lost_error),
            "not told from it": ", ".join(row.tied) or "none",
            "best of DP-GD": row.ours,
            "its loss, %": in_percent(row.ours_lost, row.ours_error),
            "behind": "yes" if row.beaten else "no",
        }
        for row in winners(errors).itertuples()
    ]
    return pd.DataFrame(rows).set_index(["data", "ε", "n"])


def show_errors(errors: pd.DataFrame) -> pd.DataFrame:
    """Test errors themselves at the least ε: the constant predictor, least squares, and the least private method."""
    rows = []
    for (problem, n), cell in least_epsilon(errors, setting=0).groupby(["problem", "n"], sort=False):
        known, front = cell.set_index("method"), least(public(cell))
        free = known.loc[methods.LEAST_SQUARES]
        rows.append(
            {
                "data": short(problem),
                "n": n,
                "constant": compact(known.loc[methods.ZERO, "test_error"]),
                "best linear": compact(cell["floor"].iloc[0]),
                "least squares, no privacy": measured(free["test_error"], free["test_error_error"]),
                "least private": measured(front["test_error"], front["test_error_error"]),
                "by": front["method"],
                "trials": front["trials"],
            }
        )
    return pd.DataFrame(rows).set_index(["data", "n"])


def show_gap(errors: pd.DataFrame) -> pd.DataFrame:
    """The remedies: each over the least of the comparison, at the largest size and least ε of each data set.

    With standard errors; the least itself is 1 and has none.
    """
    rows = least_epsilon(errors, setting=0)
    found = []
    for problem, part in rows.groupby("problem", sort=False):
        cell = select(part, n=part["n"].max())
        known, front = cell.set_index("method"), least(public(cell))
        told = {
            name: measured(*over(known.loc[name], front)).replace(" ", NARROW_SPACE) if name in known.index else "–"
            for name in REMEDIES
        }
        found.append({"data": short(str(problem)), "n": cell["n"].iloc[0]} | told)
    return pd.DataFrame(found).set_index(["data", "n"])
