from pathlib import Path

import pandas as pd
import pytest

from costofprivacy import cards, claims
from costofprivacy.experiments.ledger import pages
from costofprivacy.experiments.ledger.experiment import Experiment, book_folder
from costofprivacy.findings import MEANING, WEIGHT, Consequence, Finding, Number, Verdict
from costofprivacy.montecarlo import Runner

REGISTER = """
papers: {}
claims:
  - {id: noisyhead/theorem-1, place: Theorem 1, says: One., chapter: part/one}
  - {id: dpgd/theorem-1, place: Theorem 1, says: Two., chapter: part/two, pending: true}
  - {id: noisyhead/theorem-2, place: Theorem 2, says: Three., chapter: part/one}
"""


FAILED = Finding(
    Verdict.FAILS, "The ratio is 2.", (Number("ratio", 2.0),), Consequence.NUMBERS, would_change="Another ratio."
)


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("COSTOFPRIVACY_BOOK", raising=False)
    (tmp_path / "book" / "part").mkdir(parents=True)
    (tmp_path / "book" / "claims.yml").write_text(REGISTER, encoding="utf-8")
    claims.record(tmp_path / "book" / "part", {"noisyhead/theorem-2": FAILED})
    monkeypatch.chdir(tmp_path)
    return tmp_path / "book"


@pytest.mark.parametrize(
    ("paper", "verdict", "expected"),
    [
        ("both", "all", ["noisyhead/theorem-1", "dpgd/theorem-1", "noisyhead/theorem-2"]),
        ("noisyhead", "all", ["noisyhead/theorem-1", "noisyhead/theorem-2"]),
        ("dpgd", "all", ["dpgd/theorem-1"]),
        ("both", "fails", ["noisyhead/theorem-2"]),
        ("both", "pending", ["noisyhead/theorem-1", "dpgd/theorem-1"]),
        ("dpgd", "fails", []),
    ],
)
def test_the_chosen_part_is_read(book: Path, paper: str, verdict: str, expected: list[str]) -> None:
    table = Experiment(paper, verdict).read(book)
    assert list(table["claim"]) == expected
    assert list(table.index) == list(range(len(expected)))


def test_the_table_leaves_the_headlines_out(book: Path) -> None:
    tables = Experiment().run(Runner(workers=1))
    assert list(tables) == ["ledger"]
    assert list(tables["ledger"].columns) == ["claim", "paper", "place", "says", "chapter", "verdict", "consequence"]
    assert list(tables["ledger"]["verdict"]) == ["pending", "pending", "fails"]
    assert list(Experiment().read(book)["headline"]) == ["", "", "The ratio is 2."]


def test_the_book_is_the_nearest_or_the_one_told(book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert book_folder() == book
    monkeypatch.chdir(book / "part")
    assert book_folder() == book
    monkeypatch.setenv("COSTOFPRIVACY_BOOK", str(tmp_path / "copy"))
    assert book_folder() == tmp_path / "copy"


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"paper": "gpt"}, "^paper must be one of both, noisyhead, dpgd, got 'gpt'$"),
        (
            {"verdict": "true"},
            "^verdict must be one of all, holds, holds, corrected, holds, narrower, fails, .*pending, got 'true'$",
        ),
    ],
)
def test_an_unknown_choice_is_refused(choice: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Experiment(**choice)


@pytest.mark.parametrize("verdict", ["all", *Verdict, claims.PENDING])
def test_every_choice_can_be_counted_and_shown(book: Path, verdict: str) -> None:
    table = Experiment(verdict=verdict).read(book)
    assert isinstance(table, pd.DataFrame)
    html, text = pages.show_counts(table).data, pages.show(table, "noisyhead").data
    assert 'class="dataframe ledger"' in html
    assert cards.badge("holds, corrected") in html
    assert "Two." not in text


def test_the_list_of_a_paper(book: Path) -> None:
    text = pages.show(Experiment().read(book), "noisyhead").data
    assert "[Theorem 2](#claim-noisyhead-theorem-2).** Three." in text
    assert "*Found:* The ratio is 2." in text
    assert "**Theorem 1.** One." in text


def test_the_page_s_definitions_are_the_library_s() -> None:
    text = pages.show_definitions().data
    assert all(cards.badge(verdict) in text and MEANING[verdict] in text for verdict in Verdict)
    assert all(meaning in text for meaning in WEIGHT.values())
