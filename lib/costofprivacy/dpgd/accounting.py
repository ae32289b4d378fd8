"""What DP-GD claims and spends, in the type that every mechanism of this project speaks."""

import numpy as np

from costofprivacy.dpgd.schedule import privacy_parameter
from costofprivacy.privacy import ApproximateDP, GaussianDP, PrivacyProfile, ZeroConcentratedDP
from costofprivacy.privacy.amplification import nonnegative_array


def last_iterate(learning_rates: np.ndarray, noise_multipliers: np.ndarray) -> GaussianDP:
    """What releasing θ_n spends: ρ-Gaussian DP with ρ of (4.1) of arXiv:2505.16329v2.

    Proposition 4.1 claims the ρ²/2-zCDP that follows from it; the proof stands in
    `costofprivacy.privacy.amplification`.

    Args:
        learning_rates: η_k ≥ 0, one of them positive, shape (n,). noise_multipliers: σ_k ≥ 0, shape (n,).

    Raises:
        ValueError: if a value is negative or not finite, the lengths differ, or all learning rates are 0.
    """
    return GaussianDP(privacy_parameter(learning_rates, noise_multipliers))


def every_iterate(learning_rates: np.ndarray, noise_multipliers: np.ndarray) -> GaussianDP:
    """What releasing every iterate would spend: max_k η_k/σ_k.

    Given the iterate before, step k is a Gaussian mechanism on record k, and no other step reads that record; so
    nothing composes, and nothing is amplified either. Without noise in a step that moves it is ∞.

    Args:
        learning_rates: η_k ≥ 0, one of them positive, shape (n,). noise_multipliers: σ_k ≥ 0, shape (n,).

    Raises:
        ValueError: if a value is negative or not finite, the lengths differ, or all learning rates are 0.
    """
    rates = nonnegative_array("learning_rates", learning_rates)
    sigma = nonnegative_array("noise_multipliers", noise_multipliers)
    if rates.shape != sigma.shape:
        raise ValueError(f"noise_multipliers must have shape {rates.shape} like learning_rates, got {sigma.shape}")
    used = rates > 0
    if not used.any():
        raise ValueError(f"learning_rates must have a positive entry, got {rates.size} of 0")
    with np.errstate(divide="ignore"):
        return GaussianDP(float((rates[used] / sigma[used]).max()))


def profile(learning_rates: np.ndarray, noise_multipliers: np.ndarray, delta: float) -> PrivacyProfile:
    """What DP-GD claims at ``delta`` by Proposition A.3 of arXiv:2505.16329v2, and what it spends.

    Args:
        learning_rates: η_k ≥ 0, one of them positive, shape (n,). noise_multipliers: σ_k ≥ 0, shape (n,).
        delta: δ in (0, 1).

    Raises:
        ValueError: if ``delta`` is outside its range, or as `last_iterate` and `every_iterate`.

    >>> told = profile(np.array([5.0, 4.0]), np.array([3.0, 4.0]), delta=1e-5)
    >>> told.epsilons().round(3).to_list()
    [5.299, 8.004, 4.377]
    """
    last = last_iterate(learning_rates, noise_multipliers)
    claimed = ApproximateDP(ZeroConcentratedDP(last.mu**2 / 2).epsilon(delta), delta)
    return PrivacyProfile(claimed, every_iterate(learning_rates, noise_multipliers), last, "replace one record")
