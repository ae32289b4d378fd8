"""Clipped Gaussian residuals: closed forms against quadrature and draws, the inefficiency against Huber's estimates."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from costofprivacy.rivals import checkpoint_descent

ONE = np.ones(1)


@pytest.mark.parametrize("ratio", [0.3, 1.0, 2.5])
def test_closed_forms_are_integrals(ratio: float) -> None:
    std = 1.7
    bound = ratio * std

    def mean(function) -> float:
        return quad(lambda r: function(r) * norm.pdf(r, scale=std), -12 * std, 12 * std, points=[-bound, bound])[0]

    square = mean(lambda r: min(r * r, bound**2))
    assert float(checkpoint_descent.clipped_square(bound, std)) == pytest.approx(square, rel=1e-8)
    inside = mean(lambda r: float(abs(r) < bound))
    assert checkpoint_descent.gaussian_clipping_kept(bound, std, ONE) == pytest.approx(inside, rel=1e-6)
    stein = mean(lambda r: r * max(-bound, min(r, bound))) / std**2
    assert checkpoint_descent.gaussian_clipping_kept(bound, std, ONE) == pytest.approx(stein, rel=1e-8)
    assert checkpoint_descent.clipped_share(bound, std, ONE) == pytest.approx(1 - inside, rel=1e-6)
    assert checkpoint_descent.inefficiency(bound, std, ONE) == pytest.approx(square / (inside * std) ** 2 - 1, rel=1e-5)


@pytest.mark.parametrize("spectrum", [np.ones(3), 1 / np.arange(1, 11.0)])
def test_norms_have_the_two_moments_of_gaussian_features(spectrum: np.ndarray) -> None:
    norms = checkpoint_descent.squared_norms(spectrum)
    assert norms.mean() == pytest.approx(spectrum.sum())
    assert norms.var() == pytest.approx(2 * (spectrum**2).sum(), rel=0.06)


def test_the_inefficiency_is_the_distance_of_huber_s_estimate_from_least_squares() -> None:
    rng = np.random.default_rng(0)
    n, d, C = 400, 3, 2.0
    apart = []
    for _ in range(300):
        x, y = rng.standard_normal((n, d)), rng.standard_normal(n)
        root, limit = np.linalg.lstsq(x, y)[0], C / np.linalg.norm(x, axis=1)
        for _ in range(60):  # steps of the whole curvature: a contraction
            root = root - np.linalg.solve(x.T @ x, x.T @ np.clip(x @ root - y, -limit, limit))
        apart.append(np.sum((root - np.linalg.lstsq(x, y)[0]) ** 2))
    expected = checkpoint_descent.inefficiency(C, 1.0, checkpoint_descent.squared_norms(np.ones(d))) * d / n
    assert np.mean(apart) == pytest.approx(expected, rel=0.2)
    assert (
        expected
        > 2 * checkpoint_descent.inefficiency(1.5 * C, 1.0, checkpoint_descent.squared_norms(np.ones(d))) * d / n
    )


@pytest.mark.parametrize("spread", [0.2, 1.0])
def test_fluctuation_makes_clipping_milder(spread: float) -> None:
    """The averaged residual by quadrature: its inefficiency is at most the bound, and most of it."""
    C, total = 0.8, math.hypot(1.0, spread)
    grid, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    fine = np.linspace(-8, 8, 4001)
    density = norm.pdf(fine) / norm.pdf(fine).sum()
    averaged = np.array([np.clip(r + spread * fine, -C, C) @ density for r in grid])
    m = checkpoint_descent.gaussian_clipping_kept(C, total, ONE)
    exact = weights @ averaged**2 / m**2 - 1
    bound = checkpoint_descent.smoothed(C, 1.0, spread, ONE)
    assert 0.5 * bound < exact <= bound * 1.001
    assert bound < checkpoint_descent.inefficiency(C, 1.0, ONE)
