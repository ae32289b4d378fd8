"""An account: every release is charged before it is drawn, whoever makes it, and what does not fit is refused."""

import copy
import math
import pickle
import threading

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import AdaBoostRegressor, BaggingRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from costofprivacy.estimators import (
    Account,
    AccountError,
    ClippedDescentRegressor,
    DPGDRegressor,
    NoisyHeadRegressor,
    ObjectivePerturbationRegressor,
    PrivateHeadRegressor,
    PrivateLinearRegression,
    PrivateSearch,
    gate,
    private_bounds,
)
from costofprivacy.privacy import ApproximateDP
from tests.each import each

pytestmark = [
    pytest.mark.filterwarnings("ignore:no scale of the:costofprivacy.estimators.tabular.ScaleWarning"),
    pytest.mark.filterwarnings("ignore:random_state=:costofprivacy.privacy.PrivacyWarning"),  # ensembles hand out seeds
]
RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 2))
Y = X @ [0.5, -0.5] + 0.3 * RNG.standard_normal(120)
STATED = {"feature_scale": 1.0, "response_scale": 1.0}
MU = ApproximateDP(3.0, 1e-6).to_gaussian().mu
QUARTERS = {"grid": np.linspace(-2, 2, 9), "levels": (0.25, 0.75)}


def model(mu=0.1):
    return DPGDRegressor(mu=mu, schedule="constant", clip=0.3, learning_rate=1.0)


def test_everything_is_charged_and_the_receipt_lists_it():
    prompts = RNG.standard_normal((40, 4, 2))
    with Account(epsilon=3.0, delta=1e-6) as account:
        private_bounds(Y, mu=0.2, **QUARTERS)
        model(0.3).fit(X, Y)
        model(0.1).fit_stream([(X, Y)], n=120)
        PrivateLinearRegression("descent", epsilon=0.5, delta=1e-6, **STATED).fit(X, Y)
        ClippedDescentRegressor(epsilon=0.5, delta=1e-6, **STATED).fit_stream(lambda: [(X, Y)], n=120)
        PrivateSearch(model(None), [{}], epsilon=0.5, delta=1e-6, loss_bound=4.0).fit(X, Y)
    model(50.0).fit(X, Y)  # the account is closed
    half = ApproximateDP(0.5, 1e-6).to_gaussian().mu
    assert account.total.gaussian.mu == pytest.approx(math.sqrt(0.2**2 + 0.3**2 + 0.1**2 + 3 * half**2))
    assert account.left == pytest.approx(math.sqrt(MU**2 - account.total.gaussian.mu**2))
    names = ["private_bounds", "DPGDRegressor", "DPGDRegressor", "PrivateLinearRegression"]
    names += ["ClippedDescentRegressor", "PrivateSearch"]
    assert [each["release"] for each in account.receipt().data()["releases"]] == names
    assert "6 releases, together" in str(account.receipt())
    assert "Not covered: what was computed from the records without noise" in str(account.receipt())
    for head in (NoisyHeadRegressor, PrivateHeadRegressor):
        with Account(epsilon=3.0, delta=1e-4) as account:
            head(epsilon=1.0, delta=1e-5, random_state=0).fit(prompts, prompts[..., 0])
        assert account.receipt().data()["neighbours"] == "replace one prompt"
        assert 0 < account.total.claimed.epsilon <= 3


@pytest.mark.parametrize("asked", [0.9, 1.0])
def test_what_does_not_fit_is_refused_before_anything_is_drawn(asked, monkeypatch):
    with Account(epsilon=3.0, delta=1e-6) as account:
        model(math.sqrt(1 - asked**2 + 1e-12) * MU).fit(X, Y)
        monkeypatch.setattr(gate, "generator", None)
        for release in (
            lambda: model(asked * MU * (1 + 1e-6)).fit(X, Y),
            lambda: model(asked * MU * (1 + 1e-6)).fit_stream([(X, Y)], n=120),
            lambda: private_bounds(Y, mu=asked * MU * (1 + 1e-6), **QUARTERS),
            lambda: PrivateLinearRegression("descent", epsilon=3.0, delta=2e-6, **STATED).fit(X, Y),
            lambda: ObjectivePerturbationRegressor(epsilon=0.1, delta=1e-9, **STATED).fit(X, Y),
            lambda: PrivateSearch(model(None), [{}], epsilon=3.1, delta=1e-6, loss_bound=4.0).fit(X, Y),
        ):
            with pytest.raises(AccountError, match="nothing was drawn"):
                release()
    assert len(account.charges) == 1


def test_a_budget_is_met_exactly_and_not_exceeded():
    with Account(epsilon=3.0, delta=1e-6) as account:
        PrivateLinearRegression("descent", epsilon=3.0, delta=1e-6, **STATED).fit(X, Y)
        with pytest.raises(AccountError):
            model(1e-3).fit(X, Y)
    assert account.total.claimed.epsilon == pytest.approx(3.0, rel=1e-6)


