import json
from pathlib import Path

import pandas as pd
import pytest

from costofprivacy.book.tables import Tolerance, compare, compare_tables

TABLE = pd.DataFrame({"method": ["a", "b"], "epsilon": [0.5, None], "risk": [1.0, 2.0], "trials": [5, 5]})


def changed(column: str, row: int, value: object) -> pd.DataFrame:
    table = TABLE.astype({"method": object})
    table.loc[row, column] = value
    return table


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (TABLE, ""),
        (changed("risk", 0, 1.0 + 1e-8), ""),
        (changed("risk", 0, 1.0 + 1e-5), "risk: 1 of 2 rows, 1.00001 for 1.0"),
        (changed("risk", 1, float("nan")), "risk: 1 of 2 rows, nan for 2.0"),
        (changed("epsilon", 1, 0.1), "epsilon: 1 of 2 rows, 0.1 for nan"),
        (changed("trials", 0, 6), "trials: 1 of 2 rows, 6.0 for 5.0"),
        (changed("method", 0, "z"), "method: 1 of 2 rows"),
        (TABLE[:1], "1 rows instead of 2"),
        (TABLE.rename(columns={"risk": "loss"}), "columns method, epsilon, loss, trials instead of"),
    ],
)
def test_a_changed_table_is_told_from_the_same(new: pd.DataFrame, words: str) -> None:
    found = compare_tables(TABLE, new, Tolerance())
    assert found.startswith(words) if words else found == ""


def test_a_wider_tolerance_admits_more() -> None:
    assert compare_tables(TABLE, changed("risk", 0, 1.01), Tolerance(relative=0.1)) == ""


def entry(**other: object) -> dict[str, object]:
    numbers = [{"name": "slope", "value": -2.0, "error": 0.1}, {"name": "share", "value": 0.5, "error": None}]
    base = {"claim": "a/theorem-1", "verdict": "holds", "consequence": "none", "correction": "", "headline": "So."}
    return base | {"numbers": numbers} | other


def numbers(slope: float, share: float) -> list[dict[str, object]]:
    return [{"name": "slope", "value": slope, "error": 0.1}, {"name": "share", "value": share, "error": None}]


def write(folder: Path, risk: float = 1.0, *entries: dict[str, object]) -> Path:
    folder.mkdir()
    changed("risk", 0, risk).to_csv(folder / "figure-1.csv", index=False)
    (folder / "verdicts.json").write_text(json.dumps(entries or [entry()]))
    return folder


def test_folders_agree_bit_for_bit_or_to_the_tolerance(tmp_path: Path) -> None:
    old, same, near = write(tmp_path / "old"), write(tmp_path / "a"), write(tmp_path / "b", 1 + 1e-9)
    assert [finding.words for finding in compare(old, same, Tolerance())] == ["the same bit for bit", "the same"]
    assert all(finding.agrees for finding in compare(old, near, Tolerance()))
    assert "relative" in compare(old, near, Tolerance())[0].words


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (entry(headline="Thus."), "the same"),
        (entry(numbers=numbers(-1.91, 0.5)), "the same"),
        (entry(numbers=numbers(-1.89, 0.5)), "a/theorem-1: slope, -1.89 for -2.0"),
        (entry(numbers=numbers(-2.0, 0.5001)), "a/theorem-1: share, 0.5001 for 0.5"),
        (entry(numbers=numbers(-2.0, 0.5)[:1]), "a/theorem-1: other numbers"),
        (entry(verdict="fails"), "a/theorem-1: 'fails' for 'holds'"),
        (entry(consequence="numbers"), "a/theorem-1: 'numbers' for 'none'"),
        (entry(correction="$x$"), "a/theorem-1: '$x$' for ''"),
        (entry(claim="a/theorem-2"), "a/theorem-1: was not judged now; a/theorem-2: is not committed"),
    ],
)
def test_a_changed_finding_is_told_from_a_reworded_one(tmp_path: Path, new: dict[str, object], words: str) -> None:
    found = compare(write(tmp_path / "old"), write(tmp_path / "new", 1.0, new), Tolerance())[-1]
    assert (found.agrees, found.words) == (words == "the same", words)


def test_folders_differ_by_number_or_missing_file(tmp_path: Path) -> None:
    old, new = write(tmp_path / "old"), write(tmp_path / "new", 1.1)
    assert [finding.agrees for finding in compare(old, new, Tolerance())] == [False, True]
    (new / "figure-1.csv").rename(new / "figure-2.csv")
    words = {finding.name: finding.words for finding in compare(old, new, Tolerance())}
    assert words["figure-1.csv"] == "was not written now"
    assert words["figure-2.csv"] == "is not committed"
    (new / "verdicts.json").unlink()
    assert compare(old, new, Tolerance())[-1].words == "were not written now"
