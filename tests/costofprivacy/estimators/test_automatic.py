"""The estimators of one regression with common public arguments: scikit-learn's checks, privacy, streams, intervals."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from costofprivacy.estimators import (
    Account,
    BoostedAdaSSPRegressor,
    ClippedDescentRegressor,
    ObjectivePerturbationRegressor,
    PrivateLinearRegression,
    forecast_intervals,
)
from costofprivacy.estimators.automatic import METHODS
from costofprivacy.estimators.expected import FINEST
from costofprivacy.estimators.tabular import NoIntervalWarning
from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.rivals import piloted_perturbation
from tests.costofprivacy.estimators import conformance
from tests.each import each, refused

STATED = {"epsilon": 4.0, "delta": 1e-6, "feature_scale": 1.0, "response_scale": 1.0}
PLENTY = STATED | {"epsilon": 1e4}  # so that 50 records have intervals
COVERED = {"check_supervised_y_no_nan": "a response that is not finite makes its record void: it is not refused"}
MODELS = [  # all pass the same gate and keep the same things; one of each kind of release
    PrivateLinearRegression(**PLENTY, interval_share=0.3),
    *(
        pytest.param(model, marks=pytest.mark.slow)
        for model in (
            *(PrivateLinearRegression(method, **STATED) for method in METHODS),
            ObjectivePerturbationRegressor(**PLENTY, interval_share=0.3, fit_intercept=False),
            BoostedAdaSSPRegressor(epsilon=4.0, delta=1e-6, feature_bounds=(-3, 3), response_bounds=(-5, 5)),
        )
    ),
]


def named(model):
    return f"{type(model).__name__}-{getattr(model, 'method', '')}-{getattr(model, 'interval_share', 0)}"


def problem(n=300, d=3, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X @ np.linspace(0.7, -0.5, d) + 0.2 + noise * rng.standard_normal(n)


# ----------------------------------------------------------------------------------------------- conformance


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [PrivateLinearRegression(epsilon=1.0, delta=1e-6, not_finite=rule) for rule in ("refuse", "void")], ids=str
)
def test_scikit_learns_own_checks_pass(model):
    expected = COVERED if model.not_finite == "void" else {}
    for result in check_estimator(model, on_skip=None, expected_failed_checks=expected):
        name = result["check_name"]
        assert result["status"] == ("xfail" if name in expected else "passed") or name == "check_array_api_input", (
            result
        )


@each("check", conformance.PRIVACY_CHECKS)
@pytest.mark.parametrize("model", MODELS, ids=named)
def test_nothing_but_the_release_reaches_the_public(check, model):
    check(model)


# --------------------------------------------------------------------------------------------------- fitting


@pytest.mark.parametrize(("method", "intercept"), [*((method, True) for method in METHODS), ("boosted", False)])
def test_each_method_finds_the_coefficients(method, intercept):
    X, y = problem(20_000)
    model = PrivateLinearRegression(method, **STATED, expected_r2=0.8, fit_intercept=intercept, random_state=0)
    model.fit(X, y - 0.2 * (not intercept))
    np.testing.assert_allclose(model.coef_, [0.7, 0.1, -0.5], atol=0.05)
    assert model.intercept_ == pytest.approx(0.2 * intercept, abs=0.05)
    assert model.method_ == method
    assert model.score(X.copy(), y) > 0.7
    low, high = model.expected_r2_range_
    assert low <= model.expected_r2_ <= high <= 0.8 + FINEST


def test_the_units_of_the_data_do_not_matter():
    """With the same noise, features and responses in other units give the same fit in these units."""
    X, y = problem()
    one = PrivateLinearRegression("boosted", **STATED, random_state=0).fit(X, y)
    shifted = STATED | {"feature_scale": 8.0, "feature_center": 3.0, "response_scale": 0.25, "response_center": -1.0}
    two = PrivateLinearRegression("boosted", **shifted, random_state=0).fit(8 * X + 3, y / 4 - 1)
    np.testing.assert_allclose(two.coef_, one.coef_ / 32, rtol=1e-6)
    np.testing.assert_allclose(two.predict(8 * X + 3), one.predict(X) / 4 - 1, rtol=1e-6, atol=1e-9)


def test_auto_takes_the_method_with_the_least_expected_risk():
    X, y = problem()
    found = {m: PrivateLinearRegression(m, **STATED, random_state=0).fit(X, y).expected_r2_ for m in METHODS}
    model = PrivateLinearRegression(**STATED, random_state=0).fit(X, y)
    assert model.expected_r2_ >= max(found[m] for m in ("objective", "descent", "boosted"))
    assert model.expected_r2_ == found[model.method_]
    again = PrivateLinearRegression(model.method_, **STATED, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    other = PrivateLinearRegression(**STATED, random_state=0).fit(*problem(300, seed=5))
    assert other.method_ == model.method_
    assert other.plan_ == model.plan_


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("epsilon", "delta"), [(1e-8, 1e-300), (1e6, 1e-6), (1e6, 0.5)])
@pytest.mark.filterwarnings("ignore:delta should be far below:costofprivacy.privacy.PrivacyWarning")
def test_extreme_budgets_are_fitted(method, epsilon, delta):
    X, y = problem()
    model = PrivateLinearRegression(method, **STATED | {"epsilon": epsilon, "delta": delta}, random_state=0).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.guarantee_.claimed == ApproximateDP(epsilon, delta)
    if epsilon == 1e6:
        np.testing.assert_allclose(model.coef_, [0.7, 0.1, -0.5], atol=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("asked", [{"expected_r2": 1e-300}, {"expected_r2": 1 - 1e-16}, {"spectrum": [2.0, 1.0, 0.0]}])
def test_extreme_public_knowledge_is_fitted(method, asked):
    """A share of the signal of 10⁻³⁰⁰, and an eigenvalue of 0, were divided by."""
    model = PrivateLinearRegression(method, **STATED, **asked, random_state=0).fit(*problem())
    assert np.isfinite(model.coef_).all()
    assert math.isfinite(model.expected_r2_)


# --------------------------------------------------------------------------------------- arguments and frames


@each(
    ("asked", "message"),
    [
        ({"method": "ridge"}, "method must be one of auto, "),
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"epsilon": 1e7}, "epsilon must be"),
        ({"delta": 1.0}, "delta must be"),
        ({"expected_r2": 0.0}, "expected_r2 must be"),
        ({"expected_r2": 1.0}, "expected_r2 must be"),
        ({"interval_share": 0.95}, "interval_share must be"),
        ({"method": "boosted", "interval_share": 0.2}, "interval_share must be 0 with method='boosted'"),
        ({"fit_intercept": "yes"}, "fit_intercept must be"),
        ({"not_finite": "drop"}, "not_finite must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"spectrum": [1.0, 2.0]}, "spectrum must be a trace or 3 eigenvalues, got 2 of them"),
        ({"feature_scale": 0.0}, "feature_scale must be positive"),
        ({"response_bounds": (3, -3)}, "response_bounds must have low below high"),
        ({"feature_bounds": {"a": (-1, 1)}}, "feature_bounds by name needs features whose names are text"),
    ],
)
def test_wrong_arguments_are_named_and_nothing_is_released(asked, message):
    model = PrivateLinearRegression(**STATED | asked)
    refused(f"^{message}", model.fit, *problem(50))
    assert not conformance.released(model)


def frame():
    X, y = problem()
    return pd.DataFrame(X, columns=["a", "b", "c"]), pd.Series(y, name="y")


BY_NAME = {"a": (-3, 3), "b": (-4, 4), "c": (-5, 5)}


def test_bounds_by_name_are_those_by_position():
    X, y = frame()
    asked = {"epsilon": 4.0, "delta": 1e-6, "response_bounds": (-4, 4), "random_state": 0}
    named = PrivateLinearRegression(**asked, feature_bounds=dict(reversed(BY_NAME.items()))).fit(X, y)
    listed = PrivateLinearRegression(**asked, feature_bounds=([-3, -4, -5], [3, 4, 5])).fit(X, y)
    np.testing.assert_array_equal(named.coef_, listed.coef_)
    np.testing.assert_array_equal(named.predict(X), listed.predict(X))
    assert list(named.feature_names_in_) == ["a", "b", "c"]


# -------------------------------------------------------------------------------------------------- receipts


@pytest.mark.filterwarnings("ignore:intervals for all:costofprivacy.estimators.tabular.NoIntervalWarning")
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_all_stages_of_a_fit_together_keep_the_budget(share):
    """From the plan alone: 2δ_√v(t) + 2δ_μ(t) at what the noises spend, and κ at the penalty."""
    X, y = problem()
    model = ObjectivePerturbationRegressor(**STATED, interval_share=share, random_state=0).fit(X, y)
    plan, main = model.plan_, piloted_perturbation.main_part(ApproximateDP(4.0, 1e-6))
    pilot = 0.0 if plan.pilot is None else len(plan.pilot.learning_rates) / plan.pilot.noise_multiplier**2
    gaussian = pilot + (0.0 if plan.after is None else plan.after.mu**2)
    v = gaussian + (2 * plan.added.clip_norm / plan.added.noise_std) ** 2
    left = main.epsilon - math.log1p(plan.added.feature_bound**2 / plan.added.penalty)
    spent = sum(2 * float(GaussianDP(math.sqrt(part)).delta(left)) for part in (v, gaussian) if part)
    assert 0.9 * main.delta < spent <= main.delta * (1 + 1e-6)
    assert v <= 2 * (math.hypot(1.0, left) - 1) * (1 + 1e-9)
    assert (plan.after is None) == (share == 0)


def test_the_gaussian_dp_of_a_receipt_is_that_of_its_plan():
    spent = {
        "descent": lambda plan: plan.guarantee.mu,
        "boosted": lambda plan: plan.budget.mu,
        "one pass": lambda plan: plan.rho,
    }
    for method, mu in spent.items():
        model = PrivateLinearRegression(method, **STATED, random_state=0).fit(*problem())
        assert model.guarantee_.gaussian.mu == pytest.approx(mu(model.plan_), rel=1e-6)


# --------------------------------------------------------------------------------------------------- streams


def cut(X, y, *sizes):
    """A function that returns batches of these sizes, in turn."""

    def read() -> Iterator:
        start = 0
        for size in itertools.cycle(sizes):
            if start >= len(y):
                return
            yield X[start : start + size], y[start : start + size]
            start += size

    return read


def test_a_stream_that_can_be_read_once_takes_one_pass():
    X, y = problem()
    model = PrivateLinearRegression(**STATED, random_state=0).fit_stream(cut(X, y, 0, 100)(), n=300)
    assert model.method_ == "one pass"
    for read in (cut(X, y, 300)(), cut(X, y, 300)):
        again = PrivateLinearRegression("one pass", **STATED, random_state=0).fit_stream(read, n=300)
        np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-9)
    for method, asked, read, message in (
        ("descent", {}, cut(X, y, 100)(), "a stream of this kind can be read by one pass, and intervals need a"),
        ("objective", {}, cut(X, y, 100), "a stream of this kind can be read by descent, boosted, one pass"),
        ("auto", {"interval_share": 0.2}, cut(X, y, 100)(), "intervals need a function that returns the batches"),
        ("one pass", {"interval_share": 0.2}, cut(X, y, 100), "interval_share must be 0 with method='one pass'"),
        ("auto", {"interval_share": 0.01}, cut(X, y, 100), "which would buy nothing"),
    ):
        refused(message, PrivateLinearRegression(method, **STATED, **asked).fit_stream, read, n=300)


@pytest.mark.parametrize("kind", [PrivateLinearRegression, BoostedAdaSSPRegressor, ClippedDescentRegressor])
def test_a_stream_is_as_good_as_a_table(kind):
    X, y = problem()
    asked = STATED | ({"method": "boosted"} if kind is PrivateLinearRegression else {}) | {"random_state": 0}
    whole = kind(**asked).fit(X, y)
    for sizes in ((300,), (7, 60), (51, 0, 1)):
        streamed = kind(**asked).fit_stream(cut(X, y, *sizes), n=300)
        np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-8)
        assert streamed.plan_ == whole.plan_
        assert streamed.receipt() == whole.receipt()
    if kind is not PrivateLinearRegression:
        refused(r"^read must be a function that returns batches", kind(**STATED).fit_stream, [(X, y)], 300)


def broken(X, y, batch):
    """Batches of which the third is another one, as one stream or as often as it is asked for."""
    return lambda: iter([(X[:100], y[:100]), (X[100:200], y[100:200]), batch, (X[200:], y[200:])])


@pytest.mark.parametrize(("method", "once"), [("boosted", False), ("one pass", True)])
def test_nothing_is_released_after_an_error_half_way(method, once):
    """Whatever is wrong, and an earlier release is forgotten too."""
    X, y = problem()
    model = PrivateLinearRegression(method, **STATED, random_state=0)
    hole = X[:50].copy()
    hole[3, 1] = math.nan
    wrong = [
        (X[:50, :2], y[:50]),
        (X[:50], y[:49]),
        (X[:50], np.c_[y[:50], y[:50]]),
        (hole, y[:50]),
        (X[:50].astype(str).astype(object) + "a", y[:50]),
        (X[:50], y[:50]),
        (X[:0], y[:0]),
    ]
    for batch, n in zip(wrong, (350, 350, 350, 350, 350, 349, 301), strict=True):
        if once and n == 301:  # a stream that ends early is released, with all its noise, by one pass of DP-GD
            continue
        read = broken(X, y, batch)
        model.fit(X, y)
        with pytest.raises((ValueError, TypeError)):
            model.fit_stream(read() if once else read, n=n)
        assert not conformance.released(model)
        with pytest.raises(NotFittedError):
            model.predict(X)


def test_void_records_of_a_stream_count_and_add_nothing():
    X, y = problem()
    hole = X.copy()
    hole[150, 1] = math.nan
    for method in ("boosted", "one pass"):
        model = PrivateLinearRegression(method, **STATED, not_finite="void", random_state=0)
        fits = []
        for response in (y[150], math.inf):
            other = y.copy()
            other[150] = response
            fits.append(clone(model).fit_stream(cut(hole, other, 70), n=300).coef_)
        np.testing.assert_array_equal(*fits)
        assert np.isfinite(fits[0]).all()


# ------------------------------------------------------------------------------------------------- intervals


@pytest.mark.slow
def test_intervals_cover_the_coefficients():
    """150 data sets, noise of privacy and of sampling both felt: 90 % intervals, by a binomial bound at 10⁻³."""
    truth, runs, covered, mean, width = np.array([0.7, 0.1, -0.5, 0.2]), 150, np.zeros(4), 0, 0.0
    at = np.array([[0.5, -1.0, 2.0]])
    for seed in range(runs):
        X, y = problem(3000, seed=seed, noise=0.6)
        asked = STATED | {"epsilon": 2.0, "expected_r2": 0.65, "plan_for": "textbook"}
        model = PrivateLinearRegression(**asked, interval_share=0.3, random_state=seed).fit(X, y)
        table = model.intervals(0.9)
        covered += (table["low"] <= truth) & (truth <= table["high"])
        width += float((table["high"] - table["low"]).mean()) / runs
        low, high = model.predict_interval(at, 0.9)[0]
        mean += low <= at[0] @ truth[:3] + truth[3] <= high
    least = binom.ppf(1e-3, runs, 0.9)
    assert covered.min() >= least
    assert mean >= least
    assert covered.max() <= binom.ppf(1 - 1e-3, runs, 0.9)
    assert width > 1.1 * 2 * 1.645 * 0.6 / math.sqrt(3000)  # without privacy: the noise is felt


def costs(n, seed):
    """A response that is skewed and varies more where it is large, and its least squares on very many records."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    mean = np.maximum(3 + 0.9 * np.clip(X[:, 0], -2.5, 2.5) - 0.3 * np.clip(X[:, 1], -2.5, 2.5), 0.3)
    return X, rng.gamma(1.5, mean / 1.5)


