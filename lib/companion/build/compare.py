"""Two executions of a chapter, compared.

A repetition must give the same verdicts exactly, tables and the numbers of verdicts to their tolerances (`compare`). A
run with other parameters is shown beside the book (`beside`): rows belong together where the fewest first columns that
tell the rows apart say the same, or, where these have nothing in common, by their places, if there are as many.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from companion.judging.claims import VERDICTS_FILE
from companion.judging.tolerances import NUMBER, Declared, Exact, Tolerance, of_column
from companion.running.stamps import read_table

NONE = "no finding"
EXACT = ("verdict", "consequence", "should_read", "condition", "vacuous")
NUMBERS = "verdicts"  # the table, among those with tolerances, whose columns are the numbers of verdicts
FIELDS = ("value", "error", "against")
BESIDE = "beside-the-book"  # the files of a run that say how it differs from the book
SIDES = ("@book", "@here")  # end the columns of two tables in one
COLUMNS = ("row", "column", "book", "here", "ratio", "standard_errors")
FAR = 4.0  # standard errors
SAME = 1e-9  # of a number: what differs by less is rounding


@dataclass(frozen=True)
class Difference:
    """A column of a table, or a number of a finding, that did not come out again.

    Attributes:
        name: the column, or the claim and the number. row: of the worst cell, from 0; -1 for what has no rows.
        tolerance: how far apart they may be, in words. cells: how many do not agree.
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
        found, expected = (
            each.item() if isinstance(each, np.generic) else each for each in (self.found, self.expected)
        )
        change = f"{found!r} for {expected!r}"
        if self.row < 0:
            return f"{self.name}, {change}" if not self.verdict else f"{self.name}: {change}"
        return f"{self.name} ({self.tolerance}): {self.cells} of its rows, {change} in row {self.row}"


@dataclass(frozen=True)
class Comparison:
    """The outcome of one comparison: which file, whether it is as it should be, in words, and what differs."""

    name: str
    agrees: bool
    words: str
    differences: tuple[Difference, ...] = ()


def compare(committed: Path, recomputed: Path, declared: Declared) -> list[Comparison]:
    """Compare tables and verdicts of two folders to tolerances, by table; those of verdicts under `NUMBERS`."""
    names = sorted({path.name for folder in (committed, recomputed) for path in folder.glob("*.csv")})
    findings = [_compare_files(name, committed, recomputed, declared.get(Path(name).stem, {})) for name in names]
    old, new = (folder / VERDICTS_FILE for folder in (committed, recomputed))
    judged = old.is_file() or new.is_file()
    return [*findings, compare_verdicts(old, new, declared.get(NUMBERS, {}))] if judged else findings


def compare_tables(old: pd.DataFrame, new: pd.DataFrame, declared: Mapping[str, Tolerance]) -> list[Difference]:
    """The columns in which a table differs from the expected one of its columns and rows, each with its worst cell."""
    found = []
    for name in map(str, old.columns):
        before, now = old[name], new[name]
        same_kind = _is_number(before) == _is_number(now) or now.isna().all()
        tolerance = of_column(declared, before) if same_kind else Exact()
        distance = tolerance.distance(old, name, now)
        if not (distance <= 1).all():
            worst, cells = int(np.argmax(distance)), int((distance > 1).sum())
            found.append(Difference(name, worst, before.iloc[worst], now.iloc[worst], str(tolerance), cells))
    return found


def _compare_files(name: str, committed: Path, recomputed: Path, declared: Mapping[str, Tolerance]) -> Comparison:
    old, new = committed / name, recomputed / name
    if not old.is_file() or not new.is_file():
        return Comparison(name, False, "was not written now" if old.is_file() else "is not committed")
    if old.read_bytes() == new.read_bytes():
        return Comparison(name, True, "the same bit for bit")
    before, now = pd.read_csv(old), pd.read_csv(new)
    shape = f"{len(now)} rows instead of {len(before)}" if len(before) != len(now) else ""
    if list(before.columns) != list(now.columns):
        shape = f"columns {', '.join(now.columns)} instead of {', '.join(before.columns)}"
    differences = [] if shape else compare_tables(before, now, declared)
    if shape or differences:
        words = shape or "; ".join(difference.words for difference in differences)
        return Comparison(name, False, f"differs: {words}", tuple(differences))
    return Comparison(name, True, "the same to its tolerances")


