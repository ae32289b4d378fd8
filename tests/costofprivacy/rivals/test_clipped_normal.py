"""The two numbers of a clipped normal, against quadrature and their limits."""

import math

import pytest
from scipy.integrate import quad
from scipy.stats import norm

from costofprivacy.rivals import planning


@pytest.mark.parametrize("z", [1e-3, 0.4, 1.0, 2.5, 12.0])
def test_both_are_the_integrals(z: float) -> None:
    inside = quad(norm.pdf, -z, z, points=[0.0])[0]
    square = quad(lambda g: g**2 * norm.pdf(g), -z, z, points=[0.0])[0] + z**2 * 2 * norm.sf(z)
    assert planning.kept(z) == pytest.approx(inside, rel=1e-7)
    assert planning.mean_square(z) == pytest.approx(square, rel=1e-7)


@pytest.mark.parametrize("level", [0.01, 0.5, 0.9, 0.999])
def test_the_threshold_of_a_level_keeps_that_level(level: float) -> None:
    assert planning.kept(planning.threshold(level)) == pytest.approx(level)


def test_a_tight_clip_leaves_signs_and_a_wide_one_leaves_everything() -> None:
    assert planning.mean_square(1e-4) == pytest.approx(1e-8, rel=1e-3)
    assert planning.mean_square(40.0) == 1.0
    with pytest.raises(ValueError, match="z must be positive and finite"):
        planning.kept(0.0)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        planning.threshold(math.nan)