@pytest.mark.slow
def test_intervals_for_real_data_cover_least_squares_where_costs_are_skewed():
    """Plans for textbook data clip the large costs, and their intervals are about another line."""
    X, y = costs(10**6, 10**6)
    truth = np.linalg.lstsq(np.column_stack([X, np.ones(len(y))]), y)[0]
    covered = {}
    for kind in ("real", "textbook"):
        asked = {"epsilon": 1.0, "delta": 1e-6, "feature_scale": 1.0, "response_center": 3.0, "response_scale": 3.0}
        found = np.zeros(3)
        for seed in range(60):
            model = PrivateLinearRegression(**asked, plan_for=kind, interval_share=0.3, random_state=seed)
            table = model.fit(*costs(6000, seed)).intervals(0.9)
            found += (table["low"] <= truth) & (truth <= table["high"])
        covered[kind] = found
    assert covered["real"].min() >= binom.ppf(1e-3, 60, 0.9)
    assert covered["textbook"].min() < binom.ppf(1e-3, 60, 0.9)


def test_a_feature_that_is_always_0_takes_no_intervals_from_the_others():
    X, y = problem(6000)
    frame = pd.DataFrame(np.column_stack([X, np.zeros(len(y))]), columns=["a", "b", "c", "never"])
    model = PrivateLinearRegression(**STATED, interval_share=0.3, random_state=0).fit(frame, y)
    with pytest.warns(NoIntervalWarning, match=r"^there are no intervals for never:") as told:
        table = model.intervals()
    assert told[0].filename == __file__
    assert table["low"].isna().to_dict() == {"a": False, "b": False, "c": False, "never": True, "intercept": False}
    with pytest.warns(NoIntervalWarning):
        found = model.predict_interval(frame.iloc[:2].assign(never=[0.0, 1.0]))
    assert np.isnan(found).tolist() == [[False, False], [True, True]]


