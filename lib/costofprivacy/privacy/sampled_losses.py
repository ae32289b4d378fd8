r"""Privacy losses of Gaussian steps on Poisson samples, and the law of their sum over T steps: ε at δ from above.

One step tells P from Q, whose densities over that of N(0, z²) are 1 or

.. math:: e^{g(x)} = 1 - q + q\,e^{(2x-1)/2z^2} \quad\text{and}\quad
    e^{g(-x)}, \text{ those of } (1-q)N(0, z^2) + q N(\pm 1, z^2).

Its *loss* at x is L(x) = ln P(x)/Q(x), which rises with x. T steps together have δ(ε) = E(1 − e^{ε−S})₊, where S is the
sum of T independent losses under P.

**A grid** of losses e_k = kh carries the law of one loss. Mass at L in [e_k, e_{k+1}] is divided among the two so that
E 1 and E e^{−L} stay what they are ("connect the dots", Doroshenko et al. 2022, arXiv:2207.04380). By Jensen's
inequality this raises the mean of every function that is convex in e^{−L}, such as (1 − e^{ε−L})₊; so the law on the
grid dominates that of the step, and T-fold composition keeps the order. What lies below the grid moves up to it, and
what lies above counts as δ. The mass is integrated by Gauss's rule between the points where L is on the grid.

**The width** h follows the losses and T. The division raises the exponent ln E e^{λL} by at most λ(λ + 1)h²/8, and ε
by T(λ + 1)h²/8; it raises the variance s² of a loss by h²/4 at most. Both are held to about a thousandth of ε.

**The sum** is a discrete Fourier transform of the *tilted* law p̃ ∝ p e^{λe}, with λ near the saddle point where the
exponent T ln E e^{λL} − λε is least. There the losses that decide δ are in the middle of the law. So any δ is computed
with full relative precision, however small; without the tilt it would have to be far above the rounding of the
transform. Three errors are added to δ: the rounding of the transform, bounded by the sizes of its own coefficients; the
mass outside its window, bounded by Chernoff's inequality; and the mass above the grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import fft
from scipy.special import ndtr, ndtri_exp

OUTSIDE = 1e-17  # tilted mass outside the window of the transform
ABOVE = 1e-6  # of δ: the mass that is above the grid in one of the steps
BELOW = 1e-16  # mass below the grid in one of the steps
TIGHT = 0.005  # of ε, times 8: what the grid may add to it
NEGLIGIBLE = 1e-9  # of δ: the mass of the largest sums, which are not looked at one by one
MOST_BINS = 2**21
ROUNDING = 1e-13  # relative, of the masses on the grid
_PIECE = 0.05  # of z: Gauss's rule with five nodes is exact to rounding on it
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)
_FAR = 30.0  # e^{-30} is below the rounding of 1
_UNIT = 2.0**-53


@dataclass(frozen=True)
class Step:
    """One step: P and Q by their densities over N(0, z²), and the x at which their loss has a given value.

    Args:
        std: z. upper: ln of P's density over that of N(0, z²). lower: that of Q. inverse: L⁻¹; ±∞ beyond its range.
        means: the least and the greatest mean among the Gaussians that P mixes. variation: the total variation of P, Q.
    """

    std: float
    upper: Callable[[np.ndarray], np.ndarray]
    lower: Callable[[np.ndarray], np.ndarray]
    inverse: Callable[[np.ndarray], np.ndarray]
    means: tuple[float, float]
    variation: float

    def loss(self, x: np.ndarray) -> np.ndarray:
        """L(x)."""
        return self.upper(x) - self.lower(x)


def steps(z: float, q: float, replaced: bool) -> tuple[Step, ...]:
    """The pairs whose worse one bounds a step: one for replacing a record, two (removing, adding) otherwise.

    Args:
        z: the noise's standard deviation over the clip norm. q: in (0, 1).
    """

    def g(x: np.ndarray) -> np.ndarray:
        a = (2 * x - 1) / (2 * z * z)
        far = np.logaddexp(math.log1p(-q), math.log(q) + a)
        return np.where(a > _FAR, far, np.log1p(q * np.expm1(np.minimum(a, _FAR))))

    def back(loss: np.ndarray) -> np.ndarray:
        """The x with g(x) = loss."""
        inside = np.expm1(np.minimum(loss, _FAR)) / q
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.where(inside > -1, np.log1p(np.maximum(inside, -1)), -np.inf)
        return z * z * np.where(loss > _FAR, loss - math.log(q), near) + 0.5

    def none(x: np.ndarray) -> np.ndarray:
        return np.zeros_like(x)

    if replaced:
        return (Step(z, g, lambda x: g(-x), lambda loss: _middle(loss, z, q), (0.0, 1.0), _apart(2 / z, q)),)
    removing = Step(z, g, none, back, (0.0, 1.0), _apart(1 / z, q))
    adding = Step(z, none, lambda x: g(-x), lambda loss: -back(-loss), (0.0, 0.0), _apart(1 / z, q))
    return removing, adding


def _apart(mu: float, q: float) -> float:
    """q times the total variation of N(0, 1) and N(μ, 1)."""
    return q * float(ndtr(mu / 2) - ndtr(-mu / 2))


def _middle(loss: np.ndarray, z: float, q: float) -> np.ndarray:
    """The x with g(x) − g(−x) = loss: sinh(x/z² − loss/2) = (1 − q)/q e^{1/2z²} sinh(loss/2)."""
    size = np.abs(loss)
    with np.errstate(divide="ignore"):
        log_sinh = size / 2 + np.log(-np.expm1(-size)) - math.log(2)
    right = math.log1p(-q) - math.log(q) + 1 / (2 * z * z) + log_sinh
    turned = np.where(right > _FAR, right + math.log(2), np.arcsinh(np.exp(np.minimum(right, _FAR))))
    return np.copysign(z * z * (size / 2 + turned), loss)


def composed_epsilon(step: Step, times: int, delta: float) -> float:
    """An upper bound on ε at δ for ``times`` steps; the computation makes it about 1 % too large at most.

    Args:
        step: one of `steps`. times: T ≥ 1. delta: δ in (0, 1).

    Returns:
        ε in [0, ∞].

    >>> (one,) = steps(1.0, 0.01, replaced=True)
    >>> round(composed_epsilon(one, 1000, 1e-5), 2)
    2.85
    """
    if times * step.variation <= delta:  # the δ of T steps is at most T times that of one, for ε = 0 too
        return 0.0
    low = step.means[0] + step.std * ndtri_exp(math.log(BELOW / times))
    high = step.means[1] - step.std * ndtri_exp(math.log(ABOVE) + math.log(delta) - math.log(times))
    x, mass = _quadrature(step, np.linspace(low, high, 2 + math.ceil((high - low) / (4 * _PIECE * step.std))))
    law = _Exponent(step.loss(x), mass, times)
    if not law.spread > 1e-150:
        return math.inf
    left = delta * (1 - ABOVE)
    least = guess = law.chernoff(left)
    for _ in range(8):
        found = _on_a_grid(step, law, (low, high), times, delta, guess)
        least = min(least, found)
        if not 0 < least < guess / 2:
            break
        guess = least
    return least


def _log_sum(logs: np.ndarray) -> float:
    """ln Σ exp."""
    most = float(logs.max())
    return most + math.log(float(np.exp(logs - most).sum()))


class _Exponent:
    """K(λ) = ln E e^{λL} of one loss, from nodes of the quadrature, and T K."""

    def __init__(self, losses: np.ndarray, mass: np.ndarray, times: int) -> None:
        self.losses, self.times = losses, times
        with np.errstate(divide="ignore"):
            self.log_mass = np.log(mass)
        mean = float(losses @ mass)
        self.spread = math.sqrt(float((losses - mean) ** 2 @ mass))
        if self.spread > 0:
            self.grid = np.geomspace(1e-4, 1e4, 81) / (math.sqrt(times) * self.spread)
            self.exponents = times * self.at(self.grid)

    def at(self, tilts: np.ndarray) -> np.ndarray:
        """K at each λ."""
        return np.array([_log_sum(self.log_mass + tilt * self.losses) for tilt in tilts])

    def chernoff(self, delta: float) -> float:
        """The least ε with P(S > ε) ≤ δ by Chernoff's inequality: an upper bound on what δ costs."""
        return float(max(0.0, ((self.exponents - math.log(delta)) / self.grid).min()))

    def saddle(self, epsilon: float) -> tuple[float, float]:
        """λ at which T K − λε is least, and the standard deviation of a tilted loss."""
        tilt = float(self.grid[np.argmin(self.exponents - self.grid * epsilon)])
        weight = np.exp(self.log_mass + tilt * self.losses - self.at(np.array([tilt]))[0])
        mean = self.losses @ weight
        return tilt, math.sqrt(max(0.0, float((self.losses - mean) ** 2 @ weight)))

    def window(self, tilt: float, spread: float) -> tuple[float, float]:
        """Where the sum of T tilted losses is but for a probability of `OUTSIDE`, by Chernoff's inequality."""
        moved = np.geomspace(0.02, 50, 25) / (math.sqrt(self.times) * spread)
        here = self.at(np.array([tilt]))[0]
        up = (self.times * (self.at(tilt + moved) - here) - math.log(OUTSIDE / 2)) / moved
        down = -(self.times * (self.at(tilt - moved) - here) - math.log(OUTSIDE / 2)) / moved
        return float(down.max()), float(up.min())


