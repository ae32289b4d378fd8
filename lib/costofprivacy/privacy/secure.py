r"""Noise from OpenDP's exact samplers: guarantees for numbers as a computer has them, not for real ones.

A guarantee for Gaussian noise is proved for real numbers. Doubles are none: which doubles ``value + noise`` can be
depends on the value (Mironov, 2012), and NumPy's generators are not made for secrecy. Here a value is rounded to a grid
of width g, a public power of two, and integers are added to it, drawn by OpenDP with exactly the stated law (Canonne,
Kamath and Steinke, 2020, arXiv:2004.00010); its random bits are OpenSSL's, seeded by the operating system. Released is

.. math:: g\,\big(\operatorname{round}(v_j/g) + Y_j\big), \qquad
    P(Y_j = k) \propto e^{-k^2/2\sigma_j^2}, \qquad
    \sigma_j = \frac{s_j}{g}\Big(1 + \frac g\mu\big(\textstyle\sum_i s_i^{-2}\big)^{1/2}\Big)(1 + 2^{-40}). \tag{1}

**Guarantee.** If neighbouring values have :math:`\sum_j (v_j - v'_j)^2/s_j^2 \le \mu^2`, then (1) is μ-Gaussian DP, as
the mechanism with real noise of standard deviations s_j is. *Proof.*

1. *Rounding.* It moves a coordinate by g/2 at most in each of two neighbours. By the triangle inequality the integers
   q = round(v/g) have :math:`g\big(\sum_j (q_j - q'_j)^2/s_j^2\big)^{1/2} \le \mu + g\big(\sum_j s_j^{-2}\big)^{1/2}`.
   That v/g is cut to ±2⁶² moves no two values further apart. The first bracket of (1) pays for g.
2. *Discrete noise hides as much as real noise.* For w = 64 let K be the random map that takes a real x to the integer k
   with probability :math:`e^{-(k-x)^2/2w^2}/N(x)`. By Poisson's summation formula N(x) is within a factor 1 ± a of
   :math:`w\sqrt{2\pi}` for all x, where :math:`a = 3e^{-2\pi^2w^2} < 10^{-35000}`. The same holds of the constant in
   (1), which is the case x = 0 with σ in the place of w. Let r² = σ² − w². The probability that K takes q + N(0, r²) to
   k is the integral of two Gaussian densities over N(x). So it is that of q + Y, up to a factor in
   [(1 − a)/(1 + a), (1 + a)/(1 − a)], for every k. Up to a factor in [e^{−b}, e^b], b = 3aD for D coordinates, (1) is
   thus a function of the Gaussian mechanism with standard deviations g r_j.
3. *Such a factor costs next to nothing.* Let p be the probability of an event, and p̃ another with p̃ ≤ e^b p and
   1 − p̃ ≥ e^{−b}(1 − p). Then Φ⁻¹(p̃) ≤ Φ⁻¹(p) + κ with κ = 2(e^b − 1), for b ≤ 0.01. If z = Φ⁻¹(p) ≤ 0, the density
   φ is at least φ(z)e^{−κ²/2} between z and z + κ, and Φ(z) ≤ φ(z)√(π/2). So Φ(z + κ) − Φ(z) ≥ κe^{−κ²/2}√(2/π)Φ(z),
   which exceeds (e^b − 1)Φ(z). If z > 0, take complements. Used for both neighbours, this adds 2κ < 10⁻³⁴⁰⁰⁰ to the μ
   of the mechanism in step 2.
4. *What is left.* σ_j is at least 2³⁰, so r_j ≥ σ_j(1 − 2⁻⁴⁸). The factor 1 + 2⁻⁴⁰ pays for that, for 2κ/μ and for the
   roundings of the doubles in (1) together. ∎

With μ̄ = min(1, μ), but at least 2⁻²⁰, g is the largest power of two that is at most 2⁻³⁰ μ̄ min s_j. So the grid costs
less than a millionth of the noise if D < 10⁶ and μ > 10⁻⁶.

**Choices and counts.** An index with probability ∝ e^{w_k} is drawn by OpenDP, too, exactly for the doubles w_k; a
geometric or a uniform whole number by Python's ``secrets``, from the operating system.

*Assumes* what `privacy.sums` does of the sums that are released, and that OpenDP and OpenSSL do what they say. Whoever
sees how long a draw takes, or the memory of the process, is not covered.
"""

