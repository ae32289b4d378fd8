import math

import numpy as np
import pytest

from costofprivacy.noisyhead import best_head, covariance_head, token_laws
from costofprivacy.noisyhead.token_laws import GAUSSIAN
from costofprivacy.privacy import GaussianDP
from tests.each import each

UNKNOWN = token_laws.unknown(3, 10.0, rng=np.random.default_rng(5))
FREE = GaussianDP(math.inf)


def moment_of(x: np.ndarray, C: float) -> np.ndarray:
    """Prompt by prompt and token by token."""
    total = np.zeros((x.shape[2],) * 2)
    for prompt in x:
        S = sum(np.outer(token, token) for token in prompt) / len(prompt)
        total += S * min(1.0, C / np.linalg.norm(S)) / len(x)
    return total


@each("C", [0.3, 1.0, 50.0])
def test_the_moment_is_the_mean_of_clipped_ones(C: float) -> None:
    x = token_laws.sample(UNKNOWN, 40, 6, rng=np.random.default_rng(0)).x
    np.testing.assert_allclose(covariance_head.token_moment(x, C), moment_of(x, C), rtol=1e-10, atol=1e-14)


def test_without_noise_it_is_the_best_head_of_the_moment() -> None:
    rng = np.random.default_rng(0)
    x = token_laws.sample(UNKNOWN, 500, 30, rng=rng).x
    A = covariance_head.token_moment(x)
    head = covariance_head.release(A, 500, 30, FREE, GAUSSIAN, 0.5, rng=rng)
    wanted = np.linalg.inv((1 + 1 / 30) * A + (np.trace(A) + 0.25) / 30 * np.eye(3))
    np.testing.assert_allclose(head, wanted, rtol=1e-9)
    exact = covariance_head.release(UNKNOWN.covariance, 500, 30, FREE, GAUSSIAN, rng=rng)
    np.testing.assert_allclose(exact, best_head.best_head(UNKNOWN, 30), rtol=1e-9)


def test_the_noise_is_that_of_its_sensitivity_and_floored() -> None:
    """With L → ∞ the head is the inverse of the noisy moment, whose law is then seen."""
    N, budget, C, rng = 20, GaussianDP(50.0), 0.5, np.random.default_rng(2)
    std = covariance_head.noise_std(N, budget, C)
    assert std == pytest.approx(math.sqrt(2) * C / (20 * 50))
    A = C * np.diag([0.4, 0.6])

    def once() -> np.ndarray:
        head = covariance_head.release(A, N, 10**12, budget, GAUSSIAN, clip_norm=C, rng=rng)
        return (np.linalg.inv(head) - A) / std

    noise = np.array([once() for _ in range(1500)])
    seen = np.column_stack([noise[:, 0, 0], noise[:, 1, 1], math.sqrt(2) * noise[:, 0, 1]])
    np.testing.assert_allclose(seen.T @ seen / 1500, np.eye(3), atol=0.15)
    poor = covariance_head.release(np.zeros((2, 2)), N, 10**12, budget, GAUSSIAN, clip_norm=C, rng=rng)
    assert np.linalg.norm(poor, 2) <= 1 / (covariance_head.FLOOR * std) * (1 + 1e-6)


def test_the_sensitivity_is_attained() -> None:
    x = np.zeros((5, 4, 2))
    along, across = x.copy(), x.copy()
    along[0, :, 0] = across[0, :, 1] = 10.0
    moved = covariance_head.token_moment(along) - covariance_head.token_moment(across)
    assert np.linalg.norm(moved) == pytest.approx(math.sqrt(2) * covariance_head.CLIP_NORM / 5)


@each("wrong", [math.nan, math.inf, -1e200])
def test_a_prompt_that_is_not_finite_counts_as_0(wrong: float) -> None:
    x = token_laws.sample(UNKNOWN, 6, 4, rng=np.random.default_rng(0)).x
    changed, void = x.copy(), x.copy()
    changed[2, 1, 0] = wrong
    void[2] = 0.0
    np.testing.assert_array_equal(covariance_head.token_moment(changed), covariance_head.token_moment(void))
