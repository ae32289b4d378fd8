r"""Boosted AdaSSP: one noisy XᵀX, then rounds of noisy clipped gradients, each solved with it.

Tang et al. (2023), arXiv:2303.03451. Let A = XᵀX + noise + λI as in `sufficient_statistics`. From θ_0 = 0,

.. math:: \theta_{t+1} = \theta_t + A^{-1}\Big(\sum_i \bar r_i x_i + \text{noise}\Big), \qquad
    \bar r_i = \max(-\tau_i, \min(y_i - x_i^\top\theta_t, \tau_i)), \quad \tau_i = C/\|x_i\| .

The paper clips all residuals at one τ; then a record moves the sum by 2Bτ. Clipping each gradient at C = Bτ instead
costs the same privacy and cuts less. With T = 1 and C = BY it is AdaSSP.

This is second-moment preconditioned descent on clipped gradients: what DP-GD lacks where the covariance is uneven.

**Guarantee.** Each round is a Gaussian mechanism of sensitivity 2C given the rounds before, and the two releases of
`sufficient_statistics.noisy_matrix` are Gaussian mechanisms too. With μ² in three equal parts, the last of them
shared by the T rounds, all that is released is μ-Gaussian DP (arXiv:1905.02383, Corollary 3.3). (The authors' own
code, as published, does not divide the budget among the rounds.)
"""

from __future__ import annotations

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP
from costofprivacy.rivals import huber
from costofprivacy.rivals.bounds import Bounds, given, shortened
from costofprivacy.rivals.sufficient_statistics import PARTS, noisy_matrix, share, solver

ROUNDING = 1e-9  # of sums over all records, relative


def release(
    x: np.ndarray,
    y: np.ndarray,
    bounds: Bounds,
    clip_norm: float,
    rounds: int,
    budget: GaussianDP,
    *,
    rng: np.random.Generator,
    square: np.ndarray | None = None,
) -> np.ndarray:
    """θ after the last round, shape (d,).

    Guarantee: μ-Gaussian DP for replacing one record, whatever the records: features beyond B are shortened to it, each
    gradient is clipped at C. A ``square`` that is not that of the records is refused, as far as one product with a
    vector shows it.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). bounds: B and Y; Y is not used.
        clip_norm: C in (0, ∞), bound on a record's gradient. rounds: T, at least 1.
        budget: μ. rng: source of the noise. square: XᵀX where it is known already; computed anew where a record had
        to be changed.

    Raises:
        ValueError: if there is no record, shapes disagree, a number is outside its range, or ``square`` is not XᵀX.
    """
    T = _validate.whole("rounds", rounds)
    told, (x, y) = x, given(x, y)
    x = shortened(x, bounds.features)
    square = _checked(square, x, bounds) if square is not None and x is told else x.T @ x
    matrix, penalty = noisy_matrix(square, bounds, share(budget), rng=rng)
    std = 2 * _validate.finite_positive("clip_norm", clip_norm) / share(budget, PARTS * T).mu
    solve = solver(matrix, penalty)
    theta, limit = np.zeros(x.shape[1]), huber.limits(x, clip_norm)
    for _ in range(T):
        pull = x.T @ np.clip(y - x @ theta, -limit, limit) + std * rng.standard_normal(x.shape[1])
        theta = theta + solve(pull)
    return theta


def _checked(square: np.ndarray, x: np.ndarray, bounds: Bounds) -> np.ndarray:
    """What is said to be XᵀX, if it is: with a fixed vector, which costs two products with the records."""
    _validate.shape("square", square, (x.shape[1],) * 2)
    vector = np.cos(np.arange(x.shape[1]))
    expected = x.T @ (x @ vector)
    apart = float(np.linalg.norm(square @ vector - expected))
    if not apart <= ROUNDING * len(x) * bounds.features**2 * float(np.linalg.norm(vector)):
        raise ValueError("square must be XᵀX of the records as they are given, got another matrix")
    return square
