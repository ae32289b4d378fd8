"""The comparison with published numbers, on tables small enough to be worked by hand."""

import numpy as np
import pandas as pd
import pytest

from costofprivacy.experiments.noisyhead import agreement, authors

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


def private(risks: dict[tuple[int, float], float], error: float = 1.0) -> pd.DataFrame:
    """Rows of excess risk by (N, ε), in the order given."""
    rows = [(N, epsilon, risk, error) for (N, epsilon), risk in risks.items()]
    return pd.DataFrame(rows, columns=["N", "epsilon", "excess_risk", "standard_error"])


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


@pytest.mark.parametrize(
    ("published", "printed", "expected"),
    [
        ((1.0, -3.9), (0.0, 4.0), (True, True)),
        ((1.0, -4.1), (0.0, 9.0), (False, False)),
        ((4.1, 0), (1, 1), (False, True)),
    ],
)
def test_agreement_counts_both_settings(
    published: tuple[float, ...], printed: tuple[float, ...], expected: tuple[bool, bool]
) -> None:
    rows = [("published", d) for d in published] + [("printed", d) for d in printed] + [("corrected", 99.0)]
    table = pd.DataFrame(rows, columns=["setting", "deviation"]).assign(method="noisyhead")
    found = agreement.agreements(table)
    assert (found["published"].complete, found["printed"].complete) == expected
    for setting, part in (("published", published), ("printed", printed)):
        near, worst = sum(abs(d) <= 4 for d in part), max(map(abs, part))
        assert found[setting] == agreement.Agreement(near, 2, worst)
    numbers = {number.name: number for number in agreement.numbers(found)}
    assert numbers["published numbers within 4 standard errors, printed"].value == found["printed"].near
    assert numbers["published numbers within 4 standard errors, printed"].against == 2
    assert numbers["largest deviation, published"].value == found["published"].worst


def test_without_published_numbers_there_is_nothing_to_disagree_with() -> None:
    assert agreement.agreements(pd.DataFrame(columns=["setting", "method", "deviation"], dtype=float)) == {}


def test_the_change_between_rows_is_in_combined_errors() -> None:
    rows = private({(1, 1.0): 10.0, (2, 1.0): 4.0, (3, 1.0): 5.0}).assign(standard_error=[3.0, 4.0, 3.0])
    np.testing.assert_allclose(agreement.change(rows), [-6 / 5, 1 / 5])


def test_the_trend_is_from_end_to_end_in_both_directions() -> None:
    """Two sizes with two ε each, in any order; a row or column of one gives nothing."""
    table = private({(3, 0.5): 1.0, (1, 0.5): 8.0, (2, 0.5): 20.0, (1, 2.0): 5.0, (3, 2.0): 4.0})
    expected = np.array([1 - 8, 4 - 5, 5 - 8, 4 - 1]) / np.sqrt(2)
    np.testing.assert_allclose(agreement.trend(table), expected)
    np.testing.assert_allclose(agreement.trend(table.iloc[::-1]), expected)
    assert agreement.trend(private({(1, 0.5): 1.0})).size == 0
    np.testing.assert_allclose(agreement.trend(private({(1, 0.5): 3.0, (1, 2.0): 1.0})), [-2 / np.sqrt(2)])


def test_rises_are_named_one_by_one() -> None:
    table = private({(10, 0.5): 1.0, (30, 0.5): 9.0, (20, 0.5): 8.0, (10, 1.0): 9.0, (20, 1.0): 1.0})
    risen = agreement.rises(table)
    assert len(risen) == 1
    expected = {"epsilon": 0.5, "N": 10, "next_N": 20, "first": 1.0, "last": 8.0, "score": 7 / np.sqrt(2)}
    assert risen.iloc[0].to_dict() == pytest.approx(expected)
    assert agreement.rises(table.assign(standard_error=2.0)).empty


def test_deviations_are_summed_up_by_setting_and_method() -> None:
    rows = [("printed", "noisyhead", d) for d in (-5.0, 1.0, 4.0)] + [("corrected", "noisyhead", 9.0)]
    rows += [("published", "gradient-descent", -2.0)]
    summary = agreement.deviations(pd.DataFrame(rows, columns=["setting", "method", "deviation"]))
    assert list(summary.index) == [("printed", "noisyhead"), ("published", "gradient-descent")]
    assert list(summary.loc[("printed", "noisyhead")]) == [3, "3.33", "5", 1]
    assert list(summary.loc[("published", "gradient-descent")]) == [1, "2", "2", 0]
