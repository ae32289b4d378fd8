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
    and both runs start at the same point of it. Tight: the affine maps φ(x) = cx and φ'(x) = cx + Δ attain it, since
    then the last iterates are Gaussians with one covariance, Σ c^{2t} s², and means Σ c^t Δ apart.

    Proof. Let X, X' be the two runs, all with noise Z_t, and let Y_0 = X'_0,
    Y_{t+1} = Π(φ'_t(Y_t) + l_{t+1}(φ_t(X_t) − φ'_t(Y_t)) + Z_t) with l_t in [0, 1], l_T = 1: Y_T = X_T. X and Y share
    their noise and Π does not expand, so ‖X_t − Y_t‖ ≤ z_t with z_0 = 0, z_{t+1} = (1 − l_{t+1})(cz_t + Δ). Given
    Y_0, …, Y_t = x, Y_{t+1} is Π of Gaussians whose means, mixed over X_t, lie within a_{t+1} = l_{t+1}(cz_t + Δ) of
    φ'_t(x); X'_{t+1} given X'_0, …, X'_t = x is Π of the Gaussian at φ'_t(x). Mixing and Π only make the two harder
    to tell apart than N(0, 1) from N(a_{t+1}/s, 1), so by composition Y_T and X'_T are √(Σ a_t²)/s-GDP. The a_t are
    free but for z_{t+1} = cz_t + Δ − a_{t+1} ≥ 0 and z_T = 0, that is Σ c^{T−t}a_t = Σ c^{T−t}Δ; by Cauchy-Schwarz the
    least Σ a_t² is at a_t = Δc^{T−t} Σc^k / Σc^{2k} (sums over k < T), which gives μ. It is admissible for c > 0:
    c^{−t}z_t = Σ_{s≤t} c^{−s}(Δ − a_s) has terms that are first positive, then negative, and ends at 0, so z_t ≥ 0
    throughout, which is a_t ≤ cz_{t−1} + Δ, l_t ≤ 1. For c = 0 only the last step counts: a_T = Δ, the others 0. ∎

    Args:
        step: μ₁ = Δ/s of one step.
        contraction: c in [0, 1]; c = 1 gives `every_iterate`, c = 0 one step.
        steps: T ≥ 1.

    Raises:
        ValueError: if an argument is outside its range.
    """
    return GaussianDP(step.mu * _last_iterate_factor(contraction, steps))


def last_iterate_noise_multiplier(budget: ApproximateDP, contraction: float, steps: int) -> float:
    """Smallest noise multiplier of each of ``steps`` steps that makes the last iterate alone (ε, δ)-DP.

    Guarantee: the budget, under the assumptions of `last_iterate`; the iterates before it must stay secret.

    >>> budget = ApproximateDP(1.0, 1e-5)
    >>> round(last_iterate_noise_multiplier(budget, 0.9, 44) / exact_composed_noise_multiplier(budget, 44), 3)
    0.651

    Raises:
        ValueError: if an argument is outside its range.
    """
    return _last_iterate_factor(contraction, steps) * exact_noise_multiplier(budget)


def _last_iterate_factor(contraction: float, steps: int) -> float:
    """√((1 − c^T)/(1 + c^T) · (1 + c)/(1 − c)): √T at c = 1, 1 at c = 0."""
    T = _validate.whole("steps", steps)
    c = _validate.between("contraction", contraction, 0.0, 1.0)
    if c == 1.0:
        return math.sqrt(T)
    lost = -math.expm1(T * math.log(c)) if c > 0 else 1.0
    return math.sqrt(lost / (2 - lost) * (1 + c) / (1 - c))
