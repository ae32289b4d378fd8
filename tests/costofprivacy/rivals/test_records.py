"""Whatever a record holds, a rival moves no further than it claims, and refuses by what is public alone."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.rivals import (
    batch_descent,
    boosting,
    bounds,
    gaussian_mixing,
    hessian_mixing,
    huber,
    objective_perturbation,
    output_perturbation,
    piloted_perturbation,
    sufficient_statistics,
    tukey,
)
from costofprivacy.rivals.bounds import Bounds
from tests.costofprivacy.privacy import hostile
from tests.costofprivacy.privacy.test_records import ROUNDING
from tests.each import each, refused

law = settings(derandomize=True, deadline=None, max_examples=10)
n, d = 9, 2
C, PENALTY, TOLD, MU = 0.7, 0.5, Bounds(1.5, 0.8), GaussianDP(1.0)
ADDED = objective_perturbation.calibrate(ApproximateDP(2.0, 1e-3), 0.5, C, TOLD.features)
Data = tuple[np.ndarray, np.ndarray]


floats = hostile.neighbours((d,), (), records=(n,), kinds=("float64",))
typed = hostile.neighbours((d,), (), records=(1, 2, n, 513, 3000))


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def widened(data: Data) -> Data:
    """The same numbers as doubles, each converted by itself."""

    def number(value: object) -> float:
        try:
            return float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            return math.nan

    x, y = (np.array([number(v) for v in part.ravel().tolist()]).reshape(part.shape) for part in data)
    return x, y


@given(typed)
@law
def test_every_gate_widens(pair: tuple[Data, Data]) -> None:
    data = pair[0]
    gates = (TOLD.clip, bounds.given, lambda x, y: piloted_perturbation.weighted(x, y, 0.3))
    for bring in (*gates, lambda x, y: (bounds.shortened(x, 0.3), bounds.given(x, y)[1])):
        for found, expected in zip(bring(*data), bring(*widened(data)), strict=True):
            assert found.dtype == np.float64
            np.testing.assert_array_equal(found, expected)
    assert np.linalg.norm(TOLD.clip(*data)[0], axis=1).max() <= TOLD.features * ROUNDING
    assert np.linalg.norm(bounds.shortened(data[0], 0.3), axis=1).max() <= 0.3 * ROUNDING
    if len(data[1]) > 8 * d:
        one, two = (tukey.models(*part, 8, rng=rng()) for part in pair)
        assert sum(not np.array_equal(a, b) for a, b in zip(one, two)) <= 2  # two records may differ
        np.testing.assert_array_equal(one, tukey.models(*widened(data), 8, rng=rng()))
        np.testing.assert_array_equal(tukey.log_volumes(np.array([[1, 200]] * 8, dtype=np.uint8)), -math.inf)


@given(st.integers(1, 3000), st.integers(1, 6), st.floats(-20, 20), st.integers(0, 9), st.booleans())
@law
def test_moments_of_records_at_their_bounds_are_never_refused(
    size: int, features: int, power: float, seed: int, equal: bool
) -> None:
    """A trace of 1000 was refused as more than 1000, in single precision."""
    told = Bounds(3 * 10**power, 7 * 10 ** (power / 2))
    x = np.random.default_rng(seed).standard_normal((size, features))
    x = np.tile(x[0], (size, 1)) if equal else x
    x *= 2 * told.features / np.linalg.norm(x, axis=1, keepdims=True)
    data = sufficient_statistics.moments(x, np.full(size, 9 * told.response), told)
    assert data.square.trace() == pytest.approx(size * told.features**2, rel=1e-9)
    assert np.isfinite(sufficient_statistics.release(data, told, MU, rng=rng())).all()


@pytest.mark.parametrize("rates", [[1e308, 1e308, 0.0, 1e-308], [1e308] * 3])
def test_extreme_steps_leave_iterates_finite(rates: list[float]) -> None:
    """An infinite iterate made the next sum NaN or not, as one record had a zero in it or not."""
    x, y = np.random.default_rng(0).standard_normal((20, 2)), np.full(20, 1.7e308)
    x[3] = [0.0, 1.0]
    assert np.isfinite(batch_descent.release(x, y, 1e150, rates, 1.0, rng=rng())).all()


@given(floats)
@law
def test_records_are_bounded_one_by_one(pair: tuple[Data, Data]) -> None:
    def kept(x: np.ndarray, y: np.ndarray) -> Data:
        told = bounds.prepare(x, y, np.array([True, False]))
        return told.rows, told.responses

    for bring in (TOLD.clip, bounds.given, kept, lambda x, y: (bounds.shortened(bounds.given(x, y)[0], 0.3), y)):
        (x, y), (other, response) = (bring(*data) for data in pair)
        same = [np.array_equal(a, b, equal_nan=True) for a, b in zip(np.c_[x, y], np.c_[other, response])]
        assert sum(same) >= n - 1
    assert np.abs(TOLD.clip(*pair[0])[1]).max() <= TOLD.response
    x, y = bounds.given(*pair[0])
    assert np.isfinite(np.c_[x, y]).all()
    reach = np.where(x.any(axis=1), huber.limits(x, C), 0.0) * np.linalg.norm(x, axis=1)
    assert reach.max() <= C * ROUNDING


@given(floats)
@law
def test_a_record_moves_one_solution_of_tukey_alone(pair: tuple[Data, Data]) -> None:
    x, y = np.tile(pair[0][0], (4, 1)), np.tile(pair[0][1], 4)
    X, Y = x.copy(), y.copy()
    X[5], Y[5] = pair[1][0][5], math.nan
    one, two = (tukey.models(*data, 9, rng=rng()) for data in ((x, y), (X, Y)))
    assert sum(not np.array_equal(a, b) for a, b in zip(one, two)) <= 1
    assert np.abs(one).max() <= 1e150
    for count_noise in (-50.0, 1e3):
        assert np.isfinite(tukey._deep_point(one, ApproximateDP(30.0, 0.01), count_noise, rng=rng())).all()
    assert np.isfinite(tukey.release(one, ApproximateDP(30.0, 0.4), rng=rng())).all()
    assert np.isfinite(tukey.fit(x, y, 9, ApproximateDP(30.0, 0.4), rng=rng())).all()
    assert np.isfinite(tukey.fits(x, y, 9, [ApproximateDP(30.0, 0.4)] * 2, rng=rng())).all()


def test_a_large_budget_leaves_objective_perturbation_a_penalty_that_doubles_can_tell() -> None:
    """As it was: the least penalty alone, under which every record was shortened to next to nothing."""
    added = objective_perturbation.calibrate(ApproximateDP(1000.0, 1e-5), 0.5, 1.0, 2.0)
    assert added.penalty == pytest.approx(4.0 / huber.REACH)
    x, w = np.random.default_rng(0).standard_normal((500, 2)) / 2, np.array([1.0, -0.5])
    found = objective_perturbation.release(x, x @ w, 1.0, added, rng=rng())
    np.testing.assert_allclose(found, w, atol=0.02)


def cleaned(x: np.ndarray, y: np.ndarray) -> Data:
    """Record by record, in plain Python: void what is not finite or has no square, shorten what is beyond B."""
    X, Y = np.zeros(x.shape), np.zeros(y.shape)
    for k, (row, response) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        length = math.hypot(*row) if all(map(math.isfinite, row)) else math.inf
        if 1e-150 <= length <= 1e150 and math.isfinite(response):
            X[k], Y[k] = np.array(row) * min(1.0, TOLD.features / length), response
    return X, Y


@given(floats)
@law
def test_where_features_have_a_bound_bounded_records_alone_are_seen(pair: tuple[Data, Data]) -> None:
    found = boosting.release(*pair[0], TOLD, C, 3, MU, rng=rng())
    np.testing.assert_allclose(found, boosting.release(*cleaned(*pair[0]), TOLD, C, 3, MU, rng=rng()), rtol=1e-6)
    assert np.isfinite(found).all()
    both = boosting.releases(*pair[0], TOLD, [boosting.Plan(C, 3, MU), boosting.Plan(C, 1, MU)], rng=rng())
    assert np.isfinite(both).all()
    perturbed = [objective_perturbation.release(*x, C, ADDED, rng=rng()) for x in (pair[0], cleaned(*pair[0]))]
    np.testing.assert_allclose(*perturbed, rtol=1e-6)
    adassp = sufficient_statistics.moments(*pair[0], TOLD)
    assert np.isfinite(sufficient_statistics.release(adassp, TOLD, MU, rng=rng())).all()
    matrix, penalty = sufficient_statistics.noisy_matrix(adassp.square, n, TOLD, MU, rng=rng())
    assert np.isfinite(matrix).all() and penalty > 0  # noqa: PT018


MIXED = gaussian_mixing.Plan(TOLD, ApproximateDP(2.0, 1e-3), 10)
ROUNDS = hessian_mixing.Plan(TOLD, ApproximateDP(2.0, 1e-3), 10, (C, C), (3.0, 1.0))


@given(floats)
@law
def test_sketches_are_of_bounded_records_alone(pair: tuple[Data, Data]) -> None:
    data, bounded = pair[0], cleaned(*pair[0])
    found = gaussian_mixing.release(*data, MIXED, rng=rng()), hessian_mixing.release(*data, ROUNDS, rng=rng())
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[0], gaussian_mixing.release(*bounded, MIXED, rng=rng()), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found[1], hessian_mixing.release(*bounded, ROUNDS, rng=rng()), rtol=1e-6, atol=1e-9)


X, Y = np.random.default_rng(1).standard_normal((2, 20, 1)) / 9
NONE, SHORT, ONES = np.zeros((0, 2)), np.zeros(3), np.ones((20, 1))
Y, WRONG = Y[:, 0], (2.0, -1.0, math.nan)
MOMENTS = sufficient_statistics.moments(X, Y, TOLD)
MANY = sufficient_statistics.Moments(np.eye(1), np.ones(1), 10**8)
RELEASES: dict[str, Callable[[np.ndarray, np.ndarray], object]] = {
    "batch": lambda x, y: batch_descent.release(x, y, C, [0.1], 1.0, rng=rng()),
    "output": lambda x, y: output_perturbation.release(x, y, C, PENALTY, MU, rng=rng()),
    "objective": lambda x, y: objective_perturbation.release(x, y, C, ADDED, rng=rng()),
    "boosting": lambda x, y: boosting.release(x, y, TOLD, C, 2, MU, rng=rng()),
    "mixing": lambda x, y: gaussian_mixing.release(x, y, MIXED, rng=rng()),
    "Hessian mixing": lambda x, y: hessian_mixing.release(x, y, ROUNDS, rng=rng()),
    "moments": lambda x, y: sufficient_statistics.moments(x, y, TOLD),
    "gradient": lambda x, y: huber.gradient(np.zeros(x.shape[1]), x, y, C, PENALTY),
}


@each("name", RELEASES)
def test_without_records_or_with_other_shapes_there_is_no_release(name: str) -> None:
    refused("the number of records must be a whole number of at least 1, got 0", RELEASES[name], NONE, np.zeros(0))
    refused("y must have shape", RELEASES[name], ONES, SHORT)


@each(
    ("call", "words"),
    [
        *((lambda q=q: batch_descent.release(X, Y, C, [0.1], 1.0, q, rng=rng()), "sampling") for q in WRONG),
        (lambda: batch_descent.release(X, Y, C, [0.1, math.nan], 1.0, rng=rng()), "learning_rates must be"),
        (lambda: batch_descent.release(X, Y, math.inf, [0.1], 1.0, rng=rng()), "clip_norm must be positive and finite"),
        (lambda: batch_descent.spent_epsilon(0.0, 0.5, 2, 1e-5), "noise_multiplier must be"),
        (lambda: objective_perturbation.release(X, Y, 2 * C, ADDED, rng=rng()), "clip_norm must be that of added, 0.7"),
        (lambda: boosting.release(X, Y, TOLD, 1e200, 2, MU, rng=rng()), "clip_norm must be between"),
        (lambda: boosting.release(X, Y, Bounds(1e150, 1.0), C, 2, MU, rng=rng()), "sensitivity / mu must be between"),
        (lambda: batch_descent.release(X, Y, C, [0.1], 0.0, rng=rng()), "noise_multiplier must be positive and finite"),
        (lambda: batch_descent.release(X, Y, 1e-150, [0.1], 1e-200, rng=rng()), "sensitivity · noise_multiplier must"),
        (lambda: sufficient_statistics.noisy_matrix(np.full((2, 2), math.nan), 1, TOLD, MU, rng=rng()), "square must"),
        (lambda: sufficient_statistics.Moments(np.eye(2), np.ones(3), 1), "square must have shape"),
        (lambda: sufficient_statistics.release(MANY, Bounds(1e150, 1.0), MU, rng=rng()), "bounds must be such that"),
        (lambda: sufficient_statistics.release(MOMENTS, TOLD, GaussianDP(math.inf), rng=rng()), "mu must be positive"),
        (lambda: Bounds(1e200, 1.0), "features must be between 1e-150 and 1e"),
        (lambda: bounds.shortened(X, 0.0), "bound must be positive and finite"),
        (lambda: tukey.fit(ONES, SHORT, 8, ApproximateDP(1.0, 1e-3), rng=rng()), "y must have shape"),
        (lambda: tukey.fit(ONES, ONES[:, 0], 21, ApproximateDP(1.0, 1e-3), rng=rng()), "parts must be at most n/d"),
        (lambda: tukey.release(np.ones((8, 1)), ApproximateDP(1e-200, 1e-3), rng=rng()), "epsilon must be between"),
    ],
)  # fmt: skip
def test_public_facts_are_refused(call: Callable[[], object], words: str) -> None:
    refused(words, call)
