import math
from dataclasses import replace

import dp_accounting
import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from costofprivacy.noisyhead import head, private_ridge
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP, sums
from tests import oracles
from tests.costofprivacy.noisyhead import draws
from tests.costofprivacy.privacy import numerics
from tests.each import each, refused

PAPER = PrivateRidge(clip_norm=4.77, feature_bound=1.25, penalty=5.0, N=2000)
REGIMES = [
    PAPER,
    replace(PAPER, penalty=0.05),
    replace(PAPER, feature_bound=3.0, penalty=0.2, N=50),
    replace(PAPER, clip_norm=1.0, feature_bound=1.0, penalty=3.0, N=5),
    replace(PAPER, clip_norm=1.0, feature_bound=1.0, penalty=0.02, N=30),
    replace(PAPER, clip_norm=0.5, feature_bound=2.0, N=10),
]


def apart(pair: tuple[Statistics, Statistics], told: PrivateRidge) -> float:
    first, second = (ridge(head.moments(data), told.penalty) for data in pair)
    return float(np.linalg.norm(first - second))


@each("G", [0.3, 0.02, 9.0])
def test_the_release_is_appendix_b_on_the_same_noise(G: float) -> None:
    drawn = sample(PromptModel(3, 12, 0.4), 25, rng=np.random.default_rng(0))
    data = head.moments(head.project(head.statistics(drawn, 1.2), G))
    direction = np.random.default_rng(1).standard_normal((3, 3))
    told = PrivateRidge(1.2, G, 0.5, 25)
    batch = private_ridge.release(data, told, [1e-12, 0.7], rng=np.random.default_rng(1))
    for std, ours in zip((1e-12, 0.7), batch):
        np.testing.assert_allclose(ours, oracles.dp_ridge(drawn.x, drawn.y, 1.2, G, 0.5, std * direction), rtol=1e-10)


def test_releases_are_independent_draws_of_the_release() -> None:
    data, std, told = Moments(np.eye(4), np.ones(4)), [0.1, 0.3], PrivateRidge(1.0, 2.0, 1.0, 9)
    many = private_ridge.releases(data, told, std, 5, rng=np.random.default_rng(3))
    rng = np.random.default_rng(3)
    np.testing.assert_array_equal(many, [private_ridge.release(data, told, std, rng=rng) for _ in range(5)])
    assert many.shape == (5, 2, 2, 2)
    noise = (private_ridge.releases(data, told, [1.0], 5000, rng=rng)[:, 0] - 0.5).reshape(5000, 4)
    np.testing.assert_allclose(noise.T @ noise / 5000, np.eye(4), atol=0.1)


@each("told", REGIMES)
def test_the_bound_is_attained_but_for_its_factor(told: PrivateRidge) -> None:
    constructed = apart(private_ridge.worst_neighbours(told, 3), told)
    ratio = told.others_bound * told.largest / told.clip_norm  # A/B of `sensitivity`
    factor = 1 + told.largest**2 / (told.penalty * told.N)  # to which its first bound is attained
    assert constructed <= private_ridge.sensitivity(told) * (1 + 1e-9)
    assert constructed >= private_ridge.sensitivity(told) / (factor * (1 if ratio <= 2.5 else 1.01)) * (1 - 1e-9)


@each("told", REGIMES)
def test_the_flipped_pair_refutes_the_printed_sensitivity(told: PrivateRidge) -> None:
    expected = 2 * told.clip_norm * told.largest / (told.penalty * told.N + told.largest**2)
    assert apart(private_ridge.flipped_neighbours(told, 2), told) == pytest.approx(expected, rel=1e-9)


@each("told", REGIMES)
def test_constructed_neighbours_are_neighbours_within_the_bounds(told: PrivateRidge) -> None:
    for first, second in (private_ridge.worst_neighbours(told, 4), private_ridge.flipped_neighbours(told, 4)):
        assert len(first.response) == told.N
        for data in (first, second):
            assert data.norm.max() <= told.largest * (1 + 1e-12)
            assert np.abs(data.response).max() <= told.clip_norm
        for name in ("query", "context", "response"):
            np.testing.assert_array_equal(getattr(first, name)[:-1], getattr(second, name)[:-1])


