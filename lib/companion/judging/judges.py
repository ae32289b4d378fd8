"""A judge computes: from a chapter's tables the verdict on a claim, its numbers, and the values that its words quote.

A judge is a function of a `Record`, marked with the claim that it decides. It asks its questions one after the other;
each answer is kept as a number of the verdict, and is a truth value or a float for the next question::

    @judges("noisyhead/equation-2.7")
    def equation_27(found: Record) -> Ruling:
        worst = select(found["minimisers"], check=GRADIENT)["value"].max()
        flat = found.at_most("slope over its value at 0, largest", worst, ROUNDING, table="minimisers", row=GRADIENT)
        return found.ruling(printed=flat)

One function can judge several claims that differ in an argument: ``@judges("dpgd/equation-d.65", step="D.65")``.
Chapters find their judges by the claim's id: nothing else lists them. What is said of a verdict stands with the claim,
in ``book/claims.yml`` (`companion.judging.words`).
"""

import importlib
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from importlib.util import find_spec
from typing import Any, NamedTuple

import pandas as pd

from companion.judging.findings import Number, Verdict
from companion.judging.tables import Tables, describe, pick

_CLAIM, _JUDGES = "claim", "judges"  # what a judge decides; the judges that a function of a record makes


class Ruling(NamedTuple):
    """What a judge finds in some tables.

    Args:
        numbers: what the verdict rests on; only what is untestable may have none.
        quoted: the values that the claim's words quote, by name.
        grounds: which of several ways to this verdict it was, where they need words of their own; else empty.
        vacuous: whether the trivial predictor meets the claimed bound wherever it was tested.
    """

    verdict: Verdict
    numbers: tuple[Number, ...] = ()
    quoted: Mapping[str, Any] = {}
    grounds: str = ""
    vacuous: bool = False


Judge = Callable[[Tables], Ruling]


def reads(printed: bool, *, corrected: bool = False, narrower: bool = False, decided: bool = True) -> Verdict:
    """The rule of all verdicts: holds as printed, else corrected, else narrower, else fails; if decided at all."""
    if not decided:
        return Verdict.UNTESTABLE
    ways = {Verdict.HOLDS: printed, Verdict.CORRECTED: corrected, Verdict.NARROWER: narrower, Verdict.FAILS: True}
    return next(verdict for verdict, true in ways.items() if true)


class _Undecided(Exception):
    """What a judge needs of its tables is not there."""


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

    def needs(self, *met: object) -> None:
        """Go no further unless all of these are so: nothing is decided, on the numbers that were kept so far."""
        if not all(met):
            raise _Undecided

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
            record = Record(tables)
            try:
                return function(record, **arguments)
            except _Undecided:
                return record.ruling(decided=False)

        setattr(judge, _CLAIM, claim)
        setattr(function, _JUDGES, (judge, *getattr(function, _JUDGES, ())))
        return function

    return mark


def claim_of(judge: Judge) -> str:
    """The claim that one of `judges_of` decides."""
    return str(getattr(judge, _CLAIM))


def judges_of(package: str) -> dict[str, Judge]:
    """The judges in a package's module ``judge``, by claim, as they stand there; none where there is no such module."""
    if not find_spec(f"{package}.judge"):
        return {}
    module, found = importlib.import_module(f"{package}.judge"), dict[str, Judge]()
    own = [thing for thing in vars(module).values() if getattr(thing, "__module__", "") == module.__name__]
    for judge in (judge for thing in own for judge in getattr(thing, _JUDGES, ())):
        if claim_of(judge) in found:
            raise ValueError(f"a claim must have one judge, got two for {claim_of(judge)!r}")
        found[claim_of(judge)] = judge
    return found
