r"""Objective perturbation: minimise the penalised loss plus a random linear term, and release the minimiser.

Chaudhuri, Monteleoni and Sarwate (2011), with the Gaussian term of Kifer, Smith and Thakurta (2012), and an
accounting of our own for the replacement of a record, after the hockey-stick analysis of Redberg, Koskela and Wang
(2023).

.. math:: \hat\theta = \arg\min_\theta \sum_i h_i(x_i^\top\theta - y_i) + \frac\Lambda2\|\theta\|^2 + b^\top\theta,
    \qquad b \sim N(0, \sigma^2 I),

with the loss of `costofprivacy.rivals.huber`: slopes at most C long, curvature at most B² = max ‖x‖².

**Guarantee.** Let κ = ln(1 + B²/Λ) < ε, t = ε − κ and s = 2C/σ. If s² ≤ 2(√(1 + t²) − 1), the release is (ε, δ)-DP for
replacing one record, with δ = 2δ_s(t), δ_s the curve of s-Gaussian DP.

*Proof.* θ̂ determines b = −∇J_D(θ̂), a one-to-one map whose derivative is the second derivative H_D of J_D almost
everywhere. Let D' differ from D in one record, whose gradients at θ̂ are u and u', and write w = u − u'. Under D the
log
of the ratio of densities at θ̂ is

.. math:: \frac{\|b + w\|^2 - \|b\|^2}{2\sigma^2} + \ln\frac{\det H_D}{\det H_{D'}}.

*The determinants*: H_D = H + a xxᵀ with H ⪰ ΛI and a in [0, 1], so det H_D/det H lies in [1, 1 + B²/Λ]; so does
that of D', and the second term is at most κ. *The first term*: x and x' do not depend on b, only the lengths of u and
u' along them do. So w = αe − βe' with unit vectors e, e' and |α|, |β| ≤ C. The term is convex in w, hence largest at
a corner of this rhombus: at ±w₁ or ±w₂, w₁ = C(e + e'), w₂ = C(e − e'), with ‖w₁‖² + ‖w₂‖² = 4C². There it is s_j g +
s_j²/2 with s_j = ‖w_j‖/σ and g a standard normal: the privacy loss of the s_j-Gaussian mechanism. As δ ≤ E[(1 − e^{ε
− loss})₊] and a maximum of four is at most their sum, δ ≤ 2δ_{s_1}(t) + 2δ_{s_2}(t) with s_1² + s_2² = s². Finally v
↦ δ_{√v}(t) has the derivative φ(√v/2 − t/√v)/(2√v), which increases where v²/4 + v ≤ t²: it is convex on [0, s²] by
the condition on s, and 0 at 0, hence superadditive, and the sum is at most 2δ_s(t). ∎

**A solver is not exact.** The one in use finds θ̂ with ‖∇J(θ̂)‖ ≤ γ = 10⁻¹⁴ C, whatever the data (`huber.minimum`).
What is released is θ̂ plus further Gaussian noise: *approximate minima perturbation* (Iyengar, Near, Song, Thakkar,
Thakurta and Wang, 2019). The budget is split into (ε₁, δ₁) and (ε₂, δ₂), of which the second is a public share of 10⁻³.

*Proof.* Let θ* be the exact minimiser. Releasing θ* alone is (ε₁, δ₁)-DP by the above. Given D and θ*, b = −∇J_D(θ*)
without its linear term is determined, and so is θ̂ − θ*; J is Λ-strongly convex, hence ‖θ̂ − θ*‖ ≤ γ/Λ. For two
neighbours and one θ* these differences are at most 2γ/Λ apart. Adding to θ̂ − θ* noise that is calibrated to the
sensitivity 2γ/Λ is (ε₂, δ₂)-DP for each θ*. By adaptive composition both together are (ε, δ)-DP, and the release is
their sum. ∎

The further noise is small: its standard deviation is 2γ/(Λμ₂), with μ₂ about 10⁻³ of the μ for ε and δ. Even where all
n records are within their limits, the main noise moves θ by 2C/(s(nB² + Λ)) or more. The ratio of the two is at most
about 10⁻¹¹ (1 + nB²/Λ): 10⁻⁸ for a thousand records and 10⁻⁵ for a million, where B²/Λ is near 1.

What remains is rounding that does not grow with the data: that of b and of the further noise, each drawn as doubles,
and the last one of the release.
"""

import math
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import ApproximateDP
from costofprivacy.rivals import huber
from costofprivacy.rivals.bounds import SQUARABLE, Prepared, given, prepare, shortened

FURTHER = 1e-3  # the share of ε, and of δ, that pays for a minimiser that is not exact
MOST_NOISE = 1e11  # the largest σ/C


