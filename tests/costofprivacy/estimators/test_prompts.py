"""The heads as estimators: conformance, the algorithms that they are, scales, and what their noise is for."""

import math

import numpy as np
import pytest

from costofprivacy.estimators import NoisyHeadRegressor, PrivateHeadRegressor
from costofprivacy.noisyhead import (
    accounts,
    best_head,
    covariance_head,
    head,
    population,
    pretraining,
    recipes,
    token_laws,
    whitened_descent,
    whitened_plan,
)
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.prompts import PromptModel, Prompts, sample
from costofprivacy.privacy import ApproximateDP, sums
from tests.costofprivacy.estimators import conformance
from tests.each import each, refused


@each("check", [*conformance.CHECKS, *conformance.PRIVACY_CHECKS])
@pytest.mark.parametrize("account", ["last iterate", pytest.param("every iterate", marks=pytest.mark.slow)])
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


def test_the_idle_one_fails_by_what_it_does_not_learn():
    with pytest.raises(AssertionError, match="R² must be at least"):
        conformance.check_learns(Idle(epsilon=8.0, delta=1e-6))
    with pytest.raises(AssertionError, match="follow the responses"):
        conformance.check_what_it_learns_follows_the_responses(Deaf(epsilon=8.0, delta=1e-6))


def test_it_is_algorithm_1_with_the_hyperparameters_given():
    N, model = 500, PromptModel(3, 20, 0.2)
    data = sample(model, N, rng=np.random.default_rng(0))
    hyper = recipes.low_dimension(model, N, 1.0, 5.0)["corrected"]
    asked = {
        "epsilon": 1.0,
        "delta": 1e-6,
        "clip_norm": hyper.clip_norm,
        "feature_bound": hyper.feature_bound,
        "weight_bound": hyper.weight_bound,
    }
    asked |= {"penalty": 2 * hyper.penalty, "learning_rate": hyper.learning_rate, "steps": hyper.steps}
    fitted = NoisyHeadRegressor(**asked, random_state=5).fit(data.x, data.y)
    assert fitted.hyperparameters_ == hyper
    moments = head.moments(head.project(head.statistics(data, hyper.clip_norm), hyper.feature_bound))
    plain = pretraining.pretrain(moments, hyper, [0.0], rng=np.random.default_rng(0))[0]
    runs = [NoisyHeadRegressor(**asked, random_state=seed).fit(data.x, data.y).Gamma_ for seed in range(200)]
    error = np.std(runs, axis=0) / math.sqrt(200)
    assert (np.abs(np.mean(runs, axis=0) - plain) < 5 * error).all()
    square = (1 - hyper.learning_rate * 2 * hyper.penalty) ** 2
    most = fitted.noise_std_ * math.sqrt((1 - square**hyper.steps) / (1 - square))
    assert 0.9 < np.std(runs) / most < 1.1  # the curvature of the data takes off a little


@pytest.mark.parametrize("N", [300, 513, 3000])
def test_the_moments_are_those_of_all_prompts_at_once(N):
    data = sample(PromptModel(2, 10), N, rng=np.random.default_rng(0))
    fitted = NoisyHeadRegressor(epsilon=1.0, delta=1e-6, random_state=0).fit(data.x, data.y)
    hyper = fitted.hyperparameters_
    found, whole = fitted._moments(data.x, data.y, hyper), head.moments(fitted._statistics(data.x, data.y, hyper))
    np.testing.assert_array_equal(found.gram, whole.gram)
    np.testing.assert_array_equal(found.cross, whole.cross)


def test_the_noise_pays_for_the_rounding_of_sums():
    data = sample(PromptModel(2, 10), 2000, rng=np.random.default_rng(0))
    fitted = NoisyHeadRegressor(epsilon=1.0, delta=1e-6).fit(data.x, data.y)
    budget = ApproximateDP(fitted.epsilon, fitted.delta)
    exact = accounts.noise_std(fitted.account, fitted.hyperparameters_, budget, 2000, fitted.hyperparameters_.steps)
    assert fitted.noise_std_ == exact * (1 + sums.slack(2000, 4)) > exact


