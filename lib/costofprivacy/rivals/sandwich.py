r"""The moments that intervals need, with noise: the curvature of a clipped loss, and the spread of its gradients.

For coefficients θ̂ that minimise the loss of `costofprivacy.rivals.huber` with a random linear term b, the error to the
minimiser of the same loss over the whole population is, to first order, −H⁻¹(b + Σ ψ_i x_i), where ψ_i are the clipped
residuals there. With

.. math:: H = \sum_i a_i x_i x_i^\top, \qquad V = \sum_i \psi_i^2 x_i x_i^\top, \qquad a_i = 1 \text{ where } \psi_i
    \text{ is not clipped, else } 0,

its covariance is the *sandwich* H⁻¹(V + σ²I)H⁻¹ (Huber, 1967; White, 1980), whether or not the noise of the responses
is the same for all records. Nothing in it assumes a Gaussian law or a linear relation.

**Guarantee.** Replacing one record moves H by at most √2 B² and V by at most √2 C² in Frobenius norm, because each term
is of rank one, positive, and of norm at most B² or C² (‖x‖ ≤ B, ‖ψx‖ ≤ C; see `sufficient_statistics`). Both together
are two Gaussian mechanisms, with the shares `CURVATURE` and 1 − `CURVATURE` of μ², hence μ-Gaussian DP, for every θ̂
that was released before. The noise pays for the rounding of the sums, as there.

**When it is of use** (`Moments.usable`). The noise of H has an operator norm of about s√(2d). Where this is not small
against the smallest eigenvalue of H, the inverse means nothing and no interval is returned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, records, sums
from costofprivacy.privacy.mechanisms import gaussian_std
from costofprivacy.rivals import huber
from costofprivacy.rivals.bounds import given, shortened
from costofprivacy.rivals.sufficient_statistics import MOST

CURVATURE = 0.9  # the share of μ² for H; the noise of V is small against the σ² that is added to it
USABLE = 0.4  # the largest share of the smallest eigenvalue that the noise may have


@dataclass(frozen=True, eq=False)
class Moments:
    """H and V with their noise.

    Args:
        curvature: H, shape (d, d). spread: V, shape (d, d). curvature_std: s of the noise of H (`symmetric`).
    """

    curvature: np.ndarray
    spread: np.ndarray
    curvature_std: float

    @property
    def usable(self) -> bool:
        """Whether the noise of H is at most `USABLE` of its smallest eigenvalue, in operator norm."""
        return self.noise <= USABLE * float(np.linalg.eigvalsh(self.curvature)[0])

    @property
    def noise(self) -> float:
        """About the operator norm of the noise of H, s√(2d)."""
        return self.curvature_std * math.sqrt(2 * len(self.curvature))

    def covariance(self, gradient_noise: float) -> np.ndarray:
        """The sandwich H⁻¹(V + σ²I)H⁻¹, shape (d, d); NaN throughout where the moments are not `usable`.

        Args:
            gradient_noise: σ of the linear term.
        """
        d = len(self.curvature)
        if not self.usable:
            return np.full((d, d), math.nan)
        inverse = np.linalg.inv(self.curvature)
        values, vectors = np.linalg.eigh(self.spread)
        meat = (vectors * np.maximum(values, 0.0)) @ vectors.T + gradient_noise**2 * np.eye(d)
        return inverse @ meat @ inverse


def release(
    x: np.ndarray,
    y: np.ndarray,
    theta: np.ndarray,
    feature_bound: float,
    clip_norm: float,
    budget: GaussianDP,
    *,
    rng: np.random.Generator,
) -> Moments:
    """H and V at released coefficients.

    Guarantee: ``budget`` for replacing one record, whatever the records: features beyond B are shortened to it, and
    residuals are clipped.

    Args:
        x: features, shape (n, d). y: responses, shape (n,). theta: θ̂, shape (d,). feature_bound: B. clip_norm: C. Both
            in [10⁻¹⁵⁰, 10¹⁵⁰]. budget: μ in (0, ∞). rng: of the noise.

    Raises:
        ValueError: if there is no record, shapes disagree, an array is not of numbers, a bound is outside its range, or
            nB² or nC² exceeds 10³⁰⁷.
    """
    x, y = given(x, y)
    n, d = x.shape
    for name, bound in (("feature_bound", feature_bound), ("clip_norm", clip_norm)):
        _validate.between(name, _validate.finite_positive(name, bound), records.NEAR, records.FAR)
        _validate.between(f"n {name}²", n * bound**2, 0, MOST)

    def block(part: slice) -> np.ndarray:
        short = shortened(x[part], feature_bound)
        rows = [short * weight[:, None] for weight in _weights(short, y[part], theta, clip_norm)]
        return np.stack([row.T @ row for row in rows])

    parts = [GaussianDP(budget.mu * math.sqrt(part)) for part in (CURVATURE, 1 - CURVATURE)]
    excess = math.sqrt(2) * (1 + math.sqrt(2) * sums.slack(n, d * d)) * huber.ROUNDING**2
    stds = [gaussian_std(excess * b**2, part) for b, part in zip((feature_bound, clip_norm), parts, strict=True)]
    products = sums.pairwise(block, n)
    curvature, spread = (product + symmetric(std, d, rng=rng) for product, std in zip(products, stds, strict=True))
    return Moments(curvature, spread, stds[0])


def _weights(x: np.ndarray, y: np.ndarray, theta: np.ndarray, clip_norm: float) -> tuple[np.ndarray, np.ndarray]:
    """a_i and ψ_i of each record, shapes (n,); ψ = 0 where x = 0: nothing limits it there, and the gradient is 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        residual = np.nan_to_num(x @ theta - y, nan=np.inf)
    limit = huber.limits(x, clip_norm)
    clipped = np.where(np.isfinite(limit), np.clip(residual, -limit, limit), 0.0)
    return np.abs(residual) < limit, clipped


def symmetric(std: float, d: int, *, rng: np.random.Generator) -> np.ndarray:
    """Isotropic noise in the space of symmetric matrices: variance s² on the diagonal and s²/2 beside it, shape (d, d).

    Args:
        std: s > 0. d: dimension. rng: source of randomness.
    """
    noise = rng.standard_normal((d, d))
    return (noise + noise.T) * (std / 2)
