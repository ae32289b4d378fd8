"""Committed rows of extra environments get the new code's digests, and nothing else of them changes."""

import json
from pathlib import Path

from companion.build.project import Project
from companion.running import stamps
from tests.same_bits import relabelled

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
