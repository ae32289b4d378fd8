import math

import pytest

from companion.judging import prose

WORDS = ("less than", "as much as", "more than")


@pytest.mark.parametrize(
    ("value", "error", "word"),
    [
        (1.0, 0.0, "as much as"),
        (0.9, 0.0, "less than"),
        (1.1, 0.0, "more than"),
        (1.1, 0.03, "as much as"),
        (1.1, 0.02, "more than"),
        (0.9, 0.03, "as much as"),
    ],
)
def test_a_comparison_follows_its_numbers_and_their_error(value: float, error: float, word: str) -> None:
    assert prose.compared(value, 1.0, WORDS, error) == word


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.19687, 0.0028, "0.197 ± 0.003"),
        (0.0992, 0.0016, "0.0992 ± 0.0016"),
        (-156.33, 2.34, "−156 ± 2"),
        (0.5, 0.0, "0.5"),
        (0.5, math.nan, "0.5"),
        (1234.5, 30.0, "1234 ± 30"),
    ],
)
def test_a_value_has_the_digits_that_its_error_leaves(value: float, error: float, text: str) -> None:
    assert prose.measured(value, error) == text


@pytest.mark.parametrize(
    ("first", "last", "error", "words"),
    [
        (3.0, 0.2, 0.0, "falls from 3 to 0.2"),
        (0.2, 3.0, 0.1, "rises from 0.2 to 3"),
        (3.0, 3.1, 0.1, "stays near 3.1"),
        (2.0, 2.0, 0.0, "stays near 2"),
    ],
)
def test_a_course_follows_its_ends(first: float, last: float, error: float, words: str) -> None:
    assert prose.course(first, last, error) == words
