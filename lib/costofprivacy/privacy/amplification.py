r"""Privacy amplification by iteration: each record is used once, and only the last iterate is released.

The algorithm is θ_k = φ_k(θ_{k−1}) + N(0, s_k² I), where φ_k sees record k alone.

**Theorem.** If every φ_k is nonexpansive, whatever its record, and replacing record k moves φ_k's value by at most Δ_k,
then θ_n is μ-Gaussian DP with

.. math:: \mu = \max_k \frac{\Delta_k}{\sqrt{s_k^2 + \dots + s_n^2}}.

*Proof.* Let record k differ, and S = s_k² + … + s_n². Run θ on the first data set with noises s_j b_j, and θ' on the
second from the same start, choosing its noises so that the two meet at time n. Keep ‖θ'_j − θ_j‖ at most Δ_k (1 −
f_k − … − f_j) with f_j = s_j²/S: at step k the maps are at most Δ_k apart, later nonexpansiveness preserves the
distance, and a shift of the noise of θ' by u_j, at most Δ_k f_j long, towards θ_j takes the next share off. So θ'_n
= θ_n, and θ' is the algorithm on the second data set with the noises b'_j = b_j + u_j/s_j, where u_j depends on the
past alone. The two outputs are thus one function (the algorithm on the second data set) of b' and of independent
standard normals: they are no easier to tell apart than an adaptive sequence of Gaussians with shifts of at most Δ_k
f_j/s_j, which is μ-GDP with μ² = Σ_j Δ_k² f_j²/s_j² = Δ_k²/S (arXiv:1905.02383, Corollary 3.3). ∎

It implies the Rényi bound of Feldman, Mironov, Talwar and Thakurta (2018), arXiv:1808.06651, D_α ≤ α μ²/2, which is
μ²/2-zCDP. It is attained: let all later maps be the identity; then θ_n is a Gaussian of variance S, moved by Δ_k, if
nothing before step k adds noise.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from costofprivacy import _validate
from costofprivacy.privacy import records
from costofprivacy.privacy.budgets import GaussianDP


def nonnegative_array(name: str, values: ArrayLike) -> np.ndarray:
    """Return ``values`` as numbers if there is one and all are in [0, ∞).

    Raises:
        ValueError: otherwise; it names the first that is not.

    >>> print(nonnegative_array("noise_stds", [3, 4]))
    [3. 4.]
    """
    array = _validate.numbers(name, values)
    wrong = ~((array >= 0) & (array < math.inf))
    if array.size == 0 or wrong.any():
        first = float(array[wrong][0]) if array.size else "none"
        raise ValueError(f"{name} must be finite and non-negative, at least one, got {first}")
    return array


def remaining_noise(noise_stds: np.ndarray) -> np.ndarray:
    """Standard deviation of all the noise added from each step on, √(s_k² + … + s_n²).

    Args:
        noise_stds: s_k ≥ 0, shape (..., n).

    Returns:
        shape (..., n).
    """
    backwards = np.asarray(noise_stds, dtype=float)[..., ::-1]
    with np.errstate(over="ignore", under="ignore"):
        found = np.sqrt(np.cumsum(np.square(backwards), axis=-1))
    inside = (found >= records.NEAR) & (found <= records.FAR)  # beyond, squares are infinite or have few digits
    return (found if inside.all() else np.where(inside, found, np.hypot.accumulate(backwards, axis=-1)))[..., ::-1]


def spent_by_record(sensitivities: np.ndarray, noise_stds: np.ndarray) -> np.ndarray:
    """What the record of each step spends, μ_k = Δ_k/√(s_k² + … + s_n²), if only the last iterate is released.

    A step that moves nothing spends nothing, though no noise follow it: 0/0 is 0 here, the least μ with
    Δ_k² ≤ μ² (s_k² + … + s_n²). Without noise any other step spends ∞.

    Assumes: every step is nonexpansive for every record, and uses one record that no other step uses.

    Args:
        sensitivities: Δ_k ≥ 0, shape (..., n).
        noise_stds: s_k ≥ 0, standard deviation of the noise of each coordinate, shape (..., n).

    Returns:
        μ_k in [0, ∞], shape (..., n).

    Raises:
        ValueError: if a value is negative or not a number, or the two do not have the same number of steps.
    """
    moved, noise = nonnegative_array("sensitivities", sensitivities), nonnegative_array("noise_stds", noise_stds)
    if moved.shape[-1:] != noise.shape[-1:]:
        raise ValueError(f"noise_stds must have {moved.shape[-1]} steps like sensitivities, got {noise.shape[-1]}")
    hidden = remaining_noise(noise)
    with np.errstate(all="ignore"):
        return np.where(moved == 0, 0.0, moved / hidden)


def amplification_by_iteration(sensitivities: np.ndarray, noise_stds: np.ndarray) -> GaussianDP:
    """What the last iterate spends, max_k Δ_k/√(s_k² + … + s_n²); see this module's theorem.

    Neighbours: replace one record. Guarantee: μ-GDP, hence μ²/2-zCDP.

    Assumes: every step is nonexpansive for every record, and uses one record that no other step uses.

    Args:
        sensitivities: Δ_k ≥ 0, how far replacing its record can move step k; shape (n,), one of them positive.
        noise_stds: s_k ≥ 0, standard deviation of the noise of each coordinate; shape (n,).

    Raises:
        ValueError: if a value is negative or not a number, shapes disagree, or no step moves anything.

    >>> round(amplification_by_iteration(np.array([1.0, 1.0]), np.array([3.0, 4.0])).mu, 6)
    0.25
    """
    return GaussianDP(float(spent_by_record(sensitivities, noise_stds).max()))
