r"""The certified minimum of the loss of `costofprivacy.rivals.huber`: Newton's method with an exact line search.

J is Λ-strongly convex and piecewise quadratic: ∇J(θ) = Σ_i clip(r_i) x_i + Λθ + b with r_i = x_iᵀθ − y_i clipped at
±limit_i. A step solves Hp = −∇J(θ) with the curvature H = ΛI + Σ x_i x_iᵀ over the records with |r_i| ≤ limit_i, by
Cholesky's factors, and goes to the least J along p (`costofprivacy.rivals.line_search`).

**It ends.** *Convergence.* Let L = Λ + Σ‖x_i‖². As ΛI ⪯ H ⪯ LI, −⟨∇J, p⟩ ≥ ‖∇J‖²/L and ‖p‖ ≤ ‖∇J‖/Λ; the step of
length −⟨∇J, p⟩/(L‖p‖²) lowers J by ⟨∇J, p⟩²/(2L‖p‖²) ≥ Λ²‖∇J‖²/(2L³), and the exact one by no less. J is bounded below,
hence ∇J → 0 and θ → θ*, the minimiser. *Finiteness.* Around θ* there is a ball in which no kink lies but those through
θ*. For θ in it and each record, clip(r_i) − clip(r_i*) = a_i(r_i − r_i*) with a_i = 1 if |r_i| ≤ limit_i, else 0: a
record that is strictly inside or outside at θ* is so at θ, and one at its kink is inside or outside all the way from θ
to θ*, or stays at the kink, where both sides vanish. Summed up, ∇J(θ) = H(θ − θ*): the step ends at θ*. ∎

**Three stages.** (1) Doubles, from 0 or a given start, until a step meets no kink: the quadratic that holds θ then
holds the minimum, to rounding. (2) The same steps with θ, the residuals and ∇J as pairs of doubles
(`costofprivacy.rivals.double_double`), until ‖∇J‖ ≤ `TOLERANCE` C/2: iterative refinement, and each step gains the
digits that Cholesky's factors have. (3) The bound above is finite but long where most records are outside. So a first
stage that takes more than `FAR_STEPS` gives way to an interior-point method, whose steps are few whatever the data
(`costofprivacy.rivals.interior`). That happens with limits so narrow that the loss is next to least absolute
deviations, and many features.

**What is certified.** For n records with ‖x_i‖² ≤ βΛ, ∇J is computed to within 8u²βn(n + ‖b‖/C)·C, for u = 2⁻⁵³ and
to leading order: a residual is off by 4u²(‖x‖‖θ‖ + |y|), ‖θ‖ ≤ (n + ‖b‖/C)C/Λ at the minimum, and |y| exceeds ‖x‖‖θ‖
by at most the limit where the error counts, at records that are not clipped. `huber.minimum` keeps n²β ≤ `FINEST`. So
this is at most half the tolerance if ‖b‖ is small against nC, or if βn‖b‖/C is far below `FINEST` too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from costofprivacy.rivals import double_double, line_search
from costofprivacy.rivals.interior import near_minimum
from costofprivacy.rivals.objective import Objective, gram

TOLERANCE = 1e-14  # γ/C, of the gradient where the search ends
FINEST = 5e16  # the largest n²β
FAR_STEPS = 30  # in doubles; a dozen is usual
NEAR_STEPS = 400  # in pairs of doubles; two or three are usual
_ROUNDING = 1e-14  # of a gradient in doubles, relative to the terms that cancel in it
_RENEWED = 0.5  # of the trace: with less left, a curvature that was updated is computed anew


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where J is least: θ = high + low, to twice the precision of doubles.

    Args:
        high, low: shape (d,). gradient_norm: ‖∇J(θ)‖ as it was computed there. far_steps, near_steps: how many steps of
            Newton's method it took in doubles and in pairs of doubles. interior_steps: how many of the interior-point
            method, mostly 0.
    """

    high: np.ndarray
    low: np.ndarray
    gradient_norm: float
    far_steps: int
    near_steps: int
    interior_steps: int


