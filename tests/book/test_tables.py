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


def write(folder: Path, risk: float, verdict: str, evidence: str) -> Path:
    folder.mkdir()
    changed("risk", 0, risk).to_csv(folder / "figure-1.csv", index=False)
    entry = {"claim": "a/theorem-1", "verdict": verdict, "evidence": evidence}
    (folder / "verdicts.json").write_text(json.dumps([entry]))
    return folder


def test_folders_agree_bit_for_bit_or_to_the_tolerance(tmp_path: Path) -> None:
    old = write(tmp_path / "old", 1.0, "holds", "slope 1")
    same, near = write(tmp_path / "a", 1.0, "holds", "slope 1"), write(tmp_path / "b", 1 + 1e-9, "holds", "slope 2")
    assert [finding.words for finding in compare(old, same, Tolerance())] == ["the same bit for bit", "the same"]
    assert all(finding.agrees for finding in compare(old, near, Tolerance()))
    assert "relative" in compare(old, near, Tolerance())[0].words


def test_folders_differ_by_number_verdict_or_missing_table(tmp_path: Path) -> None:
    old, new = write(tmp_path / "old", 1.0, "holds", ""), write(tmp_path / "new", 1.1, "fails", "")
    assert [finding.agrees for finding in compare(old, new, Tolerance())] == [False, False]
    (new / "figure-1.csv").rename(new / "figure-2.csv")
    words = {finding.name: finding.words for finding in compare(old, new, Tolerance())}
    assert words["figure-1.csv"] == "was not written now"
    assert words["figure-2.csv"] == "is not committed"
    (new / "verdicts.json").unlink()
    assert compare(old, new, Tolerance())[-1].words == "were not written now"
