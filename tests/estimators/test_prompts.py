import math

import numpy as np
import pytest

from costofprivacy.estimators import NoisyHeadRegressor, conformance
from costofprivacy.noisyhead import head, population, pretraining, recipes
from costofprivacy.noisyhead.prompts import PromptModel, sample


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("account", ["last iterate", "every iterate"])
def test_it_conforms(check, account):
    check(NoisyHeadRegressor(epsilon=8.0, delta=1e-6, account=account))


class Idle(NoisyHeadRegressor):
    """Its ``fit`` does nothing but what the interface asks for."""

    def fit(self, X, y):
        super().fit(X[:1], y[:1])
        self.Gamma_ = np.zeros_like(self.Gamma_)
        return self


class Deaf(NoisyHeadRegressor):
    """It answers well without having looked at the data."""

    def fit(self, X, y):
        super().fit(X, y)
        self.Gamma_ = population.ridge_scale(conformance.MODEL, 0.0) * np.eye(X.shape[2])
        return self


@pytest.mark.parametrize("impostor", [Idle, Deaf])
def test_an_estimator_that_does_not_learn_fails(impostor):
    with pytest.raises(AssertionError):
        conformance.check_prompt_regressor(impostor(epsilon=8.0, delta=1e-6))


def test_the_idle_one_fails_by_what_it_does_not_learn():
    with pytest.raises(AssertionError, match="R² must be at least"):
        conformance.check_learns(Idle(epsilon=8.0))
    with pytest.raises(AssertionError, match="follow the responses"):
        conformance.check_what_it_learns_follows_the_responses(Deaf(epsilon=8.0))


def test_it_is_algorithm_1_with_the_hyperparameters_given():
    N, model = 500, PromptModel(3, 20, 0.2)
    data = sample(model, N, rng=np.random.default_rng(0))
    hyper = recipes.low_dimension(model, N, 1.0, 5.0)["corrected"]
    asked = {"clip_norm": hyper.clip_norm, "feature_bound": hyper.feature_bound, "weight_bound": hyper.weight_bound}
    asked |= {"penalty": 2 * hyper.penalty, "learning_rate": hyper.learning_rate, "steps": hyper.steps}
    fitted = NoisyHeadRegressor(**asked, random_state=5).fit(data.x, data.y)
    assert fitted.hyperparameters_ == hyper
    moments = head.moments(head.project(head.statistics(data, hyper.clip_norm), hyper.feature_bound))
    plain = pretraining.pretrain(moments, hyper, [0.0], rng=np.random.default_rng(0))[0]
    runs = [NoisyHeadRegressor(**asked, random_state=seed).fit(data.x, data.y).Gamma_ for seed in range(400)]
    error = np.std(runs, axis=0) / math.sqrt(400)
    assert (np.abs(np.mean(runs, axis=0) - plain) < 5 * error).all()
    square = (1 - hyper.learning_rate * 2 * hyper.penalty) ** 2
    most = fitted.noise_std_ * math.sqrt((1 - square**hyper.steps) / (1 - square))
    assert 0.9 < np.std(runs) / most < 1.1  # the curvature of the data takes off a little


def test_the_moments_do_not_depend_on_how_many_prompts_are_held_at_a_time(monkeypatch):
    data = sample(PromptModel(2, 10), 300, rng=np.random.default_rng(0))
    one = NoisyHeadRegressor(random_state=0).fit(data.x, data.y)
    monkeypatch.setattr("costofprivacy.estimators.prompts.NUMBERS", 40)
    np.testing.assert_allclose(NoisyHeadRegressor(random_state=0).fit(data.x, data.y).Gamma_, one.Gamma_, rtol=1e-8)


def test_public_scales_undo_a_change_of_units():
    data = sample(PromptModel(2, 10), 3000, rng=np.random.default_rng(0))
    plain = NoisyHeadRegressor(random_state=0).fit(data.x, data.y)
    stated = NoisyHeadRegressor(random_state=0, feature_norm=4.0, response_scale=50.0).fit(4 * data.x, 50 * data.y)
    np.testing.assert_allclose(stated.Gamma_, plain.Gamma_, rtol=1e-8)
    np.testing.assert_allclose(stated.predict(4 * data.x, 50 * data.y), 50 * plain.predict(data.x, data.y), rtol=1e-8)


@pytest.mark.parametrize("size", [1.0, 1e10, 1e200])
def test_no_prompt_is_longer_than_the_sensitivity_assumes(size):
    rng = np.random.default_rng(0)
    x, y = size * rng.standard_normal((200, 6, 3)), size * rng.standard_normal((200, 6))
    fitted = NoisyHeadRegressor(random_state=0).fit(x, y)
    seen = fitted._statistics(x, y, fitted.hyperparameters_)
    assert np.linalg.norm(seen.Z, axis=(1, 2)).max() <= fitted.hyperparameters_.feature_bound * (1 + 1e-12)
    assert np.abs(seen.response).max() <= fitted.hyperparameters_.clip_norm
    assert np.linalg.norm(fitted.Gamma_) <= fitted.hyperparameters_.weight_bound * (1 + 1e-12)


def test_releasing_every_iterate_asks_for_more_noise_and_is_then_within_the_claim():
    data = sample(PromptModel(2, 10), 300, rng=np.random.default_rng(0))
    asked = {"penalty": 0.1, "steps": 50, "random_state": 0}
    last = NoisyHeadRegressor(**asked).fit(data.x, data.y)
    every = NoisyHeadRegressor(**asked, account="every iterate").fit(data.x, data.y)
    assert every.noise_std_ > last.noise_std_
    assert every.profile_.honours_claim()
    assert not last.profile_.honours_claim()
