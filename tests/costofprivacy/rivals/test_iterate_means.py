"""Means of stationary trajectories: literal formulas, exact variances of autoregressions, coverage, wrong decays."""

import math

import numpy as np
import pytest
from scipy.stats import t as student

from costofprivacy.rivals import iterate_means
from costofprivacy.rivals.iterate_means import Mean

RATE, NOISE = 0.4, 0.7


def walks(curvature: np.ndarray, steps: int, runs: int, seed: int) -> np.ndarray:
    """Stationary autoregressions around 0 with symmetric H, shape (runs, steps, d)."""
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(curvature)
    std = RATE * NOISE / np.sqrt(1 - (1 - RATE * values) ** 2)
    state = std * rng.standard_normal((runs, len(values)))
    path = np.empty((runs, steps, len(values)))
    for k in range(steps):
        path[:, k] = state
        state = (1 - RATE * values) * state - RATE * NOISE * rng.standard_normal(state.shape)
    return path @ vectors.T


def exact_variance(value: float, steps: int) -> float:
    """Of the mean of `steps` iterates, by the sum over all pairs."""
    b = 1 - RATE * value
    lags = np.arange(1, steps)
    pairs = steps + 2 * np.sum((steps - lags) * b**lags)
    return float((RATE * NOISE) ** 2 / (1 - b * b) * pairs / steps**2)


def test_the_mean_of_many_iterates_has_the_efficient_variance() -> None:
    assert exact_variance(1.0, 2000) == pytest.approx(NOISE**2 / 2000, rel=0.01)


def test_cosines_are_the_literal_sums() -> None:
    path = walks(np.diag([1.0, 0.5]), 40, 1, 0)[0]
    decay = 0.8
    found = iterate_means.cosines(path, decay)
    total = np.zeros(2)
    for k in range(1, int(found.freedom) + 1):
        wave = sum(math.cos(math.pi * k * (s + 0.5) / 40) * path[s] for s in range(40)) * math.sqrt(2 / 40)
        ratio = 1 + 2 * decay * (1 - math.cos(math.pi * k / 40)) / (1 - decay) ** 2
        assert k == 1 or ratio <= iterate_means.LARGEST or found.freedom == iterate_means.LEAST
        total += ratio * wave**2 / found.freedom / 40
    np.testing.assert_allclose(found.std**2, total)
    np.testing.assert_allclose(found.center, path.mean(axis=0))


@pytest.mark.parametrize("value", [0.25, 1.0, 2.2])
def test_squared_standard_errors_have_the_right_mean(value: float) -> None:
    steps = math.ceil(40 / (RATE * value))
    together, decay = walks(np.array([[value]]), steps, 3000, 1)[:, :, 0].T, 1 - RATE * value  # a run in each column
    exact = exact_variance(value, steps)
    cosines = np.mean(iterate_means.cosines(together, decay).std ** 2)
    assert cosines == pytest.approx(NOISE**2 / value**2 / steps, rel=0.06)
    assert 0.97 < cosines / exact < 1.08
    blind = np.mean(iterate_means.cosines(together, 0.0).std ** 2)
    assert blind < 0.9 * exact or value > 2
    batches = np.mean(iterate_means.batches(together, 5).std ** 2)
    assert 0.75 * exact < batches < exact
    apart = iterate_means.checkpoints(together, decay)
    assert np.mean(apart.std**2) == pytest.approx(apart.center.var(), rel=0.1)


@pytest.mark.parametrize("of", ["cosines", "checkpoints", "autoregression"])
def test_intervals_cover_in_two_eigendirections_at_once(of: str) -> None:
    """With the least eigenvalue known, coordinates that mix eigendirections are covered; narrower ones are not."""
    H = np.array([[1.0, 0.4], [0.4, 0.8]])
    slowest = float(np.linalg.eigvalsh(H)[0])
    paths, decay = walks(H, 300, 700, 2), 1 - RATE * slowest

    def mean(path: np.ndarray) -> Mean:
        if of == "autoregression":
            return iterate_means.autoregression(path, RATE, NOISE, slowest / 3)
        return getattr(iterate_means, of)(path, decay)

    found = [mean(path) for path in paths]
    ends = np.array([m.interval(0.9) for m in found])
    covered = float(((ends[:, 0] <= 0) & (ends[:, 1] >= 0)).mean())
    assert 0.88 < covered < 0.945
    narrow = np.array([np.abs(m.center) <= 0.75 * (m.interval(0.9)[1] - m.center) for m in found])
    assert narrow.mean() < 0.86


def test_a_regression_of_steps_finds_the_curvature_and_the_root() -> None:
    H = np.array([[1.0, 0.4], [0.4, 0.8]])
    path = walks(H, 20_000, 1, 3)[0] + [3.0, -1.0]
    found = iterate_means.autoregression(path, RATE, NOISE, 1e-3)
    np.testing.assert_allclose(found.center, [3.0, -1.0], atol=0.05)
    np.testing.assert_allclose(found.std, NOISE / math.sqrt(20_000) * np.sqrt(np.diag(np.linalg.inv(H @ H))), rtol=0.05)


def test_decays_are_estimated_too_small_by_the_expansion_of_nicholls_and_pope() -> None:
    values, steps, slopes = np.array([0.6, 1.0, 1.5]), 80, []
    for path in walks(np.diag(values), steps + 1, 3000, 4):
        before, after = path[:-1] - path[:-1].mean(0), path[1:] - path[1:].mean(0)
        slopes.append(np.diag(np.linalg.lstsq(before, after)[0]))
    bias = 1 - RATE * values - np.mean(slopes, axis=0)
    np.testing.assert_allclose(bias, iterate_means._too_steep(1 - RATE * values, steps), rtol=0.12)


def test_means_of_draws_are_student_s() -> None:
    draws = np.random.default_rng(5).standard_normal((7, 2))
    found = iterate_means.repetitions(draws, inflation=4.0)
    low, high = found.interval(0.8)
    half = student.ppf(0.9, 6) * 2 * draws.std(axis=0, ddof=1) / math.sqrt(7)
    np.testing.assert_allclose((low, high), (draws.mean(0) - half, draws.mean(0) + half))
    stretches = iterate_means.batches(np.arange(11.0)[:, None], 3)
    assert stretches.center == 6.0  # of 2…4, 5…7, 8…10
    assert stretches.std == pytest.approx(3 / math.sqrt(3))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: iterate_means.cosines(np.zeros((9, 1)), 1.0), "decay must be below 1, got 1.0"),
        (lambda: iterate_means.cosines(np.zeros((9, 1)), -0.1), "decay must be between 0 and 1"),
        (lambda: iterate_means.cosines(np.zeros((5, 1)), 0.5), "steps must be a whole number of at least 6"),
        (lambda: iterate_means.repetitions(np.zeros((1, 1))), "the number of draws must be"),
        (lambda: iterate_means.batches(np.zeros((4, 1)), 5), "count must be between 2 and 4"),
        (lambda: iterate_means.repetitions(np.zeros((3, 1))).interval(1.0), "level must be between 0 and 1"),
    ],
)
def test_what_is_not_admissible_is_named(call, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