def _quadrature(step: Step, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes x and their mass under P, of Gauss's rule with five nodes between each two edges."""
    half = np.diff(edges)[:, None] / 2
    x = (edges[:-1, None] + half + half * _NODES).ravel()
    density = np.exp(step.upper(x) - (x / step.std) ** 2 / 2) / (step.std * math.sqrt(2 * math.pi))
    return x, (half * _WEIGHTS).ravel() * density


def _divided(step: Step, between: tuple[float, float], width: float) -> tuple[int, np.ndarray]:
    """The law of one loss on the grid: k_0, and the masses at e_k from it on."""
    ends = step.loss(np.array(between))
    first, last = math.floor(ends[0] / width), math.ceil(ends[1] / width)
    kinks = step.inverse(np.arange(first, last + 1) * width)
    pieces = np.linspace(*between, 2 + math.ceil((between[1] - between[0]) / (_PIECE * step.std)))
    edges = np.unique(np.clip(np.concatenate([kinks, pieces]), *between))
    x, mass = _quadrature(step, edges)
    losses = step.loss(x)
    middle = step.loss((edges[:-1] + edges[1:]) / 2)  # a piece lies between two losses of the grid
    bins = np.repeat(np.clip(np.floor(middle / width).astype(np.int64) - first, 0, last - first - 1), len(_NODES))
    above = losses - (bins + first) * width
    share = np.clip(np.expm1(-above) / np.expm1(-width), 0.0, 1.0)
    found = np.bincount(bins, mass * (1 - share), last - first + 1)
    found[1:] += np.bincount(bins, mass * share, last - first)
    found[1] += BELOW
    return first, found


def _on_a_grid(
    step: Step, law: _Exponent, between: tuple[float, float], times: int, delta: float, guess: float
) -> float:
    """ε at δ with a tilt and a grid that suit an ε near ``guess``."""
    tilt, spread = law.saddle(guess)
    if not spread > 1e-150:
        return math.inf
    start, end = law.window(tilt, spread)
    ends = step.loss(np.array(between))
    fine = min(guess / (times * (tilt + 1)), 3 * spread**2 * min(1.0, guess / (math.sqrt(times) * spread)))
    width = max(min(math.sqrt(TIGHT * fine), guess / 30), (end - start) / MOST_BINS, (ends[1] - ends[0]) / MOST_BINS)
    first, masses = _divided(step, between, width)
    with np.errstate(divide="ignore"):
        weights = np.log(masses) + tilt * (first + np.arange(len(masses))) * width
    exponent = _log_sum(weights)
    tilted = np.exp(weights - exponent)
    start -= 0.02 * (end - start) + 2 * width
    bins = fft.next_fast_len(min(math.ceil(1.04 * (end - start) / width) + 4, times * len(masses)), real=True)
    folded = np.bincount(np.arange(len(tilted)) % bins, tilted, bins)
    transform = fft.rfft(folded)
    total = fft.irfft(transform**times, bins)
    sizes = np.minimum(np.abs(transform), 1.0)
    rounding = 8 * _UNIT * math.log2(bins + 1) * float(np.mean((times + 1) * sizes ** (times - 1)))
    lowest = max(math.floor(start / width), times * first)
    places = (lowest - times * first + np.arange(bins)) % bins
    sums = (lowest + np.arange(bins)) * width
    scale = times * exponent - math.log(delta)  # masses are counted in units of δ, which may be as small as doubles are
    with np.errstate(over="ignore"):
        masses = (np.maximum(total[places], 0.0) + rounding) * np.exp(np.minimum(scale - tilt * sums, 600))
    kept = slice(np.searchsorted(sums, -width), 1 + np.searchsorted(-np.cumsum(masses[::-1])[::-1], -NEGLIGIBLE))
    peak = tilt * math.log(tilt) - (1 + tilt) * math.log1p(tilt)  # of e^{-λx}(1 − e^{-x}), x ≥ 0

    def beside(epsilon: float) -> float:
        """What is added for the mass outside the window and above the grid."""
        return ABOVE + NEGLIGIBLE + OUTSIDE * math.exp(min(600.0, scale - tilt * epsilon + peak))

    return _epsilon(sums[kept], masses[kept], beside, 1 - min(0.01, ROUNDING * (times + 100)))


def _epsilon(sums: np.ndarray, masses: np.ndarray, beside: Callable[[float], float], most: float) -> float:
    """The least ε ≥ 0 with Σ masses (1 − e^{ε−S})₊ + beside(ε) ≤ most, for S on a grid; ∞ if there is none on it."""

    def spent(epsilon: float) -> float:
        above = np.searchsorted(sums, epsilon, side="right")
        return float(masses[above:] @ -np.expm1(epsilon - sums[above:])) + beside(epsilon)

    if len(sums) and spent(0.0) <= most:
        return 0.0
    low, high = int(np.searchsorted(sums, 0.0, side="right")), len(sums) - 1
    if not 0 <= low <= high or spent(sums[high]) > most:
        return math.inf
    while low < high:  # the first point of the grid at which δ is enough
        middle = (low + high) // 2
        low, high = (low, middle) if spent(sums[middle]) <= most else (middle + 1, high)
    top = float(sums[low])
    before = max(0.0, float(sums[low - 1])) if low else 0.0
    whole, lower = float(masses[low:].sum()), float(masses[low:] @ np.exp(top - sums[low:]))
    between = top + math.log(max(whole + beside(before) - most, 1e-300) / lower)
    return min(top, max(before, between))
