"""Public schemas: each row from its record alone, the same in every representation, and never a cell in a message."""

import datetime
import io
import json
import math
import pickle
import traceback
import warnings
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from costofprivacy.estimators import DPGDRegressor, PrivateLinearRegression, cells, units
from costofprivacy.estimators.schema import Schema, SchemaWarning, boolean, category, date, number
from tests.costofprivacy.estimators import conformance
from tests.each import each, refused

DOUBTS: list[tuple[Any, Any, str]] = [
    (category(["f", "m"]), pd.Series([1, 2]), "no cell can be one of the listed values"),
    (category(["f", "m"]), pd.Series([1, 2], dtype="category"), "no cell can be one of the listed values"),
    (category([1, 2]), pd.Series(pd.to_datetime(["2024-01-01", None])), "no cell can be one of the listed values"),
    (category([1, 2]), pd.Series([True, False]), "no cell can be one of the listed values"),
    (category([1, 2]), pd.Series(["1", "2"]), ""),
    (category(["f", "True"]), pd.Series([True, False]), ""),
    (number(0, 1), pd.Series(["27,500", "1"]), "cannot be read as a number"),
    (number(0, 1), pd.Series([1, None], dtype=object), "cannot be read as a number"),
    (number(0, 1), pd.Series(pd.to_datetime(["2024-01-01", None])), "no cell can be read as a number"),
    (number(0, 1), pd.Series([True, False]), ""),
    (boolean(), pd.Series(pd.to_datetime(["2024-01-01", None])), "no cell is true or false"),
    (boolean(), pd.Series(["yes", "no"]), ""),
    (date("2020-01-01", "2024-12-31"), pd.Series([20240101, 20240102]), "no cell can be read as a date"),
    (date("2020-01-01", "2024-12-31"), pd.Series(["31/12/2022", "x"]), ""),
]

pytestmark = [
    pytest.mark.filterwarnings("ignore:by their types alone:costofprivacy.estimators.schema.SchemaWarning"),
]
SECRET = conformance.SECRET
TRIED = settings(max_examples=40, deadline=None)
SCHEMA = Schema(
    {
        "age": number(18, 90, indicator=True),
        "pay": number(0, 1e6, transform="log1p", typical=2000),
        "sex": category(["f", "m"], unknown="other", missing="other"),
        "stage": category([1, 2, 3], missing="missing", drop_first=False),
        "smoker": boolean(),
        "visit": date("2020-01-01", "2024-12-31", cycles=["month", "weekday"]),
    }
)
PEOPLE = pd.DataFrame(
    {
        "age": [40, 18, 90, 54],
        "pay": [0.0, 2000.5, 1e6, 12.0],
        "sex": ["f", "m", "x", "m"],
        "stage": [1, 2, 3, 9],
        "smoker": [True, False, True, False],
        "visit": pd.to_datetime(["2020-01-01", "2024-12-31", "2022-02-28", "2023-07-09"]),
    }
)


class Vicious:
    """Whatever is done to it raises an error that quotes a value."""

    def _raise(self, *_: Any) -> Any:
        raise RuntimeError(SECRET)

    __float__ = __str__ = __repr__ = __hash__ = __eq__ = __len__ = __bool__ = __array__ = __index__ = _raise


class ViciousNumber(float):
    __float__ = __eq__ = __hash__ = __gt__ = Vicious._raise


class ViciousText(str):
    __hash__ = __eq__ = strip = lower = Vicious._raise


class ViciousColumn(list):
    tolist = Vicious._raise


HOSTILE: list[Any] = [
    *(None, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 10**400, -(10**400), 2**63, True, np.True_),
    *(pd.NA, pd.NaT, np.datetime64("NaT"), np.datetime64(10**9, "Y"), np.timedelta64(3, "D"), datetime.timedelta(3)),
    *(Decimal("1e500"), Decimal("sNaN"), Fraction(10**400), 1j, np.complex128(3), np.float32(0.1), np.int8(3)),
    *("", "  ", "nan", "inf", "1e999", "1_0", "3.0", SECRET, SECRET.encode(), "2024-02-30", "2024-02-29", "0000-00-00"),
    *(
        [1.0],
        (1.0,),
        {SECRET: 1},
        np.array([3.0]),
        np.array(3.0),
        object(),
        Vicious(),
        ViciousNumber(3),
        ViciousText(3),
    ),
    *(datetime.date.min, datetime.date.max, datetime.datetime.max.replace(tzinfo=datetime.UTC), pd.Timestamp.max),
    *(
        pd.Timestamp("2024-03-01", tz="Asia/Tokyo"),
        datetime.time(3),
        np.longdouble("1e400"),
        np.datetime64("2024", "Y"),
    ),
]


