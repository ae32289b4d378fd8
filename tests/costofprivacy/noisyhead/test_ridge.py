import mpmath
import numpy as np
import pytest

from costofprivacy.noisyhead import attack, head
from costofprivacy.noisyhead.attack import NONE, Attack
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.ridge import RidgeWithOneMore, ridge
from tests.costofprivacy.noisyhead.draws import drawn


def fifty_digits(Z: np.ndarray, y: np.ndarray, penalty: float) -> np.ndarray:
    """(2.7) word for word in mpmath."""
    N, p = Z.shape
    with mpmath.workdps(50):
        left, right = mpmath.eye(p) * mpmath.mpf(penalty) * N, mpmath.zeros(p, 1)
        for z, response in zip(Z, y):
            column = mpmath.matrix([mpmath.mpf(v) for v in z])
            left += column * column.T
            right += mpmath.mpf(response) * column
        return np.array([float(v) for v in mpmath.lu_solve(left, right)])


ALPHAS = (0.0, 1.0, 1e3, 5e7, 1e9, 1e13)


@pytest.fixture(scope="module")
def clean() -> tuple[head.Statistics, Prompts]:
    return head.statistics(drawn(30, 5)), drawn(1, 6)


@pytest.mark.parametrize("shifted", [False, True])
def test_the_attacked_ridge_is_that_of_fifty_digits(clean: tuple, shifted: bool) -> None:
    data, prompt = clean
    solver = RidgeWithOneMore(head.moments(data), 30, 0.02)
    attacks = [Attack(alpha, 1.0, alpha * shifted) for alpha in ALPHAS]
    last = attack.candidates(prompt, attacks)
    for Z, y, step in zip(last.Z, last.response, solver.step(last.Z, last.response)):
        rows = np.vstack([data.Z.reshape(30, -1), Z.reshape(1, -1)])
        exact = fifty_digits(rows, np.append(data.response, y), 0.02)
        found = (solver.without + step).reshape(-1)
        assert np.linalg.norm(found - exact) < 1e-8 * np.linalg.norm(exact)
        assert np.linalg.norm(found - exact) < 1e-13 * np.linalg.norm(exact)
    textbook = oracles_ridge(rows, np.append(data.response, y), 0.02)
    assert not np.linalg.norm(textbook - exact) < 1e-3 * np.linalg.norm(exact)


def oracles_ridge(Z: np.ndarray, y: np.ndarray, penalty: float) -> np.ndarray:
    """The normal equations in double precision."""
    return np.linalg.lstsq(Z.T @ Z + penalty * len(y) * np.eye(Z.shape[1]), Z.T @ y, rcond=None)[0]


def test_a_clean_prompt_more_is_ridge_itself(clean: tuple) -> None:
    data, prompt = clean
    last = attack.candidates(prompt, [NONE])
    solver = RidgeWithOneMore(head.moments(data), 30, 0.02)
    (whole,) = attack.with_each(head.moments(data), 30, last)
    found = (solver.without + solver.step(last.Z, last.response))[0]
    np.testing.assert_allclose(found, ridge(whole, 0.02), rtol=1e-11)


@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_the_step_tends_to_its_limit_and_fits_the_direction(clean: tuple, ratio: float) -> None:
    data, prompt = clean
    solver, V = RidgeWithOneMore(head.moments(data), 30, 0.02), attack.direction(prompt, 1.0)
    limit = solver.limit(V, np.array([ratio]))
    last = attack.candidates(prompt, [Attack(alpha, 1.0, ratio * alpha) for alpha in (1e6, 1e12, 1e150)])
    errors = np.linalg.norm(solver.step(last.Z, last.response) - limit, axis=(1, 2)) / np.linalg.norm(limit)
    assert errors[0] < 1e-4
    assert errors[1] < 1e-10
    assert errors[2] < 1e-12
    assert float(((solver.without + limit) * V).sum()) == pytest.approx(ratio, abs=1e-12)
