r"""Noisy clipped gradient descent on all records with a constant step, every iterate of which is released.

Brown, Dvijotham, Evans, Liu, Smith and Thakurta (2024), arXiv:2402.13531. From θ_0 = 0, for t = 1, …, T,

.. math:: \theta_t = \theta_{t-1} - \frac{\eta}{n}\Big(\sum_{i=1}^n \bar g_i + N(0, s^2 I)\Big), \qquad
    \|\bar g_i\| \le C, \quad s = \frac{2C\sqrt T}{\mu_1}.

`batch_descent` runs the same steps and returns the last iterate. Here all iterates come out.

**Guarantee**, for replacing one record by any other: μ-Gaussian DP for all that is released together. The replaced
record moves each sum by at most 2C, whatever θ_{t−1} is, so a step is a Gaussian mechanism of μ₁/√T and all T of them
are μ₁-GDP (arXiv:1905.02383, Corollary 3.3). Two numbers that say how the descent went, `Diagnostics`, are one more
Gaussian mechanism, of μ₂, given θ̄, the mean of the iterates after the burn-in. With w the public share of μ² that is
set aside for it, μ₁² = (1 − w)μ² and μ₂² = wμ². Each record adds to the two numbers a vector in [0, 1] × [0, ½], so
replacing it moves their sum by at most √5/2. Wrong public knowledge costs accuracy, never privacy.

**Where no gradient is clipped** the iterates are a stationary autoregression around least squares θ_OLS: with
H = XᵀX/n and noise ν = s/n of a mean gradient,

.. math:: \theta_t - \theta_{OLS} = (I - \eta H)(\theta_{t-1} - \theta_{OLS}) - \eta\nu\xi_t, \qquad
    \Sigma_\infty = \eta\nu^2 H^{-1}(2I - \eta H)^{-1}, \quad
    \mathrm{Cov}(\theta_{t+k}, \theta_t) = (I - \eta H)^k\,\Sigma_\infty .

The mean of T iterates has the covariance ν²H⁻²/T = (2C/(nμ₁))²H⁻² once T is many relaxation times 1/(ηλ_min). This
does not depend on T or η, and no unbiased function of the iterates does better. Steps are statistically free, so a plan
takes enough of them to see the fluctuations from which a width is estimated. The iterates fluctuate more as T grows,
though: ν² is proportional to T. The residuals that this adds must stay within the clip, which limits T where nμ/d is
small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from costofprivacy.privacy import GaussianMechanism, sums
from costofprivacy.rivals.bounds import within_reach
from costofprivacy.rivals.checkpoint_plan import Plan
from costofprivacy.rivals.prepared import Prepared, prepare

WEIGHT = 0.5  # of a clipped record in the diagnostics, against 1 of a residual's square


@dataclass(frozen=True)
class Diagnostics:
    """Two numbers on the residuals at the mean of the iterates, each with Gaussian noise.

    Args:
        clipped: the share of the records whose gradient is clipped, plus noise. clipped_std: of that noise.
        square: the mean over records of min(r², R²), plus noise, R being the plan's ``residual_bound``.
        square_std: of that noise.
    """

    clipped: float
    clipped_std: float
    square: float
    square_std: float


@dataclass(frozen=True, eq=False)
class Trajectory:
    """All that is released.

    Args:
        iterates: θ_0, …, θ_T, shape (T + 1, d). diagnostics: None where the plan sets no share aside.
    """

    iterates: np.ndarray
    diagnostics: Diagnostics | None

    def stationary(self, plan: Plan) -> np.ndarray:
        """The iterates after the burn-in, shape (T − burn-in, d)."""
        return self.iterates[plan.burn_in + 1 :]

    def mean(self, plan: Plan) -> np.ndarray:
        """θ̄, the mean of the iterates after the burn-in: the estimate, shape (d,)."""
        return np.asarray(self.stationary(plan).mean(axis=0))


@np.errstate(all="ignore")
def release(x: np.ndarray, y: np.ndarray, plan: Plan, *, rng: np.random.Generator) -> Trajectory:
    """All iterates, and the diagnostics.

    Guarantee: ``plan.budget``, whatever the records: each gradient is clipped at C, a record that cannot have one is
    void (`bounds.given`), and each number that the diagnostics add is bounded by itself. The noise is larger by 1 +
    `privacy.sums.slack` (n, d), and in the diagnostics by 1 + 2 slack, which pays for the rounding of the sums.

    Args:
        x: features, shape (n, d) with the n and d of the plan. y: responses, shape (n,). Numbers of any type.
        plan: fixed before the data. rng: of the noise.

    Raises:
        ValueError: if shapes disagree with each other or with the plan, or an array is not of numbers.
    """
    told = prepare(x, y)
    n, d = told.shape
    if (n, d) != plan.shape:
        raise ValueError(f"x must have shape {plan.shape}, which the plan was made for, got {(n, d)}")
    std = GaussianMechanism(2 * plan.clip_norm * (1 + sums.slack(n, d)), plan.noise_multiplier).noise_std
    iterates, clips = np.zeros((plan.steps + 1, d)), np.array([plan.clip_norm])
    for t in range(plan.steps):
        with np.errstate(over="ignore", invalid="ignore"):
            pull = told.pulls(iterates[t][:, None], clips)[:, 0] + std * rng.standard_normal(d)
            iterates[t + 1] = within_reach(iterates[t] - plan.learning_rate / n * pull)
    found = Trajectory(iterates, None)
    return Trajectory(iterates, _diagnose(told, found.mean(plan), plan, rng)) if plan.share else found


def _diagnose(told: Prepared, theta: np.ndarray, plan: Plan, rng: np.random.Generator) -> Diagnostics:
    """`Diagnostics` at a released θ.

    A record's (min(r²/R², 1), `WEIGHT`·[clipped]) is at least 0 and at most (1, ½), so two of them are at most √5/2
    apart. An infinite residual is cut to R.
    """
    n, bound = len(told.rows), plan.residual_bound
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        residual = np.abs(told.rows @ theta - told.responses)
        cut = residual * told.norm > plan.clip_norm
        parts = np.column_stack([np.minimum(residual / bound, 1.0) ** 2, WEIGHT * cut])
    mechanism = GaussianMechanism(
        math.hypot(1.0, WEIGHT) * (1 + 2 * sums.slack(n, 2)), 1 / (math.sqrt(plan.share) * plan.budget.mu)
    )
    noise = mechanism.noise_std / n
    square, clipped = sums.product(parts, np.ones(n)) / n + noise * rng.standard_normal(2)
    return Diagnostics(float(clipped / WEIGHT), noise / WEIGHT, float(square * bound**2), noise * bound**2)
