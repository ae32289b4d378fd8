import json
from dataclasses import replace
from pathlib import Path

import pytest

import costofprivacy
from companion.judging import claims, errata
from companion.judging.findings import Consequence, Finding, Number, Verdict

REGISTER = """
papers:
  alpha: {title: First Paper, arxiv: 1.5, short: Alpha}
  beta: {title: Second Paper, arxiv: "2", short: Beta}
claims:
  - {id: alpha/theorem-1, place: Theorem 1, says: "One\\n  $x$.", chapter: part/one, also: [(C.12)]}
  - {id: alpha/theorem-2, place: Theorem 2, says: Two., chapter: part/one}
  - {id: alpha/theorem-3, place: Theorem 3, says: Three., chapter: part/one}
  - {id: beta/figure-1, place: Figure 1, says: Four., chapter: part/one}
  - {id: beta/figure-2, place: Figure 2, says: Five., chapter: part/one, pending: true}
  - {id: alpha/theorem-4, place: Theorem 4, says: Six., chapter: part/one, slip: alpha/theorem-1}
  - {id: alpha/theorem-5, place: Theorem 5, says: Seven., chapter: part/one, no_erratum: A choice of settings.}
slips:
  - {paper: beta, place: (C.1), printed: One., should_read: Two., why: It is two., chapter: part/one}
"""
ONE = (Number("n", 1.0),)
FOUND = {
    "alpha/theorem-1": Finding(Verdict.CORRECTED, "Twice.", ONE, Consequence.NUMBERS, "$2x$ there.", "More.", "$x$."),
    "alpha/theorem-4": Finding(Verdict.CORRECTED, "So.", ONE, Consequence.NONE, "$2y$.", "More.", "$y$."),
    "alpha/theorem-5": Finding(Verdict.FAILS, "Grid.", ONE, Consequence.NONE, would_change="More."),
    "alpha/theorem-2": Finding(Verdict.HOLDS, "So.", ONE, would_change="More."),
    "alpha/theorem-3": Finding(Verdict.FAILS, "Not.", ONE, Consequence.CONCLUSION, would_change="More."),
    "beta/figure-1": Finding(
        Verdict.NARROWER, "Rarely.", ONE, Consequence.CONCLUSION, would_change="More.", condition="For few."
    ),
}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "part").mkdir()
    (tmp_path / "claims.yml").write_text(REGISTER, encoding="utf-8")
    claims.record(tmp_path / "part", FOUND)
    return tmp_path


def test_a_choice_of_settings_is_no_erratum(book: Path) -> None:
    register = claims.read_register(book / "claims.yml")
    assert "alpha/theorem-5" not in {entry.root.id for entry in errata.errata(register, FOUND)}


def test_a_slip_is_inherited_from_its_root(book: Path) -> None:
    register = claims.read_register(book / "claims.yml")
    deeper = register | {"alpha/theorem-1": replace(register["alpha/theorem-1"], slip="alpha/theorem-3")}
    for known in (deeper, {"alpha/theorem-4": register["alpha/theorem-4"]}):
        with pytest.raises(ValueError, match="slip must name an erratum that is its own root, got 'alpha/theorem-1'"):
            errata.errata(known, FOUND)


def test_a_book_without_slips_has_no_errata(book: Path) -> None:
    (book / "part" / "verdicts.json").unlink()
    claims.record(book / "part", {"alpha/theorem-2": FOUND["alpha/theorem-2"]})
    register = book / "claims.yml"
    register.write_text(REGISTER.partition("slips:")[0], encoding="utf-8")
    assert errata.page(book).strip() == ""


def test_what_cannot_be_tested_is_no_erratum(book: Path) -> None:
    untestable = Finding(Verdict.UNTESTABLE, "Nothing.", would_change="More.")
    register = claims.read_register(book / "claims.yml")
    assert errata.errata(register, {"alpha/theorem-1": untestable}) == []


def test_the_data_say_the_same(book: Path) -> None:
    data = json.loads(errata.data(book))
    assert data["version"] == costofprivacy.__version__
    assert data["papers"]["beta"]["title"] == "Second Paper"
    assert [entry["claim"] for entry in data["errata"]] == ["alpha/theorem-3", "beta/figure-1", "alpha/theorem-1"]
    assert data["errata"][2] == {
        "paper": "alpha",
        "claim": "alpha/theorem-1",
        "place": "Theorem 1",
        "says": "One $x$.",
        "quote": "",
        "verdict": "holds, corrected",
        "consequence": "numbers",
        "printed": "$x$.",
        "should_read": "$2x$ there.",
        "condition": "",
        "found": "Twice.",
        "rests": ["alpha/theorem-4"],
        "also": ["(C.12)"],
    }
    assert data["slips"][0]["why"] == "It is two."
