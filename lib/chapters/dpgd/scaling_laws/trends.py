"""What the judges of this chapter share: powers of 1/γ and of ln(1/γ), extreme rows, and numbers from one row."""

import math

import numpy as np
import pandas as pd

from companion.judging import growth
from companion.judging.findings import Number
from companion.judging.tables import describe

LOG_POWER = 0.25  # a power of ln(1/γ) from which on a logarithm is there


def powers(table: pd.DataFrame, by: list[str], left: str) -> pd.DataFrame:
    """The power of 1/γ in a column for each group with several γ, with the group's columns, ascending."""
    found = [(*place, growth.power(rows, "inverse_gamma", left, "")) for place, rows in table.groupby(by, sort=False)]
    table = pd.DataFrame(found, columns=[*by, "power"]).dropna(subset="power")
    return table.sort_values("power", ignore_index=True)


def log_power(rows: pd.DataFrame, column: str) -> float:
    """The power of ln(1/γ) in a column between its last two depths."""
    end = rows.sort_values("log").tail(2)
    (first, last), (low, high) = end[column], end["log"]
    return math.log(last / first) / math.log(high / low)


def most(rows: pd.DataFrame, column: str) -> pd.Series:
    """The row with the largest value in a column."""
    return rows.loc[rows[column].idxmax()]


def least(rows: pd.DataFrame, column: str) -> pd.Series:
    """The row with the least value in a column."""
    return rows.loc[rows[column].idxmin()]


def furthest(rows: pd.DataFrame, column: str = "distance") -> pd.Series:
    """The row whose value in a column, by default its distance from h, is furthest from 0."""
    return rows.loc[rows[column].abs().idxmax()]


def smallest(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows at the least γ."""
    return rows[rows["gamma"] == rows["gamma"].min()]


def rises(rows: pd.DataFrame, along: str, column: str, by: list[str]) -> np.ndarray:
    """By how much a column rises from one place to the next along another, within all groups."""
    return np.concatenate([np.diff(group.sort_values(along)[column]) for _, group in rows.groupby(by)])


def number(name: str, row: pd.Series, column: str, against: float | None, table: str, *named: str) -> Number:
    """A number that stands in, or was made from, one row."""
    return Number(name, row[column], None, against, table, describe({key: row[key] for key in named}))
