"""Two executions of a chapter, compared: tables to a tolerance, verdicts exactly, their numbers to their own errors."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

EXACT = ("verdict", "consequence", "correction")


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
    return findings + _compare_verdicts(committed / "verdicts.json", recomputed / "verdicts.json", tolerance)


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


def _compare_verdicts(committed: Path, recomputed: Path, tolerance: Tolerance) -> list[Finding]:
    """Compare the verdicts of two files, if there are any."""
    if not committed.is_file() and not recomputed.is_file():
        return []
    if not committed.is_file() or not recomputed.is_file():
        words = "were not written now" if committed.is_file() else "are not committed"
        return [Finding(committed.name, False, words)]
    old, new = (
        {entry["claim"]: entry for entry in json.loads(path.read_text("utf-8"))} for path in (committed, recomputed)
    )
    differences = [text for claim in sorted({*old, *new}) for text in _differences(claim, old, new, tolerance)]
    return [Finding(committed.name, not differences, "; ".join(differences) or "the same")]


def _differences(claim: str, old: dict[str, Any], new: dict[str, Any], tolerance: Tolerance) -> list[str]:
    """How the finding on a claim differs, in words."""
    if claim not in old or claim not in new:
        return [f"{claim}: {'was not judged now' if claim in old else 'is not committed'}"]
    before, now = old[claim], new[claim]
    changed = [f"{claim}: {now[key]!r} for {before[key]!r}" for key in EXACT if now[key] != before[key]]
    names = [[number["name"] for number in entry["numbers"]] for entry in (before, now)]
    if names[0] != names[1]:
        return [*changed, f"{claim}: other numbers"]
    pairs = zip(before["numbers"], now["numbers"], strict=True)
    return changed + [
        f"{claim}: {b['name']}, {n['value']!r} for {b['value']!r}" for b, n in pairs if not _near(b, n, tolerance)
    ]


def _near(before: dict[str, Any], now: dict[str, Any], tolerance: Tolerance) -> bool:
    """Whether a number is what it was: within its own standard error, or the tolerance where it has none."""
    old, new = float(before["value"]), float(now["value"])
    error = float(before["error"] or 0.0)
    return bool(np.isclose(new, old, rtol=tolerance.relative, atol=error + tolerance.absolute, equal_nan=True))
