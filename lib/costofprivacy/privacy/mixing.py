r"""The Gaussian mixing mechanism: what k random Gaussian combinations of the records reveal, exactly.

Sheffet (2017), arXiv:1507.02482, and Lev, Srinivasan, Shenfeld, Ligett, Sekhari and Wilson (2025), arXiv:2505.24603.
(Lu, Magdon-Ismail, Wei and Zikas, arXiv:2309.01243, have the δ of two given Gaussians; here is the worst pair.)
The records are the rows of A, each of norm at most R. The mechanism releases SA + √γ G with independent standard normal
matrices S and G: k independent rows of N(0, AᵀA + γI). Without noise (γ = 0) it protects a record whose direction the
other records cover. So write W for AᵀA + γI without the replaced record, assume W ⪰ ΓI, and let s = R²/Γ.

**Theorem.** For replacing one record, the k rows are exactly as hard to tell apart, at worst, as k draws of

.. math:: P = N(0, \mathrm{diag}(1 + s, 1)) \quad\text{and}\quad Q = N(0, \mathrm{diag}(1, 1 + s)) .

*Proof.* The two laws of a row are N(0, W + aaᵀ) and N(0, W + bbᵀ) with ‖a‖, ‖b‖ ≤ R. After multiplication by W^(−1/2)
they are N(0, I + uuᵀ) and N(0, I + vvᵀ), and ‖u‖², ‖v‖² ≤ s. We show that one random map turns P into the first and Q
into the second. Changing the sign of v changes nothing, so let g = u·v ≥ 0. If g = s, then u = v and there is nothing
to show. Else let ρ = g/s < 1, and for some τ ≤ 0

.. math:: l_1 = \frac{\cosh\tau\,u + \sinh\tau\,v}{\sqrt s}, \quad l_2 = \frac{\sinh\tau\,u + \cosh\tau\,v}{\sqrt s},
    \quad N = I + uu^\top - (1 + s)\,l_1l_1^\top - l_2l_2^\top .

Since s(l₁l₁ᵀ − l₂l₂ᵀ) = uuᵀ − vvᵀ, also N = I + vvᵀ − l₁l₁ᵀ − (1 + s) l₂l₂ᵀ. So the map z ↦ z₁l₁ + z₂l₂ + N(0, N) is
the one we look for, if N ⪰ 0. Let U have the columns u and v. Then N = I − UKUᵀ, where K has equal diagonal entries and
the eigenvectors (1, ±1). Its eigenvalues there are (1/s)(1 + (s + 2)(e^{±2τ} − 1)/2). Let G have s on the diagonal and
g beside it; it has the same eigenvectors, and the eigenvalues s(1 ± ρ). As G − UᵀU is diagonal with entries ≥ 0,
UG⁻¹Uᵀ ⪯ I. So K ⪯ G⁻¹ is enough, that is, (1 ± ρ)(1 + (s + 2)(e^{±2τ} − 1)/2) ≤ 1. Let A = 2ρ/((1 + ρ)(s + 2)) and
B = 2ρ/((1 − ρ)(s + 2)). The two conditions read e^{2τ} ≤ 1 − A and e^{−2τ} ≤ 1 + B. Some τ ≤ 0 satisfies both if
(1 − A)(1 + B) ≥ 1. For ρ > 0 that is 1/A − 1/B ≥ 1, and the left side is s + 2; for ρ = 0 both are 0. The pair is
attained by orthogonal a and b of norm R where W = ΓI. ∎

**The loss.** Under P, the log of the ratio of densities of k draws is sX − (s/(1 + s))Y, where X and Y are independent
Gamma variables of shape k/2. By symmetry it has the same law under Q in the other order. It is close to a Gaussian loss
of μ = s√k where s is small.

**Composition.** A map as in the proof exists in each of several rounds, whatever the rounds before released. So the
losses of adaptive rounds add, those of Gaussian mechanisms too. Each loss is rounded upwards to a grid, and
dp-accounting convolves them, so the δ is an upper bound. The rounding of its transforms is covered by `TRANSFORMS`.
"""

import functools
import math

import numpy as np
from dp_accounting.pld import pld_pmf, privacy_loss_distribution
from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv

from costofprivacy import _validate
from costofprivacy.privacy.budgets import ApproximateDP, GaussianDP

WIDTHS = 10_000  # of the grid of losses, to ε
MOST_BINS = 400_000
CUT = 1e-4  # the share of δ that may be cut off as the tail of a loss
TRANSFORMS = 1e-14  # what the rounding of the transforms may add to δ
LEAST_DELTA = 1e-12
LEAST_RATIO, MOST_RATIO = 1e-9, 1e6
CLOSE = 1e-4  # relative, of ratios that are not told apart
START = 0.02  # the first step of a search, in ln s
MOST_TURNS = 60


