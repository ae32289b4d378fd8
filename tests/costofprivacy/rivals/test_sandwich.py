"""The moments of intervals: sensitivity, noise, and the covariance against an explicit sum and against simulation."""

import math

import numpy as np
import pytest

from costofprivacy.privacy import GaussianDP
from costofprivacy.privacy.mechanisms import noisy_symmetric
from costofprivacy.rivals import sandwich, streams
from costofprivacy.rivals.sandwich import USABLE
from tests.each import each, refused

B, C, MU = 1.5, 0.7, GaussianDP(0.8)
THETA = np.array([0.4, -0.3])
Records = tuple[np.ndarray, np.ndarray]


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def data(n: int, seed: int = 0) -> Records:
    """The noise is larger where the first feature is, and the relation is not quite linear."""
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((n, 2))
    x *= np.minimum(1.0, 2.5 / np.linalg.norm(x, axis=1))[:, None]
    return x, x @ THETA + 0.2 * x[:, 1] ** 2 + (0.1 + 0.4 * np.abs(x[:, 0])) * draw.standard_normal(n)


def test_records_of_a_unit_are_taken_together_in_memory_and_over_batches() -> None:
    x, y = data(1200)
    limits = sandwich.Limits(2.5, C, most=3)
    released = sandwich.release(x, y, THETA, 2.5, C, GaussianDP(1e13), most=3, rng=rng())
    meat = sum(np.outer(part.sum(axis=0), part.sum(axis=0)) for part in limits.rows(x, y, THETA)[1].reshape(-1, 3, 2))
    np.testing.assert_allclose(released.spread, meat, rtol=1e-9)
    _, found = streams.step(lambda: [(x, y)], 1200, THETA, limits, GaussianDP(1e13), rng=rng())
    np.testing.assert_allclose(found, released.covariance(0.0), rtol=1e-5)


def test_without_noise_the_covariance_is_that_of_heteroscedastic_regression() -> None:
    """With no clipping at all it is White's HC0, written out; with clipping the clipped residuals take their place."""
    x, y = data(400)
    for clip_norm in (100.0, 0.6):
        found = sandwich.release(x, y, THETA, 10.0, clip_norm, GaussianDP(1e13), rng=rng())
        bread, meat = np.zeros((2, 2)), np.zeros((2, 2))
        for row, response in zip(x, y):
            residual, limit = row @ THETA - response, clip_norm / np.linalg.norm(row)
            bread += np.outer(row, row) * (abs(residual) < limit)
            meat += np.outer(row, row) * min(abs(residual), limit) ** 2
        inverse = np.linalg.inv(bread)
        np.testing.assert_allclose(found.covariance(0.0), inverse @ meat @ inverse, rtol=1e-6)
        np.testing.assert_allclose(found.covariance(3.0), inverse @ (meat + 9 * np.eye(2)) @ inverse, rtol=1e-6)


def minimum(x: np.ndarray, y: np.ndarray, clip_norm: float, b: np.ndarray) -> np.ndarray:
    """Newton's method in doubles, which is faster than the certified one."""
    theta, limit = np.linalg.lstsq(x, y)[0], clip_norm / np.linalg.norm(x, axis=1)
    for _ in range(50):
        r = x @ theta - y
        slope = x.T @ np.clip(r, -limit, limit) + b
        if np.linalg.norm(slope) < 1e-9:
            return theta
        inside = x[np.abs(r) < limit]
        theta = theta - np.linalg.solve(inside.T @ inside, slope)
    raise AssertionError("not found")


def test_the_covariance_is_that_of_simulated_minima() -> None:
    """Minima over new data sets and new linear terms, where both kinds of noise matter."""
    draw, sigma = np.random.default_rng(1), 8.0
    minima, told = [], []
    for seed in range(250):
        x, y = data(600, seed)
        minima.append(minimum(x, y, 0.8, sigma * draw.standard_normal(2)))
        if seed < 20:
            moments = sandwich.release(x, y, minima[-1], 10.0, 0.8, GaussianDP(1e12), rng=draw)
            told.append(moments.covariance(sigma))
    empirical, mean = np.cov(np.array(minima).T), np.mean(told, axis=0)
    ratios = np.linalg.eigvals(np.linalg.solve(mean, empirical)).real
    assert ratios.min() > 0.8
    assert ratios.max() < 1.25
    wrong = np.mean(told, axis=0) - np.linalg.inv(moments.curvature) @ np.linalg.inv(moments.curvature) * sigma**2
    assert np.linalg.eigvals(np.linalg.solve(wrong, empirical)).real.max() > 1.25  # without the linear term's noise


def test_moments_that_are_mostly_noise_say_nothing() -> None:
    x, y = data(400)
    found = sandwich.release(x, y, THETA, 2.5, C, GaussianDP(0.01), rng=rng())
    assert not found.determined.any()
    assert np.isnan(found.covariance(1.0)).all()
    assert np.isnan(found.solve(THETA)).all()
    assert sandwich.release(x, y, THETA, 2.5, C, GaussianDP(2.0), rng=rng()).determined.all()
    assert sandwich.Moments(np.eye(2) / USABLE, np.eye(2), 0.5).determined.all()  # noise of norm s√(2d) = 1
    assert not sandwich.Moments(0.99 * np.eye(2) / USABLE, np.eye(2), 0.5).determined.all()


