"""All cases are asked, and those that fail are all named."""

import pytest

from tests.each import each


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