def features(table: Any, schema: Schema = SCHEMA) -> np.ndarray:
    return np.asarray(schema.transformer().transform(table))


CLEAN = features(PEOPLE)


# what a cell becomes


def test_a_number_is_clipped_transformed_and_carried_to_the_unit_interval():
    kind = number(10, 1000, transform="log", typical=100, indicator=True)
    given = [10, 1000, 1e9, -5, 100, 31.6, None, math.inf]
    expected = [(-1 + 2 * math.log10(min(max(v, 10), 1000) / 10) / 2) for v in (10, 1000, 1e9, -5, 100, 31.6, 100, 1e3)]
    np.testing.assert_allclose(kind.images(given)[:, 0], expected, atol=1e-12)
    assert kind.images(given)[:, 1].tolist() == [0, 0, 0, 0, 0, 0, 1, 0]


@pytest.mark.parametrize(("transform", "low", "high"), [("sqrt", 0, 9), ("asinh", -1e9, 5), ("log1p", -0.5, 3)])
def test_transforms_attain_the_bounds_and_keep_the_order(transform, low, high):
    found = number(low, high, transform=transform).images(np.linspace(low, high, 101))[:, 0]
    assert (found[0], found[-1]) == (-1, 1)
    assert (np.diff(found) > 0).all()


@TRIED
@given(st.floats(-1e50, 1e50), st.floats(1e-9, 1e50), st.lists(st.floats(), min_size=1, max_size=5))
def test_a_scaled_number_is_what_fractions_say(low, width, values):
    high = low + width
    if not (low < high <= 1e50):
        return
    found = number(low, high).images(values)[:, 0]
    assert (np.abs(found) <= 1).all()
    for value, image in zip(values, found):
        if math.isnan(value):
            assert image == 0
            continue
        inside = Fraction(low) if value <= low else Fraction(high) if value >= high else Fraction(value)
        exact = 2 * (inside - Fraction(low)) / (Fraction(high) - Fraction(low)) - 1
        assert abs(float(exact) - image) < 1e-14


def test_a_category_is_what_the_one_hot_encoder_with_fixed_categories_says():
    values = ["b", "a", "c", "zz", "a"]
    table = np.array([["a"], ["b"], ["c"], ["a"], ["zz"], ["new"]], dtype=object)
    for drop, kept in ((None, False), ("first", True)):
        encoder = OneHotEncoder(categories=[values[:4]], handle_unknown="ignore", sparse_output=False, drop=drop)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # "found unknown categories"
            expected = encoder.fit(table[:5]).transform(table)
        found = category(values[:4], unknown="zeros", missing="zeros", drop_first=kept)
        np.testing.assert_array_equal(found.images(table[:, 0]), expected)
        assert found.features("x") == list(encoder.get_feature_names_out(["x"]))


def test_unknown_and_missing_values_follow_the_public_rules():
    cell = ["a", "b", "q", None]

    def rows(**rules: Any) -> list[list[float]]:
        return category(["a", "b"], drop_first=False, **rules).images(cell).tolist()

    other = {"unknown": "other", "missing": "other"}
    assert rows(**other) == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    assert rows(**other | {"missing": "missing"}) == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert rows(missing="b", unknown="zeros") == [[1, 0], [0, 1], [0, 0], [0, 1]]
    assert rows(unknown="b", missing="zeros") == [[1, 0], [0, 1], [0, 1], [0, 0]]
    listed = category(["a", "other"], **other, drop_first=False)
    assert listed.images(cell).tolist() == [[1, 0], [0, 1], [0, 1], [0, 1]]
    assert listed.features("x") == ["x_a", "x_other"]


