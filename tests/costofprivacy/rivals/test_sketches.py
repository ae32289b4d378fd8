"""Sketches: their law against literal ones, the private test at its worst case, rounding, and what they reveal."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

from costofprivacy.privacy import ApproximateDP, GaussianDP, mixing, sums
from costofprivacy.rivals import gaussian_mixing, hessian_mixing
from costofprivacy.rivals.gaussian_mixing import Sketching, factor
from costofprivacy.rivals.sufficient_statistics import smallest_eigenvalue
from tests.costofprivacy.privacy import hostile
from tests.costofprivacy.rivals import test_gaussian_mixing, test_hessian_mixing

BUDGET = ApproximateDP(1.0, 1e-6)
typed = hostile.neighbours((2,), (), records=(1, 2, 9, 513, 1500))


def literal(records: np.ndarray, gamma: float, rows: int, rng: np.random.Generator) -> np.ndarray:
    """SA + √γ G."""
    n, p = records.shape
    return rng.standard_normal((rows, n)) @ records + math.sqrt(gamma) * rng.standard_normal((rows, p))


def solution(scatter: np.ndarray) -> float:
    """The first coefficient of least squares on a sketch."""
    return float(np.linalg.solve(scatter[:-1, :-1], scatter[:-1, -1])[0])


def draws(scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Log determinants and coefficients of sketches that were drawn by `factor` and literally, 2000 of each."""
    rng = np.random.default_rng(0)
    records = rng.standard_normal((8, 3))
    matrix = scale * (records.T @ records + 0.5 * np.eye(3))
    found = []
    for k in range(2):
        for _ in range(2000):
            Z = factor(matrix, 6, rng=rng) if k == 0 else literal(records, 0.5, 6, rng)
            found.append((np.linalg.slogdet(Z.T @ Z)[1], solution(Z.T @ Z)))
    return np.array(found[:2000]), np.array(found[2000:])


def test_a_factor_has_the_law_of_a_sketch() -> None:
    ours, theirs = draws(1.0)
    for k in range(2):
        assert stats.ks_2samp(ours[:, k], theirs[:, k]).pvalue > 0.01


def test_a_wrong_scale_is_found_out() -> None:
    ours, theirs = draws(1.1)
    assert stats.ks_2samp(ours[:, 0], theirs[:, 0]).pvalue < 1e-6


def test_a_factor_is_triangular_and_its_scatter_has_the_moments_of_a_wishart_matrix() -> None:
    rng, matrix, k = np.random.default_rng(1), np.array([[2.0, 0.6], [0.6, 1.0]]), 5
    drawn = np.array([factor(matrix, k, rng=rng) for _ in range(20_000)])
    assert (drawn[:, 1, 0] == 0).all()
    scatter = np.einsum("nij,nik->njk", drawn, drawn)
    np.testing.assert_allclose(scatter.mean(axis=0), k * matrix, atol=0.1)
    np.testing.assert_allclose(scatter[:, 0, 0].var(), 2 * k * matrix[0, 0] ** 2, rtol=0.05)


@pytest.mark.parametrize("other", [None, GaussianDP(0.1)])
@pytest.mark.parametrize("test", [None, GaussianDP(0.05)])
def test_all_parts_together_spend_the_budget(test: GaussianDP | None, other: GaussianDP | None) -> None:
    """ε₁ + 2ε₂ and e^{ε₂}δ₁ + (1 + e^{ε₁ + ε₂})δ₂ + δ', from the module's text."""
    ratio = Sketching(4.0, BUDGET, 100, test, other).ratio
    further = 1e-3
    close = further * BUDGET.epsilon / 2
    mu = math.hypot(*(part.mu for part in (test, other) if part))
    first = mixing.delta(ratio, 100, BUDGET.epsilon - 2 * close, GaussianDP(mu) if mu else None)
    total = math.exp(close) * first + further * BUDGET.delta + (gaussian_mixing.MISSED * BUDGET.delta if test else 0.0)
    assert 0.97 * BUDGET.delta <= total <= BUDGET.delta


def test_appended_rows_add_what_is_needed_whatever_the_records() -> None:
    told, rng = Sketching(4.0, BUDGET, 100), np.random.default_rng(0)
    assert told.least == pytest.approx(4.0 / told.ratio)
    for square in (np.zeros((2, 2)), 1e9 * np.eye(2)):
        assert told.added(square, 10, rng=rng) == told.least


