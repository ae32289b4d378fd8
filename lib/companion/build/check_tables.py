"""Two executions of a chapter, compared: verdicts exactly, tables and the numbers of verdicts to their tolerances."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from companion.judging.tolerances import NUMBER, Declared, Exact, Tolerance, of_column

NONE = "no finding"
EXACT = ("verdict", "consequence", "should_read", "condition", "vacuous")
NUMBERS = "verdicts"  # the table, among those with tolerances, whose columns are the numbers of verdicts
FIELDS = ("value", "error", "against")


@dataclass(frozen=True)
class Difference:
    """A column of a table, or a number of a finding, that did not come out again.

    Attributes:
        name: the column, or the claim and the number.
        row: where the worst of its cells stands, from 0; -1 for what has no rows.
        expected: what is committed there.
        found: what came out.
        tolerance: how far apart they may be, in words.
        cells: how many do not agree.
        verdict: whether it is a verdict, which a reader would call another conclusion, rather than a number.
    """

    name: str
    row: int
    expected: Any
    found: Any
    tolerance: str
    cells: int = 1
    verdict: bool = False

    @property
    def words(self) -> str:
        """It in words."""
        told = f"{_plain(self.found)!r} for {_plain(self.expected)!r}"
        if self.row < 0:
            return f"{self.name}, {told}" if not self.verdict else f"{self.name}: {told}"
        return f"{self.name} ({self.tolerance}): {self.cells} of its rows, {told} in row {self.row}"


@dataclass(frozen=True)
class Comparison:
    """The outcome of one comparison: which file, whether it is as it should be, in words, and what differs."""

    name: str
    agrees: bool
    words: str
    differences: tuple[Difference, ...] = ()


def compare(committed: Path, recomputed: Path, declared: Declared) -> list[Comparison]:
    """Compare every table, and the verdicts, of two folders of results.

    Args:
        committed: the folder that holds what is expected.
        recomputed: the folder that holds what came out now.
        declared: the tolerances of columns, by table; of the verdicts' numbers, by ``claim: name``, under `NUMBERS`.

    Returns:
        A finding for each table of either folder, and one for the verdicts where either has them.
    """
    names = sorted({path.name for folder in (committed, recomputed) for path in folder.glob("*.csv")})
    findings = [_compare_files(name, committed, recomputed, declared.get(Path(name).stem, {})) for name in names]
    old, new = (folder / "verdicts.json" for folder in (committed, recomputed))
    return findings + _compare_verdicts(old, new, declared.get(NUMBERS, {}))


def compare_tables(old: pd.DataFrame, new: pd.DataFrame, declared: Mapping[str, Tolerance]) -> list[Difference]:
    """How a table differs from another of its columns and rows.

    Args:
        old: the expected table.
        new: the table to judge.
        declared: tolerances by column; the others are what `tolerances.of_column` says.

    Returns:
        The columns that do not agree, each with the worst of its cells.
    """
    found = (_compare_columns(old, new[name], of_column(declared, old[name])) for name in old.columns)
    return [difference for difference in found if difference]


def _compare_files(name: str, committed: Path, recomputed: Path, declared: Mapping[str, Tolerance]) -> Comparison:
    """Compare one table of two folders."""
    old, new = committed / name, recomputed / name
    if not old.is_file() or not new.is_file():
        return Comparison(name, False, "was not written now" if old.is_file() else "is not committed")
    if old.read_bytes() == new.read_bytes():
        return Comparison(name, True, "the same bit for bit")
    before, now = pd.read_csv(old), pd.read_csv(new)
    shape = _other_shape(before, now)
    differences = [] if shape else compare_tables(before, now, declared)
    if shape or differences:
        words = shape or "; ".join(difference.words for difference in differences)
        return Comparison(name, False, f"differs: {words}", tuple(differences))
    return Comparison(name, True, "the same to its tolerances")


def _other_shape(old: pd.DataFrame, new: pd.DataFrame) -> str:
    """What is wrong with a table's columns or number of rows; empty where they are as expected."""
    if list(old.columns) != list(new.columns):
        return f"columns {', '.join(new.columns)} instead of {', '.join(old.columns)}"
    return f"{len(new)} rows instead of {len(old)}" if len(old) != len(new) else ""


