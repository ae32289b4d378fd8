"""Every parameter of every experiment has two ends, and what the book and its presets use lies between them."""

from pathlib import Path

import pytest

from chapters import ranges
from companion.build import parameters
from companion.build.project import Project, chapters, is_plain
from companion.checks import ANYWAY
from companion.declaration import Parameter, Parameters, declarations
from tests.each import each

PROJECT = Project(Path(__file__).parents[2])
CHAPTERS = [name for name in chapters(PROJECT) if not is_plain(PROJECT, name)]


def experiment(name: str) -> type[Parameters]:
    return parameters.experiment_class(PROJECT, name)


def unbounded(declared: tuple[Parameter, ...]) -> list[str]:
    """The parameters that have no ends and are no words."""
    return [d.name for d in declared if d.range.ends is None and d.range.convert is not str]


@each("name", CHAPTERS)
def test_every_parameter_has_an_upper_range(name: str) -> None:
    """Declare it with `chapters.ranges`: `count`, `amount`, `chance`, `real`, or a range that has a name there."""
    assert unbounded(declarations(experiment(name))) == []


@pytest.mark.parametrize("preset", ["paper", "quick"])
def test_the_books_own_parameters_are_admissible(preset: str) -> None:
    parameters.resolve_preset(PROJECT, preset, chapters(PROJECT))


SMALL = ranges.amount(1e-6, 1e3)


@each(
    ("range", "value", "message"),
    [
        (SMALL, 1e200, r"x must be between 1e-06 and 1000, got 1e\+200 \(ANYWAY=1 goes beyond\)"),
        (SMALL, 1e-308, r"x must be between 1e-06 and 1000, got 1e-308 \(ANYWAY=1 goes beyond\)"),
        (SMALL, -1.0, r"x must be positive and finite, got -1.0"),
        (ranges.TRIALS, 10**12, r"x must be a whole number between 2 and 1000000, got 1000000000000 \(ANYWAY"),
        (ranges.TRIALS, 10**400, r"x must be a whole number of at least 2, got 10000"),
        (ranges.DELTA, 1.0, r"x must be between 0 and 1, both excluded, got 1.0"),
        (ranges.DELTA, 1e-200, r"x must be between 1e-100 and 0.99, got 1e-200"),
        (ranges.RHO_OR_INFINITE, 1e7, r"x must be between 1e-06 and 1e\+06, or infinite, got 10000000.0"),
        (ranges.NOISE_OR_NONE, float("nan"), r"x must be non-negative and finite, got nan"),
    ],
)
def test_what_is_beyond_is_named_with_the_way_beyond(range: object, value: float, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        range("x", value)


def test_a_range_says_each_end_once() -> None:
    assert ranges.SEED.description == "a whole number between 0 and 2⁶³ − 1"
    assert ranges.RHO_OR_INFINITE.description == "between 1e-06 and 1e+06, or infinite"
    assert ranges.KAPPA.description == "between 1e-50 and 1"


def test_one_option_goes_beyond_the_usual_but_not_beyond_sense(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ANYWAY, "1")
    assert SMALL("x", 1e200) == 1e200
    assert type(ranges.TRIALS("x", 1e12)) is int
    with pytest.raises(ValueError, match=r"x must be positive and finite, got -1\.0$"):
        SMALL("x", -1.0)
    monkeypatch.setenv(ANYWAY, "0")
    with pytest.raises(ValueError, match="ANYWAY=1"):
        SMALL("x", 1e200)


def test_a_list_has_a_longest_length(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = Parameter("N", ranges.count(1, 10**7), (1,), many=True, ascending=False, published=False)
    assert len(declared.check(range(1, 1001))) == 1000
    with pytest.raises(ValueError, match="N must be a list of at most 1000 values, got 1001"):
        declared.check(range(1, 1002))
    monkeypatch.setenv(ANYWAY, "1")
    assert len(declared.check(range(1, 1002))) == 1001
