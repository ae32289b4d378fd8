r"""Risk bounds for learning rates that decay: polynomial and harmonic schedules, sections 5.1, 5.2, D.2 and D.3.

Both proofs bound the risk by the solution of a linear equation, (D.100) of arXiv:2505.16329v2,

.. math:: \dot R = -a\,\tilde\eta R + b_1\tilde\eta^2 - b_2\,\frac{d\tilde\eta^2}{dt},

with a, b₁, b₂ from the clipping factors' bounds. Its solution (D.101) follows at once in the variable u = R + b₂η̃²,
in which the equation has no derivative of the schedule: u' = −aη̃u + b₁η̃² + ab₂η̃³. The released risk has the jump
b₂η̃(1)² of (4.23) on top of R(1): it is u(1).

**The best constants.** Over all schedules that do not increase, the least u(1) for one of the two noises alone is
4b₁/a² (only sampling) and 27b₂/a² (only privacy) as R(0) → ∞. For u' = −aη̃u + b₁η̃² + ab₂η̃³ is least, pointwise, at
u = 2b₁η̃/a + 3b₂η̃²; with b₂ = 0 that gives η̃ = 2/(at), with b₁ = 0 it gives η̃ = 3/(at). Both are harmonic, and
where both noises count, η̃ solves η̃' = −aη̃²(b₁ + 2ab₂η̃)/(2(b₁ + 3ab₂η̃)), between the two.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad
from scipy.special import gamma as gamma_function
from scipy.special import gammaincc

from costofprivacy import _validate
from costofprivacy.dpgd.schedule import Schedule

MARGIN = 90.0  # the number beside A in (D.105)


def polynomial_order(
    exponent: float, aspect_ratio: float, rho: float, smallest: float = 1.0, largest: float = 1.0
) -> float:
    """The order of the polynomial schedule's risk, (5.16), or (D.81) with eigenvalues, of arXiv:2505.16329v2.

    λ_max λ_min⁻² αγ ln^{1/(1+α)}(1/γ) + λ_min⁻² α²γ²ρ⁻² ln^{2/(1+α)}(1/γ); constants are left out.

    Args:
        exponent: α ≥ 1. aspect_ratio: γ in (0, 1). rho: ρ in (0, ∞]. smallest, largest: λ_min and λ_max, positive.

    Raises:
        ValueError: if an argument is outside its range.

    >>> round(polynomial_order(1.0, 1e-4, 1.0), 7)
    0.0003036
    """
    if not exponent >= 1:
        raise ValueError(f"exponent must be at least 1, got {exponent!r}")
    log = math.log(1 / _validate.probability("aspect_ratio", aspect_ratio))
    share = aspect_ratio / _validate.positive("rho", rho)
    power = log ** (1 / (1 + exponent))
    sampling = largest * exponent * aspect_ratio * power
    return (sampling + (exponent * share * power) ** 2) / _validate.finite_positive("smallest", smallest) ** 2


def log_log_order(aspect_ratio: float, rho: float) -> float:
    """γ ln ln(1/γ) + γ²ρ⁻²(ln ln(1/γ))², (5.17) of arXiv:2505.16329v2.

    Args:
        aspect_ratio: γ in (0, 1/e). rho: ρ in (0, ∞].

    Raises:
        ValueError: if an argument is outside its range.
    """
    if not 0 < aspect_ratio < math.exp(-1):
        raise ValueError(f"aspect_ratio must be between 0 and 1/e, both excluded, got {aspect_ratio!r}")
    scaled = aspect_ratio * math.log(math.log(1 / aspect_ratio))
    return scaled + (scaled / _validate.positive("rho", rho)) ** 2


def exponential_integral(order: float, x: float | np.ndarray) -> np.ndarray:
    """E_β(x) = ∫₁^∞ e^{−xt} t^{−β} dt for β < 1, (D.9) of arXiv:2505.16329v2, as x^{β−1}Γ(1 − β, x), (D.17).

    Args:
        order: β < 1. x: positive, any shape.

    Raises:
        ValueError: if ``order`` is not below 1.
    """
    if not order < 1:
        raise ValueError(f"order must be below 1, got {order!r}")
    return exponential_integral_ceiling(order, x) * gammaincc(1 - order, x)


def exponential_integral_ceiling(order: float, x: float | np.ndarray) -> np.ndarray:
    """Γ(1 − β) x^{β−1}, which bounds E_β(x) by (D.12) and is its limit as x → 0 by (D.10) of arXiv:2505.16329v2.

    Args:
        order: β < 1. x: positive, any shape.
    """
    return gamma_function(1 - order) * np.asarray(x, dtype=float) ** (order - 1)


def exponential_integral_tail(x: float | np.ndarray) -> np.ndarray:
    """2e^{−x}/x, which bounds E_β(x) for β ≥ 0 or x ≥ −2β, (D.13) of arXiv:2505.16329v2.

    Args:
        x: positive, any shape.
    """
    return 2 * np.exp(-np.asarray(x, dtype=float)) / x


@dataclass(frozen=True)
class Linear:
    """The equation R' = −aη̃R + b₁η̃² − b₂(η̃²)', (D.100) of arXiv:2505.16329v2.

    Args:
        descent: a > 0. sampling: b₁ ≥ 0. noise: b₂ ≥ 0.

    Raises:
        ValueError: if one is outside its range.
    """

    descent: float
    sampling: float
    noise: float

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.FINITE_POSITIVE, "descent")
        _validate.keep(self, _validate.NONNEGATIVE, "sampling", "noise")


def linear_solution(linear: Linear, schedule: Schedule, initial_risk: float, time: float = 1.0) -> float:
    """R(t) by (D.101), Lemma D.5 of arXiv:2505.16329v2; with a = c, b₁ = γc² and b₂ = γ²c²/ρ² it is (5.24).

    Args:
        linear: the equation. schedule: η̃, smooth on [0, t]. initial_risk: R(0) ≥ 0. time: t in (0, 1].
    """

    def progress(s: float) -> float:
        return float(quad(schedule, s, time, epsabs=0, epsrel=1e-11, limit=200)[0])

    def grown(s: float) -> float:
        source = linear.sampling * float(schedule(s)) ** 2 + linear.noise * float(schedule.squared_decrease(s))
        return math.exp(-linear.descent * progress(s)) * source

    known = math.exp(-linear.descent * progress(0.0)) * initial_risk
    return known + float(quad(grown, 0.0, time, epsabs=0, epsrel=1e-9, limit=200)[0])


def polynomial_solution(linear: Linear, exponent: float, initial_risk: float, time: float) -> float:
    """R(t) for η̃ = (1 − t)^α in closed form, (D.89) of arXiv:2505.16329v2; its b̄₂ is 2αb₂ here.

    With x = 1 − t and z = ax^{1+α}/(1+α), the integral of s^{p−1}e^{z(x)−z(s)} over [x, 1] is
    (x^p e^z E_{1−p/(1+α)}(z) − e^z E_{1−p/(1+α)}(z(1)))/(1 + α), p = 1 + 2α for the sampling and 2α for the noise.

    Args:
        linear: the equation, η̃(0) in its coefficients. exponent: α > 0. initial_risk: R(0). time: t in [0, 1).
    """
    x, rise = 1 - time, 1 + exponent
    now, start = linear.descent * x**rise / rise, linear.descent / rise

    def integral(p: float) -> float:
        order = 1 - p / rise
        ends = x**p * float(exponential_integral(order, now)) - float(exponential_integral(order, start))
        return math.exp(now) * ends / rise

    sources = linear.sampling * integral(1 + 2 * exponent) + 2 * exponent * linear.noise * integral(2 * exponent)
    return math.exp(now - start) * initial_risk + sources


@dataclass(frozen=True)
class Printed:
    """Theorem 2's constants, (D.105) and (D.110) of arXiv:2505.16329v2.

    Args:
        scale: α there, β in (5.18). offset: τ. clip: c. linear: ā, b̄₁ and b̄₂, which bound the risk.
    """

    scale: float
    offset: float
    clip: float
    linear: Linear


def theorem_2(
    aspect_ratio: float, rho: float, level: float, smallest: float = 1.0, largest: float = 1.0, margin: float = MARGIN
) -> Printed:
    """β, τ and c of Theorem 2, general version, (D.105), with ā, b̄₁ and b̄₂ of (D.110) of arXiv:2505.16329v2.

    Guarantee: āβ = 3 and τ = max(b̄₁, 2√b̄₂), (D.111).

    Args:
        aspect_ratio: γ > 0. rho: ρ in (0, ∞]. level: A ≥ R(0) + ζ²/2.
        smallest, largest: λ_min ≤ 1 and λ_max ≥ 1. margin: the number beside A, 90 in the paper.

    Raises:
        ValueError: if an argument is outside its range.

    >>> found = theorem_2(1e-6, 1.0, level=0.5)
    >>> round(found.scale, 2), round(found.clip, 2), round(found.offset, 7)
    (28.54, 40.36, 0.0008145)
    """
    gamma = _validate.finite_positive("aspect_ratio", aspect_ratio)
    rho = _validate.positive("rho", rho)
    base = math.sqrt(_validate.finite_positive("level", level) + margin)
    scale = 3 * base / _validate.finite_positive("smallest", smallest)
    clip = math.sqrt(2) * scale
    linear = Linear(smallest / base, largest * clip**2 * gamma / 2, 4 * (clip * gamma / rho) ** 2)
    offset = max(linear.sampling, 2 * math.sqrt(linear.noise))
    return Printed(scale, offset, clip, linear)


def harmonic_solution(linear: Linear, scale: float, offset: float, initial_risk: float, time: float) -> float:
    """R(t) for η̃ = β/(t + τ) in closed form, the display before (D.108) of arXiv:2505.16329v2; aβ > 2.

    Args:
        linear: the equation. scale: β. offset: τ. initial_risk: R(0). time: t in [0, 1].

    Raises:
        ValueError: if aβ is not above 2.
    """
    power = _power(linear, scale)
    share = offset / (time + offset)
    sampling = linear.sampling * scale**2 * (1 - share ** (power - 1)) / ((time + offset) * (power - 1))
    noise = 2 * linear.noise * scale**2 * (1 - share ** (power - 2)) / ((time + offset) ** 2 * (power - 2))
    return share**power * initial_risk + sampling + noise


def harmonic_ceiling(linear: Linear, scale: float, offset: float, initial_risk: float) -> float:
    """A bound on R(t) for all t, the last line of (D.108) of arXiv:2505.16329v2.

    Args:
        linear: the equation. scale: β. offset: τ. initial_risk: R(0).

    Raises:
        ValueError: if aβ is not above 2.
    """
    power = _power(linear, scale)
    sampling = linear.sampling * scale**2 / (offset * (power - 1))
    return initial_risk + sampling + 2 * linear.noise * scale**2 / (offset**2 * (power - 2))


def harmonic_end(linear: Linear, scale: float, offset: float, initial_risk: float) -> float:
    """A bound on R(1), the first line of (D.109) of arXiv:2505.16329v2; the last step's noise comes on top.

    Args:
        linear: the equation. scale: β. offset: τ. initial_risk: R(0).

    Raises:
        ValueError: if aβ is not above 2.
    """
    power = _power(linear, scale)
    sampling = linear.sampling * scale**2 / ((1 + offset) * (power - 1))
    noise = 2 * linear.noise * scale**2 / ((1 + offset) ** 2 * (power - 2))
    return (offset / (1 + offset)) ** power * initial_risk + sampling + noise


def least_end(linear: Linear) -> float:
    """4b₁/a² + 27b₂/a²: the released risk's leading order under the best schedule, exact where one noise counts.

    Where both count it is a lower bound: no schedule is best for both. See the module.

    Args:
        linear: the equation, for all t; R(0) does not matter as b₁ and b₂ tend to 0.
    """
    return (4 * linear.sampling + 27 * linear.noise) / linear.descent**2


def _power(linear: Linear, scale: float) -> float:
    power = linear.descent * scale
    if not power > 2:
        raise ValueError(f"scale must be above {2 / linear.descent:g}, twice 1/descent, got {scale!r}")
    return power
