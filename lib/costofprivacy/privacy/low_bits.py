r"""What the last bits of a release in floating point tell, and the sampler that has none to tell.

A Gaussian in double precision is f + s z with two roundings, a product and a sum. The products fl(s z) of all doubles
z do not fill the doubles: s stretches the doubles of one binade over more than one, and where they land a share of them
is hit by no z. Which doubles can be *released* therefore depends on f, and a release that cannot have come from f
proves that it did not (Mironov 2012 for Laplace noise; Jin et al. 2022, arXiv:2112.05307, for Gaussian noise). No ε
covers that: the event has probability 0 on one input and not on its neighbour.

**The test.** y = fl(f + n), n = fl(s z). If ulp(y) ≤ ulp(n), then n is within an ulp of fl(y − f), because the sum's
rounding moved it by ulp(y)/2 at most and that of the difference by ulp(n)/2. Given n, z is within two ulps of fl(n/s),
because both roundings are relative errors of 2⁻⁵³ on a mantissa below 2. If ulp(y) > ulp(n), several n round to the
same y; doubles that no z hits are isolated, since the products are less than two ulps apart, so that two neighbours
near fl(y − f) include one that is hit. In either case the true f passes.

**The remedy.** Round the value to a grid g and add a *discrete* Gaussian, P(X = x) ∝ exp(−x²/2σ²) on the whole
numbers, sampled exactly with integers (Canonne, Kamath and Steinke 2020, arXiv:2004.00010, Algorithms 1 to 3). Every
whole number has positive probability whatever the value, and the guarantee of zCDP is that of the continuous one,
Δ²/(2σ²) with Δ the sensitivity of the rounded value in units of g.
"""

import math
from collections.abc import Iterator

import numpy as np

from costofprivacy import _validate

MOST_VARIANCE = 10**8  # of the sampler: its coins stay within 64 bits
NEAR_NOISE, NEAR_NORMAL = (-1, 0, 1), (-2, -1, 0, 1, 2)  # ulps from the nearest, see the module's text


def could_have_come_from(released: np.ndarray, value: np.ndarray, noise_std: float) -> np.ndarray:
    """Whether some double z makes ``value + noise_std * z`` the released double.

    Guarantee: True wherever it is what happened; False proves that it is not.

    Args:
        released: y, doubles, any shape. value: f, a shape that broadcasts with it. noise_std: s in (0, ∞).

    Returns:
        of the broadcast shape.

    Raises:
        ValueError: if ``noise_std`` is not positive and finite.

    >>> z = np.random.default_rng(0).standard_normal(5)
    >>> could_have_come_from(0.1 + 0.7 * z, 0.1, 0.7).all()
    np.True_
    """
    s = _validate.finite_positive("noise_std", noise_std)
    found = np.zeros(np.broadcast_shapes(np.shape(released), np.shape(value)), dtype=bool)
    for noise in _around(np.subtract(released, value), NEAR_NOISE):
        for z in _around(noise / s, NEAR_NORMAL):
            found |= value + s * z == released
    return found


def _around(values: np.ndarray, ulps: tuple[int, ...]) -> Iterator[np.ndarray]:
    """The doubles so many ulps away."""
    for steps in ulps:
        moved = values
        for _ in range(abs(steps)):
            moved = np.nextafter(moved, math.copysign(math.inf, steps))
        yield moved


def discrete_gaussian(sigma_squared: int, size: int, *, rng: np.random.Generator) -> np.ndarray:
    """Whole numbers with P(x) ∝ exp(−x²/2σ²), exactly: integer arithmetic throughout.

    A rejection sampler over a discrete Laplace law, Algorithm 3 of arXiv:2004.00010; every coin is a comparison of
    whole numbers. Each whole number has the probability that it should have, as far as ``rng`` draws whole numbers
    uniformly. For a release use a generator of an operating system, as OpenDP does; this one serves to compare.

    Args:
        sigma_squared: σ² in [1, 10⁸], a whole number. size: how many, at least 1. rng: source of the whole numbers.

    Returns:
        shape (size,), integers.

    Raises:
        ValueError: if an argument is outside its range.
    """
    variance = _validate.whole("sigma_squared", sigma_squared)
    if variance > MOST_VARIANCE:
        raise ValueError(f"sigma_squared must be at most {MOST_VARIANCE}, got {sigma_squared!r}")
    scale = math.isqrt(variance) + 1
    return np.array([_one(variance, scale, rng) for _ in range(_validate.whole("size", size))])


def _one(variance: int, scale: int, rng: np.random.Generator) -> int:
    while True:
        drawn = _discrete_laplace(scale, rng)
        gap = abs(abs(drawn) * scale - variance)  # |x| − σ²/t, times t
        if _bernoulli_exp(gap * gap, 2 * variance * scale * scale, rng):
            return drawn


def _discrete_laplace(scale: int, rng: np.random.Generator) -> int:
    """P(x) ∝ exp(−|x|/scale)."""
    while True:
        rest = int(rng.integers(scale))
        if not _bernoulli_exp(rest, scale, rng):
            continue
        times = 0
        while _bernoulli_exp(1, 1, rng):
            times += 1
        size = rest + scale * times
        if rng.integers(2):
            if size:
                return -size
        else:
            return size


def _bernoulli_exp(top: int, bottom: int, rng: np.random.Generator) -> bool:
    """True with probability exp(−top/bottom), Algorithm 1 of arXiv:2004.00010."""
    while top > bottom:
        if not _bernoulli_exp(1, 1, rng):
            return False
        top -= bottom
    k = 1
    while int(rng.integers(bottom * k)) < top:
        k += 1
    return k % 2 == 1
