"""No judge is left untried, and none that is blind passes."""

import pytest

from companion.judging.findings import Number, Verdict
from companion.judging.judges import Ruling, judges_of
from tests.chapters import machinery
from tests.chapters.machinery import REGISTER, Case, modules_of_cases, package, try_case


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
