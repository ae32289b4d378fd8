"""The comparison with published numbers, on tables small enough to be worked by hand."""

import numpy as np
import pandas as pd
import pytest

from chapters.noisyhead import authors

NAMES = ["setting", "N", "epsilon", "method", "excess_risk", "standard_error", "trials"]
NAN = float("nan")
OURS = pd.DataFrame(
    [
        ("printed", 10, 0.5, "noisyhead", 9.0, 1.0, 500),
        ("published", 10, 0.5, "noisyhead", 5.0, 0.4, 125),
        ("published", 20, 0.5, "noisyhead", 3.0, 0.4, 125),
        ("published", 10, NAN, "gradient-descent", 1.0, 0.1, 500),
        ("published", 10, NAN, "zero", 2.0, 0.1, 500),
    ],
    columns=NAMES,
)
THEIRS = pd.DataFrame(
    [
        (10, 0.5, "noisyhead", 4.0),
        (10, 1.0, "noisyhead", 4.0),
        (10, 0.5, "gradient-descent", 1.5),
        (10, 1.0, "gradient-descent", 0.8),
        (30, 0.5, "noisyhead", 4.0),
    ],
    columns=["N", "epsilon", "method", "excess_risk"],
)


@pytest.mark.parametrize(
    ("name", "rows"), [("noisyhead-low-dimensional", 20), ("noisyhead-high-dimensional", 15)], ids=["low", "high"]
)
def test_every_published_number_is_read_once(name: str, rows: int) -> None:
    table = authors.excess_risks(name, ["N", "epsilon"])
    assert list(table.columns) == ["N", "epsilon", "method", "excess_risk"]
    assert len(table) == 2 * rows
    raw = authors.read(name)
    for method, column in (("noisyhead", "excess_risk_noisyhead"), ("gradient-descent", "excess_risk_gd")):
        own = table[table["method"] == method].reset_index(drop=True)
        np.testing.assert_array_equal(own[["N", "epsilon"]], raw[["N", "epsilon"]])
        np.testing.assert_array_equal(own["excess_risk"], raw[column])


def test_the_deviation_is_in_combined_standard_errors() -> None:
    """125 trials: theirs, of 500, have half our standard error; 500 trials: the same."""
    both = authors.beside(OURS, THEIRS, ["N", "epsilon", "method"], "excess_risk").set_index("setting")
    assert list(both.index) == ["printed", "published"]
    assert both["deviation"]["printed"] == pytest.approx(5 / np.sqrt(2))
    assert both["deviation"]["published"] == pytest.approx(1 / np.hypot(0.4, 0.2))
    assert (both["excess_risk_theirs"] == 4.0).all()


def test_gradient_descent_meets_each_of_its_published_values() -> None:
    both = authors.by_budget(OURS, THEIRS)
    columns = "setting N epsilon method excess_risk standard_error excess_risk_theirs deviation"
    assert list(both.columns) == columns.split()
    assert list(both["method"]) == ["noisyhead", "noisyhead", "gradient-descent", "gradient-descent"]
    plain = both[both["method"] == "gradient-descent"]
    assert list(plain["epsilon"]) == [0.5, 1.0]
    np.testing.assert_allclose(plain["deviation"], np.array([-0.5, 0.2]) / (0.1 * np.sqrt(2)))
    assert authors.by_budget(OURS, THEIRS.head(0)).empty
