import math

import numpy as np
import pandas as pd
import pytest

from costofprivacy import _validate
from tests.each import each

NOT_NUMBERS = (math.nan, "1", "", b"1", None, True, False, [1.0], (), np.array([1.0, 2.0]), 1j)

# check, words of its range, the last values inside, the first outside
RANGES = [
    (_validate.positive, "positive", (5e-324, 1, math.inf), (0, -0.0, -1, -math.inf)),
    (_validate.finite_positive, "positive and finite", (5e-324, 1, 1e308), (0, -1.0, math.inf, -math.inf)),
    (_validate.nonnegative, "non-negative and finite", (0, 2.5, 1e308), (-5e-324, -1, math.inf)),
    (_validate.probability, "between 0 and 1, both excluded", (5e-324, 0.5, 1 - 2**-53), (0, 1, -0.5, 1.5, math.inf)),
]
INSIDE = [(check, value) for check, _, inside, _ in RANGES for value in inside]
OUTSIDE = [(check, words, value) for check, words, _, outside in RANGES for value in (*outside, *NOT_NUMBERS)]


def message(check: object, *arguments: object, **limits: object) -> str:
    with pytest.raises(ValueError, match=r".") as refusal:
        check(*arguments, **limits)
    return str(refusal.value)


@each(("check", "value"), INSIDE)
@each("kind", [float, np.float64])
def test_an_admissible_number_comes_back_as_a_float(check: object, value: float, kind: type) -> None:
    checked = check("epsilon", kind(value))
    assert checked == value
    assert type(checked) is float


@each(("check", "words", "value"), OUTSIDE)
def test_a_refusal_names_argument_range_and_value(check: object, words: str, value: object) -> None:
    assert message(check, "epsilon", value) == f"epsilon must be {words}, got {_validate.quoted(value)}"


@each("value", [-1.001, 2.001, math.inf, *NOT_NUMBERS])
def test_between_excludes_the_rest(value: object) -> None:
    assert message(_validate.between, "c", value, -1, 2) == f"c must be between -1 and 2, got {_validate.quoted(value)}"


@pytest.mark.parametrize("value", [1, 3.0, np.int64(7), np.float64(2)])
def test_whole_numbers_come_back_as_ints(value: float) -> None:
    assert _validate.whole("steps", value) == value
    assert type(_validate.whole("steps", value)) is int


@each("value", [0, -3, 1.5, math.inf, *NOT_NUMBERS])
def test_whole_refuses_the_rest(value: object) -> None:
    assert (
        message(_validate.whole, "steps", value)
        == f"steps must be a whole number of at least 1, got {_validate.quoted(value)}"
    )


@pytest.mark.parametrize("value", [np.array([0.25, 7.0]), [0.25] * 10, pd.Series([0.25]), pd.DataFrame({"a": [0.25]})])
def test_what_may_be_the_data_in_a_wrong_place_is_named_by_its_type(value: object) -> None:
    told = f"got a {type(value).__name__}"
    assert message(_validate.whole, "n", value) == f"n must be a whole number of at least 1, {told}"
    assert message(_validate.argument, "n", value, _validate.PROBABILITY, bool).endswith(told)
    assert message(_validate.numbers, "n", np.array(value, dtype=str)).endswith("got a ndarray")


def test_one_of() -> None:
    assert _validate.one_of("paper", "dpgd", ("noisyhead", "dpgd")) == "dpgd"
    refused = message(_validate.one_of, "paper", "gpt", ("noisyhead", "dpgd"))
    assert refused == "paper must be one of noisyhead, dpgd, got 'gpt'"


@pytest.mark.parametrize(
    ("expected", "words"),
    [((3, 2), "(3, 2)"), ((None, 2), "(any, 2)"), ((2,), "(2)"), ((2, 3, None), "(2, 3, any)"), ((), "()")],
)
def test_a_shape_that_does_not(expected: tuple, words: str) -> None:
    assert message(_validate.shape, "x", np.zeros((2, 3)), expected) == f"x must have shape {words}, got (2, 3)"
