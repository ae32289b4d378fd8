import math
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest

from chapters.symbols import BY_NAME
from companion import checks
from companion.declaration import Parameters, declarations, many, meanings, parameter, rows
from costofprivacy import _validate
from costofprivacy._validate import FINITE_POSITIVE, PROBABILITY, SHARE, among, at_least
from tests.costofprivacy.test_validate import NOT_NUMBERS, message
from tests.each import each, refused


class Experiment(Parameters):
    """A measurement.

    Of something.
    """

    N: tuple[int, ...] = many(at_least(4), 1000, 2000, ascending=True)
    """Training prompts;
    at least four."""
    epsilon: tuple[float, ...] = many(FINITE_POSITIVE, 0.5)
    delta: float = parameter(PROBABILITY, 1e-5, published=True)
    failure: float = parameter(SHARE, 1.0)
    method: str = parameter(among(("ridge", "zero")), "zero")
    """What is run."""

    def check(self) -> None:
        if max(self.epsilon) > min(self.N):
            raise ValueError(f"epsilon must be at most N, got {max(self.epsilon)}")


@dataclass(frozen=True)
class Cell:
    N: int
    delta: float
    label: str = ""


def test_values_are_checked_converted_and_sorted() -> None:
    made = Experiment(N=[7.0, 5], epsilon=[1])
    assert (made.N, made.epsilon, made.delta) == ((5, 7), (1.0,), 1e-5)
    assert [type(n) for n in made.N] == [int, int]
    assert Experiment() == Experiment(N=(2000, 1000))
    with pytest.raises(FrozenInstanceError):
        made.delta = 0.5


@each(
    ("given", "message"),
    [
        ({"N": (3,)}, "each of N must be a whole number of at least 4, got 3"),
        ({"N": 5}, "N must be a non-empty list, got 5"),
        ({"N": (5, 5)}, r"N must be a list of distinct values, got \[5, 5\]"),
        ({"delta": 1.0}, "delta must be between 0 and 1, both excluded, got 1.0"),
        ({"failure": 0.0}, "failure must be positive, got 0.0"),
        ({"failure": 1.5}, "failure must be between 0 and 1, got 1.5"),
        ({"method": "best"}, "method must be one of ridge, zero, got 'best'"),
        ({"epsilon": (2000.0,)}, "epsilon must be at most N, got 2000.0"),
    ],
)
def test_what_is_out_of_range_is_named(given: dict[str, object], message: str) -> None:
    refused(f"^{message}$", Experiment, **given)


def test_only_what_the_published_numbers_fix_decides_whether_they_belong() -> None:
    assert Experiment(N=(5,), failure=0.5).is_published
    assert not Experiment(delta=1e-6).is_published


def test_a_bundle_takes_what_it_shares() -> None:
    assert Experiment().shared(Cell, N=7) == Cell(7, 1e-5)
    assert Experiment(delta=0.1).shared(Cell, N=7, label="a") == Cell(7, 0.1, "a")


def test_meanings_stand_after_the_fields_or_in_the_table_of_symbols() -> None:
    assert meanings(Experiment) == {"N": "Training prompts; at least four.", "method": "What is run."}
    described = {row.name: row for row in rows(Experiment)}
    assert list(described) == [declared.name for declared in declarations(Experiment)]
    assert described["N"].meaning == "Training prompts; at least four."
    assert described["delta"].meaning == BY_NAME["delta"].meaning
    assert described["N"].range == "a list, each a whole number of at least 4"
    assert described["failure"].range == "positive and at most 1"
    assert (described["delta"].symbol, described["delta"].default) == (r"$\delta$", 1e-5)


def test_a_parameter_needs_a_declaration_and_a_meaning() -> None:
    with pytest.raises(TypeError, match=r"Bare\.N must be declared with parameter or many"):

        class Bare(Parameters):
            N: int = 5

    with pytest.raises(TypeError, match=r"Mute\.unheard_of needs a meaning"):

        class Mute(Parameters):
            unheard_of: int = parameter(at_least(1), 5)


# -------------------------------------------------------------------------------------------------------------- checks


@pytest.mark.parametrize("value", [1, 3.0, np.int64(7), np.float64(2), 10**300])
def test_whole_numbers_come_back_as_ints(value: float) -> None:
    assert checks.whole("steps", value) == value
    assert type(checks.whole("steps", value)) is int


@pytest.mark.parametrize("value", [0, -3, 1.5, math.inf, 10**400, np.timedelta64(3), *NOT_NUMBERS])
def test_whole_refuses_the_rest(value: object) -> None:
    assert message(checks.whole, "steps", value) == f"steps must be a whole number of at least 1, got {value!r}"


@pytest.mark.parametrize("values", [[0.5, 1], (0.5, 1.0), np.array([0.5, 1.0])])
def test_each_checks_and_returns_a_tuple(values: object) -> None:
    checked = checks.each(_validate.positive, "epsilon", values)
    assert checked == (0.5, 1.0)
    assert [type(value) for value in checked] == [float, float]


@each("values", [[], (), "12", "", 3, None, np.array([]), iter([1.0])])
def test_each_wants_a_list(values: object) -> None:
    assert message(checks.each, _validate.positive, "epsilon", values).startswith(
        "epsilon must be a non-empty list, got "
    )


@pytest.mark.parametrize("values", [[1, 1], [1, 2, 1.0], [2, np.int64(2)]])
def test_each_wants_distinct_values(values: list) -> None:
    refused = message(checks.each, _validate.whole, "N", values)
    assert refused == f"N must be a list of distinct values, got {values!r}"


def test_each_names_the_bad_value_and_passes_limits_on() -> None:
    assert message(checks.each, _validate.positive, "epsilon", [1, -2]) == ("each of epsilon must be positive, got -2")
    assert message(checks.each, _validate.whole, "N", [10, 4], at_least=5) == (
        "each of N must be a whole number of at least 5, got 4"
    )


@each("value", [0, -2, 1.5, -0.5, math.inf, *NOT_NUMBERS])
def test_other_numbers_of_workers_are_refused(value: object) -> None:
    assert message(checks.workers, value) == (
        f"workers must be -1 (all cores) or a whole number of at least 1, got {value!r}"
    )
