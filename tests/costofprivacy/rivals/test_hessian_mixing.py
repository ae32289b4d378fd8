"""Iterative Hessian mixing: the pseudocode, its moments, its accounting, hostile records, refusals."""

from __future__ import annotations

import math
from collections.abc import Callable

import dp_accounting
import numpy as np
import pytest

from costofprivacy.privacy import ApproximateDP, GaussianDP, mixing
from costofprivacy.rivals import hessian_mixing
from costofprivacy.rivals.bounds import Bounds
from costofprivacy.rivals.gaussian_mixing import factor
from costofprivacy.rivals.hessian_mixing import Plan
from tests.costofprivacy.rivals.test_gaussian_mixing import gaussian

BOUNDS, BUDGET = Bounds(1.5, 0.8), ApproximateDP(2.0, 1e-3)
PLANS = [Plan(BOUNDS, BUDGET, 8, (0.7, 0.3), (5.0, 2.0), 0.5, share) for share in (0.0, 0.2)]


def test_a_release_is_the_pseudocode() -> None:
    x, y, _ = gaussian(60, 3, 0.1, np.random.default_rng(0))
    plan = Plan(Bounds(1.2, 1.0), BUDGET, 12, (0.9, 0.4), (9.0, 7.0), 0.6)
    found = hessian_mixing.release(x, y, plan, rng=np.random.default_rng(1))
    rng, theta = np.random.default_rng(1), np.zeros(3)
    x = np.array([row * min(1.0, 1.2 / math.hypot(*row)) for row in x])
    root = np.linalg.cholesky(x.T @ x + plan.sketching.least * np.eye(3))
    sigma = math.sqrt(2 / 0.6) / BUDGET.to_gaussian().mu
    for clip_norm, rate in ((0.9, 9.0), (0.4, 7.0)):
        pull = 2 * clip_norm * sigma * rng.standard_normal(3)
        for row, response in zip(x, y, strict=True):
            gradient = row * (response - row @ theta)
            pull += gradient * min(1.0, clip_norm / np.linalg.norm(gradient))
        T = np.triu(rng.standard_normal((3, 3)), 1) + np.diag(np.sqrt(rng.chisquare([12, 11, 10])))
        Z = T @ root.T
        theta = theta + rate * np.linalg.solve(Z.T @ Z, pull)
    np.testing.assert_allclose(found, theta, rtol=1e-8)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_sketches_gradients_and_test_together_spend_the_budget(share: float) -> None:
    """The Gaussian parts by dp-accounting, one event each; the sketches by their exact loss."""
    plan = PLANS[1] if share else PLANS[0]
    each = 1 / (plan.gradients.mu / math.sqrt(plan.rounds))
    event = dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(each), plan.rounds)
    accountant = dp_accounting.rdp.RdpAccountant([3.0]).compose(event)
    assert plan.sketching.rows == 16
    mu = math.sqrt(2 * float(accountant._rdp[0]) / 3.0)
    assert mu == pytest.approx(BUDGET.to_gaussian().mu * math.sqrt(0.5))
    total = GaussianDP(math.hypot(mu, BUDGET.to_gaussian().mu * math.sqrt(share)))
    spent = mixing.delta(plan.sketching.ratio, 16, BUDGET.epsilon * 0.999, total)
    assert 0.9 * BUDGET.delta < spent <= BUDGET.delta * (1 if not share else 0.95)


def test_the_noise_of_a_gradient_is_that_of_the_plan() -> None:
    """Without features a round is a·W⁻¹ times the noise, and W that of the penalty alone."""
    plan, k, d = Plan(BOUNDS, BUDGET, 4000, (0.7,), (4000.0,), 0.5), 4000, 2
    rng = np.random.default_rng(0)
    found = np.array([hessian_mixing.release(np.zeros((1, d)), np.ones(1), plan, rng=rng) for _ in range(1500)])
    noise = 2 * 0.7 / plan.gradients.mu / plan.sketching.least * k / (k - d - 1)
    assert found.std() == pytest.approx(noise, rel=0.05)


