r"""Noisy clipped gradient descent in stages that shortens its steps where its own releases show that they are too long.

A step on the mean gradient that is planned for eigenvalues near 1 overshoots along an eigenvector with a much larger
one, which features that share a common factor always have. Descent releases every noisy gradient, so looking at these
again costs no privacy. From θ_0 = 0, with S_0 = I, for t = 1, …, T,

.. math:: g_{t-1} = \frac1n\Big(\sum_i\bar g_i(\theta_{t-1}) + 2C\sigma b_t\Big), \qquad
    \Delta_t = -\eta_t S_{t-1} g_{t-1}, \qquad \theta_t = \theta_{t-1} + \Delta_t .

**The guard.** On a parabola with the second derivative H, the gradients differ by y = g_t − g_{t−1} = HΔ_t, up to their
noise. Multiplying by H turns a vector towards the eigenvectors with the largest eigenvalues, so that y points to where
steps overshoot first. Along it the curvature is about

.. math:: \kappa = \frac{\|H\Delta_t\|^2}{\Delta_t^\top H\Delta_t} \approx
    \frac{\|y\|^2 - 4dv}{y\cdot\Delta_t - \eta_t v\,\mathrm{tr}\,S_{t-1}},

where v is the variance of a coordinate's noise in g. What is subtracted is what the noise adds on average: the noise z
of g_{t−1} is in y as −z and in Δ_t as −η_t S z, so that their product holds η_t zᵀSz; and ‖y‖² holds the squares of
two such noises, and twice their product with HΔ_t, which is of their size where η_t H is near 1. A step along u =
y/‖y‖ is longer than the way to the minimum if η_t κ q > 1, where q = uᵀS_{t−1}u. Then it is made as long as that,

.. math:: S_t = S_{t-1} - \Big(1 - \frac{1}{\eta_t\kappa q}\Big)\frac{(S_{t-1}u)(S_{t-1}u)^\top}{q}, \qquad
    u^\top S_t u = \frac1{\eta_t\kappa},

and all others stay as planned. S_t is positive semidefinite, as S_{t−1} is, by the Cauchy–Schwarz inequality. Where
noise alone made κ large, u is a direction like any other, and one of d is slowed down.

It is done only where ‖y‖² is above 4dv by `CLEAR` standard deviations of χ²_d (`visible`).
Otherwise noise alone would slow down one direction after another, as a descent takes most of its steps near its end.

**Stages and the mean.** A descent may have several stages, each with its own C, σ and number of steps: the first come
near with long gradients and their noise, the later ones clip shorter. What the guard has learned is kept; a difference
of gradients is taken within a stage alone, because another C changes them too. The answer is the last iterate, or the
mean of the last A. Along an eigenvector with the eigenvalue λ of the clipped loss, the mean of many iterates has the
variance (2Cσ/n)²/(Aλ²), whatever η is, and no unbiased estimate from the same gradients has less (Brown et al., 2024;
`checkpoint_descent`).

**Guarantee.** :math:`\sqrt{\sum_k T_k/\sigma_k^2}`-Gaussian DP over stages k, for replacing one record, also if all
gradients are released. A step is a Gaussian mechanism of 1/σ_k, because its clipped gradients are at most C_k long;
each θ_t depends on the records through earlier releases alone, so they compose (arXiv:1905.02383, Corollary 3.3); and
the mean is post-processing. With one stage, no mean, and no step that is too long, it is `batch_descent` on all
records.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, GaussianMechanism, sums
from costofprivacy.privacy.mechanisms import noisy
from costofprivacy.rivals import batch_descent
from costofprivacy.rivals.bounds import prepare, within_reach

CLEAR = 3.0  # standard deviations by which ‖y‖² has to be above what noise alone explains


@dataclass(frozen=True, eq=False)
class Shape:
    """S = I − Σ_k c_k w_k w_kᵀ: how long steps are in each direction.

    Args:
        directions: w_k, shape (K, d). shares: c_k, shape (K,).
    """

    directions: np.ndarray
    shares: np.ndarray

    @classmethod
    def whole(cls, d: int) -> "Shape":
        """The identity."""
        return cls(np.empty((0, d)), np.empty(0))

    def apply(self, vector: np.ndarray) -> np.ndarray:
        """S times a vector of shape (d,)."""
        return vector - (self.shares * (self.directions @ vector)) @ self.directions

    @property
    def trace(self) -> float:
        """tr S."""
        return self.directions.shape[1] - float(self.shares @ (self.directions**2).sum(axis=1))

    def shortened(self, along: np.ndarray, factor: float) -> "Shape":
        """S' with uᵀS'u = uᵀSu/f for the direction u of a vector.

        Args:
            along: shape (d,), with a positive uᵀSu. factor: f ≥ 1.

        >>> shape = Shape.whole(2).shortened(np.array([3.0, 0.0]), 4.0)
        >>> print(shape.apply(np.array([1.0, 1.0])), shape.trace)
        [0.25 1.  ] 1.25
        """
        image = self.apply(along)
        part = (1 - 1 / factor) / float(along @ image)
        return Shape(np.vstack([self.directions, image]), np.append(self.shares, part))


@dataclass(frozen=True)
class Stages:
    """A whole descent.

    Args:
        plans: clip norm, rates and noise of each stage, one after the other. averaged: A, how many of the last iterates
            the answer is the mean of.
    """

    plans: tuple[batch_descent.Plan, ...]
    averaged: int = 1

    @property
    def guarantee(self) -> GaussianDP:
        """What all iterates together spend: the module's.

        >>> once, twice = (batch_descent.Plan(1.0, (0.5,) * T, sigma) for T, sigma in ((1, 2.0), (2, 4.0)))
        >>> print(round(Stages((once, twice)).guarantee.mu ** 2, 3))
        0.375
        """
        return GaussianDP(math.sqrt(sum(len(plan.learning_rates) / plan.noise_multiplier**2 for plan in self.plans)))


def descend(
    pulls: Callable[[np.ndarray, np.ndarray], np.ndarray],
    n: int,
    d: int,
    *stages: batch_descent.Plan,
    averaged: int = 1,
    rng: np.random.Generator,
) -> np.ndarray:
    """The mean of the last iterates of a descent on all records, shape (d,).

    Guarantee: the module's, if ``pulls`` returns the sum over the n records of gradients that are clipped at C,
    rounded as `privacy.sums.slack` says.

    Args:
        pulls: θ, shape (d, 1), and C, shape (1,) ↦ the sum of clipped gradients, shape (d, 1). n: number of records.
        d: of features. stages: clip norm, rates and noise of each, one after the other. averaged: A, from 1 to the
            number of all steps. rng: source of the noise.

    Raises:
        ValueError: if A is outside its range.
    """
    steps = sum(len(plan.learning_rates) for plan in stages)
    averaged = _validate.whole("averaged", averaged)
    _validate.between("averaged", averaged, 1, max(1, steps))
    theta, shape, last = np.zeros(d), Shape.whole(d), []
    for plan in stages:
        clips = np.array([plan.clip_norm])
        step = GaussianMechanism(2 * plan.clip_norm * (1 + sums.slack(n, d)), plan.noise_multiplier)
        std, mu = step.noise_std, step.guarantee.mu
        before, move, past = None, np.zeros(d), 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            for rate in plan.learning_rates:
                gradient = within_reach(noisy(pulls(theta[:, None], clips), std, mu, rng=rng)[:, 0] / n)
                if before is not None:
                    shape = guarded(gradient - before, move, past, (std / n) ** 2, shape)
                before, move, past = gradient, -rate * shape.apply(gradient), rate
                theta = within_reach(theta + move)
                last.append(theta)
    return theta if averaged == 1 else np.asarray(within_reach(np.mean(last[-averaged:], axis=0)))


def visible(d: int) -> float:
    """How long ‖y‖² has to be to say more than noise does, over the variance v.

    >>> print(round(visible(1), 1), round(visible(100)))
    21.0 570
    """
    return 4 * d * (1 + CLEAR * math.sqrt(2 / d))


def guarded(turn: np.ndarray, move: np.ndarray, rate: float, variance: float, shape: Shape) -> Shape:
    """S of the next step: post-processing of the last two gradients.

    Args:
        turn: y, the second gradient less the first, shape (d,). move: Δ, shape (d,). rate: η of the step.
        variance: v of a coordinate's noise in a gradient. shape: S of the step.

    >>> planned = Shape.whole(1)  # a curvature of 5: the step 0.6 is three times too long
    >>> print(round(guarded(np.array([-3.0]), np.array([-0.6]), 0.6, 0.0, planned).trace, 6))
    0.333333
    """
    length, square = float(np.linalg.norm(move)), float(turn @ turn)
    image, inner = square - 4 * len(turn) * variance, float(turn @ move) - rate * variance * shape.trace
    if not (square > visible(len(turn)) * variance and length > 0 and math.isfinite(square)):
        return shape
    curvature = max(math.sqrt(image) / length, image / inner if inner > 0 else 0.0)
    along = turn / math.sqrt(square)
    factor = rate * curvature * float(along @ shape.apply(along))
    return shape.shortened(along, factor) if factor > 1 else shape


@np.errstate(all="ignore")
def release(
    x: np.ndarray, y: np.ndarray, *stages: batch_descent.Plan, averaged: int = 1, rng: np.random.Generator
) -> np.ndarray:
    """`descend` over records in memory, shape (d,).

    Guarantee: the module's, whatever the records: a gradient is clipped, and a record that cannot have one is void.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). Numbers of any type. stages: of the descent.
        averaged: A. rng: source of the noise.

    Raises:
        ValueError: if there is no record, shapes disagree, an array is not of numbers, or A is outside its range.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((1000, 4)) + 4 * rng.standard_normal((1000, 1))  # an eigenvalue of 65
    >>> plan = batch_descent.Plan(100.0, (0.5,) * 10, 0.1)
    >>> print(release(x, x @ np.ones(4), plan, rng=rng).round(1))
    [1. 1. 1. 1.]
    """
    told = prepare(x, y)
    return descend(told.pulls, *told.shape, *stages, averaged=averaged, rng=rng)
