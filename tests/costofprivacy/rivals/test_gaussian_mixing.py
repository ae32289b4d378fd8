"""Gaussian mixing: the pseudocode, the formula of its plan, hostile records, refusals."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from costofprivacy.privacy import ApproximateDP
from costofprivacy.rivals import gaussian_mixing
from costofprivacy.rivals.bounds import Bounds
from costofprivacy.rivals.gaussian_mixing import Plan

BOUNDS, BUDGET = Bounds(1.5, 0.8), ApproximateDP(2.0, 1e-3)
PLANS = [Plan(BOUNDS, BUDGET, 10, 1.3, share) for share in (0.0, 0.2)]


def gaussian(n: int, d: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Isotropic records, and θ* of norm 1."""
    x, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    w /= np.linalg.norm(w)
    return x, x @ w + noise * rng.standard_normal(n), w


def test_a_release_is_the_pseudocode() -> None:
    """Least squares on the QR factor GLᵀ, in the steps of the module, with numpy's own routines."""
    x, y, _ = gaussian(60, 3, 0.1, np.random.default_rng(0))
    plan = Plan(Bounds(1.2, 0.9), BUDGET, 12, 0.7)
    found = gaussian_mixing.release(x, y, plan, rng=np.random.default_rng(1))
    rng = np.random.default_rng(1)
    a = np.column_stack(
        [
            [row * min(1.0, 1.2 / math.hypot(*row)) for row in x],
            [0.7 * min(0.9, max(-0.9, response)) for response in y],
        ]
    )
    T = np.triu(rng.standard_normal((4, 4)), 1)
    T += np.diag(np.sqrt(rng.chisquare([12, 11, 10, 9])))
    Z = T @ np.linalg.cholesky(a.T @ a + plan.sketching.least * np.eye(4)).T
    expected = np.linalg.lstsq(Z[:, :3], Z[:, 3], rcond=None)[0] / 0.7
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_the_formula_of_the_plan_predicts_the_error(share: float) -> None:
    n, d, noise, bounds, budget = 3000, 4, 0.5, Bounds(6.0, 4.0), ApproximateDP(8.0, 1e-4)
    rng = np.random.default_rng(0)
    plan = Plan(bounds, budget, 100, 0.9, share)
    runs = []
    for _ in range(80):
        x, y, w = gaussian(n, d, noise, rng)
        runs.append(float(((gaussian_mixing.release(x, y, plan, rng=rng) - w) ** 2).sum()))
    claimed = gaussian_mixing.predicted_error(plan, n, d, 1.0, noise)
    assert np.mean(runs) == pytest.approx(claimed, rel=0.3)


def test_a_plan_is_better_than_its_neighbours() -> None:
    told = (3000, 4, Bounds(6.0, 4.0), 1.0, 0.5, ApproximateDP(4.0, 1e-5))
    plan = gaussian_mixing.plan(*told)

    def error(rows: int, scale: float, share: float) -> float:
        return float(gaussian_mixing._predicted(np.array([rows]), scale, share, *told)[0])

    least = error(plan.rows, plan.response_scale, plan.test_share)
    assert least < error(2 * plan.rows, plan.response_scale, plan.test_share)
    assert least < error(plan.rows // 2, plan.response_scale, plan.test_share)
    assert least < error(plan.rows, 3 * plan.response_scale, plan.test_share)
    assert least < error(plan.rows, plan.response_scale / 3, plan.test_share)


X, Y = np.random.default_rng(0).standard_normal((2, 20, 1))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Plan(BOUNDS, BUDGET, 0), "rows must be a whole number"),
        (lambda: Plan(BOUNDS, BUDGET, 5, -1.0), "response_scale must be positive"),
        (lambda: Plan(BOUNDS, BUDGET, 5, 1.0, 1.5), "test_share must be between"),
        (lambda: Plan(BOUNDS, ApproximateDP(math.inf, 0.1), 5), "epsilon must be positive and finite"),
        (lambda: gaussian_mixing.plan(0, 2, BOUNDS, 1.0, 0.1, BUDGET), "n must be a whole number"),
        (lambda: gaussian_mixing.release(X, Y[:3, 0], PLANS[0], rng=np.random.default_rng(0)), "y must have shape"),
        (
            lambda: gaussian_mixing.release(
                np.ones((20, 10)), Y[:, 0], PLANS[0], rng=np.random.default_rng(0)
            ),
            "rows must be a whole number of at least 11",
        ),
    ],
)  # fmt: skip
def test_public_facts_are_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_the_norm_that_is_accounted_for_is_that_of_the_rows() -> None:
    plan = Plan(Bounds(3.0, 2.0), BUDGET, 10, 2.0)
    assert plan.sketching.reach == pytest.approx(9.0 + 16.0)
    assert plan.sketching.test is None
    tested = Plan(Bounds(3.0, 2.0), BUDGET, 10, 2.0, 0.25).sketching.test
    assert tested is not None
    assert tested.mu == pytest.approx(BUDGET.to_gaussian().mu / 2)
