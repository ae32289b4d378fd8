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

**A shorter B for H.** The noise of H is in proportion to the square of the bound of its records, and H has to be
inverted. So H may be summed over records that are shortened further, to B' < B. That makes H smaller, in the order of
symmetric matrices, and the intervals wider as a rule: for a multiple of H by the inverse of that factor. It is no
theorem for each coefficient, because the sandwich does not decrease in that order; coverage is measured.

**When it is of use** (`Moments.determined`). The noise of H has an operator norm of about s√(2d). Where this is not
small against the smallest eigenvalue of H, the inverse means nothing. Then the coefficient with the largest share in
the eigenvector of that eigenvalue is set aside, as one that the data do not determine, until the rest of H is large
enough. A feature that is 0 in nearly all records is set aside like this. For the others, K, the error δ_J of those that
were set aside counts as if it had a variance of `ASIDE` in each coefficient,

.. math:: H_{KK}^{-1}\big(V_{KK} + \sigma^2 I + H_{KJ}H_{JK}\big)H_{KK}^{-1},

which H_{KJ} passes on; its noise makes that larger on average. Coefficients on the stated scale are usually below 1;
where features nearly repeat each other, or are rare, they need not be. A coefficient whose variance comes to more than
`MOST_PASSED` from there has no interval: it would say more about `ASIDE` than about the data.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, sums
from costofprivacy.privacy.mechanisms import gaussian_std, noisy_symmetric
from costofprivacy.rivals import huber
from costofprivacy.rivals.bounds import SQUARABLE, given, shortened
from costofprivacy.rivals.sufficient_statistics import MOST

CURVATURE = 0.9  # the share of μ² for H; the noise of V is small against the σ² that is added to it
USABLE = 0.4  # the largest share of the smallest eigenvalue that the noise may have
ASIDE = 1.0  # variance of the error of a coefficient that was set aside
MOST_PASSED = 0.5  # of the variance of a coefficient that has an interval: what those that were set aside pass on


@dataclass(frozen=True, eq=False)
class Moments:
    """H and V with their noise.

    Args:
        curvature: H, shape (d, d). spread: V, shape (d, d). curvature_std: s of the noise of H (`symmetric`).
    """

    curvature: np.ndarray
    spread: np.ndarray
    curvature_std: float

    @cached_property
    def determined(self) -> np.ndarray:
        """Which coefficients the data determine, shape (d,): those that were not set aside."""
        kept = np.ones(len(self.curvature), dtype=bool)
        while kept.any():
            values, vectors = np.linalg.eigh(self.curvature[np.ix_(kept, kept)])
            if inverted(self.curvature_std, int(kept.sum()), float(values[0])):
                break
            kept[np.flatnonzero(kept)[np.abs(vectors[:, 0]).argmax()]] = False
        return kept

    def solve(self, vector: np.ndarray) -> np.ndarray:
        """H⁻¹v for the coefficients that are `determined`, NaN for the others.

        Args:
            vector: v, shape (d,).
        """
        kept = self.determined
        found = np.full(len(kept), math.nan)
        found[kept] = np.linalg.solve(self.curvature[np.ix_(kept, kept)], vector[kept])
        return found

    def covariance(self, gradient_noise: float) -> np.ndarray:
        """The sandwich, shape (d, d), with NaN in the rows and columns of coefficients that have no interval.

        These are the ones that are not `determined`, and those to which such ones pass on more than `MOST_PASSED`.

        Args:
            gradient_noise: σ of the linear term.
        """
        kept = self.determined
        found, own = np.full(self.curvature.shape, math.nan), np.ix_(kept, kept)
        inverse = np.linalg.inv(self.curvature[own])
        values, vectors = np.linalg.eigh(self.spread[own])
        passed = self.curvature[np.ix_(kept, ~kept)]
        meat = (vectors * np.maximum(values, 0.0)) @ vectors.T + gradient_noise**2 * np.eye(kept.sum())
        measured, guessed = (inverse @ part @ inverse for part in (meat, ASIDE * passed @ passed.T))
        found[own] = measured + guessed
        vague = np.flatnonzero(kept)[np.diag(guessed) > MOST_PASSED * np.diag(found[own])]
        found[vague], found[:, vague] = math.nan, math.nan
        return found


def parts(budget: GaussianDP) -> tuple[GaussianDP, GaussianDP]:
    """What the releases of H and of V may spend."""
    curvature, spread = (GaussianDP(budget.mu * math.sqrt(part)) for part in (CURVATURE, 1 - CURVATURE))
    return curvature, spread


def inverted(curvature_std: float, d: int, smallest: float) -> bool:
    """Whether a noisy H may be inverted: its noise is at most `USABLE` of its smallest eigenvalue, in operator norm.

    Args:
        curvature_std: s. d: number of coefficients. smallest: eigenvalue of H.
    """
    return curvature_std * math.sqrt(2 * d) <= USABLE * smallest


@np.errstate(all="ignore")
def release(
    x: np.ndarray,
    y: np.ndarray,
    theta: np.ndarray,
    feature_bound: float,
    clip_norm: float,
    budget: GaussianDP,
    curvature_bound: float | None = None,
    *,
    rng: np.random.Generator,
) -> Moments:
    """H and V at released coefficients.

    Guarantee: ``budget`` for replacing one record, whatever the records: features beyond B are shortened to it, and
    residuals are clipped.

    Args:
        x: features, shape (n, d). y: responses, shape (n,). theta: θ̂, shape (d,). feature_bound: B. clip_norm: C. Both
            in [10⁻¹⁵⁰, 10¹⁵⁰]. budget: μ in (0, ∞). curvature_bound: B' ≤ B; B if left out. rng: of the noise.

    Raises:
        ValueError: if there is no record, shapes disagree, an array is not of numbers, a bound is outside its range, or
            nB² or nC² exceeds 10³⁰⁷.
    """
    x, y = given(x, y)
    n, d = x.shape
    for name, bound in (("feature_bound", feature_bound), ("clip_norm", clip_norm)):
        _validate.between(f"n {name}²", n * SQUARABLE(name, bound) ** 2, 0, MOST)

    def block(part: slice) -> np.ndarray:
        short = shortened(x[part], feature_bound)
        residual, limit = np.nan_to_num(short @ theta - y[part], nan=np.inf), huber.limits(short, clip_norm)
        pull = np.where(np.isfinite(limit), np.clip(residual, -limit, limit), 0.0)  # where x = 0 nothing limits it
        rows = shortened(short, shorter) * (np.abs(residual) < limit)[:, None], short * pull[:, None]
        return np.stack([row.T @ row for row in rows])

    shorter = feature_bound if curvature_bound is None else min(curvature_bound, feature_bound)
    excess = math.sqrt(2) * (1 + math.sqrt(2) * sums.slack(n, d * d)) * huber.ROUNDING**2
    shares = parts(budget)
    stds = [gaussian_std(excess * b**2, part) for b, part in zip((shorter, clip_norm), shares, strict=True)]
    told = zip(sums.pairwise(block, n), stds, shares, strict=True)
    curvature, spread = (noisy_symmetric(product, std, part.mu, rng=rng) for product, std, part in told)
    return Moments(curvature, spread, stds[0])
