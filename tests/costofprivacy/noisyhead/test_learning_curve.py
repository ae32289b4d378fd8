from dataclasses import replace

import numpy as np
import pytest

from costofprivacy.noisyhead import dynamics, population, recipes
from costofprivacy.noisyhead.dynamics import noise_limit, noiseless_gain
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.settings import Setting
from tests import oracles

MODEL = PromptModel(D=3, L=15, label_noise=0.4)
HYPER = Hyperparameters(50.0, 50.0, 1e6, 0.2, 0.8, 25)  # nothing is clipped or projected


@pytest.mark.parametrize("penalty", [1e-6, 0.05, 3.0])
def test_on_many_prompts_it_ends_at_the_ridge_solution_of_the_population(penalty: float) -> None:
    hyper = replace(HYPER, penalty=penalty / 2, learning_rate=0.3)
    found = noiseless_gain(hyper, MODEL, 10**13, np.array([10**9]))[0]
    assert 1.16 - found == pytest.approx(population.ridge_prediction_error(MODEL, penalty), rel=1e-9)


def test_it_is_the_mean_of_the_literal_algorithm_on_data() -> None:
    """In law, from prompts drawn one by one; a learning rate or penalty that is off is found out."""
    N, trials, rng = 400, 60, np.random.default_rng(3)
    steps = np.zeros((2, 3, 3))
    told = (HYPER.clip_norm, HYPER.feature_bound, HYPER.weight_bound, HYPER.penalty, HYPER.learning_rate)
    gains = []
    for _ in range(trials):
        data = sample(MODEL, N, rng=rng)
        Gamma = oracles.noisyhead(data.x, data.y, *told, steps, np.zeros((3, 3)))
        gains.append(1.16 - population.prediction_error(MODEL, Gamma))
    mean, error = np.mean(gains), np.std(gains, ddof=1) / np.sqrt(trials)
    found, wrong, other = (
        noiseless_gain(hyper, MODEL, N, np.array([len(steps)]))[0]
        for hyper in (HYPER, replace(HYPER, penalty=0.5), replace(HYPER, learning_rate=0.5))
    )
    assert abs(found - mean) < 4 * error
    assert abs(wrong - mean) > 8 * error
    assert abs(other - mean) > 8 * error


@pytest.mark.parametrize("std", [0.02, 0.1, 0.5, 20.0])
def test_noise_adds_at_most_the_less_of_its_limit_and_of_what_it_would_be_without_projection(std: float) -> None:
    """The chain Γ ← Π_R((1 − η₀(2λ + h))Γ + z) itself, many times over: never above, and close to the bound."""
    hyper, h = replace(HYPER, weight_bound=1.0), dynamics.curvature(MODEL)
    rng, Gamma = np.random.default_rng(1), np.zeros((20_000, 9))
    for _ in range(hyper.steps):
        Gamma = (1 - hyper.learning_rate * (2 * hyper.penalty + h)) * Gamma + std * rng.standard_normal(Gamma.shape)
        norms = np.linalg.norm(Gamma, axis=1, keepdims=True)
        Gamma *= np.minimum(1.0, hyper.weight_bound / norms)
    added = h * (Gamma**2).sum(axis=1).mean()
    bound = min(noise_limit(hyper, MODEL), dynamics.noise_risk(hyper, MODEL, std, h))
    assert added < 1.02 * bound
    assert added > 0.75 * bound


def test_the_limit_of_the_corrected_radius_does_not_grow_as_the_penalty_falls_faster_than_its_inverse() -> None:
    """h C²/(4λ) with R = C/(2√λ)."""
    model = recipes.square_model(5, 1000, 0.0)
    hyper = recipes.low_dimension(model, 1000, 1.0, 5.0)[Setting.CORRECTED]
    assert noise_limit(hyper, model) == pytest.approx(dynamics.curvature(model) * hyper.clip_norm**2 / 20, rel=1e-12)
