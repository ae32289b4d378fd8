r"""Intervals for regression coefficients from the iterates that `checkpoint_descent` has released, at no further cost.

**What an interval is for.** ``of="empirical"``: θ_OLS, least squares on the very records. ``of="population"``: the
coefficients θ* of the model y = xᵀθ* + r, with r independent of x and of mean 0. With θ_C for Huber's estimate, the
root of the sum of clipped gradients, a coordinate's error has three independent parts:

======================  =======================================================  ===============  ==============
part                    variance of coordinate j                                 empirical        population
======================  =======================================================  ===============  ==============
privacy, θ̄ − θ_C        `iterate_means.cosines`; ν²(H̃⁻²)_jj/T if it is linear    1                1
clipping, θ_C − θ_OLS   fσ²(H⁻¹)_jj/n, f from `gaussian_clipping`                `TAILS`          1
sampling, θ_OLS − θ*    σ²(H⁻¹)_jj/n                                             0                1
======================  =======================================================  ===============  ==============

H̃ = mH is the curvature that the clipped descent sees. An interval adds the variances, times the numbers on the right.

**What has to be known for them.** The first part needs nothing but a public lower bound on the eigenvalues of H̃.
*(H⁻¹)_jj* comes from the iterates too. Their stationary variance in an eigendirection is Γ = ην²/(λ(2 − ηλ)), which
gives λ, as ν is known. Inverted for a coordinate, which mixes eigendirections, it gives at least (H̃⁻¹)_jj, because 1/λ
is a concave function of Γ. *σ²* is the one thing that the iterates do not show. It is read off the diagnostics, the
private mean of min(r², R²), by the law of Gaussian residuals. Without diagnostics it is the plan's ``label_noise``.
Residuals whose variance depends on x would need a sandwich, and so a private release of the matrix Σ r²xxᵀ. It is not
offered; where the variance grows with ‖x‖, intervals are somewhat too narrow.

**Assumes**, for the coverage alone: the plan's ``spectrum`` is right about its least eigenvalue; n is large against d;
residuals are independent of x, and for ``of="empirical"`` their tails are not much heavier than Gaussian ones. The
population's intervals hardly depend on that, because θ_C estimates θ* whatever the law of r. The empirical ones do,
because θ_C and θ_OLS then differ by what no private statistic shows. None of it touches the guarantee.

**Refused**, with NaN ends and a reason, where what was released contradicts an assumption, at a level of about one in a
thousand:

* the iterates span too few relaxation times;
* they fluctuate more slowly than the plan's least eigenvalue allows, so their mean is less certain than it looks;
* they alternate, so the learning rate is too large for the largest eigenvalue;
* the residuals are too large for the bound R;
* for ``of="empirical"``, more gradients are clipped than Gaussian residuals of the measured size would have clipped.

The last comparison has little power where nμ is small. Heavy tails then go unseen, and empirical intervals are too
narrow for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtri, stdtrit

from costofprivacy import _validate
from costofprivacy.rivals import gaussian_clipping, iterate_means
from costofprivacy.rivals.checkpoint_descent import Diagnostics, Trajectory
from costofprivacy.rivals.checkpoint_plan import OF, TAILS, Plan

LEAST_RELAXATIONS = 5.0  # that the iterates after the burn-in have to span
ALARM = 1e-3  # probability of a refusal where there is nothing to refuse, about
_FULL = 0.7  # of R², which a mean of min(r², R²) may reach
_ALTERNATION = 0.3  # of neighbouring iterates' correlation, below 0
_MORE = 0.2  # by which the share of clipped gradients may exceed its law, over that share
_SPREADS = 3.09  # standard deviations of noise in that comparison: one in a thousand


@dataclass(frozen=True, eq=False)
class Intervals:
    """An interval for each coordinate.

    Args:
        center: the estimate, shape (d,). low, high: the ends, shape (d,); NaN where there is no valid interval.
        reason: why there is none; empty where there is one.
    """

    center: np.ndarray
    low: np.ndarray
    high: np.ndarray
    reason: str = ""


def intervals(trajectory: Trajectory, plan: Plan, level: float = 0.9, of: str = "population") -> Intervals:
    """An interval for each coefficient: the module's sum of variances, with the t law of its degrees of freedom.

    Guarantee: the trajectory is released, so this is post-processing, and costs nothing.

    Args:
        trajectory: what `checkpoint_descent.release` returned for ``plan``.
        level: the probability in (0, 1) with which an interval should contain the coefficient.
        of: "empirical" or "population".

    Raises:
        ValueError: if an argument is outside its range.

    >>> from costofprivacy.privacy import GaussianDP
    >>> from costofprivacy.rivals import checkpoint_descent, checkpoint_plan
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((2000, 2))
    >>> y = x @ [1.0, -0.5] + rng.standard_normal(2000)
    >>> plan = checkpoint_plan.plan(2000, 2, GaussianDP(1.0), label_noise=1.0)
    >>> found = intervals(checkpoint_descent.release(x, y, plan, rng=rng), plan)
    >>> print(found.low.round(2), found.high.round(2))
    [ 0.97 -0.54] [ 1.04 -0.45]
    """
    level = _validate.probability("level", level)
    _validate.one_of("of", of, OF)
    _validate.shape("trajectory.iterates", trajectory.iterates, (plan.steps + 1, plan.shape[1]))
    center, reason = trajectory.mean(plan), refusal(trajectory, plan, of)
    if reason:
        nothing = np.full(len(center), np.nan)
        return Intervals(center, nothing, nothing, reason)
    seen = measured(trajectory, plan)
    mean = iterate_means.cosines(trajectory.stationary(plan), seen.decay)
    further = further_variance(trajectory, plan, of)
    variance = mean.std**2 + further
    apart = mean.std**4 / mean.freedom + further**2 / seen.relaxations
    freedom = variance**2 / apart  # after Welch and Satterthwaite
    half = stdtrit(freedom, (1 + level) / 2) * np.sqrt(variance)
    return Intervals(center, center - half, center + half)


def population(trajectory: Trajectory, plan: Plan, level: float = 0.9) -> Intervals:
    """Intervals for the coefficients of the population: `intervals` with that ``of``. Args, Raises: as there."""
    return intervals(trajectory, plan, level, "population")


def further_variance(trajectory: Trajectory, plan: Plan, of: str) -> np.ndarray:
    """The variance that clipping and, for the population, sampling add to that of the mean, shape (d,).

    Args: as in `intervals`.
    """
    seen = measured(trajectory, plan)
    n, d = plan.shape
    cut = gaussian_clipping.smoothed(plan.clip_norm, seen.knowledge.label_noise, seen.spread, seen.knowledge.norms)
    share = TAILS * cut if of == "empirical" else 1 + cut
    variance = share * seen.knowledge.label_noise**2 * seen.kept * inverse_curvature(trajectory, seen) / (n - d)
    return np.asarray(variance)


def inverse_curvature(trajectory: Trajectory, plan: Plan) -> np.ndarray:
    """An estimate of (H̃⁻¹)_jj from the stationary variance of the iterates, shape (d,).

    To the variance around their mean that of the mean is added. Where that is below the least one, η²ν², at which
    ηλ = 1, it is taken for it.

    Args: as in `intervals`.
    """
    stationary, noise = trajectory.stationary(plan), plan.gradient_noise
    variance = stationary.var(axis=0) + iterate_means.cosines(stationary, plan.decay).std ** 2
    least = (plan.learning_rate * noise) ** 2
    return np.asarray(plan.learning_rate / (1 - np.sqrt(1 - np.minimum(least / np.maximum(variance, least), 1.0))))


def residual_std(diagnostics: Diagnostics, plan: Plan) -> float:
    """σ of Gaussian residuals whose mean of min(r², R²) is the measured one; between R/50 and 2R.

    Args: as in `intervals`.
    """
    low, high = plan.residual_bound / 50, plan.residual_bound * 2

    def beyond(std: float) -> float:
        return float(gaussian_clipping.clipped_square(plan.residual_bound, std)) - diagnostics.square

    if beyond(low) >= 0 or beyond(high) <= 0:
        return low if beyond(low) >= 0 else high
    return float(brentq(beyond, low, high))


def measured(trajectory: Trajectory, plan: Plan) -> Plan:
    """The plan with the σ that was measured, where it was, for the size that it expected of the residuals."""
    if trajectory.diagnostics is None:
        return plan
    std = residual_std(trajectory.diagnostics, plan)
    return replace(plan, knowledge=replace(plan.knowledge, label_noise=std))


def refusal(trajectory: Trajectory, plan: Plan, of: str) -> str:
    """Why there is no valid interval; empty where there is one. Args: as in `intervals`."""
    seen = measured(trajectory, plan)
    stationary = trajectory.stationary(plan)
    if seen.relaxations < LEAST_RELAXATIONS or len(stationary) < 2 * iterate_means.LEAST:
        return (
            f"too few effective draws: {len(stationary)} iterates after the burn-in span {seen.relaxations:.1f} "
            f"relaxation times, at least {LEAST_RELAXATIONS:g} are needed"
        )
    told = trajectory.diagnostics
    if told is not None and told.square > _FULL * plan.residual_bound**2:
        return f"the residuals are too large for their bound of {plan.residual_bound:.3g}"
    reason = _of_the_walk(stationary, seen)
    if reason or told is None or of == "population":
        return reason
    return _of_the_clipping(told, plan, seen)


def _of_the_walk(stationary: np.ndarray, seen: Plan) -> str:
    """A reason in the iterates themselves."""
    mean, d = iterate_means.cosines(stationary, seen.decay), stationary.shape[1]
    most = seen.gradient_noise**2 / seen.slowest**2 / len(stationary)
    if (mean.std**2 * mean.freedom > most * chdtri(mean.freedom, ALARM / d)).any():
        return "the iterates fluctuate more slowly than the least eigenvalue of the plan allows"
    moved = stationary - mean.center
    correlation = (moved[1:] * moved[:-1]).sum(axis=0) / (moved**2).sum(axis=0)
    if correlation.min() < -_ALTERNATION - _SPREADS / math.sqrt(len(moved)):
        return "the iterates alternate: the learning rate is too large for the largest eigenvalue"
    return ""


def _of_the_clipping(told: Diagnostics, plan: Plan, seen: Plan) -> str:
    """A reason in the share of clipped gradients."""
    law = gaussian_clipping.clipped_share(plan.clip_norm, seen.knowledge.label_noise, seen.knowledge.norms)
    noise = _SPREADS * math.sqrt(told.clipped_std**2 + law / plan.knowledge.n)
    if told.clipped > (1 + _MORE) * law + noise:
        return f"clipping is active: {told.clipped:.1%} of the gradients, {law:.1%} for Gaussian residuals"
    return ""