def test_a_date_is_what_the_calendar_says():
    days = pd.date_range("2019-12-30", "2025-01-02", freq="17h")
    found = date("2020-01-01", "2024-12-31", cycles=["month", "weekday"]).images(days.to_series())
    inside = days.to_series().clip(pd.Timestamp("2020-01-01"), pd.Timestamp("2024-12-31"))
    seconds = (inside - pd.Timestamp("2020-01-01")).dt.total_seconds()
    angles = 2 * np.pi * (inside.dt.month - 1) / 12, 2 * np.pi * inside.dt.day_of_week / 7
    expected = [2 * seconds / (1826 * 86400) - 1, *(wave(angle) for angle in angles for wave in (np.sin, np.cos))]
    np.testing.assert_allclose(found, np.column_stack(expected), atol=1e-12)


# a row depends on its record alone


@TRIED
@given(st.lists(st.tuples(*[st.sampled_from(range(len(HOSTILE)))] * 6), min_size=1, max_size=8))
def test_each_row_depends_on_its_record_alone(chosen):
    records = [[HOSTILE[k] for k in row] for row in chosen]
    together = features(records)
    np.testing.assert_array_equal(together, np.concatenate([features([record]) for record in records]))
    low, high = SCHEMA.feature_bounds()
    assert np.isfinite(together).all()
    assert ((together >= low) & (together <= high)).all()


@each("name", PEOPLE.columns)
@each("place", range(len(HOSTILE)))
def test_one_cell_that_changes_the_type_of_a_column_changes_its_own_row_alone(name, place):
    """The clean column has one type of number; with any other cell among its cells it is a column of objects."""
    neighbour = PEOPLE.astype({name: object})
    neighbour.at[2, name] = HOSTILE[place]
    rows = [0, 1, 3]
    np.testing.assert_array_equal(features(neighbour)[rows], CLEAN[rows])


@TRIED
@given(st.lists(st.one_of(st.integers(-(2**70), 2**70), st.floats(width=32), st.floats(), st.booleans()), min_size=1))
def test_numbers_are_read_the_same_one_by_one_and_at_once(values):
    apart = np.concatenate([cells.numbers([value]) for value in values])
    np.testing.assert_array_equal(cells.numbers(pd.Series(values)), apart)
    np.testing.assert_array_equal(cells.numbers(pd.Series(values, dtype=object)), apart)
    if not any(isinstance(value, bool) for value in values):
        np.testing.assert_array_equal(cells.numbers([repr(value) for value in values]), apart)


