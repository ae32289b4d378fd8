import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from companion.build.compare import BESIDE, beside, paired

BOOK = pd.DataFrame(
    {
        "setting": ["printed", "printed", "corrected"],
        "N": [1000, 2000, 1000],
        "excess_risk": [1.0, 2.0, 4.0],
        "standard_error": [0.1, 0.1, 0.3],
        "holds": [True, True, False],
    }
)


def finding(claim: str, verdict: str) -> dict[str, str]:
    return {"claim": claim, "verdict": verdict, "headline": f"{claim} {verdict}."}


def test_rows_belong_together_by_their_first_columns() -> None:
    here = BOOK.iloc[[2, 0]].assign(N=[1000.0, 1000.0], excess_risk=[8.0, 1.0], standard_error=[0.4, 0.1])
    pair = paired("figure-1", BOOK, here)
    assert pair.rows == (2, 1, 0)
    assert pair.numbers["row"].tolist() == ["setting = printed, N = 1000.0", "setting = corrected, N = 1000.0"]
    assert pair.numbers["column"].unique().tolist() == ["excess_risk"]  # no key, no error, no truth value
    np.testing.assert_allclose(pair.numbers["ratio"], [1.0, 2.0])
    np.testing.assert_allclose(pair.numbers["standard_errors"], [0.0, 4.0 / 0.5])
    assert str(pair) == (
        "figure-1: 2 rows in both, 1 only in the book; 1 of 2 numbers changed, 1 by more than 4 standard errors; "
        "the largest change is in excess_risk, 8 instead of 4 at setting = corrected, N = 1000.0"
    )


def test_rows_with_nothing_in_common_belong_together_by_their_places_if_they_are_as_many() -> None:
    other = BOOK.assign(N=BOOK["N"] + 1)
    assert paired("t", BOOK, other).rows == (3, 0, 0)
    assert paired("t", BOOK, other).numbers["row"].tolist()[0] == "row 1"
    assert paired("t", BOOK, other.iloc[:2]).rows == (0, 3, 2)
    assert paired("t", BOOK, other.iloc[:2]).numbers.empty


def test_a_number_that_is_missing_in_both_is_the_same_and_in_one_is_not() -> None:
    gap = BOOK.assign(excess_risk=[np.nan, 2.0, np.nan])
    here = BOOK.assign(excess_risk=[np.nan, 2.0, 4.0])
    assert str(paired("t", gap, gap)) == "t: 3 rows in both; no number changed"
    assert "1 of 3 numbers changed" in str(paired("t", gap, here))


def test_a_missing_key_is_a_key() -> None:
    table = pd.DataFrame({"epsilon": [0.2, np.nan], "risk": [1.0, 2.0]})
    assert paired("t", table, table.iloc[::-1]).numbers["ratio"].tolist() == [1.0, 1.0]


def test_a_sign_that_changes_is_a_change() -> None:
    here = BOOK.assign(excess_risk=-BOOK["excess_risk"])
    assert "3 of 3 numbers changed" in str(paired("t", BOOK, here))


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    for name, verdict, factor in (("book", "holds", 1.0), ("here", "fails", 1.5)):
        (tmp_path / name).mkdir()
        table = BOOK.assign(excess_risk=factor * BOOK["excess_risk"])
        table.to_csv(tmp_path / name / "figure-1.csv", index=False)
        entries = [finding("p/one", verdict), finding("p/two", "holds")]
        (tmp_path / name / "verdicts.json").write_text(json.dumps(entries))
    BOOK.to_csv(tmp_path / "here" / "new.csv", index=False)
    return tmp_path / "book", tmp_path / "here"


def test_a_run_is_told_beside_the_book_and_written_down(folders: tuple[Path, Path]) -> None:
    book, here = folders
    lines = beside(book, here, {"penalty": 5.0, "trials": 3}, {"penalty": 4.0, "trials": 3})
    assert lines[:3] == [
        "parameters: penalty = 4.0 instead of 5.0",
        "p/one: fails instead of holds. p/one fails.",
        "verdicts: 1 of 2 as in the book",
    ]
    assert lines[3].startswith("figure-1: 3 rows in both; 3 of 3 numbers changed")
    assert len(lines) == 4  # a table that the book has not has nothing beside it
    assert (here / f"{BESIDE}.md").read_text().splitlines()[2:] == [f"- {line}" for line in lines]
    numbers = json.loads((here / f"{BESIDE}.json").read_text())["figure-1"]
    assert [(row["book"], row["here"]) for row in numbers] == [(1.0, 1.5), (2.0, 3.0), (4.0, 6.0)]
    assert not (book / f"{BESIDE}.md").exists()


def test_what_a_parameter_says_is_no_number_that_changed(folders: tuple[Path, Path]) -> None:
    book, here = folders
    for folder, trials in zip(folders, (500, 50), strict=True):
        table = pd.read_csv(folder / "figure-1.csv").assign(trials=trials)
        table.to_csv(folder / "figure-1.csv", index=False)
    lines = beside(book, here, {"trials": 500}, {"trials": 50})
    assert "3 of 3 numbers changed" in lines[3]
