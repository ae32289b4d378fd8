"""AdaSSP and its boosted form: sensitivities attained, noise of the right law, and the limits without noise."""

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

from costofprivacy.privacy import GaussianDP, sums
from costofprivacy.rivals import boosting, sufficient_statistics
from costofprivacy.rivals.bounds import Bounds, prepare
from costofprivacy.rivals.sufficient_statistics import moments, noisy_matrix
from tests.costofprivacy.privacy.numerics import Scripted
from tests.costofprivacy.rivals.test_minimiser import LIVE, sparse

BOUNDS = Bounds(2.0, 3.0)
FREE = GaussianDP(1e9)


def records(n: int = 300, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return BOUNDS.clip(rng.standard_normal((n, d)), rng.standard_normal(n) * 2)


def test_sensitivities_hold_and_are_attained() -> None:
    rng = np.random.default_rng(1)
    squares, products, lowest = [], [], []
    base, base_y = records(20)
    for k in range(100):
        pair = []
        for sign in (1, -1):
            x, y = base.copy(), base_y.copy()
            extreme = np.eye(5)[0 if sign > 0 else 1] if k == 0 else rng.standard_normal(5)
            x[0] = 2 * extreme / np.linalg.norm(extreme)
            if k == 1:
                x[0] = 2 * np.eye(5)[0]
            y[0] = 3.0 * sign
            pair.append(moments(x, y, BOUNDS))
        squares.append(np.linalg.norm(pair[0].square - pair[1].square))
        products.append(np.linalg.norm(pair[0].product - pair[1].product))
        lowest.append(abs(np.subtract(*(np.linalg.eigvalsh(m.square)[0] for m in pair))))
    assert max(squares) == pytest.approx(math.sqrt(2) * 4)
    assert max(products) == pytest.approx(2 * 2 * 3)
    assert max(lowest) <= 4


def test_the_matrix_has_isotropic_noise_of_its_sensitivity() -> None:
    rng, each, d = np.random.default_rng(2), GaussianDP(0.7), 3
    draws = np.stack([noisy_matrix(np.zeros((d, d)), 10, BOUNDS, each, rng=rng)[0] for _ in range(4000)])
    std = math.sqrt(2) * 4 / 0.7
    assert draws[:, 0, 0].std() == pytest.approx(std, rel=0.05)
    assert draws[:, 0, 1].std() == pytest.approx(std / math.sqrt(2), rel=0.05)
    np.testing.assert_array_equal(draws[:, 0, 1], draws[:, 1, 0])


def test_the_eigenvalue_and_the_product_have_noise_of_their_sensitivities() -> None:
    """By draws that are told: 4/μ for the eigenvalue, 2·2·3/(μ/√3) for the product."""
    square, each = 20 * np.eye(3), GaussianDP(1.0)
    low, lower = (
        noisy_matrix(square, 10, BOUNDS, each, rng=Scripted(standard_normal=[0.0, value]))[1] for value in (0.0, -1.0)
    )
    assert lower - low == pytest.approx(4.0, rel=1e-6)
    data, still, along = moments(*records(), BOUNDS), np.zeros(5), np.eye(5)[0]
    zero, moved = (
        sufficient_statistics.release(data, BOUNDS, each, rng=Scripted(standard_normal=[0.0, 0.0, value]))
        for value in (still, along)
    )
    third = GaussianDP(1 / math.sqrt(3))
    matrix, penalty = noisy_matrix(data.square, 300, BOUNDS, third, rng=Scripted(standard_normal=[0.0, 0.0]))
    noise = (matrix + penalty * np.eye(5)) @ (moved - zero)
    np.testing.assert_allclose(noise, 12 * math.sqrt(3) * along, rtol=1e-6, atol=1e-9)


def test_without_noise_both_are_least_squares() -> None:
    x, y = records()
    exact = np.linalg.lstsq(x, y, rcond=None)[0]
    rng = np.random.default_rng(3)
    np.testing.assert_allclose(
        sufficient_statistics.release(moments(x, y, BOUNDS), BOUNDS, FREE, rng=rng), exact, atol=1e-5
    )
    for rounds in (1, 4):
        found = boosting.release(x, y, BOUNDS, 1e3, rounds, FREE, rng=rng)
        np.testing.assert_allclose(found, exact, atol=1e-4)


def test_records_beyond_the_bounds_are_shortened_and_others_kept() -> None:
    x, y = BOUNDS.clip(np.array([[3.0, 4.0], [0.3, 0.4]]), np.array([9.0, -1.0]))
    np.testing.assert_allclose(x, [[1.2, 1.6], [0.3, 0.4]])
    np.testing.assert_allclose(y, [3.0, -1.0])


# ---- Several runs over the same records ----

WIDE, MU = Bounds(4.0, 4.0), GaussianDP(1.0)


def rng(seed: int = 3) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_boosting_alone_is_boosting_among_others() -> None:
    """In law, with as many draws as tell a budget from its half."""
    x, y = sparse(60)
    plans = [boosting.Plan(0.7, 3, MU), boosting.Plan(0.7, 3, GaussianDP(2.0))]

    def draws(chosen: list[boosting.Plan]) -> np.ndarray:
        return np.array([boosting.releases(x, y, WIDE, chosen, rng=rng(9 + s))[:, 0] for s in range(150)]).T

    for plan, together in zip(plans, draws(plans), strict=True):
        assert ks_2samp(together, draws([plan])[0]).pvalue > 1e-2
        noisier = boosting.Plan(plan.clip_norm, plan.rounds, GaussianDP(plan.budget.mu / 2))
        assert ks_2samp(together, draws([noisier])[0]).pvalue < 1e-3


def test_boosting_alone_is_the_formula() -> None:
    x, y = sparse()
    found = boosting.releases(x, y, WIDE, [boosting.Plan(0.7, 3, MU)], LIVE, rng=rng())[0]
    source, n = rng(), len(x)
    inside = WIDE.clip(x, y)[0]
    each = sufficient_statistics.share(MU)
    matrix, penalty = sufficient_statistics.noisy_matrix(inside.T @ inside, n, WIDE, each, rng=source)
    std = 2 * 0.7 * (1 + sums.slack(n, 5)) / sufficient_statistics.share(MU, 9).mu
    theta, limit = np.zeros(5), 0.7 / np.linalg.norm(inside, axis=1)
    for _ in range(3):
        pull = inside.T @ np.clip(y - inside @ theta, -limit, limit) + std * source.standard_normal(5)
        theta = theta + np.linalg.solve(matrix + penalty * np.eye(5), pull)
    np.testing.assert_allclose(found, theta, rtol=1e-6)


def test_sums_without_dead_features_are_those_with_them() -> None:
    x, y = sparse()
    told, whole = prepare(x, y, LIVE), prepare(x, y)
    assert told.rows.shape == (700, 3)
    assert told.shape == whole.shape == (700, 5)
    np.testing.assert_allclose(told.square, x.T @ x, atol=1e-10)
    np.testing.assert_allclose(told.product, x.T @ y, atol=1e-10)
    theta, clips = rng().standard_normal((5, 2)), np.array([0.3, 2.0])
    np.testing.assert_allclose(told.pulls(theta, clips), whole.pulls(theta, clips), atol=1e-10)
    np.testing.assert_array_equal(whole.pulls(theta, clips, np.array([], dtype=int)), 0.0)
    assert sufficient_statistics.smallest_eigenvalue(told.square) == 0.0