@pytest.mark.slow
@TRIED
@given(st.lists(st.datetimes(min_value=datetime.datetime(1700, 1, 1), max_value=datetime.datetime(2200, 1, 1))))
def test_instants_are_read_the_same_one_by_one_and_at_once(moments):
    apart = cells.instants(moments)
    for unit in ("ns", "us"):
        at_once = pd.Series(moments, dtype=f"datetime64[{unit}]")
        np.testing.assert_array_equal(cells.instants(at_once), apart)
        np.testing.assert_array_equal(cells.instants(at_once.astype(object)), apart)
        np.testing.assert_array_equal(cells.instants(at_once.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")), apart)
    np.testing.assert_array_equal(cells.instants([moment.isoformat() for moment in moments]), apart)


@pytest.mark.parametrize("nanoseconds", [-1, -999, -1001, 1, 999, 1001])
def test_nanoseconds_are_rounded_down_on_both_ways(nanoseconds):
    stamp = pd.Timestamp(nanoseconds, unit="ns")
    at_once, apart = cells.instants(pd.Series([stamp], dtype="datetime64[ns]")), cells.instants([stamp])
    assert at_once[0] == apart[0] == np.datetime64(math.floor(nanoseconds / 1000), "us")


# every representation of a table


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype({"visit": str}).map(str)


NUMERIC = {"age": "Int64", "pay": "Float64", "stage": "Int8", "smoker": "boolean", "sex": "category"}
FORMS = {
    "objects": lambda frame: frame.astype(object),
    "text, as from a CSV file": as_text,
    "nullable types": lambda frame: frame.astype(NUMERIC),
    "floating point": lambda frame: frame.astype({"age": "float32", "stage": "float16", "smoker": float}),
    "another order": lambda frame: frame[frame.columns[::-1]],
    "a mapping": lambda frame: {name: list(frame[name]) for name in frame},
    "records": lambda frame: frame.to_dict("records"),
    "rows": lambda frame: frame.to_numpy().tolist(),
    "an array of objects": lambda frame: frame.to_numpy(dtype=object),
    "another index": lambda frame: frame.set_index(pd.Index(["a", "a", "b", "c"])),
}


@each("form", FORMS)
def test_every_representation_gives_the_same_features(form):
    np.testing.assert_array_equal(features(FORMS[form](PEOPLE)), features(PEOPLE))


def test_frames_with_missing_values_give_the_same_features():
    gaps = PEOPLE.astype(object).where(np.eye(4, 6) == 0, None)
    typed = gaps.astype(NUMERIC | {"visit": "datetime64[s]"})
    floats = gaps.astype({"age": float, "pay": float, "stage": float})
    text = as_text(gaps).where(gaps.notna(), "")
    for table in (typed, floats, text, gaps.to_dict("records")):
        np.testing.assert_array_equal(features(table), features(gaps))


def test_a_list_of_records_lacks_and_adds_keys_without_an_error():
    full = {"age": 40, "pay": 1, "sex": "m", "stage": 2, "smoker": True, "visit": "2021-01-01"}
    records = [full, full | {SECRET: SECRET}, {}, SECRET, None, Vicious(), [1, 2], 7]
    found = features(records)
    np.testing.assert_array_equal(found[0], found[1])
    for row in found[2:]:
        np.testing.assert_array_equal(row, features([[None] * 6])[0])


# what is refused, and in which words


@each("table", [SECRET, None, 3, Vicious(), {SECRET}, dict.fromkeys(SCHEMA.names, ViciousColumn([1]))])
def test_what_is_no_table_is_refused_by_its_type(table):
    with pytest.raises(TypeError, match=r"X must be|a column of a ViciousColumn cannot be read") as caught:
        features(table)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@each(
    ("wrong", "words"),
    [
        (lambda: number(3, 3), "low must be below high"),
        (lambda: number(0, 1, transform="log"), "domain of log"),
        (lambda: number(0, 1, typical=2), "typical must be between"),
        (lambda: number(0, math.inf), "high must be between"),
        (lambda: number(0, 1, std=2), "std must be between"),
        (lambda: category(["a", "b"], shares=[0.5]), "shares must be one for each value"),
        (lambda: category(["a", "b"], shares=[0.5, 0.6]), "sum of at most 1"),
        (lambda: boolean(share=0), "share must be"),
        (lambda: number(0, 1, indicator=1), "indicator must be True or False"),
        (lambda: category(["a", "a "]), "distinct"),
        (lambda: category(["zeros"]), "distinct"),
        (lambda: category([True, False]), "text or a finite number"),
        (lambda: category(["a"], unknown="a", missing="a"), "leave a feature"),
        (lambda: number(0, 1, outside="zero"), "outside must be one of clip, missing"),
        (lambda: date("2020-01-01", "2020-12-31", format="%d/%m"), "format must tell day, month and year"),
        (lambda: date("1950-01-01", "2020-12-31", format="%d/%m/%y"), "from low to high"),
        (lambda: date("2020-01-01", "2020-12-31", format=3), "format must tell"),
        (lambda: Schema({"a": boolean()}, response=number(0, 1)), "response must be one column"),
        (lambda: Schema({"a": boolean()}, response={"a": number(0, 1)}), "response must be one column"),
        (lambda: Schema({"a": boolean()}, response={"b": boolean()}), "response must be one column"),
        (lambda: Schema({"a": boolean()}).read([{"a": 1}]), "response must be stated"),
        (lambda: category(["a", "b"], unknown="c"), "unknown must be other, zeros or a listed value"),
        (lambda: boolean(typical=1), "typical must be True or False"),
        (lambda: date("2020-01-02", "2020-01-01"), "low must be before high"),
        (lambda: date("2020-01-01", "2020-12-31", cycles=["moon"]), "each of cycles must be one of"),
        (lambda: Schema({"a": 3}), "must map text to one of"),
        (lambda: Schema({"a_b": boolean(), "a": category(["z", "b"])}), "distinct names"),
    ],
)
def test_a_schema_that_makes_no_sense_is_refused(wrong, words):
    refused(words, wrong)


# scikit-learn


def test_fit_learns_nothing_and_reads_no_cell():
    one = SCHEMA.transformer().fit(PEOPLE)
    cell = np.empty(1, dtype=object)  # pandas 2 would look into a list
    cell[0] = Vicious()
    other = SCHEMA.transformer().fit(pd.DataFrame(dict.fromkeys(PEOPLE, cell)))
    assert pickle.dumps(one) == pickle.dumps(other)
    np.testing.assert_array_equal(other.transform(PEOPLE), features(PEOPLE))
    assert list(one.feature_names_in_) == list(PEOPLE)


def test_it_is_cloned_pickled_and_named():
    fitted = clone(SCHEMA.transformer().fit(PEOPLE))
    assert fitted.get_params()["schema"] == SCHEMA
    again = pickle.loads(pickle.dumps(fitted)).set_output(transform="pandas")
    named = again.fit_transform(PEOPLE.set_index(pd.Index([7, 5, 5, 1])))
    assert list(named.columns) == list(again.get_feature_names_out()) == SCHEMA.feature_names()
    assert list(named.index) == [7, 5, 5, 1]
    assert list(again.fit_transform(PEOPLE.to_dict("records")).columns) == SCHEMA.feature_names()


# what the type of a column shows


def people(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"age": rng.uniform(18, 90, n), "sex": rng.choice(["f", "m"], n), "smoker": rng.random(n) < 0.3}
    )
    noise = rng.standard_normal(n)
    return frame, 20 + 0.3 * frame["age"] + 6 * (frame["sex"] == "m") - 8 * frame["smoker"] + noise


def test_expected_moments_are_those_of_data_of_that_law():
    rng, n = np.random.default_rng(0), 200_000
    schema = Schema(
        {
            "a": number(-100, 300, typical=40, std=10),
            "b": number(1, 1e6, transform="log", typical=100, std=0.5),
            "c": number(0, 1),
            "d": category(["x", "y", "z"], unknown="x", missing="x", shares=[0.7, 0.2, 0.1]),
            "e": boolean(share=0.1),
            "f": date("2020-01-01", "2024-01-01", cycles=["month"]),
        }
    )
    table = {
        "a": rng.normal(40, 10, n),
        "b": 100 * np.exp(rng.normal(0, 0.5, n)),
        "c": rng.uniform(0, 1, n),
        "d": rng.choice(["x", "y", "z"], n, p=[0.7, 0.2, 0.1]),
        "e": rng.random(n) < 0.1,
        "f": pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1461, n), unit="D")),
    }
    found, (center, scale) = features(table, schema), schema.feature_scales()
    np.testing.assert_allclose(found.mean(axis=0), center, atol=0.02)
    np.testing.assert_allclose(found.std(axis=0), scale, rtol=0.02)
    one = Schema({"a": category(["x", "y"], unknown="other", missing="missing"), "b": number(0, 1, indicator=True)})
    assert len(one.feature_scales()[0]) == len(one.feature_bounds()[0]) == 5


