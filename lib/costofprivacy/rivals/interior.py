r"""The minimum of the clipped loss by an interior-point method: slower, and indifferent to where the kinks are.

In units of its own limit a record's residual is ρ_i = r_i/limit_i and its clipped residual s_i solves

.. math:: s_i - \rho_i + \ell_i^+ - \ell_i^- = 0, \qquad \ell_i^+ (1 - s_i) = \ell_i^- (1 + s_i) = \mu\omega_i

for μ → 0. For μ > 0 it is a smooth function of ρ_i, and the equation Σ_i s_i limit_i x_i + Λθ + b = 0 has no kinks. The
method follows its solution as μ falls, by Newton's steps on all the equations at once that keep |s| < 1 and ℓ > 0
(Mehrotra's predictor and corrector; Nocedal and Wright, *Numerical Optimization*, chapters 14 and 16). The shares ω_i
are proportional to 1/limit_i², within public bounds: that is the central path of the dual quadratic program. A step
needs one weighted sum of x_i x_iᵀ. The number of steps grows with the logarithm of the accuracy and hardly with n: it
is about twenty.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from costofprivacy.rivals.objective import Objective, gram

MOST = 120
_CLOSE = 1e-12  # μ, and the equations that are left, where it ends
_INSIDE = 0.995  # of the way to where a bound would be met
_APART = 1e12  # the largest share over the median one
_ROUNDS = 30
_LEAST = 1e-14  # of 1 − |s| at the start
_LEAST_FALL = 1e-6  # of μ in one step


@dataclass(frozen=True, eq=False)
class _Point:
    """θ, s, the distances 1 ∓ s to its bounds, the multipliers ℓ of these, and shares ω."""

    theta: np.ndarray
    s: np.ndarray
    up: np.ndarray
    down: np.ndarray
    over: np.ndarray
    under: np.ndarray
    share: np.ndarray

    def moved(self, length: float, change: _Change) -> _Point:
        ds = length * change.s
        return _Point(
            self.theta + length * change.theta,
            self.s + ds,
            self.up - ds,
            self.down + ds,
            self.over + length * change.over,
            self.under + length * change.under,
            self.share,
        )

    @property
    def gap(self) -> float:
        """μ: the mean of the products over their shares."""
        return float(((self.over * self.up + self.under * self.down) / self.share).mean()) / 2

    def longest(self, change: _Change) -> float:
        """The longest step of at most 1 that keeps distances and multipliers positive."""
        pairs = ((self.up, -change.s), (self.down, change.s), (self.over, change.over), (self.under, change.under))
        falls = [-float((move / value).min()) for value, move in pairs]
        return 1.0 if max(falls) <= _INSIDE else _INSIDE / max(falls)


@dataclass(frozen=True, eq=False)
class _Change:
    theta: np.ndarray
    s: np.ndarray
    over: np.ndarray
    under: np.ndarray


def near_minimum(objective: Objective, theta: np.ndarray) -> tuple[np.ndarray, int]:
    """θ near the minimum, shape (d,), and the number of steps, from a start θ."""
    pulls = objective.limits > 0
    rows, limits, responses = objective.rows[pulls], objective.limits[pulls], objective.responses[pulls]
    if not len(rows):
        return -objective.linear / objective.penalty, 0
    share = np.clip((np.median(limits) / limits) ** 2, 1 / _APART, _APART)
    at = _start(theta, (rows @ theta - responses) / limits, share)
    for step in range(MOST):
        slope = rows.T @ (at.s * limits) + objective.penalty * at.theta + objective.linear
        off = (rows @ at.theta - responses) / limits - at.s - at.over + at.under
        if at.gap * float(share.mean()) <= _CLOSE and np.linalg.norm(slope) <= _CLOSE * objective.most_push:
            return at.theta, step
        weight = 1 / (1 + at.over / at.up + at.under / at.down)
        factor = cho_factor(gram(rows, weight) + objective.penalty * np.eye(len(theta)))
        solve = partial(_solve, at, rows, limits, weight, factor, slope, off)
        first = solve(-at.over * at.up, -at.under * at.down)
        fall = at.moved(at.longest(first), first).gap / at.gap
        target = share * at.gap * max(min(fall, 1.0) ** 3, _LEAST_FALL)
        more = first.s * first.over, -first.s * first.under
        change = solve(target - at.over * at.up + more[0], target - at.under * at.down + more[1])
        at = at.moved(at.longest(change), change)
    return at.theta, MOST


def _start(theta: np.ndarray, rho: np.ndarray, share: np.ndarray) -> _Point:
    """A point at which the first two equations hold, μ being of the size of |ρ|: s by Newton's method from above."""
    size = np.abs(rho)
    mu = share * (1.0 + float((size / share).mean()))
    s = size / np.maximum(1 + 2 * mu, size + mu)
    for _ in range(_ROUNDS):
        slope = 1 + 2 * mu * (1 + s**2) / (1 - s**2) ** 2
        s = np.clip(s - (s + 2 * mu * s / (1 - s**2) - size) / slope, 0.0, 1 - _LEAST)
    s = np.copysign(s, rho)
    return _Point(theta, s, 1 - s, 1 + s, mu / (1 - s), mu / (1 + s), share)


def _solve(
    at: _Point,
    rows: np.ndarray,
    limits: np.ndarray,
    weight: np.ndarray,
    factor: tuple[np.ndarray, bool],
    slope: np.ndarray,
    off: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
) -> _Change:
    """Newton's step when the products are to change by ``first`` and ``second``."""
    q = weight * (off - first / at.up + second / at.down)
    move = cho_solve(factor, -slope - rows.T @ (q * limits))
    ds = weight * ((rows @ move) / limits) + q
    return _Change(move, ds, (first + at.over * ds) / at.up, (second - at.under * ds) / at.down)
