"""Sketches: their law, the private test at its worst case, rounding, what they reveal; both methods of mixing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import dp_accounting
import numpy as np
import pytest
from scipy import stats

from costofprivacy.privacy import ApproximateDP, GaussianDP, mixing, sums
from costofprivacy.rivals import gaussian_mixing, hessian_mixing
from costofprivacy.rivals.bounds import Bounds
from costofprivacy.rivals.gaussian_mixing import Plan, Sketching, factor
from costofprivacy.rivals.hessian_mixing import Plan as Rounds
from costofprivacy.rivals.sufficient_statistics import smallest_eigenvalue
from tests.costofprivacy.privacy.numerics import Scripted
from tests.each import each, refused

BUDGET = ApproximateDP(1.0, 1e-6)


def literal(records: np.ndarray, gamma: float, rows: int, rng: np.random.Generator) -> np.ndarray:
    n, p = records.shape
    return rng.standard_normal((rows, n)) @ records + math.sqrt(gamma) * rng.standard_normal((rows, p))


def test_a_factor_has_the_law_of_a_sketch_and_of_no_other_scale() -> None:
    rng = np.random.default_rng(0)
    records = rng.standard_normal((8, 3))
    matrix, found = records.T @ records + 0.5 * np.eye(3), []
    for k in range(4000):
        Z = factor(matrix, 6, rng=rng) if k < 2000 else literal(records, 0.5, 6, rng)
        scatter = Z.T @ Z
        found.append((np.linalg.slogdet(scatter)[1], np.linalg.solve(scatter[:-1, :-1], scatter[:-1, -1])[0]))
    ours, theirs = np.array(found[:2000]), np.array(found[2000:])
    for k in range(2):
        assert stats.ks_2samp(ours[:, k], theirs[:, k]).pvalue > 0.01
    assert stats.ks_2samp(ours[:, 0] + 3 * math.log(1.1), theirs[:, 0]).pvalue < 1e-6


@pytest.mark.parametrize(("test", "other"), [(None, None), (GaussianDP(0.05), GaussianDP(0.1))])
def test_all_parts_together_spend_the_budget(test: GaussianDP | None, other: GaussianDP | None) -> None:
    """ε₁ + 2ε₂ and e^{ε₂}δ₁ + (1 + e^{ε₁ + ε₂})δ₂ + δ', from the module's text."""
    told = Sketching(4.0, BUDGET, 100, test, other)
    ratio = told.ratio
    if test is None:
        assert told.added(1e9 * np.eye(2), 10, rng=np.random.default_rng(0)) == told.least == pytest.approx(4.0 / ratio)
    further = 1e-3
    close = further * BUDGET.epsilon / 2
    mu = math.hypot(*(part.mu for part in (test, other) if part))
    first = mixing.delta(ratio, 100, BUDGET.epsilon - 2 * close, GaussianDP(mu) if mu else None)
    total = math.exp(close) * first + further * BUDGET.delta + (gaussian_mixing.MISSED * BUDGET.delta if test else 0.0)
    assert 0.97 * BUDGET.delta <= total <= BUDGET.delta


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


def test_the_private_test_has_noise_of_its_sensitivity() -> None:
    told = Sketching(2.0, ApproximateDP(1.0, 0.4), 2, GaussianDP(0.3))
    caution, square = stats.norm.isf(gaussian_mixing.MISSED * 0.4), (told.least + 2.0) * np.eye(2)
    less, more = (told.added(square, 10, rng=Scripted(standard_normal=[caution - short])) for short in (0.01, 0.02))
    assert more - less == pytest.approx(0.01 * 2.0 / 0.3, rel=1e-6)


@pytest.mark.parametrize(("part", "kept"), [(1.0, True), (0.8, False)])
def test_what_is_released_keeps_the_budget_and_a_smaller_penalty_does_not(part: float, kept: bool) -> None:
    """Orthogonal records of norm R and no others, the worst case; δ at ε from simulated likelihood ratios."""
    budget, rows = ApproximateDP(0.5, 0.02), 6
    told = Sketching(1.0, budget, rows)
    penalty = part * told.added(np.zeros((2, 2)), 1, rng=np.random.default_rng(0)) * np.eye(2)
    first, second = penalty + np.diag([1.0, 0.0]), penalty + np.diag([0.0, 1.0])
    scatter = stats.wishart(rows, first).rvs(20_000, random_state=np.random.default_rng(1))
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


# ---- Releases ----

BOUNDS, SMALL = Bounds(1.5, 0.8), ApproximateDP(2.0, 1e-3)
PLANS = [Plan(BOUNDS, SMALL, 10, 1.3, share) for share in (0.0, 0.2)]
ROUNDS = [Rounds(BOUNDS, SMALL, 8, (0.7, 0.3), (5.0, 2.0), 0.5, share) for share in (0.0, 0.2)]


def gaussian(n: int, d: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Isotropic records, and θ* of norm 1."""
    x, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    w /= np.linalg.norm(w)
    return x, x @ w + noise * rng.standard_normal(n), w


