"""The tests' own tools: `each` asks all cases and names all that fail, `same_bits` relabels rows and nothing else."""

import json
from pathlib import Path

import pytest

from companion.build.project import Project
from companion.running import stamps
from tests.each import each
from tests.same_bits import relabelled


def test_every_case_is_tried_and_all_that_fail_are_named() -> None:
    asked = []

    @each("base", [1, 2])
    @each(("power", "expected"), [(2, 1), (3, 8)])
    def powers(base: int, power: int, expected: int) -> None:
        asked.append((base, power))
        assert base**power == expected

    with pytest.raises(BaseExceptionGroup, match="2 of 2 cases of powers failed") as caught:
        powers()
    assert asked == [(1, 2), (1, 3), (2, 2), (2, 3)]
    first = caught.value.exceptions[0].exceptions[0]
    assert first.__notes__ == ["in the case {'power': 3, 'expected': 8}"]


def test_a_refusal_that_does_not_come_is_a_failure_too() -> None:
    @each("value", [1, 2])
    def refused(value: int) -> None:
        with pytest.raises(ValueError, match="value"):
            int(value)

    with pytest.raises(BaseExceptionGroup, match="2 of 2"):
        refused()


def test_no_cases_are_a_failure() -> None:
    with pytest.raises(AssertionError, match="no cases"):
        each("value", [])(lambda value: None)()


# committed rows of extra environments

ROWS = "trial,value,digest\n0,0.1,aaaa\n1,0.20,aaaa\n0,3e-05,bbbb\n"
KNOWN = {"aaaa": "cccc", "bbbb": "dddd"}


def committed(tmp_path: Path, stamped: str) -> Path:
    folder = tmp_path / "book/part/chapter"
    folder.mkdir(parents=True)
    (folder / "runs.csv").write_text(ROWS)
    (folder / stamps.STAMP).write_text(json.dumps({"measured": {"files": {"runs.csv": stamps.digest(stamped)}}}))
    return folder


def test_rows_and_their_stamp_follow_the_code_once(tmp_path: Path) -> None:
    folder = committed(tmp_path, ROWS)
    for _ in range(2):
        assert not list(relabelled(Project(tmp_path), "part/chapter/runs", KNOWN))
        rows = (folder / "runs.csv").read_text()
        assert rows == ROWS.replace("aaaa", "cccc").replace("bbbb", "dddd")
        assert stamps.read(folder)["measured"]["files"]["runs.csv"] == stamps.digest(rows)


def test_the_stamp_of_other_rows_stays(tmp_path: Path) -> None:
    folder = committed(tmp_path, ROWS.replace("0.1", "0.2"))
    before = stamps.read(folder)
    assert not list(relabelled(Project(tmp_path), "part/chapter/runs", KNOWN))
    assert stamps.read(folder) == before


def test_rows_of_other_code_are_named_and_left(tmp_path: Path) -> None:
    folder = committed(tmp_path, ROWS)
    (said,) = relabelled(Project(tmp_path), "part/chapter/runs", {"aaaa": "cccc"})
    assert said == "extras: 1 cells of part/chapter/runs are not from the old code"
    assert (folder / "runs.csv").read_text() == ROWS
