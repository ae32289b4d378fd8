"""What one record holds decides nothing of how the others are read, and no cell ends a fit or is quoted."""

import datetime
import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from costofprivacy.estimators import (
    DPGDRegressor,
    NoisyHeadRegressor,
    PrivateLinearRegression,
    Schema,
    boolean,
    category,
    date,
    gate,
    number,
)
from costofprivacy.estimators.private_bounds import private_bounds
from costofprivacy.estimators.schema import SchemaWarning
from costofprivacy.privacy import PrivacyWarning, records
from costofprivacy.rivals import batch_descent, guarded_descent, huber, streams
from tests.each import each

pytestmark = pytest.mark.filterwarnings("ignore:random_state=:costofprivacy.privacy.PrivacyWarning")
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


class EvilType(type):
    """The type of a type that cannot be compared, hashed or asked for a name."""

    def __eq__(cls, _):
        raise KeyError(SECRET)

    def __hash__(cls):
        raise KeyError(SECRET)

    def __getattr__(cls, _):
        raise KeyError(SECRET)


class OfEvilType(metaclass=EvilType):
    """A cell of such a type."""


CELLS = [
    *(np.timedelta64(5, "D"), np.datetime64("2024-01-01"), np.datetime64("NaT"), pd.Timestamp("2024-01-01"), pd.NaT),
    *(pd.Timedelta("5D"), pd.Period("2024-01"), pd.Interval(0, 1), pd.NA, None, math.nan, np.ma.masked),
    *(datetime.timedelta(5), datetime.date(2024, 1, 1), 1j, np.complex64(2), np.void(b"12"), bytearray(b"1"), Evil()),
    *(Decimal("1.5"), Decimal("sNaN"), Decimal("1e400"), Fraction(1, 3), Fraction(10**400), 10**400, -(10**400)),
    *(b"1.5", b"\xff", np.bytes_(b"2"), np.str_("2"), "1e5", "nan", "inf", " 1 ", "1_000", "١٢", "unknown", ""),
    *(np.bool(True), True, np.float16(0.1), np.longdouble("1e400"), np.int8(-128), np.uint64(2**64 - 1), np.array(2.0)),
    OfEvilType(),
    *(np.array(np.timedelta64(5, "D")), np.array(["1"]), [1.0], [1.0, 2.0], (1.0,), {1.0}, {"a": 1}, object()),
]


@each("other", [0.5, "unknown", Evil(), np.timedelta64(5, "D"), [1, 2], None])
@each("make", ["rows", "objects", "frame", "tuples"])
def test_a_cell_is_read_alone_whatever_holds_it_and_whatever_the_others_are(make, other):
    wanted = [records.number(cell) for cell in CELLS]
    rows = [[cell, 1.0] for cell in CELLS] + [[2.0, other]]
    if make == "objects":
        given = np.empty((len(rows), 2), dtype=object)
        for k, row in enumerate(rows):
            given[k, 0], given[k, 1] = row
    elif make == "frame":
        given = pd.DataFrame({name: pd.Series([row[k] for row in rows], dtype=object) for k, name in enumerate("ab")})
    else:
        given = rows if make == "rows" else tuple(map(tuple, rows))
    found = gate._numbers(DPGDRegressor(rho=1.0, not_finite="void"), "X", given, 2)
    np.testing.assert_array_equal(found[:-1, 0], wanted)
    np.testing.assert_array_equal(found[:-1, 1], 1.0)
    assert found[-1, 0] == 2.0


def stays(n=40):
    rng = np.random.default_rng(0)
    return [[np.timedelta64(int(k), "D"), float(a)] for k, a in zip(rng.integers(1, 9, n), rng.standard_normal(n))]


@each("wrong", ["unknown", Evil(), 1j, [1, 2], pd.NaT])
@each("model", [PrivateLinearRegression, DPGDRegressor])
def test_an_unreadable_cell_makes_its_own_record_void_and_no_other(model, wrong):
    """As it was found: one word made durations, which were numbers before, nothing in all records."""
    X, y = stays(), np.arange(40.0)
    estimator = model(**(SCALES | {"not_finite": "void", "random_state": 0}))
    other = [list(row) for row in X]
    other[3] = [1.0, wrong]
    void = [list(row) for row in X]
    void[3] = [1.0, math.nan]
    np.testing.assert_array_equal(estimator.fit(other, y).coef_, estimator.fit(void, y).coef_)


@pytest.mark.parametrize("wrong", ["unknown", Evil(), 1j, np.timedelta64(1, "D")], ids=lambda cell: type(cell).__name__)
def test_so_it_is_for_lists_given_to_a_method_for_prompts_and_for_streams(wrong):
    rng, plan = np.random.default_rng(0), batch_descent.Plan(1.0, (0.5,), 1.0)
    x, y = rng.standard_normal((20, 2)).tolist(), rng.standard_normal(20).tolist()
    other = [[0.0, wrong] if k == 3 else row for k, row in enumerate(x)]
    void = [[0.0, math.nan] if k == 3 else row for k, row in enumerate(x)]

    def released(rows):
        return guarded_descent.release(rows, y, plan, rng=np.random.default_rng(0))

    def streamed(rows):
        return streams.descend(
            lambda: [(rows[:7], y[:7]), (rows[7:], y[7:])], 20, 2, plan, rng=np.random.default_rng(0)
        )

    np.testing.assert_array_equal(released(other), released(void))
    np.testing.assert_array_equal(streamed(other), streamed(void))
    X, Y = rng.standard_normal((6, 3, 2)).tolist(), rng.standard_normal((6, 3)).tolist()
    head = NoisyHeadRegressor(epsilon=1.0, delta=1e-6, not_finite="void", random_state=0)
    X[2][1][0] = wrong
    one = head.fit(X, Y).Gamma_
    X[2][1][0] = math.nan
    np.testing.assert_array_equal(one, head.fit(X, Y).Gamma_)


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
        assert np.isfinite(DPGDRegressor(rho=1.0, not_finite="void").fit(frame, [1.0, 2.0]).coef_).all()
        with pytest.raises(ValueError, match="X must hold real numbers") as caught:
            DPGDRegressor(rho=1.0).fit(frame, [1.0, 2.0])
        assert SECRET not in str(caught.value)


