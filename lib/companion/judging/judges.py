"""A judge computes: from a chapter's tables the verdict on a claim, its numbers, and the values that its words quote.

A judge is a pure function of the tables, marked with the claim that it decides::

    @judges("noisyhead/equation-2.7")
    def equation_27(tables: Tables) -> Ruling:
        worst = select(tables["minimisers"], check=GRADIENT)["value"].max()
        verdict = reads(printed=worst <= ROUNDING)
        return Ruling(verdict, numbers("minimisers", {"slope over its value at 0, largest": (worst, ROUNDING)}))

Chapters find their judges by the claim's id: nothing else lists them. What is said of a verdict stands with the claim,
in ``book/claims.yml`` (`companion.judging.words`).
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from companion.judging.findings import Number, Verdict
from companion.judging.tables import Tables

_CLAIM, RECORDED = "judges_claim", "judges_claims"  # names that no other object of a module has


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
    """The rule of all verdicts: a claim is taken as printed, else once a slip is corrected, else under a condition.

    It is untestable where the tables cannot decide.
    """
    if not decided:
        return Verdict.UNTESTABLE
    ways = {Verdict.HOLDS: printed, Verdict.CORRECTED: corrected, Verdict.NARROWER: narrower, Verdict.FAILS: True}
    return next(verdict for verdict, true in ways.items() if true)


def numbers(table: str, named: Mapping[str, Any], row: str = "all") -> tuple[Number, ...]:
    """Numbers that come from one table, from a row or, in words, several.

    By name stands the value alone, or value and what it is held against, or these two and the row; or, as a mapping,
    the fields of a `Number` that are other than these.
    """
    told = ((name, given if isinstance(given, Mapping) else _fields(given)) for name, given in named.items())
    usual: dict[str, Any] = {"table": table, "row": row}
    return tuple(Number(name, **usual | dict(fields)) for name, fields in told)


def _fields(given: Any) -> Mapping[str, Any]:
    return dict(zip(("value", "against", "row"), given if isinstance(given, tuple) else (given,)))


def judges(claim: str) -> Callable[[Judge], Judge]:
    """Mark a function of a chapter's tables as the judge of a claim."""

    def mark(judge: Judge) -> Judge:
        setattr(judge, _CLAIM, claim)
        return judge

    return mark


def claim_of(judge: Judge) -> str:
    """The claim that a function is marked as the judge of; empty where it is no judge."""
    return str(getattr(judge, _CLAIM, ""))


def judges_of(package: str) -> dict[str, Judge]:
    """The judges in a package's modules ``judge*`` and ``verdicts*``, by claim, as they stand there."""
    found: dict[str, Judge] = {}
    names = [info.name for info in pkgutil.iter_modules(importlib.import_module(package).__path__)]
    for name in sorted(name for name in names if name.startswith(("judge", "verdicts"))):
        module = importlib.import_module(f"{package}.{name}")
        for judge in (judge for thing in vars(module).values() for judge in getattr(thing, RECORDED, (thing,))):
            claim = claim_of(judge)
            if not claim or judge.__module__ != module.__name__:
                continue
            if claim in found:
                raise ValueError(f"a claim must have one judge, got two for {claim!r}")
            found[claim] = judge
    return found
