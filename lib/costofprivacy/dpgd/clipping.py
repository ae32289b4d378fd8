r"""What clipping takes from the gradient's mean and from its second moment, for Gaussian data.

With r = xᵀθ − y ~ N(0, 2𝒫) and r_c = max(−c, min(r, c)), (4.5) of arXiv:2505.16329v2, the two factors (4.6) are

.. math:: \mu_c = \frac{\|E[r_c x]\|}{\|E[r x]\|}, \qquad \nu_c = \frac{E[r_c^2]}{E[r^2]}.

They depend on θ through the ratio c' = c/√(2𝒫) alone. Since E[x | r] is proportional to r, with ξ ~ N(0, 1) and
clipping at ±c',

.. math:: \mu = E[\xi\,\mathrm{clip}(\xi)] = P(|\xi| < c'), \qquad
          \nu = E[\mathrm{clip}(\xi)^2] = c'^2 P(|\xi| > c') + E[\xi^2; |\xi| < c'],

the first by Stein's identity. The last term is F(c') of (B.3), there a difference erf(c'/√2) − √(2/π) c' exp(−c'²/2)
whose terms agree to first and second order. It is also the distribution function of χ² with three degrees of freedom at
c'², a regularised incomplete gamma function, and in this form ν is a sum of two positive terms: no digits are lost.
"""

import math

import numpy as np
from scipy.special import erf, erfc, gammainc

_ROOT_HALF = math.sqrt(0.5)
_SATURATED = 40.0  # from here on, 1 − μ and 1 − ν are below the smallest double


def descent_reduction_at(ratio: float | np.ndarray) -> np.ndarray:
    """Descent reduction factor μ as a function of c', (B.1) and (B.19) of arXiv:2505.16329v2: erf(c'/√2).

    Guarantees: relative accuracy 1e-15. Checks nothing, since differential equations call it often.

    Args:
        ratio: c' = c/√(2𝒫) in [0, ∞], any shape.

    Returns:
        μ in [0, 1], of the same shape.
    """
    return erf(_ROOT_HALF * ratio)


def variance_reduction_at(ratio: float | np.ndarray) -> np.ndarray:
    """Variance reduction factor ν as a function of c', (B.2) and (B.20) of arXiv:2505.16329v2, without cancellation.

    c'² erfc(c'/√2) + P(3/2, c'²/2) with the regularised incomplete gamma function P.

    Guarantees: relative accuracy 1e-14. Checks nothing, since differential equations call it often.

    Args:
        ratio: c' = c/√(2𝒫) in [0, ∞], any shape.

    Returns:
        ν in [0, 1], of the same shape.
    """
    capped = np.minimum(ratio, _SATURATED)
    square = capped * capped
    return square * erfc(_ROOT_HALF * capped) + gammainc(1.5, 0.5 * square)


def clipping_ratio(clip: float | np.ndarray, test_risk: float | np.ndarray) -> np.ndarray:
    """Clipping constant over the standard deviation of the residual, c' = c/√(2𝒫), (B.18) of arXiv:2505.16329v2.

    Args:
        clip: c in (0, ∞], any shape.
        test_risk: 𝒫 = R + ζ²/2 in [0, ∞), half the mean squared error, a shape that broadcasts with ``clip``'s.

    Returns:
        c' in (0, ∞]; ∞ where nothing is clipped, c = ∞ or 𝒫 = 0.

    Raises:
        ValueError: if ``clip`` is not positive, or ``test_risk`` negative or not finite.
    """
    c, risk = np.asarray(clip, dtype=float), np.asarray(test_risk, dtype=float)
    for name, requirement, values, right in (
        ("clip", "positive", c, c > 0),
        ("test_risk", "non-negative and finite", risk, (risk >= 0) & (risk < math.inf)),
    ):
        if not right.all():
            raise ValueError(f"{name} must be {requirement}, got {float(values[~right][0])}")
    with np.errstate(divide="ignore", over="ignore"):
        return c / np.sqrt(2 * risk)


def descent_reduction(clip: float | np.ndarray, test_risk: float | np.ndarray) -> np.ndarray:
    """Descent reduction factor μ_c(𝒫) of (4.6) and (B.1) of arXiv:2505.16329v2: how much of its mean a gradient keeps.

    Assumes: Gaussian data and label noise (Assumption 1), clipping of the residual at ±c.

    Args, Raises: as `clipping_ratio`.

    Returns:
        μ_c in (0, 1], of the broadcast shape; 1 where nothing is clipped.

    >>> print(descent_reduction(1.0, 0.5).round(4))
    0.6827
    """
    return descent_reduction_at(clipping_ratio(clip, test_risk))


def variance_reduction(clip: float | np.ndarray, test_risk: float | np.ndarray) -> np.ndarray:
    """Variance reduction factor ν_c(𝒫) of (4.6), (B.2) of arXiv:2505.16329v2: how much of its square a residual keeps.

    Assumes: Gaussian data and label noise (Assumption 1), clipping of the residual at ±c.

    Args, Raises: as `clipping_ratio`.

    Returns:
        ν_c in (0, 1], of the broadcast shape; 1 where nothing is clipped.

    >>> print(variance_reduction(1.0, 0.5).round(4))
    0.5161
    """
    return variance_reduction_at(clipping_ratio(clip, test_risk))
