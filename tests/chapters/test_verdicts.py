"""No judge is left untried, and none that is blind passes."""

import pytest

from companion.judging import claims
from companion.judging.findings import Number, Verdict
from companion.judging.judges import Ruling, judges_of
from companion.judging.words import QUOTED
from tests.chapters import machinery
from tests.chapters.machinery import BOOK, Case, committed, modules_of_cases, package, try_case
from tests.each import each

REGISTER = claims.read_register(BOOK / "claims.yml")
CHAPTERS = sorted({claim.chapter for claim in REGISTER.values() if not claim.pending})


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
    machinery.found.cache_clear()
    with pytest.raises(AssertionError):
        try_case("noisyhead/mechanism", Case(claim, "other tables", lambda tables: {}, Verdict.FAILS))
    machinery.found.cache_clear()


@each("chapter", CHAPTERS)
def test_words_quote_what_their_judge_gives_and_all_of_it(chapter: str) -> None:
    """What a judge gives and no sentence quotes is left over from another sentence."""
    given, used = set[str](), set[str]()
    for claim, judge in judges_of(package(chapter)).items():
        own = REGISTER[claim]
        words = " ".join((own.headline, own.printed, own.should_read, own.condition, own.argued, own.varied))
        quoted, own = {name for name, _ in QUOTED.findall(words)}, set(judge(committed(chapter)).quoted)
        assert quoted <= own, claim
        given, used = given | own, used | quoted
    assert given == used
