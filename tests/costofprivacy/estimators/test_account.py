"""An account charges every release before it is drawn and refuses what does not fit; private scores are charged too."""

import copy
import math
import os
import pickle
import threading

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
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
    Schema,
    compose,
    gate,
    number,
    private_bounds,
    private_mean_loss,
    private_r2,
    search_plans,
    split,
)
from costofprivacy.estimators.account import charge
from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.privacy.audit import audit_mechanism
from tests.each import each

pytestmark = [
    pytest.mark.filterwarnings("ignore:delta should be far below:costofprivacy.privacy.PrivacyWarning"),
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
            model(1e-6 * MU).fit(X, Y)  # 10⁻¹² of μ²
    assert account.total.claimed.epsilon == pytest.approx(3.0, rel=1e-6)
    assert str(Account(epsilon=0.33333333, delta=1e-6).receipt()).startswith("Account of (0.3334, 1e-06)")  # rounded up
    for whole, shares in ((GaussianDP(MU), np.full(97, 1 / 97)), (ApproximateDP(3.0, 1e-6), [0.1] * 10)):
        with Account(epsilon=3.0, delta=1e-6) as account:  # what rounding needs is admitted
            for part in split(whole, shares):
                charge("part", lambda part=part: part)


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
    assert sent._account_of != os.getpid()  # in another container a process may have the same number
    sent._account_of = ("another", os.getpid())
    for one in (sent, clone(sent), copy.deepcopy(sent), pickle.loads(pickle.dumps(sent))):
        with pytest.raises(AccountError, match=r"another process.*make a new one"):
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


UNIFORM = RNG.uniform(0, 10, 40_000)
GUESSED = UNIFORM + 2 * RNG.standard_normal(len(UNIFORM))


def test_a_private_mean_loss_is_that_of_the_search():
    losses = (UNIFORM - GUESSED) ** 2
    ours = private_mean_loss(losses, 9.0, mu=0.5, random_state=3)
    theirs = search_plans.private_mean_loss(losses, 9.0, GaussianDP(0.5), rng=np.random.default_rng(3))
    assert ours == theirs == pytest.approx(np.minimum(losses, 9).mean(), abs=1e-2)
    assert ours.guarantee.gaussian == GaussianDP(0.5)


def test_a_private_r2_is_r2_to_its_noise():
    variance = UNIFORM.var()
    for loss_bound, wanted in ((1e3, 1 - 4 / variance), (4.0, None)):
        found = private_r2(UNIFORM, GUESSED, response_bounds=(0, 10), loss_bound=loss_bound, epsilon=50.0, delta=1e-6)
        wanted = wanted or 1 - np.minimum((UNIFORM - GUESSED) ** 2, 4).mean() / variance
        assert found == pytest.approx(wanted, abs=0.02)
    middle = private_r2(UNIFORM, np.full(len(UNIFORM), 5.0), response_bounds=(0, 10), mu=10.0)
    assert middle == pytest.approx(0, abs=0.02)
    constant = [private_r2(np.ones(9), np.ones(9), response_bounds=(0, 10), mu=1e9) for _ in range(30)]
    assert any(map(math.isnan, constant))


@pytest.mark.parametrize("unit", [None, np.repeat(np.arange(len(UNIFORM[::40]) // 4), 4)])
def test_a_score_tells_the_standard_error_of_its_noise(unit):
    asked = {"mu": 2.0 if unit is None else 8.0, "unit": unit, "noise": "fast"}
    predicted, y = GUESSED[::40], UNIFORM[::40] / 2 + 4  # far from the middle of the bounds
    runs = [private_r2(y, predicted / 2 + 4, response_bounds=(0, 10), loss_bound=9.0, **asked) for _ in range(200)]
    assert np.std(runs) == pytest.approx(np.mean([run.standard_error for run in runs]), rel=0.2)
    runs = [private_mean_loss(y, 10.0, **asked) for _ in range(200)]
    assert np.std(runs) == pytest.approx(runs[0].standard_error, rel=0.2)


def test_each_unit_counts_once_and_replacing_it_moves_one_term():
    """The law of the release is a Gaussian around the mean of the units' means: its exact distance is at most μ."""
    mu, noise = 0.7, []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rest = [rng.uniform(-1, 12, rng.integers(1, 6)) for _ in range(rng.integers(1, 5))]
        pair = []
        for _ in range(2):
            rows = [*rest, rng.choice([-1e300, 0.0, 10.0, np.nan, np.inf], rng.integers(1, 7))]
            y, unit = np.concatenate(rows), np.repeat(np.arange(len(rows)), list(map(len, rows)))
            pair.append(float(private_mean_loss(y, 10.0, mu=mu, unit=unit, random_state=seed)))
        noise.append(abs(pair[0] - pair[1]) * mu * len(rows) / 10)  # over the standard deviation, 10/(mμ)
    assert 0.9 * mu < max(noise) <= mu * (1 + 1e-12)
    several = np.repeat(np.arange(10_000), 4)
    found = private_r2(UNIFORM, GUESSED, response_bounds=(0, 10), loss_bound=100.0, mu=5.0, unit=several)
    assert found == pytest.approx(1 - 4 / UNIFORM.var(), abs=0.03)
    assert found.guarantee.neighbours.startswith("replace all records of one unit by any others")


@pytest.mark.slow
def test_an_audit_of_r2_finds_no_more_than_it_promises_and_convicts_half_of_its_noise():
    def scores(data, count, rng, mu=1.0):
        seeds = rng.integers(2**31, size=count)
        return np.array(
            [private_r2(*data, response_bounds=(0, 1), loss_bound=1.0, mu=mu, random_state=int(s)) for s in seeds]
        )

    y = np.r_[np.zeros(30), np.ones(30)]
    one, two = (np.r_[y, 1.0], np.r_[y, 1.0]), (np.r_[y, 1.0], np.r_[y, -9.0])
    asked = {"delta": 1e-6, "releases": 2000, "confidence": 0.999, "rng": np.random.default_rng(0)}
    assert audit_mechanism(scores, one, two, **asked).mu <= 1
    assert audit_mechanism(lambda *a: scores(*a, mu=3.0), one, two, **asked).mu > 1


def test_scores_are_charged_and_add_up_with_the_fit_of_others():
    X = RNG.standard_normal((200, 2))
    with Account(epsilon=1.0, delta=1e-6) as account:
        model = DPGDRegressor(mu=0.1, clip=0.3, schedule="constant", learning_rate=1.0).fit(X, X[:, 0])
        r2 = private_r2(X[:, 0], model.predict(X), response_bounds=(-3, 3), mu=0.2)
        private_mean_loss(np.ones(5), 1.0, mu=0.05)
        with pytest.raises(AccountError, match="private_r2 asks for"):
            private_r2(X[:, 0], X[:, 0], response_bounds=(-3, 3), mu=0.2)
    assert [name for name, _ in account.charges] == ["DPGDRegressor", "private_r2", "private_mean_loss"]
    assert compose(model, r2, delta=1e-6).gaussian.mu == pytest.approx(math.hypot(0.1, 0.2))


def searched(x, estimator=model(None)):  # noqa: B008
    PrivateSearch(estimator, [{}], epsilon=0.5, delta=1e-6, loss_bound=4.0).fit(x, Y)


R2 = {"y": [1.0, 2.0], "predicted": [1.0, 2.0], "response_bounds": (0, 1), "mu": 0.1}
AROUND = [one := TransformedTargetRegressor(DPGDRegressor()), make_pipeline(one), BaggingRegressor(DPGDRegressor())]
INTERVALS = {"epsilon": 1.0, "delta": 1e-6, "most_per_unit": 6, "interval_share": 0.3} | STATED
OTHER, NAMED = pd.DataFrame(X, columns=["a", "c"]), {"feature_bounds": {"a": (0, 1), "b": (0, 1)}}
PIPED = make_pipeline(Schema({"a": number(0, 1), "c": number(0, 1)}).transformer(), DPGDRegressor(**NAMED))


@each(
    ("release", "asked", "message"),
    [
        (private_mean_loss, {"bound": 0.0, "mu": 1.0}, "bound must be between"),
        (private_mean_loss, {"bound": 1.0}, "no budget was stated"),
        (private_mean_loss, {"bound": 1.0, "mu": 0.0}, "mu must be positive"),
        (private_mean_loss, {"bound": 1.0, "epsilon": 1.0}, "delta must be given"),
        *[(private_mean_loss, {"bound": 1.0, "mu": 1.0, "unit": wrong}, "for each of the 2") for wrong in ([1], 5)],
        (private_mean_loss, {"bound": 1.0, "mu": 1.0, "unit": [1, None]}, "for each record .*, or leave it out$"),
        (private_mean_loss, {"bound": 1.0, "rho": 1.0}, "rho is no argument here"),
        (private_mean_loss, {"bound": 1.0, "mu": 0.1, "losses": pd.period_range("2024", periods=2)}, "of real numb"),
        (private_mean_loss, {"bound": 1.0, "mu": 0.1, "losses": "x"}, r"losses must have shape \(any\)"),
        (private_mean_loss, {"bound": 1.0, "mu": 0.1, "losses": None}, r"losses must have shape \(any\)"),
        (private_mean_loss, {"bound": 1.0, "mu": 0.1, "losses": []}, "number of records"),
        (private_r2, R2 | {"response_bounds": (1, 1)}, "response_bounds must have low below high"),
        *[(private_r2, R2 | {"response_bounds": wrong}, "must be a pair") for wrong in (None, 3.0, (0, 1, 2), "ab")],
        (private_r2, R2 | {"response_bounds": (-1e200, 1e200)}, "response_bounds must be of size at most 1e\\+50"),
        (private_r2, R2 | {"response_bounds": (0, 1e-200)}, "response_bounds must be at least 1e-50 apart"),
        (private_r2, R2 | {"predicted": pd.interval_range(0, 2)}, "predicted must be .* got one of type interval"),
        (private_r2, R2 | {"predicted": [1.0]}, r"predicted must have shape \(2\)"),
        (private_r2, R2 | {"y": "x"}, r"y must have shape \(any\)"),
        (private_r2, R2 | {"loss_bound": -1.0}, "loss_bound must be between"),
        (private_bounds, {"values": Y, "mu": 0.1, "missing": "a", **QUARTERS}, "missing must be"),
        (private_bounds, {"values": Y, "mu": 0.1, "grid": [2.0, 1.0]}, "grid must be finite and increasing"),
        (private_bounds, {"values": Y, "mu": 0.1, "levels": 0.1}, "levels must be a pair"),
        *[(searched, {"x": X, "estimator": wrong}, "or a pipeline with a priv") for wrong in AROUND],
        (
            ClippedDescentRegressor(**INTERVALS).fit_stream,
            {"read": lambda: [(X, Y)], "n": 120},
            "must be 0 for a stream",
        ),
        (PrivateLinearRegression(**INTERVALS).fit_stream, {"batches": lambda: [(X, Y)], "n": 120}, "be 0 for a stream"),
        (searched, {"x": np.asmatrix(X)}, "np.matrix is not supported"),
        (searched, {"x": Y}, "Expected 2D array"),
        (searched, {"x": np.zeros((120, 2, 2))}, "Found array with dim 3"),
        (searched, {"x": OTHER, "estimator": DPGDRegressor(**NAMED)}, "without a feature"),
        (searched, {"x": OTHER, "estimator": PIPED}, "without a feature"),
        (DPGDRegressor(mu=0.1, **NAMED).fit, {"X": OTHER, "y": Y}, "without a feature"),
        (DPGDRegressor(mu=0.1, **NAMED).fit_stream, {"batches": [(OTHER, Y)], "n": 120}, "without a feature"),
        (ClippedDescentRegressor(epsilon=1.0, delta=1e-6, **NAMED).fit, {"X": OTHER, "y": Y}, "without a feature"),
    ],
)
def test_what_arguments_types_and_shapes_rule_out_is_not_charged(release, asked, message):
    asked = {"losses": [1.0, 2.0]} | asked if release is private_mean_loss else asked
    with Account(epsilon=5.0, delta=1e-6) as account, pytest.raises((ValueError, TypeError), match=message):
        release(**asked)
    assert not account.charges


def test_an_account_that_is_open_twice_is_charged_once():
    with Account(epsilon=3.0, delta=1e-6) as account, account:
        model(MU).fit(X, Y)
    assert [name for name, _ in account.charges] == ["DPGDRegressor"]
    assert account.total.claimed.epsilon <= 3.0 * (1 + 1e-12)
