import math

import pandas as pd
import pytest

from costofprivacy.judging import prose
from tests.each import each

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
    ("share", "text"), [(0.0, "0 %"), (0.5, "50 %"), (0.0123, "1.2 %"), (-0.00319, "−0.32 %"), (math.nan, "nan %")]
)
def test_a_share_is_a_percentage_of_two_digits(share: float, text: str) -> None:
    assert prose.percent(share) == text


def test_ratios_and_ranges() -> None:
    assert prose.times(3.5) == "3.5 times"
    assert prose.span([1, 0.2, 0.4]) == "0.2 to 1"
    assert prose.span([2, 2]) == "2"


@each(
    ("value", "text"),
    [
        (0.0, "0"),
        (2.31, "2.31"),
        (-0.5, "−0.5"),
        (4.7e-6, "4.7·10⁻⁶"),
        (-1e5, "−1·10⁵"),
        (1e10, "10¹⁰"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "no number"),
    ],
)
def test_a_number_for_the_ear_has_no_markup(value: float, text: str) -> None:
    assert prose.plain(value) == text


def test_items_are_listed_as_one_reads_them_out() -> None:
    assert [prose.listed(items) for items in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


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


def test_a_column_goes_from_its_first_to_its_last_row() -> None:
    rows = pd.DataFrame({"risk": [3.0, 9.0, 2.0], "standard_error": [0.1, 5.0, 0.1]})
    assert prose.along(rows, "risk") == "falls from 3 to 2"
    assert prose.along(rows.assign(standard_error=0.2), "risk") == "stays near 2"
    assert prose.along(rows[["risk"]].iloc[:2], "risk") == "rises from 3 to 9"


def test_a_course_is_told_as_asked() -> None:
    assert prose.course(1e-7, 1e-3, tell=prose.plain) == "rises from 10⁻⁷ to 0.001"
