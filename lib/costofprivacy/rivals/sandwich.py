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

**Units of k records** that stand side by side, as `estimators.units` places them. Records of a patient are not
independent, so V is the sum over units of ψψᵀ with :math:`\psi = \sum_i \psi_i x_i` over the unit's records, as for
clustered data (Liang and Zeger, 1986). ‖ψ‖ ≤ kC, so that V has the noise of a sensitivity of √2 kC² for one record,
where it has √2 C² without units. The guarantee is then kμ-Gaussian DP for replacing a unit.

*Proof.* Let D and D' differ in the k records of one unit. Then V moves by ψψᵀ − ψ'ψ'ᵀ, at most √2 (kC)², which is k
times √2 kC²; H moves by A − A', where A and A' are positive and of trace at most kB², so that
‖A − A'‖² ≤ ‖A‖² + ‖A'‖² ≤ 2k²B⁴, which is k times √2 B²; and g by at most k times 2C. Each of the three is attained
by k equal records. Now go from D to D' in k steps: θ̂ is found in records of which one more is replaced each time, and
for each θ̂ the means of H, V and g go from those of D to those of D' along a line. These k + 1 laws need not be of data
sets. Two in a row are as far apart as a record is promised, because their parts are, whatever θ̂ is. So the chain of
`privacy.groups` holds, for μ as for (ε, δ). ∎

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

**One step, for a θ̂ that minimises nothing**, such as the end of a descent over a stream (`streams.step`). With the
gradient g = Σ ψ_i x_i at θ̂ and b ∼ N(0, σ²I), the centre of the intervals is

.. math:: \bar\theta = \hat\theta - H^{-1}(g + b),

whose error is −H⁻¹(b + Σ ψ_i x_i) again, with ψ_i at the population's minimiser, to first order in θ̂'s own error: for
residuals that are not clipped the step is exact, however far θ̂ is. Replacing one record moves g by at most 2C, so that
g is one more Gaussian mechanism, with the share `GRADIENT` of μ²; the other two have the rest. All three are sums over
records, which one pass finds. The noise E of H changes the step Δ by H⁻¹EΔ, where EΔ has the covariance
s²(‖Δ‖²I + ΔΔᵀ)/2 for E as `symmetric` makes it; the sandwich counts that beside V and σ²I.
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
GRADIENT = 0.5  # the share of μ² for the gradient where there is a step
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
            if noise(self.curvature_std, int(kept.sum()), float(values[0])) <= 1:
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

    def covariance(self, gradient_noise: float, moved: np.ndarray | None = None) -> np.ndarray:
        """The sandwich, shape (d, d), with NaN in the rows and columns of coefficients that have no interval.

        These are the ones that are not `determined`, and those to which such ones pass on more than `MOST_PASSED`.

        Args:
            gradient_noise: σ of the linear term. moved: Δ of the module's text, shape (d,), if there was a step.
        """
        kept = self.determined
        found, own = np.full(self.curvature.shape, math.nan), np.ix_(kept, kept)
        inverse = np.linalg.inv(self.curvature[own])
        values, vectors = np.linalg.eigh(self.spread[own])
        passed = self.curvature[np.ix_(kept, ~kept)]
        meat = (vectors * np.maximum(values, 0.0)) @ vectors.T + gradient_noise**2 * np.eye(kept.sum())
        if moved is not None:
            by = moved[kept]
            meat += self.curvature_std**2 / 2 * (by @ by * np.eye(len(by)) + np.outer(by, by))
        measured, guessed = (inverse @ part @ inverse for part in (meat, ASIDE * passed @ passed.T))
        found[own] = measured + guessed
        vague = np.flatnonzero(kept)[np.diag(guessed) > MOST_PASSED * np.diag(found[own])]
        found[vague], found[:, vague] = math.nan, math.nan
        return found


def parts(budget: GaussianDP) -> tuple[GaussianDP, GaussianDP]:
    """What the releases of H and of V may spend."""
    curvature, spread = (GaussianDP(budget.mu * math.sqrt(part)) for part in (CURVATURE, 1 - CURVATURE))
    return curvature, spread


