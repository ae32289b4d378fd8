r"""Noisy clipped gradient descent: on all records in each step, or on a Poisson sample of them (DP-SGD).

Abadi et al. (2016); on all records, and for linear regression, Brown et al. (2024). From θ_0 = 0, for t = 1, …, T,

.. math:: \theta_t = \theta_{t-1} - \frac{\eta_t}{qn}\Big(\sum_{i \in S_t}\bar g_i + 2C\sigma b_t\Big), \qquad
    \|\bar g_i\| \le C, \quad b_t \sim N(0, I),

where S_t holds each record with probability q, independently: all of them for q = 1.

**Guarantee**, for replacing one record, which moves a sum of clipped gradients by at most 2C, also if all iterates
are released. *All records*: T Gaussian mechanisms of 1/σ each are √T/σ-Gaussian DP, exactly. *Samples*: the privacy
losses of `privacy.subsampled` for the relation "replace one"; only this relation is right here, add-or-remove would
count half the sensitivity.

**What the plans of clipped descents share: the public guesses that they start from, what they try, when they give up.**

A plan reads no record. It is told E(xᵀθ*)², the variance ζ² of the label noise, and the dimension, for features with
E‖x‖² = d; it runs a recursion for v = ‖θ − θ*‖² at every candidate, and takes the one with the least error.

**What clipping does to a normal residual: the two numbers with which a plan predicts a clipped descent.**

Let g be a standard normal and ψ(g) = max(−z, min(g, z)). With features of covariance I and length about √d, and
residuals of variance P, gradients clipped at C = z√(dP) have residuals clipped at z√P. By Stein's identity the mean of
the clipped gradients is that of the others times E ψ'(g) (`kept`), and one coordinate of a clipped gradient has the
mean square P E ψ(g)² (`mean_square`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from costofprivacy import _validate
from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    GaussianMechanism,
    exact_composed_noise_multiplier,
    subsampled,
    sums,
)
from costofprivacy.privacy.subsampled import Neighbours
from costofprivacy.rivals.bounds import SQUARABLE, prepare, within_reach

_FINEST = 2.0**53  # a generator's numbers in [0, 1) are multiples of its inverse


def spent_epsilon(noise_multiplier: float, sampling: float, steps: int, delta: float) -> float:
    """ε at δ of T steps on Poisson samples, replace one record: an upper bound, `privacy.subsampled.poisson_epsilon`.

    Args:
        noise_multiplier: σ in (0, ∞), the noise over the sensitivity 2C. sampling: q in (0, 1]. steps: T ≥ 1.
        delta: δ in (0, 1).

    Raises:
        ValueError: if an argument is outside its range.
    """
    noise_multiplier = _validate.finite_positive("noise_multiplier", noise_multiplier)
    sampling = _validate.SHARE("sampling", sampling)
    # There the noise is measured by the bound C of one record; replacing it moves the sum by 2C.
    return subsampled.poisson_epsilon(2 * noise_multiplier, sampling, steps, delta, Neighbours.REPLACE)


def noise_multiplier(budget: ApproximateDP, sampling: float, steps: int) -> float:
    """The smallest σ, to about a thousandth above, for which T steps spend the budget.

    Guarantee: for q < 1 `spent_epsilon` of the result was computed, and is at most ε.

    Args:
        budget: ε in (0, ∞) and δ. sampling: q in (0, 1]. steps: T, at least 1.

    Raises:
        ValueError: if an argument is outside its range.

    >>> round(noise_multiplier(ApproximateDP(1.0, 1e-5), 1.0, 4), 2)
    7.46
    """
    _validate.finite_positive("epsilon", budget.epsilon)
    if _validate.SHARE("sampling", sampling) == 1:
        return exact_composed_noise_multiplier(budget, steps)
    return subsampled.poisson_noise_multiplier(budget, sampling, steps, Neighbours.REPLACE) / 2


@np.errstate(all="ignore")
def release(
    x: np.ndarray,
    y: np.ndarray,
    clip_norm: float,
    learning_rates: Sequence[float],
    noise_multiplier: float,
    sampling: float = 1.0,
    *,
    rng: np.random.Generator,
) -> np.ndarray:
    """θ_T, shape (d,): `releases` of one plan.

    Guarantee, Args, Raises: as there.
    """
    return releases(x, y, [Plan(clip_norm, tuple(learning_rates), noise_multiplier)], sampling, rng=rng)[0]


@dataclass(frozen=True)
class Plan:
    """One descent.

    Args:
        clip_norm: C in [10⁻¹⁵⁰, 10¹⁵⁰]. learning_rates: η_t ≥ 0, one for each of T steps. noise_multiplier: σ > 0.

    Raises:
        ValueError: if a number is out of range.
    """

    clip_norm: float
    learning_rates: tuple[float, ...]
    noise_multiplier: float

    def __post_init__(self) -> None:
        _validate.keep(self, SQUARABLE, "clip_norm")
        _validate.keep(self, _validate.FINITE_POSITIVE, "noise_multiplier")
        _validate.keep_all(self, _validate.NONNEGATIVE, "learning_rates")


@np.errstate(all="ignore")
def releases(
    x: np.ndarray,
    y: np.ndarray,
    plans: Sequence[Plan],
    sampling: float = 1.0,
    live: np.ndarray | None = None,
    *,
    rng: np.random.Generator,
) -> np.ndarray:
    """θ_T of each of several descents over the same records, shape (plans, d).

    Guarantee: each alone has that of `noise_multiplier` for the same ``sampling`` and T steps, whatever the records:
    each gradient is clipped at C, and a record that cannot have one is void (`bounds.given`). The noise is larger by 1
    + `privacy.sums.slack` (n, d), which pays for the rounding of the sums. A record is drawn with the probability q
    rounded down to a multiple of 2⁻⁵³, because the generator's numbers are such multiples. The descents share their
    samples, and are not meant to be released together.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). Numbers of any type. plans: at least one.
        sampling: q in (0, 1]. live: public; features that are not 0 throughout, as in `bounds.prepare`.
        rng: of the samples and the noise.

    Raises:
        ValueError: if there is no record, shapes disagree, an array is not of numbers, or a number is out of range.
    """
    _validate.SHARE("sampling", sampling)
    told = prepare(x, y, live)
    n, d = told.shape
    order, rates = by_length([plan.learning_rates for plan in plans])
    clips = np.array([plans[k].clip_norm for k in order])
    excess = 1 + sums.slack(n, d)
    std = np.array(
        [GaussianMechanism(2 * plans[k].clip_norm * excess, plans[k].noise_multiplier).noise_std for k in order]
    )
    theta, drawn = np.zeros((d, len(plans))), math.floor(sampling * _FINEST) / _FINEST
    for step in rates:
        rows = np.flatnonzero(rng.random(n) < drawn) if sampling < 1 else None
        m = len(step)
        pull = told.pulls(theta[:, :m], clips[:m], rows)
        pull += std[:m] * rng.standard_normal((d, m))
        theta[:, :m] = within_reach(theta[:, :m] - step / (sampling * n) * pull)
    return theta[:, np.argsort(order)].T


def by_length(lengths: Sequence[Sequence[float]]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Runs of several lengths, the longest first: their order, and of each round the numbers of those that go on.

    >>> [part.tolist() for part in by_length([[1.0], [2.0, 3.0]])[1]]
    [[2.0, 1.0], [3.0]]
    """
    order = np.argsort([-len(run) for run in lengths], kind="stable")
    longest = len(lengths[order[0]])
    return order, [np.array([lengths[k][t] for k in order if len(lengths[k]) > t]) for t in range(longest)]


