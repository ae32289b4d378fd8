r"""One ridge problem, (2.7), through several evaluations: what the arithmetic makes of an outlier.

The normal equations λN I + Σ vec(Z) vec(Z)ᵀ with one prompt of size ‖Z'‖ have a condition number of about ‖Z'‖²/(λN);
their entries near ‖Z'‖² are rounded to multiples of ‖Z'‖² times the rounding unit, the clean prompts' with them. An
evaluation takes Z (N, p), y (N,), λ and the outlier's row, and returns Γ, shape (p,); NaN where it breaks down.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import mpmath
import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from companion import _fits

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


def triangles(rows: np.ndarray, edges: Sequence[int]) -> list[np.ndarray]:
    """The factors R of QR factorisations of stretches of rows, those between two edges each, as far as there are."""
    return [triangle(rows[a:b]) for a, b in itertools.pairwise(edges) if b <= len(rows)]


def triangle(rows: np.ndarray) -> np.ndarray:
    """The factor R of the QR factorisation of some rows."""
    return np.asarray(np.linalg.qr(rows, mode="r"))


def joined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """R of the rows of two factors together; by Householder's reflections, the larger rows had better come first."""
    return triangle(np.concatenate([first, second]))


def ridge_of(R: np.ndarray, shrink: float) -> np.ndarray:
    """Γ, shape (p,), of rows (vec(Z), y) with the factor R of shape (·, p + 1), for λN = ``shrink``: as `by_qr`.

    QR of (Z, y) over (√(λN) I, 0) has R of Z in its first p columns and Qᵀy beside it.
    """
    p = R.shape[1] - 1
    whole = joined(R, np.sqrt(shrink) * np.eye(p, p + 1))
    return solve_triangular(whole[:p, :p], whole[:p, p])


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

    By Sherman and Morrison's formula (`noisyhead.ridge.RidgeWithOneMore`), which is exact: one matrix is solved, that
    of ``rest``, whose condition number is moderate; ten further digits are more than it can lose.

    Args:
        rest, responses: vec(Z) and y of the clean prompts, shapes (N − 1, p) and (N − 1,).
        candidates, their_responses: of the prompts to add one at a time, shapes (B, p) and (B,).
    """
    p, N = rest.shape[1], len(responses) + 1
    columns = _scaled(np.column_stack([rest, responses]))
    products = columns[:, :p].T @ columns
    with mpmath.workdps(DIGITS + 10):
        known = np.frompyfunc(lambda v: mpmath.ldexp(mpmath.mpf(v), -2 * BITS), 1, 1)(products)
        added = np.frompyfunc(lambda v: mpmath.ldexp(mpmath.mpf(v), -BITS), 1, 1)(_scaled(candidates))
        A = known[:, :p] + mpmath.mpf(penalty) * N * np.frompyfunc(mpmath.mpf, 1, 1)(np.eye(p))
        solved = _solved(A, np.column_stack([known[:, p], added.T]))
        without, moved = solved[:, 0], solved[:, 1:]
        for z, u, response in zip(added, moved.T, their_responses):
            found = without + u * ((mpmath.mpf(float(response)) - z @ without) / (1 + z @ u))
            yield found.astype(float)


def _solved(A: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A⁻¹B for a positive definite A, shape (p, p), and B, shape (p, q), of any kind of numbers: Gauss and Jordan."""
    p = len(A)
    both = np.column_stack([A, right])
    for i in range(p):
        both[i, i:] = both[i, i:] / both[i, i]
        for k in (*range(i), *range(i + 1, p)):
            both[k, i + 1 :] = both[k, i + 1 :] - both[k, i] * both[i, i + 1 :]
    return both[:, p:]


def _scaled(values: np.ndarray) -> np.ndarray:
    """2^BITS times doubles as Python's integers, whose products and sums are exact (to 2^-BITS in each value)."""
    return np.frompyfunc(lambda v: int(math.ldexp(v, BITS)), 1, 1)(values)