def compare_verdicts(committed: Path, recomputed: Path, declared: Mapping[str, Tolerance] | None = None) -> Comparison:
    """Compare two files of verdicts; without tolerances the verdicts alone, which hold at every number of trials."""
    for path, words in ((recomputed, "were not written now"), (committed, "are not committed")):
        if not path.is_file():
            return Comparison(committed.name, False, words)
    old, new = _read_verdicts(committed), _read_verdicts(recomputed)
    found = tuple(each for claim in sorted({*old, *new}) for each in _differences(claim, old, new, declared))
    return Comparison(committed.name, not found, "; ".join(each.words for each in found) or "the same", found)


def _differences(
    claim: str, old: dict[str, Any], new: dict[str, Any], declared: Mapping[str, Tolerance] | None
) -> list[Difference]:
    """What differs of a finding: the verdict alone where only one file has it, or no tolerances are given."""
    before, now = (found.get(claim, {"verdict": NONE}) for found in (old, new))
    whole = declared is not None and claim in old and claim in new
    changed = [
        Difference(claim, -1, before[key], now[key], "exactly", verdict=True)
        for key in (EXACT if whole else ("verdict",))
        if now[key] != before[key]
    ]
    if declared is None or not whole:
        return changed
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
            label = name if apart[0] == "value" else f"{name}, {apart[0]}"
            yield Difference(label, -1, number.get(apart[0]), now[row].get(apart[0]), str(rule))


def _read_verdicts(path: Path) -> dict[str, dict[str, Any]]:
    return {entry["claim"]: entry for entry in json.loads(path.read_text("utf-8"))} if path.is_file() else {}


@dataclass(frozen=True)
class Pair:
    """Two tables of one name, a row a number, with `COLUMNS`; ``rows``: how many in both, in the book's, here alone."""

    name: str
    numbers: pd.DataFrame
    rows: tuple[int, int, int]

    def __str__(self) -> str:
        both, book, here = self.rows
        alone = [f"{count} only {where}" for count, where in ((book, "in the book"), (here, "here")) if count]
        summary = f"{self.name}: {', '.join([f'{both} rows in both', *alone])}"
        if not both:
            return summary
        changed = self.numbers[~np.isclose(self.numbers["ratio"], 1.0, rtol=SAME, atol=0.0)]
        if changed.empty:
            return f"{summary}; no number changed"
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.abs(np.log(changed["ratio"].abs().to_numpy(float)))
        worst = changed.iloc[int(np.argmax(np.nan_to_num(size, nan=np.inf)))]
        far = int((changed["standard_errors"].abs() > FAR).sum())
        beyond = f", {far} by more than {FAR:g} standard errors" if changed["standard_errors"].notna().any() else ""
        return (
            f"{summary}; {len(changed)} of {len(self.numbers)} numbers changed{beyond}; the largest change is in "
            f"{worst.column}, {worst.here:.3g} instead of {worst.book:.3g} at {worst.row}"
        )


