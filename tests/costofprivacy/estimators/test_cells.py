"""What one record holds decides nothing of how the others are read, moves a fit by its sensitivity, is not quoted."""

import math
import warnings
from array import array

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings

from costofprivacy.dpgd.schedule import Constant
from costofprivacy.estimators import (
    BoostedAdaSSPRegressor,
    ClippedDescentRegressor,
    DPGDRegressor,
    NoisyHeadRegressor,
    ObjectivePerturbationRegressor,
    PrivateHeadRegressor,
    PrivateSearch,
    Schema,
    boolean,
    category,
    cells,
    date,
    gate,
    number,
)
from costofprivacy.estimators.guarantee import Receipt
from costofprivacy.estimators.private_bounds import private_bounds
from costofprivacy.estimators.schema import SchemaWarning
from costofprivacy.privacy import PrivacyWarning, records
from costofprivacy.rivals import huber
from tests.costofprivacy.privacy.hostile import neighbours
from tests.each import each, refused

SECRET = "SSN 078-05-1120"
SCALES = {"epsilon": 1.0, "delta": 1e-6, "feature_scale": 1.0, "response_scale": 1.0}


class Evil:
    """A cell all of whose conversions raise what nobody expects."""

    def __float__(self):
        raise KeyError(SECRET)

    def __index__(self):
        raise RuntimeError(SECRET)

    def __array__(self, *_, **__):
        raise AttributeError(SECRET)

    def __len__(self):
        raise ZeroDivisionError(SECRET)

    def __repr__(self):
        raise RuntimeError(SECRET)


@each("wrong", ["unknown", Evil(), 1j, [1, 2], pd.NaT])
@each("model", [ClippedDescentRegressor, BoostedAdaSSPRegressor, ObjectivePerturbationRegressor, DPGDRegressor])
def test_an_unreadable_cell_makes_its_own_record_void_and_no_other(model, wrong):
    """As it was found: one word made durations, which were numbers before, nothing in all records."""
    rng, y = np.random.default_rng(0), np.arange(40.0)
    X = [[np.timedelta64(int(k), "D"), float(a)] for k, a in zip(rng.integers(1, 9, 40), rng.standard_normal(40))]
    estimator = model(**(SCALES | {"not_finite": "void", "random_state": 0}))
    other, void = ([*X[:3], [1.0, cell], *X[4:]] for cell in (wrong, math.nan))
    np.testing.assert_array_equal(estimator.fit(other, y).coef_, estimator.fit(void, y).coef_)


def test_a_column_may_be_called_as_an_attribute():
    """As it was found: the cells of a column called column_names were taken for names, and quoted."""
    for name in ("column_names", "dtype", "kind", "type", "collect", "to_pylist", "get_columns", "fit"):
        frame = pd.DataFrame({name: [SECRET, "2"], "b": [1.0, 2.0]}, index=["kind", "type"])
        with pytest.raises(ValueError, match="does not know: 'b'") as caught:
            Schema({name: number(0, 1)}).transformer().transform(frame)
        assert SECRET not in str(caught.value)
        schema = Schema({name: category(["2"], unknown="other"), "b": number(0, 9)})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SchemaWarning)
            assert schema.transformer().transform(frame).shape == (2, 2)
        assert np.isfinite(DPGDRegressor(mu=1.0, not_finite="void").fit(frame, [1.0, 2.0]).coef_).all()
        with pytest.raises(ValueError, match="X must hold real numbers") as caught:
            DPGDRegressor(mu=1.0).fit(frame, [1.0, 2.0])
        assert SECRET not in str(caught.value)


def test_errors_that_numpy_raises_on_request_do_not_end_a_fit():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), rng.standard_normal(60)
    X[:4] = [[5e-324, 1e-200], [1e-160, 0.0], [1e308, -1e308], [1e-310, 1e155]]
    y[5:8] = [5e-324, 1e308, -1e-300]
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PrivacyWarning)
        for kind in (ObjectivePerturbationRegressor, ClippedDescentRegressor, BoostedAdaSSPRegressor):
            model = kind(**SCALES, random_state=0).fit(X, y)
            assert np.isfinite(model.predict(X[8:])).all()
        assert np.isfinite(DPGDRegressor(mu=1.0, random_state=0).fit(X, y).predict(X[8:])).all()
        assert np.isfinite(huber.minimiser(X, y, 1.0, 1.0)).all()
        scaled = Schema({"a": number(0, 1), "b": number(1e-3, 1, transform="log")}).transformer().transform(X)
        assert np.isfinite(scaled).all()


