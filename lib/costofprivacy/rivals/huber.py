r"""The convex loss of output and objective perturbation: squared error, straight where a gradient would be too long.

.. math:: J(\theta) = \sum_i h_i(x_i^\top\theta - y_i) + \frac{\Lambda}{2}\|\theta\|^2 + b^\top\theta, \qquad
    h_i'(r) = \max(-C/\|x_i\|, \min(r, C/\|x_i\|)).

So the gradient of each record is the clipped gradient of DP-GD, ‖h_i'x_i‖ ≤ C (Huber's loss with a threshold of its own
for each record); with C ≥ B(Y + B‖θ‖) it is squared error on the whole ball of that radius. Its second derivative is
a_i x_i x_iᵀ with a_i ∈ [0, 1].

**Any record.** One without a gradient that doubles can bound is void (`bounds.given`). Where gradients are clipped, one
so long that its curvature exceeds `REACH` Λ is shortened to that: beyond, doubles cannot tell where its loss bends, and
no minimum would be found, which would tell of the record. Both are maps of single records, fixed by Λ alone.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from costofprivacy import _validate
from costofprivacy.privacy import records
from costofprivacy.rivals.bounds import given, shortened

MOST_STEPS = 200  # Newton's method ends after a dozen
REACH = 1e5  # the largest ‖x‖²/Λ of a record whose gradient is clipped
ROUNDING = 1e-9  # of the gradient, relative to the terms that cancel in it
INNER = 0.1  # relative, of a Newton step


def gradient(theta: np.ndarray, x: np.ndarray, y: np.ndarray, clip_norm: float, penalty: float) -> np.ndarray:
    """∇J at θ without the linear term, shape (d,).

    Guarantee: replacing one record moves it by at most 2C, whatever the records, at every θ at which xᵀθ is a double.

    Args:
        theta: shape (d,). x: shape (n, d). y: shape (n,). clip_norm: C in (0, ∞]. penalty: Λ > 0.
    """
    x, y = given(x, y)
    bound = limits(x, clip_norm)
    return x.T @ np.clip(x @ theta - y, -bound, bound) + penalty * theta


def limits(x: np.ndarray, clip_norm: float) -> np.ndarray:
    """C/‖x_i‖, shape (n,); ∞ where x is 0.

    Guarantee: a residual clipped at it gives a gradient of norm at most C, whatever x holds; 0 for a row whose norm is
    not in [10⁻¹⁵⁰, 10¹⁵⁰].

    Raises:
        ValueError: if C is not positive.
    """
    _validate.positive("clip_norm", clip_norm)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        norm = np.linalg.norm(x, axis=1)
        found: np.ndarray = clip_norm / norm
    odd = ~((norm >= records.NEAR) & (norm <= records.FAR))
    if odd.any():
        found[odd] = np.where(x[odd].any(axis=1), 0.0, np.inf)
    return found


def minimiser(
    x: np.ndarray,
    y: np.ndarray,
    clip_norm: float,
    penalty: float,
    linear: np.ndarray | float = 0.0,
    square: np.ndarray | None = None,
) -> np.ndarray:
    """The θ at which J is least, by Newton's method with halved steps: J is strongly convex and piecewise quadratic.

    A step is solved by conjugate gradients, preconditioned with the curvature that J would have if every record kept
    the same share of its own: a handful of products with the data.

    Guarantee: for C < ∞ replacing one record moves it by at most 2C/Λ, to rounding, whatever the records; no record
    makes it fail. (After `MOST_STEPS` the answer is where it then is: as long as ‖x‖² ≤ `REACH` Λ that was never seen.)

    Args:
        x: features, shape (n, d). y: responses, shape (n,).
        clip_norm: C in (0, ∞], bound on each record's gradient. penalty: Λ in (0, ∞), of the sum, not of the mean.
        linear: b, shape (d,), or 0. square: XᵀX where it is known already: it only makes steps shorter or longer, and
            is computed anew where a record was changed.

    Returns:
        shape (d,); the gradient is 0 there to rounding.

    Raises:
        ValueError: if C or Λ is not positive, there is no record, or shapes disagree.
    """
    _validate.positive("clip_norm", clip_norm)
    _validate.finite_positive("penalty", penalty)
    told, (x, y) = x, given(x, y)
    if math.isfinite(clip_norm):
        x = shortened(x, math.sqrt(REACH * penalty))
    d, bound = x.shape[1], limits(x, clip_norm)
    b = np.broadcast_to(np.asarray(linear, dtype=float), (d,))
    square = x.T @ x if square is None or x is not told else square
    _validate.shape("square", square, (d, d))
    theta, residual = np.zeros(d), -y
    pushes = np.minimum(np.abs(residual), bound) @ np.linalg.norm(x, axis=1)
    scale = ROUNDING * (pushes + float(np.linalg.norm(b)))
    for _ in range(MOST_STEPS):
        slope = x.T @ np.clip(residual, -bound, bound) + penalty * theta + b
        if np.linalg.norm(slope) <= scale:
            return theta
        step = _newton_step(x, np.abs(residual) <= bound, penalty, slope, square)
        along, length = x @ step, 1.0
        while length > 1e-6 and _slope_along(theta, step, residual, along, bound, penalty, b, length) < 0:
            length /= 2
        theta, residual = theta - length * step, residual - length * along
    return theta


def _newton_step(
    x: np.ndarray, inside: np.ndarray, penalty: float, slope: np.ndarray, square: np.ndarray
) -> np.ndarray:
    """H⁻¹∇J for the records whose loss is quadratic now."""
    d = len(slope)
    kept = max(float(inside.mean()), 1e-3)
    factor = cho_factor(kept * square + penalty * np.eye(d))
    curvature = LinearOperator((d, d), lambda v: x.T @ (inside * (x @ v)) + penalty * v, dtype=float)
    inverse = LinearOperator((d, d), lambda v: cho_solve(factor, v), dtype=float)
    return cg(curvature, slope, rtol=INNER, maxiter=200, M=inverse)[0]


def _slope_along(
    theta: np.ndarray,
    step: np.ndarray,
    residual: np.ndarray,
    along: np.ndarray,
    bound: np.ndarray,
    penalty: float,
    b: np.ndarray,
    length: float,
) -> float:
    """⟨∇J(θ − length·step), step⟩: not negative: J still falls along there, or has come to its least."""
    clipped = np.clip(residual - length * along, -bound, bound)
    return float(clipped @ along + penalty * (theta - length * step) @ step + b @ step)