@dataclass(frozen=True)
class Perturbation:
    """What objective perturbation adds to the loss, and to its minimiser.

    Args:
        penalty: Λ, of the sum of losses. noise_std: σ of each coordinate of b. clip_norm, feature_bound: the C and B
            that they were calibrated for. further_std: of each coordinate of the noise added to the minimiser.
            All positive; C, Λ and C/Λ in [10⁻¹⁵⁰, 10¹⁵⁰], σ/C at most 10¹¹.

    Raises:
        ValueError: if a number is outside its range.
    """

    penalty: float
    noise_std: float
    clip_norm: float
    feature_bound: float
    further_std: float

    def __post_init__(self) -> None:
        _validate.keep(self, SQUARABLE, "clip_norm", "penalty")
        huber.within_doubles(self.clip_norm, self.penalty)
        _validate.keep(self, _validate.FINITE_POSITIVE, "noise_std", "feature_bound", "further_std")
        _validate.between("noise_std / clip_norm", self.noise_std / self.clip_norm, 0.0, MOST_NOISE)


def calibrate(budget: ApproximateDP, share: float, clip_norm: float, feature_bound: float) -> Perturbation:
    """The least penalty and noise of the module's guarantee when the curvature may use a share of ε.

    With ε₁ = (1 − `FURTHER`)ε, κ = share·ε₁ gives Λ = B²/(e^κ − 1), or B²/`huber.REACH` where that is more: with less,
    doubles would not tell where a record's loss bends. s is the largest for which both conditions hold at (ε₁, δ₁).
    B and C are taken larger by what rounding may add to ‖x‖ and to a clipped gradient.

    Args:
        budget: ε in (0, ∞) and δ. share: κ/ε₁ in (0, 1). clip_norm: C. feature_bound: B. Both in [10⁻¹⁵⁰, 10¹⁵⁰], and
            such that `Perturbation` admits them.

    Raises:
        ValueError: if an argument is outside its range, or asks for a noise or a penalty that is.

    >>> added = calibrate(ApproximateDP(1.0, 1e-5), 0.5, clip_norm=1.0, feature_bound=2.0)
    >>> print(round(added.penalty, 2), round(added.noise_std, 1), f"{added.further_std:.0e}")
    6.17 14.7 1e-11
    """
    share = _validate.probability("share", share)
    _validate.finite_positive("epsilon", budget.epsilon)
    clip_norm, feature_bound = SQUARABLE("clip_norm", clip_norm), SQUARABLE("feature_bound", feature_bound)
    main = ApproximateDP((1 - FURTHER) * budget.epsilon, (1 - FURTHER) * budget.delta)
    further = ApproximateDP(FURTHER * budget.epsilon, FURTHER * budget.delta)
    curvature = share * main.epsilon
    left = main.epsilon - curvature
    most = left * math.sqrt(2 / (1 + math.hypot(1.0, left)))  # √(2(√(1 + t²) − 1)), without cancellation
    s = min(ApproximateDP(left, main.delta / 2).to_gaussian().mu, most)
    penalty = (feature_bound * huber.ROUNDING**2) ** 2 / min(math.expm1(min(curvature, 700.0)), huber.REACH)
    std = 2 * clip_norm * huber.ROUNDING / s
    further_std = 2 * huber.TOLERANCE * clip_norm / penalty / further.to_gaussian().mu
    return Perturbation(penalty, std, clip_norm, feature_bound, further_std)


@np.errstate(all="ignore")
def release(
    x: np.ndarray, y: np.ndarray, clip_norm: float, added: Perturbation, *, rng: np.random.Generator
) -> np.ndarray:
    """The minimiser of the perturbed objective, with a little further noise, shape (d,).

    Guarantee: that of `calibrate`, whatever the records: each gradient is clipped at C, features beyond the B of
    ``added`` are shortened to it, and the further noise pays for the distance to the exact minimiser. The sum of
    minimiser and further noise is rounded once, at the end.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). clip_norm: C in (0, ∞), that of ``added``.
        added: from `calibrate`. rng: source of b, and then of the further noise.

    Raises:
        ValueError: if there is no record, shapes disagree, or ``added`` was calibrated for another C.
        ArithmeticError: as in `huber.minimum`.
    """
    x, y = given(x, y)
    return minimiser(prepare(shortened(x, added.feature_bound), y), clip_norm, added, rng=rng)


@np.errstate(all="ignore")
def minimiser(
    told: Prepared,
    clip_norm: float,
    added: Perturbation,
    start: np.ndarray | None = None,
    *,
    rng: np.random.Generator,
) -> np.ndarray:
    """`release` from records that are shortened to the B of ``added``, by `bounds.shortened`, and prepared.

    Guarantee, Args, Raises: as there. start: as in `huber.minimum`.
    """
    if clip_norm != added.clip_norm:
        raise ValueError(f"clip_norm must be that of added, {added.clip_norm!r}, got {clip_norm!r}")
    linear = added.noise_std * rng.standard_normal(len(told.live))
    further = added.further_std * rng.standard_normal(len(told.live))
    found = huber.minimum_of(told, clip_norm, added.penalty, linear, start)
    return found.high + (found.low + further)
