"""From how many records on a leverage filter passes: against the filter itself; and what rounding does to leverages."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from costofprivacy.privacy import ApproximateDP
from costofprivacy.rivals import insufficient_statistics
from costofprivacy.rivals.insufficient_statistics import least_records, removable, thresholds

BUDGET = ApproximateDP(10.0, 1e-6)


def kept(x: np.ndarray, most: float) -> int:
    """The records of the largest subset in which no leverage times n exceeds a threshold."""
    n, left = len(x), x
    while len(left):
        leverages = n * (np.linalg.qr(left)[0] ** 2).sum(axis=1)
        if leverages.max() <= most:
            break
        left = left[leverages <= most]
    return len(left)


def score(x: np.ndarray, budget: ApproximateDP) -> int:
    """The least number of records removed, plus the number of thresholds that were skipped."""
    n, k = len(x), thresholds(budget)
    return min(n - kept(x, n / (5 * k) / (1 - step / (10 * k))) + step for step in range(k + 1))


@pytest.mark.parametrize(("factor", "passes"), [(0.9, False), (1.15, True)])
def test_the_filter_passes_from_about_there_on(factor: float, passes: bool) -> None:
    """Removed records raise the leverages of the others, so that somewhat more records are needed."""
    rng, n = np.random.default_rng(0), round(factor * least_records(3, BUDGET))
    uneven = np.diag([1.0, 1e-2, 1e3])
    found = [score(rng.standard_normal((n, 3)) @ uneven, BUDGET) for _ in range(41)]
    assert (np.median(found) <= removable(BUDGET)) == passes


def test_half_of_the_tests_pass_at_that_score() -> None:
    """1 − δ'e^{ε'(z − 2)/2} with ε' = ε/3 and δ' = δ/6: the test of the published code."""
    budget = ApproximateDP(1.0, 1e-6)
    assert 1 - budget.delta / 6 * math.exp(budget.epsilon / 6 * (removable(budget) - 2)) == pytest.approx(0.5)
    assert thresholds(budget) == math.ceil(6 * math.log(6e6)) + 4


def test_it_needs_more_for_more_features_and_less_for_more_budget() -> None:
    for d in (1, 5, 50):
        assert least_records(d, BUDGET) > 5 * thresholds(BUDGET) * d
        assert least_records(d, BUDGET) < least_records(d + 1, BUDGET) < least_records(d + 1, ApproximateDP(1.0, 1e-6))
        n = least_records(d, BUDGET)
        assert insufficient_statistics._enough(n, d, BUDGET)
        assert not insufficient_statistics._enough(n - 1, d, BUDGET)


def exact_leverages(x: np.ndarray) -> list[float]:
    """In rational arithmetic, for two features."""
    rows = [[Fraction(float(value)) for value in row] for row in x]
    a, b, c = (sum((row[i] * row[j] for row in rows), Fraction(0)) for i, j in ((0, 0), (0, 1), (1, 1)))
    return [float((u * u * c - 2 * u * v * b + v * v * a) / (a * c - b * b)) for u, v in rows]


def test_a_computed_leverage_may_have_no_correct_digit() -> None:
    rng = np.random.default_rng(0)
    largest = []
    for apart in (1e-6, 1e-16):
        first = rng.standard_normal(200)
        x = np.column_stack([first, 1.5 * first + apart * rng.standard_normal(200)])
        computed = (np.linalg.qr(x)[0] ** 2).sum(axis=1)
        largest.append((np.abs(computed - exact_leverages(x)).max(), computed.max(), max(exact_leverages(x))))
    assert largest[0][0] < 1e-9
    assert largest[1][1] > 0.8
    assert largest[1][2] < 0.2


def test_what_is_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="d must be a whole number"):
        least_records(0, BUDGET)
    with pytest.raises(ValueError, match="epsilon must be positive and finite"):
        least_records(2, ApproximateDP(math.inf, 1e-6))
    with pytest.raises(ValueError, match="epsilon must be larger for 2 features"):
        least_records(2, ApproximateDP(1e-13, 1e-6))