def test_a_feature_that_is_always_0_is_set_aside_and_the_others_keep_their_covariance() -> None:
    x, y = data(4000)
    more = np.column_stack([x[:, 0], np.zeros(len(x)), x[:, 1]])
    theta = np.array([THETA[0], 5.0, THETA[1]])
    found = sandwich.release(more, y, theta, 2.5, C, GaussianDP(4.0), rng=rng())
    assert found.determined.tolist() == [True, False, True]
    covariance, rest = found.covariance(3.0), np.ix_([0, 2], [0, 2])
    assert np.isnan(covariance[1]).all()
    assert np.isnan(covariance[:, 1]).all()
    alone = sandwich.Moments(found.curvature[rest], found.spread[rest], found.curvature_std).covariance(3.0)
    assert (np.diag(covariance[rest]) >= np.diag(alone)).all()  # what noise alone seems to pass on widens them
    np.testing.assert_allclose(covariance[rest], alone, rtol=0.3)
    assert np.isnan(found.solve(theta)).tolist() == [False, True, False]


def test_what_is_set_aside_widens_the_intervals_of_what_it_is_correlated_with() -> None:
    """A feature that is rare, and correlated with the other one: its error of about ASIDE is passed on."""
    curvature = np.array([[100.0, 0.2], [0.2, 0.001]])
    found = sandwich.Moments(curvature, np.eye(2), 1.0)
    assert found.determined.tolist() == [True, False]
    inverse, passed = 1 / 100, 0.2**2 * sandwich.ASIDE
    assert found.covariance(0.0)[0, 0] == pytest.approx(inverse**2 * (1 + passed), rel=1e-12)
    assert np.isnan(found.covariance(0.0)[1]).all()


@pytest.mark.parametrize(("spread", "some"), [(0.9, False), (1.1, True)])
def test_what_hangs_on_a_guess_has_no_interval(spread: float, some: bool) -> None:
    """More than half of the variance of the first coefficient, spread + 1, would be what the second one passes on."""
    found = sandwich.Moments(np.array([[100.0, 1.0], [1.0, 0.001]]), spread * np.eye(2), 1.0)
    assert np.isfinite(found.covariance(0.0)[0, 0]) == some
    assert np.isfinite(found.solve(np.ones(2))[0])


def test_a_shorter_bound_of_the_curvature_makes_it_smaller_and_its_noise_too() -> None:
    x, y = data(400)
    whole, part = (sandwich.release(x, y, THETA, 2.5, C, MU, shorter, rng=rng()) for shorter in (None, 0.9))
    assert part.curvature_std == pytest.approx(whole.curvature_std * (0.9 / 2.5) ** 2)
    exact = [sandwich.release(x, y, THETA, 2.5, C, GaussianDP(1e12), shorter, rng=rng()) for shorter in (None, 0.9)]
    assert np.linalg.eigvalsh(exact[0].curvature - exact[1].curvature).min() > 0
    np.testing.assert_allclose(exact[0].spread, exact[1].spread, rtol=1e-6)
    same = sandwich.release(x, y, THETA, 2.5, C, MU, 99.0, rng=rng())
    np.testing.assert_array_equal(same.curvature, whole.curvature)


@each("bound", [0.0, 1e-200, 1e151, math.nan])
def test_bounds_whose_squares_leave_the_doubles_are_refused(bound: float) -> None:
    """With C = 10⁻²⁰⁰ the noise of V would have been 0."""
    x, y = data(4)
    refused(r"^feature_bound must", sandwich.release, x, y, THETA, bound, C, MU, rng=rng())
    refused(r"^clip_norm must", sandwich.release, x, y, THETA, B, bound, MU, rng=rng())


def test_a_step_without_noise_is_newton_s_and_its_sandwich_is_white_s() -> None:
    """From far away, by one pass over a stream."""
    x, y = data(700)
    limits, far = sandwich.Limits(100.0, 1e6), np.array([3.0, -7.0])
    parts = [(x[k : k + 99], y[k : k + 99]) for k in range(0, 700, 99)]
    centre, covariance = streams.step(lambda: parts, 700, far, limits, GaussianDP(1e15), rng=rng())
    np.testing.assert_allclose(centre, np.linalg.lstsq(x, y)[0], rtol=1e-6)
    inverse, residual = np.linalg.inv(x.T @ x), x @ far - y
    np.testing.assert_allclose(covariance, inverse @ (x.T * residual**2) @ x @ inverse, rtol=1e-5)


def test_the_noise_of_the_curvature_counts_in_the_step() -> None:
    noise, by = (
        np.array([noisy_symmetric(np.zeros((3, 3)), 2.0, 1.0, rng=rng_) for rng_ in [rng()] for _ in range(20_000)]),
        np.arange(3.0),
    )
    moments = sandwich.Moments(100 * np.eye(3), np.zeros((3, 3)), 2.0)
    told = moments.covariance(0.0, by) * 100**2
    np.testing.assert_allclose(told, np.cov((noise @ by).T), atol=0.3)
