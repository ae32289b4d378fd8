"""No receipt says more than is true: what the fit used, what it read, what a search spent; and a search keeps still."""

import contextlib
import copy
import io
import json
import logging
import math
import pickle
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import costofprivacy.estimators
from costofprivacy.estimators import (
    BoostedAdaSSPRegressor,
    ClippedDescentRegressor,
    DPGDRegressor,
    NoisyHeadRegressor,
    ObjectivePerturbationRegressor,
    PrivateHeadRegressor,
    PrivateLinearRegression,
    PrivateSearch,
    Schema,
    boolean,
    category,
    date,
    number,
    private_bounds,
)
from costofprivacy.estimators.guarantee import CAVEAT, RECORD, SOFTWARE, Guarantee, Receipt
from costofprivacy.estimators.private_bounds import linear_grid
from costofprivacy.estimators.spending import compose
from costofprivacy.estimators.tabular import ScaleWarning
from costofprivacy.privacy import ApproximateDP, GaussianDP, PrivacyWarning

BUDGET = {"epsilon": 2.0, "delta": 1e-6}
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.uniform(-1, 1, (300, 2)), columns=["a", "b"])
Y = X["a"] - X["b"] + 0.1 * RNG.standard_normal(300)
TABLES = (
    DPGDRegressor,
    PrivateLinearRegression,
    ClippedDescentRegressor,
    BoostedAdaSSPRegressor,
    ObjectivePerturbationRegressor,
)
PLAIN = DPGDRegressor, BoostedAdaSSPRegressor  # the other tables share the code of the second
HEADS = (NoisyHeadRegressor, PrivateHeadRegressor)
PROMPTS = RNG.standard_normal((60, 5, 2)), RNG.standard_normal((60, 5))


# ------------------------------------------------------------------------------------ made by the fit, and frozen


@pytest.mark.parametrize("kind", HEADS)
def test_a_head_has_a_receipt_of_its_prompts_made_by_the_fit(kind):
    model = kind(**BUDGET, not_finite="void", feature_norm=1.5, random_state=0).fit(*PROMPTS)
    words, data = str(model.receipt()), model.receipt().data()
    predicted, score = model.predict(*PROMPTS), model.score(*PROMPTS)
    model.receipt().public.clear()
    model.set_params(random_state=None, not_finite="refuse", epsilon=9.0, feature_norm=9.0, response_scale=7.0)
    for same in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert (str(same.receipt()), same.receipt().data()) == (words, data)
        np.testing.assert_array_equal(same.predict(*PROMPTS), predicted)
        assert same.score(*PROMPTS) == score
        assert np.isfinite(same.predict(PROMPTS[0] * np.nan, PROMPTS[1])).all()
    told = [data[name] for name in ("epsilon", "delta", "demonstration", "records", "features", "released")]
    assert told == [2.0, 1e-6, True, 60, 2, ["Gamma_"]]
    assert data["public"]["feature_norm"] == 1.5
    assert data["neighbours"].startswith("replace one prompt")
    for part in ("fitted to 60 prompts of 2 features", "Prompts that are not finite: void", "learned from the prompts"):
        assert part in " ".join(words.split())
    assert data["mu"] == model.profile_.last_iterate.mu == model.guarantee_.gaussian.mu
    assert kind(**BUDGET).fit(*PROMPTS).receipt().demonstration is False
    assert model.set_params(random_state=1, epsilon=2.0).fit(*PROMPTS).receipt().fit == 2
    for unfitted in (clone(model), kind(**BUDGET)):
        with pytest.raises(NotFittedError):
            unfitted.receipt()
    with pytest.raises(ValueError, match="got a NoneType"):
        model.fit(PROMPTS[0], None)
    with pytest.raises(NotFittedError):
        model.receipt()


@pytest.mark.parametrize("kind", HEADS)
def test_a_head_its_guarantee_and_its_receipt_spend_the_same(kind):
    model = kind(**BUDGET, random_state=0).fit(*PROMPTS)
    for release in (model, model.profile_, model.guarantee_, model.receipt(), make_pipeline(model)):
        total = compose(release, delta=1e-6)
        assert (total.gaussian, total.neighbours) == (model.guarantee_.gaussian, "replace one prompt")
        assert total.claimed.epsilon == pytest.approx(2.0)
    with pytest.raises(ValueError, match="same neighbours"):
        compose(model.receipt(), PrivateLinearRegression(**BUDGET, random_state=0).fit(X, Y).receipt(), delta=1e-5)


