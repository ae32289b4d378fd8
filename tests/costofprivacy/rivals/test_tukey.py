"""TukeyEM: depth and volumes by counting, the draw's law, the check's sensitivity, and its failures."""

import math

import numpy as np
import pytest

from costofprivacy.privacy import ApproximateDP
from costofprivacy.rivals import tukey
from tests.costofprivacy.privacy.numerics import Scripted


def depth_of(point: np.ndarray, solutions: np.ndarray) -> int:
    """By counting."""
    return int(min((solutions <= point).sum(axis=0).min(), (solutions >= point).sum(axis=0).min()))


def test_volumes_are_those_of_the_points_of_that_depth() -> None:
    rng = np.random.default_rng(0)
    solutions = rng.random((10, 2))
    points = rng.random((4000, 2))
    depths = np.array([depth_of(p, solutions) for p in points])
    volumes = np.exp(tukey.log_volumes(np.sort(solutions, axis=0)))
    for k in (1, 2, 3):
        share = (depths >= k).mean()
        assert volumes[k - 1] == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / 4000) + 1e-9)


def test_draws_have_the_density_of_the_exponential_mechanism() -> None:
    """In one dimension the law of the depth is known; points of one depth are uniform."""
    rng = np.random.default_rng(1)
    solutions = rng.standard_normal((60, 2))
    budget = ApproximateDP(2.0, 0.4)
    draws = np.stack([tukey._deep_point(solutions, budget, 1e9, rng=rng) for _ in range(2000)])
    depths = np.array([depth_of(p, solutions) for p in draws])
    assert depths.min() >= 15
    volumes = np.append(np.exp(tukey.log_volumes(np.sort(solutions, axis=0))), 0.0)
    levels = np.arange(15, 31)
    weight = (volumes[14:30] - volumes[15:31]) * np.exp(0.5 * levels)
    expected = weight / weight.sum()
    found = np.array([(depths == k).mean() for k in levels])
    assert np.abs(found - expected).max() < 4 * math.sqrt(0.25 / 2000)


def test_each_noise_is_as_large_as_its_budget_asks() -> None:
    """By draws that are told, a twentieth below and above what changes the answer."""
    solutions, budget = np.random.default_rng(1).standard_normal((60, 2)), ApproximateDP(2.0, 0.05)
    ordered = np.sort(solutions, axis=0)
    volumes = np.append(np.exp(tukey.log_volumes(ordered)), 0.0)
    weight = np.log(volumes[14:30] - volumes[15:31]) + 0.5 * np.arange(15, 31)
    missing = tukey.count_threshold(budget) - tukey.stable_count(tukey.log_volumes(ordered), 15, 1.0, 0.05)
    assert missing > 1

    def answer(count: float, depths: object, sides: object) -> np.ndarray:
        return tukey.release(solutions, budget, rng=Scripted(laplace=[count], gumbel=[depths, sides]))

    def shell(depth: int) -> np.ndarray:
        """The logarithms of the two parts of a shell's volume, by its first coordinate and by its second."""
        outer, inner = (ordered[-k] - ordered[k - 1] for k in (depth, depth + 1))
        return np.log([(outer - inner)[0] * outer[1], inner[0] * (outer - inner)[1]])

    best, other = int(weight.argmax()), int(weight.argmin())
    for share in (0.95, 1.05):
        assert answer(share * missing, 0.0, 0.0).any() == (share > 1)  # Lap(1/ε₁), ε₁ = 1
        lifted = share * (weight[best] - weight[other]) * np.eye(16)[other]
        assert depth_of(answer(99.0, lifted, 0.0), solutions) == 15 + (other if share > 1 else best)
        parts = shell(15 + best)
        second = int(parts.argmin())
        lifted = share * abs(parts[0] - parts[1]) * np.eye(2)[second]
        point = answer(99.0, 0.0, lifted)
        inside = (ordered[15 + best, 0] <= point[0]) & (point[0] <= ordered[-16 - best, 0])
        assert inside == ((second == 1) == (share > 1))


def test_the_count_changes_by_one_at_most_when_one_solution_does() -> None:
    rng = np.random.default_rng(2)
    counts = set()
    for seed in range(60):
        solutions = np.random.default_rng(seed).standard_normal((400, 2)) * (1 + seed % 3)
        other = solutions.copy()
        other[0] = [1e6, 0.0, -1e6][seed % 3] + rng.standard_normal(2)
        found = [tukey.stable_count(tukey.log_volumes(np.sort(s, axis=0)), 100, 1.0, 1e-5) for s in (solutions, other)]
        counts.add(found[0])
        assert abs(found[0] - found[1]) <= 1
    assert max(counts) > 20


def test_the_count_by_its_definition() -> None:
    volumes, depth, epsilon, delta = -0.1 * np.arange(1.0, 101.0), 50, 1.0, 1e-4
    limit = math.log(delta / 2) - epsilon

    def stable(k: int) -> bool:
        falls = [
            volumes[depth - 2 - k] - volumes[depth + g + k - 1] - epsilon * (g + 1) / 2
            for g in range(100 - depth - k + 1)
        ]
        return min(falls) <= limit

    expected = next(k for k in range(depth) if not stable(k))
    assert tukey.stable_count(volumes, depth, epsilon, delta) == expected > 0


def test_it_recovers_coefficients_where_it_may_and_answers_zero_where_not() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((60_000, 3))
    y = x @ [1.0, -2.0, 0.5] + 0.1 * rng.standard_normal(60_000)
    budget = ApproximateDP(2.0, 1e-6)
    found = tukey.fit(x, y, 1000, budget, rng=np.random.default_rng(4))
    np.testing.assert_allclose(found, [1.0, -2.0, 0.5], atol=0.05)
    np.testing.assert_array_equal(tukey.fit(x[:60], y[:60], 20, budget, rng=rng), 0.0)
    np.testing.assert_array_equal(tukey._deep_point(rng.standard_cauchy((50, 3)), budget, 0.0, rng=rng), 0.0)
