r"""C, G, G₀, R, σ of (4.1) and Theorem 3.2 of arXiv:2504.16000v2; learning rates and numbers of iterations.

G and G₀ are printed twice: Theorem 4.1 has C L^{-1/2}(1 + (log(N/κ))^{1/2}/D), its proof (A.11), (A.13) and the
published numbers have C L^{-1/2}(1 + (log(N/κ)/D²)^{1/4}). Both forms are here under names of their own.
"""

import math
from dataclasses import dataclass

from costofprivacy import _validate
from costofprivacy.noisyhead.prompts import PromptModel


def clip_norm(model: PromptModel, N: int, failure: float) -> float:
    """C = √(2ν log(NL/κ)), (4.1); κ = ``failure`` in (0, NL).

    >>> round(clip_norm(PromptModel(D=5, L=31), 1000, 1.0), 4)
    4.5479
    """
    odds = _validate.whole("N", N) * model.L / _validate.finite_positive("failure", failure)
    if odds <= 1:
        raise ValueError(f"failure must be below NL = {N * model.L}, got {failure!r}")
    return math.sqrt(2 * model.response_variance * math.log(odds))


def _log_odds(N: int, failure: float) -> float:
    """log(N/κ), refused where it is negative."""
    if not 0 < _validate.finite_positive("failure", failure) <= N:
        raise ValueError(f"failure must be at most N = {N}, got {failure!r}")
    return math.log(N / failure)


def feature_bound_theorem(model: PromptModel, N: int, failure: float) -> float:
    """G as Theorem 4.1 prints it: C L^{-1/2}(1 + (log(N/κ))^{1/2}/D)."""
    excess = math.sqrt(_log_odds(N, failure)) / model.D
    return clip_norm(model, N, failure) / math.sqrt(model.L) * (1 + excess)


def feature_bound_proof(model: PromptModel, N: int, failure: float) -> float:
    """G as the proof of Theorem 4.1 and the published numbers use it: C L^{-1/2}(1 + (log(N/κ)/D²)^{1/4}).

    >>> round(feature_bound_proof(PromptModel(D=5, L=31), 1000, 1.0), 4)
    1.409
    """
    excess = (_log_odds(N, failure) / model.D**2) ** 0.25
    return clip_norm(model, N, failure) / math.sqrt(model.L) * (1 + excess)


def query_bound_theorem(model: PromptModel, N: int, failure: float) -> float:
    """G₀ as Theorem 4.1 prints it: C L^{-1/2}(1 + (log(1/κ))^{1/2}/D), for κ ≤ 1."""
    return clip_norm(model, N, failure) / math.sqrt(model.L) * (1 + math.sqrt(_log_odds(1, failure)) / model.D)


def query_bound_proof(model: PromptModel, N: int, failure: float) -> float:
    """G₀ as (A.13) has it: C L^{-1/2}(1 + (log(1/κ)/D²)^{1/4}), for κ ≤ 1."""
    return clip_norm(model, N, failure) / math.sqrt(model.L) * (1 + (_log_odds(1, failure) / model.D**2) ** 0.25)


def feature_bound_uniform(model: PromptModel, N: int, failure: float) -> float:
    r"""A bound on max_k ‖Z_k‖_F, responses clipped at C, that holds with probability at least 1 − κ at every L.

    For a unit vector v, (vᵀm)² ≤ L⁻¹ Σ (vᵀx_i)² · L⁻¹ Σ y_i² ≤ ‖S‖ C² with S = L⁻¹ Σ x_i x_iᵀ: ‖Z‖_F = ‖m‖ ≤ C√‖S‖,
    and ‖S‖ ≤ 1 always. The matrix Chernoff bound (Tropp 2012, arXiv:1004.4389, Theorem 1.1) for L independent
    x_i x_iᵀ/L of norm 1/L and mean I/(DL) gives ‖S‖ ≤ (1 + t)/D with probability 1 − D exp(−L h(t)/D),
    h(t) = (1 + t) log(1 + t) − t; here t is such that N prompts together fail with κ = ``failure`` < 1 at most.
    """
    failure = _validate.probability("failure", failure)
    rate = model.D * math.log(N * model.D / failure) / model.L
    return clip_norm(model, N, failure) * math.sqrt(min(1.0, (1 + _bennett_inverse(rate)) / model.D))


def _bennett_inverse(value: float) -> float:
    """The t ≥ 0 with (1 + t) log(1 + t) − t = value, by bisection in log t (accurate to rounding)."""
    low, high = 0.0, 4 + 4 * value
    for _ in range(200):
        t = (low + high) / 2
        low, high = (t, high) if (1 + t) * math.log1p(t) - t < value else (low, t)
    return high


def weight_bound(model: PromptModel, N: int, failure: float, penalty: float) -> float:
    """R as the experiments take it, (4.1) without its last factor: λ⁻¹C²√(N/L)."""
    penalty = _validate.finite_positive("penalty", penalty)
    return clip_norm(model, N, failure) ** 2 * math.sqrt(N / model.L) / penalty


def weight_bound_theorem(model: PromptModel, N: int, failure: float, penalty: float) -> float:
    """R of (4.1) with constant one: λ⁻¹C²√(N/L)(1 + (log(1/κ))^{1/2}/D), for κ ≤ 1."""
    excess = math.sqrt(_log_odds(1, failure)) / model.D
    return weight_bound(model, N, failure, penalty) * (1 + excess)


