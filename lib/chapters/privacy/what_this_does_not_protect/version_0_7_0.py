"""What version 0.7.0 computed where its guarantees were false: literal transcriptions, kept to measure the faults.

Nothing else may use them. Each is the arithmetic that decided, without the checks around it.
"""

import math
from dataclasses import replace

import numpy as np

from costofprivacy._compiled import compiled
from costofprivacy.noisyhead.private_ridge import PrivateRidge, sensitivity

LEAST_STEP = 1e-6  # at which the line search gave up
MOST_STEPS = 200


def projected_norm(query: np.ndarray, feature_bound: float) -> float:
    """‖Z‖ of one prompt after `noisyhead.head.project`, whose context was at the bound G, in the query's own type."""
    square = np.einsum("d,d->", query, query)
    length = float(np.linalg.norm(query.astype(float)))
    return feature_bound * (length if square <= 1 else 1.0)


def step_slope(x: np.ndarray, learning_rate: float) -> float:
    """|1 − η̄‖x‖²| for η̄ = min(η, 2/‖x‖²) of `dpgd.update.adapted_rates`, in the record's own type."""
    rate = min(learning_rate, float(2 / np.einsum("d,d->", x, x)))
    return abs(1 - rate * float(np.linalg.norm(x.astype(float))) ** 2)


def token_moment(x: np.ndarray) -> np.ndarray:
    """`noisyhead.covariance_head.token_moment` with C = 1: its sum was taken in the type of x, shape (N, L + 1, D)."""
    terms = np.swapaxes(x, 1, 2) @ x / x.shape[1]
    norm = np.sqrt(np.einsum("nde,nde->n", terms, terms))
    kept = np.where(np.isfinite(norm), 1 / np.maximum(norm, 1), 0.0).astype(x.dtype)
    return np.einsum("n,nde->de", kept, terms) / len(x)


def ridge_sensitivity(told: PrivateRidge) -> float:
    """`noisyhead.private_ridge.sensitivity`, which took ‖Z‖ ≤ C for granted: G was read as C where that is less."""
    return sensitivity(replace(told, feature_bound=min(told.feature_bound, told.clip_norm)))


@compiled
def minimiser(y: np.ndarray, counts: np.ndarray, clip_norm: float, penalty: float, linear: float) -> float:
    """`rivals.huber.minimiser` for records with the one feature x = 1, each there ``counts`` times.

    The line search halved a step until J fell, and took the last one untested. After 200 steps the function returned
    wherever it was.

    Args:
        y: responses. counts: how often each is there. clip_norm: C. penalty: Λ. linear: b.
    """
    theta, most = 0.0, 0.0
    for k in range(len(y)):
        most += counts[k] * min(abs(y[k]), clip_norm)
    for _ in range(MOST_STEPS):
        slope, inside = _slope(theta, y, counts, clip_norm, penalty, linear)
        if abs(slope) <= 1e-9 * (most + abs(linear)):
            return theta
        step, length = slope / (inside + penalty), 1.0
        while (
            length > LEAST_STEP and _slope(theta - length * step, y, counts, clip_norm, penalty, linear)[0] * step < 0
        ):
            length /= 2
        theta -= length * step
    return theta


@compiled
def _slope(
    at: float, y: np.ndarray, counts: np.ndarray, clip_norm: float, penalty: float, linear: float
) -> tuple[float, float]:
    """The derivative of the loss, and how many records are inside their clip."""
    total, inside = 0.0, 0.0
    for k in range(len(y)):
        total += counts[k] * min(max(at - y[k], -clip_norm), clip_norm)
        inside += counts[k] if abs(at - y[k]) <= clip_norm else 0.0
    return total + penalty * at + linear, inside


def perturbation(budget_epsilon: float, mu: float, share: float) -> tuple[float, float]:
    """Λ and σ of `rivals.objective_perturbation.calibrate` for B = C = 1; μ is that of (ε(1 − share), δ/2)."""
    left = (1 - share) * budget_epsilon
    s = min(mu, math.sqrt(2 * (math.hypot(1.0, left) - 1)))
    return 1 / math.expm1(share * budget_epsilon), 2 / s