@each("model", [PrivateLinearRegression, ObjectivePerturbationRegressor, ClippedDescentRegressor])
def test_a_share_that_would_buy_no_interval_is_refused_before_it_is_spent(model):
    X, y = problem(100, 10)
    asked = STATED | {"epsilon": 0.1, "interval_share": 0.2}
    with Account(epsilon=1.0, delta=1e-5, approximate=0.9) as account:
        refused(r"which would buy nothing.* 100 records, 11 coefficients, ε = 0\.1", model(**asked).fit, X, y)
        assert not account.charges


def test_what_is_known_of_intervals_that_are_doubtful_or_were_not_asked_for():
    X, y = problem(1000, 5)
    asked = STATED | {"epsilon": 1.0}
    model = PrivateLinearRegression(**asked, interval_share=0.2, random_state=0)
    with pytest.warns(NoIntervalWarning, match="for all coefficients are not to be expected with 1000 records") as told:
        model.fit(X - 0.9 * X[:, :1], y)  # correlated besides
    assert any(each.filename == __file__ for each in told)
    with pytest.warns(NoIntervalWarning, match=r"there are no intervals for x0.*feature_scale") as told:
        table = model.intervals()
    assert told[0].filename == __file__
    assert table["low"].isna().any()
    assert np.isfinite(table["coef"]).all()
    with pytest.warns(NoIntervalWarning):
        assert np.isnan(model.predict_interval(X[:3])).all()
    table = forecast_intervals(100, 10, 0.1, 1e-6)
    assert not table["exist"].any()
    assert list(table.index) == ["1", "30", "100", "300"]
    for name, value in {"interval_share": 0.0, "level": 1.0, "method": "boosted"}.items():
        refused(f"{name} must be", forecast_intervals, 100, 10, 0.1, **{name: value})
    with pytest.raises(ValueError, match=r"interval_share must be 0, got 0\.2: no valid ones are known"):
        BoostedAdaSSPRegressor(**asked, interval_share=0.2).fit(X, y)


