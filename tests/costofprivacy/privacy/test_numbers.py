"""The gate through which records come to a release: any type of numbers, no value in a message."""

import datetime
import decimal
import math
import traceback
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from costofprivacy.privacy.records import numbers
from tests.each import each

law = settings(derandomize=True, deadline=None, max_examples=60)
KINDS = [np.bool, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.float16, np.float32, np.float64]
SECRET = "123-45-6789"


@pytest.mark.parametrize("kind", [*KINDS, np.longdouble])
@given(data=st.data())
@law
def test_each_number_is_the_double_nearest_to_it(kind: type, data: st.DataObject) -> None:
    values = data.draw(arrays.arrays(np.float64 if kind is np.longdouble else kind, (3, 2))).astype(kind)
    found = numbers("x", values, (3, 2))
    assert found.dtype == np.float64
    for got, value in zip(found.ravel().tolist(), values.ravel().tolist()):
        assert got == float(value) or (math.isnan(got) and math.isnan(value))


def test_an_array_of_doubles_is_taken_as_it_is() -> None:
    x = np.random.default_rng(0).standard_normal((5, 3))
    assert numbers("x", x, (None, 3)) is x


@pytest.mark.parametrize("other", [np.asfortranarray, lambda x: x[::-1], lambda x: x[:, ::2], lambda x: x.T])
def test_an_array_of_doubles_in_another_layout_is_laid_row_by_row(other: Callable[[np.ndarray], np.ndarray]) -> None:
    x = other(np.random.default_rng(0).standard_normal((5, 3)))
    found = numbers("x", x, (None, None))
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, x)


def test_a_wider_number_beyond_the_doubles_is_infinite() -> None:
    assert numbers("x", np.array([np.longdouble("1e400")]), (1,)).tolist() == [math.inf]
    assert numbers("x", [10**400, -(10**400)], (2,)).tolist() == [math.inf, -math.inf]


@pytest.mark.parametrize(
    "values",
    [
        [1.0, SECRET],
        np.array([1.0, SECRET], dtype=object),
        pd.Series([1.0, SECRET]),
        pd.Series([1.0, pd.NA], dtype="Float64"),
        [1.0, None],
        [1.0, 1j],
        [decimal.Decimal(1), datetime.date(1970, 1, 1)],
    ],
)
def test_what_is_no_number_is_not_a_number_alone(values: object) -> None:
    np.testing.assert_array_equal(numbers("y", values, (2,)), [1.0, math.nan])


def test_a_frame_with_a_cell_of_text_has_its_other_cells() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, SECRET]})
    np.testing.assert_array_equal(numbers("X", frame, (None, None)), [[1.0, 0.5], [2.0, math.nan]])


@each(
    ("values", "shape"),
    [
        (np.array([SECRET, "1"]), (2,)),
        (np.array([b"123"]), (1,)),
        (np.array([1j]), (1,)),
        (np.array(["1970-01-01"], dtype="datetime64[D]"), (1,)),
        (np.zeros(1, dtype=[("a", float)]), (1,)),
        ([[1.0, SECRET], [2.0]], (2, 2)),
        ([[1.0, 2.0], [2.0]], (2, 2)),
        (SECRET, (1,)),
        ({"a": SECRET}, (1,)),
        ([1.0, SECRET], (3,)),
    ],
)
def test_a_refusal_tells_the_type_or_the_shape_and_no_value(values: object, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="x must ") as caught:
        numbers("x", values, shape)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


class _Loud:
    def __float__(self) -> float:
        raise RuntimeError(SECRET)


def test_an_object_may_raise_what_it_likes() -> None:
    assert math.isnan(numbers("x", np.array([_Loud()], dtype=object), (1,))[0])