@pytest.mark.parametrize("kind", [NoisyHeadRegressor, PrivateHeadRegressor])
def test_a_void_prompt_counts_as_one_of_zeros(kind):
    data = sample(PromptModel(2, 10), 700, rng=np.random.default_rng(0))
    x, y = data.x.copy(), data.y.copy()
    x[600], y[600] = 0, 0
    wanted = kind(epsilon=1.0, delta=1e-6, random_state=0).fit(x, y)
    x[600, 4, 1] = math.nan
    found = kind(epsilon=1.0, delta=1e-6, random_state=0, not_finite="void").fit(x, y)
    np.testing.assert_array_equal(found.Gamma_, wanted.Gamma_)
    assert found.predict(x, y)[600] == 0
    y[3, 2] = -math.inf
    assert np.isfinite(found.fit(x, y).Gamma_).all()


def test_releasing_every_iterate_asks_for_more_noise_and_is_then_within_the_claim():
    data = sample(PromptModel(2, 10), 300, rng=np.random.default_rng(0))
    asked = {"epsilon": 1.0, "delta": 1e-6, "penalty": 0.1, "steps": 50, "random_state": 0}
    last = NoisyHeadRegressor(**asked).fit(data.x, data.y)
    every = NoisyHeadRegressor(**asked, account="every iterate").fit(data.x, data.y)
    assert every.noise_std_ > last.noise_std_
    assert every.profile_.every_iterate.epsilon(1e-6) <= 1 + 1e-9 < last.profile_.every_iterate.epsilon(1e-6)


@each(
    ("wrong", "message"),
    [
        ({"clip_norm": 1e-200}, "clip_norm"),
        ({"feature_norm": 1e-200}, "feature_norm"),
        ({"learning_rate": 1e170}, "learning_rate"),
        ({"learning_rate": 1e10}, r"learning_rate.*too large or too small"),  # there is no number for its noise
    ],
)
def test_public_numbers_beyond_doubles_are_refused(wrong, message):
    data = sample(PromptModel(2, 10), 20, rng=np.random.default_rng(0))
    refused(message, NoisyHeadRegressor(epsilon=1.0, delta=1e-6, **wrong).fit, data.x, data.y)


# --------------------------------------------------------------------------------------------- the private head

UNKNOWN = token_laws.unknown(3, 10.0, rng=np.random.default_rng(5))


def drawn(N: int, law: token_laws.TokenLaw = UNKNOWN, seed: int = 0) -> Prompts:
    return token_laws.sample(law, N, 40, rng=np.random.default_rng(seed))


OWN = (
    conformance.check_learns,
    conformance.check_one_prompt_moves_little,
    conformance.check_no_state_beyond_the_release,
)


@each("check", [*conformance.CHECKS, *conformance.PRIVACY_CHECKS])
def test_a_private_head_conforms(check):
    check(PrivateHeadRegressor(epsilon=8.0, delta=1e-6))


@each("check", OWN)  # what is not in the code that all heads share
@each("asked", [{"queries": "every"}, {"tasks": "isotropic", "spread": 0.0}])
def test_its_other_ways_to_learn_conform(check, asked):
    check(PrivateHeadRegressor(epsilon=8.0, delta=1e-6, **asked))


def test_of_the_covariance_alone_it_is_the_release_of_covariance_head():
    data, budget = drawn(200), ApproximateDP(2.0, 1e-5)
    known = {"tasks": "isotropic", "spread": 2.0, "label_noise": 0.5, "feature_norm": 2.0}
    fitted = PrivateHeadRegressor(epsilon=2.0, delta=1e-5, random_state=7, **known).fit(data.x, data.y)
    moment = covariance_head.token_moment(data.x / 2.0)
    rng = np.random.default_rng(7)
    head = covariance_head.release(moment, 200, 40, budget.to_gaussian(), 2.0, 0.5, rng=rng)
    np.testing.assert_array_equal(fitted.Gamma_, head)
    assert not hasattr(fitted, "plan_")
    assert fitted.profile_.every_iterate.epsilon(1e-5) == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize(("queries", "every_token"), [("last", False), ("every", True)])
def test_it_is_the_release_of_whitened_descent(queries, every_token):
    data, budget = drawn(200), ApproximateDP(2.0, 1e-5)
    fitted = PrivateHeadRegressor(epsilon=2.0, delta=1e-5, queries=queries, steps=3, random_state=7).fit(data.x, data.y)
    told = whitened_plan.plan(3, 40, 200, budget.to_gaussian(), every_token=every_token, steps=3)
    seen = examples(data, every_token=every_token)
    head = whitened_descent.release(seen, told, rng=np.random.default_rng(7))
    np.testing.assert_array_equal(fitted.Gamma_, head)
    assert fitted.plan_ == told
    assert (fitted.n_features_in_, fitted.n_prompts_) == (3, 200)
    assert fitted.profile_.every_iterate.epsilon(1e-5) == pytest.approx(2.0, rel=1e-6)
    context = np.einsum("nl,nld->nd", data.y[:, :-1], data.x[:, :-1]) / 40
    wanted = np.einsum("nd,de,ne->n", data.x[:, -1], head, context)
    np.testing.assert_allclose(fitted.predict(data.x, data.y), wanted, rtol=1e-9)


