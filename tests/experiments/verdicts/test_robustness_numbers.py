"""The numbers behind the findings on robustness, in their order, by claim.

Each is (table, value, error, what it is held against), for the committed tables.
"""

import pytest

from tests.experiments.verdicts.machinery import committed, judge
from tests.experiments.verdicts.test_robustness import CHAPTER, FOUND

NUMBERS = {
    "figure-4": [
        ("figure-4", 1.0, None, 1), ("figure-4", 21.92, None, 1), ("figure-4", 7860.0, None, 1),
        ("figure-4", 0.1709, None, 1), ("comparison", 6, None, 6), ("comparison", 1.054, None, 4),
        ("comparison", 3, None, 6), ("comparison", 7.53, None, 4), ("test-error", 0.9829, 0.000842, 1),
        ("test-error", 0.9836, 0.0008284, 1), ("test-error", 0.4868, 0.002868, 1),
        ("test-error", 0.4838, 0.002814, 1), ("test-error", 0.3135, 0.0002414, 1),
        ("test-error", 0.4174, 0.0004538, 1),
    ],
    "equation-a.20": [
        ("heads", 0.9603, 0.0113, None), ("heads", -2.979, 0.0248, None), ("sizes", -0.02423, None, 0.1),
        ("sizes", 0.9782, None, 0.1), ("sizes", -2.656, None, 0.1), ("heads", 4.271, None, 1),
        ("sizes", 1.698, None, 4),
    ],
    "equation-a.21": [
        ("gram", 0.935, 0.001441, None), ("gram", -1.771, 0.004141, None), ("sizes", -0.02423, None, 0.1),
        ("sizes", 0.9782, None, 0.1), ("sizes", -0.7055, None, 0.1), ("gram", 10.24, None, 1),
        ("sizes", 0.4437, None, 1),
    ],
    "equation-a.22": [
        ("perturbations", 1.935, 0.02812, None), ("perturbations", 1.941, 0.1041, None),
        ("sizes", 8.029e-14, None, 0.1), ("sizes", 1.0, None, 0.1), ("sizes", 1.998, None, 0.1),
        ("perturbations", 4088000000.0, None, 1), ("perturbations", 1.116, None, 1),
        ("perturbations", 2.793, None, 4),
    ],
    "equation-a.23": [
        ("perturbations", 56, None, 0), ("perturbations", 2.537e-10, None, 1), ("perturbations", 47, None, 0),
        ("perturbations", 0.3749, None, 1), ("perturbations", -1.933, None, None),
        ("perturbations", -3.578, None, None),
    ],
    "equation-a.24": [
        ("perturbations", 0, None, 0.99), ("perturbations", 1, None, 0.99),
    ],
    "theorem-5.1-noisyhead": [
        ("heads", -0.0187, 0.02016, None), ("heads", -1.847, 0.03794, None), ("heads", 1.016, 0.0113, None),
        ("heads", -3.324, 0.0248, None), ("sizes", 0.2606, None, 0.1), ("heads", 1.314e-07, None, None),
    ],
    "theorem-5.1-gap": [
        ("windows", -2.0, None, 0), ("windows", 0.002648, None, 1), ("windows", 20.4, None, 1),
        ("sizes", 0.006007, None, 1),
    ],
    "theorem-5.1-ridge": [
        ("perturbations", 54, None, 0), ("perturbations", 5.751e-18, None, 1), ("perturbations", 38, None, 0),
        ("perturbations", 4.099e-06, None, 1), ("perturbations", -1.895, 0.0704, None),
        ("perturbations", -8.27, 0.25, None),
    ],
    "remark-5.1-window": [
        ("simplified", 0.04285, None, 0.1), ("simplified", 0.04303, None, 0.1), ("simplified", 0.04327, None, 0.1),
        ("simplified", 0.04346, None, 0.1), ("simplified", 0.2657, None, 0.1), ("perturbations", 32, None, 0),
        ("windows", 11, None, None),
    ],
    "remark-5.1-divergence": [
        ("perturbations", 0.1051, 0.0704, None), ("perturbations", 1.037, 0.03215, None),
        ("perturbations", 1.222e-05, None, 0.0004325), ("heads", -1.905, 0.02016, None),
        ("path", -2.695, None, -0.1), ("path", 0.252, None, -0.1),
    ],
}  # fmt: skip


@pytest.mark.parametrize("claim", FOUND)
def test_the_numbers_are_those_of_the_tables(claim: str) -> None:
    found = judge(CHAPTER, claim, committed(CHAPTER)).numbers
    expected = NUMBERS[claim.partition("/")[2]]
    assert [number.table for number in found] == [table for table, *_ in expected]
    for number, (_, *values) in zip(found, expected, strict=True):
        for told, value in zip((number.value, number.error, number.against), values, strict=True):
            assert told == (None if value is None else pytest.approx(value, rel=1e-3, abs=1e-11)), number
