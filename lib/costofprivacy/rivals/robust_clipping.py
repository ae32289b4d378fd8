r"""Full-batch descent whose clips of features and residuals are estimated privately, the latter in each step.

Liu, Jain, Kong, Oh and Suggala (2023), arXiv:2301.13273. The records are permuted and cut into three parts. The first
gives a private quantile Θ of the lengths ‖x_i‖ (`private_quantile`). From θ_0 = 0, for t = 1, …, T, the second part
gives a private quantile φ_t of |x_iᵀθ_{t−1} − y_i|, and all b records of the third part make the step

.. math:: \theta_t = \theta_{t-1} - \frac\eta b\Big(\sum_i
    \mathrm{clip}_\Theta(x_i)\,\mathrm{clip}_{\varphi_t}(x_i^\top\theta_{t-1} - y_i) + N(0, s_t^2 I)\Big), \qquad
    s_t = \frac{2\Theta\varphi_t\sqrt T}{\mu}.

clip_Θ shortens a vector to length Θ, clip_φ a number to size φ. Released is θ_T.

**Guarantee**: μ-Gaussian DP for replacing one record, also if all iterates and clips are released. *Proof.* Fix the
permutation, which does not depend on the records. The replaced record is in one of the three parts, and everything that
reads the other two alone is the same function of what was released before. In the first part it is seen by one
mechanism, of μ. In the second part it is seen by T quantiles of μ/√T each. In the third part it moves each of the T
sums by at most 2Θφ_t, and neither Θ nor φ_t depends on it: T Gaussian mechanisms of μ/√T each. Adaptive composition
(arXiv:1905.02383, Corollary 3.3) gives μ in each case. The permutation can be released too, so the mixture over
permutations is μ-Gaussian DP. ∎

**What is our choice.** The paper's parts are thirds; here the first two are as large as their quantiles need
(`private_quantile.enough`), and a third at most. The paper clips so far out that no record is touched, with high
probability: Θ is the estimated √E‖x‖² times a power of ln n, and φ_t the estimated size of the residuals times a power
of ln(1/α), where α is the share of corrupted responses. Its estimates come from noisy histograms. Here both clips are
quantiles, which move by α in level when a share α of the responses is corrupted, and their levels say how many records
are clipped. `plan` chooses the level of the residuals, T and η by a formula for isotropic features.

**The formula.** Let E‖x‖² = d and Σ = I, v = ‖θ − θ*‖², ζ² the variance of the label noise, P = v + ζ². The residuals
are clipped at z√P, which keeps the share q of the mean gradient (`batch_descent.kept`). Θ is about √d + z_Θ/√2, z_Θ the
normal quantile of its level. What shortening takes from the gradients is left out. With a = ηq,

.. math:: v \leftarrow (1 - a)^2 v + \eta^2 d\,\frac{4\Theta^2 z^2 P\,T}{b^2\mu^2},

and (1 − (1 − a)^T)² dκP/(bq²), κ = E ψ², is added at the end for what b records cannot tell.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import ndtri

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, sums
from costofprivacy.privacy.mechanisms import gaussian_std
from costofprivacy.rivals import batch_descent
from costofprivacy.rivals.batch_descent import LEVELS, RATES, diverged, response_variance
from costofprivacy.rivals.bounds import given, within_reach
from costofprivacy.rivals.private_quantile import enough, exponent, geometric_grid, quantile
from costofprivacy.rivals.sufficient_statistics import share

NORM_LEVEL = 0.5  # of the clip of features: the median costs the fewest records, and least noise
STEPS = (1, 2, 4, 8, 16, 32, 64)
MOST = 1 / 3  # of the records in one of the first two parts
_NEAR, _FAR = 1e-75, 1e75  # of a clip: products of two are within [10⁻¹⁵⁰, 10¹⁵⁰]


@dataclass(frozen=True)
class Plan:
    """What the steps do, fixed before any record is read.

    Args:
        steps: T, at least 1. learning_rate: η ≥ 0.
        norms, residuals: how many records are in the first and in the second part, at least 1 each.
        norm_level, level: of Θ and φ_t, in (0, 1).
        norm_grid, grid: what Θ and φ_t are chosen from, increasing, in [10⁻⁷⁵, 10⁷⁵].
        budget: μ, such that μ and μ/√T are in [10⁻¹⁵⁰, 10¹⁵⁰].

    Raises:
        ValueError: if a number is outside its range, or a clip asks for noise beyond the doubles.
    """

    steps: int
    learning_rate: float
    norms: int
    residuals: int
    norm_level: float
    level: float
    norm_grid: tuple[float, ...]
    grid: tuple[float, ...]
    budget: GaussianDP

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.at_least(1), "steps", "norms", "residuals")
        _validate.keep(self, _validate.NONNEGATIVE, "learning_rate")
        _validate.keep(self, _validate.PROBABILITY, "norm_level", "level")
        for name in ("norm_grid", "grid"):
            _validate.whole(f"the number of points of {name}", len(getattr(self, name)))
            _validate.keep_all(self, _validate.within(_NEAR, _FAR), name)
        exponent(self.budget)
        exponent(self.each)
        for noise in (self.norm_grid[0] * self.grid[0], 4 * self.norm_grid[-1] * self.grid[-1]):
            gaussian_std(noise, self.each)  # refused now, not once a clip is chosen

    @property
    def each(self) -> GaussianDP:
        """μ/√T, of each of the T quantiles and of each of the T sums."""
        return share(self.budget, self.steps)

    @property
    def guarantee(self) -> GaussianDP:
        """What the release of all iterates and clips spends."""
        return self.budget

    def batch(self, n: int) -> int:
        """b, the records of the third part.

        Raises:
            ValueError: if there is none.
        """
        found = n - self.norms - self.residuals
        if found < 1:
            raise ValueError(f"n must be at least {self.norms + self.residuals + 1} for this plan, got {n}")
        return found


def plan(n: int, d: int, explained_variance: float, noise_variance: float, budget: GaussianDP) -> Plan:
    """The parts, T, η and the level of the residuals with the least error that the module's formula predicts.

    Guarantee: no record is read, so a plan costs nothing.

    Args:
        n: number of records, at least 3. d: dimension. explained_variance: a guess of E(xᵀθ*)², in (0, ∞), for features
            with E‖x‖² = d. noise_variance: a guess of ζ², in [0, ∞). budget: μ in [10⁻¹⁴⁰, 10¹⁴⁰].

    Raises:
        ValueError: if an argument is outside its range.

    >>> found = plan(20_000, 20, 1.0, 0.09, GaussianDP(1.0))
    >>> found.steps, found.norms, found.residuals, found.level
    (8, 40, 565, 0.9)
    """
    n = _validate.whole("n", n, at_least=3)
    variance = response_variance(explained_variance, noise_variance)
    norm_grid = geometric_grid(math.sqrt(_validate.whole("d", d)))
    grid = geometric_grid(math.sqrt(variance))
    norms = enough(MOST * n, NORM_LEVEL, budget, needed=False)
    candidates = [
        Plan(steps, rate / level, norms, residuals, NORM_LEVEL, level, norm_grid, grid, budget)
        for steps, level, rate in product(STEPS, LEVELS, RATES)
        if (residuals := enough(MOST * n, level, share(budget, steps), needed=steps > 1))
    ]
    return min(candidates, key=lambda found: predicted(found, n, d, explained_variance, noise_variance))


def predicted(plan: Plan, n: int, d: int, explained_variance: float, noise_variance: float) -> float:
    """E‖θ_T − θ*‖² by the module's formula: the excess mean squared error for isotropic features.

    Args:
        plan: the parts, T, η and the levels. The others as in `plan`.
    """
    z, b = batch_descent.threshold(plan.level), plan.batch(n)
    length = math.sqrt(d) + float(ndtri(plan.norm_level)) / math.sqrt(2)
    noise = d * (2 * plan.learning_rate * length * z / (b * plan.each.mu)) ** 2
    contraction, error = 1 - plan.learning_rate * plan.level, explained_variance
    for _ in range(plan.steps):
        error = contraction**2 * error + noise * (error + noise_variance)
        if diverged(error, explained_variance, noise_variance):
            return math.inf
    arrived = (1 - contraction**plan.steps) / plan.level
    return error + d * batch_descent.mean_square(z) * (error + noise_variance) * arrived**2 / b


@np.errstate(all="ignore")
def release(x: np.ndarray, y: np.ndarray, plan: Plan, *, rng: np.random.Generator) -> np.ndarray:
    """θ_T, shape (d,).

    Guarantee: ``plan.guarantee`` for replacing one record by any other, also if every iterate and clip is released. A
    record that is not finite, or has no square in doubles, is void (`bounds.given`). The noise is larger by 1 +
    `privacy.sums.slack` (n, d), which pays for the rounding of shortened rows and of the sums.

    Args, Raises: as `adaptive_clipping.release`.

    >>> draw = np.random.default_rng(0)
    >>> x, w = draw.standard_normal((20_000, 3)), np.array([1.0, -0.5, 0.0])
    >>> told = plan(20_000, 3, 1.25, 0.01, GaussianDP(1.0))
    >>> release(x, x @ w + 0.1 * draw.standard_normal(20_000), told, rng=draw).round(1) + 0.0
    array([ 1. , -0.5,  0. ])
    """
    *_, (_, _, theta) = iterates(x, y, plan, rng=rng)
    return theta


def iterates(
    x: np.ndarray, y: np.ndarray, plan: Plan, *, rng: np.random.Generator
) -> Iterator[tuple[float, float, np.ndarray]]:
    """Θ, φ_t and θ_t for t = 1, …, T.

    Guarantee, Args, Raises: as in `release`.
    """
    x, y = given(x, y)
    n, d = x.shape
    b, norm = plan.batch(n), np.linalg.norm(x, axis=1)
    first, second, third = np.split(rng.permutation(n), [plan.norms, plan.norms + plan.residuals])
    longest = quantile(norm[first], plan.norm_level, plan.norm_grid, plan.budget, rng=rng)
    weight = np.zeros(n)  # shortens the rows of the third part, and leaves the others out
    weight[third] = longest / np.maximum(norm[third], longest)
    theta = np.zeros(d)
    for _ in range(plan.steps):
        residual = x @ theta - y
        clip = quantile(np.abs(residual[second]), plan.level, plan.grid, plan.each, rng=rng)
        std = gaussian_std(2 * longest * clip * (1 + sums.slack(n, d)), plan.each)
        with np.errstate(over="ignore", invalid="ignore"):
            pull = sums.product(x, weight * np.clip(residual, -clip, clip))
            theta = within_reach(theta - plan.learning_rate / b * (pull + std * rng.standard_normal(d)))
        yield longest, clip, theta
