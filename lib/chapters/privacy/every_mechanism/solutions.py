r"""Minimisers, normal equations and a deep point in one dimension, transcribed for many independent releases.

See `descents`. The minimum of objective perturbation has a closed form here: J' is piecewise linear and increases, so
that θ ↦ J'(θ) − b is known at its kinks, and −b ↦ θ is its inverse, piecewise linear too.
"""

from __future__ import annotations

import math

import numpy as np

from chapters.privacy.every_mechanism.records import Data, Knobs
from costofprivacy.privacy import ApproximateDP, GaussianDP, sums
from costofprivacy.rivals import (
    bounds,
    huber,
    objective_perturbation,
    output_perturbation,
    sufficient_statistics,
    tukey,
)
from costofprivacy.rivals.bounds import Bounds, given, shortened, within_reach
from costofprivacy.rivals.newton import Minimum
from costofprivacy.rivals.objective_perturbation import Perturbation

CLIP, PENALTY, SHARE = 1.0, 1.0, 0.5  # C and Λ of output perturbation; κ/ε₁ of objective perturbation
BOUNDS = Bounds(1.0, 1.0)
ROUNDS = 2  # of boosted AdaSSP
UNBOUNDED = 1e12  # of a clip that is forgotten
BEYOND = 1e5
_FLOOR = math.sqrt(2 * math.log(1 / sufficient_statistics.FAILURE))