def test_releases_of_both_kinds_need_a_share_that_is_set_aside_before():
    objective = ObjectivePerturbationRegressor(epsilon=1.0, delta=4e-7, **STATED)
    with Account(epsilon=3.0, delta=1e-6, approximate=0.5) as account:
        model(0.2).fit(X, Y)
        objective.fit(X, Y)
        with pytest.raises(AccountError, match="a larger share approximate="):
            objective.fit(X, Y)
        most = ApproximateDP(1.5, 5e-7).to_gaussian().mu
        assert account.left == pytest.approx(math.sqrt(most**2 - 0.2**2))
        assert account.left_approximate == pytest.approx((0.5, 1e-7))
    assert account.total.gaussian is None
    with Account(epsilon=3.0, delta=1e-6) as account:  # the first decides: ε and δ are added
        objective.fit(X, Y)
        PrivateLinearRegression("descent", epsilon=2.0, delta=6e-7, **STATED).fit(X, Y)
        with pytest.raises(AccountError):
            model(1e-3).fit(X, Y)
    assert (account.total.claimed.epsilon, account.left) == (3.0, 0.0)


def test_records_and_units_are_not_added():
    with Account(epsilon=3.0, delta=1e-6) as account:
        unit = {"unit": range(120)}
        model(0.1).set_params(most_per_unit=1).fit(X, Y, **unit)
        private_bounds(Y, mu=0.5, most_per_unit=1, **unit, **QUARTERS)
        with pytest.raises(AccountError, match="must protect the same neighbours"):
            model(0.1).fit(X, Y)
    assert account.total.neighbours == "replace all records of one unit"


# ---- Scikit-learn's loops ----


def test_cross_validation_grids_and_bagging_are_charged():
    with Account(epsilon=3.0, delta=1e-6) as account:
        cross_val_score(make_pipeline(FunctionTransformer(), model()), X, Y, cv=4)
        assert len(account.charges) == 4
        GridSearchCV(model(), {"clip": [0.1, 0.3]}, cv=2).fit(X, Y)
        assert len(account.charges) == 4 + 5
        BaggingRegressor(model(), n_estimators=3, bootstrap=False, max_samples=0.5).fit(X, Y)
        assert len(account.charges) == 4 + 5 + 3
        with joblib.parallel_config(backend="threading", n_jobs=2):
            cross_val_score(model(), X, Y, cv=3, error_score="raise")
        assert len(account.charges) == 4 + 5 + 3 + 3
        with pytest.raises(AccountError):
            cross_val_score(model(0.9 * MU), X, Y, cv=3, error_score="raise")


def test_a_bootstrap_sample_is_refused_but_for_units():
    with Account(epsilon=3.0, delta=1e-6) as account:
        for ensemble in (BaggingRegressor(model(), n_estimators=2), AdaBoostRegressor(model(), n_estimators=2)):
            with pytest.raises(AccountError, match="records are repeated"):
                ensemble.fit(X, Y)
    assert not account.charges


@pytest.mark.slow
def test_another_process_refuses_rather_than_to_spend_uncounted():
    with Account(epsilon=3.0, delta=1e-6) as account:
        with pytest.raises(AccountError, match="open in another process"):
            cross_val_score(model(), X, Y, cv=2, n_jobs=2, error_score="raise")
        with pytest.raises(AccountError, match="open in another process"):
            BaggingRegressor(make_pipeline(model()), n_estimators=2, bootstrap=False, n_jobs=2).fit(X, Y)
    assert not account.charges


@each("estimator", [model(), PrivateSearch(model(None), [{}], epsilon=0.5, delta=1e-6, loss_bound=4.0)])
def test_what_was_sent_elsewhere_remembers_the_account_also_as_a_clone(estimator):
    with Account(epsilon=3.0, delta=1e-6):
        sent = pickle.loads(pickle.dumps(estimator))
    assert not hasattr(pickle.loads(pickle.dumps(estimator)), "_account_of")
    sent.fit(X, Y)  # in this process it may
    sent._account_of = -1
    for one in (sent, clone(sent), copy.deepcopy(sent), pickle.loads(pickle.dumps(sent))):
        with pytest.raises(AccountError, match="another process"):
            one.fit(X, Y)


def test_threads_and_nested_accounts_are_charged_and_none_spends_what_another_spends():
    with Account(epsilon=3.0, delta=1e-6) as outer, Account(epsilon=1.0, delta=1e-6) as inner:
        fits = [threading.Thread(target=lambda: model(0.05).fit(X, Y)) for _ in range(8)]
        for fit in fits:
            fit.start()
        for fit in fits:
            fit.join()
        with pytest.raises(AccountError):
            model(0.5 * MU).fit(X, Y)
    assert len(outer.charges) == len(inner.charges) == 8
    with pytest.raises(ValueError, match="epsilon must be positive"):
        Account(epsilon=-1.0, delta=1e-6)