def test_a_stated_deviation_makes_generous_bounds_cost_nothing():
    X, y = people(2000)
    fits = []
    for low, high, std in ((18, 90, None), (-1000, 1108, 72 / 12**0.5)):
        schema = Schema({"age": number(low, high, std=std)})
        center, scale = schema.feature_scales()
        model = DPGDRegressor(
            mu=1.0, feature_center=center, feature_scale=scale, response_bounds=(0, 60), random_state=0
        )
        fits.append(make_pipeline(schema.transformer(), model).fit(X[["age"]], y).predict(X[["age"]]))
    np.testing.assert_allclose(*fits, rtol=1e-6)


# for a paper


def test_a_schema_is_saved_and_loaded():
    again = Schema.from_json(SCHEMA.to_json())
    assert again == SCHEMA
    assert again.feature_names() == SCHEMA.feature_names()
    assert json.loads(SCHEMA.to_json())["columns"][0] == {
        "name": "age", "kind": "number", "low": 18.0, "high": 90.0,
        "transform": "identity", "typical": None, "std": None, "indicator": True, "outside": "clip",
    }  # fmt: skip
    for wrong in ("", "[]", "{}", SCHEMA.to_json().replace("number", "matrix"), SCHEMA.to_json().replace("90", "1")):
        refused("text must be a schema", Schema.from_json, wrong)
    refused("each column once", Schema.from_json, SCHEMA.to_json().replace('"pay"', '"age"'))


