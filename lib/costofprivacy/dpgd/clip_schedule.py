r"""A clipping constant that changes in time: what a release costs then, and the risk.

**The noise.** Let step k clip at C_k and take the length η_k. Replacing its record moves the step by at most 2η_kC_k,
each step is nonexpansive for any C_k, and so the theorem of `privacy.amplification` asks of the noises s_j only

.. math:: \frac{2\eta_k C_k}{\rho} \le \sqrt{s_k^2 + \dots + s_n^2} \qquad\text{for all } k .

That is (4.1) of arXiv:2505.16329v2 with η_kC_k in the place of η_k: the least noise is (4.2) for the *product* where
that does not increase, and (4.2) for its least non-increasing majorant otherwise. Neither factor has to fall. In
continuous time, with w(t) = η̃(t)c(t), the private noise of (4.11) is −2(γ²/ρ²) dw²/dt, and the last step adds
2γ²w(1)²/ρ².

This holds for clips that are known beforehand: functions of k, n, d, ζ, ρ and a guess of R(0), such as the
deterministic equivalent gives. **A clip that follows the data** has to be released. Disjoint records compose in
parallel, so a scalar taken from records held out costs those records a level ρ' and no more. But it is taken at an
iterate, which the records before have moved by up to 2ηC: they pay too, for K releases at most ρ² + Kρ'² in all. The
residuals' scale on a held-out batch moves by at most 2η̃cγ when one earlier record is replaced, so its noise is
2wγ/ρ': next to √R, which is at least of the order wγ/ρ on the best schedule, a constant factor where ρ' ≍ ρ. With the
clip halved ln₂(1/ζ) times, K = ln₂(1/ζ) such releases at ρ'² = ρ²/K suffice for the scale up to a factor √K.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

from costofprivacy.dpgd.clipping import descent_reduction_at, variance_reduction_at
from costofprivacy.dpgd.control import Drift
from costofprivacy.dpgd.schedule import check_rho
from costofprivacy.dpgd.system import noise_scale
from costofprivacy.privacy.amplification import nonnegative_array, spent_by_record

SMALLEST, LARGEST = 1e-100, 1e100  # of η_kC_k and of noise: their squares stay within doubles


def noise_stds(learning_rates: np.ndarray, clip_norms: np.ndarray, rho: float) -> np.ndarray:
    """Standard deviations of each step's private noise in a coordinate, the least for these steps and this ρ.

    Guarantee: `privacy_parameter` of the result is at most ρ, with equality where η_kC_k does not increase.

    Args:
        learning_rates: η_k ≥ 0, shape (n,). clip_norms: C_k ≥ 0, known beforehand, shape (n,).
        rho: ρ as in `descent.Configuration`.

    Raises:
        ValueError: if ``rho`` is outside its range, a value is negative or not finite, or a product η_kC_k of positive
            numbers is not in [`SMALLEST`, `LARGEST`].

    >>> print(noise_stds(np.array([1.0, 2.0, 2.0]), np.array([5.0, 2.0, 0.0]), rho=2.0))
    [3. 4. 0.]
    """
    check_rho(rho)
    products = _products(learning_rates, clip_norms)
    squares = np.square(np.maximum.accumulate(products[::-1])[::-1])
    return 2 * np.sqrt(squares - np.append(squares[1:], 0.0)) / rho


def privacy_parameter(learning_rates: np.ndarray, clip_norms: np.ndarray, noise_stds: np.ndarray) -> float:
    """ρ of any schedules, max_k 2η_kC_k/√(s_k² + … + s_n²): the last iterate is ρ-Gaussian DP.

    Args:
        learning_rates: η_k ≥ 0. clip_norms: C_k ≥ 0, known beforehand. noise_stds: s_k ≥ 0; all of shape (n,).

    Raises:
        ValueError: if a value is negative or not a number, a product or a noise is so large or small that its square is
            no double, or the lengths differ.
    """
    sensitivities, noise = 2 * _products(learning_rates, clip_norms), nonnegative_array("noise_stds", noise_stds)
    if noise.max() > LARGEST**1.5:
        raise ValueError(f"noise_stds must be at most {LARGEST**1.5:g}, got {float(noise.max())}")
    return float(spent_by_record(sensitivities, noise).max())


def _products(learning_rates: np.ndarray, clip_norms: np.ndarray) -> np.ndarray:
    """η_kC_k, refused where its square is none of a double, or where it vanishes though neither factor does."""
    rates, clips = nonnegative_array("learning_rates", learning_rates), nonnegative_array("clip_norms", clip_norms)
    with np.errstate(over="ignore", under="ignore"):
        products: np.ndarray = rates * clips
    none = (rates == 0) | (clips == 0)
    wrong = ~(none | ((products >= SMALLEST) & (products <= LARGEST)))
    if wrong.any():
        raise ValueError(
            f"learning_rates times clip_norms must be 0 or between {SMALLEST:g} and {LARGEST:g}, "
            f"got {float(products[wrong][0])}"
        )
    return products


def released_risk(
    drift: Drift,
    product: Callable[[float], float],
    clip: Callable[[float, float], float],
    label_noise: float,
    rho: float,
) -> float:
    """The released risk for Σ = I with η̃(t) = w(t)/c(t), by LSODA in u = R + 2γ²w²/ρ²; an oracle, not fast.

    Args:
        drift: for γ and R(0). product: w(t), not increasing. label_noise: ζ. rho: ρ in (0, ∞].
        clip: c from t and R(t); the equation's own risk is a function of time, so c is one too.

    Raises:
        RuntimeError: if LSODA gives up.
    """
    gamma = drift.aspect_ratio
    noise = 2 * noise_scale(1.0, rho) * gamma**2

    def slope(time: float, u: np.ndarray) -> np.ndarray:
        w = float(product(time))
        risk = max(float(u[0]) - noise * w**2, 0.0)
        c = clip(time, risk)
        test_risk = risk + label_noise**2 / 2
        ratio, rate = c / math.sqrt(2 * test_risk), min(w / c, 2 / gamma)
        sampled = gamma * rate**2 * float(variance_reduction_at(ratio)) * test_risk
        return np.array([sampled - 2 * rate * float(descent_reduction_at(ratio)) * risk])

    start = np.array([drift.initial_risk + noise * float(product(0.0)) ** 2])
    found = solve_ivp(slope, (0.0, 1.0), start, method="LSODA", rtol=1e-8, atol=1e-8 * label_noise**2 * gamma)
    if not found.success:
        raise RuntimeError(f"LSODA stopped: {found.message}")
    return float(found.y[0, -1])
