"""What tables are measured from, and how long that takes."""

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from companion import HOUSES
from companion.build.project import Project, chapters
from companion.running import _source, stamps
from costofprivacy import datasets

BOOK, LIB = (Path(__file__).parents[3] / name for name in ("book", "lib"))
TABLE = pd.DataFrame({"method": ["a", "NA"], "epsilon": [0.1 + 0.2, None], "trials": [5, 7], "kept": [True, False]})
MEASURED = {"parameters": "1", "code": "2"}


@dataclass(frozen=True)
class Experiment:
    N: tuple[int, ...] = (1, 2)
    delta: float = 1e-5


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    TABLE.to_csv(tmp_path / "figure-1.csv", index=False)
    files = {"figure-1.csv": stamps.file_digest(tmp_path / "figure-1.csv")}
    (tmp_path / "stamp.json").write_text(json.dumps({"measured": {"inputs": MEASURED, "files": files}}))
    return tmp_path


def test_saved_tables_come_back_as_they_were(folder: Path) -> None:
    tables = stamps.saved_tables(folder, MEASURED)
    assert list(tables) == ["figure-1"]
    pd.testing.assert_frame_equal(tables["figure-1"], TABLE, check_exact=True)
    assert tables["figure-1"]["epsilon"][0] == 0.30000000000000004


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"measured": {"inputs": {}, "files": {}}}'])
def test_a_stamp_that_says_nothing_gives_no_tables(folder: Path, content: str) -> None:
    (folder / "stamp.json").write_text(content)
    assert stamps.saved_tables(folder, MEASURED) is None
    (folder / "stamp.json").unlink()
    assert stamps.saved_tables(folder, {}) is None


def test_what_is_measured_depends_on_parameters_code_data_and_requirements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Experiment, "__module__", "chapters.noisyhead.low_dimensional.measure")
    before = stamps.measured_from(Experiment(), tmp_path)
    assert stamps.measured_from(Experiment([1, 2]), tmp_path) == before
    (tmp_path / "requirements.txt").write_text("sphinx==7.4 \\\n    --hash=1\n")
    assert stamps.measured_from(Experiment(), tmp_path) == before
    (tmp_path / "requirements.txt").write_text("numpy==2.4 ; python_version < '3.12' \\\n    --hash=1\n")
    changed = stamps.measured_from(Experiment(delta=0.1), tmp_path)
    assert {key for key in before if before[key] != changed[key]} == {"parameters", "requirements"}
    assert set(before) == {"parameters", "code", "data", "requirements"}


def test_tables_on_real_data_depend_on_which_of_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Experiment, "__module__", "chapters.noisyhead.low_dimensional.measure")
    monkeypatch.setattr(Experiment, "data_sets", (datasets.HOUSING,), raising=False)
    found = []
    for cached in (True, False):
        monkeypatch.setattr(datasets, "is_cached", lambda name, cached=cached: cached)
        found.append(stamps.measured_from(Experiment(), tmp_path))
    assert {key for key in found[0] if found[0][key] != found[1][key]} == {"sets"}


def test_no_word_of_verdicts_or_figures_is_among_the_code_of_a_measurement() -> None:
    others = ("judge", "show", "findings", "claims", "cards", "figures", "plates", "symbols", "chapters", "montecarlo")
    waiting = [path for path in (LIB / "chapters").rglob("measure.py") if path.parent.name != "ledger"]
    assert len(waiting) > 20
    known = set[Path]()
    while waiting:  # the library imports nothing of the other two
        path = waiting.pop()
        known.add(path)
        module = ".".join(path.relative_to(LIB).with_suffix("").parts)
        for name in _source.imported(path.read_text("utf-8"), module):
            waiting += {(LIB / f"{name.replace('.', '/')}.py")} - known if name.startswith(HOUSES[:2]) else set()
            waiting = [path for path in waiting if path.is_file()]
    assert not [path for path in known if path.stem in others]


def test_the_book_is_measured_in_twenty_minutes_of_two_cores() -> None:
    measured = stamps.seconds(BOOK)
    assert set(measured) <= set(chapters(Project(BOOK.parent)))
    assert min(measured.values()) > 0
    assert sum(measured.values()) <= 2 * 20 * 60
