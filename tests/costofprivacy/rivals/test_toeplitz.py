"""Strategies for prefix sums: recursions against the explicit matrix, the square root, sensitivity and errors."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.linalg import sqrtm, toeplitz

from costofprivacy.rivals.correlated_noise import (
    Banded,
    Buffered,
    Strategy,
    banded,
    coefficients,
    largest_error,
    noise_coefficients,
    square_root,
)
from tests.each import each

T = 40
STRATEGIES: list[Strategy] = [
    Banded(),
    Banded((0.5, -0.2, 0.3)),
    banded(5),
    banded(100),
    banded(8, 0.7),
    Buffered((0.6,), (0.9,)),
    Buffered((0.2, 0.5, 0.3), (0.0, 0.8, 0.99)),
    square_root(T),
    square_root(T, 0.7),
    square_root(1),
]


def matrix(strategy: Strategy, steps: int = T) -> np.ndarray:
    return np.tril(toeplitz(strategy.column(steps)))


@each("strategy", STRATEGIES)
def test_the_recursion_solves_the_equations_of_the_explicit_matrix(strategy: Strategy) -> None:
    z, state, found = np.random.default_rng(0).standard_normal((T, 3)), strategy.start(3), []
    for row in z:
        w, state = strategy.step(state, row)
        assert state.shape == (strategy.memory, 3)
        found.append(w)
    np.testing.assert_allclose(np.array(found), np.linalg.solve(matrix(strategy), z), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(noise_coefficients(strategy, T), np.linalg.inv(matrix(strategy))[:, 0], atol=1e-9)


@each("strategy", STRATEGIES)
@each("steps", [1, 2, 7, T])
def test_the_longest_column_is_the_first_one(strategy: Strategy, steps: int) -> None:
    columns = np.linalg.norm(matrix(strategy, steps), axis=0)
    assert math.sqrt(strategy.square(steps)) == pytest.approx(columns.max(), rel=1e-12)
    assert columns[0] == columns.max()
    prefix = np.tril(np.ones((steps, steps))) @ np.linalg.inv(matrix(strategy, steps))
    assert largest_error(strategy, steps) == pytest.approx(columns.max() * np.linalg.norm(prefix, axis=1).max())


@pytest.mark.parametrize("decay", [1.0, 0.8])
def test_the_coefficients_are_those_of_the_square_root_of_a_matrix(decay: float) -> None:
    whole = np.tril(decay ** np.subtract.outer(np.arange(12.0), np.arange(12.0)))
    root = np.tril(toeplitz(coefficients(12, decay)))
    np.testing.assert_allclose(root @ root, whole, atol=1e-12)
    np.testing.assert_allclose(root, sqrtm(whole).real, atol=1e-4)  # a defective matrix: half the digits


@pytest.mark.parametrize("steps", [1, 2, 3, 8, 64, 512, 4096])
def test_few_buffers_are_as_good_as_the_square_root(steps: int) -> None:
    exact = float((coefficients(steps) ** 2).sum())
    assert exact <= 1 + (1 + math.log(steps)) / math.pi
    assert largest_error(banded(steps), min(steps, 64)) <= exact * (1 + 1e-12)
    assert largest_error(square_root(steps), steps) == pytest.approx(exact, rel=1e-3)
    assert square_root(steps).memory <= 2 + math.log(2 * steps) / 2


def test_the_fit_of_a_long_stream_has_the_right_coefficients() -> None:
    strategy, steps = square_root(10**6), 10**6
    column = strategy.column(steps)
    np.testing.assert_allclose(column[1:] * np.sqrt(math.pi * np.arange(1, steps)), 1, atol=0.13)
    assert strategy.square(steps) == pytest.approx(float((column**2).sum()), rel=1e-9)
    assert strategy.memory <= 9


@each(
    ("make", "message"),
    [
        (lambda: Banded((math.nan,)), "tail must be between"),
        (lambda: Banded().column(0), "steps must be"),
        (lambda: Buffered((0.5,), ()), "decays must have 1 entries like weights, got 0"),
        (lambda: Buffered((-0.5,), (0.5,)), "weights must be"),
        (lambda: Buffered((0.7, 0.7), (0.5, 0.6)), "weights must sum to at most 1"),
        (lambda: Buffered((0.7,), (1.0,)), r"decays must be in \[0, 1\)"),
        (lambda: coefficients(3, 1.5), "decay must be between"),
        (partial(banded, 0), "steps must be"),
        (partial(square_root, 10**10), "steps must be between"),
    ],
)
def test_what_makes_no_sense_is_refused(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]


def test_a_decay_multiplies_the_coefficients() -> None:
    powers = 0.6 ** np.arange(30)
    np.testing.assert_allclose(square_root(30, 0.6).column(30), square_root(30).column(30) * powers, rtol=1e-12)
    np.testing.assert_allclose(banded(30, 0.6).column(30), banded(30).column(30) * powers, rtol=1e-12)
    assert square_root(30, 0.0).square(30) == 1.0
