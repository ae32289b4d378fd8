from pathlib import Path

import pandas as pd
import pytest

from costofprivacy import claims
from costofprivacy.claims import Judgement, Verdict
from costofprivacy.experiments import ledger
from costofprivacy.experiments.ledger import Experiment
from costofprivacy.montecarlo import Runner

REGISTER = """
papers: {}
claims:
  - {id: noisyhead/theorem-1, place: Theorem 1, says: One., chapter: part/one}
  - {id: dpgd/theorem-1, place: Theorem 1, says: Two., chapter: part/two, pending: true}
  - {id: noisyhead/theorem-2, place: Theorem 2, says: Three., chapter: part/one}
"""


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("COSTOFPRIVACY_BOOK", raising=False)
    (tmp_path / "book" / "part").mkdir(parents=True)
    (tmp_path / "book" / "claims.yml").write_text(REGISTER, encoding="utf-8")
    claims.record(tmp_path / "book" / "part", "noisyhead/theorem-2", Judgement(Verdict.FAILS, "ratio 2"))
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


def test_the_table_leaves_the_evidence_out(book: Path) -> None:
    tables = Experiment().run(Runner(workers=1))
    assert list(tables) == ["ledger"]
    assert list(tables["ledger"].columns) == ["claim", "paper", "place", "says", "chapter", "verdict"]
    assert list(tables["ledger"]["verdict"]) == ["pending", "pending", "fails"]
    assert list(Experiment().read(book)["evidence"]) == ["", "", "ratio 2"]


def test_the_book_is_the_nearest_or_the_one_told(book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ledger.book_folder() == book
    monkeypatch.chdir(book / "part")
    assert ledger.book_folder() == book
    monkeypatch.setenv("COSTOFPRIVACY_BOOK", str(tmp_path / "copy"))
    assert ledger.book_folder() == tmp_path / "copy"


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"paper": "gpt"}, "^paper must be one of both, noisyhead, dpgd, got 'gpt'$"),
        ({"verdict": "true"}, "^verdict must be one of all, holds, holds, amended, fails, .*pending, got 'true'$"),
    ],
)
def test_an_unknown_choice_is_refused(choice: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Experiment(**choice)


@pytest.mark.parametrize("verdict", ledger.VERDICTS)
def test_every_choice_can_be_counted_and_shown(book: Path, verdict: str) -> None:
    table = Experiment(verdict=verdict).read(book)
    assert isinstance(table, pd.DataFrame)
    html, text = ledger.show_counts(table).data, ledger.show(table, "noisyhead").data
    assert 'class="dataframe ledger"' in html
    assert claims.badge("holds, amended") in html
    assert "Two." not in text


def test_the_list_of_a_paper(book: Path) -> None:
    text = ledger.show(Experiment().read(book), "noisyhead").data
    assert "[Theorem 2](part/one.ipynb).** Three." in text
    assert "*Found:* ratio 2." in text
    assert "**Theorem 1.** One." in text
