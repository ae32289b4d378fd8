import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from costofprivacy.privacy.low_bits import MOST_VARIANCE, could_have_come_from, discrete_gaussian
from tests.each import each

# whether a double could have been released


@each("ratio", [1e-6, 0.01, 0.3, 1.0, 7.0, 1e3, 1e9])
@each("std", [1.0, 0.731, 1.999999, 1e-7, 3e5])
def test_the_true_value_is_never_ruled_out(ratio: float, std: float) -> None:
    rng = np.random.default_rng(0)
    value = ratio * std * rng.standard_normal(5000)
    released = value + std * rng.standard_normal(5000)
    assert could_have_come_from(released, value, std).all()


def test_whatever_double_was_drawn_the_true_value_passes() -> None:
    """Not normals only: any z, with mantissas at both ends of a binade, and sums that cancel."""
    rng = np.random.default_rng(1)
    z = np.ldexp(1 + rng.choice([0.0, 2.0**-52, 0.5, 1 - 2.0**-52], 4000), rng.integers(-8, 8, 4000))
    for std in (1.0000000001, 1.5, 1.9999999999):
        value = -std * z * (1 + rng.choice([0.0, 1e-16, 1e-9, 0.3], 4000))
        assert could_have_come_from(value + std * z, value, std).all()


def test_a_wrong_value_is_ruled_out_about_as_often_as_doubles_are_missed() -> None:
    """In [1.5, 2), s = 1.5 reaches two of three doubles; the first ones in exact numbers."""
    std, rng = 1.5, np.random.default_rng(2)
    released = 1.5 + np.ldexp(rng.integers(0, 2**51, 3000).astype(float), -52)
    possible = could_have_come_from(released, 0.0, std)
    assert possible.mean() == pytest.approx(2 / 3, abs=0.05)
    for y, said in zip(released[:300].tolist(), possible[:300], strict=True):
        near = [math.nextafter(y / std, math.copysign(math.inf, k)) for k in (-1, 1)] + [y / std]
        assert said == any(float(Fraction(std) * Fraction(z)) == y for z in near)


def test_a_power_of_two_reaches_every_double() -> None:
    rng = np.random.default_rng(3)
    assert could_have_come_from(rng.standard_normal(3000), 0.0, 0.5).all()


# the discrete Gaussian


def law(variance: float, reach: int) -> np.ndarray:
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * variance))
    return weights / weights.sum()


@pytest.mark.parametrize("variance", [1, 9])
def test_the_sampler_has_its_law_and_no_other(variance: int) -> None:
    reach = 3 * math.isqrt(variance)
    drawn = np.clip(discrete_gaussian(variance, 8000, rng=np.random.default_rng(variance)), -reach, reach)
    counts = np.bincount(drawn + reach, minlength=2 * reach + 1)

    def fits(supposed: float) -> float:
        wide = law(supposed, 4 * reach)
        cut = wide[3 * reach : -3 * reach].copy()
        cut[[0, -1]] += [wide[: 3 * reach].sum(), wide[-3 * reach :].sum()]
        return float(chisquare(counts, 8000 * cut / cut.sum()).pvalue)

    assert fits(variance) > 1e-3
    assert fits(1.2 * variance) < 1e-6
    assert fits(variance / 1.2) < 1e-6


@pytest.mark.parametrize("variance", [0, -1, 1.5, MOST_VARIANCE + 1])
def test_bad_variances_are_named(variance: float) -> None:
    with pytest.raises(ValueError, match="sigma_squared must be"):
        discrete_gaussian(variance, 1, rng=np.random.default_rng(0))  # type: ignore[arg-type]
