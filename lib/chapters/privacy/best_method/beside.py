"""The other methods case by case: which of them beat the best of the campaign's four, and by how much."""

from __future__ import annotations

import pandas as pd

from chapters.privacy.best_method.cases import KEY, NEAR, NOISE
from companion.judging.vocabulary import CONSISTENT


def compared(rivals: pd.DataFrame) -> pd.DataFrame:
    """A row for each method that runs in a case in which some private method, of the four or another, beats the mean.

    Args:
        rivals: a row for each case and method, as `others.measure` makes it.

    Returns:
        The key and ``method``; ``best``, of the four; ``ratio``, the excess error of the method over that of the best;
        ``wins``, whether it is smaller than that of the best by more than `NOISE` standard errors of the paired
        difference, and smaller than that of the mean; ``clearly``, the same by `CONSISTENT` standard errors.
    """
    found = []
    for _, rows in rivals.groupby(KEY, sort=False):
        if not rows[["excess", "best_excess"]].min().min() < rows["constant"].iloc[0]:
            continue
        found.append(rows[rows["excess"].notna()])
    if not found:
        return pd.DataFrame(columns=[*KEY, "method", "best", "ratio", "wins", "clearly"])
    told = pd.concat(found, ignore_index=True)
    helps = told["excess"] < told["constant"]
    told = told.assign(
        ratio=told["excess"] / told["best_excess"],
        wins=helps & (told["behind"] < -NOISE * told["behind_error"]),
        clearly=helps & (told["behind"] < -CONSISTENT * told["behind_error"]),
    )
    return told[[*KEY, "method", "best", "ratio", "wins", "clearly"]]


def won(rivals: pd.DataFrame) -> pd.DataFrame:
    """A row for each case that some other method wins: the one that is farthest ahead, and how many win it.

    Args:
        rivals: as for `compared`.

    Returns:
        As `compared`, with ``winners``, the number of methods that win the case, for ``wins``.
    """
    found = compared(rivals)
    ahead = found[found["wins"].astype(bool)]
    winners = ahead.groupby(KEY, sort=False)["method"].transform("size")
    ahead = ahead.assign(winners=winners).sort_values("ratio", kind="stable").drop_duplicates(KEY)
    return ahead.sort_index().drop(columns="wins").reset_index(drop=True)


def overall(rivals: pd.DataFrame) -> pd.DataFrame:
    """A row for each case: the choice from public numbers beside the best of all methods, the four and the others.

    Args:
        rivals: as for `compared`.

    Returns:
        The key; ``best``, of all methods; ``chosen``; ``ratio``, the excess error of the choice over the least; and
        ``near``, whether the choice is within `NEAR` of the best or within `NOISE` standard errors of the paired
        difference.
    """
    found = []
    for key, rows in rivals.groupby(KEY, sort=False):
        row = rows.loc[rows["excess"].idxmin()]
        other = row["excess"] < row["best_excess"]
        least = row["excess"] if other else row["best_excess"]
        if not least < row["constant"]:
            continue
        lead, error = (row[f"{'lead' if other else 'choice_behind'}{end}"] for end in ("", "_error"))
        near = row["choice_excess"] <= NEAR * least or lead <= NOISE * error
        told = dict(zip(KEY, key, strict=True)) | {"best": row["method"] if other else row["best"]}
        found.append(told | {"chosen": row["choice"], "ratio": row["choice_excess"] / least, "near": bool(near)})
    return pd.DataFrame(found, columns=[*KEY, "best", "chosen", "ratio", "near"])
