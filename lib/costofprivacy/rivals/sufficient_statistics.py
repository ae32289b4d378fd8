r"""Sufficient-statistics perturbation, AdaSSP: noisy normal equations with a penalty that adapts to their noise.

Wang (2018), arXiv:1803.02596, Algorithm 2, with Gaussian accounting. Records have ‖x‖ ≤ B and |y| ≤ Y. Released are the
smallest eigenvalue of XᵀX, the matrix XᵀX and the vector Xᵀy, each with Gaussian noise; the rest is computed from them.

**Sensitivities**, for replacing one record (x, y) by (x', y'):

* λ_min(XᵀX): B², since both matrices are that of the others plus a positive one of norm at most B² (Weyl);
* XᵀX in Frobenius norm: ‖xxᵀ − x'x'ᵀ‖² = ‖x‖⁴ + ‖x'‖⁴ − 2⟨x, x'⟩² ≤ 2B⁴, attained by orthogonal records of norm B;
* Xᵀy: ‖xy − x'y'‖ ≤ 2BY, attained by opposite ones.

The noise of the matrix is isotropic in the space of symmetric matrices: variance s² on the diagonal and s²/2 beside
it, in which the sensitivity is the Frobenius norm. (Independent entries of variance s² in the upper triangle, as is
usual, cost as much privacy and are √2 as large in operator norm.) Its norm is about s√(2d).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, records
from costofprivacy.rivals.bounds import Bounds

FAILURE = 0.05  # the probability, about, that the penalty does not cover the noise: no matter of privacy
_ROUNDING = 1 + 1e-9  # of sums over all records
PARTS = 3  # equal shares of μ²: the smallest eigenvalue, the matrix, the vector


@dataclass(frozen=True, eq=False)
class Moments:
    """What least squares need of the data: XᵀX of shape (d, d) and Xᵀy of shape (d,).

    Args:
        square: XᵀX. product: Xᵀy. count: n, where they were summed over records; None where they were drawn as such.

    Raises:
        ValueError: if the shapes disagree.
    """

    square: np.ndarray
    product: np.ndarray
    count: int | None = None

    def __post_init__(self) -> None:
        _validate.shape("product", self.product, (None,))
        _validate.shape("square", self.square, (len(self.product),) * 2)


def moments(x: np.ndarray, y: np.ndarray, bounds: Bounds | None = None) -> Moments:
    """The moments of records, shapes (n, d) and (n,).

    Guarantee: with ``bounds`` each record is clipped to them first, so that replacing one moves XᵀX by at most √2 B²
    and Xᵀy by at most 2BY. Without, nothing is bounded: the records must come from `Bounds.clip`, and `release` refuses
    sums that no such records have.

    Raises:
        ValueError: if there is no record, or the shapes disagree.
    """
    _validate.whole("the number of records", len(x))
    _validate.shape("y", y, x.shape[:1])
    x, y = bounds.clip(x, y) if bounds else (x, y)
    with np.errstate(over="ignore", invalid="ignore"):
        return Moments(x.T @ x, x.T @ y, len(x))


def share(budget: GaussianDP, parts: int = PARTS) -> GaussianDP:
    """What each of some Gaussian mechanisms may spend so that together they spend the budget: μ/√parts."""
    return GaussianDP(budget.mu / math.sqrt(parts))


def noisy_matrix(
    square: np.ndarray, bounds: Bounds, each: GaussianDP, *, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """XᵀX with symmetric noise, and the penalty that covers the noise; spends ``each`` twice.

    The penalty is max(0, s(√(2d) + z) − (λ̃ − zs')), with z the 95 % quantile for both noises: λ̃ is the noisy
    smallest eigenvalue, with noise of standard deviation s'. The sum is positive definite with probability about 1 −
    2·`FAILURE`, and is made so otherwise.

    Guarantee: two Gaussian mechanisms of ``each``, if ``square`` is a sum over records with ‖x‖ ≤ B, as `moments` with
    bounds makes it. Whether it is cannot be seen here; what is not finite is refused.

    Args:
        square: XᵀX, shape (d, d). bounds: B and Y. each: what each of the two mechanisms may spend. rng: of the noise.

    Returns:
        The matrix, penalty not yet added, and the penalty.

    Raises:
        ValueError: if ``square`` is not square or not finite.
    """
    _validate.shape("square", square, (len(square),) * 2)
    records.refuse_not_finite("square", square)
    d, z = len(square), math.sqrt(2 * math.log(1 / FAILURE))
    std = math.sqrt(2) * bounds.features**2 / each.mu
    noise = rng.standard_normal((d, d))
    matrix = square + std * (noise + noise.T) / 2
    lowest_std = bounds.features**2 / each.mu
    lowest = eigh(square, eigvals_only=True, subset_by_index=(0, 0))[0] + lowest_std * rng.standard_normal()
    penalty = max(0.0, std * (math.sqrt(2 * d) + z) - max(0.0, lowest - z * lowest_std))
    return matrix, max(penalty, 1e-9 * std)


def solver(matrix: np.ndarray, penalty: float) -> Callable[[np.ndarray], np.ndarray]:
    """v ↦ (M + λI)⁻¹v, with eigenvalues of the sum below λ/2 raised to it: post-processing, for the rare large noise.

    Args:
        matrix: M, symmetric, shape (d, d). penalty: λ > 0.
    """
    shifted = matrix + penalty * np.eye(len(matrix))
    try:
        factor = cho_factor(shifted)
    except np.linalg.LinAlgError:
        values, vectors = eigh(shifted)
        raised = np.maximum(values, penalty / 2)
        return lambda vector: vectors @ ((vectors.T @ vector) / raised)
    return lambda vector: cho_solve(factor, vector)


def release(data: Moments, bounds: Bounds, budget: GaussianDP, *, rng: np.random.Generator) -> np.ndarray:
    """AdaSSP: the solution of the noisy normal equations, shape (d,).

    Guarantee: μ-Gaussian DP for replacing one record, three Gaussian mechanisms of μ/√3 each, if ``data`` are moments
    of records clipped to ``bounds``, as `moments` with them makes them, or `Bounds.clip` before it. Moments that n such
    records cannot have, tr XᵀX > nB² or ‖Xᵀy‖ > nBY, are refused, and what is not finite.

    Args:
        data: from `moments`. bounds: B and Y. budget: μ. rng: source of the noise.

    Raises:
        ValueError: if the moments cannot be those of records within the bounds.
    """
    _check_bounded(data, bounds)
    each = share(budget)
    matrix, penalty = noisy_matrix(data.square, bounds, each, rng=rng)
    std = 2 * bounds.features * bounds.response / each.mu
    return solver(matrix, penalty)(data.product + std * rng.standard_normal(len(data.product)))


def _check_bounded(data: Moments, bounds: Bounds) -> None:
    """Refuse moments that n records with ‖x‖ ≤ B and |y| ≤ Y cannot have: nothing bounds what one record does there."""
    records.refuse_not_finite("data", data.square, data.product)
    for name, value, most in (
        ("trace of XᵀX", float(data.square.trace()), bounds.features**2),
        ("norm of Xᵀy", float(np.linalg.norm(data.product)), bounds.features * bounds.response),
    ):
        if data.count is not None and not value <= data.count * most * _ROUNDING:
            raise ValueError(
                f"data must be moments of records clipped to the bounds, with a {name} of at most "
                f"{data.count * most:.6g}, got {value:.6g}"
            )