def test_a_release_of_gaussian_mixing_is_the_pseudocode() -> None:
    """Least squares on the QR factor GLᵀ, in the steps of the module, with numpy's own routines."""
    x, y, _ = gaussian(60, 3, 0.1, np.random.default_rng(0))
    plan = Plan(Bounds(1.2, 0.9), SMALL, 12, 0.7)
    assert plan.sketching.reach == pytest.approx(1.2**2 + (0.7 * 0.9) ** 2)
    found = gaussian_mixing.release(x, y, plan, rng=np.random.default_rng(1))
    rng = np.random.default_rng(1)
    a = np.column_stack(
        [[row * min(1.0, 1.2 / math.hypot(*row)) for row in x], [0.7 * min(0.9, max(-0.9, response)) for response in y]]
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
    for _ in range(40):
        x, y, w = gaussian(n, d, noise, rng)
        runs.append(float(((gaussian_mixing.release(x, y, plan, rng=rng) - w) ** 2).sum()))
    formula = gaussian_mixing._predicted(np.array([100]), 0.9, share, n, d, bounds, 1.0, noise, budget)
    claimed = formula[0] + d * noise**2 / n  # the second is what n records cannot tell
    assert np.mean(runs) == pytest.approx(claimed, rel=0.3)


def test_a_plan_of_one_sketch_is_better_than_its_neighbours() -> None:
    told = (3000, 4, Bounds(6.0, 4.0), 1.0, 0.5, ApproximateDP(4.0, 1e-5))
    plan = gaussian_mixing.plan(*told)

    def error(rows: int, scale: float, share: float) -> float:
        return float(gaussian_mixing._predicted(np.array([rows]), scale, share, *told)[0])

    least = error(plan.rows, plan.response_scale, plan.test_share)
    assert least < error(2 * plan.rows, plan.response_scale, plan.test_share)
    assert least < error(plan.rows // 2, plan.response_scale, plan.test_share)
    assert least < error(plan.rows, 3 * plan.response_scale, plan.test_share)
    assert least < error(plan.rows, plan.response_scale / 3, plan.test_share)


def test_a_release_of_hessian_mixing_is_the_pseudocode() -> None:
    x, y, _ = gaussian(60, 3, 0.1, np.random.default_rng(0))
    plan = Rounds(Bounds(1.2, 1.0), SMALL, 12, (0.9, 0.4), (9.0, 7.0), 0.6)
    found = hessian_mixing.release(x, y, plan, rng=np.random.default_rng(1))
    rng, theta = np.random.default_rng(1), np.zeros(3)
    x = np.array([row * min(1.0, 1.2 / math.hypot(*row)) for row in x])
    root = np.linalg.cholesky(x.T @ x + plan.sketching.least * np.eye(3))
    sigma = math.sqrt(2 / 0.6) / SMALL.to_gaussian().mu
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
    plan = ROUNDS[1] if share else ROUNDS[0]
    multiplier = 1 / (plan.gradients.mu / math.sqrt(plan.rounds))
    event = dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(multiplier), plan.rounds)
    accountant = dp_accounting.rdp.RdpAccountant([3.0]).compose(event)
    assert plan.sketching.rows == 16
    mu = math.sqrt(2 * float(accountant._rdp[0]) / 3.0)
    assert mu == pytest.approx(SMALL.to_gaussian().mu * math.sqrt(0.5))
    total = GaussianDP(math.hypot(mu, SMALL.to_gaussian().mu * math.sqrt(share)))
    spent = mixing.delta(plan.sketching.ratio, 16, SMALL.epsilon * 0.999, total)
    assert 0.9 * SMALL.delta < spent <= SMALL.delta * (1 if not share else 0.95)


@pytest.mark.parametrize(("spread", "test"), [(1.0, 0.0), (0.1, 0.1)])
def test_the_rule_predicts_the_error_of_its_plan(spread: float, test: float) -> None:
    n, d = 4000, 4
    told = hessian_mixing._Task(n, d, 5.0, 1.0, 0.3, ApproximateDP(2.0, 1e-4), spread)
    error, clips, rates = told.run(3, 40, 0.5, test)
    plan = Rounds(Bounds(5.0, 4.0), told.budget, 40, tuple(clips), tuple(rates), 0.5, test)
    rng, runs = np.random.default_rng(0), []
    root = np.sqrt([1.0, 1.0, spread, spread])
    for _ in range(40):
        x, w = root * rng.standard_normal((n, d)), rng.standard_normal(d)
        w /= math.sqrt(w @ (root**2 * w))
        y = x @ w + 0.3 * rng.standard_normal(n)
        runs.append(float((root**2 * (hessian_mixing.release(x, y, plan, rng=rng) - w) ** 2).sum()))
    errors, gamma = np.full(2, 2 / (d * (1 + spread))), told.added(3, 40, 0.5, test)
    sigma = math.sqrt(3 / 0.5) / told.budget.to_gaussian().mu
    for clip, rate in zip(clips, rates):
        linear, square = told.moments(errors, 40, gamma, (2 * clip * sigma) ** 2)
        errors = errors - 2 * rate * linear + rate**2 * square
    claimed = told.risk(errors) + d * 0.3**2 / n
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


SKETCHING = Sketching(1.0, BUDGET, 100)
X, Y = np.random.default_rng(0).standard_normal((2, 20, 1))


@each(
    ("call", "words"),
    [
        (lambda: SKETCHING.added(np.eye(2), 10**12, rng=None), "n must be smaller for a budget of"),
        (lambda: replace(SKETCHING, reach=1e300).added(np.eye(2), 10**8, rng=None), "n R² must be between"),
        (lambda: replace(SKETCHING, reach=1e305), "reach must be between"),
        (lambda: replace(SKETCHING, other=GaussianDP(9.0)), "other must spend less than the budget"),
        (lambda: factor(np.eye(3), 2, rng=np.random.default_rng(0)), "rows must be a whole number of at least 3"),
        (lambda: Plan(BOUNDS, SMALL, 0), "rows must be a whole number"),
        (lambda: Plan(BOUNDS, SMALL, 5, -1.0), "response_scale must be positive"),
        (lambda: Plan(BOUNDS, SMALL, 5, 1.0, 1.5), "test_share must be between"),
        (lambda: Plan(BOUNDS, ApproximateDP(math.inf, 0.1), 5), "epsilon must be positive and finite"),
        (lambda: gaussian_mixing.plan(0, 2, BOUNDS, 1.0, 0.1, SMALL), "n must be a whole number"),
        (lambda: gaussian_mixing.release(X, Y[:3, 0], PLANS[0], rng=np.random.default_rng(0)), "y must have shape"),
        (
            lambda: gaussian_mixing.release(np.ones((20, 10)), Y[:, 0], PLANS[0], rng=np.random.default_rng(0)),
            "rows must be a whole number of at least 11",
        ),
        (lambda: Rounds(BOUNDS, SMALL, 8, (), ()), "the number of clip_norms must be"),
        (lambda: Rounds(BOUNDS, SMALL, 8, (1.0,), ()), "learning_rates must have 1 entries, got 0"),
        (lambda: Rounds(BOUNDS, SMALL, 8, (1e-200,), (1.0,)), "clip_norms must be between"),
        (lambda: Rounds(BOUNDS, SMALL, 8, (1.0,), (1.0,), 0.7, 0.3), "gradient_share \\+ test_share must be"),
        (lambda: Rounds(BOUNDS, SMALL, 8, (1.0,), (1.0,), 0.0, 0.3), "gradient_share must be"),
        (lambda: Rounds(BOUNDS, SMALL, 0, (1.0,), (1.0,)), "rows must be a whole number"),
        (lambda: hessian_mixing.plan(9, 2, BOUNDS, 1.0, 0.1, SMALL, 0.0), "spread must be positive"),
        (lambda: hessian_mixing.release(X, Y[:3, 0], ROUNDS[0], rng=np.random.default_rng(0)), "y must have shape"),
        (
            lambda: hessian_mixing.release(np.ones((20, 9)), Y[:, 0], ROUNDS[0], rng=np.random.default_rng(0)),
            "rows must be a whole number of at least 9",
        ),
    ],
)
def test_public_facts_are_refused(call: Callable[[], object], words: str) -> None:
    refused(words, call)