def delta(ratio: float, rows: int, epsilon: float, other: GaussianDP | None = None) -> float:
    """The δ at ε of ``rows`` rows of sketches, and of Gaussian mechanisms beside them: an upper bound.

    Guarantee: the true δ for replacing one record is at most the value. It is at least the value at an ε that is about
    10⁻⁴ of itself larger, less 10⁻³ of itself and 10⁻¹⁴.

    Args:
        ratio: s in [10⁻⁹, 10⁶], the largest squared norm of a record over the least eigenvalue Γ.
        rows: k of all rounds together, at least 1.
        epsilon: ε in (0, ∞).
        other: what the Gaussian mechanisms spend together; none if left out.

    Raises:
        ValueError: if an argument is outside its range.

    >>> print(f"{delta(0.01, 500, 1.0):.2e} {delta(0.01, 500, 1.0, GaussianDP(0.1)):.2e}")
    3.22e-07 2.03e-06
    """
    s = _validate.between("ratio", ratio, LEAST_RATIO, MOST_RATIO)
    shape = _validate.whole("rows", rows) / 2
    return _delta(s, shape, _validate.finite_positive("epsilon", epsilon), other.mu if other else 0.0, LEAST_DELTA)


def largest_ratio(budget: ApproximateDP, rows: int, other: GaussianDP | None = None) -> float:
    """The largest ratio s at which the rows and the Gaussian mechanisms together spend the budget, to about 10⁻⁴.

    Guarantee: `delta` of the result was computed, and is at most δ.

    Args:
        budget: ε in (0, ∞), and δ of at least 10⁻¹². rows: k of all rounds together, at least 1.
        other: what the Gaussian mechanisms spend together; none if left out.

    Raises:
        ValueError: if an argument is outside its range, or the Gaussian mechanisms leave nothing for the rows.

    >>> round(largest_ratio(ApproximateDP(1.0, 1e-6), 500), 4)
    0.0106
    """
    _validate.finite_positive("epsilon", budget.epsilon)
    _validate.between("delta", budget.delta, LEAST_DELTA, 1.0)
    return _largest(budget, _validate.whole("rows", rows), other.mu if other else 0.0)


@functools.lru_cache
def _largest(budget: ApproximateDP, rows: int, mu: float) -> float:
    whole = budget.to_gaussian().mu

    def excess(log_ratio: float) -> float:
        """ln of δ spent over δ."""
        found = _delta(math.exp(log_ratio), rows / 2, budget.epsilon, mu, budget.delta)
        return math.log(max(found / budget.delta, 1e-12))

    left = math.sqrt(max(whole**2 - mu**2, 0.0))
    if left < 1e-3 * whole:
        raise ValueError(f"other must spend less than the budget, mu = {whole:.4g}, got {mu!r}")
    least, most = math.log(LEAST_RATIO), math.log(MOST_RATIO)
    low = high = min(max(math.log(left / math.sqrt(rows)), least), most)  # of the Gaussian loss that it resembles
    step = START
    while excess(low) > 0:
        if low <= least:
            raise ValueError(f"rows must be fewer for a budget of {budget}, got {rows!r}")
        high, low, step = low, max(low - step, least), 2 * step
    while high == low < most:
        high = min(high + step, most)
        if excess(high) <= 0:
            low, step = high, 2 * step
    for _ in range(MOST_TURNS):
        if high - low <= CLOSE:
            break
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return math.exp(low)


def _delta(s: float, shape: float, epsilon: float, mu: float, least: float) -> float:
    """`delta`; tails of ``CUT`` of the δ of about ``least`` count as δ."""
    tail = CUT * least
    ends = gammaincinv(shape, tail), gammainccinv(shape, tail)
    length = s * (ends[1] - ends[0])
    width = max(epsilon / WIDTHS, length / MOST_BINS)
    total = _losses(s, shape, ends, width, upwards=True).compose(
        _losses(s / (1 + s), shape, ends, width, upwards=False), tail
    )
    if mu:
        gauss = privacy_loss_distribution.from_gaussian_mechanism(
            1 / mu, value_discretization_interval=width, log_mass_truncation_bound=math.log(tail)
        )
        total = total.compose(gauss, tail)
    return min(1.0, float(total.get_delta_for_epsilon(epsilon)) + TRANSFORMS)


def _losses(
    scale: float, shape: float, ends: tuple[float, float], width: float, *, upwards: bool
) -> privacy_loss_distribution.PrivacyLossDistribution:
    """The law of a Gamma variable times ±``scale``, rounded upwards to multiples of ``width``.

    What lies below the grid is moved up to its first point, what lies above counts as an infinite loss.
    """
    sign = 1.0 if upwards else -1.0
    near, far = sorted(sign * scale * end / width for end in ends)
    first, last = math.floor(near), math.ceil(far)
    values = sign * np.arange(first, last + 1) * width / scale  # of the Gamma variable, at the grid's points
    if upwards:
        below, above = gammainc(shape, np.maximum(values, 0.0)), gammaincc(shape, np.maximum(values, 0.0))
    else:
        below, above = gammaincc(shape, np.maximum(values, 0.0)), gammainc(shape, np.maximum(values, 0.0))
    masses = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
    probabilities = np.concatenate([below[:1], np.maximum(masses, 0.0)])
    pmf = pld_pmf.DensePLDPmf(width, first, probabilities, float(above[-1]), True)
    return privacy_loss_distribution.PrivacyLossDistribution(pmf)
