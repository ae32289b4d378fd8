import math

import pandas as pd
import pytest

from companion.judging import prose
from companion.judging.prose import DIFFERENT, relation

WORDS = ("less than", "as much as", "more than")


@pytest.mark.parametrize(
    ("value", "error", "word"),
    [
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
    assert prose.times(19378.4) == "19400 times"


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


# ---------------------------------------------------------------------------------------------------- one run, by hand


TABLES = {
    "exact": pd.DataFrame({"N": [1, 2, 2], "risk": [0.12346, 0.5, 0.5], "method": ["a", "b", "c"]}),
    "mean": pd.DataFrame({"N": [1, 2], "risk": [1.0, 2.0], "standard_error": [0.03, 0.0]}),
}


@pytest.mark.parametrize(("value", "same"), [(0.123457, True), (0.12345, True), (0.1236, False), (-0.12346, False)])
def test_an_exact_entry_agrees_to_four_digits(value: float, same: bool) -> None:
    told = relation(value, TABLES, "exact", "risk", {"N": 1})
    assert told.replace("−", "-").startswith(f"By hand: {value:.4g}. The table *exact* has 0.1235.")
    assert ("agree to four digits" in told) == same
    assert (DIFFERENT in told) == (not same)


@pytest.mark.parametrize(("value", "error", "away", "same"), [(1.05, 0.04, "1", True), (1.25, 0.04, "5", False)])
def test_a_mean_agrees_within_four_standard_errors_of_both(value: float, error: float, away: str, same: bool) -> None:
    told = relation(value, TABLES, "mean", "risk", {"N": 1}, error=error, spread="standard_error")
    assert f"{away} standard errors" in told
    assert "1 ± 0.03" in told
    assert (DIFFERENT in told) == (not same)


def test_a_row_that_another_preset_has_not_is_told() -> None:
    assert "has no such row at the sizes of this run" in relation(1.0, TABLES, "exact", "risk", {"N": 7})


def test_rows_are_chosen_by_words_too_and_may_repeat_one_entry() -> None:
    assert "agree" in relation(0.5, TABLES, "exact", "risk", {"N": 2, "method": "c"})
    assert "agree" in relation(0.5, TABLES, "exact", "risk", {"N": 2})


def test_what_chooses_no_single_entry_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"^one row of mean must have \{\}, got 2$"):
        relation(1.0, TABLES, "mean", "risk", {})
    with pytest.raises(ValueError, match=r"^the columns must be among those of mean, .*, got \['L'\]$"):
        relation(1.0, TABLES, "mean", "risk", {"L": 1})


def test_a_formula_is_told_in_words_that_stand_apart() -> None:
    assert prose.spoken(r"risk over $c\sqrt{d}$, $\sqrt{n}$") == "risk over c root of d, root of n"
    assert prose.spoken(r"As $\alpha\to\infty$") == "As α → ∞"