def test_a_stream_has_the_intervals_of_a_descent():
    X, y = problem(4000)
    asked = STATED | {"interval_share": 0.3, "random_state": 0}
    whole = ClippedDescentRegressor(**asked).fit(X, y)
    model = PrivateLinearRegression(**asked).fit_stream(cut(X, y, 700, 1, 0), n=4000)
    pd.testing.assert_frame_equal(model.intervals(), whole.intervals())
    assert model.method_ == "descent"
    told = model.receipt()
    assert told.released == ("coef_", "intercept_", "covariance_", "centre_")
    assert "costofprivacy.rivals.sandwich" in told.guarantee.proof
    mu = ApproximateDP(4.0, 1e-6).to_gaussian().mu
    assert mu * (1 - 1e-6) < told.guarantee.gaussian.mu <= mu


@pytest.mark.slow
def test_intervals_of_a_descent_cover_the_coefficients():
    """As for objective perturbation above, and for correlated features, where a descent is far from its minimum."""
    runs, truth = 120, np.array([0.7, 0.1, -0.5, 0.2])
    for correlation in (0.0, 0.8):
        covered = np.zeros(4)
        for seed in range(runs):
            X, y = problem(8000, seed=seed, noise=0.6)
            mixed = np.linalg.cholesky(np.full((3, 3), correlation) + (1 - correlation) * np.eye(3))
            own = np.append(np.linalg.solve(mixed.T, truth[:3]), 0.2)
            asked = STATED | {"epsilon": 2.0, "interval_share": 0.3, "random_state": seed}
            table = ClippedDescentRegressor(**asked).fit(X @ mixed.T, y).intervals(0.9)
            covered += (table["low"] <= own) & (own <= table["high"])
        assert covered.min() >= binom.ppf(1e-3, runs, 0.9)
        assert covered.max() <= runs


