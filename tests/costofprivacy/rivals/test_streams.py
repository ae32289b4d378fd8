"""Several passes over a stream: the same numbers as from arrays, however the records are cut, and refusals."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.privacy import GaussianDP, sums
from costofprivacy.rivals import batch_descent, boosting, streams
from costofprivacy.rivals.bounds import Bounds
from costofprivacy.rivals.streams import blocks, boost, descend, total
from tests.each import each, refused

BOUNDS, DESCENT = Bounds(2.5, 2.5), batch_descent.Plan(0.7, (0.9, 0.5, 0.2), 2.0)
BOOSTING = boosting.Plan(0.7, 3, GaussianDP(1.0))
Records = tuple[np.ndarray, np.ndarray]
law = settings(derandomize=True, deadline=None, max_examples=15)


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def data(n: int, d: int = 3) -> Records:
    draw = np.random.default_rng(0)
    x = draw.standard_normal((n, d))
    return x, x @ np.linspace(-1, 1, d) + 0.3 * draw.standard_normal(n)


def cut(x: np.ndarray, y: np.ndarray, sizes: list[int]) -> streams.Read:
    """Batches of these sizes, again and again, and the rest."""

    def read() -> Iterator[Records]:
        start, k = 0, 0
        while start < len(y):
            stop = start + sizes[k % len(sizes)]
            yield x[start:stop], y[start:stop]
            start, k = stop, k + 1
        yield x[:0], y[:0]

    return read


@each("n", [1, 512, 513, 2560])
@each("sizes", [[7], [513], [5, 0, 700]])
def test_streams_equal_arrays_for_every_cut(n: int, sizes: list[int]) -> None:
    """On the same noise; sums are added in the same order, and only the products of blocks may round another way."""
    x, y = data(n)
    read = cut(x, y, sizes)
    found = descend(read, n, 3, DESCENT, rng=rng())
    np.testing.assert_allclose(found, batch_descent.releases(x, y, [DESCENT], rng=rng())[0], rtol=1e-10)
    found = boost(read, n, BOUNDS, BOOSTING, rng=rng())
    np.testing.assert_allclose(found, boosting.releases(x, y, BOUNDS, [BOOSTING], rng=rng())[0], rtol=1e-8)


@given(st.integers(1, 6000), st.lists(st.integers(0, 1500), min_size=1, max_size=6).filter(any))
@law
def test_blocks_are_the_same_records_in_the_same_order(n: int, sizes: list[int]) -> None:
    x, y = np.arange(2.0 * n).reshape(n, 2), np.arange(float(n))
    found = list(blocks(cut(x, y, sizes)()))
    assert [len(part) for _, part in found] == [512] * (n // 512) + [n % 512] * (n % 512 > 0)
    np.testing.assert_array_equal(np.concatenate([part for part, _ in found]), x)
    np.testing.assert_array_equal(np.concatenate([part for _, part in found]), y)


@given(st.integers(1, 40_000), st.integers(0, 9))
@law
def test_the_counter_adds_in_the_order_of_a_product(n: int, seed: int) -> None:
    """Bit for bit: the sums of blocks meet in the same pairs, so the bound on rounding is the same."""
    draw = np.random.default_rng(seed)
    values = draw.standard_normal(n) * 10.0 ** draw.uniform(-8, 8, n)
    parts = [values[k : k + sums.ROWS] for k in range(0, n, sums.ROWS)]
    expected = sums.pairwise(lambda rows: values[rows].sum(), n)
    assert total(part.sum() for part in parts) == expected
    exact = math.fsum(values)
    assert abs(expected - exact) <= sums.slack(n, 1) * np.abs(values).sum()


@pytest.mark.parametrize("shift", [-5, 5])
@pytest.mark.parametrize(
    "run",
    [
        lambda read, n: descend(read, n, 3, DESCENT, rng=rng()),
        lambda read, n: boost(read, n, BOUNDS, BOOSTING, rng=rng()),
    ],
)
def test_another_number_of_records_than_announced_is_refused(
    run: Callable[[streams.Read, int], np.ndarray], shift: int
) -> None:
    x, y = data(1300)
    refused(r"^a pass must have the \d+ records that were announced, got", run, cut(x, y, [100]), 1300 + shift)


def test_an_endless_stream_is_left_at_the_first_record_too_many() -> None:
    x, y = data(100)

    def read() -> Iterator[Records]:
        while True:
            yield x, y

    refused("got more", descend, read, 700, 3, DESCENT, rng=rng())


def test_a_stream_that_can_be_read_once_is_refused_at_the_second_pass() -> None:
    x, y = data(100)
    once = iter([(x, y)])
    refused("got 0", descend, lambda: once, 100, 3, DESCENT, rng=rng())


def test_wrong_shapes_are_refused() -> None:
    x, y = data(100)
    for batches in (
        [(x, y[:-1])],
        [(x[:-1], y)],
        [(x[:50], y[:50]), (x[50:, :2], y[50:])],
        [(x[:, :2], y)],
        [(x.ravel()[:100], y)],
        [(x.astype(str), y)],
    ):
        with pytest.raises(ValueError):  # noqa: PT011
            descend(lambda batches=batches: iter(batches), 100, 3, DESCENT, rng=rng())  # type: ignore[misc]
    refused(r"^terms must be at least one, got none", total, iter([]))
    refused(r"^n B² must be between", boost, cut(x, y, [10]), 10**9, Bounds(1e150, 1.0), BOOSTING, rng=rng())
