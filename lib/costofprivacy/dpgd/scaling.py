r"""The exponents of the scaling laws of DP-GD under a power-law spectrum: Section 6, Appendix E of arXiv:2505.16329v2.

With v = c η̃(0), a schedule η̃(0)(1 − t)^α and ρ = γ^b the final risk is of the order of three terms (Lemma E.4),

.. math:: v^{-\kappa_1} + \gamma\,v^{1/(\alpha+1)} + \frac{\gamma^2}{\rho^2}\,g(v), \qquad
          \kappa_1 = 2 - \varphi - \psi:

what is left of the start, the noise of learning from one record at a time, the private noise. Put v = γ^a. Then the
risk is γ^min(e₁, e₂, e₃) with e₁ = −aκ₁, e₂ = 1 + a/(α+1) and e₃ = 2 − 2b + a·max(φ, 2/(α+1)): the first falls in a,
the others rise, so the best a is the larger of the two at which e₁ meets e₂ and e₃. That is Theorem 4 in one line:
privacy is free where e₁ meets e₂ last. The critical b is where all three meet.

Everything here takes numbers or arrays that broadcast, and is exact; what the constants are, `frozen` says.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

Numbers = float | np.ndarray


def kappas(phi: float, psi: float) -> tuple[float, float, float]:
    """The powers with which ℱ, 𝒦 and 𝒥 decay, (E.3) of arXiv:2505.16329v2: 2 − φ − ψ, 3 − φ, 2 − φ.

    Args:
        phi: φ < 1. psi: ψ < 1 − φ.

    Raises:
        ValueError: if an argument is outside its range.

    >>> kappas(0.25, 0.5)
    (1.25, 2.75, 1.75)
    """
    _check(phi, psi)
    return 2 - phi - psi, 3 - phi, 2 - phi


def size(phi: ArrayLike, psi: ArrayLike, alpha: ArrayLike) -> Numbers:
    """K = (2 − φ − ψ)(α + 1) of Theorem 4 of arXiv:2505.16329v2.

    Args:
        phi: φ < 1. psi: ψ < 1 − φ. alpha: α ≥ 0.

    Raises:
        ValueError: if an argument is outside its range.
    """
    _check(phi, psi, alpha)
    return (2 - _array(phi) - _array(psi)) * (_array(alpha) + 1)


def noise_power(phi: ArrayLike, alpha: ArrayLike) -> Numbers:
    """The power of v in the private noise, (E.17) of arXiv:2505.16329v2: 2/(α+1), or φ where that is larger.

    Args:
        phi: φ < 1. alpha: α ≥ 0.
    """
    return np.maximum(_array(phi), 2 / (_array(alpha) + 1))


def noise_growth(v: ArrayLike, phi: float, alpha: float) -> Numbers:
    """g(v) of (E.17) of arXiv:2505.16329v2: the private noise's order but for γ²/ρ².

    Args:
        v: c η̃(0) > 1. phi: φ < 1. alpha: α ≥ 0.

    >>> float(noise_growth(math.e, 0.5, 3.0)) == math.sqrt(math.e)
    True
    """
    level = _array(v) ** noise_power(phi, alpha)
    return level * np.log(v) if has_logarithm(phi, alpha) else level


def has_logarithm(phi: float, alpha: float) -> bool:
    """Whether φ(α + 1) = 2, up to rounding: where (6.6) of arXiv:2505.16329v2 has a logarithm."""
    return math.isclose(phi * (alpha + 1), 2, rel_tol=1e-12)


def order(v: ArrayLike, gamma: float, rho: float, phi: float, psi: float, alpha: float) -> Numbers:
    """The order of the final risk as a function of v = c η̃(0), the right side of (E.16) of arXiv:2505.16329v2.

    Args:
        v: above 1. gamma: γ > 0. rho: ρ in (0, ∞]. phi: φ < 1. psi: ψ < 1 − φ. alpha: α ≥ 0.

    Raises:
        ValueError: if φ or ψ is outside its range.
    """
    kappa = kappas(phi, psi)[0]
    rates = _array(v)
    return rates**-kappa + gamma * rates ** (1 / (alpha + 1)) + (gamma / rho) ** 2 * noise_growth(rates, phi, alpha)


def terms(a: ArrayLike, phi: ArrayLike, psi: ArrayLike, alpha: ArrayLike, b: ArrayLike) -> tuple[Numbers, ...]:
    """e₁, e₂ and e₃ of (E.42) and (E.49) of arXiv:2505.16329v2; (E.55) takes a vanishing term from the third.

    Args:
        a: the exponent of v = γ^a. phi: φ < 1. psi: ψ < 1 − φ. alpha: α ≥ 0. b: the exponent of ρ = γ^b.
    """
    slope = _array(a)
    start = -slope * (2 - _array(phi) - _array(psi))
    return start, 1 + slope / (_array(alpha) + 1), 2 - 2 * _array(b) + slope * noise_power(phi, alpha)


def critical_b(phi: ArrayLike, psi: ArrayLike, alpha: ArrayLike) -> Numbers:
    """The exponent of ρ beyond which privacy costs a power of γ, Theorem 4 of arXiv:2505.16329v2; in (0, ½).

    K/(2(K + 1)) for φ(α + 1) < 2 and 1 − (2 − ψ)(α + 1)/(2(K + 1)) otherwise. Both are (2 + K − (α + 1) g)/(2(K + 1))
    with g = max(φ, 2/(α + 1)) of `noise_power`: there e₁ = e₂ = e₃.

    Args:
        phi: φ < 1. psi: ψ < 1 − φ. alpha: α ≥ 0.

    Raises:
        ValueError: if an argument is outside its range.

    >>> float(critical_b(0.0, 0.5, 0.0))
    0.3
    """
    K = size(phi, psi, alpha)
    return (2 + K - (_array(alpha) + 1) * noise_power(phi, alpha)) / (2 * (K + 1))


def regime(phi: ArrayLike, psi: ArrayLike, alpha: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Which of the four cases of Theorem 4 of arXiv:2505.16329v2 applies, 1 to 4, in the order printed.

    Args:
        phi: φ < 1. psi: ψ < 1 − φ. alpha: α ≥ 0. b: b < 1.

    Raises:
        ValueError: if an argument is outside its range.

    >>> regime(0.7, 0.0, [1, 4], [[0.1], [0.5]]).tolist()
    [[1, 3], [2, 4]]
    """
    _check_b(b)
    steep = _array(phi) * (_array(alpha) + 1) >= 2 * (1 - 1e-12)
    costs = _array(b) > critical_b(phi, psi, alpha) + 1e-12
    return 1 + np.asarray(costs, dtype=int) + 2 * np.asarray(steep, dtype=int)


