import math

import numpy as np
import pytest
from scipy.optimize import curve_fit
from scipy.stats import sem

from companion import _fits

X = np.array([100.0, 150.0, 400.0, 900.0, 1000.0])
Y = np.array([3.0, 2.5, 0.9, 0.41, 0.33])
ERROR = np.array([0.3, 0.1, 0.2, 0.01, 0.02])


@pytest.mark.parametrize("shape", [(2,), (7, 3), (30, 2, 2)])
def test_mean_and_error_are_scipy_s(shape: tuple[int, ...]) -> None:
    samples = np.random.default_rng(5).standard_normal(shape)
    mean, error = _fits.mean_and_error(samples)
    np.testing.assert_allclose(mean, np.mean(samples, axis=0))
    np.testing.assert_allclose(error, sem(samples, axis=0), rtol=1e-12)


def test_a_power_law_is_the_weighted_least_squares_of_scipy() -> None:
    (_, slope), covariance = curve_fit(
        lambda t, a, b: a + b * t, np.log(X), np.log(Y), sigma=ERROR / Y, absolute_sigma=True
    )
    np.testing.assert_allclose(_fits.power_law(X, Y, ERROR), (slope, math.sqrt(covariance[1, 1])), rtol=1e-6)


@pytest.mark.parametrize("x", [[5.0], [5.0, 5.0, 5.0]])
def test_one_abscissa_makes_no_power_law(x: list[float]) -> None:
    with pytest.raises(ValueError, match=r"^x must hold at least two distinct values, got 1$"):
        _fits.power_law(np.array(x), np.ones(len(x)), np.ones(len(x)))


def test_local_exponents_are_second_order() -> None:
    """x² ln x, whose exponent is 2 + 1/ln x: half the mesh, a quarter of the error."""

    def error(points: int) -> float:
        x = np.geomspace(10, 1000, points)
        return float(np.abs(_fits.local_exponents(x, x**2 * np.log(x)) - (2 + 1 / np.log(x)))[1:-1].max())

    assert error(41) / error(81) == pytest.approx(4, rel=0.15)
