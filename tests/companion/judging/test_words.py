"""A claim's words: what they quote, and what is said where a run finds other than the book."""

import pytest

from companion.judging.claims import Claim, Judged
from companion.judging.findings import Consequence, Number, Verdict
from companion.judging.judges import Ruling, judges, reads
from companion.judging.words import finding, judged, say

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
    with pytest.raises(ValueError, match=r"^a sentence must quote one of \['x'\], got 'y': '\{\{ y \}\}'$"):
        say("{{ y }}", {"x": 1.0})


@pytest.mark.parametrize(
    ("printed", "others", "verdict"),
    [
        (True, {"corrected": True}, HOLDS), (False, {"corrected": True, "narrower": True}, CORRECTED),
        (False, {"narrower": True}, NARROWER), (False, {}, FAILS), (True, {"decided": False}, UNTESTABLE),
    ],
)  # fmt: skip
def test_one_rule_makes_all_verdicts(printed: bool, others: dict[str, bool], verdict: Verdict) -> None:
    assert reads(printed, **others) == verdict