def weight_bound_kept(model: PromptModel, N: int, failure: float, penalty: float) -> float:
    """λ⁻¹C²/√(NL): the R at which (A.12) arrives if its last step keeps the factor 1/N of (2.7); no bound on ‖Γ*‖.

    E y Z = I/D² does not vanish as N grows, this does.
    """
    return weight_bound(model, N, failure, penalty) / N


def weight_bound_objective(clip_norm: float, penalty: float) -> float:
    """C/√λ ≥ ‖Γ*‖_F for every data set with |y| ≤ C: the objective (2.6) at Γ* is at most that at 0, C²."""
    return clip_norm / math.sqrt(_validate.finite_positive("penalty", penalty))


def weight_bound_singular(clip_norm: float, penalty: float) -> float:
    """C/(2√λ) ≥ ‖Γ*‖_F for every data set with |y| ≤ C.

    With the N × D² matrix A of the vec(Z_k), Γ* = (AᵀA + λN I)⁻¹Aᵀy has norm at most max_s s/(s² + λN)·‖y‖₂, which is
    1/(2√(λN)) at s = √(λN), times C√N. Attained: one prompt direction with s² = λN and |y| = C.
    """
    return clip_norm / (2 * math.sqrt(_validate.finite_positive("penalty", penalty)))


def sensitivity_scale(clip_norm: float, weight_bound: float, feature_bound: float) -> float:
    """σ = 2G(C + RG), Theorem 3.2: N/η₀ times its bound on the sensitivity of one update."""
    return 2 * feature_bound * (clip_norm + weight_bound * feature_bound)


def learning_rate_printed(feature_bound: float) -> float:
    """η₀ = 3.17/(5 + G²)², section 6.1, which prints λ = 5 as a number."""
    return 3.17 / (5 + feature_bound**2) ** 2


def learning_rate_published(feature_bound: float, penalty: float) -> float:
    """η₀ = 0.95·2λ/(3(λ + G²)²), behind the published numbers; 3.167/(5 + G²)² at λ = 5."""
    return 0.95 * 2 * penalty / (3 * (penalty + feature_bound**2) ** 2)


def learning_rate_scaled(feature_bound: float, penalty: float, share: float) -> float:
    """η₀ = share·λ/(λ + G²)²: the form of every learning rate in the high-dimensional experiments of section 6.

    Raises:
        ValueError: if ``share`` is not positive.
    """
    return _validate.finite_positive("share", share) * penalty / (penalty + feature_bound**2) ** 2


def learning_rate_interval(feature_bound: float, penalty: float) -> float:
    """The upper end λ/(2λ + G²)² of the interval for η₀ in Theorem 4.1."""
    return penalty / (2 * penalty + feature_bound**2) ** 2


def iterations(power_of_N: float, N: int, learning_rate: float, penalty: float) -> int:
    """T = ⌊log N^a / log(1/(1 − η₀λ))⌋, at least 1: section 6.1, a = 5/2, with the sign that it misses.

    Raises:
        ValueError: unless 0 < η₀λ < 1.
    """
    step = learning_rate * penalty
    if not 0 < step < 1:
        raise ValueError(f"learning_rate * penalty must be between 0 and 1, got {step!r}")
    return max(1, math.floor(power_of_N * math.log(N) / -math.log1p(-step)))


SMALLEST, LARGEST = 1e-50, 1e50  # no product or square that a sensitivity is made of leaves the doubles
MOST_REACH = 1e150  # of R and RG²: the bound R of the paper's theorems is astronomical for a small penalty


@dataclass(frozen=True)
class Hyperparameters:
    """All that Algorithm 1 is told, besides its privacy budget.

    Args:
        clip_norm: C. feature_bound: G. weight_bound: R.
        penalty: λ as the update uses it; its fixed point is the ridge solution at 2λ.
        learning_rate: η₀. steps: T.

    Raises:
        ValueError: if T is not a whole number of at least 1, another number is not in [`SMALLEST`, `LARGEST`], or R or
            RG² is above `MOST_REACH`.
    """

    clip_norm: float
    feature_bound: float
    weight_bound: float
    penalty: float
    learning_rate: float
    steps: int

    def __post_init__(self) -> None:
        _validate.keep(
            self,
            _validate.within(SMALLEST, LARGEST, _validate.FINITE_POSITIVE),
            "clip_norm",
            "feature_bound",
            "penalty",
            "learning_rate",
        )
        _validate.keep(self, _validate.within(SMALLEST, MOST_REACH, _validate.FINITE_POSITIVE), "weight_bound")
        _validate.between("weight_bound · feature_bound²", self.weight_bound * self.feature_bound**2, 0, MOST_REACH)
        _validate.keep(self, _validate.at_least(1), "steps")

    @property
    def sigma(self) -> float:
        """σ of Theorem 3.2."""
        return sensitivity_scale(self.clip_norm, self.weight_bound, self.feature_bound)

    @property
    def contraction(self) -> float:
        """The Lipschitz constant of one update over all data sets: max |1 − η₀h|, h in [2λ, 2λ + G²]."""
        ends = (2 * self.penalty, 2 * self.penalty + self.feature_bound**2)
        return max(abs(1 - self.learning_rate * h) for h in ends)
