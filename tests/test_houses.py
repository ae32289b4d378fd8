"""The three houses: imports point one way, no house grows, docstrings are true; the tests' own tools."""

import doctest
import importlib
import json
from pathlib import Path

import pytest

from companion.build.project import Project
from companion.running import _source, stamps
from tests.each import each
from tests.same_bits import relabelled

ROOT = Path(__file__).parents[1]
LIB = ROOT / "lib"
# What the modules of a folder import nothing of.
FORBIDDEN = {
    "costofprivacy": ("companion", "chapters"),
    "costofprivacy/privacy": ("costofprivacy.rivals", "costofprivacy.noisyhead", "costofprivacy.dpgd"),
    "costofprivacy/rivals": ("costofprivacy.noisyhead", "costofprivacy.dpgd", "costofprivacy.estimators"),
    "costofprivacy/noisyhead": ("costofprivacy.dpgd", "costofprivacy.estimators"),
    "costofprivacy/dpgd": ("costofprivacy.noisyhead", "costofprivacy.estimators"),
    "companion": ("costofprivacy", "chapters"),
    "companion/running": ("companion.judging", "companion.showing", "companion.build"),
    "companion/judging": ("companion.running", "companion.showing", "companion.build"),
    "companion/showing": ("companion.running", "companion.build"),
}
# Lines of Python. Who needs more finds what can go; who needs fewer lowers the number.
MOST = {"lib/costofprivacy": 28495, "lib/companion": 8498, "lib/chapters": 35849, "tests": 35999}


def upward(folder: str, lib: Path = LIB) -> dict[str, list[str]]:
    """The modules of a folder that import what they must not, with what that is."""
    found = {}
    for path in sorted((lib / folder).rglob("*.py")):
        parts = path.relative_to(lib).with_suffix("").parts
        package = parts[-1] == "__init__"
        names = _source.imported(path.read_text("utf-8"), ".".join(parts[:-1] if package else parts), package)
        wrong = {name for name in names for banned in FORBIDDEN[folder] if f"{name}.".startswith(f"{banned}.")}
        found |= {"/".join(parts): sorted(wrong)} if wrong else {}
    return found


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_imports_point_one_way(folder: str) -> None:
    assert any((LIB / folder).rglob("*.py"))
    assert upward(folder) == {}


def test_an_import_that_points_the_wrong_way_is_found(tmp_path: Path) -> None:
    (tmp_path / "companion" / "judging").mkdir(parents=True)
    module = "import costofprivacyx\ndef page():\n    from costofprivacy.dpgd import rates\n"
    (tmp_path / "companion" / "judging" / "cards.py").write_text(module, "utf-8")
    found = {"companion/judging/cards": ["costofprivacy.dpgd", "costofprivacy.dpgd.rates"]}
    assert upward("companion", tmp_path) == found
    assert upward("companion/judging", tmp_path) == {}


@pytest.mark.parametrize("house", MOST)
def test_no_house_grows(house: str) -> None:
    lines = sum(path.read_bytes().count(b"\n") for path in (ROOT / house).rglob("*.py"))
    assert lines <= MOST[house]


WITH_EXAMPLES = [
    ".".join(path.relative_to(LIB).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(LIB.rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]
SLOW = {"costofprivacy.estimators.forecasting", "costofprivacy.dpgd.control", "costofprivacy.rivals.hessian_mixing"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in WITH_EXAMPLES]
)
def test_examples_give_what_they_say(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


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
