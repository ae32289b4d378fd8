r"""Orders and bounds of Section 5 of arXiv:2505.16329v2 for output perturbation and constant private noise.

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
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.special import gamma as gamma_function
from scipy.special import gammaincc

from costofprivacy import _validate
from costofprivacy.dpgd.clipping import descent_reduction, variance_reduction
from costofprivacy.dpgd.schedule import Constant, Polynomial, Schedule, last_noise, noise_intensity

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


def best_product(aspect_ratio: float, alpha: float, clip: float, label_noise: float) -> float:
    """cη̃(0) that is best to leading order in γ for Σ = I, c ln(1/γ)/(2μ_c(0) ∫(1 − t)^α dt); see the module.

    Args:
        aspect_ratio: γ in (0, 1). alpha: 0 or ½. clip: c > 0. label_noise: ζ > 0.

    Raises:
        ValueError: if an argument is outside its range.

    >>> round(best_product(0.001, 0.0, 0.1, 0.3), 3)
    1.323
    """
    _power(alpha)
    mu = float(descent_reduction(clip, _validate.finite_positive("label_noise", label_noise) ** 2 / 2))
    return clip * _log(aspect_ratio) / (2 * mu * CLOCK[alpha])


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


def reduced_final(schedule: Schedule, clip: float, aspect_ratio: float, rho: float, initial: float) -> float:
    """R at the end of R' = −vR + v²γ − max(1, c²)(γ²/ρ²)(v²)', (5.13) of arXiv:2505.16329v2, the last step included.

    Here v is c η̃ for c ≤ 1 and η̃ above, so the noise is (cη̃)² γ²/ρ² in both. By variation of constants.

    Assumes: η̃² with a bounded derivative, as Assumption 2.

    Args:
        schedule: η̃. clip: c > 0. aspect_ratio: γ > 0. rho: ρ in (0, ∞]. initial: R(0).

    Raises:
        ValueError: if an argument is outside its range.
    """
    scale = min(_validate.finite_positive("clip", clip), 1.0)
    gamma, release = _validate.finite_positive("aspect_ratio", aspect_ratio), (clip * aspect_ratio) ** 2

    def clock(start: float) -> float:
        if isinstance(schedule, (Constant, Polynomial)):
            power = getattr(schedule, "exponent", 0.0)
            return scale * float(schedule(0.0)) * (1 - start) ** (power + 1) / (power + 1)
        return quad(lambda t: scale * float(schedule(t)), start, 1.0)[0]

    def source(time: float) -> float:
        private = release * float(noise_intensity(schedule, time, rho))
        return math.exp(-clock(time)) * ((scale * float(schedule(time))) ** 2 * gamma + private)

    early = [1 - 2.0**-k for k in range(1, 30)]
    pieces = zip([0.0, *early], [*early, 1.0])
    whole = sum(quad(source, low, high, epsabs=0.0, epsrel=1e-9)[0] for low, high in pieces)
    return initial * math.exp(-clock(0.0)) + whole + release * last_noise(schedule, rho)


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