# ---- Plans ----

LEVELS = (0.5, 0.7, 0.9)  # q, the share of what a clip leaves as it is
# a, the share of a whole step: with 1, uneven features overshoot; with 0, the answer is 0
RATES = (0.0, 0.03, 0.1, 0.3, 0.6)
_DIVERGED = 1e6  # v + ζ² over what it is at the start


class AveragedSteps:
    """A plan of T steps that spend μ together, and of whose iterates the last half is averaged."""

    steps: int
    budget: GaussianDP

    @property
    def guarantee(self) -> GaussianDP:
        """What the release of all iterates, and of all that chose their clips, spends."""
        return self.budget

    @property
    def averaged(self) -> int:
        """How many of the last of T iterates are averaged: half of them, rounded up."""
        return self.steps - self.steps // 2


def response_variance(explained_variance: float, noise_variance: float) -> float:
    """The variance of the response, E(xᵀθ*)² + ζ².

    Args:
        explained_variance: a guess of E(xᵀθ*)², in (0, ∞). noise_variance: a guess of ζ², in [0, ∞).

    Raises:
        ValueError: if an argument is outside its range.

    >>> response_variance(1.0, 0.25)
    1.25
    """
    explained = _validate.finite_positive("explained_variance", explained_variance)
    return explained + _validate.nonnegative("noise_variance", noise_variance)


def diverged(error: float, explained_variance: float, noise_variance: float) -> bool:
    """Whether the steps of a plan drive θ away, so that its error counts as infinite: v, where it is NaN too."""
    return not error < _DIVERGED * (explained_variance + noise_variance)


def kept(z: float) -> float:
    """E ψ'(g) = P(|g| ≤ z): the share of the mean gradient that clipping leaves.

    Args:
        z: in (0, ∞).

    >>> round(kept(1.0), 4)
    0.6827
    """
    return math.erf(_validate.finite_positive("z", z) / math.sqrt(2))


def mean_square(z: float) -> float:
    """E ψ(g)² = E min(g², z²).

    Args:
        z: in (0, ∞).

    >>> round(mean_square(1.0), 4), round(mean_square(9.0), 4)
    (0.5161, 1.0)
    """
    inside = kept(z) - math.sqrt(2 / math.pi) * z * math.exp(-(z**2) / 2)
    return inside + z**2 * math.erfc(z / math.sqrt(2))


def threshold(level: float) -> float:
    """The z with P(|g| ≤ z) = level.

    Args:
        level: in (0, 1).

    >>> round(threshold(0.95), 4)
    1.96
    """
    return float(ndtri((1 + _validate.probability("level", level)) / 2))
