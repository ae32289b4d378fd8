r"""The quadratic loss as ridge and Algorithm 1 see it: a Gram matrix H, a cross moment b, and three ways to hold H.

========================  =============================  ======================  =====================================
class                     holds H as                     one update of Γ costs   worth it
========================  =============================  ======================  =====================================
`head.Moments`            the (p, p) matrix, p = D²      O(D⁴)                   N above D², several updates
`ProductMoments`          N factors of rank one          O(ND²)                  N of the order of D², few updates
`EigenMoments`            eigenvalues and eigenvectors   O(D²)                   many updates on one data set
========================  =============================  ======================  =====================================

All of Algorithm 1 but H is isotropic: Γ meets the data only through HΓ and b, the noise of a step has covariance
proportional to I, and Π_R sees ‖Γ‖_F alone. So it may be run in any orthonormal basis of R^{D×D}, and only the start,
b and the result have to be carried over.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.privacy import sums

ROUNDING = 1e-15  # relative residual at which conjugate gradients stop
QUICK = 100  # D² up to which an eigendecomposition takes less time than a few dozen updates do without


class QuadraticLoss(Protocol):
    """N⁻¹ Σ (y_k − ⟨Γ, Z_k⟩)², in coordinates of Γ, p = D² of them."""

    @property
    def cross(self) -> np.ndarray:
        """The cross moment b in coordinates, shape (p,)."""

    @property
    def trace(self) -> float:
        """tr H = N⁻¹ Σ ‖Z_k‖²."""

    def step(self, shrink: float, rate: float) -> Callable[[np.ndarray], np.ndarray]:
        """The map Γ ↦ shrink·Γ − rate·HΓ on coordinates of shape (B, p)."""

    def solve(self, penalty: float) -> np.ndarray:
        """(H + λI)⁻¹b in coordinates, shape (p,)."""

    def coordinates(self, Gamma: np.ndarray) -> np.ndarray:
        """Coordinates of a matrix of shape (D, D): shape (p,)."""

    def matrices(self, coordinates: np.ndarray) -> np.ndarray:
        """The matrices with these coordinates, (B, p) ↦ (B, D, D)."""


@dataclass(frozen=True)
class ProductMoments:
    """Moments that are never formed: HΓ = N⁻¹ Σ ⟨Γ, Z_k⟩Z_k with Z_k = x_k m_kᵀ of rank one.

    Sums over prompts are added in pairs, with rounding that is bounded as in `costofprivacy.privacy.sums.product`.

    Args:
        data: the N statistics.
    """

    data: Statistics

    @cached_property
    def cross(self) -> np.ndarray:
        """b = N⁻¹ Σ y_k vec(Z_k), shape (D²,)."""
        N = len(self.data.response)
        return sums.product(self.data.query * self.data.response[:, None], self.data.context).reshape(-1) / N

    @cached_property
    def trace(self) -> float:
        """tr H = N⁻¹ Σ ‖x_k‖²‖m_k‖²."""
        lengths = (np.einsum("nd,nd->n", part, part) for part in (self.data.query, self.data.context))
        return float(np.prod(list(lengths), axis=0).mean())

    def times(self, coordinates: np.ndarray) -> np.ndarray:
        """HΓ for rows of shape (B, D²), in 4BND² operations."""
        N, D = self.data.query.shape
        Gamma = coordinates.reshape(-1, D, D)

        def over(rows: slice) -> np.ndarray:
            query, context = self.data.query[rows], self.data.context[rows]
            predicted = np.einsum("bnd,nd->bn", query @ Gamma, context)
            return (query.T * predicted[:, None, :]) @ context

        return sums.pairwise(over, N).reshape(coordinates.shape) / N

    def step(self, shrink: float, rate: float) -> Callable[[np.ndarray], np.ndarray]:
        """The map Γ ↦ shrink·Γ − rate·HΓ on coordinates of shape (B, p)."""
        return lambda Gamma: shrink * Gamma - rate * self.times(Gamma)

    def solve(self, penalty: float) -> np.ndarray:
        """(H + λI)⁻¹b by conjugate gradients: √((λ + ‖H‖)/λ) products to a few digits, two or three where λ ≫ ‖H‖.

        Raises:
            ValueError: if the penalty is too small for conjugate gradients to reach rounding.
        """
        b = self.cross
        matrix = LinearOperator((len(b), len(b)), matvec=lambda v: penalty * v + self.times(v), dtype=float)
        solution, failed = cg(matrix, b, rtol=ROUNDING, maxiter=10 * len(b))
        if failed:
            raise ValueError(f"penalty must be large enough for conjugate gradients, got {penalty!r}")
        return solution

    def coordinates(self, Gamma: np.ndarray) -> np.ndarray:
        """Γ as a vector, row by row, shape (p,)."""
        return Gamma.reshape(-1)

    def matrices(self, coordinates: np.ndarray) -> np.ndarray:
        """The inverse of `coordinates` for rows of shape (B, p): shape (B, D, D)."""
        D = self.data.query.shape[1]
        return coordinates.reshape(-1, D, D)


@dataclass(frozen=True)
class EigenMoments:
    """Moments in the eigenbasis of H.

    Args:
        eigenvalues: of H, shape (p,). basis: its eigenvectors as columns, shape (p, p). cross: b in that basis.
    """

    eigenvalues: np.ndarray
    basis: np.ndarray
    cross: np.ndarray

    @property
    def trace(self) -> float:
        """tr H, the sum of the eigenvalues."""
        return float(self.eigenvalues.sum())

    def step(self, shrink: float, rate: float) -> Callable[[np.ndarray], np.ndarray]:
        """The map Γ ↦ shrink·Γ − rate·HΓ on coordinates of shape (B, p): one product a coordinate."""
        factor = self.factor(shrink, rate)
        return lambda Gamma: Gamma * factor

    def factor(self, shrink: float, rate: float) -> np.ndarray:
        """What `step` multiplies each coordinate by, shape (p,)."""
        return shrink - rate * self.eigenvalues

    def solve(self, penalty: float) -> np.ndarray:
        """(H + λI)⁻¹b in coordinates, shape (p,)."""
        return self.cross / (self.eigenvalues + penalty)

    def coordinates(self, Gamma: np.ndarray) -> np.ndarray:
        """Γ in the eigenbasis, shape (p,)."""
        return Gamma.reshape(-1) @ self.basis

    def matrices(self, coordinates: np.ndarray) -> np.ndarray:
        """The inverse of `coordinates` for rows of shape (B, p): shape (B, D, D)."""
        D = math.isqrt(len(self.cross))
        return (coordinates @ self.basis.T).reshape(-1, D, D)


def in_eigenbasis(data: Moments) -> EigenMoments:
    """The same moments in the eigenbasis of H, O(D⁶)."""
    eigenvalues, basis = np.linalg.eigh(data.gram)
    return EigenMoments(eigenvalues, basis, data.cross @ basis)


def for_updates(data: Moments) -> QuadraticLoss:
    """The same moments in the form in which some hundred updates take the least time, by D² alone.

    In both forms the noise of an update is isotropic; in the eigenbasis it is drawn in other coordinates.
    """
    return in_eigenbasis(data) if len(data.cross) <= QUICK else data
