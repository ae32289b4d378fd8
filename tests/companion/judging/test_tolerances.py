"""Each rule by hand; and no cell of a committed table can change by ten of its tolerances unseen."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from companion.build.compare import FIELDS, NUMBERS, compare, compare_tables
from companion.build.project import Project, chapters, is_plain, place
from companion.build.validate import declared
from companion.judging import tolerances
from companion.judging.tolerances import NUMBER, Cases, Errors, Exact, Relative, Rounding, Squares, Tolerance
from tests.each import each

PROJECT = Project(Path(__file__).parents[3])
WITH_TABLES = [name for name in chapters(PROJECT) if not is_plain(PROJECT, name)]
TABLE = pd.DataFrame(
    {"risk": [1.0, 1e-20, 0.0, np.inf], "whole": [10.0, 10.0, 2.0, 1.0], "error": [0.1, 0.2, 0.0, 1.0]}
)


@each(
    ("rule", "now", "expected"),
    [
        (Relative(1e-3), [1.001, 1.002e-20, 0.0, np.inf], [1, 2, 0, 0]),
        (Relative(1e-3), [np.nan, -1e-20, 1e-300, 1.0], [np.inf, 2000, np.inf, np.inf]),
        (Relative(1e-3, of="whole"), [1.01, 0.01, 0.002, np.inf], [1, 1, 1, 0]),
        (Relative(1e-3, scale=5.0), [1.005, 0.005, 0.01, np.inf], [1, 1, 2, 0]),
        (Errors(0.5, "error"), [1.05, 0.2, 0.0, np.inf], [1, 2, 0, 0]),
        (Errors(0.5, "error"), [1.0, 0.0, 1e-9, 0.0], [0, 1e-19, np.inf, np.inf]),
        (Rounding(2, 1e-16), [0.01, 1e-14, 1e-17, np.inf], [1, 1, 0, 0]),
        (Rounding(2, 1e-16), [np.nan, 0.0, 1e-12, 1.0], [np.inf, 0, 2, np.inf]),
        (Rounding(2, lambda table: table["error"] / 1e15), [1e-16, 2e-14, 1e-17, np.inf], [8, 1, np.inf, 0]),
        (Squares(1e-10), [1 + 1.2e-9, 4e-20, 1e-20, np.inf], [1.2e-9 / (1e-6 + 2e-10), 1, 1, 0]),
        (Squares(1e-2, of="error", share=0.1), [1.0 + 0.1 + 2e-2 * 0.1**0.5 + 1e-4, 0, 1e-4, np.inf], [1, 0, 1, 0]),
        (
            Cases("whole", {10.0: Exact(), 1.0: Rounding()}, Relative(scale=1.0)),
            [1.1, 1e-20, 2e-6, 1],
            [np.inf, 0, 2, np.inf],
        ),
        (Exact(), [1.0, 1e-20, 1e-300, np.nan], [0, 0, np.inf, np.inf]),
    ],
)
def test_distances_by_hand(rule: Tolerance, now: list[float], expected: list[float]) -> None:
    found = rule.distance(TABLE, "risk", pd.Series(now))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


def test_a_column_without_a_declaration_is_exact_unless_it_has_points() -> None:
    table = pd.DataFrame({"name": ["a"], "N": [3], "is": [True], "risk": [0.5], "declared": [0.5]})
    rules = [tolerances.of_column({"declared": Rounding()}, table[name]) for name in table]
    assert rules == [Exact(), Exact(), Exact(), Relative(), Rounding()]


@each("name", WITH_TABLES)
def test_what_is_declared_is_there_and_is_needed(name: str) -> None:
    """Each rule is for a column, or a number, that there is; and lets pass somewhere what the usual one does not."""
    rules = declared(PROJECT, name)
    for table, columns in rules.items():
        content = numbers(name) if table == NUMBERS else pd.read_csv(place(PROJECT.book, name).results / f"{table}.csv")
        for column, rule in columns.items():
            cells = content.loc[[column]] if table == NUMBERS else content
            value = "value" if table == NUMBERS else column
            usual = NUMBER if table == NUMBERS else tolerances.of_column({}, cells[column])
            parts = (cells.iloc[first : first + 50] for first in range(0, len(cells), 50))
            assert any((usual.distance(part, value, moved(rule, part, value, 0.9)) > 1).any() for part in parts), column
            if isinstance(rule, Cases):
                assert set(rule.rules) < set(cells[rule.column])


@each("name", WITH_TABLES)
def test_no_cell_changes_by_ten_tolerances_unseen(name: str) -> None:
    """Cells of each column, moved by ten of what is allowed there, are found, every one; and by a tenth, none.

    They are those of the tables with rules of their own, and of the chapter's first.
    """
    rng, own = np.random.default_rng(0), declared(PROJECT, name)
    tables = sorted(place(PROJECT.book, name).results.glob("*.csv"))
    for path in [path for path in tables if path.stem in own or path == tables[0]]:
        whole, rules = pd.read_csv(path), own.get(path.stem, {})
        choices = {column: chosen(whole[column], rng) for column in whole}
        kept = sorted(set().union(*choices.values()))  # a rule looks at one row at a time
        table = whole.iloc[kept].reset_index(drop=True)
        rows = {
            column: [row for row in map(kept.index, dict.fromkeys(choice)) if not free(rules.get(column), table, row)]
            for column, choice in choices.items()
        }
        found = {d.name: d for d in compare_tables(table, with_moved(table, rules, rows, -10.0), rules)}
        assert {name: d.cells for name, d in found.items()} == {name: len(rows[name]) for name in rows if rows[name]}
        assert all(d.row in rows[d.name] for d in found.values()), path
        assert compare_tables(table, with_moved(table, rules, rows, 0.1), rules) == [], path


def test_no_number_of_a_verdict_changes_by_ten_tolerances_unseen(tmp_path: Path) -> None:
    known, own = [], dict[str, Tolerance]()
    for name in (name for name in WITH_TABLES if place(PROJECT.book, name).verdicts.is_file()):
        own |= declared(PROJECT, name).get(NUMBERS, {})
        known += json.loads(place(PROJECT.book, name).verdicts.read_text("utf-8"))
    for folder in ("committed", "changed"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "verdicts.json").write_text(json.dumps(known))
        for finding in known:
            for number in finding["numbers"]:
                record = {field: math.nan if number[field] is None else float(number[field]) for field in FIELDS}
                rule = own.get(f"{finding['claim']}: {number['name']}", NUMBER)
                number["value"] = _moved(rule, record, "value", 10.0)
    (compared,) = compare(tmp_path / "committed", tmp_path / "changed", {NUMBERS: own})
    named = {f"{finding['claim']}: {number['name']}" for finding in known for number in finding["numbers"]}
    assert {d.name for d in compared.differences} == named
    assert not any(d.verdict for d in compared.differences)


def numbers(name: str) -> pd.DataFrame:
    """The numbers of a chapter's verdicts, by claim and name."""
    found = json.loads(place(PROJECT.book, name).verdicts.read_text("utf-8"))
    rows = {f"{finding['claim']}: {number['name']}": number for finding in found for number in finding["numbers"]}
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=FIELDS).astype(float)