def noise(curvature_std: float, d: int, smallest: float) -> float:
    """The operator norm of the noise of H, over the share `USABLE` of its smallest eigenvalue: at most 1 to invert it.

    Args:
        curvature_std: s. d: number of coefficients. smallest: eigenvalue of H.
    """
    return curvature_std * math.sqrt(2 * d) / (USABLE * smallest) if smallest > 0 else math.inf


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
    most: int = 1,
    rng: np.random.Generator,
) -> Moments:
    """H and V at released coefficients.

    Guarantee: ``budget`` for replacing one record, whatever the records: features beyond B are shortened to it, and
    residuals are clipped. With units, kμ-Gaussian DP for replacing one.

    Args:
        x: features, shape (n, d). y: responses, shape (n,). theta: θ̂, shape (d,). feature_bound: B. clip_norm: C. Both
            in [10⁻¹⁵⁰, 10¹⁵⁰]. budget: μ in (0, ∞). curvature_bound: B' ≤ B; B if left out. most: k; the n
            records are units of k, one after the other. rng: of the noise.

    Raises:
        ValueError: if there is no record, shapes disagree, an array is not of numbers, a bound is outside its range, or
            nB² or nC² exceeds 10³⁰⁷.
    """
    x, y = given(x, y)
    n, d = x.shape
    limits = Limits(feature_bound, clip_norm, curvature_bound, most)
    curvature, spread = sums.pairwise(lambda part: limits.terms(x[part], y[part], theta)[:, :d], n)
    spread = spread if most == 1 else limits.spread(limits.rows(x, y, theta)[1])
    return limits.noisy(curvature, spread, n, budget, rng=rng)


@dataclass(frozen=True)
class Limits:
    """What the terms of a record are bounded by.

    Args:
        feature_bound: B. clip_norm: C. Both in [10⁻¹⁵⁰, 10¹⁵⁰]. curvature: B' ≤ B; B if left out. most: k.
    """

    feature_bound: float
    clip_norm: float
    curvature: float | None = None
    most: int = 1

    def __post_init__(self) -> None:
        _validate.keep(self, SQUARABLE, "feature_bound", "clip_norm")

    @property
    def shorter(self) -> float:
        """B'."""
        return self.feature_bound if self.curvature is None else min(self.curvature, self.feature_bound)

    def terms(self, x: np.ndarray, y: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """The sums of a block for H and V, and for the gradient in a last row of each, shape (2, d + 1, d)."""
        rows = self.rows(x, y, theta)
        return np.stack([np.vstack([row.T @ row, rows[1].sum(axis=0)]) for row in rows])

    def rows(self, x: np.ndarray, y: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """a_i x_i and ψ_i x_i, each of shape (n, d)."""
        short = shortened(x, self.feature_bound)
        residual, limit = np.nan_to_num(short @ theta - y, nan=np.inf), huber.limits(short, self.clip_norm)
        pull = np.where(np.isfinite(limit), np.clip(residual, -limit, limit), 0.0)  # where x = 0 nothing limits it
        return shortened(short, self.shorter) * (np.abs(residual) < limit)[:, None], short * pull[:, None]

    def spread(self, pulls: np.ndarray) -> np.ndarray:
        """V of units of k records, from the ψ_i x_i of n records, shape (n, d)."""
        of_unit = pulls.reshape(-1, self.most, pulls.shape[1]).sum(axis=1)
        return sums.product(of_unit, of_unit)

    def noisy(
        self, curvature: np.ndarray, spread: np.ndarray, n: int, budget: GaussianDP, *, rng: np.random.Generator
    ) -> Moments:
        """H and V with noise, from their sums over n records; the guarantee is that of `release`."""
        d = len(curvature)
        for name in ("feature_bound", "clip_norm"):
            _validate.between(f"n {name}²", n * getattr(self, name) ** 2, 0, MOST)
        excess, shares = math.sqrt(2) * (1 + math.sqrt(2) * sums.slack(n, d * d)) * huber.ROUNDING**2, parts(budget)
        stds = [gaussian_std(excess * b**2, part) for b, part in zip((self.shorter, self.clip_norm), shares)]
        if self.most > 1:  # ‖ψ‖ was rounded, too: it enters as its square
            stds[1] *= self.most * (1 + sums.slack(self.most, d)) ** 2
        told = zip((curvature, spread), stds, shares, strict=True)
        first, second = (noisy_symmetric(product, std, part.mu, rng=rng) for product, std, part in told)
        return Moments(first, second, stds[0])