def test_coefficients_are_told_in_the_units_of_the_columns():
    """A step of one unit changes the prediction by the coefficient."""
    coef = np.arange(1.0, len(SCHEMA.feature_names()) + 1)
    told = SCHEMA.coefficients(coef).set_index("feature")
    person = {"age": 40, "pay": 100.0, "sex": "f", "stage": 1, "smoker": False, "visit": "2021-03-04"}

    def step(**change: Any) -> float:
        (before,), (after,) = features([person]), features([person | change])
        return float((after - before) @ coef)

    assert step(age=41) == pytest.approx(told.loc["age", "coefficient"])
    assert step(pay=101 * math.e - 1) == pytest.approx(told.loc["pay", "coefficient"])
    assert step(sex="m") == pytest.approx(told.loc["sex_m", "coefficient"])
    assert step(smoker=True) == pytest.approx(told.loc["smoker", "coefficient"])
    linear = Schema({"visit": date("2020-01-01", "2024-12-31")})
    (a,), (b,) = (features([{"visit": day}], linear) for day in ("2021-03-04", "2021-03-05"))
    assert (b - a)[0] * 5 == pytest.approx(linear.coefficients([5.0])["coefficient"][0])
    assert set(told["per"]) == {"unit", "indicator", "log1p", "day", "wave"}
    refused("values must have shape", SCHEMA.coefficients, [1.0])
    table = pd.DataFrame({"coef": coef, "low": coef - 1, "high": 2 * coef}, index=told.index)
    found = SCHEMA.coefficients(pd.concat([table, table.iloc[:1].rename(index=lambda _: "intercept")]))
    assert list(found.columns) == ["feature", "coefficient", "low", "high", "per"]
    for name, values in (("coefficient", coef), ("low", coef - 1), ("high", 2 * coef)):
        np.testing.assert_allclose(found[name], SCHEMA.coefficients(values)["coefficient"])
    refused("a row for each of the", SCHEMA.coefficients, table[:2])


def test_columns_are_refused_by_their_public_names():
    transformer = SCHEMA.transformer()
    for call in (transformer.fit, transformer.transform):
        refused("lacks the columns 'pay'", call, PEOPLE.drop(columns="pay"))
        refused("does not know: 'city'", call, PEOPLE.assign(city=1))
        refused("more than once the columns 'age'", call, pd.concat([PEOPLE, PEOPLE[["age"]]], axis=1))
        refused(r"shape \(any, 6\)", call, np.ones((3, 2)))
    np.testing.assert_array_equal(
        SCHEMA.transformer(extra_columns="ignore").transform(PEOPLE.assign(city=1)), features(PEOPLE)
    )
    refused("equal lengths", features, {name: list(range(3 + (name == "age"))) for name in PEOPLE})


def test_by_default_a_value_that_is_not_listed_is_a_level_of_its_own():
    kind, told = category(["a", "b"]), category(["a", "b"], unknown="a", missing="a")
    assert kind.images(["a", "b", "q", None]).tolist() == [[0, 0], [1, 0], [0, 1], [0, 1]]
    assert told.images(["a", "b", "q", None]).tolist() == [[0], [1], [0], [0]]
    for asked in ({}, {"drop_first": False}, {"shares": [0.2, 0.3]}):
        kind = category(["a", "b"], **asked)
        assert kind.features("x")[-1] == "x_other"
        assert len(kind.features("x")) == len(kind.bounds()) == len(kind.moments()) == len(kind.units())
    zeros = {"unknown": "zeros", "missing": "zeros"}
    told = Schema({"x": category(["a", "b"], **zeros), "y": category([1, 2], drop_first=False, **zeros)}).table()
    assert told["missing counts as"].tolist() == told["outside counts as"].tolist() == ["a", "none of the values"]


# an untidy file


UNTIDY = [*HOSTILE, 999, "999", "31/12/2023", "1/2/2023", " 31/12/2023 ", "2023-02-01", "31/02/2023", "01/01/1900"]
KINDS = [
    number(0, 9, outside="missing"),
    *(date("2023-01-01", "2023-12-31", format="%d/%m/%Y", outside=rule) for rule in ("clip", "missing")),
]


@each("kind", KINDS)
def test_codes_and_formats_are_read_cell_by_cell(kind):
    together = kind.images(UNTIDY)
    np.testing.assert_array_equal(together, np.concatenate([kind.images([cell]) for cell in UNTIDY]))
    np.testing.assert_array_equal(together[::-1], kind.images(pd.Series(UNTIDY[::-1], dtype=object)))
    assert (np.abs(together) <= 1).all()


