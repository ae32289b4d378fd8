"""Receipts: they say in words and in JSON what was promised, and nothing that JSON cannot hold."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from costofprivacy.estimators import DPGDRegressor, Schema, boolean, category, date, number
from costofprivacy.estimators.guarantee import CAVEAT, RECORD, SOFTWARE, Guarantee, Receipt
from costofprivacy.privacy import ApproximateDP, GaussianDP

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
