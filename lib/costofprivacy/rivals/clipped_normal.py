r"""What clipping does to a normal residual: the two numbers with which a plan predicts a clipped descent.

Let g be a standard normal and ψ(g) = max(−z, min(g, z)). With features of covariance I and length about √d, and
residuals of variance P, gradients clipped at C = z√(dP) have residuals clipped at z√P. By Stein's identity the mean of
the clipped gradients is that of the others times E ψ'(g) (`kept`), and one coordinate of a clipped gradient has the
mean square P E ψ(g)² (`mean_square`).
"""

from __future__ import annotations

import math

from scipy.special import ndtri

from costofprivacy import _validate


def kept(z: float) -> float:
    """E ψ'(g) = P(|g| ≤ z): the share of the mean gradient that clipping leaves.

    Args:
        z: in (0, ∞).

    >>> round(kept(1.0), 4)
    0.6827
    """
    return math.erf(_validate.finite_positive("z", z) / math.sqrt(2))


def mean_square(z: float) -> float:
    """E ψ(g)² = E min(g², z²).

    Args:
        z: in (0, ∞).

    >>> round(mean_square(1.0), 4), round(mean_square(9.0), 4)
    (0.5161, 1.0)
    """
    inside = kept(z) - math.sqrt(2 / math.pi) * z * math.exp(-(z**2) / 2)
    return inside + z**2 * math.erfc(z / math.sqrt(2))


def threshold(level: float) -> float:
    """The z with P(|g| ≤ z) = level.

    Args:
        level: in (0, 1).

    >>> round(threshold(0.95), 4)
    1.96
    """
    return float(ndtri((1 + _validate.probability("level", level)) / 2))