def test_a_code_outside_the_bounds_counts_as_missing_where_that_is_stated():
    codes = [50, 999, "-1", None, math.inf]
    coded, clipped = (number(0, 100, typical=30, indicator=True, outside=rule) for rule in ("missing", "clip"))
    np.testing.assert_allclose(coded.images(codes), [[0, 0], *[[-0.4, 1]] * 4], atol=1e-15)
    np.testing.assert_allclose(clipped.images(codes), [[0, 0], [1, 0], [-1, 0], [-0.4, 1], [1, 0]], atol=1e-15)
    assert Schema({"x": coded}).table()["outside counts as"].tolist() == ["30"]
    day = date("2023-01-01", "2023-12-31", indicator=True, outside="missing")
    assert day.images(["1900-01-01", "2023-12-31"])[:, 1].tolist() == [1, 0]


def test_dates_are_read_in_their_public_format_alone():
    asked = {"low": "2023-01-01", "high": "2023-12-31", "indicator": True}
    ours, iso = date(**asked, format="%d/%m/%Y"), date(**asked)
    np.testing.assert_array_equal(ours.images(["05/04/2023", "5/4/2023"]), iso.images(["2023-04-05"] * 2))
    assert ours.images(["2023-04-05", "13/13/2023", "04/05/23"])[:, 1].tolist() == [1, 1, 1]
    typed = pd.Series(pd.to_datetime(["2023-04-05", None]))  # a date is a date, whatever the format of text
    np.testing.assert_array_equal(ours.images(typed), iso.images(typed))
    assert Schema.from_json(Schema({"x": ours}).to_json()) == Schema({"x": ours})
    assert Schema({"x": ours}).table()["expected"].tolist() == ["text as %d/%m/%Y"]


FILE = """id,age,ward,seen,cost
1,40,north,31/12/2023,1000
2,999,nroth,2023-12-30,
3,,south,,9999
"""
STATED = Schema(
    {
        "age": number(18, 90, outside="missing"),
        "ward": category(["north", "south"]),
        "seen": date("2023-01-01", "2023-12-31", format="%d/%m/%Y"),
    },
    response={"cost": number(100, 5000, transform="log", typical=1000, std=0.7, outside="missing")},
)


@each(
    "table", [pd.read_csv(io.StringIO(FILE), dtype=str), pd.read_csv(io.StringIO(FILE), dtype=str).to_dict("records")]
)
def test_an_untidy_file_is_read_and_what_was_not_is_counted(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a file of text says nothing about one of its columns
        X, cost = STATED.read(table)
    np.testing.assert_allclose(cost, [math.log(1000), np.nan, np.nan])
    assert X.to_numpy().tolist() == [[-1 + 44 / 72, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0]]
    report = STATED.read_report(table)
    assert report.columns.name == "NOT FOR RELEASE"
    assert report.to_dict("index") == {
        "age": {"read": 1, "empty": 1, "unreadable": 0, "outside": 1},
        "ward": {"read": 2, "empty": 0, "unreadable": 0, "outside": 1},
        "seen": {"read": 1, "empty": 1, "unreadable": 1, "outside": 0},
        "cost": {"read": 1, "empty": 1, "unreadable": 0, "outside": 1},
    }
    zoned = pd.DataFrame(table).assign(seen=pd.Series(pd.Timestamp("2023-02-01", tz="UTC"), range(3)))
    assert STATED.read(zoned)[0]["seen"].nunique() == 1
    wrong = {"columns have names": np.ones((3, 4)), "for the response 'cost', got complex": zoned.assign(cost=1j)}
    for words, table in wrong.items():
        with pytest.raises(TypeError, match=words):
            STATED.read(table)


def test_the_response_of_a_schema_is_public_saved_and_named_by_the_receipt():
    told = STATED.public()
    assert told["response_bounds"] == pytest.approx((math.log(100), math.log(5000)))
    assert (told["response_center"], told["response_scale"]) == (pytest.approx(math.log(1000)), 0.7)
    again = Schema.from_json(STATED.to_json())
    assert again == STATED != Schema(dict(STATED.columns))
    assert len(STATED.feature_names()) == STATED.table()["features"].sum()
    people = [{"age": 40 + k % 20, "ward": "south", "seen": "01/02/2023", "cost": 500 + k} for k in range(60)]
    model = PrivateLinearRegression(epsilon=1.0, delta=1e-6, **told, not_finite="void", random_state=0)
    receipt = model.fit(*STATED.read([*people, {"cost": "?"}])).receipt(STATED)
    words = "missing counts as none, so the record is not finite; outside counts as missing; expected: standard dev"
    assert f"cost, a response: 100 to 5000 (log); {words}" in " ".join(str(receipt).split())
    assert Schema.from_json(json.dumps(receipt.data()["schema"])) == STATED


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("kind", "column", "why"), DOUBTS)
def test_a_type_that_the_schema_does_not_expect_is_warned_of(kind, column, why):
    schema, table = Schema({"x": kind}), pd.DataFrame({"x": column}) if isinstance(column, pd.Series) else {"x": column}
    transformer = schema.transformer().fit(table)
    if not why:
        transformer.transform(table)
        return
    with pytest.warns(SchemaWarning, match=rf"'x' is stated as a {kind.kind}, .*{why}.*read_report") as caught:
        found = transformer.transform(table)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(found, kind.images(list(column)))
    if why.startswith("no cell"):
        missing, outside = kind.read(column)
        assert (missing | outside).all()