def others_and_pair(x: np.ndarray, told: PrivateRidge, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Statistics, shape (…, N + 1, p), and responses of N − 1 prompts and two more, from unconstrained numbers."""
    size = (told.N + 1) * p
    z, y = x[..., :size].reshape(*x.shape[:-1], -1, p), told.clip_norm * np.tanh(x[..., size:])
    norm = np.linalg.norm(z, axis=-1, keepdims=True)
    return z * told.largest * np.tanh(norm) / norm, y


def moved(x: np.ndarray, told: PrivateRidge, p: int) -> np.ndarray:
    """How far the solution moves from the last but one prompt to the last, by two solutions of the normal equations."""
    z, y = others_and_pair(x, told, p)
    solutions = []
    for last in (-2, -1):
        keep = [*range(told.N - 1), told.N + 1 + last]
        Z, r = z[..., keep, :], y[..., keep, None]
        left = told.penalty * told.N * np.eye(p) + Z.swapaxes(-2, -1) @ Z
        solutions.append(np.linalg.solve(left, Z.swapaxes(-2, -1) @ r)[..., 0])
    return np.linalg.norm(solutions[0] - solutions[1], axis=-1)


def ascent(told: PrivateRidge, p: int, start: np.ndarray) -> float:
    """The farthest that an ascent from ``start`` moves it, with all differences for the gradient in one go."""
    step = 1e-7 * np.eye(len(start))

    def descent(x: np.ndarray) -> tuple[float, np.ndarray]:
        here, *ahead = moved(np.vstack([x, x + step]), told, p)
        return -here, (here - np.array(ahead)) / 1e-7

    return float(-minimize(descent, start, jac=True, method="L-BFGS-B").fun)


@each("told", [PrivateRidge(1.0, 1.0, 3.0, 4), PrivateRidge(1.0, 1.0, 0.05, 6), PrivateRidge(2.0, 1.5, 8.0, 2)])
def test_no_adversary_exceeds_the_bound_and_a_good_one_comes_near_what_is_attained(told: PrivateRidge) -> None:
    """Gradient ascent over the whole of both data sets, in three dimensions, from random starts."""
    rng, p, best = np.random.default_rng(3), 3, 0.0
    for _ in range(12):
        start = rng.standard_normal((told.N + 1) * (p + 1))
        best = max(best, ascent(told, p, start))
    assert best <= private_ridge.sensitivity(told) * (1 + 1e-9)
    assert best >= 0.99 * apart(private_ridge.worst_neighbours(told, 3), told)


def test_the_solution_of_the_others_is_bounded_and_attains_its_bound() -> None:
    for told in REGIMES:
        first, _ = private_ridge.worst_neighbours(told, 2)
        others = Statistics(first.query[:-1], first.context[:-1], first.response[:-1])
        norm = np.linalg.norm(ridge(head.moments(others), told.penalty * told.N / (told.N - 1)))
        assert norm == pytest.approx(told.others_bound, rel=1e-9)
        assert told.others_bound <= told.clip_norm / (2 * math.sqrt(told.penalty)) * (1 + 1e-12)


def test_the_bounds_in_order_and_in_the_limits() -> None:
    for told in REGIMES:
        assert 2 * private_ridge.sensitivity_printed(told) < private_ridge.sensitivity(told) or told.clip_norm < 1
        assert private_ridge.sensitivity(told) <= private_ridge.sensitivity_coarse(told) * (1 + 1e-12)
    small, alone = replace(PAPER, feature_bound=1e-6), replace(PAPER, N=1)
    for told in (small, alone):
        twice = 2 * told.clip_norm * told.feature_bound / (told.penalty * told.N)
        assert private_ridge.sensitivity(told) == pytest.approx(twice, rel=1e-9)


@each("epsilon", [0.2, 3.0])
def test_delta_spent_is_that_of_dp_accounting_and_of_quadrature(epsilon: float) -> None:
    budget = ApproximateDP(epsilon, 1e-5)
    for std in (private_ridge.noise_std_printed(PAPER, budget), private_ridge.noise_std(PAPER, budget)):
        ratio = std / private_ridge.sensitivity(PAPER)
        ours = float(private_ridge.profile(PAPER, budget, std).every_iterate.delta(epsilon))
        pld = dp_accounting.pld.privacy_loss_distribution.from_gaussian_mechanism(
            ratio, value_discretization_interval=2e-4
        )
        assert ours == pytest.approx(pld.get_delta_for_epsilon(epsilon), rel=1e-9)
        assert ours == pytest.approx(numerics.hockey_stick(1.0, ratio, epsilon), rel=1e-9)


def test_the_printed_noise_is_word_for_word() -> None:
    C, G, lam, N, epsilon, delta = 4.77, 1.25, 5.0, 2000, 0.2, 1e-5
    variance = C**2 * G**2 * math.log(1.25 / delta) / (lam**2 * N**2 * epsilon**2)
    assert private_ridge.noise_std_printed(PAPER, ApproximateDP(epsilon, delta)) ** 2 == pytest.approx(variance)


def test_a_simulation_has_the_numbers_of_releases_whose_noise_pays_for_rounding() -> None:
    data, told = Moments(np.eye(4), np.ones(4)), PrivateRidge(1.0, 2.0, 1.0, 10**6)
    paid = 0.3 * (1 + sums.slack(told.N, 4))
    assert paid > 0.3
    released = private_ridge.releases(data, told, [0.3], 2, rng=np.random.default_rng(3))
    np.testing.assert_array_equal(released, private_ridge.simulate(data, 1.0, [paid], 2, rng=np.random.default_rng(3)))
    silent = private_ridge.simulate(data, 1.0, [0.0], 1, rng=np.random.default_rng(3))
    np.testing.assert_array_equal(silent[0, 0], ridge(data, 1.0))


def test_a_component_has_the_law_of_the_releases_component_and_no_other() -> None:
    """For a direction of any length; noise off by a tenth, or a shifted solution, is told apart."""
    told, std, count = PrivateRidge(1.0, 1.0, 0.5, 12), 0.7, 40_000
    data = head.moments(head.project(head.statistics(draws.drawn(12), 1.0), 1.0))
    direction = np.random.default_rng(3).standard_normal(9)
    released = private_ridge.releases(data, told, [std], count, rng=np.random.default_rng(1))
    whole = released.reshape(count, -1) @ direction

    def agreement(std: float, moved: float = 0.0) -> float:
        rng = np.random.default_rng(2)
        parts = private_ridge.components(data, told, std, direction, count, rng=rng)
        return float(stats.ks_2samp(parts + moved, whole).pvalue)

    assert agreement(std) > 0.01
    assert agreement(1.1 * std) < 1e-6
    assert agreement(std, 0.07 * np.linalg.norm(direction) * std) < 1e-6


def test_components_are_refused_as_releases_are() -> None:
    told = PrivateRidge(1.0, 1.0, 0.5, 12)
    data = head.moments(head.statistics(draws.drawn(12)))
    refused("noise_std", private_ridge.components, data, told, 0.0, np.ones(9), 3, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="moments of projected statistics"):
        private_ridge.components(data, replace(told, clip_norm=1e-3), 1.0, np.ones(9), 3, rng=np.random.default_rng(0))
    bounded = head.moments(head.project(head.statistics(draws.drawn(12), 1.0), 1.0))
    refused("count", private_ridge.components, bounded, told, 1.0, np.ones(9), 0, rng=np.random.default_rng(0))
