"""Each rule by hand; and no cell of a committed table can change by ten of its tolerances unseen."""

import importlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from costofprivacy import tolerances
from costofprivacy.book.parameters import experiment_class
from costofprivacy.book.project import Project, chapters, is_plain, place
from costofprivacy.book.tables import compare_tables
from costofprivacy.tolerances import Errors, Exact, Relative, Rounding, Tolerance

PROJECT = Project(Path(__file__).parents[1])
TABLE = pd.DataFrame(
    {"risk": [1.0, 1e-20, 0.0, np.inf], "whole": [10.0, 10.0, 2.0, 1.0], "error": [0.1, 0.2, 0.0, 1.0]}
)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("name", [name for name in chapters(PROJECT) if not is_plain(PROJECT, name)])
def test_no_cell_changes_by_ten_tolerances_unseen(name: str) -> None:
    """Each number of each committed table, moved by ten of what is allowed there, is found; by a half, it is not."""
    rng = np.random.default_rng(0)
    declared = experiment_class(PROJECT, name).tolerances
    paths = sorted(place(PROJECT.book, name).results.glob("*.csv"))
    assert set(declared) <= {path.stem for path in paths}
    for path in paths:
        table = pd.read_csv(path)
        rules = declared.get(path.stem, {})
        assert set(rules) <= set(table)
        for column in table.select_dtypes("float"):
            rule = tolerances.of_column(rules, table[column])
            for amount in (10.0, 0.5):
                moved = moved_by(rule, table, column, amount * rng.choice([-1.0, 1.0], len(table)))
                seen = rule.distance(table, column, moved) > 1
                changes = moved.to_numpy() != table[column].to_numpy()
                finite = np.isfinite(table[column].to_numpy())
                assert (seen == (changes & finite & (amount > 1))).all(), (path, column)
            assert [d.name for d in compare_tables(table, table.assign(**{column: moved}), rules)] == []


def moved_by(rule: Tolerance, table: pd.DataFrame, column: str, tolerated: np.ndarray) -> pd.Series:
    """A column with each number moved by so many of its tolerances."""
    before = table[column].to_numpy(float)
    with np.errstate(invalid="ignore", over="ignore"):
        return pd.Series(_moved_by(rule, table, before, tolerated))


def _moved_by(rule: Tolerance, table: pd.DataFrame, before: np.ndarray, tolerated: np.ndarray) -> np.ndarray:
    match rule:
        case Relative(share, of, scale):
            step = share * np.maximum(np.abs(table[of].to_numpy(float) if of else before), scale)
        case Errors(multiple, error):
            step = multiple * table[error].to_numpy(float)
        case Rounding(orders, floor):
            return np.maximum(np.abs(before), floor) * 10 ** (orders * np.abs(tolerated))
        case _:
            step = np.zeros(len(table))
    return np.where(np.isfinite(before), before + tolerated * np.nan_to_num(step), before)


def test_every_rule_says_itself_in_words() -> None:
    assert [str(rule) for rule in (Exact(), Relative(), Relative(0.1, "risk"), Errors(), Rounding())] == [
        "exactly",
        "to 1e-06 of itself",
        "to 0.1 of risk",
        "to 0.1 of standard_error",
        "to 1.5 orders of magnitude",
    ]
    assert importlib.import_module("costofprivacy.tolerances").__doc__
