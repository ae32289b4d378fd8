r"""What the plans of clipped descents share: the public guesses that they start from, what they try, when they give up.

A plan reads no record. It is told E(xᵀθ*)², the variance ζ² of the label noise, and the dimension, for features with
E‖x‖² = d; it runs a recursion for v = ‖θ − θ*‖² at every candidate, and takes the one with the least error.

**What clipping does to a normal residual: the two numbers with which a plan predicts a clipped descent.**

Let g be a standard normal and ψ(g) = max(−z, min(g, z)). With features of covariance I and length about √d, and
residuals of variance P, gradients clipped at C = z√(dP) have residuals clipped at z√P. By Stein's identity the mean of
the clipped gradients is that of the others times E ψ'(g) (`kept`), and one coordinate of a clipped gradient has the
mean square P E ψ(g)² (`mean_square`).
"""

import math

from scipy.special import ndtri

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP

LEVELS = (0.5, 0.7, 0.9)  # q, the share of what a clip leaves as it is
# a, the share of a whole step: with 1, uneven features overshoot; with 0, the answer is 0
RATES = (0.0, 0.03, 0.1, 0.3, 0.6)
_DIVERGED = 1e6  # v + ζ² over what it is at the start


class AveragedSteps:
    """A plan of T steps that spend μ together, and of whose iterates the last half is averaged."""

    steps: int
    budget: GaussianDP

    @property
    def guarantee(self) -> GaussianDP:
        """What the release of all iterates, and of all that chose their clips, spends."""
        return self.budget

    @property
    def averaged(self) -> int:
        """How many of the last of T iterates are averaged: half of them, rounded up."""
        return self.steps - self.steps // 2


def response_variance(explained_variance: float, noise_variance: float) -> float:
    """The variance of the response, E(xᵀθ*)² + ζ².

    Args:
        explained_variance: a guess of E(xᵀθ*)², in (0, ∞). noise_variance: a guess of ζ², in [0, ∞).

    Raises:
        ValueError: if an argument is outside its range.

    >>> response_variance(1.0, 0.25)
    1.25
    """
    explained = _validate.finite_positive("explained_variance", explained_variance)
    return explained + _validate.nonnegative("noise_variance", noise_variance)


def diverged(error: float, explained_variance: float, noise_variance: float) -> bool:
    """Whether the steps of a plan drive θ away, so that its error counts as infinite: v, where it is NaN too."""
    return not error < _DIVERGED * (explained_variance + noise_variance)


# ---- Clipped normal ----


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
