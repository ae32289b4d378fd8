"""Receipts: they say in words and in JSON what was promised, and nothing that JSON cannot hold."""

import json
import math

import numpy as np
import pandas as pd
import pytest

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


def test_words_name_every_public_argument_and_the_guarantee() -> None:
    words = " ".join(str(receipt(GaussianDP(0.5))).split())
    assert all(name in words for name in PUBLIC)
    assert "0.5-Gaussian DP, hence ρ-zCDP with ρ = 0.125" in words
    assert "(2, 1e-06)-differential privacy. Nothing beyond this (ε, δ) is proved." in str(receipt())
    assert "A DEMONSTRATION, NO RELEASE" in str(receipt(demonstration=True))
    assert "A DEMONSTRATION" not in words
    for part in (RECORD, CAVEAT, "a.proof", "coef_", "100 records of 3 features"):
        assert part in words
