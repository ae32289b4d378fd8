import json
from pathlib import Path

import pytest

import costofprivacy
from costofprivacy.judging import cards, claims, errata
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict

REGISTER = """
papers:
  alpha: {title: First Paper, arxiv: 1.5, short: Alpha}
  beta: {title: Second Paper, arxiv: "2", short: Beta}
claims:
  - {id: alpha/theorem-1, place: Theorem 1, says: "One\\n  $x$.", chapter: part/one}
  - {id: alpha/theorem-2, place: Theorem 2, says: Two., chapter: part/one}
  - {id: alpha/theorem-3, place: Theorem 3, says: Three., chapter: part/one}
  - {id: beta/figure-1, place: Figure 1, says: Four., chapter: part/one}
  - {id: beta/figure-2, place: Figure 2, says: Five., chapter: part/one, pending: true}
"""
ONE = (Number("n", 1.0),)
FOUND = {
    "alpha/theorem-1": Finding(Verdict.CORRECTED, "Twice.", ONE, Consequence.NUMBERS, "$2x$\n  there.", "More."),
    "alpha/theorem-2": Finding(Verdict.HOLDS, "So.", ONE, would_change="More."),
    "alpha/theorem-3": Finding(Verdict.FAILS, "Not.", ONE, Consequence.CONCLUSION, would_change="More."),
    "beta/figure-1": Finding(Verdict.NARROWER, "Rarely.", ONE, Consequence.CONCLUSION, "For few.", "More."),
}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "part").mkdir()
    (tmp_path / "claims.yml").write_text(REGISTER, encoding="utf-8")
    claims.record(tmp_path / "part", FOUND)
    return tmp_path


def test_one_line_an_erratum_the_consequential_first(book: Path) -> None:
    b = cards.badge
    lines = [line for line in errata.page(book).splitlines() if line]
    assert lines == [
        "## What changes a conclusion or a guarantee",
        "What the paper concludes from it does not follow, or a guarantee does not hold as stated.",
        "### Beta",
        f"- **[Figure 1](#claim-beta-figure-1)** {b('holds, narrower')} For few.",
        "## What changes a number",
        "Something that a reader would compute changes.",
        "### Alpha",
        f"- **[Theorem 1](#claim-alpha-theorem-1)** {b('holds, corrected')} $2x$ there.",
        'One claim fails with nothing to put there instead: <a href="ledger.html#verdict=fails">the ledger lists what '
        "fails</a>.",
    ]


def test_a_book_without_slips_has_no_errata(book: Path) -> None:
    (book / "part" / "verdicts.json").unlink()
    claims.record(book / "part", {"alpha/theorem-2": FOUND["alpha/theorem-2"]})
    assert errata.page(book).strip() == ""


def test_what_cannot_be_tested_is_no_erratum(book: Path) -> None:
    untestable = Finding(Verdict.UNTESTABLE, "Nothing.", correction="A note.", would_change="More.")
    register = claims.read_register(book / "claims.yml")
    assert errata.errata(register, {"alpha/theorem-1": untestable}) == []


def test_the_data_say_the_same(book: Path) -> None:
    data = json.loads(errata.data(book))
    assert data["version"] == costofprivacy.__version__
    assert data["papers"]["beta"]["title"] == "Second Paper"
    assert [entry["claim"] for entry in data["errata"]] == ["beta/figure-1", "alpha/theorem-1"]
    assert data["errata"][1] == {
        "paper": "alpha",
        "claim": "alpha/theorem-1",
        "place": "Theorem 1",
        "says": "One $x$.",
        "verdict": "holds, corrected",
        "consequence": "numbers",
        "correction": "$2x$ there.",
        "found": "Twice.",
    }
