r"""Objective perturbation after a pilot: a few noisy steps first, then the perturbed minimum around where they ended.

Objective perturbation alone pulls its answer towards 0, because its guarantee needs a penalty Λ. A pilot takes that
bias away. It is noisy clipped gradient descent on all records (`guarded_descent`), which ends in θ_0; then

.. math:: \hat\theta = \arg\min_\theta \sum_i h_i(x_i^\top\theta - y_i) + \frac\Lambda2\|\theta - \theta_0\|^2
    + b^\top(\theta - \theta_0), \qquad b \sim N(0, \sigma^2 I),

with the loss of `costofprivacy.rivals.huber`. The penalty now pulls towards θ_0, and because the residuals at θ_0 are
shorter than the responses, the second clip norm can be smaller than the first.

**Before anything else** each record (x, y) is multiplied by min(1, B/‖x‖), response and features alike. That is a map
of single records, so it costs no privacy. It keeps the equation y = xᵀθ, so that B may be as short as the usual record;
shortening the features alone, as `objective_perturbation.release` does, would bias the answer.

**Guarantee.** Let the pilot be μ-Gaussian DP, κ = ln(1 + B²/Λ) < ε, t = ε − κ, s = 2C/σ and v = μ² + s². If
v ≤ 2(√(1 + t²) − 1), the release of θ_0 and θ̂ together is (ε, δ)-DP for replacing one record, with
δ = 2δ_{√v}(t) + 2δ_μ(t), where δ_m is the curve of m-Gaussian DP.

*Proof.* For a fixed θ_0 the second stage is objective perturbation on the records (x, y − xᵀθ_0), in the coordinates
θ − θ_0. The proof of `objective_perturbation` shows: whatever the neighbours, its privacy loss is at most κ plus the
largest of four terms ℓ_j, j = 1, …, 4, each of which has, for every θ_0, the law of the privacy loss of an s_j-Gaussian
mechanism, with s_1 = s_2, s_3 = s_4 and s_1² + s_3² = s². With L the privacy loss of the pilot, hence

.. math:: \delta \le E\big[(1 - e^{t - L - \max_j \ell_j})_+\big]
    \le \sum_{j=1}^4 E\big[(1 - e^{t - L - \ell_j})_+\big].

Each expectation is δ at t of a composition: the pilot, followed by an s_j-Gaussian mechanism. That is Gaussian DP with
the parameter √(μ² + s_j²) (arXiv:1905.02383, Corollary 3.3). With f(v) = δ_{√v}(t), δ ≤ 2f(μ² + s_1²) + 2f(μ² + s_3²).
The function f is convex on [0, v] under the condition on v (see `objective_perturbation`). A convex function of two
arguments with a fixed sum is largest where they are farthest apart, at s_1 = 0 and s_3 = s. ∎

Without a pilot, μ = 0, this is the guarantee of `objective_perturbation`. The pilot and the perturbation compose as two
Gaussian mechanisms do, by the sum of squares; the curvature's κ is paid for once.

**What comes after.** The same holds for a third release that is Gaussian DP whatever θ_0 and θ̂ are, for instance of
the
moments that intervals need (`sandwich`). Then μ² is the sum of the squares of both parameters.

*Proof.* Let L' be the privacy loss of the third release. For fixed θ_0 and b, E(1 − e^{z − L'})₊ is at most the δ at z
of its Gaussian mechanism, for every real z. With z = t − L − ℓ_j, the expectation over L and ℓ_j is δ at t of three
Gaussian mechanisms in a row, and the rest of the proof is the same. ∎

**What is computed** is not exact, and pays for it as `objective_perturbation` does: a public share of 10⁻³ of ε and δ
buys a further noise that hides how far the returned minimiser is from the exact one. The third release may look at the
noisy minimiser: it is as private as claimed whatever it is given, so the two budgets still add up. Indeed, for losses L
and L', x = min(1, e^{ε − L}) and y = min(1, e^{ε' − L'}) are at most 1, so that 1 − xy ≤ (1 − x) + (1 − y), whose mean
is at most δ + δ'.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from costofprivacy import _validate
from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.privacy.budgets import mills
from costofprivacy.rivals import batch_descent, guarded_descent, huber, objective_perturbation
from costofprivacy.rivals.bounds import SQUARABLE, given, prepare
from costofprivacy.rivals.objective_perturbation import FURTHER, Perturbation

_SAFE = 1 - 1e-9  # of v: what a root may be above the exact one
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_TAIL = 100.0  # beyond, δ is below 10⁻²⁰⁰⁰, and 1 − tM(t) has lost too many digits


@dataclass(frozen=True)
class Plan:
    """All stages, from public numbers alone.

    Args:
        pilot: the descent of the first stage, or None: the second starts at 0.
        added: what the second stage adds to the loss; it holds the B by which records are weighted.
        after: what a third release may spend, or None.
    """

    pilot: batch_descent.Plan | None
    added: Perturbation
    after: GaussianDP | None = None


@dataclass(frozen=True)
class Shares:
    """How a budget is divided between the stages.

    Args:
        curvature: κ/ε in (0, 1), what the determinant of the second derivative may use.
        pilot, after: the shares of v = μ² + s² that are the pilot's and the third release's; their sum is in [0, 1).
    """

    curvature: float
    pilot: float = 0.0
    after: float = 0.0

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.PROBABILITY, "curvature")
        below_one = _validate.within(0.0, math.nextafter(1.0, 0.0))
        _validate.keep(self, below_one, "pilot", "after")
        below_one("gaussian", self.gaussian)

    @property
    def gaussian(self) -> float:
        """The share of the Gaussian mechanisms, beside the perturbation."""
        return self.pilot + self.after


def strength(budget: ApproximateDP, shares: Shares) -> float:
    """The largest v = μ² + s² for which the module's guarantee holds at the budget, to about a billionth below.

    Args:
        budget: ε in (0, ∞) and δ. shares: κ/ε and the Gaussian mechanisms' part of v.

    >>> print(round(strength(ApproximateDP(1.0, 1e-5), Shares(0.5)), 4))
    0.0185
    """
    left = budget.epsilon * (1 - shares.curvature)

    def excess(log_v: float) -> float:
        """ln of what is spent over δ."""
        beside = _log_delta(shares.gaussian * math.exp(log_v), left) if shares.gaussian else -math.inf
        return float(np.logaddexp(_log_delta(math.exp(log_v), left), beside)) + math.log(2) - math.log(budget.delta)

    most = math.log(2 * left * left / (1 + math.hypot(1.0, left)))  # 2(√(1 + t²) − 1), without cancellation
    if excess(most) <= 0:
        return math.exp(most) * _SAFE
    low = most
    while excess(low) > 0:
        low -= math.log(4)
    v = math.exp(float(brentq(excess, low, most, xtol=1e-14))) * _SAFE
    while excess(math.log(v)) > 0:
        v *= _SAFE
    return v


def _log_delta(v: float, epsilon: float) -> float:
    """ln δ at ε > 0 of √v-Gaussian DP, to about 10⁻¹² or above it, however small ε, δ and v are.

    With m = √v, a = ε/m − m/2 and the Mills ratio M = (1 − Φ)/φ, δ = φ(a)(M(a) − M(a + m)), since e^ε φ(a + m) = φ(a).
    For small m the difference is the integral over [a, a + m] of −M'(t) = 1 − tM(t), which is at most 1/(1 + t²).
    Where v ≤ 2(√(1 + ε²) − 1), a is positive.
    """
    m = math.sqrt(v)
    a = epsilon / m - m / 2
    if m > 1:
        fall = float(mills(a) - mills(a + m))
    else:
        t = a + m * (_NODES + 1) / 2
        fall = m / 2 * float(_WEIGHTS @ np.where(t < _TAIL, 1 - t * mills(t), 1 / (1 + t * t)))
    return -a * a / 2 - math.log(2 * math.pi) / 2 + math.log(fall)


def main_part(budget: ApproximateDP) -> ApproximateDP:
    """What is left for the two stages when the further noise has its share."""
    return ApproximateDP((1 - FURTHER) * budget.epsilon, (1 - FURTHER) * budget.delta)


def calibrate(
    budget: ApproximateDP,
    shares: Shares,
    feature_bound: float,
    clip_norm: float,
    pilot_clip_norm: float | None = None,
    pilot_rates: tuple[float, ...] = (),
) -> Plan:
    """The least noise and penalty of the module's guarantee for given shares, and the noise of the pilot.

    Λ = B²/(e^κ − 1), or B²/`huber.REACH` where that is more. B and C are taken larger by what rounding may add to ‖x‖
    and to a clipped gradient.

    Args:
        budget: ε in (0, ∞) and δ. shares: of the stages; ``shares.pilot`` is 0 exactly if there are no rates.
        feature_bound: B. clip_norm: C of the second stage. pilot_clip_norm: of the pilot; C if left out.
        pilot_rates: η_t of the pilot's steps.

    Raises:
        ValueError: if an argument is outside its range, or the pilot has a share and no step or the other way round.

    >>> plan = calibrate(ApproximateDP(1.0, 1e-5), Shares(0.3, 0.2), 2.0, 0.5, 1.0, (0.5, 0.5))
    >>> print(round(plan.added.penalty, 2), round(plan.added.noise_std, 2), round(plan.pilot.noise_multiplier, 1))
    11.45 6.03 17.1
    """
    _validate.finite_positive("epsilon", budget.epsilon)
    if bool(pilot_rates) != bool(shares.pilot):
        raise ValueError(f"shares.pilot must be 0 exactly if the pilot has no step, got {shares} for {pilot_rates}")
    clip_norm, feature_bound = SQUARABLE("clip_norm", clip_norm), SQUARABLE("feature_bound", feature_bound)
    main = main_part(budget)
    v = strength(main, shares)
    kappa = min(shares.curvature * main.epsilon, 700.0)
    penalty = (feature_bound * huber.ROUNDING**2) ** 2 / min(math.expm1(kappa), huber.REACH)
    std = 2 * clip_norm * huber.ROUNDING / math.sqrt((1 - shares.gaussian) * v)
    with np.errstate(divide="ignore"):  # the search of dp-accounting meets log 0 where ε is tiny
        further = ApproximateDP(FURTHER * budget.epsilon, FURTHER * budget.delta).to_gaussian().mu
    further_std = 2 * huber.TOLERANCE * clip_norm / penalty / further
    added = Perturbation(penalty, std, clip_norm, feature_bound, further_std)
    after = GaussianDP(math.sqrt(shares.after * v)) if shares.after else None
    if not pilot_rates:
        return Plan(None, added, after)
    noise = math.sqrt(len(pilot_rates) / (shares.pilot * v))
    own = clip_norm if pilot_clip_norm is None else pilot_clip_norm
    return Plan(batch_descent.Plan(own, tuple(pilot_rates), noise), added, after)


@dataclass(frozen=True, eq=False)
class Released:
    """What `release` returns: θ̂ and the pilot's end θ_0, each of shape (d,)."""

    theta: np.ndarray
    centre: np.ndarray


