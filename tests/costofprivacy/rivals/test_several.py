"""Several runs over the same records: each is the release of one, and what they share does not change its law."""

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

from costofprivacy.privacy import ApproximateDP, GaussianDP, sums
from costofprivacy.rivals import (
    batch_descent,
    boosting,
    double_double,
    huber,
    objective_perturbation,
    output_perturbation,
    sufficient_statistics,
)
from costofprivacy.rivals.bounds import Bounds, prepare
from tests.costofprivacy.rivals.test_minimiser import exact_gradient

TOLD, MU = Bounds(4.0, 4.0), GaussianDP(1.0)
LIVE = np.array([True, False, True, True, False])


def data(n: int = 700, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Records of five features, two of which are 0 throughout; more than one block of a sum."""
    rng = np.random.default_rng(seed)
    x = np.where(LIVE, rng.standard_normal((n, 5)), 0.0)
    return x, x @ np.linspace(-1, 1, 5) + 0.3 * rng.standard_normal(n)


def rng(seed: int = 3) -> np.random.Generator:
    return np.random.default_rng(seed)


def literal_descent(x: np.ndarray, y: np.ndarray, plan: batch_descent.Plan, noise: np.ndarray) -> np.ndarray:
    """One plan on all records, gradient by gradient, with given noise of variance one, shape (T, d)."""
    theta, C = np.zeros(x.shape[1]), plan.clip_norm
    for rate, b in zip(plan.learning_rates, noise, strict=True):
        gradients = [row * (row @ theta - response) for row, response in zip(x, y, strict=True)]
        clipped = [g * min(1.0, C / max(float(np.linalg.norm(g)), 1e-300)) for g in gradients]
        theta = theta - rate / len(y) * (np.sum(clipped, axis=0) + 2 * C * plan.noise_multiplier * b)
    return theta


@pytest.mark.parametrize("live", [None, LIVE])
def test_descents_of_several_lengths_are_the_literal_ones(live: np.ndarray | None) -> None:
    x, y = data()
    plans = [batch_descent.Plan(C, (rate,) * T, 2.0) for C, rate, T in ((0.5, 0.3, 2), (2.0, 0.1, 4), (9.0, 0.5, 4))]
    found = batch_descent.releases(x, y, plans, 1.0, live, rng=rng())
    rounds = _rounds([4, 4, 2])
    for k, order in enumerate((2, 0, 1)):  # the longest first
        noise = np.array([part[:, order] for part in rounds if order < part.shape[1]])
        np.testing.assert_allclose(found[k], literal_descent(x, y, plans[k], noise), rtol=1e-9)


def _rounds(lengths: list[int]) -> list[np.ndarray]:
    """The noise of each round, drawn for those that go on."""
    source = rng()
    return [source.standard_normal((5, sum(t < T for T in lengths))) for t in range(max(lengths))]


def test_a_sample_is_shared_and_has_the_right_size() -> None:
    x, y = np.ones((2000, 1)), np.ones(2000)
    plan = batch_descent.Plan(0.5, (1.0,), 1e-9)
    found = np.array([batch_descent.releases(x, y, [plan, plan], 0.1, rng=rng(k))[:, 0] for k in range(200)])
    np.testing.assert_allclose(found[:, 0], found[:, 1], atol=1e-9)
    sizes = found[:, 0] / 0.5 * 0.1 * 2000  # of the samples
    assert sizes.mean() == pytest.approx(200, abs=4 * math.sqrt(180 / 200))
    assert sizes.std() == pytest.approx(math.sqrt(180), rel=0.2)


def test_boosting_alone_is_boosting_among_others() -> None:
    """In law, with as many draws as tell a budget from its half."""
    x, y = data(60)
    plans = [boosting.Plan(0.7, 3, MU), boosting.Plan(2.0, 1, MU), boosting.Plan(0.7, 3, GaussianDP(2.0))]

    def draws(chosen: list[boosting.Plan]) -> np.ndarray:
        return np.array([boosting.releases(x, y, TOLD, chosen, rng=rng(9 + s))[:, 0] for s in range(200)]).T

    for plan, together in zip(plans, draws(plans), strict=True):
        assert ks_2samp(together, draws([plan])[0]).pvalue > 1e-2
        noisier = boosting.Plan(plan.clip_norm, plan.rounds, GaussianDP(plan.budget.mu / 2))
        assert ks_2samp(together, draws([noisier])[0]).pvalue < 1e-3


def test_boosting_alone_is_the_formula() -> None:
    x, y = data()
    found = boosting.releases(x, y, TOLD, [boosting.Plan(0.7, 3, MU)], LIVE, rng=rng())[0]
    source, n = rng(), len(x)
    inside = TOLD.clip(x, y)[0]
    each = sufficient_statistics.share(MU)
    matrix, penalty = sufficient_statistics.noisy_matrix(inside.T @ inside, n, TOLD, each, rng=source)
    std = 2 * 0.7 * (1 + sums.slack(n, 5)) / sufficient_statistics.share(MU, 9).mu
    theta, limit = np.zeros(5), 0.7 / np.linalg.norm(inside, axis=1)
    for _ in range(3):
        pull = inside.T @ np.clip(y - inside @ theta, -limit, limit) + std * source.standard_normal(5)
        theta = theta + np.linalg.solve(matrix + penalty * np.eye(5), pull)
    np.testing.assert_allclose(found, theta, rtol=1e-6)


def test_sums_without_dead_features_are_those_with_them() -> None:
    x, y = data()
    told, whole = prepare(x, y, LIVE), prepare(x, y)
    assert told.rows.shape == (700, 3)
    assert told.shape == whole.shape == (700, 5)
    np.testing.assert_allclose(told.square, x.T @ x, atol=1e-10)
    np.testing.assert_allclose(told.product, x.T @ y, atol=1e-10)
    theta, clips = rng().standard_normal((5, 2)), np.array([0.3, 2.0])
    np.testing.assert_allclose(told.pulls(theta, clips), whole.pulls(theta, clips), atol=1e-10)
    np.testing.assert_array_equal(whole.pulls(theta, clips, np.array([], dtype=int)), 0.0)
    assert sufficient_statistics.smallest_eigenvalue(told.square) == 0.0


@pytest.mark.parametrize("size", [1.0, 1e60])
def test_dead_features_rest_where_their_linear_term_says(size: float) -> None:
    """By rational numbers, as all minima are certified; one feature at a size at which doubles overflow."""
    x, y = data(30)
    b = rng().standard_normal(5) * size
    found = huber.minimum(x, y * size, 0.5 * size, 1.5, b)
    assert exact_gradient(x, y * size, 0.5 * size, 1.5, b, found) <= huber.TOLERANCE * 0.5 * size
    np.testing.assert_allclose(found.high[~LIVE], -b[~LIVE] / 1.5, rtol=1e-15)


def test_a_start_saves_steps_and_changes_nothing() -> None:
    x, y = data()
    cold = huber.minimum(x, y, 0.1, 2.0)
    for start in (cold.high, np.full(5, 1e3)):
        warm = huber.minimum(x, y, 0.1, 2.0, start=start)
        np.testing.assert_allclose(warm.high, cold.high, atol=1e-14)
        assert warm.gradient_norm <= huber.TOLERANCE * 0.1
    assert huber.minimum(x, y, 0.1, 2.0, start=cold.high).far_steps < cold.far_steps
    for start in (np.full(5, math.nan), np.ones(4)):
        with pytest.raises(ValueError, match="start must"):
            huber.minimum(x, y, 0.1, 2.0, start=start)


def test_a_multiple_in_pairs_is_exact() -> None:
    high, more = np.array([1 / 3, 1e-9]), np.array([-1 / 9, 1.0])
    one, two = double_double.multiple(1 / 3, high, np.array([1e-20, 0.0]), more)
    diagonal = double_double.residuals(np.diag([1 / 3] * 2), -more, high, np.array([1e-20, 0.0]))
    np.testing.assert_allclose(one + two, sum(diagonal), rtol=1e-15)
    assert abs(one[0] + two[0]) < 1e-16


def test_releases_of_prepared_records_are_the_releases() -> None:
    x, y = data()
    found = huber.minimum_of(prepare(x, y, LIVE), 0.5, 2.0, start=np.ones(5))
    released = output_perturbation.perturbed(found, 0.5, 2.0, MU, rng=rng())
    np.testing.assert_allclose(released, output_perturbation.release(x, y, 0.5, 2.0, MU, rng=rng()), rtol=1e-12)
    added = objective_perturbation.calibrate(ApproximateDP(1.0, 1e-5), 0.5, 0.5, 10.0)
    told = prepare(x, y, LIVE)
    one = objective_perturbation.minimiser(told, 0.5, added, np.ones(5), rng=rng())
    np.testing.assert_allclose(one, objective_perturbation.release(x, y, 0.5, added, rng=rng()), rtol=1e-12)
