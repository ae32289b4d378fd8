"""No judge is left untried, and none that is blind passes."""

import importlib
import pkgutil

import pytest

from costofprivacy.judging import claims
from costofprivacy.judging.findings import Finding, Number, Verdict
from costofprivacy.judging.judges import judges_of
from tests.experiments import verdicts
from tests.experiments.verdicts import machinery
from tests.experiments.verdicts.machinery import BOOK, Case, package, try_case


def test_every_claim_of_a_written_chapter_has_a_judge_that_is_tried() -> None:
    tried = {}
    for info in pkgutil.iter_modules(verdicts.__path__, verdicts.__name__ + "."):
        module = importlib.import_module(info.name)
        if hasattr(module, "CHAPTER"):
            tried |= dict.fromkeys(judges_of(package(module.CHAPTER)), module.CHAPTER)
    register = claims.read_register(BOOK / "claims.yml")
    assert tried == {claim.id: claim.chapter for claim in register.values() if not claim.pending}


def test_a_judge_that_does_not_look_at_its_table_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    blind = Finding(Verdict.FAILS, "It fails.", (Number("one", 1.0),), would_change="Nothing.")
    monkeypatch.setattr(machinery, "judges_of", lambda _: {"claim": lambda tables: blind})
    with pytest.raises(AssertionError):
        try_case("noisyhead/mechanism", Case("claim", "other tables", lambda tables: {}, Verdict.FAILS))
