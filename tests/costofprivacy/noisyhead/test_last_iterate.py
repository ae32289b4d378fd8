"""The released weights drawn at once, held against the algorithm step by step."""

from dataclasses import replace

import numpy as np

from costofprivacy.noisyhead import dynamics, head, pretraining
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel

MODEL = PromptModel(D=2, L=6)
DATA = head.moments(head.sample_statistics(MODEL, 30, rng=np.random.default_rng(0))[0])
HYPER = Hyperparameters(clip_norm=2.0, feature_bound=1.0, weight_bound=1e6, penalty=0.3, learning_rate=0.4, steps=2)
DRAWS = 4000


def drawn(hyper: Hyperparameters, std: float) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.stack([dynamics.simulate(DATA, hyper, std, rng=rng).ravel() for _ in range(DRAWS)])


def run(hyper: Hyperparameters, std: float) -> np.ndarray:
    rng = np.random.default_rng(2)
    return np.stack([pretraining.pretrain(DATA, hyper, [std], rng=rng)[0].ravel() for _ in range(DRAWS)])


def distance(left: np.ndarray, right: np.ndarray) -> float:
    """Largest difference of means and of covariances in standard errors."""
    spread = np.sqrt((left.var(axis=0) + right.var(axis=0)) / DRAWS)
    means = np.abs(left.mean(axis=0) - right.mean(axis=0)) / spread
    a, b = np.cov(left.T), np.cov(right.T)
    scale = np.sqrt(np.outer(np.diag(a), np.diag(a))) * np.sqrt(2 * 2 / DRAWS)
    return float(max(means.max(), (np.abs(a - b) / scale).max()))


def test_it_has_the_law_of_the_algorithm_and_no_other() -> None:
    assert distance(drawn(HYPER, 0.1), run(HYPER, 0.1)) < 4
    assert distance(drawn(replace(HYPER, steps=3), 0.1), run(HYPER, 0.1)) > 6
    assert distance(drawn(HYPER, 0.12), run(HYPER, 0.1)) > 6


def test_without_noise_it_is_gradient_descent() -> None:
    released = dynamics.simulate(DATA, HYPER, 0.0, rng=np.random.default_rng(3))
    np.testing.assert_allclose(released, pretraining.gradient_descent(DATA, HYPER), rtol=1e-12)
