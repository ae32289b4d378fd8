"""The examples in docstrings of the library."""

import doctest
import importlib
from pathlib import Path

import pytest

LIB = Path(__file__).parents[1] / "lib"
WITH_EXAMPLES = [
    ".".join(path.relative_to(LIB).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(LIB.rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]
SLOW = {"costofprivacy.estimators.forecasting"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in WITH_EXAMPLES]
)
def test_examples_give_what_they_say(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
