"""What holds for all judges: each is tried, none that is blind passes, and ``book/criteria/trivial.csv`` is right.

A row of it names a column that a judge reads, what trivial was put into it, and the verdict that comes of it; where
that is *holds*, it says why it is right that it is.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
import pytest

from companion.judging.findings import Number, Verdict
from companion.judging.judges import Ruling, judges_of
from tests.chapters import machinery
from tests.chapters.machinery import BOOK, REGISTER, Case, committed, modules_of_cases, package, ruling, try_case


def test_every_claim_of_a_written_chapter_has_a_judge_that_is_tried() -> None:
    tried = {}
    for module in modules_of_cases():
        if hasattr(module, "CHAPTER"):
            tried |= dict.fromkeys(judges_of(package(module.CHAPTER)), module.CHAPTER)
    assert tried == {claim.id: claim.chapter for claim in REGISTER.values() if not claim.pending}


def test_a_judge_that_does_not_look_at_its_table_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = "noisyhead/equation-2.7"
    blind = Ruling(Verdict.FAILS, (Number("one", 1.0),))
    monkeypatch.setattr(machinery, "judges_of", lambda _: {claim: lambda tables: blind})
    machinery.found.cache_clear(), machinery.ruling.cache_clear()
    with pytest.raises(AssertionError):
        try_case("noisyhead/mechanism", Case(claim, "other tables", lambda tables: {}, Verdict.FAILS))
    machinery.found.cache_clear(), machinery.ruling.cache_clear()


TRIED = pd.read_csv(BOOK / "criteria" / "trivial.csv", dtype=str).fillna("")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a judge may divide by what is always 0
JUDGED = {claim.id: claim.chapter for claim in REGISTER.values() if not claim.pending}
MAKE: Mapping[str, Callable[[pd.Series], object]] = {
    "always 0": lambda values: 0.0,
    "always 1": lambda values: 1.0,
    "always 2": lambda values: 2.0,
    "always -1": lambda values: -1.0,
    "constant": lambda values: float(values.median()),
    "in reverse": lambda values: values.to_numpy()[::-1],
    "growing": lambda values: values * np.arange(1.0, len(values) + 1) ** 2,
    "falling": lambda values: values / np.arange(1.0, len(values) + 1) ** 2,
}


def trivial(table: pd.DataFrame, columns: str, tried: str) -> pd.DataFrame:
    """A table with something trivial in a column, or in each of several, ``one & another``.

    Args:
        table: as committed. columns: of it. tried: a name in `MAKE`, or ``= size`` for what ``size`` holds.
    """
    make = MAKE.get(tried, lambda _: table[tried.removeprefix("= ")])
    return table.assign(**{column: make(table[column]) for column in columns.split(" & ")})


def ruled(claim: str, table: str = "", column: str = "", tried: str = "") -> Ruling:
    """What a claim's judge finds in the book's tables; with a column, once something trivial is in it."""
    if not table:
        return ruling(JUDGED[claim], claim)
    tables = committed(JUDGED[claim])
    return judges_of(package(JUDGED[claim]))[claim](tables | {table: trivial(tables[table], column, tried)})


@pytest.mark.parametrize("chapter", sorted(set(JUDGED.values())))
def test_what_is_trivial_gets_the_verdict_that_the_book_says(chapter: str) -> None:
    for row in TRIED[TRIED["claim"].map(JUDGED) == chapter].itertuples():
        found = ruled(row.claim, row.table, row.column, row.tried)
        assert str(found.verdict) == row.verdict, row
        changed = not row.table or row.verdict != REGISTER[row.claim].verdict or repr(found) != repr(ruled(row.claim))
        assert changed, f"it changes nothing: {row}"


def test_something_trivial_was_tried_on_each_claim() -> None:
    assert set(TRIED["claim"]) == set(JUDGED)


def test_the_claims_on_which_nothing_was_tried_read_no_table() -> None:
    untried = TRIED[TRIED["table"] == ""]
    assert {str(judges_of(package(JUDGED[claim]))[claim]({}).verdict) for claim in untried["claim"]} == {"untestable"}


def test_each_claim_that_holds_is_denied_to_something_trivial_at_least_once() -> None:
    holds = {claim for claim in JUDGED if REGISTER[claim].verdict == Verdict.HOLDS}
    denied = set(TRIED.loc[TRIED["verdict"] != Verdict.HOLDS, "claim"])
    assert holds <= denied


def test_where_something_trivial_passes_it_is_said_why_that_is_right() -> None:
    passes = TRIED["verdict"] == Verdict.HOLDS
    assert (TRIED.loc[passes, "why"] != "").all()
