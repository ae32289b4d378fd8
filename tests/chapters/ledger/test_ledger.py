import json
from pathlib import Path

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from chapters.ledger import show
from chapters.ledger.measure import Experiment, book_folder
from companion.judging import claims
from companion.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy import __version__

REGISTER = """
papers:
  noisyhead: {title: First Paper, arxiv: "1", short: NoisyHead}
  dpgd: {title: Second Paper, arxiv: "2", short: DP-GD}
claims:
  - {id: noisyhead/theorem-1, place: Theorem 1, says: One., chapter: part/one}
  - {id: dpgd/theorem-1, place: Theorem 1, says: Two., chapter: part/two, pending: true}
  - {id: noisyhead/theorem-2, place: Theorem 2, says: Three., chapter: part/one}
"""


RATIO = (Number("ratio", float("inf")),)
FAILED = Finding(Verdict.FAILS, "The ratio is $2$.", RATIO, Consequence.NUMBERS, would_change="Another ratio.")


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("COSTOFPRIVACY_BOOK", raising=False)
    (tmp_path / "book" / "part").mkdir(parents=True)
    (tmp_path / "book" / "claims.yml").write_text(REGISTER, encoding="utf-8")
    (tmp_path / "book/part/one.ipynb").write_text(
        '{"cells": [{"source": ["# One: a heading longer than a column\\n"]}]}'
    )
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


def test_the_book_is_the_nearest_or_the_one_told(book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert book_folder() == book
    monkeypatch.chdir(book / "part")
    assert book_folder() == book
    monkeypatch.setenv("COSTOFPRIVACY_BOOK", str(tmp_path / "copy"))
    assert book_folder() == tmp_path / "copy"


VERDICTS = "all, holds, holds, corrected, holds, narrower, fails, .*pending"


@pytest.mark.parametrize(("name", "known"), [("paper", "both, noisyhead, dpgd"), ("verdict", VERDICTS)])
def test_an_unknown_choice_is_refused(name: str, known: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be one of {known}, got 'gpt'$"):
        Experiment(**{name: "gpt"})


def test_a_row_has_an_address_and_what_it_is_filtered_by(book: Path) -> None:
    soup = BeautifulSoup(show.show_claims(Experiment().read(book)).data, "html.parser")
    pending, _, judged = soup.select("tbody > tr")
    assert judged["id"] == "claim-noisyhead-theorem-2"
    kept = {name[5:]: value for name, value in judged.attrs.items() if name.startswith("data-")}
    assert kept == {"paper": "NoisyHead", "verdict": "fails", "consequence": "numbers", "chapter": "part/one"}
    cells = ["Theorem 2", "does not hold", "numbers", r"The ratio is \(2\).", "NoisyHead", "One"]
    assert [cell.get_text() for cell in judged.find_all(["th", "td"])] == cells
    links = ["part/one-claims.html#claim-noisyhead-theorem-2", "part/one.html"]
    assert [link["href"] for link in judged.find_all("a")] == links
    assert pending["data-verdict"] == "pending"
    assert pending.find_all("a") == []
    assert "Claimed: One." in pending.get_text()


def test_the_table_is_one_for_those_who_hear_it(book: Path) -> None:
    soup = BeautifulSoup(show.show_claims(Experiment().read(book)).data, "html.parser")
    assert soup.caption is not None
    assert {head.get("scope") for head in soup.select("thead th")} == {"col"}
    assert {head.get("scope") for head in soup.select("tbody th")} == {"row"}
    assert len(soup.select("tbody th")) == 3
    assert soup.select_one(".table-scroll[role=region][tabindex='0'][aria-label]") is not None


def test_everything_can_be_taken_away(book: Path, tmp_path: Path) -> None:
    links = show.save(tmp_path / "results").data
    folder = tmp_path / "results" / show.ALL
    assert all(f"<ledger/{show.ALL}/{path.name}>" in links for path in folder.iterdir())
    data = json.loads((folder / "ledger.json").read_text("utf-8"))
    assert [entry["verdict"] for entry in data["claims"]] == ["pending", "pending", "fails"]
    assert data["claims"][2]["numbers"] == [
        {"name": "ratio", "value": "inf", "error": None, "against": None, "table": "", "row": ""}
    ]
    assert data["claims"][2]["card"] == "part/one-claims.html#claim-noisyhead-theorem-2"
    assert data["version"] == __version__
    table = pd.read_csv(folder / "claims.csv", keep_default_na=False)
    assert list(table["headline"]) == ["", "", "The ratio is $2$."]
    assert list(table["would_change"]) == ["", "", "Another ratio."]
    numbers = pd.read_csv(folder / "numbers.csv")
    assert list(numbers["claim"]) == ["noisyhead/theorem-2"]