import functools
import itertools
import math
import secrets
from typing import Any

import numpy as np

_FINE, _LEAST, _SLACK, _MOST = 30, 2.0**-20, 2.0**-40, 2.0**62
_OTHER_LAWS = (
    *("standard_normal", "normal", "laplace", "gumbel", "exponential", "standard_exponential", "chisquare", "gamma"),
    *("standard_gamma", "poisson", "binomial", "multivariate_normal", "uniform", "beta", "standard_t"),
)


class Sampler(np.random.Generator):
    """A generator whose noise is exact; orders, on whose secrecy nothing rests, are NumPy's. Most laws are not drawn.

    Raises:
        ImportError: if OpenDP is not installed.
    """

    def __init__(self) -> None:
        try:
            import opendp.prelude  # noqa: F401
        except ImportError as missing:
            raise ImportError(
                'noise="secure" draws with OpenDP, which is not installed: pip install "opendp>=0.16,<0.17"'
            ) from missing
        super().__init__(np.random.PCG64())

    @np.errstate(all="ignore")  # what NumPy has to say of private numbers
    def noisy(self, value: Any, std: Any, mu: float) -> np.ndarray:
        """(1) of the module's text.

        Args:
            value: v, finite, any shape. std: s_j in [10⁻³⁰⁰, 10³⁰⁰], of that shape or one that is broadcast to it.
            mu: μ in (0, ∞).
        """
        value = np.asarray(value, dtype=float)
        stds = np.broadcast_to(np.asarray(std, dtype=float), value.shape)
        fine = float(stds.min()) * max(min(mu, 1.0), _LEAST)
        grid = math.ldexp(1.0, math.frexp(fine)[1] - 1 - _FINE)
        rounded = np.clip(np.rint(value / grid), -_MOST, _MOST).astype(np.int64)
        larger = (1 + math.sqrt(float(((grid / stds) ** 2).sum())) / mu) * (1 + _SLACK)
        found = np.empty(value.shape)
        for each in np.unique(stds).tolist():
            these = stds == each
            found[these] = _gaussian(each / grid * larger)(rounded[these].tolist())
        return found * grid

    def chosen(self, weights: np.ndarray) -> int:
        """An index k with probability ∝ e^{w_k}.

        Args:
            weights: finite, shape (K,).
        """
        return int(_largest()(np.asarray(weights, dtype=float).tolist()))

    def geometric(self, p: float) -> int:  # type: ignore[override]
        """How many trials it takes until one of probability p, in (0, 1], succeeds: exact for the double p."""
        above, below = float(p).as_integer_ratio()
        return next(k for k in itertools.count(1) if secrets.randbelow(below) < above)

    def integers(self, high: int) -> int:  # type: ignore[override]
        """A uniform whole number from 0 to ``high`` − 1."""
        return secrets.randbelow(high)


def _refused(self: Sampler, *_: Any, **__: Any) -> Any:
    """Raise ``TypeError``: of this law there are no exact draws."""
    raise TypeError("noise='secure' has exact draws of Gaussian noise, choices and counts alone")


for _law in _OTHER_LAWS:
    setattr(Sampler, _law, _refused)


@functools.lru_cache(maxsize=64)
def _gaussian(scale: float) -> Any:
    """Integers of 64 bits ↦ the same with discrete Gaussian noise."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    return dp.m.make_gaussian(*space, scale=scale)


@functools.cache
def _largest() -> Any:
    """Weights ↦ the index of the largest after Gumbel noise."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="f64", nan=False)), dp.linf_distance(T="f64")
    return dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=1.0)
