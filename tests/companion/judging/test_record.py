"""A judge's record, and the decision table of a judge: its verdict for every answer that its questions can have."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest

from companion.judging.judges import Record, Ruling, claim_of, judges


class Answered(Record):
    """A record whose questions have given answers, whatever the numbers are; it counts those that were asked."""

    def __init__(self, tables: Any, answers: tuple[bool, ...]) -> None:
        super().__init__(tables)
        self.answers = iter(answers)

    def at_most(self, *arguments: Any, **named: Any) -> bool:
        super().at_most(*arguments, **named)
        return next(self.answers)

    at_least = at_most


def decisions(judge: Callable[..., Ruling], tables: Any, questions: int, **arguments: Any) -> Iterator[str]:
    """The verdict for each combination of answers, in the order of truth tables: all true first."""
    for answers in itertools.product((True, False), repeat=questions):
        record = Answered(tables, answers)
        yield str(judge(record, **arguments).verdict)
        assert next(record.answers, None) is None, "fewer questions than answers"


@judges("part/first", least=2)
@judges("part/second", least=3)
def sizes(found: Record, least: int) -> Ruling:
    small = found.at_most("largest", found["t"]["x"].max(), 5.0, table="t")
    large = found.at_least("least", found["t"]["x"].min(), least, table="t", row="x = 2")
    return found.ruling(small and large, narrower=small, least=least)


TABLES = {"t": pd.DataFrame({"x": [2.0, 4.0], "error": [0.1, 0.2]})}


def test_the_decision_table_of_a_judge() -> None:
    assert list(decisions(sizes, TABLES, 2, least=2)) == ["holds", "holds, narrower", "fails", "fails"]


def test_one_function_judges_several_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {claim_of(judge): judge for judge in sizes.judges}
    assert {claim: str(judge(TABLES).verdict) for claim, judge in found.items()} == {
        "part/first": "holds",
        "part/second": "holds, narrower",
    }
    assert {judge.__name__ for judge in found.values()} == {"sizes"}


def test_numbers_are_kept_in_the_order_of_the_questions_with_what_they_are_held_against() -> None:
    found = Record(TABLES)
    assert found.at_most("one", 1.0, 1.0, table="t")
    assert not found.at_most("two", float("nan"), 1.0, table="t")
    assert not found.at_least("three", float("nan"), 1.0, table="t")
    assert found.at_most("four", 1 + 1e-10, 1.0, table="t", slack=1e-9)
    assert found.cite("five", "x", table="t", error="error", x=4.0) == 4.0
    assert [number.name for number in found.numbers] == ["one", "two", "three", "four", "five"]
    assert [number.against for number in found.numbers] == [1.0, 1.0, 1.0, 1.0, None]
    assert (found.numbers[-1].error, found.numbers[-1].table) == (0.2, "t")


def test_words_cannot_change_places() -> None:
    with pytest.raises(TypeError):
        Record(TABLES).number("t", "one", 1.0)  # type: ignore[call-arg, arg-type, misc]
