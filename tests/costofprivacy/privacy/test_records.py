"""Whatever a record holds: what it moves stays within what is claimed, or a public fact is refused."""

import datetime
import decimal
import math
import traceback
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_st

from costofprivacy.dpgd import update
from costofprivacy.estimators import Schema, date
from costofprivacy.noisyhead import head, pretraining, private_ridge
from costofprivacy.noisyhead.curvature import ProductMoments, in_eigenbasis
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.privacy import records, sums
from tests.costofprivacy.privacy import hostile
from tests.each import each, refused

law = settings(derandomize=True, deadline=None, max_examples=15)
ROUNDING = 1 + 1e-9
number = hostile.numbers("float64")
N, L, D = 5, 3, 2
n, d = 6, 3
TOLD = Hyperparameters(clip_norm=1.5, feature_bound=0.8, weight_bound=2.0, penalty=0.3, learning_rate=0.7, steps=1)


def arrays(*shape: int) -> st.SearchStrategy[np.ndarray]:
    """Arrays of hostile numbers, or of ordinary ones with a few hostile."""
    size = math.prod(shape)
    return st.one_of(
        st.lists(number, min_size=size, max_size=size), st.lists(st.floats(-3, 3), min_size=size, max_size=size)
    ).map(lambda values: np.array(values).reshape(shape))


# ------------------------------------------------------------------------------------------------------- NoisyHead


def neighbours(records: tuple[int, ...] = (N,)) -> st.SearchStrategy[tuple[Prompts, Prompts]]:
    """Two data sets of any type and layout that differ in their last prompt; the others are hostile too."""
    drawn = hostile.neighbours((L + 1, D), (L + 1,), records=records, replaced=-1)
    return drawn.map(lambda pair: (_prompts(*pair[0]), _prompts(*pair[1])))


def _prompts(x: np.ndarray, y: np.ndarray) -> Prompts:
    return Prompts(x, y, np.zeros((len(x), D)))


def bounded(prompts: Prompts) -> Statistics:
    return head.project(head.statistics(prompts, TOLD.clip_norm), TOLD.feature_bound)


@given(neighbours())
@law
def test_a_prompt_is_bounded_without_looking_at_the_others(pair: tuple[Prompts, Prompts]) -> None:
    together, other = (bounded(prompts) for prompts in pair)
    alone = [bounded(Prompts(*(a[k : k + 1] for a in (pair[0].x, pair[0].y, pair[0].w)))) for k in range(N)]
    for name in ("query", "context", "response"):
        rows = getattr(together, name)
        np.testing.assert_allclose(rows, np.concatenate([getattr(a, name) for a in alone]), rtol=1e-12, atol=1e-300)
        np.testing.assert_array_equal(rows[:-1], getattr(other, name)[:-1])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [(1, 0), (1, L)])
