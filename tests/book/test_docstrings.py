from dataclasses import dataclass

import pytest

from costofprivacy.book import docstrings


@dataclass(frozen=True)
class Pair:
    first: int
    second: float


def test_arguments_are_those_of_a_function_or_the_fields_of_a_dataclass() -> None:
    assert docstrings.names(lambda table, row: None) == {"table", "row"}
    assert docstrings.names(Pair) == {"first", "second"}
    assert docstrings.names(5) == set()


def test_each_argument_begins_a_line() -> None:
    lines = [
        "Args:",
        "    claims: which. found: the findings.",
        "    links: whether.",
        "",
        "Returns:",
        "    a. found: b.",
    ]
    expected = [
        "Args:",
        "    claims: which.",
        "    found: the findings.",
        "    links: whether.",
        "",
        "Returns:",
        "    a. found: b.",
    ]
    assert docstrings.prepared(lines, ["claims", "found", "links"]) == expected


def test_several_arguments_with_one_meaning_stay_together() -> None:
    lines = ["Args:", "    scores: counts. first, second: the neighbours."]
    expected = ["Args:", "    scores: counts.", "    first, second: the neighbours."]
    assert docstrings.prepared(lines, ["scores", "first", "second"]) == expected


def test_words_that_are_no_arguments_do_not_begin_a_line() -> None:
    lines = ["Args:", "    claims: which. Note: all of them."]
    assert docstrings.prepared(lines, ["claims"]) == lines
    assert docstrings.prepared(lines, []) == lines


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("P(|ξ| < c)", r"P(\|ξ\| < c)"),
        ("``a | b`` and |x|", r"``a | b`` and \|x\|"),
        (">>> a | b", ">>> a | b"),
        (".. math:: |x|", ".. math:: |x|"),
    ],
)
def test_bars_outside_code_and_formulas_are_bars(line: str, expected: str) -> None:
    assert docstrings.prepared([line], []) == [expected]


def test_what_belongs_to_a_directive_stays_as_it_is() -> None:
    lines = [".. math::", "", r"   \|x\|, |y|", "", "Then |z|."]
    assert docstrings.prepared(lines, []) == [*lines[:-1], r"Then \|z\|."]
