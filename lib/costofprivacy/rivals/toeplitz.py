r"""Strategies for prefix sums: lower-triangular Toeplitz matrices C by which noise is correlated from step to step.

A stream of T sums g_1, …, g_T is released as g + C⁻¹z with independent normal z_t. What is added up from it, prefix
sums for instance, has the noise A C⁻¹z, A the lower triangle of ones. With C = I each prefix sum has the noise of all
its terms; with other C the noise of one step takes back a part of the noise before (Denisov et al., 2022). A strategy
is given by the first column c_0 = 1, c_1, c_2, … of C, which is the same at each number of steps.

*The square root.* A has the generating function 1/(1 − x). Its square root f(x) = (1 − x)^{−1/2} has the coefficients
f_0 = 1, f_j = f_{j−1}(1 − 1/(2j)). With C = √A the largest variance of a prefix sum, over that of z, times the largest
squared norm of a column of C is (Σ f_j²)², and Σ_{j<T} f_j² is at most 1 + (1 + ln T)/π. This is optimal up to
lower-order terms (Fichtenberger, Henzinger and Upadhyay, 2023). Independent noise has T instead. But C⁻¹z takes all z_s
with s ≤ t, T vectors to keep. Two families keep fewer:

* `Banded`: c_j = 0 from j = b on. The noise w = C⁻¹z is w_t = z_t − Σ_{0<j<b} c_j w_{t−j}: b − 1 vectors are kept.
* `Buffered`: c_j = Σ_i ω_i λ_i^j for j ≥ 1, a *buffered linear Toeplitz* matrix (Dvijotham, McMahan, Pillutla, Steinke
  and Thakurta, 2024). With buffers S_i, w_t = z_t − Σ_i ω_i λ_i S_i and then S_i ← λ_i S_i + w_t: one vector for each
  term is kept, however long the stream is. `square_root` fits f with about (ln T)/2 terms.

*Decay.* A step of descent on a quadratic shortens what was there by the factor ρ = 1 − ηλ. Its iterates are Σ_s ρ^{t−s}
(g + C⁻¹z)_s, whose square root has the coefficients ρ^j f_j (Choquette-Choo et al., 2024).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import nnls

from costofprivacy import _validate

_FIT_RATIO = math.e**2  # of neighbouring 1 − λ_i: with it the largest error is within 10⁻³ of that of the square root
_FIT_POINTS = 200  # at which the coefficients are fitted, evenly in ln j
_MOST_STEPS = 10**9


class Strategy(Protocol):
    """The first column of C and the recursion of w = C⁻¹z."""

    @property
    def memory(self) -> int:
        """How many vectors are kept from step to step."""

    def column(self, steps: int) -> np.ndarray:
        """c_0, …, c_{T−1}, shape (T,)."""

    def square(self, steps: int) -> float:
        """Σ_{j<T} c_j²: the squared norm of the first column, which is the longest of T."""

    def start(self, d: int) -> np.ndarray:
        """What is kept before the first step, shape (memory, d)."""

    def step(self, state: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """w_t from z_t and what is kept, and what is kept next."""


@dataclass(frozen=True)
class Banded:
    """c_j for 0 < j < b; the others are 0.

    Args:
        tail: c_1, …, c_{b−1}, finite, at most 10⁶ in size. None of them is independent noise.

    Raises:
        ValueError: if a coefficient is outside its range.

    >>> Banded((0.5,)).column(4).tolist()
    [1.0, 0.5, 0.0, 0.0]
    """

    tail: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _validate.keep_all(self, _validate.within(-1e6, 1e6), "tail")

    @property
    def memory(self) -> int:
        """b − 1."""
        return len(self.tail)

    def column(self, steps: int) -> np.ndarray:
        """c_0, …, c_{T−1}."""
        found = np.zeros(_validate.whole("steps", steps))
        known = np.array((1.0, *self.tail))[:steps]
        found[: len(known)] = known
        return found

    def square(self, steps: int) -> float:
        """Σ_{j<T} c_j²."""
        return 1 + math.fsum(value**2 for value in self.tail[: _validate.whole("steps", steps) - 1])

    def start(self, d: int) -> np.ndarray:
        """No noise yet."""
        return np.zeros((self.memory, d))

    def step(self, state: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """w_t, and the last b − 1 of them, the newest first."""
        w = z - np.array(self.tail) @ state
        return w, np.vstack([w[None], state])[: self.memory]


@dataclass(frozen=True)
class Buffered:
    """c_j = Σ_i ω_i λ_i^j for j ≥ 1.

    Args:
        weights: ω_i ≥ 0, of which the sum is at most 1. decays: λ_i in [0, 1), as many.

    Raises:
        ValueError: if their numbers differ, or one is outside its range.

    >>> Buffered((0.5,), (0.5,)).column(4).tolist()
    [1.0, 0.25, 0.125, 0.0625]
    """

    weights: tuple[float, ...]
    decays: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.decays):
            raise ValueError(f"decays must have {len(self.weights)} entries like weights, got {len(self.decays)}")
        _validate.keep_all(self, _validate.NONNEGATIVE, "weights")
        if not math.fsum(self.weights) <= 1 + 1e-12:
            raise ValueError(f"weights must sum to at most 1, got {math.fsum(self.weights)!r}")
        _validate.keep_all(self, _validate.FINITE, "decays")
        for decay in self.decays:
            if not 0 <= decay < 1:
                raise ValueError(f"decays must be in [0, 1), got {decay!r}")

    @property
    def memory(self) -> int:
        """One buffer for each term."""
        return len(self.weights)

    def column(self, steps: int) -> np.ndarray:
        """c_0, …, c_{T−1}."""
        powers = np.array(self.decays)[:, None] ** np.arange(_validate.whole("steps", steps))
        found: np.ndarray = np.array(self.weights) @ powers
        found[0] = 1.0
        return found

    def square(self, steps: int) -> float:
        """Σ_{j<T} c_j² = 1 + Σ_{ik} ω_i ω_k λ_iλ_k (1 − (λ_iλ_k)^{T−1})/(1 − λ_iλ_k)."""
        further, decays = _validate.whole("steps", steps) - 1, np.array(self.decays)
        gaps = (1 - decays)[:, None] + np.outer(decays, 1 - decays)  # 1 − λ_iλ_k: near 1 a product loses its digits
        with np.errstate(divide="ignore"):
            lost = -np.expm1(further * np.log1p(-gaps)) if further else np.zeros_like(gaps)
        return 1 + float(np.array(self.weights) @ (np.outer(decays, decays) * lost / gaps) @ np.array(self.weights))

    def start(self, d: int) -> np.ndarray:
        """Empty buffers."""
        return np.zeros((self.memory, d))

    def step(self, state: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """w_t, and the buffers after it."""
        decays = np.array(self.decays)
        w = z - (np.array(self.weights) * decays) @ state
        return w, decays[:, None] * state + w


def coefficients(steps: int, decay: float = 1.0) -> np.ndarray:
    """ρ^j f_j for j < T, the square root's first column, shape (T,).

    Args:
        steps: T, at least 1. decay: ρ in [0, 1].

    >>> coefficients(4).tolist()
    [1.0, 0.5, 0.375, 0.3125]
    """
    factors = _validate.between("decay", decay, 0, 1) * (1 - 0.5 / np.arange(1, _validate.whole("steps", steps)))
    return np.append(1.0, np.cumprod(factors))


def banded(bands: int, decay: float = 1.0) -> Banded:
    """The square root's first b coefficients (Kalinin and Lampert, 2024).

    Args:
        bands: b, at least 1; 1 is independent noise. decay: ρ in [0, 1].
    """
    return Banded(tuple(coefficients(bands, decay)[1:].tolist()))


@functools.lru_cache(maxsize=64)
def square_root(steps: int, decay: float = 1.0) -> Buffered:
    """The square root in buffers: non-negative least squares for ω_i at fixed λ_i, in relative error.

    1 − λ_i falls by equal factors from 1/2 to 1/(2T). How good the fit is matters for accuracy alone: what a release
    spends is computed from the coefficients that it uses.

    Args:
        steps: T in [1, 10⁹], for which the fit is good. decay: ρ in [0, 1].

    >>> square_root(1000).memory, square_root(1_000_000).memory
    (5, 9)
    """
    steps = _validate.whole("steps", steps)
    _validate.between("steps", steps, 1, _MOST_STEPS)
    decay = _validate.between("decay", decay, 0, 1)
    count = math.ceil(math.log(2 * steps) / math.log(_FIT_RATIO)) + 1
    decays = 1 - np.geomspace(0.5, 0.5 / steps, count)
    at = np.unique(np.geomspace(1, max(steps - 1, 1), _FIT_POINTS).round())
    log_wanted = [math.lgamma(j + 0.5) - math.lgamma(j + 1) - math.lgamma(0.5) for j in at.tolist()]
    weights, _ = nnls(np.exp(at[:, None] * np.log(decays) - np.array(log_wanted)[:, None]), np.ones(len(at)))
    weights /= max(1.0, math.fsum(weights))
    used = weights > 0
    return Buffered(tuple(weights[used].tolist()), tuple((decay * decays[used]).tolist()))


def noise_coefficients(strategy: Strategy, steps: int) -> np.ndarray:
    """The first column of C⁻¹, shape (T,), by the strategy's own recursion.

    Args:
        strategy: C. steps: T, at least 1.

    >>> noise_coefficients(Banded((0.5,)), 4).tolist()
    [1.0, -0.5, 0.25, -0.125]
    """
    found, state = np.zeros(_validate.whole("steps", steps)), strategy.start(1)
    for t in range(steps):
        w, state = strategy.step(state, np.array([float(t == 0)]))
        found[t] = w[0]
    return found


def largest_error(strategy: Strategy, steps: int) -> float:
    """The largest standard deviation of a prefix sum's noise if each sum may move by 1 once and μ = 1.

    It is ‖c‖ times the norm of the last row of A C⁻¹. Independent noise has √T.

    Args:
        strategy: C. steps: T, at least 1.

    >>> round(largest_error(Banded(), 100), 6), round(largest_error(square_root(100), 100), 2)
    (10.0, 2.53)
    """
    sums = np.cumsum(noise_coefficients(strategy, steps))
    return float(math.sqrt(strategy.square(steps)) * np.linalg.norm(sums))