def test_a_prompt_that_is_not_finite_is_void_or_clipped(value: float, place: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    clean = Prompts(rng.standard_normal((3, L + 1, D)), rng.standard_normal((3, L + 1)), np.zeros((3, D)))
    y, x = clean.y.copy(), clean.x.copy()
    y[place] = value
    found = head.statistics(replace(clean, y=y), 1.0)
    expected = head.statistics(replace(clean, y=np.nan_to_num(y, posinf=1.0, neginf=-1.0)), 1.0)
    keep = 0.0 if math.isnan(value) else 1.0
    np.testing.assert_array_equal(found.context[1], keep * expected.context[1])
    np.testing.assert_array_equal(found.context[[0, 2]], expected.context[[0, 2]])
    x[place] = value
    np.testing.assert_array_equal(head.statistics(replace(clean, x=x), 1.0).context[1], 0.0)


def test_what_was_bounded_by_nobody_is_refused() -> None:
    """Moments that no prompts within C and G can have, and sums that are not finite."""
    rng = np.random.default_rng(0)
    raw = Statistics(*rng.standard_normal((2, 9, D)), rng.standard_normal(9))
    for form in (head.moments, ProductMoments, lambda data: in_eigenbasis(head.moments(data))):
        pretraining.pretrain(form(raw), TOLD, [0.0], rng=rng)  # nothing is protected, nothing refused
        with pytest.raises(ValueError, match="must be moments of projected statistics, with a trace"):
            pretraining.pretrain(form(raw), TOLD, [0.0, 0.1], rng=rng)
        loud = replace(raw, query=raw.query / 10, response=100 * raw.response)
        refused("with a norm of the cross moment", pretraining.pretrain, form(loud), TOLD, [0.1], rng=rng)
    for value in (math.nan, math.inf):
        refused("data must be finite", head.moments, replace(raw, response=np.full(9, value)))
        with pytest.raises(ValueError, match="data must be finite"):
            private_ridge.simulate(Moments(np.eye(4), np.full(4, value)), 1.0, [0.1], 1, rng=rng)
        with pytest.raises(ValueError, match="initial must be finite"):
            pretraining.pretrain(head.moments(raw), TOLD, [0.0], rng=rng, initial=np.full((D, D), value))


def test_without_prompts_or_tokens_there_is_nothing_to_release() -> None:
    none = Prompts(np.zeros((0, L + 1, D)), np.zeros((0, L + 1)), np.zeros((0, D)))
    refused("at least 1 prompt, got none", head.moments, bounded(none))
    with pytest.raises(ValueError, match="at least one labelled token"):
        head.statistics(Prompts(np.ones((2, 1, D)), np.ones((2, 1)), np.zeros((2, D))), 1.0)
    refused("context must have shape", Statistics, np.ones((3, D)), np.ones((2, D)), np.ones(3))


# ----------------------------------------------------------------------------------------------------------- DP-GD


C_CLIP, ETA = 0.7, 0.9


Pass = tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
passes = hostile.neighbours((d,), (), records=(n,))


@pytest.mark.parametrize(("size", "response"), [(1e-200, 1e300), (1e-320, 1e308), (1e200, 1.0), (1e155, 1e308)])
def test_where_squares_leave_the_doubles_a_record_is_void(size: float, response: float) -> None:
    """As it was found: the norm of 1e-200 was computed as 0, which clipped nothing, and the gradient was 1e100 long."""
    gradient = update.clipped_gradients(np.zeros(d), np.full((1, d), size), np.array([response]), C_CLIP)
    np.testing.assert_array_equal(gradient, 0.0)


@given(passes)
@law
def test_a_block_of_steps_is_no_longer_than_its_steps(pair: Pass) -> None:
    x, y = (records.numbers("", part, (None,) * part.ndim) for part in pair[0])
    rates = update.adapted_rates(ETA, pair[0][0])
    sound = records.usable(x, np.zeros(n))
    assert (rates[sound] * (x[sound] ** 2).sum(axis=1) <= 2 * ROUNDING).all()
    assert ((rates >= 0) & (rates <= ETA)).all()
    theta, told = np.zeros((d, 1)), (np.full((n, 1), ETA), np.zeros((n, 1)), np.array([C_CLIP]))
    with np.errstate(divide="ignore"):
        update.advance(theta, *records.regression(x, y), np.zeros((n, d)), *told)
    assert np.linalg.norm(theta) <= update.step_sensitivities(np.full(n, ETA), C_CLIP).sum() / 2 * ROUNDING


@pytest.mark.parametrize("wrong", [-0.1, math.nan, math.inf])
def test_rates_that_are_none_have_no_sensitivity(wrong: float) -> None:
    refused("learning_rates must be non-negative and finite", update.step_sensitivities, np.array([0.1, wrong]), 1.0)


# ------------------------------------------------------------------------------------------------------- the rest


# ---- Numbers: the gate through which records come to a release ----

KINDS = [np.bool, np.int8, np.int64, np.uint64, np.float16, np.float32]
SECRET = "123-45-6789"


@pytest.mark.parametrize("kind", [*KINDS, np.longdouble])
@given(data=st.data())
@law
def test_each_number_is_the_double_nearest_to_it(kind: type, data: st.DataObject) -> None:
    values = data.draw(numpy_st.arrays(np.float64 if kind is np.longdouble else kind, (3, 2))).astype(kind)
    found = records.numbers("x", values, (3, 2))
    assert found.dtype == np.float64
    for got, value in zip(found.ravel().tolist(), values.ravel().tolist()):
        assert got == float(value) or (math.isnan(got) and math.isnan(value))


def test_an_array_of_doubles_is_taken_as_it_is() -> None:
    x = np.random.default_rng(0).standard_normal((5, 3))
    assert records.numbers("x", x, (None, 3)) is x


def test_a_wider_number_beyond_the_doubles_is_infinite() -> None:
    assert records.numbers("x", np.array([np.longdouble("1e400")]), (1,)).tolist() == [math.inf]
    assert records.numbers("x", [10**400, -(10**400)], (2,)).tolist() == [math.inf, -math.inf]


@each(
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
    np.testing.assert_array_equal(records.numbers("y", values, (2,)), [1.0, math.nan])


def test_a_frame_with_a_cell_of_text_has_its_other_cells() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, SECRET]})
    np.testing.assert_array_equal(records.numbers("X", frame, (None, None)), [[1.0, 0.5], [2.0, math.nan]])


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
        records.numbers("x", values, shape)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


class _Loud:
    def __float__(self) -> float:
        raise RuntimeError(SECRET)


def test_an_object_may_raise_what_it_likes() -> None:
    assert math.isnan(records.numbers("x", np.array([_Loud()], dtype=object), (1,))[0])


# ---- Sums ----

U = sums.UNIT_ROUNDOFF