def beside(book: Path, here: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Compare a run with the book's, whose parameters were those ``before``; returns what changed, in lines.

    Leaves in the run's folder ``beside-the-book.md``, these lines, and ``beside-the-book.json``, each number that
    stands in both with its change.
    """
    given = [name for name, value in now.items() if value != before[name]]
    changed = [f"{name} = {now[name]} instead of {before[name]}" for name in given]
    pairs = []
    for path in sorted(path for path in here.glob("*.csv") if (book / path.name).is_file()):
        tables = [read_table(folder / path.name) for folder in (book, here)]
        repeated = set(given) - set(_keys(*tables))  # columns behind the first that only say what was given
        pairs.append(paired(path.stem, *(table.drop(columns=[*repeated & set(table)]) for table in tables)))
    parameters = f"parameters: {'; '.join(changed)}" if changed else "parameters: as in the book"
    old, new = (_read_verdicts(folder / VERDICTS_FILE) for folder in (book, here))
    both = [claim for claim in new if claim in old]
    other = [claim for claim in both if new[claim]["verdict"] != old[claim]["verdict"]]
    lines = [parameters]
    for claim in other:
        lines.append(f"{claim}: {new[claim]['verdict']} instead of {old[claim]['verdict']}. {new[claim]['headline']}")
    if both:
        lines.append(f"verdicts: {len(both) - len(other)} of {len(both)} as in the book")
    lines += map(str, pairs)
    text = "\n".join(["# Compared with the book", "", *(f"- {line}" for line in lines), ""])
    (here / f"{BESIDE}.md").write_text(text, "utf-8")
    numbers = {pair.name: json.loads(pair.numbers.to_json(orient="records", double_precision=15)) for pair in pairs}
    (here / f"{BESIDE}.json").write_text(json.dumps(numbers, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return lines


def paired(name: str, book: pd.DataFrame, here: pd.DataFrame) -> Pair:
    """Two tables of one name, row by row."""
    keys = _keys(book, here)
    beside = [table.reset_index(drop=True).add_suffix(side) for table, side in zip((book, here), SIDES, strict=True)]
    both = book.merge(here, on=keys, suffixes=SIDES) if keys else pd.concat(beside, axis=1).iloc[:0]
    if both.empty and len(book) == len(here):
        keys, both = [], pd.concat(beside, axis=1)
    common = [column for column in book.columns if column in here.columns and column not in keys]
    measured = [column for column in common if _is_number(*(both[f"{column}{side}"] for side in SIDES))]
    errors = {column: _error_column(column, measured) for column in measured}
    rows = [f"row {number + 1}" for number in range(len(both))]
    if keys:
        rows = [", ".join(f"{key} = {row[key]}" for key in keys) for row in both.to_dict("records")]
    numbers: list[pd.DataFrame] = []
    for column in (column for column in measured if column not in errors.values()):
        error = errors[column]
        before, now = (both[f"{column}{side}"].to_numpy(float) for side in SIDES)
        equal = (before == now) | (np.isnan(before) & np.isnan(now))
        mine, theirs = (both[f"{error}{side}"].to_numpy(float) if error else np.nan for side in SIDES)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio, apart = np.where(equal, 1.0, now / before), (now - before) / np.hypot(mine, theirs)
        numbers.append(pd.DataFrame(dict(zip(COLUMNS, (rows, column, before, now, ratio, apart), strict=True))))
    table = pd.concat(numbers, ignore_index=True) if numbers else pd.DataFrame(columns=list(COLUMNS))
    return Pair(name, table, (len(both), len(book) - len(both), len(here) - len(both)))


def _keys(book: pd.DataFrame, here: pd.DataFrame) -> list[str]:
    """The fewest first columns, the same in both, that tell the rows of each table apart; none where none do."""
    keys: list[str] = []
    for one, two in zip(book.columns, here.columns, strict=False):
        if one != two or _is_number(book[one]) != _is_number(here[two]):
            break
        keys.append(one)
        if not book.duplicated(keys).any() and not here.duplicated(keys).any():
            return keys
    return []


def _error_column(name: str, columns: list[str]) -> str:
    """The column of a column's error: of its name, else the next ``standard_error`` that is of no other's."""
    if f"{name}_error" in columns:
        return f"{name}_error"
    for other in columns[columns.index(name) + 1 :]:
        if other == "standard_error":
            return other
        if f"{other}_error" not in columns:
            return ""
    return ""


def _is_number(*columns: pd.Series) -> bool:
    types = pd.api.types
    return all(types.is_numeric_dtype(column) and not types.is_bool_dtype(column) for column in columns)