@pytest.mark.parametrize("model", [BoostedAdaSSPRegressor, DPGDRegressor])
def test_public_values_with_labels_go_by_their_labels(model):
    rng = np.random.default_rng(0)
    frame, y = pd.DataFrame(rng.standard_normal((30, 2)), columns=["a", "b"]), rng.standard_normal(30)
    common = {"epsilon": 1.0, "delta": 1e-6, "response_scale": 1.0, "random_state": 0}
    turned = {"feature_center": pd.Series({"b": 5.0, "a": 1.0}), "feature_scale": pd.Series({"b": 2.0, "a": 3.0})}
    plain = {"feature_center": [1.0, 5.0], "feature_scale": [3.0, 2.0]}
    np.testing.assert_array_equal(
        model(**common, **turned).fit(frame, y).coef_, model(**common, **plain).fit(frame, y).coef_
    )
    low, high = pd.Series({"b": -9.0, "a": -3.0}), pd.Series({"b": 9.0, "a": 3.0})
    wanted = model(**common, feature_bounds={"a": (-3, 3), "b": (-9, 9)}).fit(frame, y).coef_
    for bounds in ((low, high), pd.DataFrame({"low": low, "high": high}), pd.Series({"b": (-9, 9), "a": (-3, 3)})):
        np.testing.assert_array_equal(model(**common, feature_bounds=bounds).fit(frame, y).coef_, wanted)


def test_masked_cells_are_missing():
    masked = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]])
    np.testing.assert_array_equal(records.doubles("x", masked), [[1.0, math.nan], [3.0, 4.0]])
    read = gate._numbers(DPGDRegressor(mu=1.0, not_finite="void"), "X", masked, 2)
    np.testing.assert_array_equal(read[0], [1.0, math.nan])
    days = np.ma.masked_array(np.array(["2024-01-01"] * 2, "M8[D]"), mask=[0, 1])
    assert np.isnat(cells.instants(days)).tolist() == [False, True]
    for public in ({"feature_bounds": masked}, {"spectrum": masked[0]}, {"response_center": masked[0, 1]}):
        with pytest.raises(ValueError, match=r"got a masked one|spectrum must be"):
            DPGDRegressor(mu=1.0, **public).fit(np.ones((60, 2)), np.ones(60))
    refused("grid must be numbers, got a masked one", private_bounds, [1.0, 2.0], mu=1.0, grid=masked[0])


@each("rule", ["refuse", "void"])
@each(
    ("column", "message"),
    [
        (pd.period_range("2024-01", periods=20, freq="M"), "got period"),
        (pd.interval_range(0, 20), "got interval"),
        (pd.timedelta_range("1D", periods=20), "got durations"),
        (np.arange(20) * 1j, "Complex data not supported"),
        (pd.arrays.SparseArray([0.0] * 20), "Sparse data was passed"),
        (pd.date_range("2024-01-01", periods=20, tz="UTC"), r"got dates \(see column 'b'\)\. For .* state a Schema"),
    ],
)
def test_a_type_that_holds_no_numbers_is_refused_by_its_name(column, message, rule):
    frame = pd.DataFrame({"a": np.arange(20.0)}).assign(b=column)
    with pytest.raises((ValueError, TypeError), match=message):
        DPGDRegressor(mu=1.0, not_finite=rule).fit(frame, np.ones(20))


def test_two_pairs_for_two_features_are_refused_with_both_readings():
    X, y = np.zeros((5, 2)), np.zeros(5)
    for model in (
        DPGDRegressor(mu=1.0, feature_bounds=[(18, 90), (40, 150)]),
        BoostedAdaSSPRegressor(
            feature_bounds=[(18, 90), (40, 150)], **{k: v for k, v in SCALES.items() if k != "feature_scale"}
        ),
    ):
        with pytest.raises(ValueError, match=r"feature 0 is between 18 and 90.*between 18 and 40") as caught:
            model.fit(X, y)
        assert "90 and" in str(caught.value)
    DPGDRegressor(mu=1.0, feature_bounds=(np.array([18, 40]), np.array([90, 150])), random_state=0).fit(X, y)