def output(data: Data, mu: float, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
    """Releases by `rivals.output_perturbation.perturbed` itself, shape (count,): one minimum, noise for each release.

    Args:
        data: n records. mu: of one release, with the right noise. count: how many. rng: of the noise. knobs: what is
            wrong.
    """
    clip = CLIP if knobs.clip else UNBOUNDED
    found = huber.minimum(*data, clip, PENALTY)
    many = Minimum(np.repeat(found.high, count), np.repeat(found.low, count), found.gradient_norm, 0, 0, 0)
    budget = GaussianDP(mu / knobs.noise)
    return output_perturbation.perturbed(many, CLIP, PENALTY, budget, rng=rng)


def objective_plan(budget: ApproximateDP) -> Perturbation:
    """Penalty and noise of the objective perturbation that is audited."""
    return objective_perturbation.calibrate(budget, SHARE, CLIP, BOUNDS.features)


def objective(data: Data, added: Perturbation, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """The minimisers that `rivals.objective_perturbation.release` finds to its tolerance, exactly; shape (count,).

    Args:
        data: n records. added: penalty and noise. normals: of b and of the further noise, shape (2, count). knobs: what
            is wrong.
    """
    x, y = data
    limits = np.full(len(x), np.inf)
    if knobs.clip:
        x, y = given(x, y)
        x = shortened(x, added.feature_bound)
        limits = huber.limits(x, added.clip_norm)
    b = knobs.noise * added.noise_std * normals[0]
    return inverse_gradient(x[:, 0], y, limits, added.penalty, -b) + knobs.noise * added.further_std * normals[1]


def inverse_gradient(
    x: np.ndarray, y: np.ndarray, limits: np.ndarray, penalty: float, values: np.ndarray
) -> np.ndarray:
    """θ with Σ x_i clip(x_iθ − y_i, ±limit_i) + Λθ = value, same shape as ``values``.

    Args:
        x, y, limits: shape (n,); a limit may be infinite. penalty: Λ > 0.
    """
    moving = x != 0
    x, y, limits = x[moving], y[moving], limits[moving]
    bent = np.isfinite(limits)
    with np.errstate(over="ignore"):
        kinks = np.concatenate([(y[bent] + side * limits[bent]) / x[bent] for side in (-1.0, 1.0)])
    kinks = np.clip(kinks, -BEYOND, BEYOND)  # no minimum is that far away
    middle = float(np.abs(kinks).max(initial=0.0))
    kinks = np.sort(np.concatenate([kinks, [-middle - 1.0, middle + 1.0]]))
    with np.errstate(over="ignore"):
        residual = np.clip(kinks[:, None] * x - y, -limits, limits)
    slopes = residual @ x + penalty * kinks
    outside = penalty + float((x[~bent] ** 2).sum())
    inside = np.interp(values, slopes, kinks)
    low, high = values < slopes[0], values > slopes[-1]
    inside[low] = kinks[0] + (values[low] - slopes[0]) / outside
    inside[high] = kinks[-1] + (values[high] - slopes[-1]) / outside
    return inside


def moments_of(data: Data, knobs: Knobs) -> tuple[float, float]:
    """Σx² and Σxy of records clipped to `BOUNDS`; of the records themselves where the clip is forgotten."""
    if knobs.clip:
        found = sufficient_statistics.moments(*data, BOUNDS)
        return float(found.square[0, 0]), float(found.product[0])
    x, y = data
    return float(x[:, 0] @ x[:, 0]), float(x[:, 0] @ y)


def adassp(data: Data, mu: float, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """θ of `rivals.sufficient_statistics.release`, shape (count,).

    Args:
        data: n records. mu: of all three parts. normals: of matrix, eigenvalue and vector, shape (3, count). knobs:
            what is wrong.
    """
    n = len(data[0])
    square, product = moments_of(data, knobs)
    matrix, penalty = noisy_square(square, n, mu, normals[:2], knobs)
    std = 2 * BOUNDS.features * BOUNDS.response * (1 + sums.slack(n, 1)) * math.sqrt(3) / mu
    return within_reach((product + knobs.noise * std * normals[2]) / raised(matrix, penalty))


def noisy_square(square: float, n: int, mu: float, normals: np.ndarray, knobs: Knobs) -> tuple[np.ndarray, np.ndarray]:
    """`rivals.sufficient_statistics.noisy_matrix` of one feature: the matrices and the penalties, shape (count,)."""
    each, slack = mu / math.sqrt(3), sums.slack(n, 1)
    reach = (BOUNDS.features * bounds.ROUNDING) ** 2
    std = knobs.noise * math.sqrt(2) * reach * (1 + math.sqrt(2) * slack) / each
    lowest = knobs.noise * reach * (1 + 2 * slack + 2 * sufficient_statistics.eigenvalue_error(n, 1)) / each
    told = square + lowest * normals[1]
    penalty = np.maximum(0.0, std * (math.sqrt(2) + _FLOOR) - np.maximum(0.0, told - _FLOOR * lowest))
    return square + std * normals[0], np.maximum(penalty, 1e-9 * std)


def raised(matrix: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Matrix and penalty together, at least half of the penalty where the sum is not positive."""
    return np.where(matrix + penalty > 0, matrix + penalty, penalty / 2)


def boosted(data: Data, mu: float, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """θ of `rivals.boosting.release` after `ROUNDS` rounds, shape (count,).

    Args:
        data: n records. mu: of all. normals: of matrix, eigenvalue and rounds, shape (2 + `ROUNDS`, count). knobs: what
            is wrong.
    """
    n = len(data[0])
    x, y = data
    limits = np.full(n, np.inf)
    if knobs.clip:
        x, y = given(x, y)
        x = shortened(x, BOUNDS.features)
        limits = huber.limits(x, CLIP)
    denominator = raised(*noisy_square(float((x**2).sum()), n, mu, normals[:2], knobs))
    std = knobs.noise * 2 * CLIP * (1 + sums.slack(n, 1)) * math.sqrt(3 * ROUNDS) / mu
    theta = np.zeros(normals.shape[1])
    for t in range(ROUNDS):
        pull = std * normals[2 + t]
        for feature, response, limit in zip(x[:, 0], y, limits, strict=True):
            pull = pull - feature * np.clip(feature * theta - response, -limit, limit)
        theta = within_reach(theta + pull / denominator)
    return theta


def deep_points(
    solutions: np.ndarray, budget: ApproximateDP, laplace: np.ndarray, gumbel: np.ndarray, uniform: np.ndarray
) -> np.ndarray:
    """What `rivals.tukey.release` draws from solutions with one coordinate, shape (count,); 0 where the count says no.

    Args:
        solutions: shape (m,). budget: ε and δ. laplace: of scale 1, shape (count,). gumbel: shape (m/2 − m/4 + 1,
            count). uniform: in [0, 1), shape (count,).
    """
    ordered, half = np.sort(solutions) + 0.0, budget.epsilon / 2
    m, volumes = len(ordered), tukey.log_volumes(ordered[:, None])
    depth, deepest = m // 4, len(volumes)
    kappa = tukey.stable_count(volumes, depth, half, budget.delta)
    drawn = kappa + laplace / half > tukey.count_threshold(budget)
    within = volumes[depth - 1 :]
    with np.errstate(divide="ignore", invalid="ignore"):
        shells = within + np.log(-np.expm1(np.append(within[1:] - within[:-1], -np.inf)))
    weights = np.nan_to_num(shells, nan=-np.inf) + half / 2 * np.arange(depth, depth + len(within))
    chosen = depth + np.argmax(weights[:, None] + gumbel, axis=0)
    low, high = ordered[chosen - 1], ordered[m - chosen]
    inner = np.minimum(chosen, deepest - 1)
    left = np.where(chosen < deepest, ordered[inner] - low, high - low)
    right = np.where(chosen < deepest, high - ordered[m - 1 - inner], 0.0)
    along = uniform * (left + right)
    return np.where(drawn, np.where(along < left, low + along, ordered[m - 1 - inner] + (along - left)), 0.0)
