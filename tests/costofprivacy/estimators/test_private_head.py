import math

import numpy as np
import pytest

from costofprivacy.estimators import PrivateHeadRegressor
from costofprivacy.noisyhead import best_head, covariance_head, token_laws, whitened_descent, whitened_plan
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.privacy import ApproximateDP
from tests.costofprivacy.estimators import conformance
from tests.each import each

pytestmark = pytest.mark.filterwarnings("ignore:random_state=:costofprivacy.privacy.PrivacyWarning")

UNKNOWN = token_laws.unknown(3, 10.0, rng=np.random.default_rng(5))


def drawn(N: int, law: token_laws.TokenLaw = UNKNOWN, seed: int = 0) -> Prompts:
    return token_laws.sample(law, N, 40, rng=np.random.default_rng(seed))


@each("check", [*conformance.CHECKS, *conformance.PRIVACY_CHECKS])
def test_it_conforms(check):
    check(PrivateHeadRegressor(epsilon=8.0, delta=1e-6))


EVERY = (*conformance.CHECKS, *conformance.PRIVACY_CHECKS)
OF_THE_LAST = conformance.check_what_it_learns_follows_the_responses  # it turns the last response alone


@each("check", [c for c in EVERY if c is not OF_THE_LAST])
def test_asking_every_token_it_conforms_where_no_token_is_told_apart(check):
    check(PrivateHeadRegressor(epsilon=8.0, delta=1e-6, queries="every"))


@each("check", [c for c in EVERY if c is not OF_THE_LAST])
def test_of_the_covariance_alone_it_conforms_where_no_response_is_looked_at(check):
    check(PrivateHeadRegressor(epsilon=8.0, delta=1e-6, tasks="isotropic", spread=0.0))


def test_of_the_covariance_alone_it_is_the_release_of_covariance_head():
    data, budget = drawn(200), ApproximateDP(2.0, 1e-5)
    known = {"tasks": "isotropic", "spread": 2.0, "label_noise": 0.5, "feature_norm": 2.0}
    fitted = PrivateHeadRegressor(epsilon=2.0, delta=1e-5, random_state=7, **known).fit(data.x, data.y)
    moment = covariance_head.token_moment(data.x / 2.0)
    rng = np.random.default_rng(7)
    head = covariance_head.release(moment, 200, 40, budget.to_gaussian(), 2.0, 0.5, rng=rng)
    np.testing.assert_array_equal(fitted.Gamma_, head)
    assert not hasattr(fitted, "plan_")
    assert fitted.profile_.honours_claim()
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
    assert fitted.profile_.honours_claim()
    assert fitted.profile_.every_iterate.epsilon(1e-5) == pytest.approx(2.0, rel=1e-6)
    context = np.einsum("nl,nld->nd", data.y[:, :-1], data.x[:, :-1]) / 40
    wanted = np.einsum("nd,de,ne->n", data.x[:, -1], head, context)
    np.testing.assert_allclose(fitted.predict(data.x, data.y), wanted, rtol=1e-9)


@pytest.mark.parametrize("queries", ["last", "every"])
def test_a_change_of_units_is_undone_by_the_public_scales(queries):
    data = drawn(500)
    plain = PrivateHeadRegressor(epsilon=1.0, delta=1e-6, random_state=0, queries=queries).fit(data.x, data.y)
    known = {"feature_norm": 4.0, "response_scale": 50.0}
    stated = PrivateHeadRegressor(epsilon=1.0, delta=1e-6, random_state=0, queries=queries, **known)
    stated.fit(4 * data.x, 50 * data.y)
    np.testing.assert_allclose(stated.Gamma_, plain.Gamma_, rtol=1e-8)
    np.testing.assert_allclose(stated.predict(4 * data.x, 50 * data.y), 50 * plain.predict(data.x, data.y), rtol=1e-8)


def test_prompts_beyond_all_bounds_are_answered_by_a_number():
    data = drawn(100)
    fitted = PrivateHeadRegressor(epsilon=1.0, delta=1e-6, random_state=0).fit(data.x, data.y)
    for size in (0.0, 5e-324, 1e150, 1e300):
        x, y = size * np.sign(data.x), size * np.sign(data.y)
        assert np.isfinite(fitted.predict(x, y)).all()
        assert np.isfinite(PrivateHeadRegressor(epsilon=1.0, delta=1e-6, random_state=0).fit(x, y).Gamma_).all()


def test_releases_differ_by_as_much_noise_as_they_must():
    """Without data in them, so that nothing is learnt, two budgets differ by their noise."""
    void = np.zeros((1000, 5, 2)), np.zeros((1000, 5))
    heads = [PrivateHeadRegressor(epsilon=1.0, delta=1e-6, random_state=seed).fit(*void).Gamma_ for seed in range(50)]
    assert np.std(heads) > 0
    assert abs(np.mean(heads)) < 5 * np.std(heads) / math.sqrt(200)


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
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PrivateHeadRegressor(**{"epsilon": 1.0, "delta": 1e-6} | wrong).fit(data.x, data.y)


def test_of_the_covariance_alone_it_learns_nothing_of_responses():
    """Why it is not held to answer the opposite where responses are turned."""
    with pytest.raises(AssertionError, match="follow the responses"):
        OF_THE_LAST(PrivateHeadRegressor(epsilon=8.0, delta=1e-6, tasks="isotropic"))
    data = drawn(200)
    one, two = (
        PrivateHeadRegressor(epsilon=1.0, delta=1e-6, tasks="isotropic", random_state=0).fit(data.x, y).Gamma_
        for y in (data.y, 0 * data.y)
    )
    np.testing.assert_array_equal(one, two)


def test_a_fit_of_the_covariance_forgets_an_earlier_plan():
    data = drawn(100)
    model = PrivateHeadRegressor(epsilon=1.0, delta=1e-6, random_state=0).fit(data.x, data.y)
    assert not hasattr(model.set_params(tasks="isotropic").fit(data.x, data.y), "plan_")


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
    assert len(PrivateHeadRegressor(epsilon=1.0, delta=1e-6, steps=2).fit(data.x, data.y).plan_.gains) == 2
