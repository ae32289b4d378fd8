r"""What no private algorithm can beat: the tracing attack and the bounds that rest on it, Appendix D.4.

The attack on record i is A_i(θ) = z_i x_i'(θ − θ*), (5.27) of arXiv:2505.16329v2. Everything here follows from two
sides of its mean, summed over the records. Let r be the risk of an algorithm M, averaged over a prior of θ*.

**From below.** z_i x_i/ζ² is the derivative of the log-likelihood of record i in θ*. So Σ E A_i = ζ² E ∇·g with
g(θ*) = E[M | θ*]. Integration by parts against a prior π that vanishes on the border of its support gives
E ∇·g = d − E[(g − θ*)·∇ log π], as −E[θ*·∇ log π] = d. By Cauchy and Schwarz, with κd² = E‖∇ log π‖²,

    Σ E A_i ≥ ζ²d {1 − √(κ E‖M − θ*‖²)} ≥ ζ²d {1 − √(2κr/λ_min)},                                      (D.140)

where κ = 10 for the paper's prior. It is at least π² for independent entries on that cube, and for the best prior on
the ball κ = 4j²/d² with j the first zero of the Bessel function J_{d/2 − 1}, which tends to 1.

**From above.** A ρ²/2-zCDP algorithm has E(L_i − 1)² ≤ e^{ρ²} − 1 for the likelihood ratio of its outputs with and
without record i, so by Cauchy and Schwarz

    Σ E A_i ≤ n √(e^{ρ²} − 1) √(2ζ²r).                                                          (D.144), (D.145)

**Together** they are linear in √r. Solved for it, with γ = d/n,

    r ≥ ½ {√(e^{ρ²} − 1)/(ζγ) + √(κ/λ_min)}⁻²:                                                       `privacy_bound`

ζ²γ²/2ρ² where γ ≪ ρ ≪ 1, and λ_min/2κ where ρ → 0.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import gammaln, jv
from scipy.stats import chi2

from costofprivacy import _validate

PRIOR_INFORMATION = 10.0  # κ of the paper's prior, (D.134)
CUBE_INFORMATION = math.pi**2  # the least κ of independent entries on its support: the prior is a squared cosine
BALL_INFORMATION = 1.0  # the limit of `ball_information` as d → ∞
PRIOR_NORM = 1 / 7  # E‖θ*‖² under the paper's prior
_AIRY = 2.338107410459767  # j > ν + _AIRY (ν/2)^(1/3), by less than 2: the first zero of a Bessel function J_ν

# ---------------------------------------------------------------------------------------------------------- the prior


def prior_density(entry: ArrayLike, d: int) -> np.ndarray:
    """Density of an entry of θ* under the paper's prior, (D.133) of arXiv:2505.16329v2.

    Args:
        entry: z, any shape. d: dimension, at least 1.

    Returns:
        (15 d^{5/2}/16)(1/d − z²)² on |z| < d^{−1/2}, 0 outside, of the shape of ``entry``.
    """
    room = 1 / _validate.whole("d", d) - np.asarray(entry, dtype=float) ** 2
    return 15 * d**2.5 / 16 * np.maximum(room, 0.0) ** 2


def prior_score(entry: ArrayLike, d: int) -> np.ndarray:
    """π'/π of the paper's prior, −4z/(1/d − z²), inside its support.

    Args:
        entry: z with |z| < d^{−1/2}, any shape. d: dimension, at least 1.
    """
    z = np.asarray(entry, dtype=float)
    return -4 * z / (1 / _validate.whole("d", d) - z**2)


def draw_prior(d: int, *, rng: np.random.Generator) -> np.ndarray:
    """One θ* from the paper's prior, shape (d,): (1 + √d z)/2 has the law Beta(3, 3).

    Guarantee: ‖θ*‖ < 1, and E‖θ*‖² = 1/7.

    Args:
        d: dimension, at least 1. rng: source of randomness.
    """
    return (2 * rng.beta(3, 3, _validate.whole("d", d)) - 1) / math.sqrt(d)


def ball_information(d: int) -> float:
    """κ of the prior on the unit ball with the least E‖∇ log π‖²: 4j²/d², j the first zero of J_{d/2 − 1}.

    For π = ψ² it is 4∫‖∇ψ‖², least for the ground state of the Laplacian that vanishes on the border.

    Args:
        d: dimension, at least 1.

    >>> print(round(ball_information(1), 4), round(ball_information(100), 3))
    9.8696 1.258
    """
    order = _validate.whole("d", d) / 2 - 1
    low = order + _AIRY * (order / 2) ** (1 / 3) if order > 0 else 1.0
    return 4 * brentq(lambda x: jv(order, x), low, low + 2, xtol=1e-12) ** 2 / d**2


# --------------------------------------------------------------------------------------------------------- the attack


def tracing_attack(x: np.ndarray, y: np.ndarray, target: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """The attack on each record, A_i(θ) = z_i x_i'(θ − θ*), (5.27) and (D.125) of arXiv:2505.16329v2.

    On records that θ knows nothing of its mean is 0 and its mean square 2ζ²R(θ), (D.145).

    Args:
        x: features, shape (n, d). y: responses, shape (n,). target: θ*, shape (d,). theta: shape (..., d).

    Returns:
        A_i, shape (..., n).

    Raises:
        ValueError: if the shapes do not fit.
    """
    _validate.shape("y", y, (len(x),))
    _validate.shape("target", target, (x.shape[1],))
    if theta.shape[-1:] != target.shape:
        raise ValueError(f"theta must have a last axis of length {len(target)}, got shape {theta.shape}")
    return (y - x @ target) * ((theta - target) @ x.T)


# ---------------------------------------------------------------------------------------------------- both its sides


def chi_square(rho: ArrayLike) -> np.ndarray:
    """The most that E(L − 1)² can be under ρ²/2-zCDP, e^{ρ²} − 1, (D.145) of arXiv:2505.16329v2; ∞ on overflow.

    Guarantee: attained by the Gaussian mechanism.

    Args:
        rho: ρ ≥ 0, any shape.
    """
    with np.errstate(over="ignore"):
        return np.expm1(np.square(np.asarray(rho, dtype=float)))


def least_score(
    squared_error: ArrayLike, d: int, label_noise: float, information: float = PRIOR_INFORMATION
) -> np.ndarray:
    """The least Σ E A_i of an algorithm of this squared error, ζ²d{1 − √(κ E‖M − θ*‖²)}, (D.140).

    Args:
        squared_error: E‖M − θ*‖² ≥ 0 under the prior, any shape. d: dimension. label_noise: ζ.
        information: κ of the prior.

    Returns:
        of the shape of ``squared_error``; below 0 it says nothing.
    """
    return label_noise**2 * d * (1 - np.sqrt(information * np.asarray(squared_error, dtype=float)))


def largest_score(risk: ArrayLike, n: int, label_noise: float, rho: float) -> np.ndarray:
    """The largest Σ E A_i of a ρ²/2-zCDP algorithm of this risk, n√(e^{ρ²} − 1)√(2ζ²r), (D.144) with (D.145).

    Args:
        risk: r ≥ 0, any shape. n: records. label_noise: ζ. rho: ρ ≥ 0.
    """
    return n * np.sqrt(chi_square(rho) * 2 * label_noise**2 * np.asarray(risk, dtype=float))


def certified_rho(score: ArrayLike, risk: ArrayLike, n: int, label_noise: float) -> np.ndarray:
    """The least ρ that an algorithm of this mean score and risk can have: `largest_score` solved for ρ.

    √ln(1 + S²/(2ζ²n²r)), and 0 where the score is not positive.

    Args:
        score: S = Σ E A_i. risk: r > 0. n: records. label_noise: ζ > 0.

    >>> print(float(certified_rho(largest_score(0.01, 500, 0.3, 0.7), 0.01, 500, 0.3).round(12)))
    0.7
    """
    above = np.maximum(np.asarray(score, dtype=float), 0.0)
    return np.sqrt(np.log1p(above**2 / (2 * (label_noise * n) ** 2 * np.asarray(risk, dtype=float))))


def privacy_bound(
    aspect_ratio: ArrayLike,
    rho: ArrayLike,
    label_noise: ArrayLike,
    smallest: float = 1.0,
    information: float = PRIOR_INFORMATION,
) -> np.ndarray:
    """The least risk under the prior of a ρ²/2-zCDP algorithm that both sides of the attack's score leave.

    ½{√(e^{ρ²} − 1)/(ζγ) + √(κ/λ_min)}⁻²: Lemmas D.6 and D.7 of arXiv:2505.16329v2 with every constant, and no case
    distinction.

    Assumes: Gaussian features of least eigenvalue λ_min and Gaussian label noise (Assumption 1).
    Guarantees: a lower bound for the worst θ* of the support as well.

    Args:
        aspect_ratio: γ = d/n > 0. rho: ρ > 0. label_noise: ζ > 0; these three broadcast.
        smallest: λ_min > 0. information: κ of the prior: `PRIOR_INFORMATION` for the paper's, `ball_information`.

    >>> print([f"{value:.3g}" for value in privacy_bound(1e-3, [1e-3, 0.1], 0.3)])
    ['0.0119', '4.39e-06']
    """
    root = np.sqrt(chi_square(rho)) / (np.asarray(label_noise) * np.asarray(aspect_ratio))
    return 0.5 * (root + math.sqrt(information / _validate.finite_positive("smallest", smallest))) ** -2


def lemma_bound(aspect_ratio: ArrayLike, rho: ArrayLike, label_noise: float, smallest: float = 1.0) -> np.ndarray:
    """Lemma D.7 with the constant of its proof: min{C²γ²/(2ζ²(e^{ρ²} − 1)), λ_min C/2} with C = min(ζ²/2, 1/40).

    Args:
        aspect_ratio: γ > 0. rho: ρ > 0; these broadcast. label_noise: ζ > 0. smallest: λ_min > 0.
    """
    constant = min(label_noise**2 / 2, 1 / 40)
    first = (constant * np.asarray(aspect_ratio) / label_noise) ** 2 / (2 * chi_square(rho))
    return np.minimum(first, smallest * constant / 2)


# -------------------------------------------------------------------------------------------- without any privacy


def bayes_risk(aspect_ratio: ArrayLike, label_noise: ArrayLike, norm: float = 1.0) -> np.ndarray:
    """The least risk without privacy, Σ = I and θ* ~ N(0, (norm²/d) I), as d → ∞.

    The posterior mean is ridge regression with λ = ζ²γ/norm²; its risk is ½ζ²γ m with m = lim tr(X'X/n + λ)⁻¹/d the
    Stieltjes transform of the law of Marchenko and Pastur at −λ, γλm² + (1 − γ + λ)m = 1.

    Args:
        aspect_ratio: γ > 0. label_noise: ζ > 0; these broadcast. norm: ‖θ*‖, to which it concentrates.

    >>> print(float(bayes_risk(1e-4, 0.3) / (0.3**2 * 1e-4 / 2)).__round__(4))
    1.0001
    """
    gamma, variance = np.asarray(aspect_ratio, dtype=float), np.asarray(label_noise, dtype=float) ** 2
    penalty = variance * gamma / norm**2
    half = (1 - gamma + penalty) / 2
    transform = 1 / (half + np.sqrt(half**2 + gamma * penalty))
    return variance * gamma * transform / 2


def spread_bound(eigenvalues: ArrayLike, aspect_ratio: float, label_noise: float, penalty: float) -> float:
    """(ζ²γ/2) mean{σ/(σ + λ)}: a Bayes risk without privacy from below, in two ways.

    With the prior N(0, ζ²/(λn) I) it is the fourth line of (D.157) of arXiv:2505.16329v2, with the ½ of the risk. For
    any prior of independent entries along the eigenvectors with E(π'/π)² = κd it is the inequality of van Trees (1968)
    with λ = κζ²γ: an entry has information nσ/ζ² from the data and κd from the prior.

    Args:
        eigenvalues: σ of Σ, shape (m,), equally frequent. aspect_ratio: γ. label_noise: ζ. penalty: λ > 0.

    >>> spread_bound([1.0], 0.01, 1.0, 1.0)
    0.0025
    """
    values = np.asarray(eigenvalues, dtype=float)
    return float(label_noise**2 * aspect_ratio / 2 * (values / (values + penalty)).mean())


def outside_ball(d: int, spread: float) -> float:
    """P(‖θ*‖ ≥ 1) for θ* ~ N(0, (spread/d) I): the prior of Lemma D.8 has spread ζ²γ/λ.

    Args:
        d: dimension, at least 1. spread: E‖θ*‖² > 0.
    """
    return float(chi2.sf(d / spread, d))


def projected_square(d: int, spread: float) -> float:
    """E(1 + ‖θ*‖)⁴/4 for θ* ~ N(0, (spread/d) I): over λ_max² the most that E R(M_B)² is known to be; (D.156) has 4.

    R(M_B) = ½‖Σ^½(M_B − θ*)‖² ≤ ½λ_max(1 + ‖θ*‖)², as ‖M_B‖ ≤ 1 but θ* is not bounded.

    Args:
        d: dimension, at least 1. spread: E‖θ*‖² > 0.
    """
    orders = np.arange(5)
    log_moments = orders / 2 * math.log(2 * spread / d) + gammaln((d + orders) / 2) - gammaln(d / 2)
    return float(np.array([1, 4, 6, 4, 1]) @ np.exp(log_moments)) / 4
