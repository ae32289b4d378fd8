import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy import _validate
from tests.each import each

law = settings(derandomize=True, deadline=None, max_examples=60)
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
    assert message(check, "epsilon", value) == f"epsilon must be {words}, got {value!r}"


@given(st.floats(allow_nan=True, allow_infinity=True))
@law
def test_every_float_is_accepted_or_refused(value: float) -> None:
    admissible = {
        _validate.positive: value > 0,
        _validate.finite_positive: 0 < value < math.inf,
        _validate.nonnegative: 0 <= value < math.inf,
        _validate.probability: 0 < value < 1,
    }
    for check, accepted in admissible.items():
        if accepted:
            assert check("x", value) == value
        else:
            assert message(check, "x", value).endswith(f"got {value!r}")


@pytest.mark.parametrize("value", [-1, 0.5, 2.0, np.float32(1)])
def test_between_includes_its_ends(value: float) -> None:
    assert _validate.between("c", value, -1, 2) == value
    assert type(_validate.between("c", value, -1, 2)) is float


@each("value", [-1.001, 2.001, math.inf, *NOT_NUMBERS])
def test_between_excludes_the_rest(value: object) -> None:
    assert message(_validate.between, "c", value, -1, 2) == f"c must be between -1 and 2, got {value!r}"


@pytest.mark.parametrize("value", [1, 3.0, np.int64(7), np.float64(2)])
def test_whole_numbers_come_back_as_ints(value: float) -> None:
    assert _validate.whole("steps", value) == value
    assert type(_validate.whole("steps", value)) is int


@each("value", [0, -3, 1.5, *NOT_NUMBERS])
def test_whole_refuses_the_rest(value: object) -> None:
    assert message(_validate.whole, "steps", value) == f"steps must be a whole number of at least 1, got {value!r}"


@given(st.integers(-20, 20), st.integers(-20, 20))
@law
def test_whole_starts_where_it_is_told(value: int, least: int) -> None:
    if value >= least:
        assert _validate.whole("n", value, at_least=least) == value
    else:
        assert f"at least {least}, got {value}" in message(_validate.whole, "n", value, at_least=least)


def test_one_of() -> None:
    assert _validate.one_of("paper", "dpgd", ("noisyhead", "dpgd")) == "dpgd"
    refused = message(_validate.one_of, "paper", "gpt", ("noisyhead", "dpgd"))
    assert refused == "paper must be one of noisyhead, dpgd, got 'gpt'"


@pytest.mark.parametrize("values", [[0.5, 1], (0.5, 1.0), np.array([0.5, 1.0])])
def test_each_checks_and_returns_a_tuple(values: object) -> None:
    checked = _validate.each(_validate.positive, "epsilon", values)
    assert checked == (0.5, 1.0)
    assert [type(value) for value in checked] == [float, float]


@each("values", [[], (), "12", "", 3, None, np.array([]), iter([1.0])])
def test_each_wants_a_list(values: object) -> None:
    assert message(_validate.each, _validate.positive, "epsilon", values).startswith(
        "epsilon must be a non-empty list, got "
    )


@pytest.mark.parametrize("values", [[1, 1], [1, 2, 1.0], [2, np.int64(2)]])
def test_each_wants_distinct_values(values: list) -> None:
    refused = message(_validate.each, _validate.whole, "N", values)
    assert refused == f"N must be a list of distinct values, got {values!r}"


def test_each_names_the_bad_value_and_passes_limits_on() -> None:
    assert message(_validate.each, _validate.positive, "epsilon", [1, -2]) == (
        "each of epsilon must be positive, got -2"
    )
    assert message(_validate.each, _validate.whole, "N", [10, 4], at_least=5) == (
        "each of N must be a whole number of at least 5, got 4"
    )


@pytest.mark.parametrize("value", [-1, 1, 2, 20.0])
def test_numbers_of_workers(value: float) -> None:
    assert _validate.workers(value) == value
    assert type(_validate.workers(value)) is int


@each("value", [0, -2, 1.5, -0.5, *NOT_NUMBERS])
def test_other_numbers_of_workers_are_refused(value: object) -> None:
    assert message(_validate.workers, value) == (
        f"workers must be -1 (all cores) or a whole number of at least 1, got {value!r}"
    )


@pytest.mark.parametrize("expected", [(2, 3), (None, 3), (2, None), (None, None)])
def test_a_shape_that_fits(expected: tuple) -> None:
    _validate.shape("x", np.zeros((2, 3)), expected)


@pytest.mark.parametrize(
    ("expected", "words"),
    [((3, 2), "(3, 2)"), ((None, 2), "(any, 2)"), ((2,), "(2)"), ((2, 3, None), "(2, 3, any)"), ((), "()")],
)
def test_a_shape_that_does_not(expected: tuple, words: str) -> None:
    assert message(_validate.shape, "x", np.zeros((2, 3)), expected) == f"x must have shape {words}, got (2, 3)"


@pytest.mark.parametrize(
    ("range", "words"),
    [
        (_validate.within(1, 1e6), "between 1 and 1e+06"),
        (_validate.within(0, 10, after=_validate.FINITE_POSITIVE), "positive and at most 10"),
        (_validate.within(1e-3, 1, after=_validate.POSITIVE), "between 0.001 and 1"),
        (_validate.within(2, 40, after=_validate.at_least(2), convert=int), "a whole number between 2 and 40"),
        (_validate.usually(_validate.at_least(0), 0, 2**63 - 1), "a whole number between 0 and 2⁶³ − 1"),
        (_validate.within(0, 2**20 - 1), "between 0 and 1048575"),
    ],
)
def test_a_range_says_each_end_once(range: _validate.Range, words: str) -> None:
    assert range.description == words
