"""The book's results by name."""

from pathlib import Path

import pandas as pd
import pytest

from companion import published
from companion.build.cli import main

ROOT = Path(__file__).parents[2]
NAME = "noisyhead/low-dimensional"


def test_results_are_a_mapping_of_tables_with_verdicts() -> None:
    found = published.results(NAME)
    assert list(found) == sorted(path.stem for path in (ROOT / "book" / NAME).glob("*.csv"))
    assert all(isinstance(table, pd.DataFrame) for table in found.values())
    assert list(found.verdicts.columns) == ["claim", "verdict", "consequence", "headline"]
    assert set(found.verdicts["claim"]) == set(found.findings)
    with pytest.raises(KeyError, match=r"table must be one of .*comparison, .*, got 'figure-9'"):
        found["figure-9"]


def test_a_table_says_what_its_columns_and_rows_are() -> None:
    found = published.results(NAME)
    told = found.columns("figure-1")
    assert list(told.columns) == ["name", "unit", "meaning"]
    assert list(told["name"]) == list(found["figure-1"].columns)
    assert told.set_index("name").loc["N", "unit"] == "prompts"
    assert (told["meaning"] != "").all()
    assert found.row("figure-1").startswith("One row for each setting")
    for ask in (found.columns, found.row):
        with pytest.raises(KeyError, match=r"table must be one of .*comparison, .*, got 'figure-9'"):
            ask("figure-9")


def test_an_unknown_chapter_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^name must be one of .* \(did you mean 'noisyhead/low-dimensional'\?\)$"):
        published.results("noisyhead/low-dimension")


@pytest.mark.parametrize("name", [None, 3, ["noisyhead"], b"noisyhead"])
def test_what_is_no_name_is_refused(name: object) -> None:
    with pytest.raises(ValueError, match=r"^name must be one of "):
        published.results(name)  # type: ignore[arg-type]


def test_the_command_line_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["results", NAME, "figure-1"]) == 0
    assert capsys.readouterr().out == published.results(NAME)["figure-1"].to_csv(index=False)
    assert main(["results", NAME]) == 0
    told = capsys.readouterr().out
    assert "figure-1" in told
    assert "noisyhead/theorem-1.1-low" in told


@pytest.mark.parametrize("asked", [["results", "nothing"], ["results", NAME, "nothing"]])
def test_the_command_line_answers_a_wrong_name_in_one_line(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(asked) == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert len(written.err.splitlines()) == 1
    assert "got 'nothing'" in written.err
