r"""The final risk at small γ in closed form: (6.2) of arXiv:2505.16329v2 with clipping frozen at R = 0.

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
share
of the private noise.
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
