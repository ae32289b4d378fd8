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

**Rounding.** The sums are those of `privacy.sums.product`, so that rounding adds at most 2 `slack` times B² (or BY) to
what a record can move, for d² (or d) entries. The noise is larger in that proportion. The smallest eigenvalue is
computed from the sum with another error. A symmetric eigensolver returns the eigenvalues of a matrix that differs from
the given one by at most p(d) u ‖XᵀX‖, u = 2⁻⁵³, where p is a low power of d (LAPACK Users' Guide, 3rd edition, 4.7).
For the reduction to a tridiagonal matrix by d − 2 reflections from both sides, p(d) is a small multiple of d² (Higham,
*Accuracy and Stability of Numerical Algorithms*, 2nd edition, Lemma 19.3); we take 32 d². (The errors that we measured
are below 4 u‖XᵀX‖.) Since ‖XᵀX‖ ≤ nB², two neighbouring eigenvalues may move apart by 64 d² n u B² more. That is 10⁻⁵
of B² for a million records of 37 features, and the noise of the eigenvalue pays for it too.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, records, sums
from costofprivacy.privacy.mechanisms import gaussian_std, noisy, noisy_symmetric
from costofprivacy.rivals import bounds as clipping
from costofprivacy.rivals.bounds import Bounds

FAILURE = 0.05  # the probability, about, that the penalty does not cover the noise: no matter of privacy
EIGENVALUES = 32  # p(d)/d² of an eigensolver's error, see the module's text
MOST = 1e307  # n B² and n BY: sums up to there are doubles
PARTS = 3  # equal shares of μ²: the smallest eigenvalue, the matrix, the vector


@dataclass(frozen=True, eq=False)
class Moments:
    """What least squares need of the data: XᵀX of shape (d, d) and Xᵀy of shape (d,), in double precision.

    Args:
        square: XᵀX. product: Xᵀy. count: n ≥ 1, over how many records they are sums.

    Raises:
        ValueError: if the shapes disagree, an array is not of numbers, or the count is not a whole number ≥ 1.
    """

    square: np.ndarray
    product: np.ndarray
    count: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "product", records.numbers("product", self.product, (None,)))
        object.__setattr__(self, "square", records.numbers("square", self.square, (len(self.product),) * 2))
        _validate.keep(self, _validate.at_least(1), "count")


@np.errstate(all="ignore")
def moments(x: np.ndarray, y: np.ndarray, bounds: Bounds) -> Moments:
    """The moments of records, clipped to the bounds first.

    Guarantee: replacing one record, by whatever, moves XᵀX by at most √2 B² and Xᵀy by at most 2BY, each with 2 `slack`
    times B² (d² entries) or BY (d entries) more for rounding (`privacy.sums`). `release` never refuses what it returns.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). Numbers of any type. bounds: B and Y.

    Raises:
        ValueError: if there is no record, the shapes disagree, an array is not of numbers, or nB² or nBY exceeds 10³⁰⁷.
    """
    x, y = bounds.clip(x, y)
    _within_doubles(_validate.whole("the number of records", len(x)), bounds)
    return Moments(sums.product(x, x), sums.product(x, y), len(x))


def _within_doubles(count: int, bounds: Bounds) -> None:
    """Refuse public numbers with which a sum over the records could leave the doubles."""
    largest = max(bounds.features, bounds.response)
    if not count * (bounds.features * largest) <= MOST:
        raise ValueError(f"bounds must be such that n B² and n BY are at most {MOST:g}, got {bounds} for n = {count}")


@np.errstate(all="ignore")
def share(budget: GaussianDP, parts: int = PARTS) -> GaussianDP:
    """What each of some Gaussian mechanisms may spend so that together they spend the budget: μ/√parts."""
    return GaussianDP(budget.mu / math.sqrt(parts))


def noisy_matrix(
    square: np.ndarray,
    count: int,
    bounds: Bounds,
    each: GaussianDP,
    lowest: float | None = None,
    *,
    rng: np.random.Generator,
) -> tuple[np.ndarray, float]:
    """XᵀX with symmetric noise, and the penalty that covers the noise; spends ``each`` twice.

    The penalty is max(0, s(√(2d) + z) − (λ̃ − zs')), with z the 95 % quantile for both noises: λ̃ is the noisy
    smallest eigenvalue, with noise of standard deviation s'. The sum is positive definite with probability about 1 −
    2·`FAILURE`, and is made so otherwise.

    Guarantee: two Gaussian mechanisms of ``each``, if ``square`` is a sum by `privacy.sums.product` over ``count``
    records with ‖x‖ ≤ B (to `bounds.ROUNDING`), as `moments` makes it. Both noises are larger by what rounding may add:
    √2 `slack` for the matrix, 2 `slack` and 64 d² n 2⁻⁵³ for the eigenvalue. Whether ``square`` is such a sum cannot be
    seen here; what is not finite is refused.

    Args:
        square: XᵀX, shape (d, d). count: n ≥ 1. bounds: B and Y. each: μ in (0, ∞) of each of the two mechanisms.
        lowest: `smallest_eigenvalue` (square), if it is known already. rng: of the noise.

    Returns:
        The matrix, penalty not yet added, and the penalty.

    Raises:
        ValueError: if ``square`` is not square or not finite, or a number is outside its range.
    """
    square = records.numbers("square", square, (len(square),) * 2)
    records.refuse_not_finite("square", square)
    d, z = len(square), math.sqrt(2 * math.log(1 / FAILURE))
    reach, slack = (bounds.features * clipping.ROUNDING) ** 2, sums.slack(count, d * d)
    std = gaussian_std(math.sqrt(2) * reach * (1 + math.sqrt(2) * slack), each)
    matrix = noisy_symmetric(square, std, each.mu, rng=rng)
    lowest_std = gaussian_std(reach * (1 + 2 * slack + 2 * eigenvalue_error(count, d)), each)
    exact = smallest_eigenvalue(square) if lowest is None else lowest
    told = float(noisy(exact, lowest_std, each.mu, rng=rng))
    penalty = max(0.0, std * (math.sqrt(2 * d) + z) - max(0.0, told - z * lowest_std))
    return matrix, max(penalty, 1e-9 * std)


