r"""The Gaussian mechanism, calibrated classically and exactly.

A *noise multiplier* is std / ℓ₂-sensitivity. Sensitivities name their neighbouring relation: throughout this
project two data sets are neighbours if one prompt (or record) is replaced by another.

**Composition of T Gaussian steps: as NoisyHead counts it, exactly, and for the last iterate alone.**

Write Δ for the ℓ₂-sensitivity of one step and s for the standard deviation of its noise, μ₁ = Δ/s.

* *Basic composition*: T steps, each (ε/T, δ/T)-DP, are (ε, δ)-DP. NoisyHead adds it to the classical
  calibration, s/Δ = √(2 ln(1.25 T/δ))·T/ε (Algorithm 1 and Theorem 3.2 of arXiv:2504.16000v2).
* *Exact composition*: T adaptive Gaussian steps are √T μ₁-GDP, with equality in the worst case (arXiv:1905.02383,
  Corollary 3.3). It covers the release of every iterate.
* *Last iterate*: see `last_iterate`.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import records, secure
from costofprivacy.privacy.budgets import ApproximateDP, GaussianDP

_LEAST_STD, _MOST_STD = records.NEAR**2, records.FAR**2  # within doubles, with room for sums of such noise


def classical_noise_multiplier(budget: ApproximateDP) -> float:
    r"""√(2 ln(1.25/δ))/ε, Theorem A.1 of Dwork and Roth (2014).

    Guarantee: (ε, δ)-DP for ε ≤ 1. For larger ε the formula is no longer a bound (arXiv:1805.06530,
    section 2.3); this function computes it all the same, since a chapter asks just where it breaks.

    >>> round(classical_noise_multiplier(ApproximateDP(1.0, 1e-5)), 4)
    4.8448
    """
    return math.sqrt(2 * math.log(1.25 / budget.delta)) / budget.epsilon


def exact_noise_multiplier(budget: ApproximateDP) -> float:
    """The smallest noise multiplier that is (ε, δ)-DP, from dp-accounting; 0 for ε = ∞.

    >>> round(exact_noise_multiplier(ApproximateDP(1.0, 1e-5)), 4)
    3.7306
    """
    return 1 / budget.to_gaussian().mu


def gaussian_std(sensitivity: float, budget: GaussianDP) -> float:
    """Δ/μ, the standard deviation of the noise with which a value of that sensitivity is μ-Gaussian DP.

    Args:
        sensitivity: Δ in (0, ∞). budget: μ in (0, ∞).

    Raises:
        ValueError: if a number is outside its range, or the noise is not between 10⁻³⁰⁰ and 10³⁰⁰: nearer to the ends
            of the doubles it would be 0, or infinite, or have few digits.

    >>> gaussian_std(2.0, GaussianDP(0.5))
    4.0
    """
    sensitivity = _validate.finite_positive("sensitivity", sensitivity)
    _validate.finite_positive("mu", budget.mu)
    with np.errstate(over="ignore"):
        std = float(np.divide(sensitivity, budget.mu))
    return _validate.between("sensitivity / mu", std, _LEAST_STD, _MOST_STD)


@dataclass(frozen=True)
class GaussianMechanism:
    """Release ``value + N(0, (noise_multiplier · sensitivity)² I)``.

    Guarantee: (1/noise_multiplier)-GDP for every pair of neighbours whose values differ by at most
    ``sensitivity`` in ℓ₂ norm. The value must have been bounded record by record (`costofprivacy.privacy.records`);
    `release` refuses one that no neighbour can be near to in doubles.

    Args:
        sensitivity: ℓ₂-sensitivity in (0, ∞), in the units of the value.
        noise_multiplier: std / sensitivity in (0, ∞).

    Raises:
        ValueError: if an argument is outside its range, or the standard deviation is not between 10⁻³⁰⁰ and 10³⁰⁰.
    """

    sensitivity: float
    noise_multiplier: float

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.FINITE_POSITIVE, "sensitivity", "noise_multiplier")
        _validate.between("sensitivity · noise_multiplier", self.noise_std, _LEAST_STD, _MOST_STD)

    @property
    def noise_std(self) -> float:
        """Standard deviation of the noise, in the units of the value."""
        return self.sensitivity * self.noise_multiplier

    @property
    def guarantee(self) -> GaussianDP:
        """What one release spends."""
        return GaussianDP(1 / self.noise_multiplier)

    @np.errstate(all="ignore")
    def release(self, value: np.ndarray, *, rng: np.random.Generator) -> np.ndarray:
        """One noisy copy of ``value`` (any shape, numbers of any type; `records.doubles`).

        Raises:
            ValueError: if the value is not an array of numbers. If a number is not finite, or so large that doubles
                around it are farther apart than the noise is wide: it would come out as it went in. Both are outside
                the guarantee, and so is this refusal.
        """
        value = records.doubles("value", value)
        largest = float(np.max(np.abs(value), initial=0.0))
        if not np.spacing(largest) <= self.noise_std:
            raise ValueError(
                f"value must be finite and below {self.noise_std / np.finfo(float).eps:.3g} "
                f"for noise of standard deviation {self.noise_std:.3g}: bound each record before"
            )
        return noisy(value, self.noise_std, 1 / self.noise_multiplier, rng=rng)


def noisy(value: Any, std: Any, mu: float, *, rng: np.random.Generator) -> np.ndarray:
    """``value`` + N(0, diag(s_j²)): the one place where the estimators of tables add noise to what they release.

    Guarantee: μ-Gaussian DP if neighbouring values have Σ(v_j − v'_j)²/s_j² ≤ μ²: for noise of real numbers, or as the
    computer draws it if ``rng`` is a `secure.Sampler`.

    Args:
        value: v, any shape. std: s_j > 0, of a shape that is broadcast to it. mu: μ in (0, ∞). rng: of the noise.
    """
    if isinstance(rng, secure.Sampler):
        return rng.noisy(value, std, mu)
    return np.asarray(value + std * rng.standard_normal(np.shape(value)))


def noisy_symmetric(value: np.ndarray, std: float, mu: float, *, rng: np.random.Generator) -> np.ndarray:
    """A symmetric matrix with isotropic noise in the space of those: variance s² on the diagonal and s²/2 beside it.

    Guarantee: that of `noisy`, if neighbouring matrices are sμ apart at most in Frobenius norm.

    Args:
        value: shape (d, d). std: s > 0. mu: μ in (0, ∞). rng: of the noise.
    """
    if isinstance(rng, secure.Sampler):
        upper = np.triu_indices(len(value))
        found = np.empty_like(value)
        found[upper] = rng.noisy(value[upper], np.where(upper[0] == upper[1], std, std * math.sqrt(0.5)), mu)
        found.T[upper] = found[upper]
        return found
    noise = rng.standard_normal(value.shape)
    return value + (noise + noise.T) * (std / 2)


def chosen(weights: np.ndarray, *, rng: np.random.Generator) -> int:
    """An index k with probability ∝ e^{w_k}: the exponential mechanism.

    Args:
        weights: w, shape (K,). rng: of the draw.
    """
    if isinstance(rng, secure.Sampler):
        return rng.chosen(weights)
    return int(np.argmax(weights + rng.gumbel(size=len(weights))))


# ---- Composition ----


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
