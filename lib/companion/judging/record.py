"""A judge's record: what it finds, in the order in which it finds it, each number with what it is held against.

A judge is a function of a `Record`, marked with the claim that it decides. It asks its questions one after the other;
each answer is kept as a number of the verdict, and is a truth value or a float for the next question::

    @judges("noisyhead/equation-2.7")
    def equation_27(found: Record) -> Ruling:
        worst = select(found["minimisers"], check=GRADIENT)["value"].max()
        flat = found.at_most("slope over its value at 0, largest", worst, ROUNDING, table="minimisers", row=GRADIENT)
        return found.ruling(printed=flat)

One function can judge several claims that differ in an argument: ``@judges("dpgd/equation-d.65", step="D.65")``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any

import pandas as pd

from companion.judging.findings import Number, Verdict
from companion.judging.judges import RECORDED, Ruling, reads
from companion.judging.judges import judges as marked
from companion.judging.tables import Tables, describe, pick


class Record(Mapping[str, pd.DataFrame]):
    """The tables of a chapter, by name, and the numbers that a judge has found in them so far.

    What a number is called and what it is come first; all else is named, as table, row and name are all words.
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.numbers: list[Number] = []

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self.tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def number(
        self,
        name: str,
        value: float,
        *,
        table: str,
        row: str = "all",
        against: float | None = None,
        error: float | None = None,
    ) -> float:
        """Keep a number, beside what it is compared with, and return it."""
        self.numbers.append(Number(name, value, error, against, table, row))
        return float(value)

    def at_most(
        self, name: str, value: float, most: float, *, table: str, row: str = "all", slack: float = 0.0
    ) -> bool:
        """Keep a number, and say whether it is at most so large, up to a relative slack; NaN is not."""
        return self.number(name, value, table=table, row=row, against=most) <= most * (1 + slack)

    def at_least(self, name: str, value: float, least: float, *, table: str, row: str = "all") -> bool:
        """Keep a number, and say whether it is at least so large; NaN is not."""
        return self.number(name, value, table=table, row=row, against=least) >= least

    def cite(
        self, name: str, column: str, *, table: str, against: float | None = None, error: str = "", **where: Any
    ) -> float:
        """Keep the number that stands in the one row of a table with these values, and return it."""
        row = pick(self.tables[table], **where)
        spread = float(row[error]) if error else None
        return self.number(name, float(row[column]), table=table, row=describe(where), against=against, error=spread)

    def ruling(
        self,
        printed: bool = False,
        *,
        corrected: bool = False,
        narrower: bool = False,
        decided: bool = True,
        grounds: str = "",
        vacuous: bool = False,
        **quoted: Any,
    ) -> Ruling:
        """The verdict by the rule of all verdicts, on the numbers that were kept; ``quoted``: what its words quote."""
        verdict = reads(bool(printed), corrected=bool(corrected), narrower=bool(narrower), decided=bool(decided))
        return Ruling(verdict, tuple(self.numbers), quoted, grounds, vacuous and verdict != Verdict.FAILS)


def judges(claim: str, **arguments: Any) -> Callable[[Callable[..., Ruling]], Callable[..., Ruling]]:
    """Mark a function of a record as the judge of a claim; ``arguments`` are what it is given besides."""

    def mark(function: Callable[..., Ruling]) -> Callable[..., Ruling]:
        @wraps(function)
        def judge(tables: Tables) -> Ruling:
            return function(Record(tables), **arguments)

        earlier = getattr(function, RECORDED, ())
        setattr(function, RECORDED, (marked(claim)(judge), *earlier))
        return function

    return mark
