"""What the judges of this chapter share: powers of 1/γ and of ln(1/γ), and a finding from an answer."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from costofprivacy.judging import growth
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.tables import describe

ROUNDING = 1e-9  # between an exponent in closed form and its numerical optimum
LOG_POWER = 0.25  # a power of ln(1/γ) from which on a logarithm is there


def decide(
    true: bool,
    headlines: tuple[str, str],
    numbers: tuple[Number, ...],
    change: str,
    consequence: Consequence = Consequence.CONCLUSION,
) -> Finding:
    """*Holds* with the first headline, or *fails* with the second."""
    if true:
        return Finding(Verdict.HOLDS, headlines[0], numbers, would_change=change)
    return Finding(Verdict.FAILS, headlines[1], numbers, consequence, would_change=change)


def untestable(headline: str, change: str) -> Finding:
    """*Untestable*, for a table that shows nothing."""
    return Finding(Verdict.UNTESTABLE, headline, would_change=change)


def powers(table: pd.DataFrame, by: list[str], left: str, right: str = "") -> pd.DataFrame:
    """The power of 1/γ in left/right for each group, with the group's columns, ascending."""
    found = [
        dict(zip(by, place)) | {"power": growth.power(rows, "inverse_gamma", left, right)}
        for place, rows in table.groupby(by, sort=False)
    ]
    return pd.DataFrame(found).sort_values("power", ignore_index=True)


def log_power(rows: pd.DataFrame, column: str) -> float:
    """The power of ln(1/γ) in a column between its last two depths."""
    end = rows.sort_values("log").tail(2)
    (first, last), (low, high) = end[column], end["log"]
    return math.log(last / first) / math.log(high / low)


def number(name: str, row: pd.Series, column: str, against: float | None, table: str, *named: str) -> Number:
    """A number that stands in, or was made from, one row."""
    return Number(name, row[column], None, against, table, describe({key: row[key] for key in named}))


def steps(values: pd.Series) -> np.ndarray:
    """The differences of neighbours."""
    return np.diff(values.to_numpy(float))
