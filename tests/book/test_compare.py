"""Two executions compared: to tolerances, and a run with other parameters beside the book."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from companion.build.compare import BESIDE, beside, compare, compare_tables, paired
from companion.judging.tolerances import Errors, Relative

TABLE = pd.DataFrame({"method": ["a", "b"], "epsilon": [0.5, None], "risk": [1.0, 2.0], "trials": [5, 5]})


def changed(column: str, row: int, value: object) -> pd.DataFrame:
    table = TABLE.astype({"method": object})
    table.loc[row, column] = value
    return table


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (changed("risk", 0, 1.0 + 1e-8), ""),
        (changed("risk", 0, 1.0 + 1e-5), "risk (to 1e-06 of itself): 1 of its rows, 1.00001 for 1.0 in row 0"),
        (changed("risk", 1, float("nan")), "risk (to 1e-06 of itself): 1 of its rows, nan for 2.0 in row 1"),
        (changed("epsilon", 1, 0.1), "epsilon (to 1e-06 of itself): 1 of its rows, 0.1 for nan in row 1"),
        (changed("trials", 0, 6), "trials (exactly): 1 of its rows, 6 for 5 in row 0"),
        (changed("method", 0, "z"), "method (exactly): 1 of its rows, 'z' for 'a' in row 0"),
        (TABLE[:1], "1 rows instead of 2"),
        (TABLE.rename(columns={"risk": "loss"}), "columns method, epsilon, loss, trials instead of"),
    ],
)
def test_a_changed_table_is_told_from_the_same(tmp_path: Path, new: pd.DataFrame, words: str) -> None:
    for name, table in (("old", TABLE), ("new", new)):
        (tmp_path / name).mkdir()
        table.to_csv(tmp_path / name / "figure-1.csv", index=False)
    (found,) = compare(tmp_path / "old", tmp_path / "new", {})
    assert found.agrees == (not words)
    assert found.words.startswith(f"differs: {words}" if words else "the same to its tolerances")


def test_a_declared_tolerance_admits_more() -> None:
    assert compare_tables(TABLE, changed("risk", 0, 1.01), {"risk": Relative(0.1)}) == []
    (found,) = compare_tables(TABLE, changed("risk", 0, 1.01), {})
    assert (found.name, found.row, found.expected, found.found, found.verdict) == ("risk", 0, 1.0, 1.01, False)


def entry(**other: object) -> dict[str, object]:
    numbers = [{"name": "slope", "value": -2.0, "error": 0.1}, {"name": "share", "value": 0.5, "error": None}]
    base = dict.fromkeys(("should_read", "condition"), "") | {"vacuous": False, "headline": "So."}
    base |= {"claim": "a/theorem-1", "verdict": "holds", "consequence": "none"}
    return base | {"numbers": numbers} | other


def numbers(slope: float, share: float, error: float = 0.1, against: float | None = None) -> list[dict[str, object]]:
    return [
        {"name": "slope", "value": slope, "error": error, "against": against},
        {"name": "share", "value": share, "error": None},
    ]


def write(folder: Path, risk: float = 1.0, *entries: dict[str, object]) -> Path:
    folder.mkdir()
    changed("risk", 0, risk).to_csv(folder / "figure-1.csv", index=False)
    (folder / "verdicts.json").write_text(json.dumps(entries or [entry()]))
    return folder


def test_folders_agree_bit_for_bit_or_to_the_tolerance(tmp_path: Path) -> None:
    old, same, near = write(tmp_path / "old"), write(tmp_path / "a"), write(tmp_path / "b", 1 + 1e-9)
    assert [finding.words for finding in compare(old, same, {})] == ["the same bit for bit", "the same"]
    assert all(finding.agrees for finding in compare(old, near, {}))
    assert "to its tolerances" in compare(old, near, {})[0].words


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (entry(headline="Thus."), "the same"),
        (entry(numbers=numbers(-2.0 + 1e-6, 0.5)), "the same"),
        (entry(numbers=numbers(-2.0 + 1e-5, 0.5)), "a/theorem-1: slope, -1.99999 for -2.0"),
        (entry(numbers=numbers(-2.0, 0.5, 0.11)), "a/theorem-1: slope, error, 0.11 for 0.1"),
        (entry(numbers=numbers(-2.0, 0.5, 0.1, -1.5)), "a/theorem-1: slope, against, -1.5 for None"),
        (entry(numbers=numbers(-2.0, 0.5001)), "a/theorem-1: share, 0.5001 for 0.5"),
        (entry(numbers=numbers(-2.0, 0.5)[:1]), "a/theorem-1: ['slope'] for ['slope', 'share']"),
        (entry(verdict="fails"), "a/theorem-1: 'fails' for 'holds'"),
        (entry(should_read="$x$"), "a/theorem-1: '$x$' for ''"),
        (entry(claim="a/theorem-2"), "a/theorem-1: 'no finding' for 'holds'; a/theorem-2: 'holds' for 'no finding'"),
    ],
)
def test_a_changed_finding_is_told_from_a_reworded_one(tmp_path: Path, new: dict[str, object], words: str) -> None:
    found = compare(write(tmp_path / "old"), write(tmp_path / "new", 1.0, new), {})[-1]
    assert (found.agrees, found.words) == (words == "the same", words)


def test_a_number_of_a_verdict_has_its_own_tolerance(tmp_path: Path) -> None:
    old, new = write(tmp_path / "old"), write(tmp_path / "new", 1.0, entry(numbers=numbers(-1.91, 0.5)))
    for rule, agrees in ((Errors(1.0, "error"), True), (Errors(0.5, "error"), False)):
        assert compare(old, new, {"verdicts": {"a/theorem-1: slope": rule}})[-1].agrees == agrees


def test_folders_differ_by_number_or_missing_file(tmp_path: Path) -> None:
    old, new = write(tmp_path / "old"), write(tmp_path / "new", 1.1)
    assert [finding.agrees for finding in compare(old, new, {})] == [False, True]
    (new / "figure-1.csv").rename(new / "figure-2.csv")
    words = {finding.name: finding.words for finding in compare(old, new, {})}
    assert words["figure-1.csv"] == "was not written now"
    assert words["figure-2.csv"] == "is not committed"
    (new / "verdicts.json").unlink()
    assert compare(old, new, {})[-1].words == "were not written now"


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
    assert pair.numbers["row"].tolist() == ["setting = printed, N = 1000", "setting = corrected, N = 1000"]
    assert pair.numbers["column"].unique().tolist() == ["excess_risk"]  # no key, no error, no truth value
    np.testing.assert_allclose(pair.numbers["ratio"], [1.0, 2.0])
    np.testing.assert_allclose(pair.numbers["standard_errors"], [0.0, 4.0 / 0.5])
    assert str(pair) == (
        "figure-1: 2 rows in both, 1 only in the book; 1 of 2 numbers changed, 1 by more than 4 standard errors; "
        "the largest change is in excess_risk, 8 instead of 4 at setting = corrected, N = 1000"
    )


def test_rows_with_nothing_in_common_belong_together_by_their_places_if_they_are_as_many() -> None:
    other = BOOK.assign(N=BOOK["N"] + 1)
    assert paired("t", BOOK, other).rows == (3, 0, 0)
    assert paired("t", BOOK, other).numbers["row"].tolist()[0] == "row 1"
    assert paired("t", BOOK, other.iloc[:2]).rows == (0, 3, 2)
    assert paired("t", BOOK, other.iloc[:2]).numbers.empty


def test_a_number_that_is_missing_in_both_is_the_same_and_in_one_is_not_and_a_sign_counts() -> None:
    gap = BOOK.assign(excess_risk=[np.nan, 2.0, np.nan])
    here = BOOK.assign(excess_risk=[np.nan, 2.0, 4.0])
    assert str(paired("t", gap, gap)) == "t: 3 rows in both; no number changed"
    assert "1 of 3 numbers changed" in str(paired("t", gap, here))
    assert "3 of 3 numbers changed" in str(paired("t", BOOK, BOOK.assign(excess_risk=-BOOK["excess_risk"])))
    keys = pd.DataFrame({"epsilon": [0.2, np.nan], "risk": [1.0, 2.0]})  # a missing key is a key
    assert paired("t", keys, keys.iloc[::-1]).numbers["ratio"].tolist() == [1.0, 1.0]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    for name, verdict, factor in (("book", "holds", 1.0), ("here", "fails", 1.5)):
        (tmp_path / name).mkdir()
        table = BOOK.assign(excess_risk=factor * BOOK["excess_risk"], trials=3 * factor)
        table.to_csv(tmp_path / name / "figure-1.csv", index=False)
        entries = [finding("p/one", verdict), finding("p/two", "holds")]
        (tmp_path / name / "verdicts.json").write_text(json.dumps(entries))
    BOOK.to_csv(tmp_path / "here" / "new.csv", index=False)
    return tmp_path / "book", tmp_path / "here"


def test_a_run_is_told_beside_the_book_and_written_down(folders: tuple[Path, Path]) -> None:
    book, here = folders
    lines = beside(book, here, {"penalty": 5.0, "trials": 3}, {"penalty": 5.0, "trials": 4.5})
    assert lines[:3] == [
        "parameters: trials = 4.5 instead of 3",
        "p/one: fails instead of holds. p/one fails.",
        "verdicts: 1 of 2 as in the book",
    ]
    assert lines[3].startswith("figure-1: 3 rows in both; 3 of 3 numbers changed")  # what a parameter says is none
    assert len(lines) == 4  # a table that the book has not has nothing beside it
    assert (here / f"{BESIDE}.md").read_text().splitlines()[2:] == [f"- {line}" for line in lines]
    numbers = json.loads((here / f"{BESIDE}.json").read_text())["figure-1"]
    assert [(row["book"], row["here"]) for row in numbers] == [(1.0, 1.5), (2.0, 3.0), (4.0, 6.0)]
    assert not (book / f"{BESIDE}.md").exists()
