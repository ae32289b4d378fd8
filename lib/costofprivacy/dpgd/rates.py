r"""Orders and bounds of Section 5 of arXiv:2505.16329v2: output perturbation, constant private noise, decaying rates.

Everything here is a formula in γ and ρ: the orders of Propositions 5.1, D.3 and D.4 without their hidden constants, the
linear equations that the paper puts in the place of (4.11), with their solutions, and what the optimal risk is to
leading order with its constant.

**The constant.** Let Σ = I and ρ, c fixed. Once R ≪ ζ² the factors stand at their values for R = 0, μ and 𝒱 = νζ²/2,
and (4.11) is linear. A constant schedule forgets the start like e^{−2μη̃} and ends at γη̃𝒱/(2μ); the last step adds
2c²η̃²γ²/ρ². To bring the start down to γ takes 2μη̃ = ln(1/γ)(1 + o(1)), and no more pays. So

.. math:: \mathcal R(\theta^p_0) \simeq \frac{\mathcal V}{4\mu^2}\,\gamma\ln\frac1\gamma
          + \frac{c^2}{2\mu^2}\,\frac{\gamma^2}{\rho^2}\ln^2\frac1\gamma .

With η̃(0)√(1−t) the clock is ⅔ as long, 2μη̃(0)·⅔ = ln(1/γ), and by (D.65) the two terms are (3/2)^{1/3}Γ(4/3) γ𝒱
η̃(0)^{2/3}(2μ)^{−4/3} and (3/2)^{−1/3}Γ(2/3)(2c²γ²/ρ²)η̃(0)^{4/3}(2μ)^{−2/3}. As c → 0 both 𝒱/μ² and c²/μ² have limits,
πζ²/4 and πζ²/2: below ζ the clipping constant does not matter, only c η̃(0) does.

**Risk bounds for learning rates that decay: polynomial and harmonic schedules, sections 5.1, 5.2, D.2 and D.3.**

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
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.special import gamma as gamma_function
from scipy.special import gammaincc

from costofprivacy import _validate
from costofprivacy.dpgd.clipping import descent_reduction, variance_reduction
from costofprivacy.dpgd.schedule import Schedule

OUTPUT, CONSTANT = 0.0, 0.5  # α of output perturbation and of constant private noise
LOG_POWER = {OUTPUT: 1.0, CONSTANT: 2 / 3}  # of ln(1/γ) beside γ in (5.3); beside γ²/ρ² it is twice that
CLOCK = {OUTPUT: 1.0, CONSTANT: 2 / 3}  # ∫₀¹ (1 − t)^α dt


def order(alpha: float, aspect_ratio: float, rho: float) -> float:
    """γ ln^p(1/γ) + γ² ln^{2p}(1/γ)/ρ² with p = 1 for α = 0 and p = ⅔ for α = ½, (5.3) and (5.4) of arXiv:2505.16329v2.

    Args:
        alpha: 0 or ½. aspect_ratio: γ in (0, 1). rho: ρ in (0, ∞].

    Raises:
        ValueError: if an argument is outside its range.
    """
    return upper(alpha, aspect_ratio, rho, 1.0, 1.0)


def upper(alpha: float, aspect_ratio: float, rho: float, least: float, largest: float) -> float:
    """λ_max λ_min⁻² γ ln^p(1/γ) + λ_min⁻² γ² ln^{2p}(1/γ)/ρ², (D.24) and (D.50) of arXiv:2505.16329v2.

    Args:
        alpha: 0 or ½. aspect_ratio: γ in (0, 1). rho: ρ in (0, ∞]. least, largest: λ_min and λ_max, positive.

    Raises:
        ValueError: if an argument is outside its range.

    >>> round(upper(0.0, 0.01, 0.1, 0.5, 1.5), 4)
    1.1246
    """
    sampling, private = _terms(alpha, aspect_ratio, rho)
    return (_validate.finite_positive("largest", largest) * sampling + private) / _eigenvalue("least", least)


def lower(alpha: float, aspect_ratio: float, rho: float, largest: float) -> float:
    """λ_max⁻² (γ ln^p(1/γ) + γ² ln^{2p}(1/γ)/ρ²), (D.25) and (D.51) of arXiv:2505.16329v2.

    Args:
        alpha: 0 or ½. aspect_ratio: γ in (0, 1). rho: ρ in (0, ∞]. largest: λ_max, positive.

    Raises:
        ValueError: if an argument is outside its range.
    """
    return sum(_terms(alpha, aspect_ratio, rho)) / _eigenvalue("largest", largest)


def smallness(alpha: float, aspect_ratio: float, rho: float, least: float, largest: float) -> float:
    """What (D.22), for α = 0, and (D.48), for α = ½, want to vanish as γ does.

    λ_max λ_min⁻² γ ln(1/γ), and λ_min⁻² γ ln²(1/γ)(λ_max + γ/ρ²), of arXiv:2505.16329v2.

    Args:
        alpha: 0 or ½. aspect_ratio: γ in (0, 1). rho: ρ in (0, ∞]. least, largest: λ_min and λ_max, positive.

    Raises:
        ValueError: if an argument is outside its range.
    """
    _power(alpha)
    log, square = _log(aspect_ratio), _eigenvalue("least", least)
    largest = _validate.finite_positive("largest", largest)
    if alpha == OUTPUT:
        return largest * aspect_ratio * log / square
    return aspect_ratio * log**2 * (largest + aspect_ratio / _validate.positive("rho", rho) ** 2) / square


def product(aspect_ratio: float, least: float = 1.0, factor: float = 1.0) -> float:
    """The paper's choice of cη̃(0), C ln(1/γ)/λ_min: (5.2), (D.23) and (D.49) of arXiv:2505.16329v2.

    Args:
        aspect_ratio: γ in (0, 1). least: λ_min, positive. factor: C, positive.

    Raises:
        ValueError: if an argument is outside its range.
    """
    return _validate.finite_positive("factor", factor) * _log(aspect_ratio) / _validate.finite_positive("least", least)


def factor(initial_risk: float, clip: float, label_noise: float) -> float:
    """A C that is large enough in (5.2) by the proof: with it, and Σ = I, e^{−ā} ≤ γ in (D.35) and (D.65).

    By Lemma B.2, μ_c(R)/c ≥ m/√(2R + ζ²) with m = (ζ/c) erf(c/(ζ√2)), and R ≤ R(0) + 1. (D.31) and (D.61) of
    arXiv:2505.16329v2 have √(R(0) + 1 + ζ²) and √(R(0) + 1 + ζ²/2) for √(2R(0) + 2 + ζ²). The ½ of the clock of α = ½,
    ⅔, is covered by the factor 3/2.

    Args:
        initial_risk: R(0) ≥ 0. clip: c > 0. label_noise: ζ > 0.

    Raises:
        ValueError: if an argument is outside its range.
    """
    risk, zeta = (
        _validate.nonnegative("initial_risk", initial_risk),
        _validate.finite_positive("label_noise", label_noise),
    )
    least = zeta / clip * float(descent_reduction(clip, zeta**2 / 2))
    return 1.5 * math.sqrt(2 * risk + 2 + zeta**2) / (2 * least)


def clipping_order(clip: float, aspect_ratio: float, rho: float) -> float:
    """γ + max(1, c²)γ²/ρ², (5.12) of arXiv:2505.16329v2, which leaves out logarithms.

    Args:
        clip: c > 0. aspect_ratio: γ > 0. rho: ρ in (0, ∞].

    Raises:
        ValueError: if an argument is not positive.
    """
    gamma = _validate.finite_positive("aspect_ratio", aspect_ratio)
    worst = max(1.0, _validate.finite_positive("clip", clip) ** 2)
    return gamma + worst * (gamma / _validate.positive("rho", rho)) ** 2


def leading(alpha: float, aspect_ratio: float, rho: float, clip: float, label_noise: float) -> float:
    """The optimal risk to leading order in γ for Σ = I, with its constant; see the module.

    Assumes: ρ and c free of γ. The next order is smaller by ln ln(1/γ)/ln(1/γ) only.

    Args:
        alpha: 0 or ½. aspect_ratio: γ in (0, 1). rho: ρ in (0, ∞]. clip: c > 0. label_noise: ζ > 0.

    Raises:
        ValueError: if an argument is outside its range.
    """
    _power(alpha)
    noise, private = _validate.finite_positive("label_noise", label_noise), _validate.positive("rho", rho)
    mu = float(descent_reduction(clip, noise**2 / 2))
    sampling = aspect_ratio * float(variance_reduction(clip, noise**2 / 2)) * noise**2 / 2
    release, rate = 2 * (clip * aspect_ratio / private) ** 2, _log(aspect_ratio) / (2 * mu * CLOCK[alpha])
    if alpha == OUTPUT:
        return sampling * rate / (2 * mu) + release * rate**2
    return square_root_end(2 * mu * rate, sampling * rate**2, release * rate**2)


def descent_time(initial_risk: float, final_risk: float, clip: float, label_noise: float) -> float:
    """∫ η̄ dt that the descent of (4.11) of arXiv:2505.16329v2 takes from one risk to another: ∫ dR/(2μ_c(R)R).

    Args:
        initial_risk: R(0) > 0. final_risk: in (0, R(0)]. clip: c > 0. label_noise: ζ > 0.

    Raises:
        ValueError: if an argument is outside its range.
    """
    start = _validate.finite_positive("initial_risk", initial_risk)
    end = _validate.between("final_risk", _validate.finite_positive("final_risk", final_risk), 0, start)
    half = _validate.finite_positive("label_noise", label_noise) ** 2 / 2

    def pace(log_risk: float) -> float:
        return 1 / (2 * float(descent_reduction(clip, math.exp(log_risk) + half)))

    return float(quad(pace, math.log(end), math.log(start), epsrel=1e-9, limit=200)[0])


def advised_rate(
    alpha: float, aspect_ratio: float, rho: float, clip: float, label_noise: float, initial_risk: float
) -> float:
    """A learning rate that is nearly best: descent from R(0) to ζ²(γ + γ²/ρ²)/4 takes the whole run, (1 − t)^α.

    Not the paper's (5.2), to which it is equal in order: the same logarithm with its factor and with the time that a
    start far above ζ² costs. It wants R(0) and ζ, which a private user has to know or to bound.

    Args:
        alpha: 0 or ½. aspect_ratio: γ > 0. rho: ρ in (0, ∞]. clip: c > 0. label_noise: ζ > 0. initial_risk: R(0) > 0.

    Returns:
        η̃(0), at most 2/γ.

    Raises:
        ValueError: if an argument is outside its range.

    >>> round(0.1 * advised_rate(0.5, 0.001, 0.1, 0.1, 0.3, 0.5), 2)
    3.78
    """
    _power(alpha)
    gamma = _validate.finite_positive("aspect_ratio", aspect_ratio)
    floor = label_noise**2 * (gamma + (gamma / _validate.positive("rho", rho)) ** 2) / 4
    whole = descent_time(initial_risk, min(floor, initial_risk / 2), clip, label_noise)
    return min(whole / CLOCK[alpha], 2 / gamma)


# ------------------------------------------------------------------------------- the equations in the paper's sketch


def relaxation(time: ArrayLike, rate: float, source: float, initial: float) -> np.ndarray:
    """The solution of R' = −a R + b, (R(0) − b/a)e^{−at} + b/a: (D.28), and (5.7) with a = x, b = γx².

    Args:
        time: t, any shape. rate: a > 0. source: b. initial: R(0).

    Returns:
        of the shape of ``time``.

    Raises:
        ValueError: if ``rate`` is not positive and finite.
    """
    rest = source / _validate.finite_positive("rate", rate)
    return (initial - rest) * np.exp(-rate * np.asarray(time, dtype=float)) + rest


def square_root_path(time: ArrayLike, rate: float, sampling: float, private: float, initial: float) -> np.ndarray:
    """The solution of R' = −a√(1−t) R + b₁(1 − t) + b₂, (D.54) of arXiv:2505.16329v2; (5.11) is a case of it.

    With s = 1 − t, k = 2a/3 and E_β(x) = x^{β−1}Γ(1 − β, x) it is R(0)e^{−k(1−s^{3/2})} + ⅔ e^{k s^{3/2}} times
    b₁(s²E_{−1/3}(k s^{3/2}) − E_{−1/3}(k)) + b₂(s E_{1/3}(k s^{3/2}) − E_{1/3}(k)).

    Guarantee: relative accuracy 1e-10 for k up to 500, where e^k is still a number.

    Args:
        time: t in [0, 1], any shape. rate: a > 0. sampling: b₁ ≥ 0. private: b₂ ≥ 0. initial: R(0).

    Returns:
        of the shape of ``time``.

    Raises:
        ValueError: if an argument is outside its range.

    >>> print(square_root_path([0.0, 0.5, 1.0], 3.0, 0.1, 0.01, 0.5).round(5))
    [0.5     0.16045 0.09147]
    """
    k = 2 * _validate.finite_positive("rate", rate) / 3
    left = (1 - np.asarray(time, dtype=float)) ** 1.5
    found = initial * np.exp(-k * (1 - left))
    for power, source in ((4 / 3, sampling), (2 / 3, private)):
        tails = gammaincc(power, k * left) - gammaincc(power, k)
        found = found + 2 / 3 * source * np.exp(k * left) * gamma_function(power) * k**-power * tails
    return found


def square_root_end(rate: float, sampling: float, private: float) -> float:
    """What `square_root_path` has at t = 1 for large a, b₁ and b₂ terms: the last two of (D.65) of arXiv:2505.16329v2.

    (3/2)^{1/3} Γ(4/3) b₁ a^{−4/3} + (3/2)^{−1/3} Γ(2/3) b₂ a^{−2/3}.

    Args:
        rate: a > 0. sampling: b₁. private: b₂.

    Raises:
        ValueError: if ``rate`` is not positive and finite.
    """
    rate = _validate.finite_positive("rate", rate)
    first = 1.5 ** (1 / 3) * float(gamma_function(4 / 3)) * sampling * rate ** (-4 / 3)
    return first + 1.5 ** (-1 / 3) * float(gamma_function(2 / 3)) * private * rate ** (-2 / 3)


# ---------------------------------------------------------------------------------------------------------- helpers


def _terms(alpha: float, aspect_ratio: float, rho: float) -> tuple[float, float]:
    logs = _log(aspect_ratio) ** _power(alpha)
    return aspect_ratio * logs, (aspect_ratio * logs / _validate.positive("rho", rho)) ** 2


def _power(alpha: float) -> float:
    if alpha not in LOG_POWER:
        raise ValueError(f"alpha must be 0 or 0.5, got {alpha!r}")
    return LOG_POWER[alpha]


def _log(aspect_ratio: float) -> float:
    return -math.log(_validate.probability("aspect_ratio", aspect_ratio))


def _eigenvalue(name: str, value: float) -> float:
    return _validate.finite_positive(name, value) ** 2


# ---- Rates decaying ----

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
    power = _decaying_power(linear, scale)
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
    power = _decaying_power(linear, scale)
    sampling = linear.sampling * scale**2 / (offset * (power - 1))
    return initial_risk + sampling + 2 * linear.noise * scale**2 / (offset**2 * (power - 2))


def harmonic_end(linear: Linear, scale: float, offset: float, initial_risk: float) -> float:
    """A bound on R(1), the first line of (D.109) of arXiv:2505.16329v2; the last step's noise comes on top.

    Args:
        linear: the equation. scale: β. offset: τ. initial_risk: R(0).

    Raises:
        ValueError: if aβ is not above 2.
    """
    power = _decaying_power(linear, scale)
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


def _decaying_power(linear: Linear, scale: float) -> float:
    power = linear.descent * scale
    if not power > 2:
        raise ValueError(f"scale must be above {2 / linear.descent:g}, twice 1/descent, got {scale!r}")
    return power
