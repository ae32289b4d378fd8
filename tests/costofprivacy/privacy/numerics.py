"""Oracles of privacy accounting: definitions, integrated to twenty digits; nothing of the library."""

import math

import mpmath
import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

DIGITS = 20


def hockey_stick(mean: float, std: float, epsilon: float) -> float:
    """sup_S P(S) − e^ε Q(S) of P = N(mean, std²) and Q = N(0, std²): the integral of (p − e^ε q)₊.

    It is taken over the density where it starts: mpmath's rule stops at an absolute error.
    """
    with mpmath.workdps(DIGITS):
        m, s, e = mpmath.mpf(mean), mpmath.mpf(std), mpmath.mpf(epsilon)
        start = m / 2 + e * s**2 / m  # p > e^ε q to the right of it
        scale = s / (1 + abs(start - m) / s)  # over which p falls there
        size = ((start - m) / s) ** 2 / 2

        def excess(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.exp(size - ((x - m) / s) ** 2 / 2) - mpmath.exp(size + e - (x / s) ** 2 / 2)

        nodes = [start + scale * k for k in (0, 1, 2, 4, 8, 16, 32, 64, 128)]
        total = mpmath.quad(excess, [*nodes, max(nodes[-1], m + 40 * s)], method="gauss-legendre")
        return float(total * mpmath.exp(-size) / (s * mpmath.sqrt(2 * mpmath.pi)))


def renyi(mean: float, std: float, alpha: float) -> float:
    """D_α(N(mean, std²) ‖ N(0, std²)), by quadrature of p^α q^(1−α)."""
    with mpmath.workdps(DIGITS):
        m, s, a = mpmath.mpf(mean), mpmath.mpf(std), mpmath.mpf(alpha)

        def integrand(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.exp(-(a * ((x - m) / s) ** 2 + (1 - a) * (x / s) ** 2) / 2)

        peak = a * m
        total = mpmath.quad(integrand, [peak + s * k for k in (-30, -8, -3, 0, 3, 8, 30)])
        return float(mpmath.log(total / (s * mpmath.sqrt(2 * mpmath.pi))) / (a - 1))


def balle_wang_std(epsilon: float, delta: float) -> float:
    """Standard deviation at sensitivity 1 by Algorithm 1 of arXiv:1805.06530, in its own variables v and u."""

    def plus(v: float) -> float:
        return norm.cdf(math.sqrt(epsilon * v)) - math.exp(epsilon) * norm.cdf(-math.sqrt(epsilon * (v + 2)))

    def minus(u: float) -> float:
        return norm.cdf(-math.sqrt(epsilon * u)) - math.exp(epsilon) * norm.cdf(-math.sqrt(epsilon * (u + 2)))

    if delta >= plus(0.0):
        v = brentq(lambda v: plus(v) - delta, 0.0, 1e6, xtol=1e-14)
        alpha = math.sqrt(1 + v / 2) - math.sqrt(v / 2)
    else:
        u = brentq(lambda u: minus(u) - delta, 0.0, 1e6, xtol=1e-14)
        alpha = math.sqrt(1 + u / 2) + math.sqrt(u / 2)
    return alpha / math.sqrt(2 * epsilon)


class Scripted(np.random.Generator):
    """A generator that draws what a test says, call by call: so noise is seen to have its scale and no other."""

    def __init__(self, **told: list[object]) -> None:
        super().__init__(np.random.PCG64(0))
        self.told = {name: iter(values) for name, values in told.items()}

    def standard_normal(self, size: object = None) -> object:
        return np.broadcast_to(np.asarray(next(self.told["standard_normal"]), dtype=float), size or ())

    def laplace(self, scale: float) -> float:
        return scale * next(self.told["laplace"])

    def gumbel(self, size: int) -> np.ndarray:
        return np.broadcast_to(np.asarray(next(self.told["gumbel"]), dtype=float), (size,))
