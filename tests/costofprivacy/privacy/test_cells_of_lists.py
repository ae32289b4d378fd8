"""A cell may be a list, or of a type that nobody can ask: it is its record's own misfortune."""

import numpy as np
import pytest

from costofprivacy.dpgd import update
from costofprivacy.estimators import Schema, date
from costofprivacy.privacy import records


class Fatal(type):
    """The type of a type that ends Python when it is compared, hashed or asked for a name."""

    def __eq__(cls, _: object) -> bool:
        raise SystemExit("a secret")

    def __hash__(cls) -> int:
        raise SystemExit("a secret")

    def __getattr__(cls, _: str) -> object:
        raise SystemExit("a secret")


def test_nothing_is_asked_of_the_type_of_a_cell() -> None:
    try:
        cell = Fatal("OfFatal", (), {})()
        read = records.number(cell)
        days = Schema({"day": date("2020-01-01", "2021-01-01")}).transformer().transform([[cell], ["2020-07-01"]])
    except SystemExit:
        days = None
    assert days is not None
    assert np.isnan(read)
    assert days.shape == (2, 1)


def test_a_list_in_a_cell_voids_its_record_and_ends_nothing() -> None:
    """As it was found: without a number of axes, one list among the cells was a row of unequal length."""
    x, y = [[1.0, 2.0], [3.0, [4.0, 5.0]], [5.0, [6.0]], [1.0, 1.0]], [1.0, 2.0, 3.0, [1.0, 2.0]]
    read, told = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 6.0], [1.0, 1.0]]), np.array([1.0, 2.0, 3.0, np.nan])
    np.testing.assert_array_equal(records.doubles("x", x), read)
    for found, wanted in (
        (records.usable(x, y), records.usable(read, told)),
        (records.lengths(x), records.lengths(read)),
        (update.adapted_rates(0.1, x), update.adapted_rates(0.1, read)),
        (update.clipped_gradients(np.ones(2), x, y, 1.0), update.clipped_gradients(np.ones(2), read, told, 1.0)),
    ):
        np.testing.assert_array_equal(found, wanted)
    for found, wanted in zip(records.regression(x, y), records.regression(read, told)):
        np.testing.assert_array_equal(found, wanted)
    for ragged in ([[1.0, 2.0], [3.0]], [[1.0, 2.0], 3.0]):
        with pytest.raises(ValueError, match="rows of equal length"):
            records.doubles("x", ragged)