def test_the_rule_knows_the_moments_of_an_inverse_wishart_matrix() -> None:
    k, d, rng = 12, 3, np.random.default_rng(0)
    matrix, inside = np.diag([1.0, 2.0, 5.0]), np.diag([0.3, 1.0, 4.0])
    drawn = []
    for _ in range(8000):
        R = factor(matrix, k, rng=rng)
        drawn.append(np.linalg.inv(R.T @ R))
    inverse = np.linalg.inv(matrix)
    np.testing.assert_allclose(np.mean(drawn, axis=0), inverse / (k - d - 1), atol=3e-3)
    square = (k - d - 1) * inverse @ inside @ inverse + np.trace(inside @ inverse) * inverse
    square /= (k - d) * (k - d - 1) * (k - d - 3)
    np.testing.assert_allclose(np.mean([W @ inside @ W for W in drawn], axis=0), square, atol=3e-3)


@pytest.mark.parametrize("spread", [1.0, 0.1])
@pytest.mark.parametrize("test", [0.0, 0.1])
def test_the_rule_predicts_the_error_of_its_plan(spread: float, test: float) -> None:
    n, d = 4000, 4
    told = hessian_mixing._Task(n, d, 5.0, 1.0, 0.3, ApproximateDP(2.0, 1e-4), spread)
    error, clips, rates = told.run(3, 40, 0.5, test)
    plan = Plan(Bounds(5.0, 4.0), told.budget, 40, tuple(clips), tuple(rates), 0.5, test)
    rng, runs = np.random.default_rng(0), []
    root = np.sqrt([1.0, 1.0, spread, spread])
    for _ in range(80):
        x, w = root * rng.standard_normal((n, d)), rng.standard_normal(d)
        w /= math.sqrt(w @ (root**2 * w))
        y = x @ w + 0.3 * rng.standard_normal(n)
        runs.append(float((root**2 * (hessian_mixing.release(x, y, plan, rng=rng) - w) ** 2).sum()))
    claimed = hessian_mixing.predicted_error(plan, n, d, 1.0, 0.3, spread)
    assert claimed < error + 4 * 0.09 / n
    assert 1 / 1.5 < np.mean(runs) / claimed < 1.5


def test_a_plan_is_better_than_other_rounds_and_rows() -> None:
    told = (3000, 4, Bounds(6.0, 4.0), 1.0, 0.5, ApproximateDP(4.0, 1e-5))
    plan = hessian_mixing.plan(*told)
    task = hessian_mixing._Task(3000, 4, 6.0, *told[3:], hessian_mixing.SPREAD)
    chosen = task.run(plan.rounds, plan.rows, plan.gradient_share, plan.test_share)
    assert list(plan.clip_norms) == chosen[1]
    assert chosen[0] <= task.run(2, plan.rows, plan.gradient_share, plan.test_share)[0]
    assert chosen[0] <= task.run(plan.rounds, 9, plan.gradient_share, plan.test_share)[0]
    assert chosen[0] <= task.run(plan.rounds, plan.rows, 0.2, plan.test_share)[0]


X, Y = np.random.default_rng(0).standard_normal((2, 20, 1))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Plan(BOUNDS, BUDGET, 8, (), ()), "the number of clip_norms must be"),
        (lambda: Plan(BOUNDS, BUDGET, 8, (1.0,), ()), "learning_rates must have 1 entries, got 0"),
        (lambda: Plan(BOUNDS, BUDGET, 8, (1e-200,), (1.0,)), "clip_norms must be between"),
        (lambda: Plan(BOUNDS, BUDGET, 8, (1.0,), (1.0,), 0.7, 0.3), "gradient_share \\+ test_share must be"),
        (lambda: Plan(BOUNDS, BUDGET, 8, (1.0,), (1.0,), 0.0, 0.3), "gradient_share must be"),
        (lambda: Plan(BOUNDS, BUDGET, 0, (1.0,), (1.0,)), "rows must be a whole number"),
        (lambda: hessian_mixing.plan(9, 2, BOUNDS, 1.0, 0.1, BUDGET, 0.0), "spread must be positive"),
        (lambda: hessian_mixing.release(X, Y[:3, 0], PLANS[0], rng=np.random.default_rng(0)), "y must have shape"),
        (
            lambda: hessian_mixing.release(np.ones((20, 9)), Y[:, 0], PLANS[0], rng=np.random.default_rng(0)),
            "rows must be a whole number of at least 9",
        ),
    ],
)
def test_public_facts_are_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
