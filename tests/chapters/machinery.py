"""What the tests of every chapter's verdicts share: a judge has to acquit, to convict, and to mean what it says.

A module of this folder says which ``CHAPTER`` it is about and has a list of ``CASES``: a claim, what to change in the
committed tables, and the verdict that has to come of it. Every judge of the chapter needs a case in which its claim is
true and it says *holds*, and one in which its claim is contradicted and it does not; a judge that can never say *holds*
stands in ``UNDECIDABLE`` with the reason. `trials` makes the tests of it all. On the committed tables a judge finds all
that the book saved.
"""

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache, wraps
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest

from companion.judging import words
from companion.judging.claims import read_findings, read_register
from companion.judging.findings import Finding, Verdict
from companion.judging.judges import Ruling, judges_of
from companion.running.stamps import read_table
from tests.each import each

BOOK = Path(__file__).parents[2] / "book"
REGISTER = read_register(BOOK / "claims.yml")
Tables = Mapping[str, pd.DataFrame]
Change = Callable[[Any], Mapping[str, pd.DataFrame]]  # from all tables of a chapter, those that are other


@dataclass(frozen=True)
class Case:
    """One trial of a judge.

    Args:
        claim: the claim's id. name: what the changed tables say, in a few words. change: from all tables of the
            chapter, those that are other. verdict: what must come of it.
        says: a regular expression that the finding's headline must match. silent: one that it must not.
        mends: one that its correction must match.
    """

    claim: str
    name: str
    change: Change
    verdict: Verdict
    says: str = ""
    silent: str = ""
    mends: str = ""

    def __str__(self) -> str:
        return f"{self.claim}: {self.name}"


@cache
def committed(chapter: str) -> dict[str, pd.DataFrame]:
    """The tables of a chapter as they lie in the book."""
    return {path.stem: read_table(path) for path in sorted((BOOK / chapter).glob("*.csv"))}


@cache
def saved(chapter: str) -> dict[str, Finding]:
    """The findings of a chapter as they lie in the book."""
    return read_findings(BOOK / chapter)


@cache
def ruling(chapter: str, claim: str) -> Ruling:
    """What the judge of a claim rules on the committed tables."""
    return judges_of(package(chapter))[claim](committed(chapter))


@cache
def found(chapter: str, claim: str) -> Finding:
    """The same in the claim's words."""
    judge = judges_of(package(chapter))[claim]
    return words.judged(REGISTER[claim], wraps(judge)(lambda _: ruling(chapter, claim)), {})


def said(finding: Finding) -> list[Any]:
    """All that a finding says, one field after the other."""
    told = asdict(finding)
    return [*(value for number in told.pop("numbers") for value in number.values()), *told.values()]


def up_to_rounding(value: Any) -> Any:
    """What a value has to be equal to; fits are not the same to the last digit on every machine."""
    return pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True) if isinstance(value, float) else value


def modules_of_cases() -> Iterator[ModuleType]:
    """The test modules of the chapters that have judges."""
    folder = Path(__file__).parent
    for path in sorted(folder.glob("*/**/test_*.py")):
        if "\nCHAPTER" in path.read_text("utf-8"):
            yield importlib.import_module(".".join(("tests.chapters", *path.relative_to(folder).with_suffix("").parts)))


def package(chapter: str) -> str:
    return f"chapters.{chapter.replace('/', '.').replace('-', '_')}"


def judge(chapter: str, claim: str, tables: Tables) -> Finding:
    """What the judge of a claim finds in these tables, in the claim's words."""
    return words.judged(REGISTER[claim], judges_of(package(chapter))[claim], tables)