@given(n=st.integers(1, 5000), seed=st.integers(0, 99))
@law
def test_it_is_the_product(n: int, seed: int) -> None:
    a, b = np.random.default_rng(seed).integers(-9, 9, (2, n, 3)).astype(float)
    np.testing.assert_array_equal(sums.product(a, b), a.T @ b)
    np.testing.assert_array_equal(sums.product(a, b[:, 0]), a.T @ b[:, 0])
    x = np.random.default_rng(seed).standard_normal((min(n, sums.ROWS), 2))
    np.testing.assert_array_equal(sums.product(x, x), x.T @ x)  # up to a block it is one product


@each("n", [3, 513, 5000, 200_000])
@each("term", [0.1, 1 - U])
def test_a_replaced_record_moves_it_within_the_slack(n: int, term: float) -> None:
    """Equal terms are the hard case: each addition is rounded the same way, again and again."""
    ones, terms = np.ones((n, 1)), np.full(n, term)
    before = sums.product(ones, terms)[0]
    for place in (0, n // 3, n - 1):
        for other in (-1.0, 0.0, -term, U):
            changed = terms.copy()
            changed[place] = other
            moved = Fraction(sums.product(ones, changed)[0]) - Fraction(before)
            apart = abs(Fraction(other) - Fraction(term))
            assert abs(moved) <= apart + 2 * Fraction(sums.slack(n, 1))


@pytest.mark.slow
@pytest.mark.parametrize("n", [1000, 100_000, 1_000_000])
def test_the_error_itself_is_that_of_its_blocks_and_pairs(n: int) -> None:
    """Each of the blocks and sums is rounded once, so the whole error is at most n u (m + levels + 1)."""
    terms = np.random.default_rng(n).uniform(0.5, 1.0, n)
    error = abs(Fraction(sums.product(np.ones((n, 1)), terms)[0]) - sum(map(Fraction, terms.tolist())))
    assert error <= n * U * (sums.ROWS + math.log2(n / sums.ROWS) + 2)


def test_one_after_the_other_is_worse() -> None:
    """What the order is for: beyond 2²⁰ a running sum loses terms of 2⁻³³ that its neighbour, below it, keeps."""
    terms = np.append(np.ones(2**20 + 1), np.full(10**6, -(2.0**-33)))
    changed = terms.copy()
    changed[0] = -1.0
    allowed = 2 * (1 + sums.slack(len(terms), 1))
    running = [float(np.cumsum(values)[-1]) for values in (terms, changed)]
    assert running[0] - running[1] > 2.0001 > allowed
    ones = np.ones((len(terms), 1))
    mended = [sums.product(ones, values)[0] for values in (terms, changed)]
    assert 2.0 <= mended[0] - mended[1] <= allowed


def test_slack_grows_with_the_number_of_records_and_entries() -> None:
    found = [sums.slack(n, 1) for n in (1, 10, 512, 513, 10**6, 10**9)]
    assert found == sorted(found)
    assert sums.slack(10**6, 1) < 5e-10 < sums.slack(10**7, 1)
    assert sums.slack(10, 10**6) > sums.slack(10, 1)
    for wrong in ((0, 1), (1, 0), (1.5, 1)):
        refused("whole number of at least 1", sums.slack, *wrong)


# ---- A list in a cell ----


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
        refused("rows of equal length", records.doubles, "x", ragged)


def test_a_list_that_holds_itself_is_refused_or_a_cell() -> None:
    one, two = [], []
    one.append(one)
    two += [two, two]
    for endless in (one, two, [one, one]):
        refused("got a list that holds itself", records.doubles, "x", endless)
    np.testing.assert_array_equal(records.doubles("x", [[1.0, 2.0], [3.0, one]]), [[1.0, 2.0], [3.0, np.nan]])
    np.testing.assert_array_equal(records.doubles("x", [[one, 2.0]], 2), [[np.nan, 2.0]])


@each(
    "parts",
    [([1.0, 2.0],), (np.ones((2, 2)), [1.0, [2.0, 3.0]]), (np.ones(2), np.full(3, np.nan)), (np.array(np.nan),)],
)
def test_void_records_are_those_of_arrays_with_as_many_records(parts: tuple) -> None:
    refused("records must be arrays", records.voided, *parts)


class Texts:
    """An array of another library, as of polars, that is of objects for NumPy if a cell is missing and of text else."""

    def __init__(self, cells: list[object]) -> None:
        self.cells = cells

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.array(self.cells, dtype=dtype)  # type: ignore[call-overload, no-any-return]


def test_whether_a_column_of_text_is_refused_does_not_depend_on_a_missing_cell() -> None:
    assert records.doubles("y", Texts(["1", "2"])).tolist() == [1.0, 2.0]
    assert np.isnan(records.doubles("y", Texts(["1", None]))).tolist() == [False, True]