@pytest.mark.parametrize("kind", PLAIN)
def test_a_receipt_and_predictions_are_those_of_the_fit_whatever_is_set_afterwards(kind):
    bounds = {"a": [-1.0, 1.0], "b": [-1.0, 1.0]}
    model = kind(**BUDGET, feature_bounds=bounds, response_bounds=(-2, 2), not_finite="void", random_state=0).fit(X, Y)
    words, data, predicted = str(model.receipt()), model.receipt().json(), model.predict(X)
    bounds["a"][0] = -99.0
    model.feature_bounds["b"][1] = 99.0
    model.receipt().public["response_bounds"].append("touched")
    model.receipt().data()["public"].clear()
    model.set_params(
        random_state=None, not_finite="refuse", epsilon=9.0, feature_bounds=(-1e-3, 1e-3), response_bounds=(0, 1)
    )
    for same in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert str(same.receipt()) == words
        assert same.receipt().json() == data
        np.testing.assert_array_equal(same.predict(X), predicted)
        assert np.isfinite(same.predict(X.assign(a=np.nan))).all()
    assert "A DEMONSTRATION, NO RELEASE" in words
    with pytest.raises(NotFittedError):
        clone(model).receipt()


def test_intervals_are_those_of_the_fit():
    asked = {"feature_bounds": (-1, 1), "response_bounds": (-2, 2), "interval_share": 0.3}
    model = PrivateLinearRegression(epsilon=1e4, delta=1e-6, **asked).fit(X, Y)
    intervals, means = model.intervals(), model.predict_interval(X)
    model.set_params(feature_bounds=(0, 1e-3), interval_share=0.0, method="boosted")
    pd.testing.assert_frame_equal(model.intervals(), intervals)
    np.testing.assert_array_equal(model.predict_interval(X), means)
    assert json.loads(model.receipt().json())["public"]["interval_share"] == 0.3


def test_versions_are_those_of_the_fit(monkeypatch):
    model = DPGDRegressor(mu=1.0).fit(X, Y)
    monkeypatch.setattr("costofprivacy.estimators.guarantee._versions", lambda: (("python", "9.9"),))
    assert "9.9" not in model.receipt().json()


# --------------------------------------------------------------------------------------------- counts and totals


def test_a_stream_that_ends_early_was_not_fitted_to_what_was_announced():
    small = {"epsilon": 2.0, "delta": 1e-8}
    for make in (lambda: DPGDRegressor(**small), lambda: PrivateLinearRegression(**small)):
        model = make().fit_stream(iter([(X, Y)]), n=900)
        told = model.receipt()
        assert (model.n_records_, told.records, told.announced) == (300, 300, 900)
        assert "fitted to 300 records of 2 features. The noise is that for the 900 that were announced" in " ".join(
            str(told).split()
        )
        assert (told.data()["records"], told.data()["records_announced"]) == (300, 900)
    assert "announced" not in str(DPGDRegressor(**small).fit(X, Y).receipt())
    with pytest.raises(ValueError, match="must"):
        PrivateLinearRegression("boosted", **small).fit_stream(lambda: [(X, Y)], n=900)


@pytest.mark.parametrize("kind", PLAIN)
def test_a_receipt_says_which_algorithm_and_that_it_is_for_one_fit(kind):
    model = kind(**BUDGET).fit(X, Y)
    told = model.receipt()
    assert told.algorithm
    assert f"Algorithm: {told.algorithm}." in " ".join(str(told).split())
    for part in ("this fit alone", "scaler", "selection of features", "add up", "bootstrap"):
        assert part in " ".join(str(told).split())
    assert told.fit == 1
    again = model.fit(X, Y).receipt()
    assert (again.fit, again.data()["fit_of_this_estimator"]) == (2, 2)
    assert "It was number 2 of this estimator, and all of them add up" in " ".join(str(again).split())
    assert pickle.loads(pickle.dumps(model)).fit(X, Y).receipt().fit == 3
    assert clone(model).fit(X, Y).receipt().fit == 1


