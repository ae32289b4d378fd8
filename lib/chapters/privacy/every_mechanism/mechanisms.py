"""Releases of few records with one feature: most transcribed, some drawn by the library one after the other.

The library's functions make one release in a call, or several that share their noise. A transcription has the steps of
one of them, on arrays of noise whose last axis is the release, so that many independent releases run side by side. What
bounds a record is not transcribed: it is the library's. The chapter's tests hold each to the library's function, on the
same noise. A release that the library draws by itself takes a fraction of a millisecond, so that fewer are audited.

A release is given ``data``, n records, and ``mu`` of the whole release or its plan; then ``normals`` (one row for each
step, one column for each release), or ``count`` releases and their source ``rng``; and ``knobs``: what is wrong. It
returns a score for each release, shape (count,).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from chapters.noisyhead.a_head_that_works import audit
from costofprivacy.dpgd.descent import Configuration, step_table
from costofprivacy.dpgd.schedule import Polynomial
from costofprivacy.noisyhead import head, per_prompt, pretraining, private_ridge, whitened_descent
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.noisyhead.whitened_plan import plan
from costofprivacy.privacy import ApproximateDP, GaussianDP, records, sums
from costofprivacy.rivals import (
    adaptive_clipping,
    batch_descent,
    bounds,
    correlated_noise,
    gaussian_mixing,
    guarded_descent,
    hessian_mixing,
    huber,
    objective_perturbation,
    output_perturbation,
    piloted_perturbation,
    private_quantile,
    robust_clipping,
    sufficient_statistics,
    tukey,
)
from costofprivacy.rivals.bounds import Bounds, given, shortened, within_reach
from costofprivacy.rivals.correlated_noise import Banded, noise_coefficients
from costofprivacy.rivals.newton import Minimum
from costofprivacy.rivals.objective_perturbation import Perturbation
from costofprivacy.rivals.shrinking_clip import Plan

# ---- Neighbouring data sets: the worst ones, and hostile ones ----

Data = tuple[np.ndarray, np.ndarray]  # features of shape (n, 1) and responses of shape (n,)
Pair = tuple[Data, Data]
Record = tuple[float, float]

FAR = 1e6  # a response that is clipped whatever the coefficients
LONG = 30.0  # a feature that changes a scale
EMPTY: Record = (0.0, 0.0)
PLAIN: Record = (1.0, 0.5)
HOSTILE: tuple[tuple[Record, Record], ...] = (
    ((1e308, 1e308), (-1e308, 1e308)),
    ((math.nan, 1.0), (1.0, 1e308)),
    ((5e-324, 1e308), (1.0, -1.0)),
    ((math.inf, -math.inf), (1e-310, math.nan)),
)


@dataclass(frozen=True)
class Knobs:
    """What is deliberately wrong with a mechanism; by default nothing.

    Args:
        noise: factor of all noise. clip: whether records are bounded.
    """

    noise: float = 1.0
    clip: bool = True


SOUND = Knobs()
Draw = Callable[[Data, int, np.random.Generator, Knobs], np.ndarray]


def data(*records: Record) -> Data:
    """Records as a data set.

    >>> [part.tolist() for part in data((1.0, 2.0), (3.0, 4.0))]
    [[[1.0], [3.0]], [2.0, 4.0]]
    """
    x, y = np.array(records, dtype=float).T
    return x[:, None].copy(), y.copy()


def pair(others: tuple[Record, ...], first: Record, second: Record, place: int = 0) -> Pair:
    """Two data sets that differ in one record, which stands in a place among the others."""
    return data(*others[:place], first, *others[place:]), data(*others[:place], second, *others[place:])


def hostile(others: tuple[Record, ...], place: int = 0) -> tuple[Pair, ...]:
    """A pair for each of `HOSTILE`."""
    return tuple(pair(others, first, second, place) for first, second in HOSTILE)


def scaled(draw: Draw) -> Draw:
    """The release of a θ whose features are divided by their root mean square in the data, undone afterwards."""

    def release(given: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        x, y = given
        size = float(np.sqrt((x**2).mean()))
        return draw((x / size, y), count, rng, knobs) / size

    return release


def prompts(given: Data, D: int = 1) -> Prompts:
    """Records as prompts with one labelled token: token and query have the feature in each coordinate.

    The token's response is 1, or not finite where the record's is; the query's is the record's.
    """
    x, y = given
    tokens = np.tile(x[:, :, None], (1, 2, D))
    return Prompts(tokens, np.stack([np.where(np.isfinite(y), 1.0, y), y], axis=1), np.zeros((len(x), D)))


# ---- Descents with noise ----

CLIP = 1.0  # C
SCHEDULE = Polynomial(1.0, 1.0)  # of DP-GD: noise in every step
RATES = (0.5, 0.5)  # η_t of the descents on all records
GUARDED = ((CLIP, (0.5, 0.5), 0.3), (CLIP / 2, (0.5, 0.5), 0.7))  # C, η_t and the share of μ² of each stage
AVERAGED = 2  # of their iterates
SHRINKING, SHRINKING_RATES = (1.0, 0.5), (0.5, 1.0)  # C_t, and η_t with which all rounds show a record equally
SAMPLING, SAMPLED_RATES = 0.5, (0.5, 0.5, 0.5)


def dp_gd(data: Data, mu: float, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """θ_n of `dpgd.descent.descend_records`, shape (count,)."""
    x, y = records.regression(*data) if knobs.clip else data
    steps = step_table([Configuration(CLIP, SCHEDULE, mu)], len(x), 1, 0, len(x))
    theta = np.zeros(normals.shape[1])
    for k, (feature, response) in enumerate(zip(x[:, 0], y, strict=True)):
        if feature:
            bound = CLIP / abs(feature) if knobs.clip else math.inf
            rate = min(steps.learning_rates[k, 0], 2 / feature**2)
            theta = theta - rate * feature * np.clip(feature * theta - response, -bound, bound)
        theta = theta + knobs.noise * steps.noise_std[k, 0] * normals[k]
    return theta


def full_batch(data: Data, mu: float, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """θ_T of `rivals.batch_descent.release` on all records, shape (count,)."""
    std = 2 * CLIP * (1 + sums.slack(len(data[0]), 1)) * math.sqrt(len(RATES)) / mu
    return _descend(data, (CLIP,) * len(RATES), RATES, (std,) * len(RATES), normals, knobs)


def guarded_plan(mu: float) -> guarded_descent.Stages:
    """The two stages that are audited, whose last iterates are averaged."""
    plans = (batch_descent.Plan(clip, rates, math.sqrt(len(rates) / share) / mu) for clip, rates, share in GUARDED)
    return guarded_descent.Stages(tuple(plans), AVERAGED)


def guarded(data: Data, told: guarded_descent.Stages, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """The mean that `rivals.guarded_descent.release` returns, shape (count,)."""
    x, y = given(*data) if knobs.clip else data
    n, count = len(x), normals.shape[1]
    theta, shape, last, draws = np.zeros(count), np.ones(count), [], iter(normals)
    for stage in told.plans:
        std = 2 * stage.clip_norm * (1 + sums.slack(n, 1)) * stage.noise_multiplier
        variance, before, move, past = (std / n) ** 2, None, np.zeros(1), 0.0
        for rate in stage.learning_rates:
            pull = _pull((x, y), theta, stage.clip_norm, knobs)
            gradient = within_reach((pull + knobs.noise * std * next(draws)) / n)
            if before is not None:
                turn = gradient - before
                image, inner = turn**2 - 4 * variance, turn * move - past * variance * shape
                with np.errstate(divide="ignore", invalid="ignore"):
                    root = np.sqrt(np.maximum(image, 0.0)) / np.abs(move)
                    curvature = np.maximum(root, np.where(inner > 0, image / inner, 0.0))
                    factor = past * curvature * shape
                clear = (turn**2 > guarded_descent.visible(1) * variance) & (move != 0) & (factor > 1)
                shape = np.where(clear, shape / np.maximum(factor, 1.0), shape)
            before, move, past = gradient, -rate * shape * gradient, rate
            theta = within_reach(theta + move)
            last.append(theta)
    return np.asarray(np.mean(last[-told.averaged :], axis=0))


def shrinking(data: Data, told: Plan, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """θ_K of `rivals.shrinking_clip.release`, shape (count,)."""
    excess = 1 + sums.slack(len(data[0]), 1)
    stds = tuple(2 * clip * excess * told.noise_multiplier for clip in told.clip_norms)
    return _descend(data, told.clip_norms, told.learning_rates, stds, normals, knobs)


def shrinking_plan(mu: float) -> Plan:
    """The plan that is audited."""
    return Plan(SHRINKING, SHRINKING_RATES, GaussianDP(mu))


def sampled(data: Data, noise_multiplier: float, uniforms: np.ndarray, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """θ_T of `rivals.batch_descent.release` on Poisson samples; a uniform for each step and record: (T, n, count)."""
    std = 2 * CLIP * (1 + sums.slack(len(data[0]), 1)) * noise_multiplier
    T = len(SAMPLED_RATES)
    return _descend(data, (CLIP,) * T, SAMPLED_RATES, (std,) * T, normals, knobs, uniforms)


def sampled_multiplier(budget: ApproximateDP) -> float:
    """σ of the sampled descent for a budget."""
    return batch_descent.noise_multiplier(budget, SAMPLING, len(SAMPLED_RATES))


def _descend(
    data: Data,
    clips: tuple[float, ...],
    rates: tuple[float, ...],
    stds: tuple[float, ...],
    normals: np.ndarray,
    knobs: Knobs,
    uniforms: np.ndarray | None = None,
) -> np.ndarray:
    x, y = given(*data) if knobs.clip else data
    share = SAMPLING if uniforms is not None else 1.0
    theta = np.zeros(normals.shape[1])
    for t, (clip, rate, std) in enumerate(zip(clips, rates, stds, strict=True)):
        drawn = None if uniforms is None else uniforms[t] < share
        pull = _pull((x, y), theta, clip, knobs, drawn) + knobs.noise * std * normals[t]
        theta = within_reach(theta - rate / (share * len(x)) * pull)
    return theta


def _pull(data: Data, theta: np.ndarray, clip: float, knobs: Knobs, drawn: np.ndarray | None = None) -> np.ndarray:
    """The sum of clipped gradients, shape (count,); ``drawn`` says which records count, shape (n, count)."""
    pull = np.zeros_like(theta)
    for i, (feature, response) in enumerate(zip(data[0][:, 0], data[1], strict=True)):
        bound = clip / abs(feature) if feature and knobs.clip else math.inf
        term = feature * np.clip(feature * theta - response, -bound, bound)
        pull += term if drawn is None else np.where(drawn[i], term, 0.0)
    return pull


# ---- Heads on few small prompts: three are the library's own code, NoisyHead is transcribed in D = 1 ----

FEATURE = 1.0  # G
PROMPTS = 4  # N of NoisyHead
HYPER = Hyperparameters(CLIP, FEATURE, 0.02, 1e-3, 0.01, 2)  # R is small against C/G: (A.1) is then nearly attained
RIDGE = private_ridge.PrivateRidge(CLIP, FEATURE, 50.0, 2)  # λN is large against G²: nearly attained, too
D = 2
STEPS, RATE = 2, 0.5  # of the head that clips each prompt
ALONE = 10_000  # releases side by side
UNBOUNDED = 1e12


def bounded(data: Data, knobs: Knobs) -> head.Statistics:
    """Statistics clipped at C and projected at G; as they are where the clip is forgotten."""
    drawn = prompts(data)
    if not knobs.clip:
        return head.statistics(drawn)
    return head.project(head.statistics(drawn, CLIP), FEATURE)


def noisy_head(data: Data, mu: float, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """Γ^T of Algorithm 1 (`noisyhead.pretraining.release`) for D = 1, shape (count,)."""
    moments = head.moments(bounded(data, knobs))
    gram, cross, rate = float(moments.gram[0, 0]), float(moments.cross[0]), HYPER.learning_rate
    std, Gamma = knobs.noise * noisy_head_std(mu, len(data[0])), np.zeros(normals.shape[1])
    for z in normals:
        Gamma = Gamma * (1 - 2 * HYPER.penalty * rate - rate * gram) + rate * cross + std * z
        Gamma = np.clip(Gamma, -HYPER.weight_bound, HYPER.weight_bound)
    return Gamma


def noisy_head_std(mu: float, N: int) -> float:
    """s with which T steps spend μ together, by the bound (A.1), rounding included."""
    allowed = pretraining.update_sensitivity(HYPER, N) * (1 + sums.slack(N, 1))
    return allowed * math.sqrt(HYPER.steps) / mu


def dp_ridge(data: Data | head.Statistics, mu: float, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
    """⟨Γ̂ + W, U⟩ by `noisyhead.private_ridge.components`, shape (count,); U is along the difference of `RIDGE_PAIR`."""
    stats = data
    if not isinstance(stats, head.Statistics):
        stats = head.statistics(prompts(stats, D), CLIP if knobs.clip else np.inf)
    stats = head.project(stats, FEATURE) if knobs.clip else stats
    moments, std = head.moments(stats), knobs.noise * private_ridge.sensitivity(RIDGE) / mu
    if knobs.clip:
        return private_ridge.components(moments, RIDGE, std, RIDGE_DIRECTION, count, rng=rng)
    middle = float(ridge(moments, RIDGE.penalty).reshape(-1) @ RIDGE_DIRECTION)  # `components` refuses such moments
    return middle + std * rng.standard_normal(count)


def _lengthened(data: head.Statistics) -> head.Statistics:
    """The last prompt's context twenty times as long."""
    context = data.context.copy()
    context[-1] *= 20.0
    return head.Statistics(data.query, context, data.response)