def test_errors_that_numpy_raises_on_request_do_not_end_a_fit():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2)), rng.standard_normal(30)
    X[:4] = [[5e-324, 1e-200], [1e-160, 0.0], [1e308, -1e308], [1e-310, 1e155]]
    y[5:8] = [5e-324, 1e308, -1e-300]
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PrivacyWarning)
        for method in ("objective", "descent", "boosted"):
            model = PrivateLinearRegression(**SCALES, method=method, random_state=0).fit(X, y)
            assert np.isfinite(model.predict(X[8:])).all()
        assert np.isfinite(DPGDRegressor(rho=1.0, random_state=0).fit(X, y).predict(X[8:])).all()
        assert np.isfinite(huber.minimiser(X, y, 1.0, 1.0)).all()
        scaled = Schema({"a": number(0, 1), "b": number(1e-3, 1, transform="log")}).transformer().transform(X)
        assert np.isfinite(scaled).all()


@pytest.mark.parametrize("model", [PrivateLinearRegression, DPGDRegressor])
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
    np.testing.assert_array_equal(
        gate._numbers(DPGDRegressor(rho=1.0, not_finite="void"), "X", masked, 2)[0], [1.0, math.nan]
    )


@pytest.mark.parametrize("rule", ["refuse", "void"])
@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.period_range("2024-01", periods=20, freq="M"), "got period"),
        (pd.interval_range(0, 20), "got interval"),
        (pd.timedelta_range("1D", periods=20), "got durations"),
        (np.arange(20) * 1j, "Complex data not supported"),
        (pd.arrays.SparseArray([0.0] * 20), "Sparse data was passed"),
    ],
    ids=["period", "interval", "duration", "complex", "sparse"],
)
def test_a_type_that_holds_no_numbers_is_refused_by_its_name(column, message, rule):
    frame = pd.DataFrame({"a": np.arange(20.0)}).assign(b=column)
    with pytest.raises((ValueError, TypeError), match=message):
        DPGDRegressor(rho=1.0, not_finite=rule).fit(frame, np.ones(20))


def test_two_pairs_for_two_features_are_refused_with_both_readings():
    X, y = np.zeros((5, 2)), np.zeros(5)
    for model in (
        DPGDRegressor(rho=1.0, feature_bounds=[(18, 90), (40, 150)]),
        PrivateLinearRegression(
            feature_bounds=[(18, 90), (40, 150)], **{k: v for k, v in SCALES.items() if k != "feature_scale"}
        ),
    ):
        with pytest.raises(ValueError, match=r"feature 0 is between 18 and 90.*between 18 and 40") as caught:
            model.fit(X, y)
        assert "90 and" in str(caught.value)
    DPGDRegressor(rho=1.0, feature_bounds=(np.array([18, 40]), np.array([90, 150])), random_state=0).fit(X, y)


def test_messages_say_what_is_wrong():
    X, y = np.ones((4, 2)), np.ones(4)
    twice, whole = pd.DataFrame(X, columns=["a", "a"]), pd.DataFrame(X)
    asked = PrivateLinearRegression(**SCALES)
    for wrong, message in (
        (lambda: asked.fit(twice, y), "X has more than once the columns 'a'"),
        (
            lambda: DPGDRegressor(rho=1.0, feature_bounds={0: (0, 1), 1: (0, 1)}).fit(whole, y),
            "whose columns all have such names",
        ),
        (lambda: DPGDRegressor(rho=1.0).fit_stream([whole], n=4), "must be a pair .X, y. .* got a DataFrame"),
        (lambda: DPGDRegressor(rho=1.0).fit_stream(whole, n=4), "batches must be pairs"),
        (lambda: DPGDRegressor(rho=1.0).fit_stream([(X, None)], n=4), "y"),
        (lambda: asked.fit_stream(lambda: [whole], n=4), "must be a pair .X, y. .* got a DataFrame"),
        (lambda: asked.fit(X, y, sample_weight=y), r"^fit\(\) got an unexpected keyword argument 'sample_weight'"),
        (lambda: asked.fit([[1.0, 2.0], [1.0]], [1.0, 2.0]), "with rows of equal length"),
        (lambda: Schema({"sex": boolean()}).transformer().transform({"sex": "no"}), r"a list of one, \[record\]"),
        (lambda: Schema({"age": number(0, 9)}).transformer().transform({"age": 4}), r"a list of one, \[record\]"),
        (lambda: private_bounds(whole, rho=1.0), "values must be one column"),
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
    for table in (pd.DataFrame({"sex": ["x"]}), [{"sex": "x"}]):
        with pytest.warns(SchemaWarning, match="counts as 'f'"):
            Schema({"sex": category(["f", "m"])}).transformer().transform(table)
