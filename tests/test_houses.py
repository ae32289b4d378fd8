"""The three houses: imports point one way, no house grows, and the examples in docstrings give what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

from companion.running import _source

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
MOST = {"lib/costofprivacy": 26480, "lib/companion": 8615, "lib/chapters": 39270, "tests": 36400}


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
