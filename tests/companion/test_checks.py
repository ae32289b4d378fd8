import math

import numpy as np
import pytest

from companion import checks
from costofprivacy import _validate
from tests.costofprivacy.test_validate import NOT_NUMBERS, message
from tests.each import each


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
