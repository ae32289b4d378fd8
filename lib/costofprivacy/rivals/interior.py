r"""The minimum of the clipped loss by an interior-point method: slower, and indifferent to where the kinks are.

In units of its own limit a record's residual is ρ_i = r_i/limit_i and its clipped residual s_i the solution of

.. math:: s - \rho + \ell^+ - \ell^- = 0, \qquad \ell^+ (1 - s) = \ell^- (1 + s) = \mu

for μ → 0: for μ > 0 it is a smooth function of ρ, and the equation Σ_i s_i limit_i x_i + Λθ + b = 0 has no kinks. The
method follows its solution as μ falls, by Newton's steps on all the equations at once that keep |s| < 1 and ℓ > 0
(Mehrotra's; Nocedal and Wright, *Numerical Optimization*, chapter 16). A step needs one weighted sum of x_i x_iᵀ. The
number of steps grows with the logarithm of the accuracy and hardly with n: some tens.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from costofprivacy.rivals.objective import Objective, gram

MOST = 120
_CLOSE = 1e-13  # μ, and the equations that are left, where it ends
_INSIDE = 0.995  # of the way to where a bound would be met
_FALL = 0.1  # of μ from step to step at most, where steps are long


def near_minimum(objective: Objective) -> tuple[np.ndarray, int]:
    """θ near the minimum, shape (d,), and the number of steps."""
    rows, limits = objective.rows, objective.limits
    pulls = limits > 0
    rows, limits, responses = rows[pulls], limits[pulls], objective.responses[pulls]
    theta = np.zeros(rows.shape[1])
    if not len(rows):
        return -objective.linear / objective.penalty, 0
    start = np.clip(-responses / limits, -0.9, 0.9)
    up, down = 1 - start, 1 + start
    s, excess = start, -responses / limits - start
    over, under = np.maximum(excess, 0) + 1.0, np.maximum(-excess, 0) + 1.0
    for step in range(MOST):
        gap = float(over @ up + under @ down) / (2 * len(s))
        left = rows.T @ (s * limits) + objective.penalty * theta + objective.linear
        off = (rows @ theta - responses) / limits - s - over + under
        if gap <= _CLOSE and np.linalg.norm(left) <= _CLOSE * objective.most_push:
            return theta, step
        weight = 1 / (1 + over / up + under / down)
        factor = cho_factor(gram(rows, weight) + objective.penalty * np.eye(len(theta)))

        def direction(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, ...]:
            q = weight * (off - first / up + second / down)
            move = cho_solve(factor, -left - rows.T @ (q * limits))
            ds = weight * ((rows @ move) / limits) + q
            return move, ds, (first + over * ds) / up, (second - under * ds) / down

        move, ds, plus, minus = direction(-over * up, -under * down)
        length = _longest((up, -ds), (down, ds), (over, plus), (under, minus))
        after = (over + length * plus) @ (up - length * ds) + (under + length * minus) @ (down + length * ds)
        target = gap * max(min(after / (2 * len(s)) / gap, 1.0) ** 3, 1e-6)
        first, second = target - over * up + plus * ds, target - under * down - minus * ds
        move, ds, plus, minus = direction(first, second)
        length = _longest((up, -ds), (down, ds), (over, plus), (under, minus))
        theta, s = theta + length * move, s + length * ds
        up, down = up - length * ds, down + length * ds
        over, under = over + length * plus, under + length * minus
    return theta, MOST


def _longest(*pairs: tuple[np.ndarray, np.ndarray]) -> float:
    """The longest step of at most 1 that keeps every number positive."""
    most = 1.0
    for value, change in pairs:
        falling = change < 0
        if falling.any():
            most = min(most, _INSIDE * float((value[falling] / -change[falling]).min()))
    return most
