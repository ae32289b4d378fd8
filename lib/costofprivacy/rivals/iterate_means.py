r"""The mean of a stationary trajectory, and how far it may be from what the trajectory fluctuates around.

The trajectory is a released one, so whatever is computed from it here costs no privacy. Write a = 1 − ηλ_min for the
slowest decay of its autocorrelation a^k in one step, and κ = ηλ_min T for the number of relaxation times that it spans.

==================  ========================================================================  ==========================
function            what it takes from the trajectory                                         after
==================  ========================================================================  ==========================
`repetitions`       last iterates of independent runs                                         Brown et al. (2024)
`checkpoints`       iterates so far apart that they are almost independent                    Brown et al. (2024)
`batches`           means of consecutive stretches                                            Brown et al. (2024)
`cosines`           the mean of all iterates; its variance from the slowest cosines of time   Lazarus et al. (2018)
`autoregression`    the root of the step that a regression of steps on iterates finds         this book
==================  ========================================================================  ==========================

**Checkpoints.** Gaps of g steps leave the correlation ρ = a^g. The mean of m of them has a variance that is larger by
up to (1 + ρ)/(1 − ρ) than if they were independent, and the standard error is multiplied by the root of that.

**Cosines.** For k = 1, …, B let Λ_k = √(2/T) Σ_t cos(πk(t − ½)/T) θ_t. Its variance is the spectral density of the
trajectory at ω_k = πk/T, and √T(θ̄ − θ) has that at 0. An eigenvalue λ of H has the density
ν²η²/(1 + b² − 2b cos ω) with b = 1 − ηλ, so

.. math:: \frac{f(0)}{f(\omega)} = 1 + \frac{2b(1-\cos\omega)}{(1-b)^2}
    \le 1 + \frac{2a(1-\cos\omega)}{(1-a)^2} \qquad (\lambda \ge \lambda_{\min}),

where the bound is 1 for b ≤ 0. Each Λ_k² is multiplied by its bound, so the mean of the B of them is not too small for
any H whose least eigenvalue is λ_min, up to edge effects of order 1/κ. The Λ_k are almost independent, which gives a t
law with B degrees of freedom. B is as large as keeps the last bound below `LARGEST`.

**Autoregression.** With u_t = (θ_t − θ_{t+1})/η the trajectory obeys u_t = H(θ_t − θ_OLS) + νξ_t, a regression whose
errors have a *known* variance. Its solution estimates all d² entries of H, each with a relative error of about
√(2/(ηλT)). It is too narrow by about the share (d + 3)/κ, which the expansion of Nicholls and Pope (1988) corrects to
first order. It asks for κ far above d; `cosines` does not, because it needs H nowhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from costofprivacy import _validate

LARGEST = 1.5  # factor by which the last cosine's square may be enlarged
GAP = 2.0  # relaxation times between checkpoints
LEAST = 3  # cosines, checkpoints or batches


@dataclass(frozen=True, eq=False)
class Mean:
    """A mean with its standard error.

    Args:
        center: shape (d,). std: the standard error, shape (d,). freedom: the degrees of freedom of its t law.
    """

    center: np.ndarray
    std: np.ndarray
    freedom: float

    def interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Low and high ends of the t interval of each coordinate.

        Args:
            level: the probability in (0, 1) with which an interval should contain the truth.
        """
        half = stdtrit(self.freedom, (1 + _validate.probability("level", level)) / 2) * self.std
        return self.center - half, self.center + half


def repetitions(last: np.ndarray, inflation: float = 1.0) -> Mean:
    """The mean of independent draws.

    Args:
        last: a draw in each row, shape (m, d), m ≥ 2. inflation: factor of the variance of the mean.

    >>> found = repetitions(np.array([[1.0], [3.0]]))
    >>> print(found.center, found.std, found.freedom)
    [2.] [1.] 1
    """
    m = _validate.whole("the number of draws", len(last), 2)
    return Mean(last.mean(axis=0), np.sqrt(inflation / m) * last.std(axis=0, ddof=1), m - 1)


