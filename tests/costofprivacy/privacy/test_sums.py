"""Sums over records: the product itself, and how far a replaced record moves what is computed of it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.privacy import sums
from tests.each import each

law = settings(derandomize=True, deadline=None, max_examples=40)
U = sums.UNIT_ROUNDOFF


def exact(values: np.ndarray) -> Fraction:
    return sum(map(Fraction, values.tolist()), Fraction(0))


@given(n=st.integers(1, 5000), seed=st.integers(0, 99))
@law
def test_it_is_the_product(n: int, seed: int) -> None:
    a, b = np.random.default_rng(seed).integers(-9, 9, (2, n, 3)).astype(float)
    np.testing.assert_array_equal(sums.product(a, b), a.T @ b)
    np.testing.assert_array_equal(sums.product(a, b[:, 0]), a.T @ b[:, 0])


def test_up_to_a_block_it_is_one_product() -> None:
    x = np.random.default_rng(0).standard_normal((sums.ROWS, 7))
    np.testing.assert_array_equal(sums.product(x, x), x.T @ x)


@each("n", [3, 511, 513, 5000, 200_000])
@each("term", [1.0, 0.1, 1 - U, 1 / 3])
def test_a_replaced_record_moves_it_within_the_slack(n: int, term: float) -> None:
    """Equal terms are the hard case: each addition is rounded the same way, again and again."""
    ones, terms = np.ones((n, 1)), np.full(n, term)
    before = sums.product(ones, terms)[0]
    for place in (0, n // 3, n - 1):
        for other in (-1.0, 0.0, -term, U):
            changed = terms.copy()
            changed[place] = other
            moved = Fraction(sums.product(ones, changed)[0]) - Fraction(before)
            apart = abs(Fraction(other) - Fraction(term))
            assert abs(moved) <= apart + 2 * Fraction(sums.slack(n, 1))


@pytest.mark.slow
@pytest.mark.parametrize("n", [1000, 100_000, 1_000_000])
def test_the_error_itself_is_that_of_its_blocks_and_pairs(n: int) -> None:
    """Each of the blocks and sums is rounded once, so the whole error is at most n u (m + levels + 1)."""
    terms = np.random.default_rng(n).uniform(0.5, 1.0, n)
    error = abs(Fraction(sums.product(np.ones((n, 1)), terms)[0]) - exact(terms))
    assert error <= n * U * (sums.ROWS + math.log2(n / sums.ROWS) + 2)


def test_one_after_the_other_is_worse() -> None:
    """What the order is for: beyond 2²⁰ a running sum loses terms of 2⁻³³ that its neighbour, below it, keeps."""
    terms = np.append(np.ones(2**20 + 1), np.full(10**6, -(2.0**-33)))
    changed = terms.copy()
    changed[0] = -1.0
    allowed = 2 * (1 + sums.slack(len(terms), 1))
    running = [float(np.cumsum(values)[-1]) for values in (terms, changed)]
    assert running[0] - running[1] > 2.0001 > allowed
    ones = np.ones((len(terms), 1))
    mended = [sums.product(ones, values)[0] for values in (terms, changed)]
    assert 2.0 <= mended[0] - mended[1] <= allowed


def test_slack_grows_with_the_number_of_records_and_entries() -> None:
    found = [sums.slack(n, 1) for n in (1, 10, 512, 513, 10**6, 10**9)]
    assert found == sorted(found)
    assert sums.slack(10**6, 1) < 5e-10 < sums.slack(10**7, 1)
    assert sums.slack(10, 10**6) > sums.slack(10, 1)
    for wrong in ((0, 1), (1, 0), (1.5, 1)):
        with pytest.raises(ValueError, match="whole number of at least 1"):
            sums.slack(*wrong)
