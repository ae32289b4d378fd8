"""The moments of intervals: sensitivity, noise, and the covariance against an explicit sum and against simulation."""

import math

import numpy as np
import pytest

from costofprivacy.privacy import GaussianDP
from costofprivacy.privacy.mechanisms import noisy_symmetric
from costofprivacy.rivals import sandwich, streams
from costofprivacy.rivals.sandwich import CURVATURE, USABLE
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


def test_the_sensitivities_are_attained() -> None:
    """Perpendicular records: one inside its limit, or both clipped."""
    far = 1e6
    for y, name, bound in (((0.0, 0.0), "curvature", B), ((far, -far), "spread", C)):
        found = [
            getattr(sandwich.release(B * x[None], np.array([t]), np.zeros(2), B, C, MU, rng=rng()), name)
            for x, t in zip(np.eye(2), y)
        ]
        assert np.linalg.norm(found[0] - found[1]) == pytest.approx(math.sqrt(2) * bound**2, rel=1e-6)


@each("seed", range(40))
def test_a_unit_of_k_records_moves_the_sums_by_no_more_than_k_sensitivities(seed: int) -> None:
    """Its records are of any direction and length, or all alike and perpendicular to the others: that attains it."""
    draw = np.random.default_rng(seed)
    k = int(draw.integers(2, 6))
    rest, far = draw.standard_normal((2 * k, 2)), 1e6
    spent = []
    for axis in np.eye(2):
        own = 3 * draw.standard_normal((k, 2)) if seed % 2 else np.tile(B * axis, (k, 1))
        y = np.concatenate([draw.choice([0.0, 0.1, far, -far], k) if seed % 2 else np.zeros(k), np.zeros(2 * k)])
        for inside in (y, y + far):
            told = sandwich.release(np.vstack([own, rest]), inside, np.zeros(2), B, C, MU, most=k, rng=rng())
            spent.append((told.curvature, told.spread))
    for one, other in zip(spent[:2], spent[2:]):
        for part, bound in ((0, k * B**2), (1, (k * C) ** 2)):
            moved = np.linalg.norm(one[part] - other[part]) / (math.sqrt(2) * bound)
            assert moved <= 1 + 1e-9
            attained = seed % 2 == 0 and (one is spent[part])
            assert moved == pytest.approx(1, rel=1e-6) or not attained


def test_the_noise_of_units_is_k_times_that_of_a_record_in_the_spread_alone() -> None:
    one, four = (sandwich.release(np.zeros((4, 2)), np.zeros(4), THETA, B, C, MU, most=k, rng=rng()) for k in (1, 4))
    np.testing.assert_array_equal(one.curvature, four.curvature)
    np.testing.assert_allclose(four.spread, 4 * one.spread, rtol=1e-9)


def test_records_of_a_unit_are_taken_together_in_memory_and_over_batches() -> None:
    x, y = data(1200)
    limits = sandwich.Limits(2.5, C, most=3)
    released = sandwich.release(x, y, THETA, 2.5, C, GaussianDP(1e13), most=3, rng=rng())
    meat = sum(np.outer(part.sum(axis=0), part.sum(axis=0)) for part in limits.rows(x, y, THETA)[1].reshape(-1, 3, 2))
    np.testing.assert_allclose(released.spread, meat, rtol=1e-9)
    _, found = streams.step(lambda: [(x, y)], 1200, THETA, limits, GaussianDP(1e13), rng=rng())
    np.testing.assert_allclose(found, released.covariance(0.0), rtol=1e-5)


def test_both_noises_together_spend_the_budget() -> None:
    """Standard deviations from repeated releases; the moments have all of μ² together."""
    x, y = data(50)
    draw = np.random.default_rng(0)
    runs = [sandwich.release(x, y, THETA, 2.5, C, MU, rng=draw) for _ in range(1500)]
    spent = 0.0
    for name, bound, part in (("curvature", 2.5, CURVATURE), ("spread", C, 1 - CURVATURE)):
        values = np.array([getattr(run, name) for run in runs])
        np.testing.assert_array_equal(values, np.swapaxes(values, 1, 2))
        std = math.sqrt(2) * bound**2 / (MU.mu * math.sqrt(part))
        spent += 2 * bound**4 / np.diagonal(values, axis1=1, axis2=2).var(axis=0).mean()
        np.testing.assert_allclose(np.diagonal(values, axis1=1, axis2=2).std(axis=0), std, rtol=0.08)
        assert values[:, 0, 1].std() == pytest.approx(std / math.sqrt(2), rel=0.08)
    assert spent == pytest.approx(MU.mu**2, rel=0.1)
    assert runs[0].curvature_std == pytest.approx(math.sqrt(2 / CURVATURE) * 2.5**2 / MU.mu, rel=1e-9)


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


def test_a_step_spends_what_it_is_given() -> None:
    """The centre of one coefficient as a function of the gradient's noise: its sensitivity 2C is attained."""
    limits, budget, draw = sandwich.Limits(B, C), GaussianDP(0.5), np.random.default_rng(1)
    ends = []
    for sign in (1.0, -1.0):  # n records that are clipped, or inside: the last one pulls one way or the other
        x, y = np.full((400, 1), B), np.append(np.zeros(399), sign * 1e6)
        runs = [streams.step(lambda: [(x, y)], 400, np.zeros(1), limits, budget, rng=draw)[0][0] for _ in range(1500)]  # noqa: B023
        ends.append(np.array(runs))
    apart, noise = ends[0].mean() - ends[1].mean(), math.hypot(*(end.std() for end in ends)) / math.sqrt(2)
    assert apart / noise == pytest.approx(budget.mu * math.sqrt(sandwich.GRADIENT), rel=0.1)


def test_the_noise_of_the_curvature_counts_in_the_step() -> None:
    noise, by = (
        np.array([noisy_symmetric(np.zeros((3, 3)), 2.0, 1.0, rng=rng_) for rng_ in [rng()] for _ in range(20_000)]),
        np.arange(3.0),
    )
    moments = sandwich.Moments(100 * np.eye(3), np.zeros((3, 3)), 2.0)
    told = moments.covariance(0.0, by) * 100**2
    np.testing.assert_allclose(told, np.cov((noise @ by).T), atol=0.3)