def smallest_eigenvalue(square: np.ndarray) -> float:
    """λ_min of XᵀX, wrong by at most half of what `eigenvalue_error` allows for: 0 where a feature is 0 throughout."""
    if not square.diagonal().all():
        return 0.0
    return float(eigh(square, eigvals_only=True, subset_by_index=(0, 0))[0])


def eigenvalue_error(count: int, d: int) -> float:
    """By how much the smallest eigenvalue of XᵀX may be computed wrong, over B²: 32 d² n 2⁻⁵³.

    Args:
        count: n ≥ 1, over how many records with ‖x‖ ≤ B the matrix is a sum. d: the number of features.

    >>> print(f"{eigenvalue_error(1_000_000, 10):.0e}")
    4e-07
    """
    return EIGENVALUES * d**2 * count * sums.UNIT_ROUNDOFF


def solver(matrix: np.ndarray, penalty: float) -> Callable[[np.ndarray], np.ndarray]:
    """v ↦ (M + λI)⁻¹v for a vector or columns, with eigenvalues of the sum below λ/2 raised to it: post-processing.

    Args:
        matrix: M, symmetric, shape (d, d). penalty: λ > 0.
    """
    shifted = matrix.copy(order="F")
    shifted[np.diag_indices_from(shifted)] += penalty
    try:
        factor = cho_factor(shifted, overwrite_a=True)
    except np.linalg.LinAlgError:
        values, vectors = eigh(matrix)
        raised = np.maximum(values + penalty, penalty / 2)
        return lambda vector: vectors @ ((vectors.T @ vector).T / raised).T
    return lambda vector: cho_solve(factor, vector)


@np.errstate(all="ignore")
def release(
    data: Moments, bounds: Bounds, budget: GaussianDP, lowest: float | None = None, *, rng: np.random.Generator
) -> np.ndarray:
    """AdaSSP: the solution of the noisy normal equations, shape (d,).

    Guarantee: μ-Gaussian DP for replacing one record, three Gaussian mechanisms of μ/√3 each, if ``data`` come from
    `moments` with the same bounds. The noise of the vector is larger by 1 + `slack` (n, d), which pays for the rounding
    of the sum; for those of the matrix see `noisy_matrix`. Moments that n such records cannot have, tr XᵀX > nB² or
    ‖Xᵀy‖ > nBY, are refused, and what is not finite; moments that come from `moments` never are.

    Args:
        data: from `moments`. bounds: B and Y. budget: μ in (0, ∞).
        lowest: `smallest_eigenvalue` of XᵀX, if it is known already. rng: source of the noise.

    Raises:
        ValueError: if the moments cannot be those of records within the bounds, or a number is outside its range.
    """
    _check_bounded(data, bounds)
    each, d = share(budget), len(data.product)
    std = gaussian_std(2 * bounds.features * bounds.response * (1 + sums.slack(data.count, d)), each)
    matrix, penalty = noisy_matrix(data.square, data.count, bounds, each, lowest, rng=rng)
    return clipping.within_reach(solver(matrix, penalty)(noisy(data.product, std, each.mu, rng=rng)))


def _check_bounded(data: Moments, bounds: Bounds) -> None:
    r"""Refuse moments that n records with ‖x‖ ≤ B and |y| ≤ Y cannot have: nothing bounds what one record does there.

    Moments from `moments` pass, whatever the records, so that the refusal tells nothing of them. *Proof.* Let u = 2⁻⁵³.
    The norm of a row is computed with a relative error of at most (d/2 + 1)u, and shortening rounds each entry twice,
    so ‖x‖² ≤ B²(1 + (d + 6)u) to first order. All terms of the trace are squares, so that its relative error is at most
    u for each rounding on the way of one of them: one for the square, at most m = min(n, 512) in a block, at most
    1 + log₂ n in the sums of blocks, d in the trace. Together they are less than (2d + m + log₂ n + 9)u. The same
    bounds the entries of Xᵀy by Σ|x_ij||y_i| (1 + …), and the norm of the vector of these is at most nBY times as much.
    The allowance is 2 `slack` ≥ (2m(m + 1) + 2d + 32)u, with 8n u more where n > 512. It is larger by 20u at least, and
    that covers the roundings of the limit itself. ∎
    """
    _within_doubles(data.count, bounds)
    records.refuse_not_finite("data", data.square, data.product)
    allowance = data.count * (1 + 2 * sums.slack(data.count, len(data.product)))
    for name, value, most in (
        ("trace of XᵀX", float(data.square.trace()), bounds.features**2),
        ("norm of Xᵀy", math.hypot(*data.product), bounds.features * bounds.response),
    ):
        if not value <= allowance * most:
            raise ValueError(
                f"data must be moments of records clipped to the bounds, with a {name} of at most "
                f"{data.count * most:.6g}, got more"
            )
