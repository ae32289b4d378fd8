r"""One private step over all records at once: what a pilot gains when it is followed by a single average.

Given any θ_0, the mean of n clipped gradients at θ_0 is −μΣ(θ* − θ_0) plus noise, where μ is the descent reduction
factor. For Σ = I one step of length 1/μ,

    θ_1 = θ_0 − (1/μ){(1/n) Σ_k ḡ_k + (2C/(nρ)) b},      C = c√d,  b ~ N(0, I),

has no bias left from θ_0. Two data sets that differ in one record have means within 2C/n, so the step is ρ-Gaussian DP,
hence ρ²/2-zCDP. If θ_0 was released under the same ρ from other records, so is the pair: each record is used once.

The risk, as d → ∞ at γ = d/n, is γ𝒫ν/μ² + 2c²γ²/(ρ²μ²) with 𝒫 = R(θ_0) + ζ²/2: a clipped gradient has the mean square
2𝒫ν·d, and the noise has the size 2C/(nρμ) in each of d coordinates.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

from costofprivacy import _validate
from costofprivacy.dpgd.clipping import descent_reduction, variance_reduction
from costofprivacy.dpgd.schedule import LARGEST, SMALLEST, check_rho
from costofprivacy.dpgd.update import clipped_gradients
from costofprivacy.privacy import sums
from costofprivacy.privacy.records import numbers

_LOWEST = 1e-3  # c over the residual's standard deviation: below it nothing changes
_HIGHEST = 20.0


def averaged_risk(pilot_risk: float, aspect_ratio: float, label_noise: float, clip: float, rho: float) -> float:
    """The risk after one averaged private step, γ𝒫ν/μ² + 2c²γ²/(ρ²μ²), for Σ = I as d → ∞.

    Args:
        pilot_risk: R(θ_0) ≥ 0. aspect_ratio: γ = d/n of the records of this step. label_noise: ζ > 0.
        clip: c in (0, ∞). rho: ρ in (0, ∞].

    Raises:
        ValueError: if ``clip`` or ``rho`` is not positive.
    """
    clip = _validate.finite_positive("clip", clip)
    rho = _validate.positive("rho", rho)
    test_risk = pilot_risk + label_noise**2 / 2
    mu, nu = float(descent_reduction(clip, test_risk)), float(variance_reduction(clip, test_risk))
    return aspect_ratio * (test_risk * nu + 2 * aspect_ratio * (clip / rho) ** 2) / mu**2


def best_averaged_risk(pilot_risk: float, aspect_ratio: float, label_noise: float, rho: float) -> tuple[float, float]:
    """The least `averaged_risk` over c, and that c.

    Args:
        pilot_risk: R(θ_0) ≥ 0. aspect_ratio: γ of the records of this step. label_noise: ζ > 0. rho: ρ in (0, ∞].
    """
    scale = math.sqrt(2 * pilot_risk + label_noise**2)

    def risk(log: float) -> float:
        return averaged_risk(pilot_risk, aspect_ratio, label_noise, scale * math.exp(log), rho)

    found = minimize_scalar(risk, bounds=(math.log(_LOWEST), math.log(_HIGHEST)), method="bounded")
    return float(found.fun), scale * math.exp(float(found.x))


@np.errstate(all="ignore")
def averaged_step(
    theta: np.ndarray, x: np.ndarray, y: np.ndarray, clip: float, rho: float, mu: float, *, rng: np.random.Generator
) -> np.ndarray:
    """θ_1 of the module's docstring, shape (d,): one private average of clipped gradients.

    Guarantee: ρ-Gaussian DP for replacing one record by any other, for any finite θ_0 made without these records; one
    that is not `privacy.records.usable` has the gradient 0. Gradients are added in pairs, and the noise is larger than
    above by the factor 1 + `privacy.sums.slack` (n, d), which pays for their rounding.

    Args:
        theta: θ_0, shape (d,), made without these records. x: shape (n, d), n ≥ 1. y: shape (n,).
        clip: c in [`schedule.SMALLEST`, `schedule.LARGEST`]. rho: ρ as in `descent.Configuration`.
        mu: the factor μ in (0, 1] that the step makes up for.
        rng: source of the private noise.

    Raises:
        ValueError: if there is no record, shapes disagree, θ_0 is not finite, or a number is outside its range.
    """
    x = numbers("x", x, (None, None))
    n, d = x.shape
    _validate.whole("the number of records", n)
    y, theta = numbers("y", y, (n,)), numbers("theta", theta, (d,))
    mu = _validate.SHARE("mu", mu)
    if not np.isfinite(theta).all():
        raise ValueError("theta must be finite, got NaN or infinities")
    clip = _validate.between("clip", _validate.finite_positive("clip", clip), SMALLEST, LARGEST)
    bound = clip * math.sqrt(d)
    gradients = clipped_gradients(theta, x, y, bound)
    mean = sums.pairwise(lambda rows: gradients[rows].sum(axis=0), n) / n
    noise = 2 * bound / (n * check_rho(rho)) * (1 + sums.slack(n, d)) * rng.standard_normal(d)
    return theta - (mean + noise) / mu
