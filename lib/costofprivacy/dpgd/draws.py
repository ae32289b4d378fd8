"""Random numbers in machine code: those that NumPy's generator draws, bit for bit, in half the time.

NumPy's loops are compiled for every processor and go through a lock number by number; these are compiled for this one.
What depends on a law alone is computed once. The generator is left in the state in which NumPy would leave it.
"""

import math

import numpy as np

from costofprivacy._compiled import compiled

_SQUEEZE = 0.0331  # of Marsaglia and Tsang: below 1 − _SQUEEZE x⁴ no logarithm is needed


def normals(shape: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """``rng.standard_normal(shape)``."""
    out = np.empty(shape)
    _fill_normal(out.reshape(-1), rng)
    return out


def student_t(degrees: float, shape: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """``rng.standard_t(degrees, shape)`` for ``degrees`` above 2."""
    out = np.empty(shape)
    _fill_student_t(out.reshape(-1), degrees / 2, rng)
    return out


@compiled
def _fill_normal(out: np.ndarray, rng: np.random.Generator) -> None:
    for i in range(len(out)):
        out[i] = rng.standard_normal()


@compiled
def _fill_student_t(out: np.ndarray, half: float, rng: np.random.Generator) -> None:
    slope, root = gamma_slope(half), math.sqrt(half)
    for i in range(len(out)):
        normal = rng.standard_normal()
        out[i] = root * normal / math.sqrt(standard_gamma(half, slope, rng))


@compiled
def gamma_slope(shape: float) -> float:
    """What `standard_gamma` wants to know of its shape; of no meaning up to 1."""
    return 1 / math.sqrt(9 * (shape - 1 / 3))


@compiled
def standard_gamma(shape: float, slope: float, rng: np.random.Generator) -> float:
    """``rng.standard_gamma(shape)``. Checks nothing.

    Above shape 1 by Marsaglia and Tsang (2000): b(1 + cx)³ for x ~ N(0, 1), accepted nearly always.

    Args:
        shape: at least 0. slope: c, `gamma_slope` of it. rng: source of randomness.
    """
    if shape <= 1:
        return rng.standard_gamma(shape)
    b = shape - 1 / 3
    while True:
        x = rng.standard_normal()
        v = 1 + slope * x
        while v <= 0:
            x = rng.standard_normal()
            v = 1 + slope * x
        v = v * v * v
        u, square = rng.random(), x * x
        if u < 1 - _SQUEEZE * square * square:
            return b * v
        if math.log(u) < 0.5 * square + b * (1 - v + math.log(v)):
            return b * v
