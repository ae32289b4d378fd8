r"""The exponents of the scaling laws of DP-GD under a power-law spectrum: Section 6, Appendix E of arXiv:2505.16329v2.

With v = c η̃(0), a schedule η̃(0)(1 − t)^α and ρ = γ^b the final risk is of the order of three terms (Lemma E.4),

.. math:: v^{-\kappa_1} + \gamma\,v^{1/(\alpha+1)} + \frac{\gamma^2}{\rho^2}\,g(v), \qquad
          \kappa_1 = 2 - \varphi - \psi:

what is left of the start, the noise of learning from one record at a time, the private noise. Put v = γ^a. Then the
risk is γ^min(e₁, e₂, e₃) with e₁ = −aκ₁, e₂ = 1 + a/(α+1) and e₃ = 2 − 2b + a·max(φ, 2/(α+1)): the first falls in a,
the others rise, so the best a is the larger of the two at which e₁ meets e₂ and e₃. That is Theorem 4 in one line:
privacy is free where e₁ meets e₂ last. The critical b is where all three meet.

Everything here takes numbers or arrays that broadcast, and is exact; what the constants are, the last part says.

**The final risk at small γ in closed form: (6.2) of arXiv:2505.16329v2 with clipping frozen at R = 0.**

When the risk is small μ_c and ν_c(R + ζ²/2) have the values μ and ν𝒫 that they have at R = 0, and (6.2) is explicit.
Let the clock at the end be x = Γ(1) and w = 1 − s the time that is left, so that Γ(1) − Γ(s) = x w^(α+1) = u. Then

.. math:: R(1) = \mathcal F(x) + \frac{\gamma\,\nu\mathcal P\,\tilde\eta(0)}{\mu}\int_0^x
          \Big(\frac ux\Big)^{\frac{\alpha}{\alpha+1}}\mathcal K(u)\,du
          + \frac{2c^2\gamma^2\tilde\eta(0)^2}{\rho^2}
          \int_0^x \mathcal J(u)\,d\Big(\frac ux\Big)^{\frac{2\alpha}{\alpha+1}}

and for the power law all three are incomplete gamma functions. Early on the risk is not small and descent is slower
than μ. That is a delay in the clock (of the ends of the integrals and of ℱ, not of u/x): late noise survives,

.. math:: x = \frac{\mu\,\tilde\eta(0)}{\alpha+1} - \int_0^\infty\Big(\frac{\mu}{\mu_c(\mathcal F(u))} - 1\Big)du .

What is left out vanishes with γ. No γ is too small for it, and its derivative is known: at the best η̃(0) the risk does
not depend on η̃(0), so that d ln R/d ln γ along ρ = γ^b is the share of the sampling noise plus 2(1 − b) times the
share of the private noise.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import gamma as gamma_function
from scipy.special import gammainc

from costofprivacy import _validate
from costofprivacy.dpgd.clipping import descent_reduction, variance_reduction
from costofprivacy.dpgd.spectrum import PowerLaw

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


# ---- Frozen ----

_NEAR = 0.05  # |k| below which the difference of two gamma functions over k loses digits
_SCAN = 8  # learning rates to a decade
_RULE = np.polynomial.legendre.leggauss(20)
_PANELS = 60


@dataclass(frozen=True)
class Late:
    """The three terms of the final risk, frozen at R = 0, and what becomes of them at the best learning rate.

    Args:
        phi: φ < 1. psi: ψ < 1 − φ. alpha: α ≥ 0. clip: c in (0, ∞).
        label_noise: ζ > 0: without it clipping has no limit at R = 0.
        initial_risk: R(0) > 0.

    Raises:
        ValueError: if a value is outside its range.
    """

    phi: float
    psi: float
    alpha: float
    clip: float = 0.1
    label_noise: float = 0.3
    initial_risk: float = 0.5

    def __post_init__(self) -> None:
        PowerLaw(self.phi).initial_energy(1.0, self.psi, self.initial_risk)
        _validate.keep(self, _validate.NONNEGATIVE, "alpha")
        _validate.keep(self, _validate.FINITE_POSITIVE, "clip", "label_noise")

    @property
    def descent(self) -> float:
        """μ_c at R = 0."""
        return float(descent_reduction(self.clip, self.label_noise**2 / 2))

    @property
    def variance(self) -> float:
        """ν_c𝒫 at R = 0."""
        return float(variance_reduction(self.clip, self.label_noise**2 / 2)) * self.label_noise**2 / 2

    @cached_property
    def delay(self) -> float:
        """How far the clock Γ(1) stays behind μ η̃(0)/(α+1), because descent is slower while R is large."""
        logs, weight = _panels(np.array(math.log(1e12 / 1e-8)))  # Gauss–Legendre in ln u
        u = 1e-8 * np.exp(logs)
        weight = weight * u
        slower = self.descent / descent_reduction(self.clip, self.start(u) + self.label_noise**2 / 2) - 1
        return float(weight @ slower)

    def start(self, clock: ArrayLike) -> np.ndarray:
        """ℱ(x) of (6.3) of arXiv:2505.16329v2 for the power law.

        Args:
            clock: x > 0, any shape.
        """
        x, law = np.asarray(clock, dtype=float), PowerLaw(self.phi)
        kappa = 2 - self.phi - self.psi
        scale = self.initial_risk / law.moment(1 - self.psi) * _mass(law)
        return scale * (2 * x) ** -kappa * _lower(kappa, 2 * law.largest * x)

    def parts(self, rate: ArrayLike, gamma: float, rho: float) -> np.ndarray:
        """The three terms of the released risk: start, sampling noise, private noise with that of the last step.

        Args:
            rate: η̃(0), so large that the clock is positive, shape (k,). gamma: γ > 0. rho: ρ in (0, ∞].

        Returns:
            shape (3, k); ∞ where the clock is not positive.
        """
        eta = np.atleast_1d(np.asarray(rate, dtype=float))
        whole = self.descent * eta / (self.alpha + 1)
        clock = whole - self.delay
        x, power, law = np.where(clock > 0, clock, 1.0), self.alpha / (self.alpha + 1), PowerLaw(self.phi)
        sampling = gamma * self.variance * eta / self.descent * whole**-power * _moment(law, 2, power + 1, x)
        noise = 2 * (self.clip * gamma / rho * eta) ** 2
        if self.alpha > 0:
            noise = noise * 2 * power * whole ** (-2 * power) * _moment(law, 1, 2 * power, x)
        return np.where(clock > 0, np.array([self.start(x), sampling, noise]), math.inf)

    def best(self, gamma: float, rho: float, largest: float | None = None) -> "Optimum":
        """The η̃(0) with the least risk, up to ``largest``, by default 2/γ.

        Args:
            gamma: γ > 0. rho: ρ in (0, ∞]. largest: the end of the range.
        """
        high = math.log(2 / gamma if largest is None else largest)
        low = min(math.log((self.alpha + 1) * (self.delay + 1e-3) / self.descent), high - 1)
        logs = np.linspace(low, high, 2 + math.ceil(_SCAN * (high - low) / math.log(10)))
        risks = self.parts(np.exp(logs), gamma, rho).sum(axis=0)
        k = int(np.argmin(risks))
        log, at_end = logs[k], k == len(logs) - 1

        def risk(place: float) -> float:
            return math.log(self.parts(math.exp(place), gamma, rho).sum())

        if k > 0:
            ends = (logs[k - 1], logs[min(k + 1, len(logs) - 1)])
            found = minimize_scalar(risk, bounds=ends, method="bounded", options={"xatol": 1e-9})
            at_end = at_end and found.x > high - 1e-6
            log = high if at_end else found.x
        return Optimum(math.exp(log), self.parts(math.exp(log), gamma, rho)[:, 0], bool(at_end))


@dataclass(frozen=True)
class Optimum:
    """The best learning rate and the risk there.

    Args:
        rate: η̃(0). parts: start, sampling noise, private noise, shape (3,). at_cap: whether the rate is the largest.
    """

    rate: float
    parts: np.ndarray
    at_cap: bool

    @property
    def risk(self) -> float:
        """The released risk."""
        return float(self.parts.sum())

    def slope(self, b: float) -> float:
        """d ln(risk)/d ln γ along ρ = γ^b, where the rate is free to follow its optimum.

        Args:
            b: b < 1.
        """
        _, sampling, private = self.parts / self.risk
        return float(sampling + 2 * (1 - b) * private)


def _mass(law: PowerLaw) -> float:
    """The constant of the density, (1 − φ)C^(φ−1)."""
    return (1 - law.phi) * law.largest ** (law.phi - 1)


def _lower(power: float, x: np.ndarray) -> np.ndarray:
    """The lower incomplete gamma function."""
    return gammainc(power, x) * gamma_function(power)


def _moment(law: PowerLaw, degree: int, s: float, x: np.ndarray) -> np.ndarray:
    r"""∫₀ˣ u^(s−1) Σ λ^degree e^(−2λu)/d du = ∫ p(λ) λ^degree (2λ)^(−s) γ(s, 2λx) dλ, for the power law, s > 0.

    By parts, with k = degree + 1 − φ − s and X = 2Cx, it is 2^(−s) p₀ C^k ∫₀^X y^(s−1) e^(−y) (1 − (y/X)^k)/k dy: two
    incomplete gamma functions, or by quadrature in ln y where they all but cancel.
    """
    k, X = degree + 1 - law.phi - s, 2 * law.largest * x
    scale = 2**-s * _mass(law) * law.largest**k
    if abs(k) > _NEAR:
        return scale * (_lower(s, X) - X**-k * _lower(s + k, X)) / k
    node, weight = _panels(np.log(np.maximum(X, 1.0)) + 40 / s)
    depth = X[..., None] * np.exp(-node)
    share = np.exp(s * np.log(depth) - depth) * (node if k == 0 else -np.expm1(-k * node) / k)
    return scale * (weight * share).sum(axis=-1)


def _panels(end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of a composite Gauss–Legendre rule on [0, end], a row for each end."""
    node, weight = _RULE
    unit = ((np.arange(_PANELS)[:, None] + (node + 1) / 2) / _PANELS).ravel()
    return np.multiply.outer(end, unit), np.multiply.outer(end, np.tile(weight / (2 * _PANELS), _PANELS))
