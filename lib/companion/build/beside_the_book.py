"""A chapter run with other parameters, beside the book's: which verdicts and which numbers changed.

Rows of two tables belong together where their first columns say the same: the fewest that tell the rows of each table
apart. Where these have nothing in common, rows that stand in the same place do, if there are as many.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from companion.running.stamps import read_table

NAME = "beside-the-book"
ROW, COLUMN, BOOK, HERE, RATIO, APART = "row", "column", "book", "here", "ratio", "standard_errors"
COLUMNS = (ROW, COLUMN, BOOK, HERE, RATIO, APART)
FAR = 4.0  # standard errors
SAME = 1e-9  # of a number: what differs by less is rounding


@dataclass(frozen=True)
class Pair:
    """Two tables of one name: their numbers side by side, and how many rows belong together.

    Args:
        name: the tables'. numbers: one row a number, with `COLUMNS`. rows: rows in both, in the book's, and here alone.
    """

    name: str
    numbers: pd.DataFrame
    rows: tuple[int, int, int]

    def __str__(self) -> str:
        both, book, here = self.rows
        alone = [f"{count} only {where}" for count, where in ((book, "in the book"), (here, "here")) if count]
        told = f"{self.name}: {', '.join([f'{both} rows in both', *alone])}"
        return f"{told}; {self._most()}" if both else told

    def _most(self) -> str:
        """The number that changed most, and how many did."""
        changed = self.numbers[~np.isclose(self.numbers[RATIO], 1.0, rtol=SAME, atol=0.0)]
        if changed.empty:
            return "no number changed"
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.abs(np.log(changed[RATIO].abs().to_numpy(float)))
        worst = changed.iloc[int(np.argmax(np.nan_to_num(size, nan=np.inf)))]
        far = int((changed[APART].abs() > FAR).sum())
        beyond = f", {far} by more than {FAR:g} standard errors" if changed[APART].notna().any() else ""
        return (
            f"{len(changed)} of {len(self.numbers)} numbers changed{beyond}; the largest change is in {worst[COLUMN]}, "
            f"{worst[HERE]:.3g} instead of {worst[BOOK]:.3g} at {worst[ROW]}"
        )


def beside(book: Path, here: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Compare a run with the book's, and write both sides into the run's folder.

    Leaves ``beside-the-book.md``, the comparison in lines, and ``beside-the-book.json``, each number that stands in
    both with its change.

    Args:
        book: the folder of the committed results. here: the folder of the run's.
        before: the book's parameters. now: the run's.

    Returns:
        A line for the parameters, one for each verdict that changed or one for none, one for each table.
    """
    changed = {name for name, value in now.items() if value != before[name]}
    pairs = [compare(path.stem, *_read(book / path.name, path, changed)) for path in _tables(book, here)]
    lines = [_parameters(before, now), *_verdicts(book, here), *map(str, pairs)]
    text = "\n".join(["# Compared with the book", "", *(f"- {line}" for line in lines), ""])
    (here / f"{NAME}.md").write_text(text, "utf-8")
    numbers = {pair.name: json.loads(pair.numbers.to_json(orient="records", double_precision=15)) for pair in pairs}
    (here / f"{NAME}.json").write_text(json.dumps(numbers, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return lines


def compare(name: str, book: pd.DataFrame, here: pd.DataFrame) -> Pair:
    """Two tables of one name, row by row."""
    keys = _keys(book, here)
    places = _matched(book, here, keys)
    if not places and len(book) == len(here):
        keys, places = [], [(number, number) for number in range(len(book))]
    left, right = (table.iloc[[pair[side] for pair in places]] for side, table in enumerate((book, here)))
    both = [column for column in book.columns if column in here.columns and column not in keys]
    measured = [column for column in both if _is_number(left[column], right[column])]
    numbers = [_column(column, left, right, keys) for column in measured if column not in _errors(measured)]
    table = pd.concat(numbers, ignore_index=True) if numbers else pd.DataFrame(columns=list(COLUMNS))
    return Pair(name, table, (len(places), len(book) - len(places), len(here) - len(places)))


def _matched(book: pd.DataFrame, here: pd.DataFrame, keys: list[str]) -> list[tuple[int, int]]:
    """The places of the rows that belong together."""
    if not keys:
        return []
    places = {label: place for place, label in enumerate(_labels(here, keys))}
    return [(place, places[label]) for place, label in enumerate(_labels(book, keys)) if label in places]


def _labels(table: pd.DataFrame, keys: list[str]) -> list[tuple[str, ...]]:
    """What the first columns of each row say; 1000 and 1000.0 say the same."""
    columns = [table[key].astype(float) if _is_number(table[key]) else table[key] for key in keys]
    return list(zip(*(column.astype(str) for column in columns), strict=True))


def _column(name: str, book: pd.DataFrame, here: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """A column of two tables side by side."""
    before, now = book[name].to_numpy(float), here[name].to_numpy(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(_equal(before, now), 1.0, now / before)
        apart = (now - before) / np.hypot(_error(name, book), _error(name, here))
    rows = [_words(row, keys, number) for number, row in enumerate(here.to_dict("records"))]
    return pd.DataFrame({ROW: rows, COLUMN: name, BOOK: before, HERE: now, RATIO: ratio, APART: apart})


def _equal(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    return (before == now) | (np.isnan(before) & np.isnan(now))


def _words(row: Mapping[Any, Any], keys: list[str], number: int) -> str:
    return ", ".join(f"{key} = {row[key]}" for key in keys) if keys else f"row {number + 1}"


def _errors(columns: list[str]) -> set[str]:
    """The columns that hold another's standard error."""
    return {found for column in columns if (found := _error_column(column, columns))}


def _error_column(name: str, columns: list[str]) -> str:
    """The column of a column's standard error; empty where there is none.

    It is the one of its name, else the next ``standard_error``, if all columns between have one of their own name.
    """
    if f"{name}_error" in columns:
        return f"{name}_error"
    for other in columns[columns.index(name) + 1 :]:
        if other == "standard_error":
            return other
        if f"{other}_error" not in columns:
            return ""
    return ""


def _error(name: str, table: pd.DataFrame) -> np.ndarray:
    found = _error_column(name, list(table.columns))
    return table[found].to_numpy(float) if found else np.full(len(table), np.nan)


def _keys(book: pd.DataFrame, here: pd.DataFrame) -> list[str]:
    """The fewest first columns, the same in both, that tell the rows of each table apart; none where none do."""
    keys: list[str] = []
    for one, two in zip(book.columns, here.columns, strict=False):
        if one != two:
            break
        keys.append(one)
        if not book.duplicated(keys).any() and not here.duplicated(keys).any():
            return keys
    return []


def _is_number(*columns: pd.Series) -> bool:
    types = pd.api.types
    return all(types.is_numeric_dtype(column) and not types.is_bool_dtype(column) for column in columns)


def _read(book: Path, here: Path, given: set[str]) -> list[pd.DataFrame]:
    """Two tables, without the columns behind the first that only repeat what was given."""
    tables = [read_table(path) for path in (book, here)]
    keys = _keys(*tables)
    return [table.drop(columns=[name for name in given if name in table and name not in keys]) for table in tables]


def _tables(book: Path, here: Path) -> list[Path]:
    """The tables of a run that the book has, too."""
    return [path for path in sorted(here.glob("*.csv")) if (book / path.name).is_file()]


def _parameters(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    changed = [f"{name} = {value} instead of {before[name]}" for name, value in now.items() if value != before[name]]
    return f"parameters: {'; '.join(changed)}" if changed else "parameters: as in the book"


def _verdicts(book: Path, here: Path) -> Iterator[str]:
    """The verdicts that changed, a line each, or one line."""
    old, new = (_findings(folder) for folder in (book, here))
    both = [claim for claim in new if claim in old]
    changed = [claim for claim in both if new[claim]["verdict"] != old[claim]["verdict"]]
    for claim in changed:
        yield f"{claim}: {new[claim]['verdict']} instead of {old[claim]['verdict']}. {new[claim]['headline']}"
    if both:
        yield f"verdicts: {len(both) - len(changed)} of {len(both)} as in the book"


def _findings(folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / "verdicts.json"
    return {entry["claim"]: entry for entry in json.loads(path.read_text("utf-8"))} if path.is_file() else {}
