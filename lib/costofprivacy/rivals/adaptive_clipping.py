r"""DP-AMBSSGD: one pass of mini-batches, each clipped where other records say that gradients are long.

Varshney, Thakurta and Jain (2022), arXiv:2207.04686. The records are permuted and cut into T equal parts, and each part
into s records that choose a clip and b that make a step. From θ_0 = 0, for t = 1, …, T,

.. math:: \theta_t = \theta_{t-1} - \frac\eta b\Big(\sum_{i \in B_t}\bar g_i + N(0, s_t^2 I)\Big), \qquad
    \|\bar g_i\| \le C_t, \quad s_t = \frac{2C_t}{\mu},

where C_t is a private quantile (`private_quantile`) of ‖x_i‖|x_iᵀθ_{t−1} − y_i| over the s records. Released is the
mean of the last half of the iterates.

**Guarantee**: μ-Gaussian DP for replacing one record, also if all iterates and clips are released. *Proof.* Fix the
permutation, which does not depend on the records. The replaced record is in one part and has one role there. If it
chooses the clip, then C_t is μ-Gaussian DP given what was released before. If it is in B_t, then it moves the sum by
at most 2C_t, and C_t does not depend on it: θ_t is a Gaussian mechanism of 2C_t/s_t = μ given what was released before.
All other steps are the same functions of the same records and of what was released before. So the composition has one
mechanism that depends on the record, and is μ-Gaussian DP. That holds for each permutation, hence for their mixture
as well, since the permutation can be released too. ∎ (The permutation could save budget; none of that is claimed.)

**What is our choice.** The paper states its constants up to logarithms: the clip is an estimate of the typical length
of a gradient times a power of ln n, so that none is clipped with high probability, η is a small constant over the
largest ‖x‖², and T is of the order of the condition number times ln n. Its clip comes from a noisy histogram. Here the
level q of a private quantile says how many gradients stay as they are, and `plan` chooses q, T and η by a formula for
isotropic features. Its levels go down to one half, because clipping costs less than noise does. As many records choose
a clip as make a clip that is far off improbable (`private_quantile.enough`).

**The formula.** Let E‖x‖² = d and Σ = I, v = ‖θ − θ*‖², ζ² the variance of the label noise, P = v + ζ². The clip at
level q is C = z√(dP); a step keeps the share q of the mean gradient (`batch_descent.kept`). With a = ηq and κ = Eψ²,

.. math:: v \leftarrow (1 - a)^2 v + \eta^2 d P\Big(\frac\kappa b + \frac{4dz^2}{b^2\mu^2}\Big),

and iterates at the times s < t have the mean product (1 − a)^{t−s} v_s, from which the error of their mean follows.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, records, sums
from costofprivacy.privacy.mechanisms import gaussian_std
from costofprivacy.rivals import batch_descent
from costofprivacy.rivals.batch_descent import LEVELS, RATES, AveragedSteps, diverged, response_variance
from costofprivacy.rivals.bounds import prepare, within_reach
from costofprivacy.rivals.private_quantile import enough, exponent, geometric_grid, quantile

STEPS = (1, 2, 4, 8, 16, 32, 64, 128)
MOST_CHOOSING = 0.5  # of the records of a step


@dataclass(frozen=True)
class Plan(AveragedSteps):
    """What the steps do, fixed before any record is read.

    Args:
        steps: T, at least 1. choosing: s, the records of a step that choose its clip, at least 1.
        learning_rate: η ≥ 0. level: q in (0, 1). grid: the clips to choose from, increasing, in [10⁻¹⁵⁰, 10¹⁵⁰].
        budget: μ in [10⁻¹⁵⁰, 10¹⁵⁰].

    Raises:
        ValueError: if a number is outside its range, or a clip asks for noise beyond the doubles.
    """

    steps: int
    choosing: int
    learning_rate: float
    level: float
    grid: tuple[float, ...]
    budget: GaussianDP

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.at_least(1), "steps", "choosing")
        _validate.keep(self, _validate.NONNEGATIVE, "learning_rate")
        _validate.keep(self, _validate.PROBABILITY, "level")
        _validate.whole("the number of points of the grid", len(self.grid))
        _validate.keep_all(self, _validate.within(records.NEAR, records.FAR), "grid")
        exponent(self.budget)
        for noise in (self.grid[0], 4 * self.grid[-1]):  # refused now, not once a clip is chosen
            gaussian_std(noise, self.budget)

    def batch(self, n: int) -> int:
        """b, the records of a step that move θ.

        Raises:
            ValueError: if n records do not suffice for one in each step.
        """
        found = n // self.steps - self.choosing
        if found < 1:
            raise ValueError(f"n must be at least {self.steps * (self.choosing + 1)} for this plan, got {n}")
        return found


def plan(n: int, d: int, explained_variance: float, noise_variance: float, budget: GaussianDP) -> Plan:
    """T, s, η and q with the least error that the module's formula predicts.

    Guarantee: no record is read, so a plan costs nothing.

    Args:
        n: number of records, at least 2. d: dimension. explained_variance: a guess of E(xᵀθ*)², in (0, ∞), for features
            with E‖x‖² = d. noise_variance: a guess of ζ², in [0, ∞). budget: μ in [10⁻¹⁵⁰, 10¹⁵⁰].

    Raises:
        ValueError: if an argument is outside its range.

    >>> found = plan(20_000, 20, 1.0, 0.09, GaussianDP(1.0))
    >>> found.steps, found.choosing, found.level
    (8, 66, 0.7)
    """
    n = _validate.whole("n", n, at_least=2)
    variance = response_variance(explained_variance, noise_variance)
    grid = geometric_grid(math.sqrt(_validate.whole("d", d) * variance))
    candidates = [
        Plan(steps, choosing, rate / level, level, grid, budget)
        for steps, level, rate in product(STEPS, LEVELS, RATES)
        if (choosing := enough(MOST_CHOOSING * (n // steps), level, budget, needed=steps > 1))
    ]
    return min(candidates, key=lambda found: predicted(found, n, d, explained_variance, noise_variance))


def predicted(plan: Plan, n: int, d: int, explained_variance: float, noise_variance: float) -> float:
    """E‖θ̄ − θ*‖² by the module's formula: the excess mean squared error for isotropic features.

    Args:
        plan: T, s, η and q. The others as in `plan`.
    """
    z, b = batch_descent.threshold(plan.level), plan.batch(n)
    contraction = 1 - plan.learning_rate * plan.level
    spread = batch_descent.mean_square(z) / b + 4 * d * (z / (b * plan.budget.mu)) ** 2
    error, along, total = explained_variance, 0.0, 0.0
    for step in range(1, plan.steps + 1):
        error = contraction**2 * error + plan.learning_rate**2 * d * spread * (error + noise_variance)
        if diverged(error, explained_variance, noise_variance):
            return math.inf
        if step > plan.steps - plan.averaged:
            along = contraction * along + error
            total += 2 * along - error
    return total / plan.averaged**2


@np.errstate(all="ignore")
def release(x: np.ndarray, y: np.ndarray, plan: Plan, *, rng: np.random.Generator) -> np.ndarray:
    """The mean of the last half of the iterates, shape (d,).

    Guarantee: ``plan.guarantee`` for replacing one record by any other, also if every iterate and clip is released. A
    record that cannot have a clipped gradient is void (`bounds.given`). The noise is larger by 1 +
    `privacy.sums.slack` (b, d), which pays for the rounding of the sums.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). Numbers of any type.
        plan: the steps; it must not depend on the records. rng: of the permutation, the clips and the noise.

    Raises:
        ValueError: if there are too few records for the plan, shapes disagree, or an array is not of numbers.

    >>> draw = np.random.default_rng(0)
    >>> x, w = draw.standard_normal((20_000, 3)), np.array([1.0, -0.5, 0.0])
    >>> told = plan(20_000, 3, 1.25, 0.01, GaussianDP(1.0))
    >>> release(x, x @ w + 0.1 * draw.standard_normal(20_000), told, rng=draw).round(1) + 0.0
    array([ 1. , -0.5,  0. ])
    """
    last = [theta for _, theta in iterates(x, y, plan, rng=rng)][-plan.averaged :]
    return within_reach(np.mean(last, axis=0))


def iterates(
    x: np.ndarray, y: np.ndarray, plan: Plan, *, rng: np.random.Generator
) -> Iterator[tuple[float, np.ndarray]]:
    """C_t and θ_t for t = 1, …, T.

    Guarantee, Args, Raises: as in `release`.
    """
    told = prepare(x, y)
    n, d = told.shape
    b = plan.batch(n)
    order = rng.permutation(n)[: plan.steps * (b + plan.choosing)].reshape(plan.steps, -1)
    theta = np.zeros(d)
    for rows in order:
        choosing = rows[: plan.choosing]
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = told.norm[choosing] * np.abs(told.rows[choosing] @ theta[told.live] - told.responses[choosing])
        clip_norm = quantile(lengths, plan.level, plan.grid, plan.budget, rng=rng)
        std = gaussian_std(2 * clip_norm * (1 + sums.slack(b, d)), plan.budget)
        with np.errstate(over="ignore", invalid="ignore"):
            pull = told.pulls(theta[:, None], np.array([clip_norm]), rows[plan.choosing :])[:, 0]
            theta = within_reach(theta - plan.learning_rate / b * (pull + std * rng.standard_normal(d)))
        yield clip_norm, theta