@pytest.mark.parametrize(
    ("kind", "asked"),
    [(NoisyHeadRegressor, {}), *((PrivateHeadRegressor, {"queries": queries}) for queries in ("last", "every"))],
)
def test_a_change_of_units_is_undone_by_the_public_scales(kind, asked):
    data = drawn(500)
    plain = kind(epsilon=1.0, delta=1e-6, random_state=0, **asked).fit(data.x, data.y)
    known = {"feature_norm": 4.0, "response_scale": 50.0}
    stated = kind(epsilon=1.0, delta=1e-6, random_state=0, **asked, **known).fit(4 * data.x, 50 * data.y)
    np.testing.assert_allclose(stated.Gamma_, plain.Gamma_, rtol=1e-8)
    np.testing.assert_allclose(stated.predict(4 * data.x, 50 * data.y), 50 * plain.predict(data.x, data.y), rtol=1e-8)


def test_prompts_beyond_all_bounds_are_answered_by_a_number():
    data = drawn(100)
    fitted = PrivateHeadRegressor(epsilon=1.0, delta=1e-6, random_state=0).fit(data.x, data.y)
    for size in (0.0, 5e-324, 1e300):
        x, y = size * np.sign(data.x), size * np.sign(data.y)
        assert np.isfinite(fitted.predict(x, y)).all()
        assert np.isfinite(PrivateHeadRegressor(epsilon=1.0, delta=1e-6, random_state=0).fit(x, y).Gamma_).all()


@each(
    "wrong",
    [
        {"queries": "all"},
        {"tasks": "alike"},
        {"spread": -1.0},
        {"label_noise": -0.1},
        {"steps": 0},
        {"steps": 1.5},
        {"feature_norm": 0.0},
        {"feature_norm": math.inf},
        {"epsilon": 0},
    ],
)
def test_inadmissible_arguments_are_refused(wrong):
    data = drawn(20)
    refused(next(iter(wrong)), PrivateHeadRegressor(**{"epsilon": 1.0, "delta": 1e-6} | wrong).fit, data.x, data.y)


def test_of_the_covariance_alone_it_learns_nothing_of_responses():
    """Why it is not held to answer the opposite where responses are turned."""
    with pytest.raises(AssertionError, match="follow the responses"):
        conformance.check_what_it_learns_follows_the_responses(
            PrivateHeadRegressor(epsilon=8.0, delta=1e-6, tasks="isotropic")
        )
    data = drawn(200)
    one, two = (
        PrivateHeadRegressor(epsilon=1.0, delta=1e-6, tasks="isotropic", random_state=0).fit(data.x, y).Gamma_
        for y in (data.y, 0 * data.y)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("known", [{"queries": "last"}, {"queries": "every"}, {"tasks": "isotropic"}])
def test_what_it_learns_follows_the_data(known):
    """Fitted on one law of features it answers that law better than one fitted on another does, and conversely."""
    laws = [token_laws.gaussian(np.diag(shares)) for shares in ([0.8, 0.15, 0.05], [0.05, 0.15, 0.8])]
    model = PrivateHeadRegressor(epsilon=8.0, delta=1e-6, random_state=0, **known)
    heads = [model.fit(data.x, data.y).Gamma_ for data in (drawn(4000, law) for law in laws)]
    errors = np.array([[float(best_head.head_error(law, 40, Gamma)) for Gamma in heads] for law in laws])
    assert errors[0, 0] < 0.7 * errors[0, 1]
    assert errors[1, 1] < 0.7 * errors[1, 0]


def test_steps_are_chosen_without_the_data():
    data = drawn(100)
    assert len(PrivateHeadRegressor(epsilon=1.0, delta=1e-6).fit(data.x, data.y).plan_.gains) == whitened_plan.STEPS
    model = PrivateHeadRegressor(epsilon=1.0, delta=1e-6, steps=2).fit(data.x, data.y)
    assert len(model.plan_.gains) == 2
    assert not hasattr(model.set_params(tasks="isotropic").fit(data.x, data.y), "plan_")  # an earlier one is forgotten
