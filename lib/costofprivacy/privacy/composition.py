r"""Composition of T Gaussian steps: as NoisyHead counts it, exactly, and for the last iterate alone.

Write Δ for the ℓ₂-sensitivity of one step and s for the standard deviation of its noise, μ₁ = Δ/s.

* *Basic composition*: T steps, each (ε/T, δ/T)-DP, are (ε, δ)-DP. NoisyHead adds it to the classical
  calibration, s/Δ = √(2 ln(1.25 T/δ))·T/ε (Algorithm 1 and Theorem 3.2 of arXiv:2504.16000v2).
* *Exact composition*: T adaptive Gaussian steps are √T μ₁-GDP, with equality in the worst case (arXiv:1905.02383,
  Corollary 3.3). It covers the release of every iterate.
* *Last iterate*: see `last_iterate`.
"""

from __future__ import annotations

import math

from costofprivacy import _validate
from costofprivacy.privacy.budgets import ApproximateDP, GaussianDP
from costofprivacy.privacy.mechanisms import classical_noise_multiplier, exact_noise_multiplier


def basic_noise_multiplier(budget: ApproximateDP, steps: int) -> float:
    """Noise multiplier of each of ``steps`` steps by the classical calibration at (ε/T, δ/T).

    Guarantee: (ε, δ)-DP for ε ≤ T.

    >>> round(basic_noise_multiplier(ApproximateDP(1.0, 1e-5), 44), 1)
    245.1
    """
    T = _validate.whole("steps", steps)
    return classical_noise_multiplier(ApproximateDP(budget.epsilon / T, budget.delta / T))


def exact_composed_noise_multiplier(budget: ApproximateDP, steps: int) -> float:
    """Smallest noise multiplier of each of ``steps`` steps such that all iterates together are (ε, δ)-DP.

    >>> round(exact_composed_noise_multiplier(ApproximateDP(1.0, 1e-5), 44), 2)
    24.75
    """
    return math.sqrt(_validate.whole("steps", steps)) * exact_noise_multiplier(budget)


def every_iterate(step: GaussianDP, steps: int) -> GaussianDP:
    """What ``steps`` adaptive Gaussian steps of ``step`` each spend together: √T μ₁."""
    return GaussianDP(math.sqrt(_validate.whole("steps", steps)) * step.mu)


def last_iterate(step: GaussianDP, contraction: float, steps: int) -> GaussianDP:
    r"""What the last of ``steps`` iterates spends when each step contracts by ``contraction``.

    .. math:: \mu = \mu_1 \sqrt{\frac{1-c^T}{1+c^T}\cdot\frac{1+c}{1-c}},

    for X_{t+1} = Π(φ_t(X_t) + N(0, s² I)) and its neighbour with φ'_t: the theorem of Bok, Su and Altschuler
    (2024), arXiv:2403.00278, on strongly convex noisy gradient descent.

    Assumes: every φ_t and φ'_t is c-Lipschitz on the set that Π projects on (convex), sup ‖φ_t − φ'_t‖ ≤ Δ there,
    and both runs start at the same point. Tight: the affine maps φ(x) = cx and φ'(x) = cx + Δ attain it, since then
    the last iterates are Gaussians with one covariance, Σ c^{2t} s², and means Σ c^t Δ apart.

    Args:
        step: μ₁ = Δ/s of one step.
        contraction: c in [0, 1]; c = 1 gives `every_iterate`, c = 0 one step.
        steps: T ≥ 1.
    """
    T = _validate.whole("steps", steps)
    c = _validate.between("contraction", contraction, 0.0, 1.0)
    if c == 1.0:
        return every_iterate(step, T)
    lost = -math.expm1(T * math.log(c)) if c > 0 else 1.0
    return GaussianDP(step.mu * math.sqrt(lost / (2 - lost) * (1 + c) / (1 - c)))