def rate_exponent(phi: ArrayLike, psi: ArrayLike, alpha: ArrayLike, b: ArrayLike) -> Numbers:
    """The best exponent a of c η̃(0) = γ^a, Theorem 4 of arXiv:2505.16329v2; in (−1, 0).

    Args:
        phi: φ < 1. psi: ψ < 1 − φ. alpha: α ≥ 0. b: b < 1.

    Raises:
        ValueError: if an argument is outside its range.
    """
    _check_b(b)
    K = size(phi, psi, alpha)
    free = -(_array(alpha) + 1) / (K + 1)
    costly = -2 * (1 - _array(b)) / (2 - _array(phi) - _array(psi) + noise_power(phi, alpha))
    return np.maximum(free, costly)


def risk_exponent(phi: ArrayLike, psi: ArrayLike, alpha: ArrayLike, b: ArrayLike) -> Numbers:
    """The exponent h of the best risk γ^h, Theorem 4 of arXiv:2505.16329v2, without the logarithm of (6.6).

    Args:
        phi: φ < 1. psi: ψ < 1 − φ. alpha: α ≥ 0. b: b < 1.

    Raises:
        ValueError: if an argument is outside its range.

    >>> float(risk_exponent(0.0, 0.0, 1.0, 0.0)), float(risk_exponent(0.7, 0.0, 4.0, 0.5))
    (0.8, 0.65)
    """
    return -rate_exponent(phi, psi, alpha, b) * (2 - _array(phi) - _array(psi))


def risk_exponent_at(gamma: float, phi: float, psi: float, alpha: float, b: float) -> float:
    """h as (6.6) of arXiv:2505.16329v2 prints it at a given γ: with ln(a ln γ)/ln γ where φ(α+1) = 2, privacy costly.

    Args:
        gamma: γ in (0, 1). The others as in `risk_exponent`.
    """
    h = float(risk_exponent(phi, psi, alpha, b))
    if not (has_logarithm(phi, alpha) and int(regime(phi, psi, alpha, b)) == 4):
        return h
    depth = math.log(gamma)
    return h + math.log(float(rate_exponent(phi, psi, alpha, b)) * depth) / depth


def limit_exponents(phi: ArrayLike, psi: ArrayLike) -> tuple[Numbers, Numbers]:
    """The exponents of γ and of γ²/ρ² as α → ∞, Corollary 6.1 of arXiv:2505.16329v2, ε left out.

    Args:
        phi: φ < 1. psi: ψ < 1 − φ.

    Returns:
        1, and 1 for φ ≤ 0 or (2 − ψ − φ)/(2 − ψ) for φ > 0.

    Raises:
        ValueError: if an argument is outside its range.
    """
    _check(phi, psi)
    kappa, steep = 2 - _array(phi) - _array(psi), np.maximum(phi, 0.0)
    return np.ones_like(kappa + steep), kappa / (kappa + steep)


def limit_critical_b(phi: ArrayLike, psi: ArrayLike) -> Numbers:
    """The critical b as α → ∞, (6.9) and (E.56) of arXiv:2505.16329v2: ½ − φ/(2(2 − φ − ψ)), and ½ for φ ≤ 0.

    Args:
        phi: φ < 1. psi: ψ < 1 − φ.

    Raises:
        ValueError: if an argument is outside its range.

    >>> round(float(limit_critical_b(0.5, 0.0)), 6)
    0.333333
    """
    _check(phi, psi)
    return 0.5 - np.maximum(phi, 0.0) / (2 * (2 - _array(phi) - _array(psi)))


def _array(values: ArrayLike) -> np.ndarray:
    return np.asarray(values, dtype=float)


def _check(phi: ArrayLike, psi: ArrayLike, alpha: ArrayLike = 0.0) -> None:
    exponent, weight, degree = _array(phi), _array(psi), _array(alpha)
    if not (exponent < 1).all():
        raise ValueError(f"phi must be below 1, got {exponent.max()!r}")
    if not (weight < 1 - exponent).all():
        wide, steep = (each.ravel() for each in np.broadcast_arrays(weight, exponent))
        worst = int(np.argmax(wide + steep))
        raise ValueError(f"psi must be below 1 - phi, got {wide[worst]:g} with phi = {steep[worst]:g}")
    if not (degree >= 0).all():
        raise ValueError(f"alpha must be non-negative, got {degree.min()!r}")


def _check_b(b: ArrayLike) -> None:
    if not (_array(b) < 1).all():
        raise ValueError(f"b must be below 1, got {_array(b).max()!r}")