def checkpoints(iterates: np.ndarray, decay: float, gap: float = GAP) -> Mean:
    """The mean of iterates that are so far apart that they are almost independent.

    Args:
        iterates: stationary ones, shape (T, d). decay: a in [0, 1). gap: relaxation times between them, positive.

    Raises:
        ValueError: if an argument is outside its range, or there are fewer than two.
    """
    a = _decay(decay)
    steps = max(1, math.ceil(gap / -math.log(a))) if a > 0 else 1
    rest = a**steps
    return repetitions(iterates[::-1][::steps], (1 + rest) / (1 - rest))


def batches(iterates: np.ndarray, count: int) -> Mean:
    """The mean of the means of ``count`` stretches of one length, the first iterates left out if they do not fit.

    Args:
        iterates: stationary ones, shape (T, d). count: m, at least 2 and at most T.
    """
    count = _validate.whole("count", count, 2)
    _validate.between("count", count, 2, len(iterates))
    length = len(iterates) // count
    return repetitions(iterates[len(iterates) - length * count :].reshape(count, length, -1).mean(axis=1))


def cosine_count(steps: int, decay: float) -> int:
    """B of the module, at least `LEAST`.

    Args:
        steps: T, at least 6. decay: a in [0, 1).

    >>> print(cosine_count(120, 0.5), cosine_count(1200, 0.95))
    19 13
    """
    a = _decay(decay)
    most = _validate.whole("steps", steps, 2 * LEAST) // 2
    if a == 0:
        return most
    turn = (LARGEST - 1) * (1 - a) ** 2 / (2 * a)
    return most if turn >= 1 else min(most, max(LEAST, math.floor(steps / math.pi * math.acos(1 - turn))))


def cosines(iterates: np.ndarray, decay: float) -> Mean:
    """The mean of all iterates, with the standard error of the module.

    Args:
        iterates: stationary ones, shape (T, d), T ≥ 6. decay: a in [0, 1), an upper bound.

    Raises:
        ValueError: if an argument is outside its range.
    """
    T, count, a = len(iterates), cosine_count(len(iterates), decay), _decay(decay)
    turns = np.pi * np.arange(1, count + 1) / T
    center = iterates.mean(axis=0)
    waves = math.sqrt(2 / T) * np.cos(turns[:, None] * (np.arange(T) + 0.5)) @ (iterates - center)
    bounds = 1 + 2 * a * (1 - np.cos(turns)) / (1 - a) ** 2
    return Mean(center, np.sqrt(bounds @ waves**2 / count / T), count)


def autoregression(iterates: np.ndarray, rate: float, gradient_noise: float, slowest: float) -> Mean:
    """The root of the step as a regression with symmetric H and known noise finds it, with the error it predicts.

    Args:
        iterates: shape (T + 1, d), T > d + 1. rate: η. gradient_noise: ν. slowest: λ_min, positive; smaller
            estimates of an eigenvalue are raised to it.

    Returns:
        a mean whose law is normal: freedom ∞.
    """
    before, T = iterates[:-1], len(iterates) - 1
    pull = (before - iterates[1:]) / rate
    moved, pulled = before - before.mean(axis=0), pull - pull.mean(axis=0)
    matrix = np.linalg.lstsq(moved, pulled, rcond=None)[0]
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    values = np.maximum(values - _too_steep(1 - rate * values, T) / rate, slowest)
    center = before.mean(axis=0) - vectors @ ((vectors.T @ pull.mean(axis=0)) / values)
    return Mean(center, gradient_noise / math.sqrt(T) * np.sqrt(vectors**2 @ (1 / values**2)), math.inf)


def _too_steep(decays: np.ndarray, steps: int) -> np.ndarray:
    """By how much the decays of an autoregression with intercept are estimated too small: Nicholls and Pope (1988)."""
    b = np.clip(decays, -0.99, 0.999)
    mixed = (b / (1 - b[:, None] * b)).sum(axis=1)
    return np.asarray((1 - b**2) * (1 / (1 - b) + b / (1 - b**2) + mixed) / steps)


def _decay(decay: float) -> float:
    value = _validate.between("decay", decay, 0.0, 1.0)
    if value == 1:
        raise ValueError(f"decay must be below 1, got {decay!r}")
    return value