def test_the_method_that_was_chosen_stands_in_the_receipt():
    model = PrivateLinearRegression(**BUDGET).fit(X, Y)
    assert model.receipt().algorithm.endswith(", chosen from public numbers")
    assert PrivateLinearRegression("one pass", **BUDGET).fit(X, Y).receipt().algorithm == "one pass of DP-GD"


def test_bounds_from_private_bounds_are_counted():
    spent, fit = GaussianDP(0.3), GaussianDP(0.4)
    found = private_bounds(X["a"], mu=spent.mu, grid=linear_grid(-2, 2), levels=(0.1, 0.9))
    for same in (found, pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert (*same, same.profile, same) == (same.low, same.high, found.profile, found)
    bounds = {"a": found, "b": (-1, 1)}
    model = DPGDRegressor(mu=fit.mu, delta=1e-6, feature_bounds=bounds, response_bounds=found).fit(X, Y)
    told = model.receipt()
    assert told.data()["private_bounds"] == {"feature_bounds['a']": 0.3, "response_bounds": 0.3}
    total = compose(spent, spent, fit, delta=1e-6).claimed.epsilon
    printed = " ".join(str(told).split()).partition("With this fit together: (")[2].partition(", 1e-06)")[0]
    assert total <= float(printed) <= total * 1.001  # rounded up
    assert told.data()["public"]["feature_bounds"] == {"a": list(found), "b": [-1, 1]}
    approximate = ObjectivePerturbationRegressor(**BUDGET, response_bounds=found).fit(X, Y).receipt()
    assert "2e-06)-differential privacy" in " ".join(str(approximate).split())
    assert "Private bounds" not in str(DPGDRegressor(mu=1.0).fit(X, Y).receipt())


SETTINGS = [{"expected_r2": share} for share in (0.3, 0.6, 0.9)]


def searching(estimator=None, settings=SETTINGS, **asked):
    base = {"epsilon": 2.0, "delta": 1e-6, "loss_bound": 4.0}
    return PrivateSearch(estimator or BoostedAdaSSPRegressor(), settings, **base | asked)


@pytest.mark.parametrize("strategy", ["all", "random"])
def test_a_model_out_of_a_search_states_what_the_search_spent(strategy):
    settings = copy.deepcopy(SETTINGS)
    search = searching(settings=settings, strategy=strategy).fit(X, Y)
    of_search, of_model = search.receipt(), search.best_estimator_.receipt()
    for told in (of_search, of_model, pickle.loads(pickle.dumps(search)).receipt()):
        assert (told.data()["epsilon"], told.data()["delta"]) == (2.0, 1e-6)
        assert search.profile_.sentence in " ".join(str(told).split())
    assert "This is one of its fits, and would spend GaussianDP(mu=" in " ".join(str(of_model).split())
    assert of_search.method == "PrivateSearch of BoostedAdaSSPRegressor"
    assert of_search.released == ("best_estimator_", "best_setting_", "scores_")
    assert of_search.records == 300
    assert "Covers: this search alone" in str(of_search)
    one, whole = (compose(each, delta=1e-5).claimed.epsilon for each in (search.best_estimator_, search))
    assert one == whole
    words, chosen = str(of_search), dict(search.best_setting_)
    search.set_params(epsilon=9.0, loss_bound=1.0, random_state=3)
    for setting in settings:
        setting.clear()
    assert str(search.receipt()) == words
    assert search.best_setting_ == chosen
    assert search.best_estimator_.fit(X, Y).receipt().search == ""  # a fit of its own
    with pytest.raises(NotFittedError):
        clone(search).receipt()


# ----------------------------------------------------------------------------------------------- silent spending


class Unread:
    """Data that must not be looked at."""

    def __getattribute__(self, name):
        raise AssertionError(f"{name} was read")

    __len__ = __iter__ = __array__ = None


@pytest.mark.parametrize("kind", [*TABLES, *HEADS])
@pytest.mark.parametrize("asked", [{}, {"delta": 1e-6}, {"epsilon": 1.0}])
def test_no_estimator_has_a_default_budget(kind, asked):
    model = kind(**asked)
    words = "delta must be given with epsilon" if "epsilon" in asked else "no budget was stated: give epsilon and delta"
    with pytest.raises(ValueError, match=words):
        model.fit(Unread(), Unread())
    if hasattr(model, "fit_stream"):
        with pytest.raises(ValueError, match=words):
            model.fit_stream(lambda: Unread(), 3)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_private_bounds_have_no_default_budget():
    for asked in ({}, {"delta": 1e-6}, {"epsilon": 1.0}):
        with pytest.raises(ValueError, match=r"no budget was stated: give .*, or mu|delta must be given"):
            private_bounds(Unread(), **asked)


# -------------------------------------------------------------------------------------- a search keeps its secrets


class Noisy(TransformerMixin, BaseEstimator):
    """Warns, prints, logs and divides by zero whenever it is fitted or used."""

    def fit(self, X, y=None):
        self.n_features_in_ = np.shape(X)[1]
        return self

    def transform(self, X):
        warnings.warn("seen", RuntimeWarning, stacklevel=1)
        print("seen")
        logging.getLogger("noisy").error("seen")
        logging.getLogger("noisy").log(99, "seen")
        np.ones(1) / np.zeros(1)
        return np.asarray(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


def said(search, X=X):
    """All that a search lets out: warnings, what is printed, what is logged."""
    out, log = io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    try:
        with (
            warnings.catch_warnings(record=True) as caught,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
            np.errstate(all="warn"),
        ):
            warnings.simplefilter("always")
            search.fit(X, Y)
    finally:
        logging.getLogger().removeHandler(handler)
    return [(each.category, str(each.message), each.filename) for each in caught], out.getvalue() + log.getvalue()


@pytest.mark.parametrize("pipe", [False, True])
def test_what_a_random_search_says_does_not_depend_on_its_runs(pipe):
    model, settings = BoostedAdaSSPRegressor(), SETTINGS
    if pipe:
        model = make_pipeline(Noisy(), model, verbose=True)
        settings = [{f"boostedadasspregressor__{name}": v for name, v in each.items()} for each in SETTINGS]
    heard = [said(searching(model, settings, strategy="random")) for _ in range(3)]
    heard.append(said(searching(model, settings[:1], strategy="random", mean_runs=1.0)))
    with warnings.catch_warnings(), np.errstate(all="raise"):  # filters that raise do not end one in the middle
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ScaleWarning)
        assert hasattr(searching(model, settings, strategy="random").fit(X, Y), "best_estimator_")
    for warned, printed in heard:
        assert printed == ""
        assert [category for category, *_ in warned] == [ScaleWarning, ScaleWarning]  # features, response: once each
        assert {place for *_, place in warned} == {__file__}
    assert len({str(each) for each in heard}) == 1
    assert logging.root.manager.disable == 0


def test_a_setting_that_is_refused_is_refused_whether_or_not_it_would_be_drawn():
    search = searching(settings=[{"expected_r2": 0.5}] * 50 + [{"expected_r2": 5.0}], strategy="random", mean_runs=1.0)
    with pytest.raises(ValueError, match="expected_r2 must be"):
        search.fit(X, Y)


def test_searches_in_threads_are_as_still():
    model = BoostedAdaSSPRegressor()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        threads = [threading.Thread(target=searching(model, strategy="random").fit, args=(X, Y)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(caught) == 2 * 4


def test_steps_that_learn_are_warned_of_once_and_stand_in_the_receipt():
    model = make_pipeline(StandardScaler(), BoostedAdaSSPRegressor(feature_scale=1.0, response_scale=1.0))
    with pytest.warns(PrivacyWarning, match="does not cover what StandardScaler may learn") as caught:
        search = searching(model, [{}, {}]).fit(X, Y)
    assert len(caught) == 1
    assert "does not cover what StandardScaler may learn" in " ".join(str(search.receipt()).split())
    schema = Schema({"a": number(-1, 1), "b": number(-1, 1)})
    told = searching(make_pipeline(schema.transformer(), model[-1]), [{}]).fit(X, Y).receipt()
    assert "may learn" not in str(told)


@pytest.mark.parametrize("kind", [*TABLES, *HEADS])
@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_floating_point_errors_of_private_numbers_do_not_show(kind, size):
    data = PROMPTS if kind in HEADS else (X.to_numpy(), Y.to_numpy())
    scales = {} if kind in HEADS else {"feature_scale": 1.0, "response_scale": 1.0}
    model = kind(**BUDGET, **scales, random_state=0)
    seen = []
    with np.errstate(all="call", call=lambda *told: seen.append(told)):
        clone(model).fit(*data)  # plans are public: what they say does not count
        before, seen[:] = len(seen), []
        model.fit(data[0] * size, data[1] * size)
    assert len(seen) <= before


# ------------------------------------------------------------------------------------------------------- the names


def test_functions_and_modules_are_where_the_documentation_says():
    assert callable(costofprivacy.estimators.private_bounds)
    assert costofprivacy.estimators.private_bounds is private_bounds
    assert costofprivacy.estimators.calculator.answer(n=1000, d=10, epsilon=1.0).r2 > 0
    for name in costofprivacy.estimators.__all__:
        assert getattr(costofprivacy.estimators, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = costofprivacy.estimators.nothing


# ------------------------------------------------------------------------------------- in words, and as JSON

PUBLIC = {
    "feature_bounds": {"age": (18, np.float64(90.0))},
    "spectrum": np.array([1.0, 2.0]),
    "feature_scale": pd.Series([1.5]),
    "response_scale": math.inf,
    "schedule": object(),
    "steps": np.int64(3),
}


def receipt(gaussian: GaussianDP | None = None, demonstration: bool = False) -> Receipt:
    promised = Guarantee(ApproximateDP(math.inf if gaussian else 2.0, 1e-6), gaussian, "a.proof")
    return Receipt("Model", promised, ("coef_",), PUBLIC, 100, 3, demonstration, "void")


def test_json_is_strict_and_comes_back_as_it_went() -> None:
    for told in (receipt(), receipt(GaussianDP(math.inf)), receipt(GaussianDP(0.5), demonstration=True)):
        found = json.loads(told.json(), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        assert found["public"]["feature_bounds"] == {"age": [18, 90.0]}
        assert found["public"]["spectrum"] == [1.0, 2.0]
        assert found["public"]["feature_scale"] == [1.5]
        assert found["public"]["response_scale"] == "inf"
        assert found["public"]["steps"] == 3
        assert found["demonstration"] is told.demonstration
        assert found["caveat"] == CAVEAT
        assert found["neighbours"] == RECORD
        assert set(found["versions"]) == {"python", *SOFTWARE}
        again = json.loads(json.dumps(found))
        assert again == found


SCHEMA = Schema(
    {
        "age": number(18, 90, typical=50, std=16),
        "sex": category(["f", "m", "d"], unknown="f", missing="f", shares=[0.5, 0.4, 0.1]),
        "smoker": boolean(share=0.2, typical=False),
        "visit": date("2023-01-01", "2024-12-31", cycles=["month"]),
    }
)


def fitted(**asked):
    n = 40
    people = pd.DataFrame(
        {"age": [30, 40.0] * 20, "sex": ["m", "f"] * 20, "smoker": [True] * n, "visit": pd.Timestamp("2024-02-03")}
    )
    model = DPGDRegressor(epsilon=1.0, delta=1e-6, response_bounds=(0, 1), **asked)
    return make_pipeline(SCHEMA.transformer(), model).fit(people, np.linspace(0, 1, n))


@pytest.mark.parametrize("given", [SCHEMA, SCHEMA.transformer()], ids=["schema", "transformer"])
def test_a_schema_belongs_to_the_receipt(given) -> None:
    model = fitted(feature_bounds=SCHEMA.feature_bounds())[-1]
    told = model.receipt(schema=given)
    data = json.loads(told.json())
    assert Schema.from_json(json.dumps(data["schema"])) == SCHEMA
    assert data["public"]["feature_bounds"]["sex_m"] == [0.0, 1.0]
    assert list(data["public"]["feature_bounds"]) == SCHEMA.feature_names()
    words = " ".join(str(told).split())
    for part in (
        "Columns of the table, as they were stated (4):",
        "- age, a number: 18 to 90 (identity); missing counts as 50; outside counts as the nearer bound; expected: "
        "standard deviation 16.",
        "- sex, a category: f, m, d (indicators, first left out); missing counts as f; outside counts as f; expected: "
        "shares 0.5, 0.4, 0.1.",
        "- smoker, a boolean: false, true (0, 1); missing counts as 0;",
        "- visit, a date: 2023-01-01 to 2024-12-31 (time, cycle of the month); missing counts as middle of the scale;",
        "'sex_m': [0.0, 1.0]",
    ):
        assert part in words
    assert "schema" not in model.receipt().data()
    assert "Columns of the table" not in str(model.receipt())


def test_centers_and_scales_stand_beside_the_names_of_the_features() -> None:
    center, scale = SCHEMA.feature_scales()
    model = fitted(feature_center=center, feature_scale=scale)[-1]
    public = model.receipt().data()["public"]
    assert public["feature_center"] == dict(zip(SCHEMA.feature_names(), center))
    assert public["feature_scale"] == dict(zip(SCHEMA.feature_names(), scale))
    assert json.loads(model.receipt().json())["public"]["feature_scale"]["age"] == scale[0]
    scale = DPGDRegressor(mu=1.0, feature_scale=pd.Series({"b": 1.0, "a": 2.0})).fit(X, Y).receipt().data()["public"]
    assert scale["feature_scale"] == {"a": 2.0, "b": 1.0}
    bare = DPGDRegressor(epsilon=1.0, delta=1e-6, feature_bounds=([0, 1], [1, 2])).fit(np.ones((9, 2)), np.ones(9))
    assert bare.receipt().data()["public"]["feature_bounds"] == [[0, 1], [1, 2]]
    two = pd.DataFrame(np.ones((9, 2)), columns=["a", "b"])
    for stated, told in (
        ((0, 3), [0, 3]),
        ((0, [3, 4]), {"a": [0, 3], "b": [0, 4]}),
        ((np.array([0, 1]), np.array([3, 4])), {"a": [0, 3], "b": [1, 4]}),
        ({"b": (0, 3), "a": (0, 4)}, {"b": [0, 3], "a": [0, 4]}),
    ):
        named = DPGDRegressor(epsilon=1.0, delta=1e-6, feature_bounds=stated).fit(two, np.ones(9))
        assert named.receipt().data()["public"]["feature_bounds"] == told


def test_a_schema_of_other_features_is_refused() -> None:
    model = fitted(feature_bounds=SCHEMA.feature_bounds())[-1]
    with pytest.raises(ValueError, match=r"got one of 1 features, 'a', and a fit of 7, 'age', .*, …$"):
        model.receipt(schema=Schema({"a": number(0, 1)}))
    with pytest.raises(ValueError, match="schema must make the features of the fit"):
        model.receipt(schema=Schema({f"x{k}": number(0, 1) for k in range(7)}))
    with pytest.raises(ValueError, match="schema must be a Schema or its transformer, got a int"):
        model.receipt(schema=3)


def test_private_bounds_in_a_series_are_counted_and_protect_a_unit_only_if_they_were_found_for_units():
    found = private_bounds(X["a"], mu=0.3, grid=linear_grid(-2, 2), levels=(0.1, 0.9))
    asked = BUDGET | {"feature_bounds": pd.Series({"b": found, "a": found}), "response_scale": 1.0}
    told = PrivateLinearRegression(**asked).fit(X, Y).receipt()
    assert told.data()["private_bounds"] == {"feature_bounds['b']": 0.3, "feature_bounds['a']": 0.3}
    assert told.public["feature_bounds"] == {"b": list(found), "a": list(found)}
    with pytest.raises(ValueError, match="must protect units as the fit does"):
        PrivateLinearRegression(**asked, most_per_unit=1).fit(X, Y, unit=range(300))


def test_bounds_of_a_frame_stand_in_the_receipt_one_by_one():
    many = pd.DataFrame(RNG.uniform(-1, 1, (300, 70))).rename(columns=str)  # pandas shows 60 rows at most
    bounds = pd.DataFrame({"low": -1.0, "high": 1.0}, index=many.columns)
    with pytest.raises(ValueError, match="as columns or as rows, not both"):
        DPGDRegressor(mu=1.0, feature_bounds=bounds.rename({"0": "low", "1": "high"})).fit(many, Y)
    told = DPGDRegressor(mu=1.0, feature_bounds=bounds).fit(many, Y).receipt()
    assert told.public["feature_bounds"] == {name: [-1.0, 1.0] for name in many.columns}