@pytest.mark.parametrize("method", ["objective", "descent"])
def test_a_forecast_of_intervals_is_as_wide_as_they_are(method):
    """Isotropic textbook data, where all is known."""
    X, y = problem(20_000, noise=0.6)
    spread = float(y.std())
    asked = {"interval_share": 0.3, "expected_r2": 0.65, "plan_for": "textbook", "spectrum": np.ones(3)}
    told = forecast_intervals(20_000, 3, 4.0, 1e-6, **asked, method=method)
    asked = STATED | asked | {"response_scale": spread, "random_state": 0}
    with np.errstate(all="raise"):  # what a plan underflows by is no news
        table = PrivateLinearRegression(method, **asked).fit(X, y).intervals()
    half = float((table["high"] - table["low"]).iloc[:3].mean() / 2 / spread)
    assert told["exist"].all()
    assert half == pytest.approx(float(told["half_width"].iloc[0]), rel=0.2)
    assert float(told["without_privacy"].iloc[0]) == pytest.approx(1.645 * 0.6 / spread / math.sqrt(20_000), rel=0.1)


def test_intervals_are_nested_and_in_the_units_of_the_data():
    X, y = frame()
    asked = STATED | {"epsilon": 50.0}
    model = PrivateLinearRegression(**asked, interval_share=0.3, random_state=0).fit(X, y)
    narrow, wide = model.intervals(0.5), model.intervals(0.99)
    assert list(narrow.index) == ["a", "b", "c", "intercept"]
    assert (wide["low"] < narrow["low"]).all()
    assert (narrow["high"] < wide["high"]).all()
    scaled = asked | {"feature_scale": 10.0, "response_scale": 2.0}
    other = PrivateLinearRegression(**scaled, interval_share=0.3, random_state=0).fit(10 * X, 2 * y).intervals(0.5)
    for side in ("low", "high"):
        np.testing.assert_allclose(other[side], narrow[side] * [0.2, 0.2, 0.2, 2.0], rtol=1e-6)
    for level in (0.0, 1.0, -1.0, math.nan):
        refused("level must be between 0 and 1", model.intervals, level)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"a": (-3, 3)}, r"feature_bounds must have an entry for each feature: without an entry \['b', 'c'\]$"),
        (BY_NAME | {"z": (0, 1)}, r"feature_bounds must have an entry for each feature: without a feature \['z'\]$"),
        ({"a": (-3, 3), "z": (0, 1)}, r".*: without an entry \['b', 'c'\], without a feature \['z'\]$"),
        ({0: (-3, 3), 1: (-3, 3), 2: (-3, 3)}, "feature_bounds must have an entry for each feature"),
        (BY_NAME | {"a": 3}, "feature_bounds must map each name to a pair"),
        (BY_NAME | {"a": (3, -3)}, "feature_bounds must have low below high, got column 'a': low 3, high -3$"),
    ],
)
def test_bounds_by_name_must_be_complete(bounds, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        PrivateLinearRegression(epsilon=1.0, delta=1e-6, response_bounds=(-4, 4), feature_bounds=bounds).fit(*frame())


def test_names_of_features_hold_for_all_batches():
    X, y = frame()
    model = PrivateLinearRegression("boosted", **STATED, random_state=0)
    model.fit_stream(lambda: ((X[k : k + 100], y[k : k + 100]) for k in range(0, 300, 100)), n=300)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    renamed = lambda: iter([(X[:200], y[:200]), (X[200:].rename(columns={"c": "z"}), y[200:])])  # noqa: E731
    refused("feature names should match", model.fit_stream, renamed, n=300)
    assert not conformance.released(model)


@pytest.mark.parametrize(
    ("batches", "n", "message"),
    [
        ([], 10, "Found array with 0 sample"),
        (lambda: iter([]), 10, "Found array with 0 sample"),
        (lambda: iter([(np.ones((0, 2)), np.ones(0))]), 10, "Found array with 0 sample"),
        (lambda: iter([([], []), (np.ones((5, 2)), np.ones(5))]), 6, "a pass must have the 6 records"),
        (lambda: iter([(np.ones((5, 2)), np.ones(5))]), 0, "n must be a whole number of at least 1, got 0"),
        (lambda: iter([(np.ones((5, 2)), np.ones(5))]), 5.5, "n must be a whole number"),
    ],
)
def test_streams_that_cannot_be_fitted_are_refused(batches, n, message):
    refused(f"^{message}", PrivateLinearRegression(**STATED).fit_stream, batches, n=n)
