r"""Prompts whose features have any covariance: section 2 of arXiv:2504.16000v2 beyond the uniform sphere.

All tokens of all prompts have one law of features, with second moment Σ; tasks are w ~ N(0, I_D). What follows needs of
that law Σ and one number more, the *spread* s of

.. math:: E\|x\|^2 x x^\top = (\mathrm{tr}\,\Sigma)\,\Sigma + s\,\Sigma^2 .

Features of constant norm have s = 0, whatever Σ; Gaussian ones have s = 2 (Isserlis).
"""

import math
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.noisyhead.prompts import Prompts

CONSTANT_NORM, GAUSSIAN = 0.0, 2.0  # the spreads of the two families


@dataclass(frozen=True, eq=False)
class TokenLaw:
    """The law of a token's features, up to the moments that a linear head sees.

    Args:
        covariance: Σ = E x xᵀ, symmetric and positive definite, shape (D, D).
        spread: s, `CONSTANT_NORM` or `GAUSSIAN` for the laws that `sample` draws.

    Raises:
        ValueError: if ``covariance`` is not square.
    """

    covariance: np.ndarray
    spread: float

    def __post_init__(self) -> None:
        _validate.shape("covariance", self.covariance, (None, len(self.covariance)))

    @property
    def D(self) -> int:
        """The number of features."""
        return len(self.covariance)

    @property
    def energy(self) -> float:
        """E‖x‖² = tr Σ; the variance of a response without label noise."""
        return float(np.trace(self.covariance))


def sphere(D: int) -> TokenLaw:
    """Uniform on the unit sphere, the law of the paper: Σ = I/D."""
    return TokenLaw(np.eye(_validate.whole("D", D)) / D, CONSTANT_NORM)


def gaussian(covariance: np.ndarray) -> TokenLaw:
    """N(0, Σ)."""
    return TokenLaw(covariance, GAUSSIAN)


def eigenvalues(D: int, condition: float) -> np.ndarray:
    """D eigenvalues with sum 1, in geometric progression from the largest to 1/κ of it, shape (D,).

    Args:
        D: at least 1. condition: κ ≥ 1, the condition number.

    >>> eigenvalues(3, 4.0).round(4).tolist()
    [0.5714, 0.2857, 0.1429]
    """
    D = _validate.whole("D", D)
    values = np.geomspace(1.0, 1.0 / _validate.between("condition", condition, 1.0, math.inf), D)
    shares: np.ndarray = values / values.sum()
    return shares


def rotation(D: int, *, rng: np.random.Generator) -> np.ndarray:
    """A rotation or reflection of R^D, uniform (Haar), shape (D, D): advances ``rng`` by D² normals."""
    Q, R = np.linalg.qr(rng.standard_normal((D, D)))
    uniform: np.ndarray = Q * np.sign(np.diag(R))
    return uniform


def unknown(D: int, condition: float, *, rng: np.random.Generator) -> TokenLaw:
    """Gaussian features with E‖x‖² = 1, condition number κ and directions that nobody knows beforehand."""
    Q = rotation(D, rng=rng)
    return gaussian((Q * eigenvalues(D, condition)) @ Q.T)


def sample(law: TokenLaw, N: int, L: int, label_noise: float = 0.0, *, rng: np.random.Generator) -> Prompts:
    """Draw N prompts of L labelled tokens and a query.

    Args:
        law: of constant norm only the isotropic one, `sphere`; or Gaussian.
        N, L: at least 1.
        label_noise: τ ≥ 0.
        rng: advanced by N·D + N(L + 1)·D normals, and N(L + 1) more where τ > 0.

    Raises:
        ValueError: if the law is of another kind, or a size below 1.
    """
    N, L = _validate.whole("N", N), _validate.whole("L", L)
    label_noise = _validate.nonnegative("label_noise", label_noise)
    refuse_unknown(law)
    w = rng.standard_normal((N, law.D))
    x = rng.standard_normal((N, L + 1, law.D))
    if law.spread == GAUSSIAN:
        x = x @ np.linalg.cholesky(law.covariance).T
    else:
        x /= np.sqrt(np.einsum("nld,nld->nl", x, x))[:, :, None]
    y = np.matmul(x, w[:, :, None])[:, :, 0]
    if label_noise > 0:
        y += label_noise * rng.standard_normal(y.shape)
    return Prompts(x, y, w)


def refuse_unknown(law: TokenLaw) -> None:
    """Raise ``ValueError`` unless `sample` draws from the law: Gaussian, or isotropic on the sphere."""
    if law.spread != GAUSSIAN and not np.array_equal(law.covariance, sphere(law.D).covariance):
        raise ValueError(f"law must be Gaussian or isotropic on the sphere, got spread {law.spread:g}")