def test_messages_say_what_is_wrong():
    X, y = np.ones((4, 2)), np.ones(4)
    twice, whole = pd.DataFrame(X, columns=["a", "a"]), pd.DataFrame(X)
    asked = BoostedAdaSSPRegressor(**SCALES)
    for wrong, message in (
        (lambda: asked.fit(twice, y), "X has more than once the columns 'a'"),
        (
            lambda: DPGDRegressor(mu=1.0, feature_bounds={0: (0, 1), 1: (0, 1)}).fit(whole, y),
            "whose columns all have such names",
        ),
        (lambda: DPGDRegressor(mu=1.0).fit_stream([whole], n=4), "must be a pair .X, y. .* got a DataFrame"),
        (lambda: DPGDRegressor(mu=1.0).fit_stream(whole, n=4), "batches must be pairs"),
        (lambda: DPGDRegressor(mu=1.0).fit_stream(lambda: [(X, y)], n=4), "got a function, which is to be called"),
        (lambda: asked.fit_stream(lambda: whole, n=4), "^what read returns must be pairs .* got a DataFrame"),
        (lambda: DPGDRegressor(mu=1.0).fit_stream({"X": X, "y": y}, n=4), "batches must be pairs .* got a dict"),
        (lambda: DPGDRegressor(mu=1.0).fit_stream([(X, None)], n=4), "y"),
        (lambda: DPGDRegressor(mu=1.0).fit_stream([(X, np.array(1.0))], n=4), "y should be a 1d array"),
        (
            lambda: BoostedAdaSSPRegressor(**SCALES | {"spectrum": (c for c in "ab")}).fit(X, y),
            "must be a value that can be cop",
        ),
        (lambda: asked.fit_stream(lambda: [whole], n=4), "must be a pair .X, y. .* got a DataFrame"),
        (lambda: asked.fit(X, y, sample_weight=y), r"^fit\(\) got an unexpected keyword argument 'sample_weight'"),
        (lambda: asked.fit([[1.0, 2.0], [1.0]], [1.0, 2.0]), "with rows of equal length"),
        (lambda: Schema({"sex": boolean()}).transformer().transform({"sex": "no"}), r"a list of one, \[record\]"),
        (lambda: Schema({"age": number(0, 9)}).transformer().transform({"age": 4}), r"a list of one, \[record\]"),
        (lambda: private_bounds(whole, mu=1.0), "values must be one column"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            wrong()


def test_bytes_are_text_and_what_cannot_be_read_is_warned_of_by_its_type():
    schema = Schema({"sex": category(["f", "m"], unknown="f", missing="f")})
    for column in (np.array([b"m", b"f"]), [b"m", b"f"], pd.Series([b"m", b"f"]), np.array(["m", "f"])):
        assert np.asarray(schema.transformer().transform({"sex": column})).ravel().tolist() == [1.0, 0.0]
    with pytest.raises(TypeError, match="got one of type period"):
        Schema({"day": date("2020-01-01", "2021-01-01")}).transformer().transform(
            {"day": pd.Series(pd.period_range("2020-01", periods=2, freq="M"))}
        )
    with pytest.warns(SchemaWarning, match="31/12/2024"):
        Schema({"day": date("2020-01-01", "2021-01-01")}).transformer().transform(pd.DataFrame({"day": ["31/12/2020"]}))


# ------------------------------------------------------------------------------------- every type and hostile value

TRIED = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
FEW = (1, 2, 6, 700)
RATE, CLIP = 3.0, 0.5


@TRIED
@pytest.mark.parametrize("intercept", [True, False])
@given(pair=neighbours((2,), (), records=FEW))
def test_a_replaced_record_moves_a_fit_by_its_sensitivity(intercept, pair):
    """With the same noise θ moves by at most 2ηC_clip/n, whatever the record holds and whatever type it has."""
    asked = {"schedule": Constant(RATE), "clip": CLIP, "shuffle": False, "fit_intercept": intercept, "random_state": 0}
    one, two = (DPGDRegressor(mu=1.0, **asked, not_finite="void").fit(*data) for data in pair)
    most = 2 * RATE / len(pair[0][0]) * CLIP * math.sqrt(2 + intercept)
    moved = math.hypot(*(two.coef_ - one.coef_), two.intercept_ - one.intercept_)
    assert np.isfinite(one.coef_).all()
    assert moved <= most * (1 + 1e-9) + 1e-13 * (1 + math.hypot(*one.coef_, one.intercept_))
    with np.errstate(over="ignore", invalid="ignore"):  # a feature of 1e308 has a prediction beyond doubles
        told = one.predict(pair[0][0])
    assert np.isfinite(told).all() or np.abs(pair[0][0].astype(float)).max() > 1e100


@TRIED
@pytest.mark.parametrize("known", [{"queries": "every"}, {"tasks": "isotropic"}])
@given(pair=neighbours((3, 2), (3,), records=(1, 6, 40)))
def test_a_private_head_of_hostile_prompts_is_finite(known, pair):
    for x, y in pair:
        model = PrivateHeadRegressor(epsilon=1.0, delta=1e-6, **known, not_finite="void", random_state=0).fit(x, y)
        assert np.isfinite(model.Gamma_).all()
        assert np.isfinite(model.predict(x, y)).all()


RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (60, 2))
Y = X[:, 0] - X[:, 1]
PROMPTS = RNG.standard_normal((10, 4, 2)), RNG.standard_normal((10, 4))
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
BOTH_SCALES = {"feature_scale": 1.0, "response_scale": 1.0}


def test_a_score_quotes_no_cell() -> None:
    told = [SECRET, *Y[1:].tolist()]
    search = PrivateSearch(ClippedDescentRegressor(**BOTH_SCALES), [{}], loss_bound=1.0, **BUDGET)
    for model in (DPGDRegressor(mu=1.0), ClippedDescentRegressor(**BUDGET, **BOTH_SCALES), search):
        model.fit(X, Y)
        assert model.score(X.copy(), Y.tolist(), [1] * 60) == model.score(X.copy(), Y) <= 1.0
        for asked in ((X[:], told), (X[:], np.array(told, dtype=object)), (X[:], Y, told)):
            with pytest.raises(ValueError, match="contains NaN") as caught:
                model.score(*asked)
            assert SECRET not in str(caught.value)
    head = NoisyHeadRegressor(**BUDGET).fit(*PROMPTS)
    refused("contains NaN", head.score, *PROMPTS, sample_weight=[SECRET] * 10)


@pytest.mark.parametrize("model", [DPGDRegressor, ClippedDescentRegressor, NoisyHeadRegressor, PrivateSearch])
def test_an_interrupted_fit_leaves_a_receipt_or_nothing(model: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was found: between the coefficients and the receipt was a moment, and the next receipt did not count it."""
    if model is PrivateSearch:
        fitted = model(ClippedDescentRegressor(**BOTH_SCALES), [{}], loss_bound=1.0, **BUDGET)
    else:
        fitted = model(**BUDGET) if model is NoisyHeadRegressor else model(**BUDGET, **BOTH_SCALES)
    data, made, interrupted = PROMPTS if model is NoisyHeadRegressor else (X, Y), Receipt.__post_init__, [True]

    def interrupt(receipt: Receipt) -> None:
        made(receipt)
        if interrupted.pop() and (model is not PrivateSearch or receipt.method.startswith("PrivateSearch")):
            raise KeyboardInterrupt
        interrupted.append(True)

    monkeypatch.setattr(Receipt, "__post_init__", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(*data)
    monkeypatch.undo()
    released = {"coef_", "intercept_", "Gamma_", "best_estimator_", "scores_", "receipt_"}
    assert not released & set(vars(fitted))
    assert fitted.fit(*data).receipt().fit == 1


def test_a_response_may_be_an_array_of_python() -> None:
    """As it was found: it counted as one cell, and "contains NaN"."""
    one, two = (DPGDRegressor(mu=1.0, random_state=0).fit(X, y).coef_ for y in (Y, array("d", Y)))
    np.testing.assert_array_equal(one, two)
