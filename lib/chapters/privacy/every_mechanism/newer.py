r"""The newer rivals' releases with one feature: most transcribed, two drawn by the library one after the other.

See `descents` for what a transcription is. A release that the library draws by itself takes a fraction of a
millisecond, so that fewer of them are audited.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from chapters.privacy.every_mechanism import descents, solutions
from chapters.privacy.every_mechanism.records import Data, Knobs
from costofprivacy.privacy import ApproximateDP, GaussianDP, sums
from costofprivacy.rivals import (
    adaptive_clipping,
    correlated_noise,
    gaussian_mixing,
    hessian_mixing,
    huber,
    piloted_perturbation,
    private_quantile,
    robust_clipping,
)
from costofprivacy.rivals.bounds import Bounds, given, shortened, within_reach
from costofprivacy.rivals.correlated_noise import Banded, noise_coefficients

BOUNDS = Bounds(1.0, 1.0)
CLIP = 1.0
LEVEL, GRID = 0.5, (1.0, 2.0)  # of the quantile
STEPS, BATCH, RATE = 3, 1, 0.5  # of the pass with correlated noise
ROWS = 40  # k of a sketch


def pooled(budget: ApproximateDP, noise: float) -> ApproximateDP:
    """The budget whose Gaussian noise is smaller by a factor, at the same δ."""
    return ApproximateDP(GaussianDP(budget.to_gaussian().mu / noise).epsilon(budget.delta), budget.delta)


def quantiles(data: Data, mu: float, gumbel: np.ndarray, knobs: Knobs) -> np.ndarray:
    """`rivals.private_quantile.quantile` of the responses' sizes, shape (count,).

    Args:
        data: n records. mu: of one release. gumbel: shape (points of the grid, count). knobs: what is wrong.
    """
    values = np.abs(data[1])
    missed = private_quantile.misses(values, LEVEL, GRID)
    eta = private_quantile.exponent(GaussianDP(mu)) / knobs.noise
    eta /= 1 + private_quantile._ROUNDINGS * len(values) * sums.UNIT_ROUNDOFF
    return np.array(GRID)[np.argmax(gumbel - eta * missed[:, None], axis=0)]


def correlated_plan(mu: float) -> correlated_noise.Plan:
    """The pass that is audited: three batches of one record."""
    return correlated_noise.Plan(CLIP, RATE, BATCH, STEPS, Banded((0.5,)), GaussianDP(mu))


def correlated(data: Data, mu: float, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """A score of all iterates of `rivals.correlated_noise.iterates`, shape (count,): the likelihood ratio's direction.

    With g the sums of clipped gradients, Cg + z is what the iterates show. The first record moves g_1 alone, hence Cg
    along the first column of C.

    Args:
        data: `STEPS` records. mu: of all iterates. normals: z of each step, shape (`STEPS`, count). knobs: what is
            wrong.
    """
    iterates = correlated_iterates(data, mu, normals, knobs)
    seen = np.diff(iterates, axis=0, prepend=0.0) * (-BATCH / RATE)
    column = correlated_plan(mu).strategy.column(STEPS)
    shown = np.stack([sum(column[t - j] * seen[j] for j in range(t + 1)) for t in range(STEPS)])
    found: np.ndarray = column @ shown
    return found


def correlated_iterates(data: Data, mu: float, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """θ_1, …, θ_T, shape (T, count); arguments as in `correlated`."""
    plan = correlated_plan(mu)
    x, y = given(*data) if knobs.clip else data
    inverse = noise_coefficients(plan.strategy, STEPS)
    own = np.stack([sum(inverse[t - j] * normals[j] for j in range(t + 1)) for t in range(STEPS)])
    noise = knobs.noise * plan.noise_std(1) * own
    theta, found = np.zeros(normals.shape[1]), []
    for t, (feature, response) in enumerate(zip(x[:, 0], y, strict=True)):
        bound = CLIP / abs(feature) if feature and knobs.clip else math.inf
        pull = feature * np.clip(feature * theta - response, -bound, bound)
        theta = theta - RATE / BATCH * (pull + noise[t])
        found.append(theta)
    return np.stack(found)


def one_by_one(release: Callable[[Data, Knobs, np.random.Generator], float]) -> Callable[..., np.ndarray]:
    """Draws of a release that the library makes one after the other."""

    def draw(data: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        return np.array([release(data, knobs, rng) for _ in range(count)])

    return draw


def adaptive(data: Data, mu: float, knobs: Knobs, rng: np.random.Generator) -> float:
    """θ of `rivals.adaptive_clipping.release`: one step, whose clip one record chooses."""
    plan = adaptive_clipping.Plan(1, 1, RATE, 0.5, (1.0, 1.5), GaussianDP(mu / knobs.noise))
    return float(adaptive_clipping.release(*data, plan, rng=rng)[0])


def robust(data: Data, mu: float, knobs: Knobs, rng: np.random.Generator) -> float:
    """θ of `rivals.robust_clipping.release`: one step, whose clips two records choose."""
    budget = GaussianDP(mu / knobs.noise)
    plan = robust_clipping.Plan(1, RATE, 1, 1, 0.5, 0.5, (0.75, 1.0), (0.75, 1.0), budget)
    return float(robust_clipping.release(*data, plan, rng=rng)[0])


@cache
def least(plan: gaussian_mixing.Plan | hessian_mixing.Plan) -> float:
    """Γ of a plan: the search for it takes milliseconds."""
    return plan.sketching.least


@cache
def mixing_plan(budget: ApproximateDP, noise: float = 1.0) -> gaussian_mixing.Plan:
    """The sketch that is audited; its budget is larger where the noise is deliberately too small."""
    return gaussian_mixing.Plan(BOUNDS, pooled(budget, noise), ROWS)


def mixing(data: Data, plan: gaussian_mixing.Plan, normals: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """θ̂ of `rivals.gaussian_mixing.release`, shape (count,).

    With U the Cholesky factor of AᵀA + γI and T that of the sketch's standard normals, θ̂ = (TU)₁₂/(TU)₁₁.

    Args:
        data: n records. plan: the sketch. normals: T₁₂, shape (count,). squares: T₁₁² from χ²_k, shape (count,).
    """
    x, y = plan.bounds.clip(*given(*data))
    rows = np.column_stack([x[:, 0], plan.response_scale * y])
    L = np.linalg.cholesky(rows.T @ rows + least(plan) * np.eye(2))
    return within_reach((L[1, 0] + normals / np.sqrt(squares) * L[1, 1]) / L[0, 0] / plan.response_scale)


@cache
def iterated_plan(budget: ApproximateDP, noise: float = 1.0) -> hessian_mixing.Plan:
    """The two rounds that are audited."""
    return hessian_mixing.Plan(BOUNDS, pooled(budget, noise), ROWS, (CLIP, CLIP), (1.0, 1.0))


def iterated_mixing(data: Data, plan: hessian_mixing.Plan, normals: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """θ_T of `rivals.hessian_mixing.release`, shape (count,).

    Args:
        data: n records. plan: the rounds. normals: of each gradient, shape (T, count). squares: from χ²_k, same shape.
    """
    x, y = given(*data)
    x = shortened(x, plan.bounds.features)
    curvature = float((x**2).sum()) + least(plan)
    theta, std = (
        np.zeros(normals.shape[1]),
        2 * (1 + sums.slack(len(x), 1)) * math.sqrt(plan.rounds) / plan.gradients.mu,
    )
    for t, (clip, rate) in enumerate(zip(plan.clip_norms, plan.learning_rates, strict=True)):
        pull = clip * std * normals[t] - gradients(x[:, 0], y, theta, clip)
        theta = within_reach(theta + rate * pull / (squares[t] * curvature))
    return theta


def gradients(x: np.ndarray, y: np.ndarray, theta: np.ndarray, clip: float) -> np.ndarray:
    """The sum of clipped gradients at many θ, shape of ``theta``."""
    total = np.zeros_like(theta)
    for feature, response in zip(x, y, strict=True):
        bound = clip / abs(feature) if feature else math.inf
        total += feature * np.clip(feature * theta - response, -bound, bound)
    return total


def piloted_plan(budget: ApproximateDP) -> piloted_perturbation.Plan:
    """One step, and the perturbed minimum around its end."""
    shares = piloted_perturbation.Shares(0.5, 0.2)
    return piloted_perturbation.calibrate(budget, shares, 1.0, CLIP, CLIP, (RATE,))


def piloted(data: Data, plan: piloted_perturbation.Plan, normals: np.ndarray) -> np.ndarray:
    """The minimum that `rivals.piloted_perturbation.release` finds to its tolerance, exactly; shape (count,).

    Around θ_0 the objective's slope is Σ clipped gradients + Λ(θ − θ_0) + b, so θ has the value Λθ_0 − b of
    `solutions.inverse_gradient`.

    Args:
        data: n records. plan: from `piloted_plan`. normals: of the step, of b and of the further noise, shape (3,
            count).
    """
    assert plan.pilot is not None
    x, y = piloted_perturbation.weighted(*data, plan.added.feature_bound)
    n, std = len(x), 2 * CLIP * (1 + sums.slack(len(x), 1)) * plan.pilot.noise_multiplier
    start = within_reach(-RATE / n * (gradients(x[:, 0], y, np.zeros_like(normals[0]), CLIP) + std * normals[0]))
    values = plan.added.penalty * start - plan.added.noise_std * normals[1]
    limits = huber.limits(x, plan.added.clip_norm)
    found = solutions.inverse_gradient(x[:, 0], y, limits, plan.added.penalty, values)
    return found + plan.added.further_std * normals[2]


checkpoints = descents.full_batch  # all iterates of the same descent; the last one is the score