@pytest.mark.slow
def test_the_private_test_promises_too_much_as_rarely_as_it_may() -> None:
    """One feature, where the record adds all of R² to the least eigenvalue: the worst case."""
    budget = ApproximateDP(1.0, 0.4)
    told = Sketching(1.0, budget, 2, GaussianDP(0.3))
    others = told.least * 0.9
    rng = np.random.default_rng(0)
    added = np.array([told.added(np.array([[others + 1.0]]), 10, rng=rng) for _ in range(2500)])
    missing = int((others + added < told.least).sum())
    assert stats.binomtest(missing, len(added), gaussian_mixing.MISSED * budget.delta).pvalue > 0.01
    assert 0 < added.mean() < told.least


def released(matrix: np.ndarray, rng: np.random.Generator, rows: int) -> np.ndarray:
    """The scatters of 20,000 sketches."""
    drawn = np.array([factor(matrix, rows, rng=rng) for _ in range(20_000)])
    return np.einsum("nij,nik->njk", drawn, drawn)


@pytest.mark.parametrize(("part", "kept"), [(1.0, True), (0.8, False)])
def test_what_is_released_keeps_the_budget_and_a_smaller_penalty_does_not(part: float, kept: bool) -> None:
    """Orthogonal records of norm R and no others, the worst case; δ at ε from simulated likelihood ratios."""
    budget, rows = ApproximateDP(0.5, 0.02), 6
    told = Sketching(1.0, budget, rows)
    penalty = part * told.added(np.zeros((2, 2)), 1, rng=np.random.default_rng(0)) * np.eye(2)
    first, second = penalty + np.diag([1.0, 0.0]), penalty + np.diag([0.0, 1.0])
    scatter = released(first, np.random.default_rng(1), rows)
    loss = np.einsum("nij,ij->n", scatter, np.linalg.inv(second) - np.linalg.inv(first)) / 2
    excess = np.maximum(0.0, -np.expm1(budget.epsilon - loss))
    error = excess.std() / math.sqrt(len(excess))
    assert (excess.mean() <= budget.delta + 2 * error) == kept
    if kept:
        assert excess.mean() > budget.delta - 4 * error


def test_computed_sums_and_factors_are_within_the_stated_error() -> None:
    """Against extended precision, on records of norm 1 with one small eigenvalue."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3000, 4)) @ np.diag([1.0, 1.0, 1.0, 1e-4])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    wide = x.astype(np.longdouble)
    exact = wide.T @ wide + np.eye(4, dtype=np.longdouble)
    matrix = sums.product(x, x) + np.eye(4)
    root = gaussian_mixing._root(matrix).astype(np.longdouble)
    wrong = float(np.linalg.norm((root @ root.T - exact).astype(float)))
    assert wrong <= 2 * (gaussian_mixing._relative_error(3000, 4) * 3000 + sums.UNIT_ROUNDOFF * 7 * 4)
    assert abs(smallest_eigenvalue(matrix) - float(np.linalg.eigvalsh(exact.astype(float))[0])) < 1e-10


def test_what_is_public_is_refused() -> None:
    told = Sketching(1.0, BUDGET, 100)
    with pytest.raises(ValueError, match="n must be smaller for a budget of"):
        told.added(np.eye(2), 10**12, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="n R² must be between"):
        Sketching(1e300, BUDGET, 100).added(np.eye(2), 10**8, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="reach must be between"):
        Sketching(1e305, BUDGET, 100)
    with pytest.raises(ValueError, match="other must spend less than the budget"):
        Sketching(1.0, BUDGET, 100, GaussianDP(9.0))
    with pytest.raises(ValueError, match="rows must be a whole number of at least 3"):
        factor(np.eye(3), 2, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("release", "plan"),
    [
        *((gaussian_mixing.release, plan) for plan in test_gaussian_mixing.PLANS),
        *((hessian_mixing.release, plan) for plan in test_hessian_mixing.PLANS),
    ],
)
@given(pair=typed)
@settings(derandomize=True, deadline=None, max_examples=25)
def test_no_record_makes_a_release_fail_or_infinite(
    release: Callable[..., np.ndarray], plan: object, pair: tuple[tuple[np.ndarray, np.ndarray], ...]
) -> None:
    for x, y in pair:
        assert np.isfinite(release(x, y, plan, rng=np.random.default_rng(3))).all()