def _compare_columns(old: pd.DataFrame, new: pd.Series, tolerance: Tolerance) -> Difference | None:
    """How a column differs from that of the expected table; None where it does not."""
    name = str(new.name)
    if _is_numeric(old[name]) != _is_numeric(new) and not new.isna().all():
        tolerance = Exact()
    distance = tolerance.distance(old, name, new)
    if (distance <= 1).all():
        return None
    worst = int(np.argmax(distance))
    return Difference(name, worst, old[name].iloc[worst], new.iloc[worst], str(tolerance), int((distance > 1).sum()))


def _is_numeric(column: pd.Series) -> bool:
    """Whether a column holds numbers, truth values not counted."""
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def same_verdicts(committed: Path, recomputed: Path) -> Comparison:
    """Compare the verdicts alone of two files, which hold at every size; numbers belong to a number of trials."""
    if not recomputed.is_file():
        return Comparison(committed.name, False, "were not written now")
    old, new = (
        {entry["claim"]: entry["verdict"] for entry in json.loads(path.read_text("utf-8"))}
        for path in (committed, recomputed)
    )
    found = tuple(
        Difference(claim, -1, old.get(claim, NONE), new.get(claim, NONE), "exactly", verdict=True)
        for claim in sorted({*old, *new})
        if old.get(claim) != new.get(claim)
    )
    return Comparison(committed.name, not found, "; ".join(each.words for each in found) or "the same", found)


def _compare_verdicts(committed: Path, recomputed: Path, declared: Mapping[str, Tolerance]) -> list[Comparison]:
    """Compare the verdicts of two files, if there are any."""
    if not committed.is_file() and not recomputed.is_file():
        return []
    if not committed.is_file() or not recomputed.is_file():
        words = "were not written now" if committed.is_file() else "are not committed"
        return [Comparison(committed.name, False, words)]
    old, new = (
        {entry["claim"]: entry for entry in json.loads(path.read_text("utf-8"))} for path in (committed, recomputed)
    )
    found = tuple(each for claim in sorted({*old, *new}) for each in _differences(claim, old, new, declared))
    return [Comparison(committed.name, not found, "; ".join(each.words for each in found) or "the same", found)]


def _differences(
    claim: str, old: dict[str, Any], new: dict[str, Any], declared: Mapping[str, Tolerance]
) -> list[Difference]:
    """How the finding on a claim differs."""
    if claim not in old or claim not in new:
        before, now = (found[claim]["verdict"] if claim in found else NONE for found in (old, new))
        return [Difference(claim, -1, before, now, "exactly", verdict=True)]
    before, now = old[claim], new[claim]
    changed = [
        Difference(claim, -1, before[key], now[key], "exactly", verdict=True)
        for key in EXACT
        if now[key] != before[key]
    ]
    names = [[number["name"] for number in entry["numbers"]] for entry in (before, now)]
    if names[0] != names[1]:
        return [*changed, Difference(claim, -1, names[0], names[1], "exactly", verdict=True)]
    return changed + list(_other_numbers(claim, before["numbers"], now["numbers"], declared))


def _other_numbers(
    claim: str, before: list[dict[str, Any]], now: list[dict[str, Any]], declared: Mapping[str, Tolerance]
) -> Iterator[Difference]:
    """The numbers of a finding that differ: the first of value, error, and what it is held against, of each."""
    old, new = (pd.DataFrame(numbers, columns=FIELDS).astype(float) for numbers in (before, now))
    usual = {field: NUMBER.distance(old, field, new[field]) for field in FIELDS}
    for row, number in enumerate(before):
        name = f"{claim}: {number['name']}"
        rule = declared.get(name, NUMBER)
        own = {field: rule.distance(old, field, new[field]) if name in declared else usual[field] for field in FIELDS}
        apart = [field for field in FIELDS if own[field][row] > 1]
        if apart:
            told = name if apart[0] == "value" else f"{name}, {apart[0]}"
            yield Difference(told, -1, number.get(apart[0]), now[row].get(apart[0]), str(rule))


def _plain(value: Any) -> Any:
    """A cell as Python's own value."""
    return value.item() if isinstance(value, np.generic) else value
