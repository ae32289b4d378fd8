import math

import numpy as np
import pytest

from costofprivacy.privacy import GaussianDP, amplification_by_iteration, every_iterate, last_iterate, spent_by_record
from tests.costofprivacy.privacy import numerics
from tests.each import each

SENSITIVITIES = np.array([1.0, 0.8, 0.5, 0.4])
NOISES = np.array([0.3, 0.0, 0.7, 1.1])


def test_each_record_is_hidden_by_the_noise_from_its_step_on() -> None:
    expected = [s / math.sqrt(sum(v**2 for v in NOISES[k:])) for k, s in enumerate(SENSITIVITIES)]
    np.testing.assert_allclose(spent_by_record(SENSITIVITIES, NOISES), expected, rtol=1e-14)
    assert amplification_by_iteration(SENSITIVITIES, NOISES).mu == pytest.approx(max(expected))


def test_one_step_is_the_gaussian_mechanism() -> None:
    assert amplification_by_iteration(np.array([2.0]), np.array([5.0])) == GaussianDP(0.4)


def test_it_is_never_worse_than_releasing_every_iterate() -> None:
    """All iterates together spend the largest single quotient, since each record enters once."""
    alone = max(every_iterate(GaussianDP(s / v), 1).mu for s, v in zip(SENSITIVITIES[[0, 2, 3]], NOISES[[0, 2, 3]]))
    assert amplification_by_iteration(SENSITIVITIES, np.array([0.3, 0.8, 0.7, 1.1])).mu <= alone


def test_it_agrees_with_the_contraction_theorem_where_both_apply() -> None:
    """One record at step 1 of T equal steps, contraction 1: both say Δ/(√T s) or more."""
    T, s = 20, 0.5
    alone = amplification_by_iteration(np.r_[1.0, np.zeros(T - 1)], np.full(T, s)).mu
    assert alone == pytest.approx(1 / (math.sqrt(T) * s))
    assert alone <= last_iterate(GaussianDP(1 / s), 1.0, T).mu


def test_the_bound_is_attained_when_later_steps_stand_still() -> None:
    """Record 1 moves by Δ, nothing else does: the outputs are N(Δ, S) and N(0, S), with S all the noise."""
    spent = amplification_by_iteration(np.array([0.9, 0.0, 0.0]), np.array([0.5, 0.4, 0.3]))
    total = math.sqrt(0.5**2 + 0.4**2 + 0.3**2)
    for epsilon in (0.1, 1.0, 3.0):
        exact = numerics.hockey_stick(0.9, total, epsilon)
        assert float(spent.delta(epsilon)) == pytest.approx(exact, rel=1e-9)
    for alpha in (1.5, 2.0, 8.0):
        assert numerics.renyi(0.9, total, alpha) == pytest.approx(alpha * spent.mu**2 / 2, rel=1e-9)


def divergence(before: np.ndarray, after: np.ndarray, epsilon: float, cell: float) -> float:
    return float(np.maximum(before - math.exp(epsilon) * after, 0).sum() * cell)


@each("clip", [0.2, 0.5, 1.0])
@each("y", [-3.0, 0.0, 0.4])
def test_no_pair_of_clipped_chains_exceeds_the_gaussian_profile(clip: float, y: float) -> None:
    """d = 1, densities propagated on a grid through clipped steps (nonexpansive, not affine), record 2 replaced."""
    grid = np.linspace(-6, 6, 1201)
    cell = grid[1] - grid[0]
    stds, rate = np.array([0.03, 0.25, 0.15, 0.3]), 1.5

    def kernel(target: float, std: float) -> np.ndarray:
        mean = grid - rate * np.clip(grid - target, -clip, clip)
        return np.exp(-((grid[:, None] - mean[None, :]) ** 2) / (2 * std**2)) / (math.sqrt(2 * math.pi) * std)

    def output(targets: list[float]) -> np.ndarray:
        density = np.exp(-(grid**2) / (2 * stds[0] ** 2)) / (math.sqrt(2 * math.pi) * stds[0])
        for target, std in zip(targets, stds[1:]):
            density = kernel(target, std) @ density * cell
        return density

    one, two = output([50.0, y, y]), output([-50.0, y, y])
    moved = np.array([0.0, 2 * rate * clip, 0.0, 0.0])
    spent = amplification_by_iteration(moved, stds)
    assert one.sum() * cell == pytest.approx(1, abs=1e-6)  # no mass leaves the grid
    for epsilon in (0.0, 0.5, 2.0, 6.0):
        assert divergence(one, two, epsilon, cell) <= float(spent.delta(epsilon)) * (1 + 1e-4) + 1e-9
    if y == -3.0 and clip == 0.2:  # all steps clipped: translations, and the bound is attained
        assert divergence(one, two, 0.5, cell) >= 0.95 * float(spent.delta(0.5))


@pytest.mark.parametrize("bad", [np.array([-1.0]), np.array([math.nan]), np.array([math.inf]), np.zeros(0)])
def test_bad_arguments(bad: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"^sensitivities must be finite and non-negative, at least one, got"):
        spent_by_record(bad, np.ones(1))
    with pytest.raises(ValueError, match=r"^noise_stds must be finite and non-negative, at least one, got"):
        spent_by_record(np.ones(1), bad)
    first = bad[0] if bad.size else "none"
    with pytest.raises(ValueError, match=rf"at least one, got {first}$"):
        spent_by_record(np.append(np.ones(1200), bad) if bad.size else bad, np.ones(1201))
    with pytest.raises(ValueError, match=r"^noise_stds must have 2 steps like sensitivities, got 3"):
        spent_by_record(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match=r"^mu must be positive"):
        amplification_by_iteration(np.zeros(2), np.ones(2))