RIDGE_PAIR = private_ridge.worst_neighbours(RIDGE, D)
RIDGE_UNCLIPPED = _lengthened(RIDGE_PAIR[0]), _lengthened(RIDGE_PAIR[1])
_APART = np.subtract(*(ridge(head.moments(one), RIDGE.penalty).reshape(-1) for one in RIDGE_PAIR))
RIDGE_DIRECTION = _APART / np.linalg.norm(_APART)


def per_prompt_head(data: Data, mu: float, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
    """Γ of the last iterate by `noisyhead.per_prompt.descend_apart`, D = 1, shape (count,)."""
    drawn, clip = prompts(data), CLIP if knobs.clip else UNBOUNDED
    std = knobs.noise * per_prompt.sensitivity(CLIP, len(data[0])) * math.sqrt(STEPS) / mu
    told, found = per_prompt.Plan(STEPS, clip, RATE, std), []
    for start in range(0, count, ALONE):
        plans = [told] * min(ALONE, count - start)
        gradient = per_prompt.linear_gradient(drawn, plans)
        initial = np.zeros((len(plans), 1, 1))
        found.append(per_prompt.descend_apart(gradient, initial, plans, rng=rng).last[:, 0, 0])
    return np.concatenate(found)


Examples = audit.Examples
WHITENED = audit.pairs(every_token=False)
WHITENED_PAIR = WHITENED["both"]


def whitened(data: Examples, mu: float, count: int, rng: np.random.Generator, knobs: Knobs = SOUND) -> np.ndarray:
    """The logarithm of the likelihood ratio of all that `noisyhead.whitened_descent.releases` shows, shape (count,)."""
    told = plan(audit.D, audit.L, audit.N, GaussianDP(mu), every_token=False)
    slack = 1.0 if knobs.clip else UNBOUNDED
    values = {name: getattr(told, name) for name in ("gains", "N", "budget")}
    values["clip_norms"] = tuple(slack * norm for norm in told.clip_norms)
    values |= {name: slack * getattr(told, name) for name in ("feature_norm", "context_norm")}
    factor = knobs.noise / slack
    faulty = audit.FaultyPlan(**values, moment_factor=factor, step_factor=factor)
    found = []
    for start in range(0, count, ALONE):
        seen = whitened_descent.releases(data, faulty, min(ALONE, count - start), rng=rng)
        found.append(audit.log_ratio(faulty, WHITENED_PAIR, seen))
    return np.concatenate(found)


# ---- Minimisers, normal equations and a deep point ----
#
# The minimum of objective perturbation has a closed form here: J' is piecewise linear and increases, so that
# θ ↦ J'(θ) − b is known at its kinks, and −b ↦ θ is its inverse, piecewise linear too.

PENALTY, SHARE = 1.0, 0.5  # Λ of output perturbation; κ/ε₁ of objective perturbation
BOUNDS = Bounds(1.0, 1.0)
ROUNDS = 2  # of boosted AdaSSP
BEYOND = 1e5
_FLOOR = math.sqrt(2 * math.log(1 / sufficient_statistics.FAILURE))


def output(data: Data, mu: float, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
    """Releases by `rivals.output_perturbation.perturbed` itself: one minimum, and noise for each release."""
    clip = CLIP if knobs.clip else UNBOUNDED
    found = huber.minimum(*data, clip, PENALTY)
    many = Minimum(np.repeat(found.high, count), np.repeat(found.low, count), found.gradient_norm, 0, 0, 0)
    budget = GaussianDP(mu / knobs.noise)
    return output_perturbation.perturbed(many, CLIP, PENALTY, budget, rng=rng)


def objective_plan(budget: ApproximateDP) -> Perturbation:
    """Penalty and noise of the objective perturbation that is audited."""
    return objective_perturbation.calibrate(budget, SHARE, CLIP, BOUNDS.features)


def objective(data: Data, added: Perturbation, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """The minimisers that `rivals.objective_perturbation.release` finds; the normals are of b and of further noise."""
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
    """θ with Σ x_i clip(x_iθ − y_i, ±limit_i) + Λθ = value, for Λ > 0, same shape as ``values``; a limit may be ∞."""
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
    """θ of `rivals.sufficient_statistics.release`; the normals are of matrix, eigenvalue and vector."""
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
    """θ of `rivals.boosting.release` after `ROUNDS` rounds; the normals are of matrix, eigenvalue and rounds."""
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
    """What `rivals.tukey.release` draws from m solutions with one coordinate; 0 where the count says no.

    The Laplace variables have the scale 1; of Gumbel's there are m/2 − m/4 + 1 for each release.
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


# ---- Quantiles, adaptive clips, correlated noise, sketches and pilots ----

LEVEL, GRID = 0.5, (1.0, 2.0)  # of the quantile
NEWER_STEPS, BATCH, NEWER_RATE = 3, 1, 0.5  # of the pass with correlated noise
ROWS = 40  # k of a sketch


def pooled(budget: ApproximateDP, noise: float) -> ApproximateDP:
    """The budget whose Gaussian noise is smaller by a factor, at the same δ."""
    return ApproximateDP(GaussianDP(budget.to_gaussian().mu / noise).epsilon(budget.delta), budget.delta)


def quantiles(data: Data, mu: float, gumbel: np.ndarray, knobs: Knobs) -> np.ndarray:
    """`rivals.private_quantile.quantile` of the responses' sizes, shape (count,)."""
    values = np.abs(data[1])
    missed = private_quantile.misses(values, LEVEL, GRID)
    eta = private_quantile.exponent(GaussianDP(mu)) / knobs.noise
    eta /= 1 + private_quantile._ROUNDINGS * len(values) * sums.UNIT_ROUNDOFF
    return np.array(GRID)[np.argmax(gumbel - eta * missed[:, None], axis=0)]


def correlated_plan(mu: float) -> correlated_noise.Plan:
    """The pass that is audited: three batches of one record."""
    return correlated_noise.Plan(CLIP, NEWER_RATE, BATCH, NEWER_STEPS, Banded((0.5,)), GaussianDP(mu))


def correlated(data: Data, mu: float, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """A score of all iterates of `rivals.correlated_noise.iterates`, shape (count,): the likelihood ratio's direction.

    With g the sums of clipped gradients of `NEWER_STEPS` records, Cg + z is what the iterates show. The first record
    moves g_1 alone, hence Cg along the first column of C.
    """
    iterates = correlated_iterates(data, mu, normals, knobs)
    seen = np.diff(iterates, axis=0, prepend=0.0) * (-BATCH / NEWER_RATE)
    column = correlated_plan(mu).strategy.column(NEWER_STEPS)
    shown = np.stack([sum(column[t - j] * seen[j] for j in range(t + 1)) for t in range(NEWER_STEPS)])
    found: np.ndarray = column @ shown
    return found


def correlated_iterates(data: Data, mu: float, normals: np.ndarray, knobs: Knobs) -> np.ndarray:
    """θ_1, …, θ_T, shape (T, count); arguments as in `correlated`."""
    plan = correlated_plan(mu)
    x, y = given(*data) if knobs.clip else data
    inverse = noise_coefficients(plan.strategy, NEWER_STEPS)
    own = np.stack([sum(inverse[t - j] * normals[j] for j in range(t + 1)) for t in range(NEWER_STEPS)])
    noise = knobs.noise * plan.noise_std(1) * own
    theta, found = np.zeros(normals.shape[1]), []
    for t, (feature, response) in enumerate(zip(x[:, 0], y, strict=True)):
        bound = CLIP / abs(feature) if feature and knobs.clip else math.inf
        pull = feature * np.clip(feature * theta - response, -bound, bound)
        theta = theta - NEWER_RATE / BATCH * (pull + noise[t])
        found.append(theta)
    return np.stack(found)


def one_by_one(release: Callable[[Data, Knobs, np.random.Generator], float]) -> Callable[..., np.ndarray]:
    """Draws of a release that the library makes one after the other."""

    def draw(data: Data, count: int, rng: np.random.Generator, knobs: Knobs) -> np.ndarray:
        return np.array([release(data, knobs, rng) for _ in range(count)])

    return draw


def adaptive(data: Data, mu: float, knobs: Knobs, rng: np.random.Generator) -> float:
    """θ of `rivals.adaptive_clipping.release`: one step, whose clip one record chooses."""
    plan = adaptive_clipping.Plan(1, 1, NEWER_RATE, 0.5, (1.0, 1.5), GaussianDP(mu / knobs.noise))
    return float(adaptive_clipping.release(*data, plan, rng=rng)[0])


def robust(data: Data, mu: float, knobs: Knobs, rng: np.random.Generator) -> float:
    """θ of `rivals.robust_clipping.release`: one step, whose clips two records choose."""
    budget = GaussianDP(mu / knobs.noise)
    plan = robust_clipping.Plan(1, NEWER_RATE, 1, 1, 0.5, 0.5, (0.75, 1.0), (0.75, 1.0), budget)
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
    """θ̂ of `rivals.gaussian_mixing.release`, from T₁₂, standard normals, and T₁₁², which have the law χ²_k.

    With U the Cholesky factor of AᵀA + γI and T that of the sketch's standard normals, θ̂ = (TU)₁₂/(TU)₁₁.
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
    """θ_T of `rivals.hessian_mixing.release`, from a normal and a square with the law χ²_k in each round."""
    x, y = given(*data)
    x = shortened(x, plan.bounds.features)
    curvature = float((x**2).sum()) + least(plan)
    theta = np.zeros(normals.shape[1])
    std = 2 * (1 + sums.slack(len(x), 1)) * math.sqrt(plan.rounds) / plan.gradients.mu
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
    return piloted_perturbation.calibrate(budget, shares, 1.0, CLIP, CLIP, (NEWER_RATE,))


def piloted(data: Data, plan: piloted_perturbation.Plan, normals: np.ndarray) -> np.ndarray:
    """The minimum that `rivals.piloted_perturbation.release` finds to its tolerance, exactly; shape (count,).

    Around θ_0 the objective's slope is Σ clipped gradients + Λ(θ − θ_0) + b, so θ has the value Λθ_0 − b of
    `inverse_gradient`. The normals are of the step, of b and of the further noise.
    """
    assert plan.pilot is not None
    x, y = piloted_perturbation.weighted(*data, plan.added.feature_bound)
    n, std = len(x), 2 * CLIP * (1 + sums.slack(len(x), 1)) * plan.pilot.noise_multiplier
    start = within_reach(-NEWER_RATE / n * (gradients(x[:, 0], y, np.zeros_like(normals[0]), CLIP) + std * normals[0]))
    values = plan.added.penalty * start - plan.added.noise_std * normals[1]
    limits = huber.limits(x, plan.added.clip_norm)
    found = inverse_gradient(x[:, 0], y, limits, plan.added.penalty, values)
    return found + plan.added.further_std * normals[2]