def chosen(column: pd.Series, rng: np.random.Generator) -> list[int]:
    """Rows of the smallest and the largest number, 0 aside, of a 0 or of what is none, and one more."""
    anywhere = int(rng.integers(len(column)))
    if not pd.api.types.is_float_dtype(column):
        return [anywhere]
    size = column.abs().replace([0.0, np.inf], np.nan)
    ends = [anywhere, anywhere] if size.isna().all() else [int(size.idxmin()), int(size.idxmax())]
    return [*ends, int(size.isna().idxmax()), anywhere]


def free(rule: Tolerance | None, table: pd.DataFrame, row: int) -> bool:
    """Whether a machine may find any number there: where matrices break down, in two columns of one table."""
    if {"median_error", "worst_error"} <= set(table) and isinstance(rule, Cases):
        applied = rule.rules.get(table[rule.column][row], rule.otherwise)
        return isinstance(applied, Rounding) and math.isinf(one(applied.orders, table.iloc[row].to_dict()))
    return False


def with_moved(
    table: pd.DataFrame, rules: Mapping[str, Tolerance], rows: Mapping[str, Sequence[int]], amount: float
) -> pd.DataFrame:
    """A table in which some cells of each column are moved by so many of their tolerances."""
    records = table.to_dict("records")
    now = {}
    for column, those in rows.items():
        rule = tolerances.of_column(rules, table[column])
        cells = [record[column] for record in records]
        for row in those:
            cells[row] = _moved(rule, records[row], column, amount)
        now[column] = pd.Series(cells)
    return pd.DataFrame(now)


def moved(rule: Tolerance, table: pd.DataFrame, column: str, amount: float) -> pd.Series:
    """A column whose numbers are moved by so many of their tolerances, or what is none replaced."""
    cells = [_moved(rule, record, column, amount) for record in table.to_dict("records")]
    return pd.Series(cells, table.index)


def _moved(rule: Tolerance, row: dict[str, Any], column: str, amount: float) -> Any:
    if isinstance(rule, Exact):
        return f"not {row[column]}" if abs(amount) > 1 else row[column]
    if isinstance(rule, Cases):
        return _moved(rule.rules.get(row[rule.column], rule.otherwise), row, column, amount)
    before = float(row[column])
    if not math.isfinite(before):
        return 0.0 if abs(amount) > 1 else before
    match rule:
        case Rounding():  # downwards a rounding error is soon as good as 0
            return float(max(abs(before), one(rule.floor, row)) * 10 ** (one(rule.orders, row) * abs(amount)))
        case Relative():
            step = one(rule.share, row) * max(abs(float(row[rule.of or column])), one(rule.scale, row))
        case Errors():
            error = abs(float(row[rule.column]))
            step = rule.multiple * error if error > 0 and math.isfinite(error) else tolerances.SHARE * abs(before)
        case Squares():
            root = math.sqrt(abs(float(row[rule.of or column])))
            step = 2 * root * rule.bits + rule.bits**2 + rule.share * abs(before)
        case _:
            raise NotImplementedError(str(rule))
    if step == 0 or not math.isfinite(step):
        return math.nextafter(before, math.inf) if abs(amount) > 1 else before
    return before + amount * step


def one(value: Any, row: dict[str, Any]) -> float:
    """A setting of a rule in one row."""
    return float(np.squeeze(value(pd.DataFrame([row])))) if callable(value) else value


def test_an_error_against_fifty_digits_may_be_any_only_where_the_last_bits_decide_whether_there_is_one() -> None:
    digits = pd.read_csv(place(PROJECT.book, "noisyhead/robustness").results / "digits.csv")
    rules = declared(PROJECT, "noisyhead/robustness")["digits"]
    for column in ("median_error", "worst_error"):
        changed = digits.assign(**{column: digits[column].replace(np.inf, 1.0) * 1e5})
        apart = rules[column].distance(digits, column, changed[column]) > 1
        free = digits[~apart]
        assert len(free) <= 4
        assert ((free["evaluation"] == "one product, Cholesky") | np.isinf(free[column])).all()
        small = digits.assign(**{column: digits[column] * 10**0.4})
        assert (rules[column].distance(digits, column, small[column]) <= 1).all()
