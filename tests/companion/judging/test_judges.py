"""A judge's record, and the decision table of a judge: its verdict for every answer that its questions can have."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from companion.judging.claims import Claim, Judged, read_findings
from companion.judging.findings import Consequence, Finding, Number, Verdict
from companion.judging.judges import Record, Ruling, claim_of, judges, judges_of, reads
from companion.judging.tables import nearest, pick, select
from companion.judging.words import finding, judged, say
from tests.each import each, refused


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


# ----------------------------------------------------------------------------------------------------- a claim's words


HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CLAIM = Claim(
    "a/1",
    "Theorem 1",
    "One.",
    "part/one",
    headline="It rests {{ distance }} away.",
    rule="Within {{ CONSISTENT:g }} standard errors.",
    printed="All of it.",
    should_read="Half of it, for {{ size:.1f }}.",
    would_change="Another update.",
    history=(Judged("0.1.0", "holds, corrected"),),
)
QUOTED = {"distance": 0.12345, "size": 2}
FOUND = (Number("one", 1.0),)


def test_a_claim_speaks_of_the_verdict_that_the_book_found() -> None:
    found = finding(CLAIM, Ruling(CORRECTED, FOUND, QUOTED))
    assert (found.verdict, found.numbers, found.consequence) == (CORRECTED, FOUND, Consequence.NUMBERS)
    assert found.headline == "It rests 0.123 away."
    assert (found.printed, found.should_read) == ("All of it.", "Half of it, for 2.0.")
    assert found.correction == "Printed: All of it. Should read: Half of it, for 2.0."
    assert found.rule == "Within 4 standard errors."
    assert found.would_change == "Another update."


@pytest.mark.parametrize("ruling", [Ruling(FAILS, FOUND, QUOTED), Ruling(CORRECTED, FOUND, QUOTED, "other grounds")])
def test_other_verdicts_and_other_grounds_have_words_of_their_own(ruling: Ruling) -> None:
    found = finding(CLAIM, ruling)
    assert found.verdict == ruling.verdict
    assert "other than in the book" in found.headline
    assert "0.123" not in found.headline + found.correction
    assert found.rule == "Within 4 standard errors."
    assert found.would_change == "Another update."


def test_a_judge_s_own_claim_speaks() -> None:
    (judge,) = judges("a/1")(lambda found: Ruling(CORRECTED, FOUND, found.tables)).judges  # type: ignore[attr-defined]
    assert judged(CLAIM, judge, QUOTED).headline == "It rests 0.123 away."  # type: ignore[arg-type]


def test_a_value_that_no_judge_gives_is_refused() -> None:
    refused(r"^a sentence must quote one of \['x'\], got 'y': '\{\{ y \}\}'$", say, "{{ y }}", {"x": 1.0})


@pytest.mark.parametrize(
    ("x", "least", "most"),
    [(7.078, "7.07", "7.08"), (0.9571, "0.957", "0.958"), (90.0, "90", "90")],
)
def test_a_bound_is_rounded_to_the_side_on_which_it_holds(x: float, least: str, most: str) -> None:
    assert say("at least {{ x }}, at most ${{ x }}$", {"x": x}) == f"at least {least}, at most ${most}$"


@pytest.mark.parametrize(
    ("printed", "others", "verdict"),
    [
        (True, {"corrected": True}, HOLDS), (False, {"corrected": True, "narrower": True}, CORRECTED),
        (False, {"narrower": True}, NARROWER), (False, {}, FAILS), (True, {"decided": False}, UNTESTABLE),
    ],
)  # fmt: skip
def test_one_rule_makes_all_verdicts(printed: bool, others: dict[str, bool], verdict: Verdict) -> None:
    assert reads(printed, **others) == verdict


# ----------------------------------------------------------------------------- findings, and the headlines of the book


ONE = (Number("ratio", 1.0),)
TABLE = pd.DataFrame(
    {"setting": ["printed", "printed", "corrected"], "epsilon": [0.5, math.nan, 0.5], "risk": [1.0, 2, 3]}
)
MOST_QUANTITIES = 2

# What a headline may hold. A reference to a place in a paper is no quantity; a number in digits or in words is one, and
# so is each formula.
PLACE = re.compile(
    r"\b(?:Theorem|Lemma|Proposition|Corollary|Remark|Definition|Assumption|Section|Appendix|Figure|Table|Algorithm|"
    r"Equation)s?\s+[A-Z]?\.?\d+(?:\.\d+)*(?:\([ivx]+\))?|\([A-Z]?\.?\d+(?:\.\d+)*\)"
)
FORMULA = re.compile(r"\$[^$]*\$")
DECORATION = re.compile(r"_(?:\{[^}]*\}|\\?\w+)|\^\{?\*\}?")  # an index or a star makes a symbol, no quantity
QUANTITY = re.compile(r"[\d^/=<>+]|\\(?:sqrt|frac|log|exp|cdot|infty|le|ge|ll|gg|sim|asymp|lesssim|gtrsim)\b")
DIGITS = re.compile(r"[-−+]?\d[\d,.]*(?:e[-+]?\d+|\s?%)?", re.IGNORECASE)
WORDS = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty|"
    r"ninety|hundred|thousand|million|billion|half|third|quarter|twice|thrice|double|triple|tenfold|dozen)s?\b",
    re.IGNORECASE,
)


def quantities(text: str) -> int:
    text = PLACE.sub(" ", text)
    formulas = [DECORATION.sub("", formula) for formula in FORMULA.findall(text)]
    rest = FORMULA.sub(" ", text)
    written = len(DIGITS.findall(rest)) + len(WORDS.findall(rest))
    return written + sum(bool(QUANTITY.search(formula)) for formula in formulas)


def test_the_book_s_headlines_have_few_quantities() -> None:
    found = read_findings(Path(__file__).parents[3] / "book")
    assert len(found) > 200
    assert {name for name, finding in found.items() if quantities(finding.headline) > MOST_QUANTITIES} == set()


@each(
    ("headline", "message"),
    [
        ("", "must be one sentence"),
        ("It holds", "with its full stop"),
        ("It\nholds.", "on one line"),
        ("It " + "really " * 24 + "holds.", "at most 25 words, got 26"),
        ("It is N^2.", "typeset its mathematics"),
        ("It is about ε.", "typeset its mathematics"),
        ("It is √N.", "typeset its mathematics"),
    ],
)
def test_a_headline_is_short_and_plain(headline: str, message: str) -> None:
    refused(f"^headline .*{message}", Finding, Verdict.HOLDS, headline, ONE, would_change="More.")


@each(
    ("parts", "message"),
    [
        ({"verdict": Verdict.HOLDS, "consequence": Consequence.NUMBERS}, "neither consequence nor correction"),
        ({"verdict": Verdict.HOLDS, "should_read": "$x$"}, "neither consequence nor correction"),
        ({"verdict": Verdict.CORRECTED}, "should_read must say"),
        ({"verdict": Verdict.NARROWER}, "condition must say"),
        ({"verdict": Verdict.FAILS, "numbers": ()}, "numbers must hold at least one"),
        ({"verdict": Verdict.HOLDS, "would_change": ""}, "would_change must say"),
        ({"verdict": Verdict.HOLDS, "headline": "it is so."}, "must be sentences"),
        ({"verdict": Verdict.FAILS, "argued": "A.", "should_read": "MORE."}, "must be sentences"),
        ({"verdict": Verdict.HOLDS, "would_change": "More"}, "must be sentences"),
    ],
)
def test_the_parts_of_a_finding_fit(parts: dict[str, object], message: str) -> None:
    refused(message, Finding, **{"headline": "It is so.", "numbers": ONE, "would_change": "More."} | parts)


def test_the_nearest_value_is_nearest_in_ratio() -> None:
    assert nearest(pd.Series([1, 10, 1000]), 400) == 1000


def test_rows_are_found_by_their_values() -> None:
    assert pick(TABLE, setting="printed", epsilon=0.5)["risk"] == 1
    assert pick(TABLE, setting="printed", epsilon=math.nan)["risk"] == 2
    assert list(select(TABLE, epsilon=0.5)["risk"]) == [1, 3]
    for where, rows in (({"setting": "printed"}, 2), ({"setting": "published"}, 0)):
        with pytest.raises(LookupError, match=rf"^one row must have setting = .*, got {rows}$"):
            pick(TABLE, **where)


def test_judges_are_found_by_their_claims() -> None:
    found = judges_of("chapters.noisyhead.low_dimensional")
    named = {"noisyhead/figure-1", "noisyhead/section-6.1-hyperparameters", "noisyhead/theorem-1.1-low"}
    named |= {"noisyhead/theorem-4.2i", "noisyhead/section-1.1-common-weight"}
    assert set(found) == named | {f"noisyhead/equation-a.{number}" for number in (15, 16, 17)}
    assert next(iter(found)) == "noisyhead/figure-1"
    assert judges_of("chapters.ledger") == {}
