"""Two executions of a chapter, compared: their tables to a tolerance, their verdicts exactly."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

EVIDENCE = "evidence"


@dataclass(frozen=True)
class Tolerance:
    """How far numbers may lie apart: ``|new - old| <= absolute + relative * |old|``."""

    relative: float = 1e-6
    absolute: float = 1e-12


@dataclass(frozen=True)
class Finding:
    """The outcome of one comparison: which file, whether it is as it should be, and in words."""

    name: str
    agrees: bool
    words: str


def compare(committed: Path, recomputed: Path, tolerance: Tolerance) -> list[Finding]:
    """Compare every table, and the verdicts, of two folders of results.

    Args:
        committed: the folder that holds what is expected.
        recomputed: the folder that holds what came out now.
        tolerance: for the numbers in tables.

    Returns:
        A finding for each table of either folder, and one for the verdicts where either has them.
    """
    names = sorted({path.name for folder in (committed, recomputed) for path in folder.glob("*.csv")})
    findings = [_compare_files(name, committed, recomputed, tolerance) for name in names]
    return findings + _compare_verdicts(committed / "verdicts.json", recomputed / "verdicts.json")


def compare_tables(old: pd.DataFrame, new: pd.DataFrame, tolerance: Tolerance) -> str:
    """How a table differs from another: empty where columns, rows, text and, to the tolerance, numbers agree.

    Args:
        old: the expected table.
        new: the table to judge.
        tolerance: for columns of numbers.

    Returns:
        The differences in words.
    """
    if list(old.columns) != list(new.columns):
        return f"columns {', '.join(new.columns)} instead of {', '.join(old.columns)}"
    if len(old) != len(new):
        return f"{len(new)} rows instead of {len(old)}"
    differences = (_compare_columns(old[name], new[name], tolerance) for name in old.columns)
    return "; ".join(text for text in differences if text)


def verdicts(path: Path) -> Any:
    """The verdicts in a file, without their evidence, whose numbers depend on the number of trials."""
    return _without_evidence(json.loads(path.read_text("utf-8")))


def _compare_files(name: str, committed: Path, recomputed: Path, tolerance: Tolerance) -> Finding:
    """Compare one table of two folders."""
    old, new = committed / name, recomputed / name
    if not old.is_file() or not new.is_file():
        return Finding(name, False, "was not written now" if old.is_file() else "is not committed")
    if old.read_bytes() == new.read_bytes():
        return Finding(name, True, "the same bit for bit")
    difference = compare_tables(_read(old), _read(new), tolerance)
    if difference:
        return Finding(name, False, f"differs: {difference}")
    return Finding(name, True, f"the same to {tolerance.relative:g} relative, {tolerance.absolute:g} absolute")


def _read(path: Path) -> pd.DataFrame:
    """A table in a file."""
    return pd.read_csv(path)


def _compare_columns(old: pd.Series, new: pd.Series, tolerance: Tolerance) -> str:
    """How a column differs from another of the same length; empty where it does not."""
    if not (_is_numeric(old) and _is_numeric(new)):
        apart = int((old.astype(object).fillna("") != new.astype(object).fillna("")).sum())
        return f"{old.name}: {apart} of {len(old)} rows" if apart else ""
    before, now = old.to_numpy(float), new.to_numpy(float)
    close = np.isclose(now, before, rtol=tolerance.relative, atol=tolerance.absolute, equal_nan=True)
    if close.all():
        return ""
    worst = int(np.argmax(np.where(close, -1.0, np.nan_to_num(np.abs(now - before), nan=np.inf))))
    return f"{old.name}: {int((~close).sum())} of {len(old)} rows, {float(now[worst])!r} for {float(before[worst])!r}"


def _is_numeric(column: pd.Series) -> bool:
    """Whether a column holds numbers, truth values not counted."""
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _compare_verdicts(committed: Path, recomputed: Path) -> list[Finding]:
    """Compare the verdicts of two files, if there are any."""
    if not committed.is_file() and not recomputed.is_file():
        return []
    if not committed.is_file() or not recomputed.is_file():
        words = "were not written now" if committed.is_file() else "are not committed"
        return [Finding(committed.name, False, words)]
    agree = verdicts(committed) == verdicts(recomputed)
    return [Finding(committed.name, agree, "the same" if agree else "other verdicts")]


def _without_evidence(node: Any) -> Any:
    """A piece of JSON without the entries called ``evidence``."""
    if isinstance(node, dict):
        return {key: _without_evidence(value) for key, value in node.items() if key != EVIDENCE}
    return [_without_evidence(item) for item in node] if isinstance(node, list) else node
