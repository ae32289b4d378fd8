"""diffprivlib's runs as rows of the table ``errors``, beside the methods that are measured here."""

import math
from typing import Any

import numpy as np
import pandas as pd

from chapters.privacy.rivals import diffprivlib, methods
from companion import _fits
from companion.judging.prose import listed
from companion.judging.tables import Tables

LABEL = "diffprivlib, δ = 0"
METHODS = (*methods.METHODS, LABEL)
CELL = ["problem", "n", "epsilon"]


def joined(tables: Tables) -> pd.DataFrame:
    """The table ``errors`` with rows for diffprivlib, and the column ``failed``: the share of trials without an answer.

    ``behind`` is a difference of means there, its error the root of the sum of squares: the records are the same, so
    that it errs on the large side. Where diffprivlib loses least, the others are behind it by such differences.
    """
    errors = tables["errors"].assign(failed=0.0)
    rows = []
    for key, runs in tables[diffprivlib.NAME].groupby(CELL, sort=False):
        cell = np.logical_and.reduce([errors[name] == value for name, value in zip(CELL, key, strict=True)])
        front = errors[cell & (errors["setting"] == 0) & errors["method"].isin(methods.METHODS)]
        leader = front.loc[front["lost"].idxmin()]
        own = [_row(runs, setting, leader) for setting in range(diffprivlib.SETTINGS)]
        if own[0]["behind"] < 0:
            compared = cell & errors["method"].isin(methods.METHODS)
            errors.loc[compared, "behind"] = errors.loc[compared, "lost"] - own[0]["lost"]
            errors.loc[compared, "behind_error"] = np.hypot(errors.loc[compared, "lost_error"], own[0]["lost_error"])
            own = [row | {"behind": row["lost"] - own[0]["lost"]} for row in own]
        rows += own
    return pd.concat([errors, pd.DataFrame(rows)], ignore_index=True) if rows else errors


def _row(runs: pd.DataFrame, setting: int, leader: pd.Series) -> dict[str, Any]:
    """One cell and setting."""
    error, width = runs[f"error_{setting}"].to_numpy(), (runs["zero"] - runs["floor"]).to_numpy()
    test, test_error = _fits.mean_and_error(error)
    lost, lost_error = _fits.mean_and_error((error - runs["floor"].to_numpy()) / width)
    shared = leader[["problem", "n", "d", "epsilon", "zero", "floor"]].to_dict() | {"delta": 0.0}
    shared |= {"trials": len(runs), "method": LABEL, "setting": setting}
    measured = {"test_error": test, "test_error_error": test_error, "lost": lost, "lost_error": lost_error}
    behind = {"behind": lost - leader["lost"], "behind_error": math.hypot(lost_error, leader["lost_error"])}
    return shared | measured | behind | {"failed": float(runs[f"unsolved_{setting}"].mean())}


def origin(tables: Tables) -> str:
    """Where diffprivlib's runs on this page come from, and which cases have none."""
    cells = tables["errors"][[*CELL, "d"]].drop_duplicates()
    known = set(map(tuple, tables[diffprivlib.NAME][CELL].drop_duplicates().to_numpy().tolist()))
    said = [f"*diffprivlib.* {diffprivlib.RECORD.origin(tables[diffprivlib.NAME])}"]
    large = cells[cells["d"] > diffprivlib.MOST]
    if len(large):
        counts = listed(f"{diffprivlib.coefficients(d):,} at $d={d}$" for d in sorted(set(large["d"])))
        said.append(
            f"It was not run beyond {diffprivlib.MOST} features ({len(large)} of {len(cells)} cases): it would "
            f"share $\\varepsilon$ among {counts}."
        )
    missing = [row for row in cells[cells["d"] <= diffprivlib.MOST].itertuples() if _key(row) not in known]
    if missing:
        said.append(
            f"{len(missing)} of {len(cells)} cases are not measured: they are not among the committed runs; to measure "
            f"them: `{diffprivlib.RECORD.extra.remedy}`."
        )
    return " ".join(said)


def _key(row: object) -> tuple[object, ...]:
    return tuple(getattr(row, name) for name in CELL)


def failures(tables: Tables) -> str:
    """In how many cases the choice from public knowledge fails in some trial."""
    rows = joined(tables)
    rows = rows[(rows["method"] == LABEL) & (rows["setting"] == 0)]
    if rows.empty:
        return "It was measured in no case of this page."
    some, every = int((rows["failed"] > 0).sum()), int((rows["failed"] == 1).sum())
    return f"Its public setting fails in some trial in {some} of {len(rows)} cases, in all trials in {every}."
