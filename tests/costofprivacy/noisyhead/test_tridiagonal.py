"""Moments in a basis in which H is tridiagonal, and the runs in it, against the matrix itself and Algorithm 1's."""

import numpy as np
import pytest

from costofprivacy.noisyhead import head, pretraining
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.tridiagonal import Configurations, grown, in_tridiagonal_basis, run
from tests.each import each

DATA = head.project(head.sample_statistics(PromptModel(4, 6), 40, 2.0, rng=np.random.default_rng(1))[1], 1.5)
MOMENTS, BASIS = head.moments(DATA), in_tridiagonal_basis(DATA)
RNG = np.random.default_rng(2)
ROWS = RNG.standard_normal((3, 16))


def test_the_basis_is_orthonormal_and_makes_h_tridiagonal() -> None:
    Q = BASIS.along(np.eye(16))
    np.testing.assert_allclose(Q.T @ Q, np.eye(16), atol=1e-13)
    T = np.diag(BASIS.diagonal) + np.diag(BASIS.beside, 1) + np.diag(BASIS.beside, -1)
    np.testing.assert_allclose(Q @ T @ Q.T, MOMENTS.gram, atol=1e-14)
    np.testing.assert_allclose(BASIS.matrices(BASIS.along(ROWS)).reshape(3, 16), ROWS, atol=1e-13)
    np.testing.assert_allclose(BASIS.coordinates(ROWS[0].reshape(4, 4)), BASIS.along(ROWS)[0], atol=1e-13)


def test_it_is_the_same_loss() -> None:
    assert BASIS.trace == pytest.approx(MOMENTS.trace)
    np.testing.assert_allclose(BASIS.matrices(BASIS.cross[None])[0].reshape(-1), MOMENTS.cross, atol=1e-14)
    moved = BASIS.matrices(BASIS.step(0.9, 0.3)(BASIS.along(ROWS))).reshape(3, 16)
    np.testing.assert_allclose(moved, MOMENTS.step(0.9, 0.3)(ROWS), atol=1e-13)
    for penalty in (1e-4, 1.0, 30.0):
        found = BASIS.matrices(BASIS.solve(penalty)[None])[0].reshape(-1)
        np.testing.assert_allclose(found, MOMENTS.solve(penalty), rtol=1e-9, atol=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        BASIS.solve(-1e3)


@each("radius", [0.6, 0.05, 1e3])
def test_the_runs_are_those_of_algorithm_1_on_the_same_noise(radius: float) -> None:
    """Steps, noise, start, penalty and rate each configuration's own; Π_R idle, now and then, and in every step."""
    steps, std, begun = np.array([1, 5, 3, 5]), np.array([0.1, 0.0, 0.3, 0.02]), np.array([0.0, 1.0, 2.0, 1.0])
    penalty, rate = np.array([0.5, 0.1, 2.0, 0.5]), np.array([0.2, 0.3, 0.1, 0.2])
    noise, start = RNG.standard_normal((5, 16)), RNG.standard_normal((4, 4)) / 4
    told = Configurations(penalty, rate, np.full(4, radius), std, steps, begun)
    found = BASIS.matrices(run(BASIS, told, BASIS.coordinates(start), noise))
    for k in range(4):
        hyper = Hyperparameters(2.0, 1.5, radius, penalty[k], rate[k], int(steps[k]))
        one = pretraining.pretrain(BASIS, hyper, [std[k]], rng=Replay(noise), initial=begun[k] * start)[0]  # type: ignore[arg-type]
        np.testing.assert_allclose(found[k], one, rtol=1e-11, atol=1e-14)
        assert np.linalg.norm(found[k]) <= radius * (1 + 1e-12)


def test_runs_on_one_line_are_those_of_algorithm_1_whether_they_stay_on_it_or_leave() -> None:
    std, steps, one = np.array([0.0, 0.05, 0.3, 0.3, 0.3, 1.0]), np.array([9, 9, 1, 4, 9, 9]), np.ones(6)
    noise, start = RNG.standard_normal((9, 16)), RNG.standard_normal((4, 4)) / 10
    hyper = Hyperparameters(2.0, 1.5, 2.0, 0.5, 0.2, 1)
    told = Configurations(0.5 * one, 0.2 * one, 2.0 * one, std, steps, one)
    found = BASIS.matrices(run(BASIS, told, BASIS.coordinates(start), noise))
    expected = pretraining.pretrain(BASIS, hyper, std, rng=Replay(noise), steps=steps, initial=start)  # type: ignore[arg-type]
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-14)
    at_the_edge = np.linalg.norm(found, axis=(1, 2)) > 2 - 1e-9
    assert at_the_edge.any()
    assert not at_the_edge[:3].any()


def test_without_noise_it_is_the_closed_form_of_descent() -> None:
    steps, one = np.array([1, 7, 40]), np.ones(3)
    told = Configurations(0.5 * one, 0.2 * one, np.inf * one, 0 * one, steps, 0 * one)
    found = BASIS.matrices(run(BASIS, told, np.zeros(16), np.zeros((40, 16))))
    for Gamma, T in zip(found, steps.tolist(), strict=True):
        expected = pretraining.gradient_descent(MOMENTS, Hyperparameters(2.0, 1.5, 0.6, 0.5, 0.2, T))
        np.testing.assert_allclose(Gamma, expected, rtol=1e-10, atol=1e-14)


class Replay:
    """A source that gives the rows of an array."""

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = iter(rows)

    def standard_normal(self, size: int) -> np.ndarray:
        """The next row."""
        return next(self._rows)[:size]


def test_the_noise_of_many_steps_is_a_sum_of_matrix_powers() -> None:
    step = (1 - 2 * 0.5 * 0.2) * np.eye(16) - 0.2 * MOMENTS.gram
    powers = np.cumsum([np.linalg.matrix_power(step, 2 * t) for t in range(5)], axis=0)
    expected = np.einsum("kp,tpq,kq->kt", ROWS, powers, ROWS)
    np.testing.assert_allclose(grown(BASIS, 0.5, 0.2, BASIS.along(ROWS), 5), expected, rtol=1e-12)