@pytest.mark.filterwarnings("error")
def test_a_warning_of_types_is_the_same_whatever_the_cells_hold():
    told = []
    for cell in ("1", SECRET):
        with pytest.warns(SchemaWarning) as caught:
            Schema({"x": number(0, 1), "y": category(["a", "b"])}).transformer().transform(
                pd.DataFrame({"x": [cell], "y": pd.Categorical([7.25])})
            )
        told.append(str(caught[0].message))
    assert told[0] == told[1]
    assert SECRET not in told[0]
    assert "7.25" not in told[0]


@pytest.mark.filterwarnings("error")
def test_the_type_of_an_array_says_nothing_of_one_column_unless_all_are_numbers():
    schema = Schema({"x": number(0, 1), "y": category(["a", "b"])})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schema.transformer().transform(np.array([[0.5, "a"]], dtype=object))
        schema.transformer().transform(np.array([["0.5", "a"]]))
    with pytest.warns(SchemaWarning, match="'y' is stated as a category, its type says number"):
        schema.transformer().transform(np.array([[0.5, 1.0]]))


def test_a_schema_is_a_table_of_public_choices():
    told = SCHEMA.table().set_index("column")
    assert told.loc["age", "public values"] == "18 to 90"
    assert told.loc["pay", "missing counts as"] == "2000"
    assert told.loc["sex", "outside counts as"] == "other"
    more = Schema({"a": number(0, 9, std=2), "b": category(["x", "y"], shares=[0.7, 0.3])}).table()
    assert more["expected"].tolist() == ["standard deviation 2", "shares 0.7, 0.3"]
    assert told["features"].sum() == len(SCHEMA.feature_names()) == len(SCHEMA.feature_bounds()[0])


class Clock:
    """A column of instants that is of objects for NumPy, as one of Arrow with a time zone is."""

    dtype = SimpleNamespace(kind="M")

    def __init__(self, cells):
        self.cells = cells

    def __array__(self, dtype=None, copy=None):
        return np.array(self.cells, dtype=object).astype(dtype or object)

    def tolist(self):
        return self.cells


def test_nothing_is_warned_of_a_column_of_instants_whatever_it_holds():
    there = pd.Timestamp("2024-02-29T01:00", tz="Europe/Berlin")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")  # as an error it would be caught, and the cells be read one by one
        found = cells.instants(Clock([there, None]))
    assert not told
    assert found.tolist() == [datetime.datetime(2024, 2, 29), None]


def test_whole_numbers_that_are_no_doubles_are_told_apart_in_every_representation():
    near = [2**60 + k for k in range(4)]
    kind = category(near, drop_first=False)
    for column in (near, np.array(near), pd.Series(near, dtype="UInt64"), [f" {one} " for one in near]):
        assert kind.images(column)[:, :4].tolist() == np.eye(4).tolist()
    assert units.identified(near, 1, 4, void=False).unit.count == 4
    refused("each of values must be text or a finite number", category, [10**400, 1])
    assert Schema.from_json(Schema({"place": kind}).to_json()).columns == (("place", kind),)