def minimum(objective: Objective, tolerance: float, start: np.ndarray | None = None) -> Minimum:
    """The θ at which ‖∇J‖ ≤ ``tolerance``/2 as computed in pairs of doubles.

    Args:
        objective: J. tolerance: in (0, ∞). start: where the search begins, shape (d,); 0 if left out.

    Raises:
        ArithmeticError: if it was not found. No release is made then; there is no data set for which that was seen.
    """
    curvature, inner = _Curvature(objective), 0
    theta, far, done = _descend(objective, curvature, start)
    if not done:
        theta, inner = near_minimum(objective, theta)
    high, low = theta, np.zeros_like(theta)
    for near in range(NEAR_STEPS):
        residual = double_double.residuals(objective.rows, objective.responses, high, low)
        inside, slope = _pair_gradient(objective, high, low, *residual)
        size = float(np.linalg.norm(slope))
        if size <= tolerance / 2:
            return Minimum(high, low, size, far, near, inner)
        move = _move(objective, curvature, inside, slope, *residual)[0]
        high, low = double_double.add(high, low, move)
    raise ArithmeticError("the minimiser was not found to the tolerance that the guarantee needs: there is no release")


def _descend(objective: Objective, curvature: _Curvature, start: np.ndarray | None) -> tuple[np.ndarray, int, bool]:
    """θ, the number of steps and whether the last one met no kink, or nothing is left to gain in doubles."""
    theta = np.zeros(objective.rows.shape[1]) if start is None else start
    residual = objective.rows @ theta - objective.responses
    zero = np.zeros_like(residual)
    floor = _ROUNDING * objective.most_push
    for step in range(FAR_STEPS):
        slope = objective.rows.T @ objective.clipped(residual) + objective.penalty * theta + objective.linear
        if np.linalg.norm(slope) <= floor:
            return theta, step, True
        inside = np.abs(residual) <= objective.limits
        move, along, whole = _move(objective, curvature, inside, slope, residual, zero)
        theta, residual = theta + move, residual + along
        if whole:
            return theta, step + 1, True
    return theta, FAR_STEPS, False


def _move(
    objective: Objective,
    curvature: _Curvature,
    inside: np.ndarray,
    slope: np.ndarray,
    high: np.ndarray,
    low: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, bool]:
    """The step to the least J along Newton's direction, X times it, and whether it met no kink."""
    direction = -curvature.solve(inside, slope)
    drop = -float(slope @ direction)
    if not drop > 0:  # rounding alone could do that
        direction = -slope / objective.most_curvature
        drop = -float(slope @ direction)
    along = objective.rows @ direction
    pieces = line_search.stretches(high, low, along, objective.limits)
    length, whole, _ = line_search.root(*pieces, objective.penalty * float(direction @ direction), drop)
    return length * direction, length * along, whole


def _pair_gradient(
    objective: Objective, high: np.ndarray, low: np.ndarray, one: np.ndarray, two: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which records are in their quadratic part, and ∇J, at θ = high + low with the residuals one + two."""
    limits = objective.limits
    above, below = (one > limits) | ((one == limits) & (two > 0)), (one < -limits) | ((one == -limits) & (two < 0))
    inside = ~(above | below)
    clipped = np.where(above, limits, np.where(below, -limits, one))
    total, rest = double_double.weighted_sum(objective.rows, clipped, np.where(inside, two, 0.0))
    more, less = double_double.multiple(objective.penalty, high, low, objective.linear)
    total, rest = double_double.add(total, rest, more)
    return inside, total + (rest + less)


class _Curvature:
    """H for changing sets of records inside: updated by the records that changed, while that is accurate."""

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._inside = np.zeros(len(objective.rows), dtype=bool)
        self._sum = np.zeros((objective.rows.shape[1],) * 2)
        self._largest = 0.0
        self._factor = self._factorised()

    def solve(self, inside: np.ndarray, right: np.ndarray) -> np.ndarray:
        """H⁻¹ times a vector."""
        changed = np.flatnonzero(inside != self._inside)
        if len(changed):
            self._update(inside, changed)
        return cho_solve(self._factor, right)

    def _factorised(self) -> tuple[np.ndarray, bool]:
        return cast(tuple[np.ndarray, bool], cho_factor(self._penalised(), overwrite_a=True))

    def _penalised(self) -> np.ndarray:
        found = self._sum.copy(order="F")
        found[np.diag_indices_from(found)] += self._objective.penalty
        return found

    def _update(self, inside: np.ndarray, changed: np.ndarray) -> None:
        rows = self._objective.rows
        if 2 * len(changed) < np.count_nonzero(inside):
            come = inside[changed]
            self._sum += gram(rows[changed[come]])
            self._sum -= gram(rows[changed[~come]])
            self._largest = max(self._largest, float(np.trace(self._sum)))
        if 2 * len(changed) >= np.count_nonzero(inside) or np.trace(self._sum) < _RENEWED * self._largest:
            self._sum = gram(rows[inside])
            self._largest = float(np.trace(self._sum))
        self._inside, self._factor = inside, self._factorised()
