r"""The Gaussian mechanism, calibrated classically and exactly.

A *noise multiplier* is std / ℓ₂-sensitivity. Sensitivities name their neighbouring relation: throughout this
project two data sets are neighbours if one prompt (or record) is replaced by another.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import records
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


@functools.cache
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
        return value + self.noise_std * rng.standard_normal(np.shape(value))
