r"""What clipping does to the gradients of Gaussian residuals: which share it keeps, and how much precision it costs.

A record's gradient (xᵀθ − y)x is clipped at C, so its residual is clipped at C/‖x‖. Let the residual be N(0, τ²) and
independent of x, write ψ for the clipped residual and weigh each record by ‖x‖². Then

* the *kept share* :math:`m = E\,\psi'` is the factor by which clipping shrinks the curvature (Stein's identity);
* the *inefficiency* :math:`f = E\psi^2/(m\tau)^2 - 1` says how far the root of the sum of clipped gradients, which is
  Huber's estimate with a threshold for each record, is from least squares on the same records.

**Proof of the second.** Let θ_C be that root and θ_OLS the solution of least squares, r = y − Xθ_OLS. To first order

.. math:: \theta_C - \theta_{OLS} = \frac{H^{-1}}{mn}\sum_i \psi(r_i)x_i
    = \frac{H^{-1}}{mn}\sum_i(\psi(r_i) - m r_i)x_i,

because Σ r_i x_i = 0. The term in brackets has the variance Eψ² − m²τ² = f m²τ², since E[ψr] = mτ². So the difference
has the covariance fτ²H⁻¹/n, and it is uncorrelated with θ_OLS. ∎

**Iterates that fluctuate** (`smoothed`). If θ fluctuates around the root so that residuals of variance σ² become
residuals of variance τ² = σ² + α², the mean step averages ψ over the fluctuation. With the Hermite coefficients a_k of
ψ at scale τ and ρ = σ²/τ², the averaged clipped residual has the second moment Σ a_k²ρ^k. The first term is m²σ² with
m taken at τ, and only odd k ≥ 3 remain. Hence the inefficiency is at most ρ² times that at τ: noise makes clipping
milder.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import chdtri, erf, ndtr

_POINTS = 64  # of the law of ‖x‖²


def squared_norms(spectrum: np.ndarray) -> np.ndarray:
    """Equally likely values of ‖x‖² for Gaussian x, shape (64,): quantiles of the χ² law with two moments matched.

    Args:
        spectrum: eigenvalues of E[xxᵀ], shape (d,), positive.

    >>> print(squared_norms(np.ones(4)).mean().round(1))
    4.0
    """
    total, freedom = spectrum.sum(), spectrum.sum() ** 2 / (spectrum**2).sum()
    levels = (np.arange(_POINTS) + 0.5) / _POINTS
    found = chdtri(freedom, 1 - levels)
    return np.asarray(found * total / found.mean())


def kept(clip_norm: float, std: float, norms: np.ndarray) -> float:
    """The kept share m of the module.

    Args:
        clip_norm: C in (0, ∞). std: τ in (0, ∞). norms: ‖x‖² of equally likely records, any shape.

    >>> print(round(kept(1.5, 1.0, np.ones(1)), 3))  # erf(1.5/√2)
    0.866
    """
    return float(np.average(erf(clip_norm / np.sqrt(2 * norms) / std), weights=norms))


def clipped_share(clip_norm: float, std: float, norms: np.ndarray) -> float:
    """The share of records whose gradient is clipped. Args: those of `kept`."""
    return float(np.mean(2 * ndtr(-clip_norm / np.sqrt(norms) / std)))


def clipped_square(bound: np.ndarray | float, std: float) -> np.ndarray:
    r"""E min(r², c²) for r ~ N(0, τ²).

    Args:
        bound: c in (0, ∞), any shape. std: τ in (0, ∞).

    Returns:
        τ²(1 − 2Φ(−k) − 2kφ(k)) + 2c²Φ(−k) with k = c/τ, the shape of ``bound``.

    >>> print(float(clipped_square(1e9, 2.0)))
    4.0
    """
    k = np.asarray(bound, dtype=float) / std
    tail, density = ndtr(-k), np.exp(-(k**2) / 2) / math.sqrt(2 * math.pi)
    return np.asarray(std**2 * (1 - 2 * tail - 2 * k * density + 2 * k**2 * tail))


def inefficiency(clip_norm: float, std: float, norms: np.ndarray) -> float:
    """The inefficiency f of the module. Args: those of `kept`.

    >>> print(round(inefficiency(1.345, 1.0, np.ones(1)), 3))  # 95 % of the efficiency of least squares
    0.053
    """
    second = float(np.average(clipped_square(clip_norm / np.sqrt(norms), std), weights=norms))
    return max(0.0, second / (kept(clip_norm, std, norms) * std) ** 2 - 1)


def smoothed(clip_norm: float, std: float, spread: float, norms: np.ndarray) -> float:
    """A bound on the inefficiency where iterates fluctuate, as the module proves.

    Args:
        clip_norm: C. std: σ, of the residuals at the root. spread: α ≥ 0, the standard deviation of what the
            fluctuation adds to a residual. norms: as in `kept`.
    """
    total = math.hypot(std, spread)
    return (std / total) ** 4 * inefficiency(clip_norm, total, norms)