@np.errstate(all="ignore")
def weighted(x: np.ndarray, y: np.ndarray, bound: float) -> tuple[np.ndarray, np.ndarray]:
    """Records multiplied by min(1, B/‖x‖), features and response alike.

    Guarantee: each returned record depends on itself alone, ‖x‖ ≤ B to rounding (`huber.ROUNDING`), and one that
    doubles cannot bound is void.

    Args:
        x: shape (n, d). y: shape (n,). Numbers of any type. bound: B in (0, ∞).

    Returns:
        the same shapes, in double precision; the arrays themselves where no record is longer.

    >>> x, y = weighted(np.array([[3.0, 4.0], [0.3, 0.4]]), np.array([10.0, 1.0]), 1.0)
    >>> print(x.round(6).tolist(), y.round(6).tolist())
    [[0.6, 0.8], [0.3, 0.4]] [2.0, 1.0]
    """
    x, y = given(x, y)
    norm = np.sqrt(np.einsum("nd,nd->n", x, x))
    if (norm <= _validate.finite_positive("bound", bound) * huber.ROUNDING).all():
        return x, y
    factor = np.where(norm > bound * huber.ROUNDING, bound / np.maximum(norm, bound), 1.0)
    return x * factor[:, None], y * factor


@np.errstate(all="ignore")
def release(x: np.ndarray, y: np.ndarray, plan: Plan, *, rng: np.random.Generator) -> Released:
    """The pilot's end, and the perturbed minimum around it.

    Guarantee: that of `calibrate`, whatever the records; what ``plan.after`` spends is left for the caller.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). Numbers of any type. plan: from `calibrate`.
        rng: source of all noise.

    Raises:
        ValueError: if there is no record, shapes disagree or an array is not of numbers.
        ArithmeticError: as in `huber.minimum`.
    """
    x, y = weighted(x, y, plan.added.feature_bound)
    centre = np.zeros(x.shape[1])
    if plan.pilot is not None:
        centre = guarded_descent.release(x, y, plan.pilot, rng=rng)
    told = prepare(x, y - x @ centre)
    return Released(centre + objective_perturbation.minimiser(told, plan.added.clip_norm, plan.added, rng=rng), centre)
