"""Numbers drawn in machine code are NumPy's, and leave its generator where NumPy would."""

import numpy as np
import pytest

from costofprivacy._compiled import compiled
from costofprivacy.dpgd import draws


def pair(seed: int) -> tuple[np.random.Generator, np.random.Generator]:
    return np.random.default_rng(seed), np.random.default_rng(seed)


@pytest.mark.parametrize("shape", [0, 3, (2, 5), (100_000,)])
def test_normals_are_numpys(shape) -> None:
    ours, theirs = pair(1)
    np.testing.assert_array_equal(draws.normals(shape, ours), theirs.standard_normal(shape))
    assert ours.random() == theirs.random()


@pytest.mark.parametrize("degrees", [2.5, 5.0, 30.0])
def test_student_t_numbers_are_numpys(degrees: float) -> None:
    ours, theirs = pair(2)
    np.testing.assert_allclose(draws.student_t(degrees, (100, 90), ours), theirs.standard_t(degrees, (100, 90)), 1e-14)
    assert ours.random() == theirs.random()


@compiled
def gammas(shape: float, size: int, rng: np.random.Generator) -> np.ndarray:
    out, slope = np.empty(size), draws.gamma_slope(shape)
    for i in range(size):
        out[i] = draws.standard_gamma(shape, slope, rng)
    return out


@pytest.mark.parametrize("shape", [0.0, 0.5, 1.0, 1.5, 23.5, 5e5])
def test_gamma_numbers_are_numpys(shape: float) -> None:
    ours, theirs = pair(3)
    np.testing.assert_allclose(gammas(shape, 10_000, ours), theirs.standard_gamma(shape, 10_000), 1e-14)
    assert ours.random() == theirs.random()
