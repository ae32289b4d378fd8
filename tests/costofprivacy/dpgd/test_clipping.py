import math

import mpmath
import numpy as np
import pytest

from costofprivacy.dpgd import clipping

RATIOS = np.logspace(-8, 8, 321)
BAD_CLIPS = (0.0, -1.0, math.nan, np.array([1.0, 0.0]))
BAD_RISKS = (-1e-9, math.nan, math.inf, np.array([1.0, -1.0]))
FACTORS = (clipping.descent_reduction, clipping.variance_reduction)


def printed_mu(ratio: float) -> mpmath.mpf:
    return mpmath.erf(mpmath.mpf(ratio) / mpmath.sqrt(2))


def printed_nu(ratio: float) -> mpmath.mpf:
    """(B.2) and (B.3), letter by letter."""
    z = mpmath.mpf(ratio)
    F = mpmath.erf(z / mpmath.sqrt(2)) - mpmath.sqrt(2 / mpmath.pi) * z * mpmath.exp(-(z**2) / 2)
    return z**2 * (1 - mpmath.erf(z / mpmath.sqrt(2))) + F


@pytest.mark.parametrize(
    ("factor", "printed"),
    [(clipping.descent_reduction_at, printed_mu), (clipping.variance_reduction_at, printed_nu)],
)
def test_factors_keep_every_digit_of_the_printed_form(factor, printed) -> None:
    values = factor(RATIOS)
    with mpmath.workdps(60):
        errors = [abs(mpmath.mpf(float(v)) / printed(float(z)) - 1) for z, v in zip(RATIOS, values)]
    assert max(errors) < 1e-14


@pytest.mark.parametrize("ratio", [0.03, 0.5, 1.0, 2.0, 7.0])
def test_factors_are_the_moments_of_a_clipped_gaussian(ratio: float) -> None:
    """E[ξ clip(ξ)] and E[clip(ξ)²] by quadrature, without Stein's identity and without (B.3)."""
    with mpmath.workdps(30):
        pieces = [-mpmath.inf, -ratio, 0, ratio, mpmath.inf]

        def moment(weight) -> float:
            return float(mpmath.quad(lambda u: weight(u, max(-ratio, min(u, ratio))) * mpmath.npdf(u), pieces))

        mu, nu = moment(lambda u, c: u * c), moment(lambda u, c: c * c)
    assert float(clipping.descent_reduction_at(ratio)) == pytest.approx(mu, rel=1e-13)
    assert float(clipping.variance_reduction_at(ratio)) == pytest.approx(nu, rel=1e-13)


@pytest.mark.parametrize("label_noise", [0.0, 0.3, 2.0])
def test_definition_46_by_simulation_for_a_covariance_with_correlations(label_noise: float) -> None:
    """‖E[r_c x]‖/‖E[r x]‖ and E[r_c²]/E[r²] from draws of (x, y): the two vectors point the same way."""
    rng, n, clip = np.random.default_rng(1), 400_000, 0.8
    root = np.array([[1.0, 0.0, 0.0], [0.6, 0.7, 0.0], [-0.3, 0.2, 0.4]])
    error = np.array([0.5, -1.0, 0.8])
    x = rng.standard_normal((n, 3)) @ root.T
    residual = x @ error + label_noise * rng.standard_normal(n)
    clipped = np.clip(residual, -clip, clip)
    test_risk = ((error @ root) @ (error @ root) + label_noise**2) / 2
    mu, nu = clipping.descent_reduction(clip, test_risk), clipping.variance_reduction(clip, test_risk)
    difference = clipped[:, None] * x - mu * residual[:, None] * x
    assert (np.abs(difference.mean(axis=0)) < 4 * difference.std(axis=0) / math.sqrt(n)).all()
    gap = clipped**2 - nu * residual**2
    assert abs(gap.mean()) < 4 * gap.std() / math.sqrt(n)
    wrong = clipped**2 - (mu * residual) ** 2  # ν is not μ²
    assert abs(wrong.mean()) > 20 * wrong.std() / math.sqrt(n)


def test_limits() -> None:
    for factor in FACTORS:
        assert float(factor(math.inf, 0.7)) == 1.0
        assert float(factor(0.5, 0.0)) == 1.0
        assert float(factor(1e-300, 1.0)) >= 0
    assert float(clipping.descent_reduction(1e-8, 0.5)) == pytest.approx(1e-8 * math.sqrt(2 / math.pi), rel=1e-14)
    assert float(clipping.variance_reduction(1e-8, 0.5)) == pytest.approx(1e-16, rel=1e-7)
    assert float(clipping.descent_reduction_at(0.0)) == float(clipping.variance_reduction_at(0.0)) == 0.0
    assert float(clipping.variance_reduction_at(math.inf)) == 1.0


def test_factors_increase_with_the_clipping_constant_and_stay_between_their_bounds() -> None:
    mu, nu = clipping.descent_reduction_at(RATIOS), clipping.variance_reduction_at(RATIOS)
    assert (np.diff(mu) >= 0).all()
    assert (np.diff(nu) >= -4e-16).all()
    assert ((mu**2 <= nu * (1 + 1e-14)) & (nu <= mu)).all()  # Cauchy-Schwarz, and clip² ≤ ξ clip


def test_arguments_broadcast() -> None:
    clips, risks = np.array([[0.1], [1.0]]), np.array([0.2, 0.5, 3.0])
    for factor in FACTORS:
        table = factor(clips, risks)
        assert table.shape == (2, 3)
        assert table[1, 2] == factor(1.0, 3.0)


@pytest.mark.parametrize("factor", FACTORS)
def test_bad_arguments(factor) -> None:
    for clip in BAD_CLIPS:
        with pytest.raises(ValueError, match=r"^clip must be positive, got"):
            factor(clip, 1.0)
    for risk in BAD_RISKS:
        with pytest.raises(ValueError, match=r"^test_risk must be non-negative and finite, got"):
            factor(1.0, risk)
    with pytest.raises(ValueError, match=r"^clip must be positive, got -2.0$"):
        factor(np.append(np.ones(1200), -2.0), 1.0)
    with pytest.raises(ValueError, match=r"^test_risk must be non-negative and finite, got nan$"):
        factor(1.0, np.append(np.ones(1200), math.nan))
