r"""One ridge problem, (2.7), through several evaluations: what the arithmetic makes of an outlier.

The normal equations λN I + Σ vec(Z) vec(Z)ᵀ with one prompt of size ‖Z'‖ have a condition number of about ‖Z'‖²/(λN);
their entries near ‖Z'‖² are rounded to multiples of ‖Z'‖² times the rounding unit, the clean prompts' with them. An
evaluation takes Z (N, p), y (N,), λ and the outlier's row, and returns Γ, shape (p,); NaN where it breaks down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import mpmath
import numpy as np
from scipy.linalg import cho_factor, cho_solve

from costofprivacy import _fits

CHUNK = 100  # prompts in a chunk
DIGITS = 50
BITS = 200  # kept after the binary point by the exact sums behind the 50 digits
RANK_ONE = "rank-one update"

Evaluation = Callable[[np.ndarray, np.ndarray, float, int], np.ndarray]


def by_product(Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """ZᵀZ by one BLAS product, Gaussian elimination."""
    return np.linalg.solve(_regularised(Z.T @ Z, len(y), penalty), Z.T @ y)


def by_inverse(Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """ZᵀZ by one BLAS product, explicit inverse, as (2.7) is printed."""
    return np.linalg.inv(_regularised(Z.T @ Z, len(y), penalty)) @ (Z.T @ y)


def by_cholesky(Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """ZᵀZ by one BLAS product, Cholesky factor, if rounding left the matrix positive definite."""
    return cho_solve(cho_factor(_regularised(Z.T @ Z, len(y), penalty)), Z.T @ y)


def by_means(Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """The same system divided by N, Gaussian elimination."""
    N = len(y)
    return np.linalg.solve(_regularised(Z.T @ Z / N, 1, penalty), Z.T @ y / N)


def in_order(Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """Prompt by prompt, the outlier where it stands; Gaussian elimination."""
    return _prompt_by_prompt(Z, y, penalty)


def outlier_first(Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """Prompt by prompt, beginning with the outlier."""
    order = np.r_[row, np.delete(np.arange(len(y)), row)]
    return _prompt_by_prompt(Z[order], y[order], penalty)


def outlier_last(Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """Prompt by prompt, ending with the outlier."""
    order = np.r_[np.delete(np.arange(len(y)), row), row]
    return _prompt_by_prompt(Z[order], y[order], penalty)


def by_chunks(Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """BLAS products of `CHUNK` prompts, added up; Gaussian elimination."""
    gram, cross = np.zeros((Z.shape[1], Z.shape[1])), np.zeros(Z.shape[1])
    for start in range(0, len(y), CHUNK):
        part = Z[start : start + CHUNK]
        gram += part.T @ part
        cross += part.T @ y[start : start + CHUNK]
    return np.linalg.solve(_regularised(gram, len(y), penalty), cross)


def by_qr(Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """QR factorisation of Z over √(λN) I: no product of Z with itself is formed."""
    p = Z.shape[1]
    stacked = np.vstack([Z, np.sqrt(penalty * len(y)) * np.eye(p)])
    Q, R = np.linalg.qr(stacked)
    return np.linalg.solve(R, Q[: len(y)].T @ y)


NORMAL_EQUATIONS: dict[str, Evaluation] = {
    "one product, elimination": by_product,
    "one product, inverse": by_inverse,
    "one product, Cholesky": by_cholesky,
    "divided by N, elimination": by_means,
    "chunks of products": by_chunks,
    "prompt by prompt": in_order,
    "outlier first": outlier_first,
    "outlier last": outlier_last,
}
EVALUATIONS: dict[str, Evaluation] = {**NORMAL_EQUATIONS, "QR": by_qr}
REPORTED = "one product, elimination"  # the evaluation that Figure 4's table reports as ridge-normal-equations


def attempt(evaluation: Evaluation, Z: np.ndarray, y: np.ndarray, penalty: float, row: int) -> np.ndarray:
    """The evaluation's Γ, NaN where rounding made its matrix singular or not positive definite."""
    try:
        return evaluation(Z, y, penalty, row)
    except np.linalg.LinAlgError:
        return np.full(Z.shape[1], np.nan)


def finite_mean(values: np.ndarray) -> tuple[float, float, int]:
    """Mean, standard error and number of the values that are numbers: an evaluation may have broken down."""
    kept = values[np.isfinite(values)]
    if len(kept) < 2:
        return np.nan, np.nan, len(kept)
    mean, error = _fits.mean_and_error(kept)
    return float(mean), float(error), len(kept)


def _regularised(gram: np.ndarray, N: int, penalty: float) -> np.ndarray:
    return gram + penalty * N * np.eye(len(gram))


def _prompt_by_prompt(Z: np.ndarray, y: np.ndarray, penalty: float) -> np.ndarray:
    """Row after row, without BLAS: so einsum adds along an axis that is not the last one kept."""
    gram, cross = np.einsum("ni,nj->ij", Z, Z), np.einsum("ni,n->i", Z, y)
    return np.linalg.solve(_regularised(gram, len(y), penalty), cross)


def fifty_digits(
    rest: np.ndarray, responses: np.ndarray, candidates: np.ndarray, their_responses: np.ndarray, penalty: float
) -> Iterator[np.ndarray]:
    """Γ of (2.7) in `DIGITS` digits for the prompts ``rest`` and each candidate in turn, rounded to double at the end.

    Args:
        rest, responses: vec(Z) and y of the clean prompts, shapes (N − 1, p) and (N − 1,).
        candidates, their_responses: of the prompts to add one at a time, shapes (B, p) and (B,).
    """
    p, N = rest.shape[1], len(responses) + 1
    Z, y = _scaled(rest), _scaled(responses)
    gram, cross = Z.T @ Z, Z.T @ y
    with mpmath.workdps(DIGITS):
        shrink = mpmath.ldexp(1, -2 * BITS)
        ridge = mpmath.mpf(penalty) * N * mpmath.eye(p)
        for z, response in zip(_scaled(candidates), _scaled(their_responses)):
            left = mpmath.matrix((gram + np.outer(z, z)).tolist()) * shrink + ridge
            right = mpmath.matrix((cross + z * response).tolist()) * shrink
            yield np.array([float(v) for v in mpmath.lu_solve(left, right)])


def _scaled(values: np.ndarray) -> np.ndarray:
    """2^BITS times doubles as Python's integers, whose products and sums are exact (to 2^-BITS in each value)."""
    return np.frompyfunc(lambda v: int(math.ldexp(v, BITS)), 1, 1)(values)