def trials(
    chapter: str, cases: list[Case], undecidable: Mapping[str, str] | None = None
) -> tuple[Callable[..., None], Callable[..., None], Callable[..., None]]:
    """The tests of a chapter's judges: what the book found, each case, and that no judge or value is left over."""
    every = sorted(judges_of(package(chapter)))

    @each("claim", every)
    def what_the_book_found(claim: str) -> None:
        finding = found(chapter, claim)
        assert finding.verdict == REGISTER[claim].verdict
        assert said(finding) == [*map(up_to_rounding, said(saved(chapter)[claim]))]

    @pytest.mark.parametrize("claim", sorted({case.claim for case in cases}))
    def a_judge_follows_its_tables(claim: str) -> None:
        each("case", [case for case in cases if case.claim == claim])(lambda case: try_case(chapter, case))()

    def every_judge_acquits_and_convicts() -> None:
        excused, book = dict(undecidable or {}), saved(chapter)
        acquitted = {case.claim for case in cases if case.verdict == Verdict.HOLDS}
        acquitted |= {claim for claim in every if book[claim].verdict == Verdict.HOLDS}
        convicted = {case.claim for case in cases if case.verdict != Verdict.HOLDS}
        assert set(book) == set(every)
        assert len({str(case) for case in cases}) == len(cases)
        assert set(every) - acquitted == set(excused)
        assert set(every) - convicted <= set(excused)
        assert all(excused.values())
        given, used = set[str](), set[str]()  # what a judge gives and no sentence quotes is left from another sentence
        for claim in every:
            own = REGISTER[claim]
            said = " ".join((own.headline, own.printed, own.should_read, own.condition, own.argued, own.varied))
            quoted = {name for name, _ in words.QUOTED.findall(said)}
            assert quoted <= set(ruling(chapter, claim).quoted), claim
            given, used = given | set(ruling(chapter, claim).quoted), used | quoted
        assert given == used

    return what_the_book_found, a_judge_follows_its_tables, every_judge_acquits_and_convicts


def try_case(chapter: str, case: Case) -> None:
    """Assert what a case demands. A judge blind to its tables finds the same as before: it is found out."""
    after = judge(chapter, case.claim, committed(chapter) | dict(case.change(committed(chapter))))
    assert after.verdict == case.verdict, after
    assert re.search(case.says, after.headline), after.headline
    assert re.search(case.mends, after.correction), after.correction
    assert not case.silent or not re.search(case.silent, after.headline), after.headline
    assert after != found(chapter, case.claim)


def change(
    table: pd.DataFrame, column: str, to: Callable[[pd.DataFrame], Any], where: Any = slice(None)
) -> pd.DataFrame:
    """A copy with ``column`` set to ``to(rows)`` in the rows ``where``."""
    copy = table.copy()
    rows = copy.loc[where]
    values = to(rows)
    if pd.api.types.is_integer_dtype(copy[column]) and not isinstance(values, (int, pd.Series)):
        copy[column] = copy[column].astype(float)
    copy.loc[where, column] = values
    return copy


def changing(make: Callable[..., Mapping[str, pd.DataFrame]]) -> Callable[..., Change]:
    """A function of tables and more, as a function of the rest that makes a change of it."""
    return lambda *given, **named: lambda t: make(t, *given, **named)


def put(name: str, column: str, to: Any, where: str | Callable[[pd.DataFrame], Any] = "", **values: Any) -> Change:
    """Some rows of a table with another value in a column.

    Args:
        name: the table. column: of it. to: the value, or a function from the rows to their values.
        where, values: which rows: a query or a function that says so, and what columns have there.
    """

    def changed(t: Tables) -> Tables:
        rows = where(t[name]) if callable(where) else t[name].eval(where) if where else True
        return {name: change(t[name], column, to if callable(to) else lambda _: to, having(t[name], **values) & rows)}

    return changed


def both(*changes: Change) -> Change:

    def changed(t: Tables) -> Tables:
        tables = dict(t)
        for one in changes:
            tables |= one(tables)
        return tables

    return changed


def only(name: str, query: str) -> Change:
    return lambda t: {name: t[name].query(query)}


def filled(name: str, **columns: Any) -> Change:
    return lambda t: {name: t[name].assign(**columns)}


def having(table: pd.DataFrame, **values: Any) -> pd.Series:
    found = pd.Series(True, table.index)
    for column, value in values.items():
        found &= table[column] == value
    return found
