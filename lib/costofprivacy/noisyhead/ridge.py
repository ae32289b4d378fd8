"""The ridge solution Γ* of (2.7), arXiv:2504.16000v2, and what one further prompt, however large, does to it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from costofprivacy import _validate
from costofprivacy.noisyhead.curvature import QuadraticLoss
from costofprivacy.noisyhead.head import Moments


def ridge(data: QuadraticLoss, penalty: float) -> np.ndarray:
    """Γ* = argmin N⁻¹ Σ (y − ⟨Γ, Z⟩)² + λ‖Γ‖²_F, (2.6)-(2.7), shape (D, D).

    Its system H + λI has condition number at most 1 + max‖Z‖²/λ, moderate for clean prompts as long as λ is not tiny;
    each way to solve it is then accurate to rounding. Prompts with an outlier need `RidgeWithOneMore`.

    Args:
        data: moments of the training prompts in any form, raw for the paper's reference.
        penalty: λ in (0, ∞).

    Raises:
        ValueError: if ``penalty`` is not positive.
    """
    return data.matrices(data.solve(_validate.finite_positive("penalty", penalty))[None])[0]


@dataclass(frozen=True)
class RidgeWithOneMore:
    r"""Γ* of n clean prompts and one more (N = n + 1 in all), by a rank-one update in which no outlier meets the clean.

    With A = λN I + Σ_{k≤n} vec(Z_k) vec(Z_k)ᵀ and Γ₀ = A⁻¹ Σ_{k≤n} y_k vec(Z_k), Sherman and Morrison's formula gives

    .. math:: \Gamma^* = \Gamma_0 + A^{-1}z\,\frac{y - \langle\Gamma_0, z\rangle}{1 + z^\top A^{-1}z} .

    Assumes: n clean prompts. Guarantees: A holds them alone, so its condition number is theirs, at most 1 + max‖Z‖²/λ,
    and z, divided by its size, enters by products only: the step is accurate to rounding however large z is.

    Args:
        rest: means over the n clean prompts.
        count: n, at least 1.
        penalty: λ in (0, ∞).

    Raises:
        ValueError: if ``penalty`` is not positive or ``count`` not a whole number of at least 1.
    """

    rest: Moments
    count: int
    penalty: float

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.at_least(1), "count")
        _validate.keep(self, _validate.FINITE_POSITIVE, "penalty")

    @cached_property
    def _factor(self) -> tuple[np.ndarray, bool]:
        """Cholesky factor of A."""
        N, p = self.count + 1, len(self.rest.cross)
        return cho_factor(self.count * self.rest.gram + self.penalty * N * np.eye(p))

    @cached_property
    def _without(self) -> np.ndarray:
        return cho_solve(self._factor, self.count * self.rest.cross)

    @property
    def without(self) -> np.ndarray:
        """Γ₀, before the further prompt, shape (D, D)."""
        return self._matrices(self._without)

    def step(self, Z: np.ndarray, response: np.ndarray) -> np.ndarray:
        """Γ* − Γ₀ for each candidate (Z, y), shapes (B, D, D) and (B,); no cancellation for any ‖Z‖.

        The difference of two candidates' steps is the displacement when one replaces the other. A prompt is divided by
        s = max(1, ‖Z‖) first: A⁻¹z(y − ⟨Γ₀, z⟩)/(1 + zᵀA⁻¹z) = A⁻¹u(y/s − ⟨Γ₀, u⟩)/(s⁻² + uᵀA⁻¹u), u = z/s.
        """
        z = Z.reshape(len(Z), -1)
        size = np.maximum(1.0, np.abs(z).max(axis=1))
        return self._steps(z / size[:, None], response / size, size**-2.0)

    def limit(self, V: np.ndarray, ratio: np.ndarray) -> np.ndarray:
        """Γ* − Γ₀ for Z = αV + O(1), y = α·ratio + O(1) as α → ∞: A⁻¹v(ratio − ⟨Γ₀, v⟩)/(vᵀA⁻¹v).

        The limiting solution fits the direction exactly, ⟨Γ*, V⟩ = ratio; ratio = 0 for a response left as it is.
        """
        return self._steps(V.reshape(len(V), -1), ratio, np.zeros(len(V)))

    def _steps(self, z: np.ndarray, response: np.ndarray, one: np.ndarray) -> np.ndarray:
        moved = cho_solve(self._factor, z.T).T
        residual = response - z @ self._without
        return self._matrices(moved * (residual / (one + (z * moved).sum(axis=1)))[:, None])

    def _matrices(self, vectors: np.ndarray) -> np.ndarray:
        D = round(len(self.rest.cross) ** 0.5)
        return vectors.reshape(*vectors.shape[:-1], D, D)
